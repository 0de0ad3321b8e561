/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 in untrusted names: decoding, and escaping for a terminal.
 */
#ifndef TS_UTF8_H
#define TS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/collections/buf.h"

/*
 * Decode the character at the beginning of the @len (> 0) bytes at @p; *c is set to its code.  Overlong forms, surrogates
 * and codes beyond Unicode are not characters (RFC 3629, section 3).
 *
 * Returns its length in bytes, 1 to 4; 0 if the bytes are not a character.
 */
size_t ts_utf8_take(const char *p, size_t len, uint32_t *c);

/*
 * Is the character one that a terminal interprets instead of showing it: C0 and C1 controls, DEL, line and
 * paragraph separators, and controls of the text direction (Unicode, general categories Cc, Zl, Zp, and UAX
 * #9)?  Also invisible characters that a program, such as an agent, would read: format marks and tags.
 */
bool ts_utf8_is_control(uint32_t c);

/* The length of the character at @p if it can be shown as it is; 0: its first byte must be escaped. */
size_t ts_utf8_shown_len(const char *p, size_t len);

/*
 * Append @text as a part of one line: bytes that must be escaped become \\xNN.  A backslash in the text is not escaped,
 * so the text cannot always be restored.
 */
void ts_utf8_put_shown(struct ts_buf *out, const char *text);

/* Are the eight bytes at @p ASCII that is shown as it is, and neither '"' nor '\\'? */
static inline bool ts_utf8_are_plain(const char *p)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	uint64_t x, quote, slash, del;

	memcpy(&x, p, 8);
	quote = x ^ ones * '"';
	slash = x ^ ones * '\\';
	del = x ^ ones * 0x7f;
	/*
	 * a subtraction sets the top bit of a byte below the subtrahend; it borrows only from bytes that are
	 * not plain
	 */
	return !((x | (x - ones * 0x20) | (quote - ones) | (slash - ones) | (del - ones)) & tops);
}

/* How many bytes at @p, at most @len, are ASCII that is shown as it is, and neither '"' nor '\\'. */
static inline size_t ts_utf8_plain_len(const char *p, size_t len)
{
	size_t n = 0;

	while (n + 8 <= len && ts_utf8_are_plain(p + n))
		n += 8;
	if (n && n < len && len - n < 8 && ts_utf8_are_plain(p + len - 8))
		return len;
	while (n < len && (uint8_t)(p[n] - ' ') <= '~' - ' ' && p[n] != '"' && p[n] != '\\')
		n++;
	return n;
}

/* Replace each byte of @text that cannot be shown as it is by '?', except for ends of lines if @has_lines. */
void ts_utf8_make_shown(char *text, size_t len, bool has_lines);

#endif
