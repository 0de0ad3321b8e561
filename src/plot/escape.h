/* SPDX-License-Identifier: MIT */
/*
 * Texts of a trace in files that browsers read.
 *
 * Names come from symbol tables and traces, and may hold any bytes.  What is put here is text to a browser,
 * never a tag, an entity, a script or the end of one.
 */
#ifndef TS_PLOT_ESCAPE_H
#define TS_PLOT_ESCAPE_H

#include "src/base/buf.h"

/*
 * Append @text to XML, as contents or between double quotes.  What is not UTF-8, and characters that XML does
 * not allow, become U+FFFD.
 */
void ts_put_xml(struct ts_buf *out, const char *text);

/*
 * Append @text as a JSON string, with its quotes, that can stand in a <script> element: nothing in it is a
 * '<', '>' or '&'.  What is not UTF-8 becomes U+FFFD.
 */
void ts_put_json(struct ts_buf *out, const char *text);

#endif
