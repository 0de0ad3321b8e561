/* SPDX-License-Identifier: MIT */
#include "verb.h"

#include <stdlib.h>

void *ts_rows_open(const struct ts_rows_ops *ops, struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
		   struct ts_error *err)
{
	struct ts_rows *rows = calloc(1, ops->size);

	if (!rows)
		return ts_no_memory(err, "a question");
	*rows = (struct ts_rows){ .ops = ops, .ask = ask, .qn = qn, .is_reverse = is_reverse, .go = TS_NO_POS };
	if (!ops->begin || ops->begin(rows, err))
		return rows;
	ts_rows_close(rows);
	return NULL;
}

void ts_rows_close(struct ts_rows *rows)
{
	if (rows && rows->ops->close)
		rows->ops->close(rows);
	if (rows && rows->ops->size)
		free(rows);
}
