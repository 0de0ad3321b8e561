/* SPDX-License-Identifier: MIT */
/*
 * Hashes for tables whose keys come from a recording.
 *
 * The hashes are keyed with random numbers of the process, so that an attacker cannot make a recording whose keys all collide,
 * which would make each look-up linear.  Therefore a hash must never be written to a file, nor decide the
 * order of any output.
 */
#ifndef TS_HASH_H
#define TS_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Random numbers, set at the start of the process. */
extern uint64_t ts_hash_key[2];

/* The exclusive or of the product's halves. */
static inline uint64_t ts_hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The unfinished hash of two numbers, to which more numbers may be added. */
static inline uint64_t ts_hash_begin(uint64_t a, uint64_t b)
{
	return ts_hash_fold(a ^ ts_hash_key[0], b ^ ts_hash_key[1]);
}

/* Add a number to an unfinished hash. */
static inline uint64_t ts_hash_add(uint64_t hash, uint64_t a)
{
	return ts_hash_fold(hash ^ a, ts_hash_key[1]);
}

/* Finish a hash: it is folded once more, as in wyhash, because similar numbers would collide too often. */
static inline uint64_t ts_hash_end(uint64_t hash)
{
	return ts_hash_fold(hash ^ ts_hash_key[0], UINT64_C(0x9e3779b97f4a7c15));
}

/* The hash of two numbers; all bits of the result are mixed. */
static inline uint64_t ts_hash(uint64_t a, uint64_t b)
{
	return ts_hash_end(ts_hash_begin(a, b));
}

/* The hash of @len bytes. */
uint64_t ts_hash_bytes(const void *bytes, size_t len);

#endif
