/* SPDX-License-Identifier: MIT */
/*
 * Changes of the numbers inside of an index file, which is signed again (forge.h).  The first byte chooses
 * one of a few recordings; 64 in it, that packed arrays are stored (forge_store.h); 128 in it, the sketches
 * beside the index.  The rest are edits.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/log.h"
#include "tests/unit/forge.h"
#include "tests/unit/forge_store.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Recordings of a group of segments, and one segment more, that have together what random ones have. */
#define N_STEPS 160
static const uint64_t seeds[] = { 2, 46, 11, 18, 27, 8, 29, 12 };

static const struct kind {
	uint8_t *(*original)(const char *path, uint64_t seed, size_t *len);
	enum forged (*ask)(const char *path, const uint8_t *file, size_t len, uint64_t seed);
} kinds[] = { { forge_original, forge_ask }, { forge_find_original, forge_find_ask } };

struct original {
	uint8_t *file;
	size_t len;
};

static void make_original(struct original *o, unsigned kind, const char *path, uint64_t seed, bool is_stored)
{
	uint8_t *packed = kinds[kind].original(path, seed, &o->len);

	o->file = is_stored ? forge_store(packed, &o->len) : packed;
	if (is_stored)
		free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct original originals[2][2][COUNT(seeds)];
	static char path[64], sketches[80];
	unsigned which = len ? bytes[0] % COUNT(seeds) : 0, kind = len && bytes[0] & 128;
	bool is_stored = len && bytes[0] & 64;
	struct original *o = &originals[kind][is_stored][which];
	uint8_t *forged;

	ts_log_set_level(TS_LOG_ERROR);
	forge_n_steps = N_STEPS;
	forge_share = FUZZ_SHARE;
	forge_turn = fuzz_turn(bytes, len);
	snprintf(path, sizeof(path), "fuzz.%d.%u.%u.tsindex", (int)getpid(), kind, which);
	snprintf(sketches, sizeof(sketches), "%s.find", path);
	if (!o->file)
		make_original(o, kind, path, seeds[which], is_stored);
	forged = malloc(o->len);
	if (!forged)
		abort();
	memcpy(forged, o->file, o->len);
	forge(forged, o->len, bytes + 1, len ? (len - 1) / FORGE_EDIT_LEN : 0);
	kinds[kind].ask(path, forged, o->len, seeds[which]);
	free(forged);
	if (!kind)
		remove(path);
	remove(sketches);
	return 0;
}
