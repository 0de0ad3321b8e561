/* SPDX-License-Identifier: MIT */
#include "index_arrays.h"

#include "index_blocks.h"

void *ts_index_take_unread(struct ts_index_arrays *a, size_t item_len, size_t *n)
{
	const struct ts_index_array *array = a->next;

	*n = 0;
	if (a->is_bad || !a->left || array->len % item_len) {
		a->is_bad = true;
		a->left = 0;
		return NULL;
	}
	a->next++;
	a->left--;
	*n = (size_t)array->len / item_len;
	return (uint8_t *)a->record + array->at;
}

void *ts_index_take(struct ts_index_arrays *a, size_t item_len, size_t *n)
{
	const struct ts_index_array *array = a->next; /* valid only while a->left != 0 */
	bool is_packed = a->left && array->is_packed;
	void *items = ts_index_take_unread(a, item_len, n);

	if (items && array->copy)
		return (void *)array->copy;
	if (!items || (!is_packed && ts_index_blocks_use(a->blocks, items, *n * item_len)))
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
