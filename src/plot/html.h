/* SPDX-License-Identifier: MIT */
/*
 * A picture as a page that zooms: one file with its data and its program (plot.js), that loads nothing.
 */
#ifndef TS_PLOT_HTML_H
#define TS_PLOT_HTML_H

#include "plot.h"
#include "src/base/buf.h"

/* Bounds that keep the page below 2 MB. */
extern const struct ts_plot_bounds ts_html_bounds;

/* Append the file's bytes to @out; @title is text for people, the trace's name. */
void ts_html_put(struct ts_buf *out, const struct ts_plot *p, const char *title);

#endif
