/* SPDX-License-Identifier: MIT */
/*
 * Hashes for tables whose keys a recording chooses.
 *
 * They are keyed with numbers that differ in each process, so that nobody can make a recording whose keys all
 * fall into one place of a table: each look would then pass all the others.  A hash must therefore never be
 * written to a file, nor decide the order of anything that is shown.
 */
#ifndef TS_HASH_H
#define TS_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Random, from the start of the process on. */
extern uint64_t ts_hash_key[2];

/* The product's halves, one over the other. */
static inline uint64_t ts_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash of two numbers before its end, to which more numbers may be added. */
static inline uint64_t ts_hash_begin(uint64_t a, uint64_t b)
{
	return ts_hash_fold(a ^ ts_hash_key[0], b ^ ts_hash_key[1]);
}

static inline uint64_t ts_hash_add(uint64_t hash, uint64_t a)
{
	return ts_hash_fold(hash ^ a, ts_hash_key[1]);
}

/* The hash.  Folded once more, as wyhash does it: numbers that are alike in most bits would meet too often. */
static inline uint64_t ts_hash_end(uint64_t hash)
{
	return ts_hash_fold(hash ^ ts_hash_key[0], UINT64_C(0x9e3779b97f4a7c15));
}

/* Of two numbers; all bits of the result are good. */
static inline uint64_t ts_hash(uint64_t a, uint64_t b)
{
	return ts_hash_end(ts_hash_begin(a, b));
}

/* Of bytes. */
uint64_t ts_hash_bytes(const void *bytes, size_t len);

#endif
