/* SPDX-License-Identifier: MIT */
/*
 * Strings of JSON (RFC 8259, section 7).
 */
#ifndef TS_JSON_TEXT_H
#define TS_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

/*
 * Append @text, of @len bytes, as a JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD, control
 * characters are escaped.
 */
void ts_json_put_text(struct ts_buf *out, const char *text, size_t len);

/* Append a character as a JSON escape: two of them for more than 16 bits (RFC 8259, section 7). */
static inline void ts_json_put_escape(struct ts_buf *out, uint32_t c)
{
	if (c > 0xffff)
		ts_buf_printf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
			      (unsigned)(0xdc00 + (c & 0x3ff)));
	else
		ts_buf_printf(out, "\\u%04x", (unsigned)c);
}

#endif
