/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as BAP frames.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("bap", bytes, len);
	return 0;
}
