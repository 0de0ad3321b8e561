/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a trace file of gdb.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("tfile", bytes, len);
	return 0;
}
