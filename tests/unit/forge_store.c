/* SPDX-License-Identifier: MIT */
#include "forge_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "src/base/collections/buf.h"
#include "src/index/index_directory.h"
#include "src/index/index_pack.h"
#include "src/index/index_record.h"
#include "src/index/index_summary.h"

static void pad(struct ts_buf *out, size_t to)
{
	static const uint8_t zeros[TS_INDEX_ALIGN];

	ts_buf_put(out, zeros, -out->len & (to - 1));
}

/* The blocks of a packed array of @len bytes at @packed, after a table that says where they are now. */
static void put_blocks(struct ts_buf *out, const uint8_t *packed, uint64_t len, uint32_t item_len)
{
	struct ZSTD_DCtx_s *zstd = ts_index_unpacker_new();
	uint64_t table_len = ts_index_pack_table_len(len);
	uint8_t block[TS_INDEX_BLOCK_LEN], at[4];

	for (uint64_t i = 0; i * 4 < table_len; i++) {
		uint64_t end = i * TS_INDEX_BLOCK_LEN < len ? i * TS_INDEX_BLOCK_LEN : len;

		ts_put32(at, (uint32_t)(table_len + end));
		ts_buf_put(out, at, sizeof(at));
	}
	for (uint64_t i = 0; i * TS_INDEX_BLOCK_LEN < len; i++) {
		uint64_t left = len - i * TS_INDEX_BLOCK_LEN;
		size_t n = left < sizeof(block) ? (size_t)left : sizeof(block);
		uint32_t from = ts_get32(packed + 4 * i), to = ts_get32(packed + 4 * i + 4);

		if (!zstd || !ts_index_unpack(zstd, packed + from, to - from, item_len, block, n))
			abort();
		ts_buf_put(out, block, n);
	}
	ts_index_unpacker_free(zstd);
}

/* The array of @entry of the record at @head to that which begins at @start of @out; *entry is changed. */
static void put_array(struct ts_buf *out, size_t start, const uint8_t *head, uint8_t *entry)
{
	uint64_t off = ts_get64(entry), len = ts_get64(entry + 8), here = out->len - start;
	uint32_t item_len = ts_get32(entry + 20);

	if (item_len)
		put_blocks(out, head + off, len, item_len);
	else
		ts_buf_put(out, head + off, len);
	ts_index_put_entry(entry, here, len, item_len ? (uint32_t)(out->len - start - here) : 0, item_len);
	pad(out, 8);
}

/* The arrays of a record, those first that are in the summary, which end at *small_end. */
static void put_arrays(struct ts_buf *out, const uint8_t *head, uint8_t *entries, uint64_t n, uint32_t *small_end)
{
	size_t start = out->len - TS_INDEX_HEAD_LEN;
	const uint8_t *old = head + ts_get64(head + 24) + (uint64_t)ts_get32(head + 32) * TS_INDEX_SECTION_LEN;

	for (unsigned is_large = 0; is_large < 2; is_large++) {
		for (uint64_t i = 0; i < n * TS_INDEX_ARRAY_LEN; i += TS_INDEX_ARRAY_LEN) {
			if (is_large == (ts_get64(old + i) >= ts_get32(head + 44)))
				put_array(out, start, head, entries + i);
		}
		if (!is_large)
			*small_end = (uint32_t)(out->len - start);
	}
}

/* A record, without signatures. */
static void put_record(struct ts_buf *out, const uint8_t *head)
{
	uint64_t n_sections = ts_get32(head + 32), n_arrays = ts_get32(head + 36), at;
	size_t start = out->len, len = n_sections * TS_INDEX_SECTION_LEN + n_arrays * TS_INDEX_ARRAY_LEN, n;
	uint8_t *tables = malloc(len), *signatures;
	uint32_t small_end;

	if (!tables)
		abort();
	memcpy(tables, head + ts_get64(head + 24), len);
	ts_buf_put(out, head, TS_INDEX_HEAD_LEN);
	put_arrays(out, head, tables + n_sections * TS_INDEX_SECTION_LEN, n_arrays, &small_end);
	at = out->len - start;
	ts_buf_put(out, tables, len);
	n = ts_index_blocks_n(at) * TS_SIGNATURE_LEN;
	signatures = calloc(1, n);
	if (!signatures || !ts_buf_ok(out))
		abort();
	ts_buf_put(out, signatures, n);
	ts_put64(out->data + start + 16, at + len + n);
	ts_put64(out->data + start + 24, at);
	ts_put32(out->data + start + 44, small_end);
	free(signatures);
	free(tables);
	pad(out, TS_INDEX_ALIGN);
}

/* All records, and where they are, to the @directory. */
static void put_records(struct ts_buf *out, const uint8_t *file, uint8_t *directory, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *entry = directory + i * TS_INDEX_ENTRY_LEN;
		uint64_t off = out->len;

		put_record(out, file + ts_get64(entry + 16));
		ts_put64(entry + 16, off);
		ts_put64(entry + 24, ts_get64(out->data + off + 16));
	}
}

/* The summary of these records, without its signature and what forge() copies to it. */
static void put_summary(struct ts_buf *out, const uint8_t *directory, size_t n)
{
	uint8_t zeros[TS_INDEX_SUMMARY_HEAD_LEN] = { 0 };

	memcpy(zeros, "summary\n", 8);
	ts_buf_put(out, zeros, sizeof(zeros));
	for (size_t i = 0; i < n; i++) {
		const uint8_t *head = out->data + ts_get64(directory + i * TS_INDEX_ENTRY_LEN + 16);
		size_t len = ts_get32(head + 44) + ts_get32(head + 32) * (size_t)TS_INDEX_SECTION_LEN +
			     ts_get32(head + 36) * (size_t)TS_INDEX_ARRAY_LEN;
		uint8_t *record = calloc(1, len);

		if (!record)
			abort();
		ts_buf_put(out, record, len);
		free(record);
	}
}

uint8_t *forge_store_as(const struct ts_signer *signer, const uint8_t *file, size_t *len)
{
	uint64_t at = ts_get64(file + *len - TS_INDEX_TAIL_LEN + 16);
	size_t directory_len = *len - at;
	uint8_t *directory = malloc(directory_len), *tail = directory + directory_len - TS_INDEX_TAIL_LEN;
	struct ts_buf out;

	if (!directory)
		abort();
	ts_buf_init(&out);
	memcpy(directory, file + at, directory_len);
	ts_buf_put(&out, file, TS_INDEX_ALIGN);
	put_records(&out, file, directory, ts_get64(tail + 24));
	put_summary(&out, directory, ts_get64(tail + 24));
	ts_put64(tail + 16, out.len);
	ts_buf_put(&out, directory, directory_len);
	if (!ts_buf_ok(&out))
		abort();
	free(directory);
	*len = out.len;
	forge_as(signer, out.data, out.len, NULL, 0);
	return out.data;
}

uint8_t *forge_store(const uint8_t *file, size_t *len)
{
	return forge_store_as(&forge_key.signer, file, len);
}
