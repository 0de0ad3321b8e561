/* SPDX-License-Identifier: MIT */
#include "index_pack.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "src/base/thread.h"

/* The fastest of zstd's levels: a higher one gains less than a tenth. */
#define LEVEL 1

/* The minimum number of blocks that a thread packs: to start one takes as long as to pack a few. */
#ifndef TS_INDEX_BLOCKS_A_THREAD
#define TS_INDEX_BLOCKS_A_THREAD 16u
#endif

struct ts_index_packer {
	unsigned n;
	ZSTD_CCtx *zstd[]; /* owned; one for each thread */
};

struct ts_index_packer *ts_index_packer_new(unsigned n_threads)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): the array is one of pointers */
	struct ts_index_packer *p = calloc(1, sizeof(*p) + n_threads * sizeof(p->zstd[0]));

	while (p && p->n < n_threads) {
		p->zstd[p->n] = ZSTD_createCCtx();
		if (!p->zstd[p->n++]) {
			ts_index_packer_free(p);
			return NULL;
		}
	}
	return p;
}

void ts_index_packer_free(struct ts_index_packer *p)
{
	for (unsigned i = 0; p && i < p->n; i++)
		ZSTD_freeCCtx(p->zstd[i]);
	free(p);
}

struct ZSTD_DCtx_s *ts_index_unpacker_new(void)
{
	return ZSTD_createDCtx();
}

void ts_index_unpacker_free(struct ZSTD_DCtx_s *zstd)
{
	ZSTD_freeDCtx(zstd);
}

/* The bytes of whole items, filtered (index_pack.h), to @out. */
static void filter(const uint8_t *items, size_t n, uint32_t item_len, uint8_t *out)
{
	for (uint32_t k = 0; k < item_len; k++) {
		uint8_t last = 0;

		for (size_t i = 0; i < n; i++) {
			uint8_t byte = items[i * item_len + k];

			*out++ = (uint8_t)(byte - last);
			last = byte;
		}
	}
}

static void unfilter(const uint8_t *bytes, size_t n, uint32_t item_len, uint8_t *items)
{
	for (uint32_t k = 0; k < item_len; k++) {
		uint8_t last = 0;

		for (size_t i = 0; i < n; i++) {
			last = (uint8_t)(last + *bytes++);
			items[i * item_len + k] = last;
		}
	}
}

/* Pack a block to @out, which has room for it.  Returns its length; 0 if memory is exhausted. */
static size_t pack_block(ZSTD_CCtx *zstd, const uint8_t *items, size_t len, uint32_t item_len, uint8_t *out)
{
	uint8_t filtered[TS_INDEX_BLOCK_LEN];
	size_t whole = len / item_len * item_len, n;

	if (item_len > 1) {
		filter(items, len / item_len, item_len, filtered);
		memcpy(filtered + whole, items + whole, len - whole);
	}
	n = ZSTD_compressCCtx(zstd, out, ZSTD_compressBound(len), item_len > 1 ? filtered : items, len, LEVEL);
	if (ZSTD_isError(n))
		return 0;
	if (n < len)
		return n;
	memcpy(out, items, len);
	return len;
}

/*
 * An array that is packed: each thread packs a stretch of its blocks to where it would begin if nothing were
 * gained.
 */
struct packing {
	struct ts_index_packer *packer;
	const uint8_t *items;
	size_t len;
	uint32_t item_len, n_blocks, n_stretches;
	uint8_t *table;  /* gets the length of each block; 0: memory is exhausted */
	uint8_t *blocks; /* a room of the same length for each */
};

static uint32_t first_block(const struct packing *k, uint32_t stretch)
{
	return (uint32_t)((uint64_t)k->n_blocks * stretch / k->n_stretches);
}

static uint8_t *room_of(const struct packing *k, uint32_t block)
{
	return k->blocks + block * ZSTD_compressBound(TS_INDEX_BLOCK_LEN);
}

static void put_entry(const struct packing *k, uint32_t i, size_t n)
{
	uint32_t entry = htole32((uint32_t)n);

	memcpy(k->table + i * sizeof(entry), &entry, sizeof(entry));
}

static void pack_stretch(void *user, uint32_t stretch)
{
	const struct packing *k = user;
	uint32_t i = first_block(k, stretch), end = first_block(k, stretch + 1);
	uint8_t *to = room_of(k, i);

	for (; i < end; i++) {
		size_t off = (size_t)i * TS_INDEX_BLOCK_LEN, left = k->len - off;
		size_t n = pack_block(k->packer->zstd[stretch], k->items + off,
				      left < TS_INDEX_BLOCK_LEN ? left : TS_INDEX_BLOCK_LEN, k->item_len, to);

		put_entry(k, i, n);
		to += n;
	}
}

/* Let the stretches follow each other, and the table say where blocks are, from @out on. */
static void join(const struct packing *k, struct ts_buf *out)
{
	uint32_t i = 0, len;

	for (uint32_t stretch = 0; stretch < k->n_stretches; stretch++) {
		const uint8_t *from = room_of(k, i);
		size_t start = out->len;

		for (; i < first_block(k, stretch + 1); i++) {
			memcpy(&len, k->table + i * sizeof(len), sizeof(len));
			put_entry(k, i, out->len);
			out->len += le32toh(len);
			out->is_failed |= !len;
		}
		memmove(out->data + start, from, out->len - start);
	}
	put_entry(k, i, out->len);
}

bool ts_index_pack(struct ts_index_packer *p, const uint8_t *items, size_t len, uint32_t item_len,
		   struct ts_buf *out)
{
	size_t table = (size_t)ts_index_pack_table_len(len);
	struct packing k = { .packer = p, .items = items, .len = len, .item_len = item_len };
	uint32_t n_max;

	ts_buf_reset(out);
	if (!item_len || item_len > TS_INDEX_MAX_ITEM || len > UINT32_MAX / 2 ||
	    !ts_buf_room(out, table + ts_index_blocks_n(len) * ZSTD_compressBound(TS_INDEX_BLOCK_LEN)))
		return false;
	out->len = table;
	k.table = out->data;
	k.blocks = out->data + table;
	k.n_blocks = (uint32_t)ts_index_blocks_n(len);
	n_max = 1 + k.n_blocks / TS_INDEX_BLOCKS_A_THREAD;
	k.n_stretches = p->n < n_max ? p->n : n_max;
	ts_thread_each(k.n_stretches, k.n_stretches, pack_stretch, &k);
	join(&k, out);
	return !out->is_failed;
}

bool ts_index_unpack(ZSTD_DCtx *zstd, const uint8_t *packed, size_t packed_len, uint32_t item_len,
		     uint8_t *out, size_t len)
{
	uint8_t filtered[TS_INDEX_BLOCK_LEN];
	size_t whole;

	if (packed_len == len) {
		memcpy(out, packed, len);
		return true;
	}
	if (len > sizeof(filtered) || !item_len)
		return false;
	/* cppcheck-suppress legacyUninitvar; it is filled here */
	if (ZSTD_decompressDCtx(zstd, item_len > 1 ? filtered : out, len, packed, packed_len) != len)
		return false;
	if (item_len > 1) {
		whole = len / item_len * item_len;
		unfilter(filtered, len / item_len, item_len, out);
		memcpy(out + whole, filtered + whole, len - whole);
	}
	return true;
}
