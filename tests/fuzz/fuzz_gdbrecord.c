/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a recording of gdb's.
 */
#include "fuzz.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("gdbrecord", bytes, len);
	return 0;
}
