/* SPDX-License-Identifier: MIT */
#include "json_text.h"

#include <string.h>

#include "utf8.h"

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
	size_t n_plain = ts_utf8_plain_len(text, len);
	uint8_t *room = n_plain == len ? ts_buf_add(out, len + 2) : NULL;

	if (room) {
		room[0] = room[len + 1] = '"';
		memcpy(room + 1, text, len);
		return;
	}
	ts_buf_putc(out, '"');
	for (const char *p = text, *end = text + len; p < end;) {
		size_t n = ts_utf8_plain_len(p, (size_t)(end - p));

		ts_buf_put(out, p, n);
		p += n;
		if (p < end)
			p += put_escaped(out, p, (size_t)(end - p));
	}
	ts_buf_putc(out, '"');
}
