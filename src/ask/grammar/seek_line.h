/* SPDX-License-Identifier: MIT */
/* The search for the line of the source before the one that runs, as gdb's reverse-next goes. */
#ifndef TS_ASK_SEEK_LINE_H
#define TS_ASK_SEEK_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/ask/verb.h"

struct ts_code_line;

/* A search in slices, from one position; zero at first. */
struct ts_line_search {
	bool has_begun;
	uint64_t at;
	const struct ts_code_line *line; /* there; borrowed from the symbols, NULL: none */
};

/*
 * Find the line that the thread at @here ran before its current one, in the same activation of the function or in the caller.
 * *pos gets the position where that line began, or TS_NO_POS if there is no such line.  If @here is not the first position of
 * its own line, *pos gets the position where that one began.  Functions that the line called, and code without lines, are
 * skipped.
 *
 * Returns as a cursor does; TS_GOT_ROW when it is over.
 */
enum ts_got ts_seek_line(struct ts_line_search *s, struct ts_ask *ask, uint64_t here, struct ts_budget *budget, uint64_t *pos,
			 struct ts_error *err);

#endif
