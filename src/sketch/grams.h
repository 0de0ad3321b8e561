/* SPDX-License-Identifier: MIT */
/*
 * The windows of four bytes that the changes of a segment left in memory, each with the groups of chunks that
 * left it, while the segment is read.
 */
#ifndef TS_GRAMS_H
#define TS_GRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sketch.h"

#define TS_RECENT_BITS 14u

/* A hash table: the slot of a hash has the number that its highest bits are, or comes soon after it. */
struct ts_gram_table {
	uint32_t *hashes; /* owned */
	uint64_t *groups; /* owned; of each: bit g for group g; 0: an empty slot */
	unsigned n_bits;  /* of a slot's number */
};

struct ts_grams {
	/* hashes that this group has noted, each in the slot of its highest bits */
	uint32_t recent[1u << TS_RECENT_BITS];
	struct ts_gram_table table;
	uint32_t n;        /* that are in it */
	uint8_t *bitmap;   /* owned; in place of the table when there are too many, else NULL */
	unsigned group;    /* that is being read */
	bool is_failed;    /* memory ran out */
};

/* Returns NULL if memory is exhausted. */
struct ts_grams *ts_grams_new(void);
void ts_grams_free(struct ts_grams *g);

/* What follows is of this group, not below the one before. */
void ts_grams_begin_group(struct ts_grams *g, unsigned group);

/* The same of a window that has not been noted lately. */
void ts_grams_add(struct ts_grams *g, uint32_t hash);

/* A change left the window @data, of TS_GRAM_LEN bytes. */
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
 * The segment is over, of @n_steps steps: what was noted to *s (but its wild chunks), and begin the next one.
 *
 * Returns false if memory is exhausted, or was before.
 */
bool ts_grams_seal(struct ts_grams *g, uint64_t n_steps, struct ts_sketch *s);

#endif
