/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace written by hand.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("text", bytes, len);
	return 0;
}
