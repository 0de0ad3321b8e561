/* SPDX-License-Identifier: MIT */
#include "escape.h"

#include <string.h>

#include "src/base/text/json.h"
#include "src/base/text/utf8.h"

#define REPLACEMENT 0xfffdu

/* The next character of @text, which has *len bytes; REPLACEMENT for a byte that is not UTF-8. */
static uint32_t take(const char *text, size_t *len)
{
	uint32_t c;

	*len = ts_utf8_take(text, strnlen(text, 4), &c);
	if (*len)
		return c;
	*len = 1;
	return REPLACEMENT;
}

static void put_character(struct ts_buf *out, uint32_t c, const char *text, size_t len)
{
	if (c == REPLACEMENT)
		ts_buf_puts(out, "\xef\xbf\xbd");
	else
		ts_buf_put(out, text, len);
}

void ts_put_xml(struct ts_buf *out, const char *text)
{
	for (size_t len; *text; text += len) {
		uint32_t c = take(text, &len);

		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			ts_buf_printf(out, "&#%u;", (unsigned)c);
		else
			put_character(out, ts_utf8_is_control(c) || c == 0xfffe || c == 0xffff ? REPLACEMENT : c, text, len);
	}
}

void ts_put_json(struct ts_buf *out, const char *text)
{
	ts_buf_putc(out, '"');
	for (size_t len; *text; text += len) {
		uint32_t c = take(text, &len);

		if (ts_utf8_is_control(c) || c == '<' || c == '>' || c == '&' || c == '"' || c == '\\')
			ts_json_put_escape(out, c);
		else
			put_character(out, c, text, len);
	}
	ts_buf_putc(out, '"');
}
