/* SPDX-License-Identifier: MIT */
#include "index_directory.h"

#include <stdlib.h>
#include <string.h>

#include "index_header.h"
#include "src/base/io_full.h"

#define TAIL_SIGNED_LEN 32

static const char magic[16] = { 'i', 'n', 'd', 'e', 'x', ' ', 'd', 'i',
				'r', 'e', 'c', 't', 'o', 'r', 'y', '\n' };

static void signed_parts(const uint8_t *header, const uint8_t *entries, size_t len, const uint8_t *tail,
			 struct iovec parts[3])
{
	parts[0] = (struct iovec){ (uint8_t *)header, TS_INDEX_HEADER_LEN };
	parts[1] = (struct iovec){ (uint8_t *)entries, len };
	parts[2] = (struct iovec){ (uint8_t *)tail, TAIL_SIGNED_LEN };
}

/* ------------------------------------------------------------------------------------------------ writing */

static void put_entry(struct ts_buf *out, const struct ts_index_record *r, uint64_t pos)
{
	uint8_t entry[TS_INDEX_ENTRY_LEN] = { 0 };

	ts_put64(entry, pos);
	ts_put64(entry + 8, ts_index_record_steps(r) - pos);
	ts_put64(entry + 16, r->off);
	ts_put64(entry + 24, r->len);
	memcpy(entry + 32, ts_index_record_signature(r), TS_SIGNATURE_LEN);
	ts_buf_put(out, entry, sizeof(entry));
}

void ts_index_directory_put(struct ts_buf *out, const struct ts_index_key *key,
			    const struct ts_index_record *records, size_t n, uint64_t at)
{
	uint8_t tail[TS_INDEX_TAIL_LEN] = { 0 }, header[TS_INDEX_HEADER_LEN];
	size_t start = out->len;
	struct iovec parts[3];
	uint64_t pos = 0;

	for (size_t i = 0; i < n; i++) {
		put_entry(out, &records[i], pos);
		pos = ts_index_record_steps(&records[i]);
	}
	if (!ts_buf_ok(out))
		return;
	memcpy(tail, magic, sizeof(magic));
	ts_put64(tail + 16, at);
	ts_put64(tail + 24, n);
	ts_index_header_make(key, header);
	signed_parts(header, out->data + start, out->len - start, tail, parts);
	ts_signer_sign(&key->signer, parts, 3, tail + TAIL_SIGNED_LEN);
	ts_buf_put(out, tail, sizeof(tail));
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The number of entries, by the tail of a file of @file_len bytes; 0 if it has none. */
static size_t read_tail(int fd, uint64_t file_len, uint8_t tail[TS_INDEX_TAIL_LEN])
{
	uint64_t n, at;

	if (file_len < TS_INDEX_TAIL_LEN ||
	    ts_read_whole(fd, tail, TS_INDEX_TAIL_LEN, file_len - TS_INDEX_TAIL_LEN) != TS_INDEX_TAIL_LEN ||
	    memcmp(tail, magic, sizeof(magic)))
		return 0;
	at = ts_get64(tail + 16);
	n = ts_get64(tail + 24);
	/* no record is shorter than what it is a multiple of: so memory is bounded, too */
	return n <= file_len / TS_INDEX_ALIGN && at <= file_len &&
			       file_len - at == ts_index_directory_len((size_t)n)
		       ? (size_t)n
		       : 0;
}

static bool is_signed(const struct ts_index_key *key, const uint8_t *bytes, size_t n, const uint8_t *tail)
{
	uint8_t header[TS_INDEX_HEADER_LEN];
	struct iovec parts[3];

	ts_index_header_make(key, header);
	signed_parts(header, bytes, n * TS_INDEX_ENTRY_LEN, tail, parts);
	return ts_signer_check(&key->signer, parts, 3, tail + TAIL_SIGNED_LEN);
}

static struct ts_index_entry get_entry(const uint8_t *p)
{
	struct ts_index_entry e = { ts_get64(p), ts_get64(p + 8), ts_get64(p + 16), ts_get64(p + 24), { 0 } };

	memcpy(e.signature, p + 32, sizeof(e.signature));
	return e;
}

/* Do records follow each other from the header on, none beyond @end, and their segments from step 0 on? */
static bool get_entries(const uint8_t *bytes, size_t n, uint64_t end, struct ts_index_entry *entries)
{
	uint64_t pos = 0, off = TS_INDEX_ALIGN;

	for (size_t i = 0; i < n; i++) {
		struct ts_index_entry e = get_entry(bytes + i * TS_INDEX_ENTRY_LEN);

		if (e.pos != pos || e.n_steps > UINT64_MAX - pos || e.off != off || e.len < TS_INDEX_HEAD_LEN ||
		    off > end || e.len > end - off)
			return false;
		pos += e.n_steps;
		off += ts_index_align(e.len);
		entries[i] = e;
	}
	return off <= end;
}

struct ts_index_entry *ts_index_directory_read(int fd, uint64_t file_len, const struct ts_index_key *key,
					       size_t *n, uint64_t *at)
{
	uint8_t tail[TS_INDEX_TAIL_LEN], *bytes;
	struct ts_index_entry *entries;
	bool done;

	*n = read_tail(fd, file_len, tail);
	if (!*n)
		return NULL;
	*at = ts_get64(tail + 16);
	bytes = malloc(*n * TS_INDEX_ENTRY_LEN);
	entries = malloc(*n * sizeof(*entries));
	done = bytes && entries &&
	       ts_read_whole(fd, bytes, *n * TS_INDEX_ENTRY_LEN, *at) == (ssize_t)(*n * TS_INDEX_ENTRY_LEN) &&
	       is_signed(key, bytes, *n, tail) && get_entries(bytes, *n, *at, entries);
	free(bytes);
	if (done)
		return entries;
	free(entries);
	return NULL;
}

bool ts_index_entry_fits(const struct ts_index_entry *entry, const struct ts_index_record *r)
{
	return entry->off == r->off && entry->len == r->len &&
	       entry->pos + entry->n_steps == ts_index_record_steps(r) &&
	       !memcmp(entry->signature, ts_index_record_signature(r), TS_SIGNATURE_LEN);
}
