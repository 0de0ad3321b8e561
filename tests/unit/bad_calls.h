/* SPDX-License-Identifier: MIT */
/*
 * Calls of the operating system that fail: wrappers around those for files, listening sockets and their
 * clients, which count the calls and can fail one or two of them.
 *
 * A program that uses them is linked with $(bad_calls_ldflags).
 */
#ifndef TS_TESTS_BAD_CALLS_H
#define TS_TESTS_BAD_CALLS_H

#include <stdint.h>

/* From now on count calls; the one with the ordinal @n fails with @error. */
void bad_calls_start(uint64_t n, int error);

/* The same; that with the ordinal @then fails, too, with @then_error. */
void bad_calls_start_two(uint64_t n, int error, uint64_t then, int then_error);

/* No more.  Returns how many there were. */
uint64_t bad_calls_end(void);

#endif
