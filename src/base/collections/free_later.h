/* SPDX-License-Identifier: MIT */
/*
 * Large blocks of memory are freed by a thread of their own: free() of 50 MB takes 20 ms, during which the server would
 * answer no client.
 */
#ifndef TS_FREE_LATER_H
#define TS_FREE_LATER_H

#include <stddef.h>

/* Smaller blocks are freed at once. */
#ifndef TS_FREE_LATER_LEN
#define TS_FREE_LATER_LEN ((size_t)1 << 20)
#endif

/* Free the @len bytes at @memory, which malloc() or a similar function allocated; NULL is ignored. */
void ts_free_later(void *memory, size_t len);

#endif
