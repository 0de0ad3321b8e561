/* SPDX-License-Identifier: MIT */
/*
 * JSON values as text.
 */
#ifndef TS_JSON_H
#define TS_JSON_H

#include <jansson.h>

#include "buf.h"

/*
 * Append the text of @value, in which characters that a terminal obeys are escaped, NULL after a failed allocation; @flags are those of json_dumps().  That function
 * may leave out a key when memory is short, and say nothing.
 *
 * The buffer has failed if memory is exhausted or the value cannot be written.
 */
void ts_json_put(struct ts_buf *out, const json_t *value, size_t flags);

/*
 * Append @text, of @len bytes, as a JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD, control
 * characters are escaped.
 */
void ts_json_put_text(struct ts_buf *out, const char *text, size_t len);

/* A character as JSON's escape: beyond 16 bits two of them (RFC 8259, section 7). */
static inline void ts_json_put_escape(struct ts_buf *out, uint32_t c)
{
	if (c > 0xffff)
		ts_buf_printf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
			      (unsigned)(0xdc00 + (c & 0x3ff)));
	else
		ts_buf_printf(out, "\\u%04x", (unsigned)c);
}

#endif
