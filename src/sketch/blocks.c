/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/hash.h"
#include "src/base/collections/vec.h"

/* More are dropped before a chunk: 20 MB. */
#define MAX_BLOCKS (1u << 16)

/* In a longer range all are dropped. */
#define MAX_DROPPED 1024u

void ts_blocks_init(struct ts_blocks *b, ts_blocks_read *read, void *user)
{
	*b = (struct ts_blocks){ .read = read, .user = user };
}

void ts_blocks_fini(struct ts_blocks *b)
{
	free(b->items);
	ts_hash_table_fini(&b->by_addr);
	ts_blocks_init(b, b->read, b->user);
}

void ts_blocks_drop_all(struct ts_blocks *b)
{
	if (b->n)
		ts_blocks_fini(b);
}

void ts_blocks_begin_chunk(struct ts_blocks *b, uint64_t chunk)
{
	if (b->n > MAX_BLOCKS)
		ts_blocks_drop_all(b);
	b->chunk = chunk;
}

/* The key of a block. */
struct key {
	uint64_t addr;
	uint32_t process;
};

static bool is_block(const void *user, uint32_t i, const void *key)
{
	const struct ts_block *x = &((const struct ts_blocks *)user)->items[i];
	const struct key *y = key;

	return x->addr == y->addr && x->process == y->process;
}

static uint64_t hash_of_block(const void *user, uint32_t i)
{
	const struct ts_block *x = &((const struct ts_blocks *)user)->items[i];

	return ts_hash(x->addr, x->process);
}

/* The slot of the block, or the free one where it belongs; NULL if none is found. */
static uint32_t *slot_of(const struct ts_blocks *b, uint32_t process, uint64_t addr)
{
	const struct key key = { addr, process };

	return ts_hash_table_slot(&b->by_addr, ts_hash(addr, process), is_block, b, &key);
}

/* Room for one more. */
static bool grow(struct ts_blocks *b)
{
	return ts_vec_reserve(&b->items, b->n, &b->cap, 1, sizeof(*b->items)) &&
	       ts_hash_table_reserve(&b->by_addr, b->n, 1, hash_of_block, b);
}

static void read_block(const struct ts_blocks *b, struct ts_block *item)
{
	uint8_t known[TS_BLOCK_LEN];

	b->read(b->user, item->process, b->chunk, item->addr, TS_BLOCK_LEN, item->data, known);
	for (unsigned i = 0; i < TS_BLOCK_LEN; i++) {
		uint64_t bit = UINT64_C(1) << i % 64;

		item->known[i / 64] = known[i] ? item->known[i / 64] | bit : item->known[i / 64] & ~bit;
	}
	item->is_stale = false;
}

/* The block with @addr, which is stale if it is new.  Returns NULL if memory is exhausted. */
static struct ts_block *find_block(struct ts_blocks *b, uint32_t process, uint64_t addr)
{
	uint32_t *slot;

	if (!grow(b))
		return NULL;
	addr &= ~(uint64_t)(TS_BLOCK_LEN - 1);
	slot = slot_of(b, process, addr);
	if (!*slot) {
		b->items[b->n] = (struct ts_block){ .addr = addr, .process = process, .is_stale = true };
		*slot = (uint32_t)++b->n;
	}
	return &b->items[*slot - 1];
}

struct ts_block *ts_blocks_get(struct ts_blocks *b, uint32_t process, uint64_t addr)
{
	struct ts_block *item = find_block(b, process, addr);

	if (item && item->is_stale)
		read_block(b, item);
	return item;
}

bool ts_blocks_clear(struct ts_blocks *b, uint32_t process, uint64_t first, uint64_t last, bool is_known)
{
	for (uint64_t left = last - first + 1; left;) {
		unsigned off = (unsigned)(first % TS_BLOCK_LEN);
		unsigned n = left < TS_BLOCK_LEN - off ? (unsigned)left : TS_BLOCK_LEN - off;
		struct ts_block *item = find_block(b, process, first);

		if (!item)
			return false;
		if (item->is_stale && n < TS_BLOCK_LEN)
			read_block(b, item);
		item->is_stale = false;
		memset(item->data + off, 0, n);
		if (is_known)
			ts_block_know(item, off, off + n - 1);
		else
			ts_block_forget(item, off, off + n - 1);
		first += n;
		left -= n;
	}
	return true;
}

void ts_blocks_drop(struct ts_blocks *b, uint32_t process, uint64_t first, uint64_t last)
{
	uint64_t addr = first & ~(uint64_t)(TS_BLOCK_LEN - 1);

	if ((last - addr) / TS_BLOCK_LEN >= MAX_DROPPED) {
		ts_blocks_drop_all(b);
		return;
	}
	for (; b->n; addr += TS_BLOCK_LEN) {
		uint32_t *slot = slot_of(b, process, addr);

		if (*slot)
			b->items[*slot - 1].is_stale = true;
		if (last - addr < TS_BLOCK_LEN)
			return;
	}
}

static uint64_t bits_of(unsigned word, unsigned s, unsigned e)
{
	unsigned from = word == s / 64 ? s % 64 : 0, to = word == e / 64 ? e % 64 : 63;

	return UINT64_MAX >> (63 - (to - from)) << from;
}

void ts_block_know(struct ts_block *b, unsigned s, unsigned e)
{
	for (unsigned word = s / 64; word <= e / 64; word++)
		b->known[word] |= bits_of(word, s, e);
}

void ts_block_forget(struct ts_block *b, unsigned s, unsigned e)
{
	for (unsigned word = s / 64; word <= e / 64; word++)
		b->known[word] &= ~bits_of(word, s, e);
}
