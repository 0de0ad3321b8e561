/* SPDX-License-Identifier: MIT */
/* The search for the previous line of the source, as gdb's reverse-next finds it. */
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
 * *pos is set to the first position of that line, or to TS_NO_POS if there is no such line.  If @here is not the first
 * position of its own line, *pos is set to the first position of that line instead.  Functions that the line called, and
 * code without lines, are skipped.
 *
 * Returns as a cursor does; TS_GOT_ROW when the search is done.
 */
enum ts_got ts_seek_line(struct ts_line_search *s, struct ts_ask *ask, uint64_t here, struct ts_budget *budget, uint64_t *pos,
			 struct ts_error *err);

#endif
