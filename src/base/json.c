/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <string.h>

#include "utf8.h"

/*
 * jansson escapes what is below 0x20 in strings; ends of lines between values remain.  It gives whole
 * characters.
 */
static int put(const char *text, size_t len, void *user)
{
	struct ts_buf *out = user;

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		uint32_t c;

		n = ts_utf8_take(text + i, len - i, &c);
		if (n && c >= 0x7f && ts_utf8_is_control(c))
			ts_json_put_escape(out, c);
		else
			ts_buf_put(out, text + i, n ? n : 1);
	}
	return ts_buf_ok(out) ? 0 : -1;
}

void ts_json_put(struct ts_buf *out, const json_t *value, size_t flags)
{
	if (!value || json_dump_callback(value, put, out, flags) < 0)
		out->is_failed = true;
}

/* How many characters before @end are their own form in JSON. */
static size_t plain_len(const uint8_t *p, const uint8_t *end)
{
	size_t n = 0;

	while (p + n < end && (p[n] > '"' ? p[n] < 0x7f && p[n] != '\\' : p[n] == ' ' || p[n] == '!'))
		n++;
	return n;
}

/* One that is not plain.  Returns how many bytes it has. */
static size_t put_escaped(struct ts_buf *out, const char *p, size_t len)
{
	uint32_t c = 0;
	size_t n = ts_utf8_take(p, len, &c);

	if (c == '"' || c == '\\')
		ts_buf_printf(out, "\\%c", (int)c);
	else if (c == '\n' || c == '\t')
		ts_buf_puts(out, c == '\n' ? "\\n" : "\\t");
	else if (!n)
		ts_buf_puts(out, "\\ufffd");
	else if (ts_utf8_is_control(c))
		ts_json_put_escape(out, c);
	else
		ts_buf_put(out, p, n);
	return n ? n : 1;
}

void ts_json_put_text(struct ts_buf *out, const char *text, size_t len)
{
	ts_buf_putc(out, '"');
	for (const char *p = text, *end = text + len; p < end;) {
		size_t n = plain_len((const uint8_t *)p, (const uint8_t *)end);

		ts_buf_put(out, p, n);
		p += n;
		if (p < end)
			p += put_escaped(out, p, (size_t)(end - p));
	}
	ts_buf_putc(out, '"');
}
