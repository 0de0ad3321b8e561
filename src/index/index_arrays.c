/* SPDX-License-Identifier: MIT */
#include "index_arrays.h"

#include "index_record.h"

void *ts_index_take_unread(struct ts_index_arrays *a, size_t item_len, size_t *n)
{
	const uint8_t *array = a->next;
	uint64_t len = a->left ? ts_get64(array + 8) : UINT64_MAX;

	*n = 0;
	if (a->is_bad || !a->left || len % item_len) {
		a->is_bad = true;
		a->left = 0;
		return NULL;
	}
	a->next += TS_INDEX_ARRAY_LEN;
	a->left--;
	*n = (size_t)len / item_len;
	return (uint8_t *)a->record + ts_get64(array);
}

void *ts_index_take(struct ts_index_arrays *a, size_t item_len, size_t *n)
{
	void *items = ts_index_take_unread(a, item_len, n);

	if (!items || ts_index_blocks_use(a->blocks, items, *n * item_len))
		return items;
	*n = 0;
	a->is_bad = true;
	return NULL;
}

void *ts_index_take_n(struct ts_index_arrays *a, size_t item_len, size_t n)
{
	size_t got;
	void *items = ts_index_take(a, item_len, &got);

	if (items && got == n)
		return items;
	a->is_bad = true;
	return NULL;
}
