/* SPDX-License-Identifier: MIT */
/*
 * The search for the position of a PLACE, in slices.
 */
#ifndef TS_ASK_SEEK_H
#define TS_ASK_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "src/base/error.h"

struct ts_ask;
struct ts_budget;
struct ts_question;
struct ts_rows;

/* A search in slices, from one position; zero at first. */
struct ts_line_search {
	bool has_begun;
	uint64_t at;
	const struct ts_code_line *line; /* there; borrowed from the symbols, NULL: none */
};

/* A search for a place, in slices. */
struct ts_seek {
	const struct ts_ask_place *place; /* borrowed */
	struct ts_ask *ask;           /* borrowed */
	uint64_t here;
	struct ts_question *qn;       /* owned; the question of the cursor; NULL: none is needed */
	struct ts_rows *rows;         /* owned; NULL: none is needed */
	uint32_t thread;              /* previous switch: the next thread to search ... */
	uint64_t nearest;             /* ... and 1 + the last step of the threads before it */
	struct ts_line_search line;   /* previous line */
};

/*
 * Returns false if this recording has no such places (TS_EUSAGE).
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_seek_init(struct ts_seek *s, struct ts_ask *ask, const struct ts_ask_place *place, uint64_t here,
		  struct ts_error *err);
void ts_seek_fini(struct ts_seek *s);

/*
 * Continue the search.
 *
 * Returns true when it is done: *pos is the position, TS_NO_POS if the place has none.
 * Returns true, with *err set, if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns true, with *err set, if memory is exhausted (TS_ENOMEM).
 * Returns false if the budget is used up: call again.
 */
bool ts_seek_run(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos, struct ts_error *err);

#endif
