/* SPDX-License-Identifier: MIT */
#include "vec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIN_ITEMS 4

/* The array gets room for @cap items.  Returns false if memory is exhausted. */
static bool resize(void *array, size_t cap, size_t item_len)
{
	void *items;

	if (cap > SIZE_MAX / item_len)
		return false;
	memcpy(&items, array, sizeof(items)); /* a pointer of any type */
	/* cppcheck-suppress memleakOnRealloc; without memory *array still has the old one */
	items = realloc(items, cap * item_len);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	return true;
}

bool ts_vec_grow(void *array, size_t n, size_t *cap, size_t more, size_t item_len)
{
	size_t want = *cap > MIN_ITEMS / 2 ? *cap : MIN_ITEMS / 2;

	if (more > SIZE_MAX - n || want > SIZE_MAX / 2)
		return false;
	want = 2 * want > n + more ? 2 * want : n + more;
	if (!resize(array, want, item_len))
		return false;
	*cap = want;
	return true;
}

/* For how many items an array of @n has room: up to an eighth more, so that @n calls do not copy it @n times. */
static size_t capacity(size_t n)
{
	size_t unit = 1;

	while (unit < n / 16)
		unit *= 2;
	return n > SIZE_MAX - unit ? SIZE_MAX : (n + unit - 1) / unit * unit;
}

bool ts_vec_extend(void *array, size_t *n, size_t i, size_t item_len)
{
	char *items;

	if (i < *n)
		return true;
	if (i == SIZE_MAX || (capacity(i + 1) != capacity(*n) && !resize(array, capacity(i + 1), item_len)))
		return false;
	memcpy(&items, array, sizeof(items));
	memset(items + *n * item_len, 0, (i + 1 - *n) * item_len);
	*n = i + 1;
	return true;
}
