/* SPDX-License-Identifier: MIT */
/*
 * Large memory that is given back in pieces: free() of 50 MB keeps a thread busy for 20 ms.
 */
#ifndef TS_FREE_IN_STEPS_H
#define TS_FREE_IN_STEPS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that are given back by one call. */
#ifndef TS_GIVE_BACK_LEN
#define TS_GIVE_BACK_LEN ((size_t)1 << 18)
#endif

/*
 * Give back the last piece of the *len bytes at *memory, which malloc() or its like has allocated; what is
 * left stays where it is, or moves.  *len gets what is left.
 *
 * Returns false when nothing is left: *memory is then NULL.
 */
bool ts_give_back_some(void **memory, size_t *len);

/* The same of *n items of @item_len bytes; what is left of the last one counts for nothing. */
bool ts_give_back_items(void **items, size_t *n, size_t item_len);

#endif
