/* SPDX-License-Identifier: MIT */
/*
 * Collects the four-byte windows that the changes of a segment create in memory, while the segment is read.
 *
 * Each window is kept as a hash, with the groups of chunks that created it.
 */
#ifndef TS_GRAMS_H
#define TS_GRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sketch.h"

#define TS_RECENT_BITS 14u

/* A hash table: the highest bits of a hash are the number of its slot; a hash that finds the slot taken lies soon after it. */
struct ts_gram_table {
	uint32_t *hashes; /* owned */
	uint64_t *groups; /* owned; for each slot: bit g is set for group g; 0: the slot is empty */
	unsigned n_bits;  /* the length of a slot number */
};

struct ts_grams {
	/* a cache of hashes that the current group has, each in the slot of its highest bits */
	uint32_t recent[1u << TS_RECENT_BITS];
	struct ts_gram_table table;
	uint32_t n;        /* the number of hashes in the table */
	uint8_t *bitmap;   /* owned; replaces the table when it has too many hashes; else NULL */
	unsigned group;    /* the current group */
	bool is_failed;    /* memory was exhausted */
};

/* Returns an empty set, which the caller frees with ts_grams_free(); NULL if memory is exhausted. */
struct ts_grams *ts_grams_new(void);
void ts_grams_free(struct ts_grams *g);

/* The next windows belong to @group.  Groups do not descend. */
void ts_grams_begin_group(struct ts_grams *g, unsigned group);

/* Add the hash of a window that is not in the cache. */
void ts_grams_add(struct ts_grams *g, uint32_t hash);

/* Add the window @data, of TS_GRAM_LEN bytes, which a change created. */
static inline void ts_grams_note(struct ts_grams *g, const uint8_t *data)
{
	uint32_t gram = data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
	uint32_t hash = ts_gram_hash(gram), *recent = &g->recent[hash >> (32 - TS_RECENT_BITS)];

	if (*recent == hash)
		return;
	*recent = hash;
	ts_grams_add(g, hash);
}

/*
 * End the segment, which has @n_steps steps: move its windows to *s, without the wild chunks, and begin the next segment.
 *
 * Returns false if memory is exhausted, or was before.
 */
bool ts_grams_seal(struct ts_grams *g, uint64_t n_steps, struct ts_sketch *s);

#endif
