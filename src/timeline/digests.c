/* SPDX-License-Identifier: MIT */
#include "digests.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"

void ts_digests_fini(struct ts_digests *d)
{
	free(d->items);
	free(d->unread);
	*d = (struct ts_digests){ 0 };
}

/* @n follow those that were read. */
static bool add(struct ts_digests *d, const uint64_t *items, size_t n)
{
	if (!ts_vec_reserve(&d->items, d->n_read, &d->cap, n, sizeof(*d->items)))
		return false;
	if (n)
		memcpy(d->items + d->n_read, items, n * sizeof(*items));
	d->n_read += n;
	return true;
}

const uint64_t *ts_digests_read(struct ts_digests *d)
{
	size_t n_before = d->n_read;

	for (size_t i = 0; i < d->n_unread; i++) {
		const struct ts_digests_part *part = &d->unread[i];

		if (ts_index_blocks_use(part->blocks, part->items, part->n * sizeof(*part->items)) &&
		    add(d, part->items, part->n))
			continue;
		d->n_read = n_before;
		return NULL;
	}
	d->n_unread = 0;
	return d->items;
}

bool ts_digests_add(struct ts_digests *d, const uint64_t *items, size_t n)
{
	if ((d->n_unread && !ts_digests_read(d)) || !add(d, items, n))
		return false;
	d->n += n;
	return true;
}

bool ts_digests_add_unread(struct ts_digests *d, const uint64_t *items, size_t n, struct ts_index_blocks *blocks)
{
	if (!TS_PUSH(d->unread, d->n_unread, d->cap_unread, (struct ts_digests_part){ items, n, blocks }))
		return false;
	d->n += n;
	return true;
}

/* Odd, with as many bits set as not; nothing else is asked of them. */
#define KEY_A UINT64_C(0x9e3779b97f4a7c15)
#define KEY_B UINT64_C(0xd1b54a32d192ed03)

/* Both halves of the product: each bit of either factor changes about half of the result. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ KEY_A) * (b ^ KEY_B);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* All of at most eight bytes, by two loads that may overlap. */
static inline uint64_t load(const uint8_t *p, uint64_t len)
{
	uint64_t word;
	uint32_t low, high;

	if (__builtin_expect(len == 8, 1)) {
		memcpy(&word, p, 8);
		return word;
	}
	if (len >= 4) {
		memcpy(&low, p, 4);
		memcpy(&high, p + len - 4, 4);
		return low | (uint64_t)high << 32;
	}
	return len ? p[0] | (uint32_t)p[len / 2] << 8 | (uint32_t)p[len - 1] << 16 : 0;
}

static uint64_t digest_long(uint64_t sum, const uint8_t *data, uint64_t len)
{
	for (; len > 8; data += 8, len -= 8)
		sum = mix(sum, load(data, 8));
	return mix(sum, load(data, len));
}

/* Nearly all effects: a value of at most eight bytes. */
static inline bool is_short(const struct ts_effect *e)
{
	return __builtin_expect(e->kind <= TS_FX_WRITE && e->data != TS_NO_DATA && e->len <= 8, 1);
}

static inline bool is_counted(enum ts_effect_kind kind)
{
	return kind <= TS_FX_WRITE || kind == TS_FX_THREAD || kind == TS_FX_FORGET_REGS;
}

_Static_assert(TS_FX_REG_WRITE < TS_FX_REG_READ && TS_FX_REG_READ < TS_FX_WRITE && TS_FX_WRITE < TS_FX_READ,
	       "is_counted() goes by the order");

static inline bool is_unknown_reg(const struct ts_effect *e)
{
	return __builtin_expect(e->data == TS_NO_DATA && e->kind == TS_FX_REG_WRITE, 0) ||
	       __builtin_expect(e->kind == TS_FX_FORGET_REGS, 0);
}

/* @turn_key: a multiple of KEY_B by the place of the effect; their order counts. */
static inline uint64_t what_of(const struct ts_effect *e, uint64_t turn_key)
{
	return e->addr ^ (e->len << 4 | (uint64_t)e->kind) << 44 ^ turn_key;
}

static __attribute__((noinline)) uint64_t digest_other(const struct ts_steps *b, const struct ts_effect *e, uint64_t what)
{
	const uint8_t *value = ts_effect_data(b, e);

	return value ? digest_long(what, value, e->len) : mix(what, ts_effect_item(e) ^ KEY_A);
}

uint64_t ts_digest(const struct ts_steps *chunk)
{
	const struct ts_step *end = chunk->steps + chunk->n_steps;
	const uint8_t *data = chunk->data;
	uint64_t sum = chunk->n_steps, turn = 0;

	for (const struct ts_step *s = chunk->steps; s < end; s++) {
		const struct ts_effect *e = chunk->effects + s->first;

		turn++;
		sum += mix(s->pc, (uint64_t)s->thread << 32 ^ turn * KEY_A);
		for (const struct ts_effect *e_end = e + s->n_effects; e < e_end; e++) {
			if (is_short(e)) {
				sum += mix(what_of(e, ++turn * KEY_B), load(data + e->data, e->len));
				continue;
			}
			if (!is_counted(e->kind))
				continue;
			if (is_unknown_reg(e))
				return 0;
			sum += digest_other(chunk, e, what_of(e, ++turn * KEY_B));
		}
	}
	return sum ? sum : 1;
}
