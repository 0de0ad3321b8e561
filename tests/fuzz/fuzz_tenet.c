/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a Tenet log.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("tenet", bytes, len);
	return 0;
}
