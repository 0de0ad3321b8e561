/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out: wrappers around malloc and its like, which count what is allocated and can fail some
 * of it.
 *
 * A program that uses them is linked with $(no_memory_ldflags).
 */
#ifndef TS_TESTS_NO_MEMORY_H
#define TS_TESTS_NO_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* From now on count allocations; those with the ordinals [from, until) fail. */
void no_memory_start(uint64_t from, uint64_t until);

/* What is allocated while it is held does not fail, and has no ordinal. */
void no_memory_hold(bool held);

/* No more.  Returns how many there were; *n_lost gets how many were not freed. */
uint64_t no_memory_end(int64_t *n_lost);

#endif
