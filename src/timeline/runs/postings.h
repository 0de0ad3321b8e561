/* SPDX-License-Identifier: MIT */
/*
 * Sorted, delta-coded sets of numbers: where each key occurs.
 *
 * Pairs are noted with ascending values, and sealed into one list for each key.  A list consists of blocks of up to 64
 * values.  A block has a head (its first value, and where its bytes begin) and the differences as varints.  A look-up
 * is a binary search over keys and heads, and decodes one block.
 */
#ifndef TS_POSTINGS_H
#define TS_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_index_blocks;
struct ts_index_file;
struct ts_index_arrays;

#define TS_NO_POSTING UINT32_MAX

struct ts_pair {
	uint32_t key, value;
};

struct ts_pairs {
	struct ts_pair *items; /* owned */
	size_t n, cap;
};

/* Note a pair; values must not descend.  Returns false if memory is exhausted. */
bool ts_pairs_add(struct ts_pairs *p, uint32_t key, uint32_t value);
void ts_pairs_fini(struct ts_pairs *p);

struct ts_posting_block {
	uint32_t value; /* first of the block */
	uint32_t off;   /* where the differences to it begin in bytes */
};

struct ts_postings {
	uint32_t *keys;                  /* owned; n_keys, ascending */
	uint32_t *first_block;           /* owned; n_keys + 1 */
	struct ts_posting_block *blocks; /* owned; n_blocks + 1: the last one only ends the bytes */
	uint8_t *bytes;                  /* owned */
	size_t n_keys, n_blocks, n_bytes;
	struct ts_index_blocks *file;          /* borrowed; the arrays are mapped from it; NULL: they are owned */
};

/*
 * Sort the pairs by key; @p is unchanged.  Keys are below @n_keys.
 *
 * Returns false if memory is exhausted; @set is then empty.
 */
bool ts_postings_seal(struct ts_postings *set, const struct ts_pairs *p, uint32_t n_keys);
void ts_postings_fini(struct ts_postings *set);

/*
 * The smallest value of @key that is >= @value (the largest that is <= @value); TS_NO_POSTING if @key has
 * no such value.
 */
uint32_t ts_postings_next(const struct ts_postings *set, uint32_t key, uint32_t value);
uint32_t ts_postings_prev(const struct ts_postings *set, uint32_t key, uint32_t value);

/* The @i-th key. */
uint32_t ts_postings_key(const struct ts_postings *set, size_t i);

/* Call @use with each value of the @i-th key, ascending. */
void ts_postings_each(const struct ts_postings *set, size_t i, void (*use)(void *user, uint32_t value),
		      void *user);

/* Call @use with each value of @key in [@from, @to), ascending. */
void ts_postings_each_of(const struct ts_postings *set, uint32_t key, uint32_t from, uint32_t to,
			 void (*use)(void *user, uint32_t value), void *user);

/*
 * To an index file; from there, with its arrays.  Loading returns false if their lengths contradict each
 * other.  Their contents are verified and bounded when it is read; values are not checked: they can be any
 * number.
 */
void ts_postings_save(const struct ts_postings *set, struct ts_index_file *f);
bool ts_postings_load(struct ts_postings *set, struct ts_index_arrays *a);

/* Returns the bytes of the set, in memory or in the index file. */
size_t ts_postings_mem(const struct ts_postings *set);

#endif
