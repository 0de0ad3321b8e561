/* SPDX-License-Identifier: MIT */
/*
 * The one function of a fuzz target, under the name that libFuzzer calls.
 * Returns 0. Must not keep state between calls and must not exit.
 */
#ifndef TS_TESTS_FUZZ_H
#define TS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/*
 * A fuzzer asks each input this share of the questions of a target that has many, chosen by the input's bytes,
 * so that more inputs are tried in the time.  The replay in `make check` asks all.
 */
#ifndef FUZZ_SHARE
#define FUZZ_SHARE 1u
#endif

/* Whose turn it is: a number by the input's bytes. */
static inline unsigned fuzz_turn(const uint8_t *bytes, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += bytes[i];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
