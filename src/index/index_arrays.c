/* SPDX-License-Identifier: MIT */
#include "index_arrays.h"

#include <endian.h>

#include "src/base/bytes.h"

void *ts_index_take(struct ts_index_arrays *a, size_t item_len, size_t *n)
{
	uint64_t len = a->left >= 8 ? le64toh(ts_load(a->p)) : UINT64_MAX;
	void *items;

	*n = 0;
	if (a->is_bad || a->left < 8 || len > a->left - 8 || len % item_len) {
		a->is_bad = true;
		a->left = 0;
		return NULL;
	}
	items = a->p + 8;
	*n = len / item_len;
	len = 8 + ((len + 7) & ~UINT64_C(7));
	if (len > a->left)
		len = a->left;
	a->p += len;
	a->left -= len;
	return items;
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
