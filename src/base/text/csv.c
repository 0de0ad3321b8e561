/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

static bool has_separator(const char *text, size_t len)
{
	return memchr(text, ',', len) || memchr(text, '"', len) || memchr(text, '\n', len);
}

void ts_csv_put(struct ts_buf *out, const char *text, size_t len)
{
	bool is_quoted = len && has_separator(text, len);

	if (is_quoted)
		ts_buf_putc(out, '"');
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = ts_utf8_plain_len(text + i, len - i);
		if (!n)
			n = ts_utf8_shown_len(text + i, len - i < 4 ? len - i : 4);
		if (text[i] == '"')
			ts_buf_puts(out, "\"\"");
		else if (n || text[i] == '\n' || text[i] == '\t')
			ts_buf_put(out, text + i, n ? n : 1);
		else
			ts_buf_printf(out, "\\x%02x", (unsigned char)text[i]);
	}
	if (is_quoted)
		ts_buf_putc(out, '"');
}
