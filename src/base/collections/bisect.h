/* SPDX-License-Identifier: MIT */
/*
 * Sorted arrays: binary search, and the order of items that begin with a number.
 */
#ifndef TS_BISECT_H
#define TS_BISECT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Raise @at, an unsigned variable, to the first number of [@at, @end) for which @is_below, an expression of @i, is false; to @end
 * if @is_below is true for all.  @is_below must be true for each number before that one.  @end is evaluated once.  Nothing changes if
 * @at >= @end.
 *
 *      size_t at = 0;
 *
 *      TS_BISECT(at, list->n, i, list->items[i].addr < addr);
 */
#define TS_BISECT(at, end, i, is_below) \
	do { \
		__typeof__(at) end_ = (end), n_ = end_ > (at) ? end_ - (at) : 0; \
\
		while (n_) { \
			__typeof__(at) half_ = n_ / 2, i = (at) + half_; \
\
			if (is_below) { \
				(at) = i + 1; \
				n_ -= half_ + 1; \
			} else { \
				n_ = half_; \
			} \
		} \
	} while (0)

/*
 * The order of two numbers: below, equal to or above 0, as for qsort(3).  Keys are compared one after the other with ?: :
 *
 *      return TS_ORDER(x->addr, y->addr) ?: TS_ORDER(x->len, y->len);
 */
#define TS_ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* Order items by the uint64_t with which they begin.  Returns as a comparison for qsort(3) does. */
static inline int ts_by_u64(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return TS_ORDER(x, y);
}

/* Order @n items by the member @key, with which they begin: the compiler refuses one that is no uint64_t.  @n is read twice. */
#define TS_SORT_BY(items, n, key) \
	do { \
		_Static_assert(!offsetof(__typeof__(*(items)), key) && \
			       __builtin_types_compatible_p(__typeof__((items)->key), uint64_t), "no uint64_t at the beginning"); \
		if (n) \
			qsort((items), (n), sizeof(*(items)), ts_by_u64); \
	} while (0)

#endif
