/* SPDX-License-Identifier: MIT */
#include "index_directory.h"

#include <string.h>

#include "index_header.h"
#include "src/base/io_full.h"

#define TAIL_SIGNED_LEN 32

static const char magic[16] = { 'i', 'n', 'd', 'e', 'x', ' ', 'd', 'i',
				'r', 'e', 'c', 't', 'o', 'r', 'y', '\n' };

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
	struct iovec parts[3] = { { header, sizeof(header) }, { NULL, 0 }, { tail, TAIL_SIGNED_LEN } };
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
	parts[1] = (struct iovec){ out->data + start, out->len - start };
	ts_signer_sign(&key->signer, parts, 3, tail + TAIL_SIGNED_LEN);
	ts_buf_put(out, tail, sizeof(tail));
}

/* ------------------------------------------------------------------------------------------------ reading */

bool ts_index_directory_find(int fd, uint64_t file_len, size_t *n, uint64_t *summary, uint64_t *at)
{
	uint8_t last[TS_INDEX_ENTRY_LEN + TS_INDEX_TAIL_LEN];
	const uint8_t *tail = last + TS_INDEX_ENTRY_LEN;
	uint64_t off, len;

	if (file_len < sizeof(last) || ts_read_whole(fd, last, sizeof(last), file_len - sizeof(last)) != sizeof(last) ||
	    memcmp(tail, magic, sizeof(magic)) != 0)
		return false;
	off = ts_get64(last + 16);
	len = ts_get64(last + 24);
	*summary = off + ts_index_align(len);
	*at = ts_get64(tail + 16);
	*n = (size_t)ts_get64(tail + 24);
	/* no record is shorter than what it is a multiple of: so memory is bounded, too */
	return *n && *n <= file_len / TS_INDEX_ALIGN && *at <= file_len && file_len - *at == ts_index_directory_len(*n) &&
	       off < *at && len < *at && *summary <= *at;
}
