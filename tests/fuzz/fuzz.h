/* SPDX-License-Identifier: MIT */
/*
 * The one function of a fuzz target, under the name that libFuzzer calls.
 * Returns 0. Must not keep state between calls and must not exit.
 */
#ifndef TS_TESTS_FUZZ_H
#define TS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
