/* SPDX-License-Identifier: MIT */
/*
 * A picture as an HTML page that can be zoomed: one file with the data and the script (plot.js).  It loads no
 * other file.
 */
#ifndef TS_PLOT_HTML_H
#define TS_PLOT_HTML_H

#include "plot.h"
#include "src/base/buf.h"

/* Bounds that keep the page below 2 MB. */
extern const struct ts_plot_bounds ts_html_bounds;

/*
 * Append the page to @out.  @title is the name of the trace, as text for people.  If memory is exhausted,
 * ts_buf_ok() of @out is false.
 */
void ts_html_put(struct ts_buf *out, const struct ts_plot *p, const char *title);

#endif
