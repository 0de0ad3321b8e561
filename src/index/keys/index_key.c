/* SPDX-License-Identifier: MIT */
#include "index_key.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define END_LEN   65536u
#define PIECE_LEN 4096u
#define N_PIECES  16u

static bool hash_piece(const struct ts_source *src, uint64_t off, size_t len, uint64_t *hash,
		       struct ts_error *err)
{
	uint8_t bytes[END_LEN];
	size_t got;

	if (!ts_source_read(src, off, bytes, len, &got, err))
		return false;
	*hash = XXH3_64bits_withSeed(bytes, got, *hash);
	return true;
}

bool ts_index_key(const struct ts_source *src, const char *version, const char *meaning,
		  struct ts_index_key *key, struct ts_error *err)
{
	uint64_t len = ts_source_len(src), hash = 0;

	if (!hash_piece(src, 0, END_LEN, &hash, err) ||
	    !hash_piece(src, len > END_LEN ? len - END_LEN : 0, END_LEN, &hash, err))
		return false;
	for (unsigned i = 1; i <= N_PIECES; i++) {
		if (!hash_piece(src, len / (N_PIECES + 1) * i, PIECE_LEN, &hash, err))
			return false;
	}
	*key = (struct ts_index_key){
		.trace_len = len,
		.trace_mtime = ts_source_mtime(src),
		.content = hash,
		.meaning = XXH3_64bits(meaning, strlen(meaning)),
		.version = XXH3_64bits(version, strlen(version)),
		.trace_inode = ts_source_inode(src),
		.trace_ctime = ts_source_ctime(src),
	};
	return true;
}
