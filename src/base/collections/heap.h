/* SPDX-License-Identifier: MIT */
/*
 * A priority queue: items are added one at a time, in any order; the first one in order is removed.
 *
 * The caller can interrupt a sort after any item.  An item is a piece of memory without pointers to itself.
 */
#ifndef TS_HEAP_H
#define TS_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct ts_heap {
	void *items; /* owned; the first one comes before all others */
	size_t n, cap;
	size_t item_len;
	bool (*is_before)(const void *user, const void *x, const void *y);
	const void *user; /* borrowed */
};

/*
 * Initialize an empty heap for items of @item_len bytes.  @is_before returns whether item @x is removed before @y.  Its
 * first argument is @user, which must remain valid until ts_heap_fini().
 */
void ts_heap_init(struct ts_heap *h, size_t item_len,
		  bool (*is_before)(const void *user, const void *x, const void *y), const void *user);
void ts_heap_fini(struct ts_heap *h);

/* Add a copy of @item.  Returns false if memory is exhausted; the heap is then unchanged. */
bool ts_heap_put(struct ts_heap *h, const void *item);

/* Returns the first item, borrowed until the next put or take; NULL if the heap is empty. */
const void *ts_heap_first(const struct ts_heap *h);

/* Remove the first item and copy it to *item.  Returns false if the heap is empty. */
bool ts_heap_take(struct ts_heap *h, void *item);

/* Remove any one item, in constant time, for a caller that only counts.  Returns false if the heap is empty. */
bool ts_heap_drop(struct ts_heap *h);

#endif
