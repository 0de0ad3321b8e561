/* SPDX-License-Identifier: MIT */
#include "verb.h"

#include <stdlib.h>

void *ts_rows_new(size_t size, const struct ts_rows_ops *ops, bool is_reverse, struct ts_error *err)
{
	struct ts_rows *rows = calloc(1, size);

	if (!rows) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	*rows = (struct ts_rows){ .ops = ops, .is_reverse = is_reverse, .go = TS_NO_POS };
	return rows;
}
