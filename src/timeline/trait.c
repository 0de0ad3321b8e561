/* SPDX-License-Identifier: MIT */
#include "trait.h"

#include <endian.h>
#include <string.h>

enum trait {
	AHEAD,
	AHEAD_ZERO,
	AROUND,
	NEXT,
	BEFORE,
	BEFORE_ZERO,
};

static inline uint32_t key_of(enum trait trait, uint32_t x)
{
	return (uint32_t)(((uint64_t)trait << 32 | x) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TS_TRAIT_BITS));
}

/* A byte, the nearest one that is not 0, and how far it is from there; TS_TRAIT_REACH + 1: farther, and @nearest is 0. */
static inline uint32_t pair_of(uint32_t byte, uint32_t nearest, uint32_t distance)
{
	return byte | nearest << 8 | distance << 16;
}

/* Of eight bytes: four of them, or which of the others is the first that is not 0. */
static inline uint32_t key_of_ahead(uint64_t x)
{
	unsigned d;

	if ((uint32_t)x)
		return key_of(AHEAD, (uint32_t)x);
	d = x ? (unsigned)__builtin_ctzll(x) / 8 : 8;
	return key_of(AHEAD_ZERO, pair_of(0, d < 8 ? (uint8_t)(x >> d * 8) : 0, d));
}

bool ts_trait_ahead(const struct ts_trait_bytes *b, unsigned i, uint32_t *key)
{
	uint64_t x = 0;

	for (unsigned k = 0; k < 4 || (!x && k < 8); k++) {
		if (i + k >= b->n || !b->known[i + k])
			return false;
		x |= (uint64_t)b->data[i + k] << 8 * k;
	}
	*key = key_of_ahead(x);
	return true;
}

bool ts_trait_around(const struct ts_trait_bytes *b, unsigned i, uint32_t *key)
{
	if (!i || i + 1 >= b->n || !b->known[i - 1] || !b->known[i + 1])
		return false;
	*key = key_of(AROUND, b->data[i - 1] | (uint32_t)b->data[i] << 8 | (uint32_t)b->data[i + 1] << 16);
	return true;
}

bool ts_trait_next(const struct ts_trait_bytes *b, unsigned i, uint32_t *key)
{
	unsigned d = 1;

	for (; d <= TS_TRAIT_REACH; d++) {
		if (i + d >= b->n || !b->known[i + d])
			return false;
		if (b->data[i + d])
			break;
	}
	*key = key_of(NEXT, pair_of(b->data[i], d <= TS_TRAIT_REACH ? b->data[i + d] : 0, d));
	return true;
}

static bool before_zero(const struct ts_trait_bytes *b, unsigned i, uint32_t *key)
{
	unsigned d = 1;

	for (; d <= TS_TRAIT_REACH; d++) {
		if (d > i || !b->known[i - d])
			return false;
		if (b->data[i - d])
			break;
	}
	*key = key_of(BEFORE_ZERO, pair_of(0, d <= TS_TRAIT_REACH ? b->data[i - d] : 0, d));
	return true;
}

bool ts_trait_before(const struct ts_trait_bytes *b, unsigned i, uint32_t *key)
{
	if (!b->data[i])
		return before_zero(b, i, key);
	if (i < 2 || !b->known[i - 1] || !b->known[i - 2])
		return false;
	*key = key_of(BEFORE, b->data[i - 2] | (uint32_t)b->data[i - 1] << 8 | (uint32_t)b->data[i] << 16);
	return true;
}

static inline uint64_t load(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return le64toh(x);
}

uint32_t ts_trait_known_ahead(const uint8_t *data, unsigned at)
{
	return key_of_ahead(load(data + at));
}

void ts_trait_known_first(const uint8_t *data, unsigned at, uint32_t keys[3])
{
	uint64_t back = load(data + at - TS_TRAIT_REACH), rest = load(data + at) >> 8;
	uint32_t byte = data[at];
	unsigned d = rest ? (unsigned)__builtin_ctzll(rest) / 8 + 1 : TS_TRAIT_REACH + 1;

	keys[0] = key_of(AROUND, data[at - 1] | byte << 8 | (uint32_t)data[at + 1] << 16);
	keys[1] = key_of(NEXT, pair_of(byte, rest ? data[at + d] : 0, d));
	if (byte) {
		keys[2] = key_of(BEFORE, (uint32_t)(back >> 40));
		return;
	}
	back &= UINT64_MAX >> 8;
	d = back ? (unsigned)__builtin_clzll(back << 8) / 8 + 1 : TS_TRAIT_REACH + 1;
	keys[2] = key_of(BEFORE_ZERO, pair_of(0, back ? data[at - d] : 0, d));
}
