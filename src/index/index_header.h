/* SPDX-License-Identifier: MIT */
/*
 * The header of an index file: the identity of the trace.  Layout: FORMAT.
 */
#ifndef TS_INDEX_HEADER_H
#define TS_INDEX_HEADER_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/index/keys/index_key.h"
#include "src/base/error.h"

#define TS_INDEX_HEADER_LEN 104

/* The offset of the meaning in it (struct ts_index_key). */
#define TS_INDEX_MEANING_AT 72

/* Write or read a number of an index file: little-endian, 32 or 64 bits. */
static inline void ts_put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &(uint32_t){ htole32(v) }, sizeof(v));
}

static inline void ts_put64(uint8_t *p, uint64_t v)
{
	memcpy(p, &(uint64_t){ htole64(v) }, sizeof(v));
}

/* Returns the little-endian number at @p. */
static inline uint32_t ts_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/* Returns the little-endian number at @p. */
static inline uint64_t ts_get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* Write the header for @key. */
void ts_index_header_make(const struct ts_index_key *key, uint8_t header[TS_INDEX_HEADER_LEN]);

/* Copy the identity of the trace's file from a header to @key. */
void ts_index_header_take_file(const uint8_t *header, struct ts_index_key *key);

/*
 * Does the header belong to an index for @key?  The inode and the ctime may differ.
 *
 * Returns true if it does.
 * Returns false if the header is damaged, or of another trace (TS_ECORRUPT).
 * Returns false if the index was made by another version or user, or with other options (TS_EUNSUPPORTED,
 * with the offset of the difference).
 */
bool ts_index_header_check(const uint8_t *header, const struct ts_index_key *key, struct ts_error *why);

#endif
