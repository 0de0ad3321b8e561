/* SPDX-License-Identifier: MIT */
/*
 * Changes of the numbers inside of an index file, which is signed again (forge.h).  The first byte chooses
 * one of a few recordings, the rest are edits.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "tests/unit/forge.h"

#define N_SEEDS 4

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static uint8_t *originals[N_SEEDS];
	static size_t lens[N_SEEDS];
	unsigned which = len ? bytes[0] % N_SEEDS : 0;
	uint8_t *forged;
	char path[64];

	ts_log_set_level(TS_LOG_ERROR);
	snprintf(path, sizeof(path), "fuzz.%d.tsindex", (int)getpid());
	if (!originals[which])
		originals[which] = forge_original(path, which + 1, &lens[which]);
	forged = malloc(lens[which]);
	if (!forged)
		abort();
	memcpy(forged, originals[which], lens[which]);
	forge(forged, lens[which], bytes + 1, len ? (len - 1) / FORGE_EDIT_LEN : 0);
	forge_ask(path, forged, lens[which], which + 1);
	free(forged);
	remove(path);
	return 0;
}
