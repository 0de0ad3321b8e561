/* SPDX-License-Identifier: MIT */
/*
 * A picture as SVG: still, for documents.
 */
#ifndef TS_PLOT_SVG_H
#define TS_PLOT_SVG_H

#include "plot.h"
#include "src/base/buf.h"

/* Bounds that suit the picture's width. */
extern const struct ts_plot_bounds ts_svg_bounds;

/* Append the file's bytes to @out; @title is text for people, the trace's name. */
void ts_svg_put(struct ts_buf *out, const struct ts_plot *p, const char *title);

#endif
