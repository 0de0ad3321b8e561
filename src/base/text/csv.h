/* SPDX-License-Identifier: MIT */
/*
 * Cells of CSV (RFC 4180).
 */
#ifndef TS_CSV_H
#define TS_CSV_H

#include <stddef.h>

#include "src/base/collections/buf.h"

/* The end of a line. */
#define TS_CSV_END "\r\n"

/*
 * Append a cell with @text, of @len bytes: in quotes if it has a comma, a quote or a newline.  Other control characters
 * except the tab, and bytes that are not UTF-8, become \xNN.
 */
void ts_csv_put(struct ts_buf *out, const char *text, size_t len);

#endif
