/* SPDX-License-Identifier: MIT */
/*
 * Large memory, freed by a thread of its own: free() of 50 MB takes 20 ms, in which a server would answer nobody.
 */
#ifndef TS_FREE_LATER_H
#define TS_FREE_LATER_H

#include <stddef.h>

/* Less is freed at once. */
#ifndef TS_FREE_LATER_LEN
#define TS_FREE_LATER_LEN ((size_t)1 << 20)
#endif

/* Free the @len bytes at @memory, which malloc() or its like has allocated; NULL is left alone. */
void ts_free_later(void *memory, size_t len);

#endif
