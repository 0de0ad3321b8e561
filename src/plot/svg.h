/* SPDX-License-Identifier: MIT */
/*
 * A picture as a static SVG file, for documents.
 */
#ifndef TS_PLOT_SVG_H
#define TS_PLOT_SVG_H

#include "plot.h"
#include "src/base/buf.h"

/* Bounds that suit the picture's width. */
extern const struct ts_plot_bounds ts_svg_bounds;

/*
 * Append the file to @out.  @title is the name of the trace, as text for people.  If memory is exhausted,
 * ts_buf_ok() of @out is false.
 */
void ts_svg_put(struct ts_buf *out, const struct ts_plot *p, const char *title);

#endif
