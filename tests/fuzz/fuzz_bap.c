/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as BAP frames; and read by plans they say the same as without.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_reader.h"
#include "tests/unit/bap_twins.h"

/* So that one input does not take the whole time. */
#define MAX_STEPS 300000u

static void compare_twins(const uint8_t *bytes, size_t len)
{
	struct bap_twins w;
	uint64_t n_followed;

	if (bap_twins_open(&w, bytes, len) && bap_twins_differ(&w, MAX_STEPS, &n_followed))
		abort();
	bap_twins_close(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	fuzz_reader("bap", bytes, len);
	compare_twins(bytes, len);
	return 0;
}
