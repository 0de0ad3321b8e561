/* SPDX-License-Identifier: MIT */
/*
 * Cells for the place of an instruction in the program's files: module, offset, function, file, line.  Results are cached
 * by address, because loops repeat them.
 */
#ifndef TS_ASK_CODE_PLACES_H
#define TS_ASK_CODE_PLACES_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/search/budget.h"
#include "src/ask/verb.h"

/* Columns of the place of an instruction, from ordinal @first on. */
#define TS_CODE_COLUMNS(first)                                           \
	[first] = { .name = "pc", .type = TS_COLUMN_ADDR },              \
	[(first) + 1] = { .name = "module", .type = TS_COLUMN_TEXT },    \
	[(first) + 2] = { .name = "offset", .type = TS_COLUMN_ADDR },    \
	[(first) + 3] = { .name = "function", .type = TS_COLUMN_TEXT },  \
	[(first) + 4] = { .name = "file", .type = TS_COLUMN_TEXT },      \
	[(first) + 5] = { .name = "line", .type = TS_COLUMN_NUMBER }

struct ts_code_places;

/* Returns an empty cache, which the caller frees.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_code_places *ts_code_places_new(const struct ts_ask *ask, struct ts_error *err);
void ts_code_places_free(struct ts_code_places *c);

/*
 * Fill cell @i with the file name, without folders, of the module that contains @pc of @process at position @pos, and cell
 * @i + 1 with the offset from the module's beginning; null if no module contains it.  The search is charged to @budget, which may
 * be overdrawn.
 */
void ts_code_places_module(struct ts_code_places *c, struct ts_row *row, unsigned i, uint64_t pos, uint32_t process,
			   uint64_t pc, struct ts_budget *budget);

/*
 * The module's ordinal + 1, 0 if no module contains the address: with @pc and @process it determines the cells that
 * ts_code_places_module() fills.
 */
size_t ts_code_places_module_number(struct ts_code_places *c, uint64_t pos, uint32_t process, uint64_t pc,
				    struct ts_budget *budget);

/* Fill cells @i, @i + 1 and @i + 2 with the function, the file and the line of @pc. */
void ts_code_places_line(struct ts_code_places *c, struct ts_row *row, unsigned i, uint64_t pc);

#endif
