/* SPDX-License-Identifier: MIT */
#include "index_pack.h"

#include <endian.h>
#include <string.h>
#include <zstd.h>

/* The fastest of zstd's levels: a higher one gains less than a tenth. */
#define LEVEL 1

struct ZSTD_CCtx_s *ts_index_packer_new(void)
{
	return ZSTD_createCCtx();
}

void ts_index_packer_free(struct ZSTD_CCtx_s *zstd)
{
	ZSTD_freeCCtx(zstd);
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

/* Append a block to @out, which has room for it.  Returns false if memory is exhausted. */
static bool pack_block(ZSTD_CCtx *zstd, const uint8_t *items, size_t len, uint32_t item_len,
		       struct ts_buf *out)
{
	uint8_t filtered[TS_INDEX_BLOCK_LEN];
	size_t whole = len / item_len * item_len, n;

	if (item_len > 1) {
		filter(items, len / item_len, item_len, filtered);
		memcpy(filtered + whole, items + whole, len - whole);
	}
	n = ZSTD_compressCCtx(zstd, out->data + out->len, ZSTD_compressBound(len),
			      item_len > 1 ? filtered : items, len, LEVEL);
	if (!ZSTD_isError(n) && n >= len) {
		memcpy(out->data + out->len, items, len);
		n = len;
	}
	out->len += ZSTD_isError(n) ? 0 : n;
	return !ZSTD_isError(n);
}

bool ts_index_pack(ZSTD_CCtx *zstd, const uint8_t *items, size_t len, uint32_t item_len, struct ts_buf *out)
{
	size_t table = (size_t)ts_index_pack_table_len(len), n;
	uint32_t at;

	ts_buf_reset(out);
	if (!item_len || item_len > TS_INDEX_MAX_ITEM || len > UINT32_MAX / 2 ||
	    !ts_buf_room(out, table + ts_index_blocks_n(len) * ZSTD_compressBound(TS_INDEX_BLOCK_LEN)))
		return false;
	out->len = table;
	for (uint32_t i = 0; i * sizeof(at) < table; i++, items += n, len -= n) {
		at = htole32((uint32_t)out->len);
		memcpy(out->data + i * sizeof(at), &at, sizeof(at));
		n = len < TS_INDEX_BLOCK_LEN ? len : TS_INDEX_BLOCK_LEN;
		out->is_failed |= n && !pack_block(zstd, items, n, item_len, out);
	}
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
