/* SPDX-License-Identifier: MIT */
/*
 * Room in arrays that grow.  @array is the address of a pointer to the items, of any type, owned by the caller; NULL
 * while there are no items.
 */
#ifndef TS_ROOM_H
#define TS_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Twice as much room as before, or @first items.  Returns as ts_room() does. */
bool ts_room_double(void *array, size_t *cap, size_t first, size_t item_len);

/*
 * Make room for one more item of @item_len bytes after @n items; *cap is how many fit.
 *
 * Returns false if memory is exhausted; the array is then unchanged.
 */
static inline bool ts_room(void *array, size_t n, size_t *cap, size_t first, size_t item_len)
{
	return __builtin_expect(n < *cap, 1) || ts_room_double(array, cap, first, item_len);
}

/*
 * Make an array of *n items hold item @i: the new ones are zeros.
 *
 * Returns false if memory is exhausted; the array is then unchanged.
 */
bool ts_room_until(void *array, size_t *n, size_t i, size_t item_len);

#endif
