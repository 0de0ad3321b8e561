/* SPDX-License-Identifier: MIT */
#include "index_header.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/trace/chunk.h"

#define LAYOUT 9u

/* Where the hash of all before it is. */
#define HASH_AT 96

static const char magic[16] = { 't', 'r', 'a', 'c', 'e', 's', 't', 'u',
				'b', ' ', 'i', 'n', 'd', 'e', 'x', '\n' };

void ts_index_header_make(const struct ts_index_key *key, uint8_t header[TS_INDEX_HEADER_LEN])
{
	memcpy(header, magic, sizeof(magic));
	ts_put32(header + 16, LAYOUT);
	ts_put32(header + 20, TS_CHUNK_STEPS);
	ts_put32(header + 24, TS_SEGMENT_CHUNKS);
	ts_put32(header + 28, 0);
	ts_put64(header + 32, key->trace_len);
	ts_put64(header + 40, key->trace_mtime);
	ts_put64(header + 48, key->content);
	ts_put64(header + 56, key->version);
	ts_put64(header + 64, key->signer.id);
	ts_put64(header + TS_INDEX_MEANING_AT, key->meaning);
	ts_put64(header + 80, key->trace_inode);
	ts_put64(header + 88, key->trace_ctime);
	ts_put64(header + HASH_AT, XXH3_64bits(header, HASH_AT));
}

void ts_index_header_take_file(const uint8_t *header, struct ts_index_key *key)
{
	key->trace_inode = ts_get64(header + 80);
	key->trace_ctime = ts_get64(header + 88);
}

bool ts_index_header_check(const uint8_t *header, const struct ts_index_key *key, struct ts_error *why)
{
	struct ts_index_key of_file = *key;
	uint8_t want[TS_INDEX_HEADER_LEN];

	ts_index_header_take_file(header, &of_file);
	ts_index_header_make(&of_file, want);
	if (!memcmp(header, want, sizeof(want)))
		return true;
	if (memcmp(header, magic, sizeof(magic)))
		return ts_fail(why, TS_ECORRUPT, 0, "it is not an index");
	if (memcmp(header + 16, want + 16, 4))
		return ts_fail(why, TS_EUNSUPPORTED, 16, "its layout is that of another version");
	if (ts_get64(header + HASH_AT) != XXH3_64bits(header, HASH_AT))
		return ts_fail(why, TS_ECORRUPT, 0, "its header is damaged");
	if (memcmp(header + 20, want + 20, 12))
		return ts_fail(why, TS_EUNSUPPORTED, 20, "its layout is that of another version");
	if (memcmp(header + 64, want + 64, 8))
		return ts_fail(why, TS_EUNSUPPORTED, 64, "made by another user or machine");
	if (memcmp(header + 32, want + 32, 24))
		return ts_fail(why, TS_ECORRUPT, 32, "the trace is not the one that it was made from");
	if (memcmp(header + 56, want + 56, 8))
		return ts_fail(why, TS_EUNSUPPORTED, 56, "made by another version");
	return ts_fail(why, TS_EUNSUPPORTED, TS_INDEX_MEANING_AT, "made with other options");
}
