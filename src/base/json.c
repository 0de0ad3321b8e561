/* SPDX-License-Identifier: MIT */
#include "json.h"

static int put(const char *text, size_t len, void *out)
{
	ts_buf_put(out, text, len);
	return ts_buf_ok(out) ? 0 : -1;
}

void ts_json_put(struct ts_buf *out, const json_t *value, size_t flags)
{
	if (!value || json_dump_callback(value, put, out, flags) < 0)
		out->is_failed = true;
}
