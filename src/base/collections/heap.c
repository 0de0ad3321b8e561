/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <string.h>

#include "free_later.h"
#include "vec.h"

void ts_heap_init(struct ts_heap *h, size_t item_len,
		  bool (*is_before)(const void *user, const void *x, const void *y), const void *user)
{
	*h = (struct ts_heap){ .item_len = item_len, .is_before = is_before, .user = user };
}

void ts_heap_fini(struct ts_heap *h)
{
	ts_free_later(h->items, h->cap * h->item_len);
	h->items = NULL;
	h->n = h->cap = 0;
}

static char *item_at(const struct ts_heap *h, size_t i)
{
	return (char *)h->items + i * h->item_len;
}

bool ts_heap_put(struct ts_heap *h, const void *item)
{
	size_t i = h->n;

	if (!ts_vec_reserve(&h->items, h->n, &h->cap, 1, h->item_len))
		return false;
	h->n++;
	while (i && h->is_before(h->user, item, item_at(h, (i - 1) / 2))) {
		memcpy(item_at(h, i), item_at(h, (i - 1) / 2), h->item_len);
		i = (i - 1) / 2;
	}
	memcpy(item_at(h, i), item, h->item_len);
	return true;
}

const void *ts_heap_first(const struct ts_heap *h)
{
	return h->n ? h->items : NULL;
}

bool ts_heap_take(struct ts_heap *h, void *item)
{
	size_t i = 0, next;
	const char *last;

	if (!h->n)
		return false;
	memcpy(item, h->items, h->item_len);
	last = item_at(h, --h->n);
	for (; (next = 2 * i + 1) < h->n; i = next) {
		if (next + 1 < h->n && h->is_before(h->user, item_at(h, next + 1), item_at(h, next)))
			next++;
		if (!h->is_before(h->user, item_at(h, next), last))
			break;
		memcpy(item_at(h, i), item_at(h, next), h->item_len);
	}
	if (h->n)
		memmove(item_at(h, i), last, h->item_len);
	return true;
}

bool ts_heap_drop(struct ts_heap *h)
{
	if (!h->n)
		return false;
	h->n--;
	return true;
}
