/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow item by item, of this folder.
 */
#ifndef TS_CALLS_ROOM_H
#define TS_CALLS_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for one more item of @item_len bytes in *@array, a pointer of any type to @n items with room for *cap:
 * the room doubles.
 *
 * Returns false if memory is exhausted; the array is then unchanged.
 */
static inline bool ts_calls_room(void *array, uint32_t n, uint32_t *cap, size_t item_len)
{
	uint32_t more = *cap ? *cap * 2 : 64;
	void *items;

	if (n < *cap)
		return true;
	if (*cap >= UINT32_MAX / 4)
		return false;
	memcpy(&items, array, sizeof(items));
	/* cppcheck-suppress memleakOnRealloc; without memory *array still has the old one */
	items = realloc(items, more * item_len);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*cap = more;
	return true;
}

#endif
