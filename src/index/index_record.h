/* SPDX-License-Identifier: MIT */
/*
 * A record of an index file, mapped: its head and tables, which are checked when the file is opened, and its
 * blocks, which are verified when they are used.  Layout: index_file.c.
 */
#ifndef TS_INDEX_RECORD_H
#define TS_INDEX_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "index_arrays.h"
#include "index_blocks.h"
#include "index_header.h"

#define TS_INDEX_HEAD_LEN    88
#define TS_INDEX_SIGNED_LEN  56 /* of a head: what comes before its signature */
#define TS_INDEX_SECTION_LEN 16
#define TS_INDEX_ARRAY_LEN   24

/* Records begin at multiples of it. */
#define TS_INDEX_ALIGN UINT64_C(4096)

static inline uint64_t ts_index_align(uint64_t off)
{
	return (off + TS_INDEX_ALIGN - 1) & ~(TS_INDEX_ALIGN - 1);
}

extern const char ts_index_record_magic[8];

struct ts_index_record {
	const uint8_t *map; /* owned; what is packed is unpacked to what follows the record in it */
	uint64_t off;       /* in the file */
	uint64_t len, tables, steps;
	uint64_t memory, map_len; /* for what is packed; of all that is mapped */
	uint32_t n_sections, n_arrays;
	struct ts_index_array *arrays;  /* owned */
	struct ts_index_packed *packed; /* owned; those of them that are packed */
	size_t n_packed;
	struct ts_index_blocks *blocks; /* owned */
};

/* The length of a record's tables, which begin at @tables. */
uint64_t ts_index_tables_len(uint32_t n_sections, uint32_t n_arrays, uint64_t tables);

/* What the signature of a record's head covers: the file's header, the head, and @len bytes of tables. */
void ts_index_signed_parts(const uint8_t *header, const uint8_t *head, const uint8_t *tables, size_t len,
			   struct iovec parts[3]);

/* Write an array's entry in the tables: where it is, its length, and how it is packed (@item_len 0: it is
 * not). */
void ts_index_put_entry(uint8_t *entry, uint64_t off, uint64_t len, uint32_t packed_len, uint32_t item_len);

/*
 * Map the record of @len bytes, at least a head, at @off of file @fd; @pool is that of the file's blocks.
 *
 * Returns false if it cannot be mapped (errno is set), or its numbers do not fit its length.
 */
bool ts_index_record_map(struct ts_index_record *r, struct ts_index_pool *pool, int fd, uint64_t off,
			 uint64_t len);
void ts_index_record_unmap(struct ts_index_record *r);

/*
 * Check head and tables of the record, which is number @number of the file of @key; with @is_whole also all
 * that it holds.
 *
 * Returns false if they are damaged.
 */
bool ts_index_record_check(const struct ts_index_record *r, const struct ts_index_key *key, size_t number,
			   bool is_whole);

/* Give the record's pages back: Linux fetches many around its head, its tables and its small arrays. */
void ts_index_record_let_go(const struct ts_index_record *r);

/*
 * Put the bytes of @from, a record of file @fd, in place of those of @r.  Pointers into @r stay valid.
 *
 * Returns false if the records are not equal, or that one cannot be mapped.
 */
bool ts_index_record_replace(struct ts_index_record *r, const struct ts_index_record *from, int fd);

/* Where the next one begins. */
static inline uint64_t ts_index_record_end(const struct ts_index_record *r)
{
	return r->off + ts_index_align(r->len);
}

/* The steps of the recording up to the end of its segment. */
uint64_t ts_index_record_steps(const struct ts_index_record *r);

/* That of its head, which covers the tables (TS_SIGNATURE_LEN bytes). */
const uint8_t *ts_index_record_signature(const struct ts_index_record *r);

/* Is it the last one of a complete index? */
bool ts_index_record_is_last(const struct ts_index_record *r);

bool ts_index_record_has(const struct ts_index_record *r, uint32_t kind);

/* A section's arrays; a missing one is bad. */
struct ts_index_arrays ts_index_record_find(const struct ts_index_record *r, uint32_t kind, uint32_t owner);

#endif
