/* SPDX-License-Identifier: MIT */
/*
 * Where an instruction is in the program's files, as cells: module, offset, function, file, line.  Kept by
 * address: a loop asks for the same ones again and again.
 */
#ifndef TS_ASK_CODE_PLACES_H
#define TS_ASK_CODE_PLACES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/search/budget.h"
#include "src/ask/verb.h"

struct ts_code_places;

/* Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_code_places *ts_code_places_new(const struct ts_ask *ask, struct ts_error *err);
void ts_code_places_free(struct ts_code_places *c);

/*
 * The module that has @pc of @process at position @pos: its last name to cell @i, the distance from its beginning to
 * cell @i + 1; null if there is none.  Looking for it is charged to @budget, which may be overdrawn.
 */
void ts_code_places_module(struct ts_code_places *c, struct ts_row *row, unsigned i, uint64_t pos, uint32_t process,
			   uint64_t pc, struct ts_budget *budget);

/* The function, the file and the line of @pc, to cell @i and the two after it. */
void ts_code_places_line(struct ts_code_places *c, struct ts_row *row, unsigned i, uint64_t pc);

#endif
