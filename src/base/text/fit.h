/* SPDX-License-Identifier: MIT */
/*
 * Tables on a terminal: columns are narrowed until a line fits, and cells are truncated and marked ("…").
 */
#ifndef TS_FIT_H
#define TS_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

struct ts_fit_column {
	uint32_t width;       /* in columns of a terminal */
	bool may_be_cut;      /* its cells are texts or values; truncated numbers would be misleading */
	uint32_t least;       /* the minimum width; 0: TS_FIT_LEAST */
	bool keeps_end;       /* its cells are truncated at the beginning: file names */
};

#define TS_FIT_LEAST 8u

/* The width of @text on a terminal, an upper bound. */
uint32_t ts_fit_width_of(const char *text);

/*
 * Narrow the widest of the columns that may be cut until all columns, with two blanks between them, have at
 * most @room places.  If that is impossible, the columns that may be cut have their minimum width.
 */
void ts_fit_columns(struct ts_fit_column *columns, size_t n, uint32_t room);

/*
 * Append @text.  If it is wider than @width places, append the part that fits and "…" in place of the rest.
 * @keeps_end: keep the end of the text, from a slash on if possible.
 */
void ts_fit_put(struct ts_buf *out, const char *text, uint32_t width, bool keeps_end);

#endif
