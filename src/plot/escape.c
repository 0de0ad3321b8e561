/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <string.h>

#include "src/base/json.h"
#include "src/base/utf8.h"

#define REPLACEMENT 0xfffdu

/* The next character of @text, which moves on; REPLACEMENT for a byte that is not UTF-8. */
static uint32_t take(const char **text)
{
	uint32_t c;
	size_t n = ts_utf8_take(*text, strnlen(*text, 4), &c);

	*text += n ? n : 1;
	return n ? c : REPLACEMENT;
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
			put_utf8(out, ts_utf8_is_control(c) || c == 0xfffe || c == 0xffff ? REPLACEMENT : c);
	}
}

void ts_put_json(struct ts_buf *out, const char *text)
{
	ts_buf_putc(out, '"');
	while (*text) {
		uint32_t c = take(&text);

		if (ts_utf8_is_control(c) || c == '<' || c == '>' || c == '&' || c == '"' || c == '\\')
			ts_json_put_escape(out, c);
		else
			put_utf8(out, c);
	}
	ts_buf_putc(out, '"');
}
