/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace of x64dbg.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("x64dbg", bytes, len);
	return 0;
}
