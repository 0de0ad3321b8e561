/* SPDX-License-Identifier: MIT */
#include "escape.h"

#define REPLACEMENT 0xfffdu

/* How many bytes follow a first byte of UTF-8; -1: it is not one. */
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

/* Overlong forms, surrogates, and what is beyond Unicode are not characters. */
static bool is_character(uint32_t c, int following)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };

	return c >= least[following] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* The next character of @text, which moves on; REPLACEMENT for a byte that is not UTF-8. */
static uint32_t take(const char **text)
{
	const uint8_t *p = (const uint8_t *)*text;
	int n = n_following(*p);
	uint32_t c = n <= 0 ? *p : *p & (0x3fu >> n);

	++*text;
	if (n < 0)
		return REPLACEMENT;
	for (int i = 1; i <= n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return REPLACEMENT;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (!is_character(c, n))
		return REPLACEMENT;
	*text += n;
	return c;
}

static void put_utf8(struct ts_buf *out, uint32_t c)
{
	if (c < 0x80) {
		ts_buf_putc(out, (uint8_t)c);
	} else if (c < 0x800) {
		ts_buf_putc(out, (uint8_t)(0xc0 | c >> 6));
		ts_buf_putc(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		ts_buf_putc(out, (uint8_t)(0xe0 | c >> 12));
		ts_buf_putc(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		ts_buf_putc(out, (uint8_t)(0x80 | (c & 0x3f)));
	} else {
		ts_buf_putc(out, (uint8_t)(0xf0 | c >> 18));
		ts_buf_putc(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		ts_buf_putc(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
		ts_buf_putc(out, (uint8_t)(0x80 | (c & 0x3f)));
	}
}

void ts_put_xml(struct ts_buf *out, const char *text)
{
	while (*text) {
		uint32_t c = take(&text);

		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			ts_buf_printf(out, "&#%u;", (unsigned)c);
		else
			put_utf8(out, c < 0x20 || c == 0x7f || c == 0xfffe || c == 0xffff ? REPLACEMENT : c);
	}
}

void ts_put_json(struct ts_buf *out, const char *text)
{
	ts_buf_putc(out, '"');
	while (*text) {
		uint32_t c = take(&text);

		if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&' || c == '"' || c == '\\' || c == 0x2028 ||
		    c == 0x2029)
			ts_buf_printf(out, "\\u%04x", (unsigned)c);
		else
			put_utf8(out, c);
	}
	ts_buf_putc(out, '"');
}
