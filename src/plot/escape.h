/* SPDX-License-Identifier: MIT */
/*
 * Texts of a trace in files that browsers read.
 *
 * Names come from symbol tables and traces, and may contain any bytes.  The output of these functions is
 * plain text for a browser: it contains no tag, no entity that the name did not spell, and no script or end
 * of a script.
 */
#ifndef TS_PLOT_ESCAPE_H
#define TS_PLOT_ESCAPE_H

#include "src/base/collections/buf.h"

/*
 * Append @text to XML, as the content of an element or between double quotes.  Bytes that are not UTF-8, and
 * characters that XML does not allow, become U+FFFD.
 */
void ts_put_xml(struct ts_buf *out, const char *text);

/*
 * Append @text as a JSON string with its quotes, for a <script> element: the string contains no '<', '>' or
 * '&'.  Bytes that are not UTF-8 become U+FFFD.
 */
void ts_put_json(struct ts_buf *out, const char *text);

#endif
