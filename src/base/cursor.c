/* SPDX-License-Identifier: MIT */
#include "cursor.h"

#include <inttypes.h>

const uint8_t *ts_cursor_short(struct ts_cursor *c, uint64_t need)
{
	ts_fail(c->err, TS_ETRUNC, c->off, "%s: %" PRIu64 " bytes needed but %zu left", c->what, need,
		c->left);
	c->left = 0;
	return NULL;
}

uint64_t ts_count(struct ts_cursor *c, uint64_t n, size_t min_item_len)
{
	uint64_t need;

	if (ts_mul(n, min_item_len, &need) && need <= c->left)
		return n;
	ts_fail(c->err, TS_ETRUNC, c->off,
		"%s: %" PRIu64 " items of at least %zu bytes promised but %zu bytes left", c->what, n,
		min_item_len, c->left);
	c->left = 0;
	return 0;
}

struct ts_cursor ts_sub(struct ts_cursor *c, uint64_t len, const char *what)
{
	struct ts_cursor sub = { c->p, 0, c->off, what, c->err };

	if (ts_take(c, len))
		sub.left = (size_t)len;
	return sub;
}
