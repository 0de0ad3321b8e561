/* SPDX-License-Identifier: MIT */
/*
 * Traits: what bytes look like around one of them, as keys.
 *
 * A search for bytes passes over most of a recording with them (sketch.h, probe.h).  When the effect of a step changes
 * the bytes [s, e], these traits of what then stands there are noted:
 *   ahead    at each of s..e: the four bytes from there on; of four 0 the nearest one after them that is not 0
 *   around   at s: the byte, the one before it and the one after it
 *   next     at s: the byte, and the nearest one after it that is not 0
 *   before   at s: the byte, and the two before it; of a 0 the nearest one before it that is not 0
 *
 * Where a value begins to stand at @m, consider the effect that was the last to change a byte of it.  Either s lies in
 * it, then the traits of s are the value's at s - m; or the value begins in s+1..e, then "ahead" is that of its first
 * byte.
 */
#ifndef TS_TRAIT_H
#define TS_TRAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/trace/chunk.h"

/* Keys are numbers below TS_TRAIT_KEYS; fewer where segments are small. */
#define TS_TRAIT_BITS (TS_SEGMENT_CHUNKS < 1024u ? 15u : 21u)
#define TS_TRAIT_KEYS (1u << TS_TRAIT_BITS)

/* A trait depends on this many bytes before and after its own at most. */
#define TS_TRAIT_REACH 7u

/* Bytes, of which some are not known. */
struct ts_trait_bytes {
	const uint8_t *data, *known;
	unsigned n;
};

/*
 * The trait of byte @i, which is known, as its key.  They return false if bytes that it is made of are not known.
 */
bool ts_trait_ahead(const struct ts_trait_bytes *b, unsigned i, uint32_t *key);
bool ts_trait_around(const struct ts_trait_bytes *b, unsigned i, uint32_t *key);
bool ts_trait_next(const struct ts_trait_bytes *b, unsigned i, uint32_t *key);
bool ts_trait_before(const struct ts_trait_bytes *b, unsigned i, uint32_t *key);

/* The same of data[at], with TS_TRAIT_REACH bytes before and after it that are all known. */
uint32_t ts_trait_known_ahead(const uint8_t *data, unsigned at);
/* around, next and before */
void ts_trait_known_first(const uint8_t *data, unsigned at, uint32_t keys[3]);

#endif
