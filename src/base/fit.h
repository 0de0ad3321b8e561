/* SPDX-License-Identifier: MIT */
/*
 * Tables on a terminal: columns that are made narrower until a line fits, and cells that are cut and marked ("…").
 */
#ifndef TS_FIT_H
#define TS_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buf.h"

struct ts_fit_column {
	uint32_t width;       /* in places of a terminal */
	bool may_be_cut;      /* its cells are texts or values; a number that is cut is worth nothing */
	uint32_t least;       /* it is made no narrower than this; 0: TS_FIT_LEAST */
	bool keeps_end;       /* of its cells the end is kept: names of files */
};

#define TS_FIT_LEAST 8u

/* How many places @text takes on a terminal, at most. */
uint32_t ts_fit_width_of(const char *text);

/*
 * Make the widest columns narrower, of those that may be cut, until all of them and the blanks between them, 2 each,
 * take at most @room places.  If that cannot be reached the columns are as narrow as they may be.
 */
void ts_fit_columns(struct ts_fit_column *columns, size_t n, uint32_t room);

/*
 * Append @text; if it takes more than @width places, the part of it that fits, and "…" where the rest was.
 * @keeps_end: that part is its end, after a slash if one is there.
 */
void ts_fit_put(struct ts_buf *out, const char *text, uint32_t width, bool keeps_end);

#endif
