/* SPDX-License-Identifier: MIT */
#include "utf8.h"

#include <string.h>

/* How many bytes follow a first byte; -1: it is not one. */
static int n_following(uint8_t first)
{
	if (first < 0x80)
		return 0;
	if (first >= 0xc2 && first <= 0xdf)
		return 1;
	if (first >= 0xe0 && first <= 0xef)
		return 2;
	return first >= 0xf0 && first <= 0xf4 ? 3 : -1;
}

static bool is_character(uint32_t c, int following)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };

	return c >= least[following] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

size_t ts_utf8_take(const char *p, size_t len, uint32_t *c)
{
	uint8_t first = (uint8_t)*p;
	int n = n_following(first);

	if (n < 0 || (size_t)n >= len)
		return 0;
	*c = n ? first & (0x3fu >> n) : first;
	for (int i = 1; i <= n; i++) {
		if (((uint8_t)p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | ((uint8_t)p[i] & 0x3f);
	}
	return is_character(*c, n) ? (size_t)n + 1 : 0;
}

bool ts_utf8_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x115f && c <= 0x1160) ||
	       c == 0x180e || c == 0x200b || (c >= 0x200e && c <= 0x200f) || c == 0x3164 || c == 0xffa0 ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

size_t ts_utf8_shown_len(const char *p, size_t len)
{
	uint32_t c;
	size_t n = ts_utf8_take(p, len, &c);

	return n && !ts_utf8_is_control(c) ? n : 0;
}

void ts_utf8_make_shown(char *text, size_t len, bool has_lines)
{
	for (size_t i = 0; i < len;) {
		size_t n = ts_utf8_shown_len(text + i, len - i);

		if (!n && !(has_lines && text[i] == '\n'))
			text[i] = '?';
		i += n ? n : 1;
	}
}

void ts_utf8_put_shown(struct ts_buf *out, const char *text)
{
	while (*text) {
		size_t n = ts_utf8_shown_len(text, strnlen(text, 4));

		if (n)
			ts_buf_put(out, text, n);
		else
			ts_buf_printf(out, "\\x%02x", (uint8_t)*text);
		text += n ? n : 1;
	}
}
