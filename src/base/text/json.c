/* SPDX-License-Identifier: MIT */
#include "json.h"

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
