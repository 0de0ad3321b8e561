/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow.  @array is the address of a pointer to the items, of any type, owned by the caller; NULL while the
 * array has no items.  Lengths and capacities are in items.
 */
#ifndef TS_VEC_H
#define TS_VEC_H

#include <stdbool.h>
#include <stddef.h>

/* Grow @array to at least @n + @more items, at least to twice its capacity.  Returns as ts_vec_reserve() does. */
bool ts_vec_grow(void *array, size_t n, size_t *cap, size_t more, size_t item_len);

/*
 * Have room for @more items of @item_len bytes after the first @n; *cap is the capacity.
 *
 * Returns true if there is room.
 * Returns false if memory is exhausted or the size overflows; the array and *cap are then unchanged.
 */
static inline bool ts_vec_reserve(void *array, size_t n, size_t *cap, size_t more, size_t item_len)
{
	return __builtin_expect(more <= *cap - n, 1) || ts_vec_grow(array, n, cap, more, item_len);
}

/*
 * Append an item to @array (a pointer to the items), which has @n items and room for @cap: all three are variables.
 *
 * True if the item was appended, false if memory is exhausted.
 */
#define TS_PUSH(array, n, cap, ... /* the item */) \
	(ts_vec_reserve(&(array), n, &(cap), 1, sizeof(*(array))) && ((array)[n] = (__VA_ARGS__), (n)++, true))

/*
 * Make an array of *n items hold item @i.  The new items are zeros.  No capacity is kept: it follows from the length, so that
 * this function must have allocated the array.  This is for arrays that grow rarely.
 *
 * Returns true if *n is greater than @i.
 * Returns false if memory is exhausted; the array and *n are then unchanged.
 */
bool ts_vec_extend(void *array, size_t *n, size_t i, size_t item_len);

#endif
