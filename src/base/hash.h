/* SPDX-License-Identifier: MIT */
/*
 * Hashes for tables whose keys a recording chooses.
 *
 * They are keyed with numbers that differ in each process, so that nobody can make a recording whose keys all fall
 * into one place of a table: each look would then pass all the others.  A hash must therefore never be written to a
 * file, nor decide the order of anything that is shown.
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

/*
 * Of two numbers; all bits of the result are good.  Twice, as wyhash does it: after the first product, numbers that
 * are the same in most bits still are too often.
 */
static inline uint64_t ts_hash(uint64_t a, uint64_t b)
{
	uint64_t once = ts_hash_fold(a ^ ts_hash_key[0], b ^ ts_hash_key[1]);

	return ts_hash_fold(once ^ ts_hash_key[0], UINT64_C(0x9e3779b97f4a7c15));
}

/* Of bytes. */
uint64_t ts_hash_bytes(const void *bytes, size_t len);

#endif
