/* SPDX-License-Identifier: MIT */
/*
 * A mapped record of an index file: its head and tables are checked when the file is opened, and its
 * blocks are verified when they are used.  Layout: FORMAT.
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

/* Returns the smallest multiple of TS_INDEX_ALIGN that is at least @off. */
static inline uint64_t ts_index_align(uint64_t off)
{
	return (off + TS_INDEX_ALIGN - 1) & ~(TS_INDEX_ALIGN - 1);
}

extern const char ts_index_record_magic[8];

struct ts_index_record {
	const uint8_t *map; /* owned, unless it is placed; unpacked bytes follow the record in it */
	bool is_placed;     /* ts_index_record_place() */
	int fd;                         /* if it is placed */
	const struct ts_index_key *key; /* borrowed, if it is placed */
	const uint8_t *head, *entries;  /* borrowed: its head, its sections and arrays; in its map, or in a summary */
	const uint8_t *small;           /* borrowed from the summary: its bytes from the head to @small_end; NULL: none */
	uint32_t small_end;             /* the offset of the arrays that grow with the recording */
	uint64_t off;       /* in the file */
	uint64_t len, tables, steps;
	uint64_t memory, map_len; /* bytes for unpacked arrays; of the whole mapping */
	uint32_t n_sections, n_arrays;
	struct ts_index_array *arrays;  /* owned */
	struct ts_index_packed *packed; /* owned; those of them that are packed */
	size_t n_packed;
	struct ts_index_blocks *blocks; /* owned */
};

/* The length of a record's tables, which begin at @tables. */
uint64_t ts_index_tables_len(uint32_t n_sections, uint32_t n_arrays, uint64_t tables);

/* The bytes that the signature of a record's head covers: the file's header, the head, and @len bytes of tables. */
void ts_index_signed_parts(const uint8_t *header, const uint8_t *head, const uint8_t *tables, size_t len,
			   struct iovec parts[3]);

/*
 * Write an array's entry in the tables: its offset, its length, and its packing (@item_len 0: not packed).
 */
void ts_index_put_entry(uint8_t *entry, uint64_t off, uint64_t len, uint32_t packed_len, uint32_t item_len);

/*
 * Map the record of @len bytes, at least a head, at @off of file @fd; @pool is that of the file's blocks.
 *
 * Returns false if it cannot be mapped (errno is set).
 * Returns false if its numbers do not fit its length.
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

/* The length of its tables before the signatures of blocks. */
size_t ts_index_record_entries_len(const struct ts_index_record *r);

/* Does its head have the number @number? */
bool ts_index_record_is_number(const struct ts_index_record *r, size_t number);

/*
 * Read the description of a record of @len bytes at @off of a file from the @n_bytes at @bytes of its summary
 * (index_summary.h).  *used is set to the number of these bytes that describe it; they must remain valid.  The record
 * itself is not read; numbers are checked against @len.
 *
 * Returns false if they contradict each other.
 * Returns false if memory is exhausted.
 */
bool ts_index_record_read(struct ts_index_record *r, uint64_t off, uint64_t len, const uint8_t *bytes,
			  size_t n_bytes, size_t *used);

/* The memory that it needs, including unpacked arrays: a multiple of TS_INDEX_PIECE_LEN. */
uint64_t ts_index_record_memory(const struct ts_index_record *r);

/*
 * Assign @memory to the record, which was read from a summary of the file @fd of @key.  It is mapped there, and its
 * head and tables are checked, at the first use of one of its blocks.  @r must not move, and @fd must not be
 * closed, until ts_index_record_unmap(), which does not free @memory.
 *
 * Returns false if memory is exhausted.
 */
bool ts_index_record_place(struct ts_index_record *r, struct ts_index_pool *pool, const struct ts_index_key *key,
			   int fd, uint8_t *memory);

/*
 * Map @len bytes of memory at a multiple of TS_INDEX_PIECE_LEN; @len is a multiple of it, too.
 *
 * Returns the memory, which the caller unmaps with munmap(); MAP_FAILED with errno on failure.
 */
uint8_t *ts_index_reserve(size_t len);

/* Release the record's pages: Linux loads many around its head, its tables and its small arrays. */
void ts_index_record_let_go(const struct ts_index_record *r);

/* The offset of the next record. */
static inline uint64_t ts_index_record_end(const struct ts_index_record *r)
{
	return r->off + ts_index_align(r->len);
}

/* The steps of the recording up to the end of its segment. */
uint64_t ts_index_record_steps(const struct ts_index_record *r);

/*
 * Returns the signature of its head, TS_SIGNATURE_LEN bytes borrowed from the record.  It covers the tables,
 * too.
 */
const uint8_t *ts_index_record_signature(const struct ts_index_record *r);

/* Is it the last one of a complete index? */
bool ts_index_record_is_last(const struct ts_index_record *r);

/* Does the record have a section of @kind, with any owner? */
bool ts_index_record_has(const struct ts_index_record *r, uint32_t kind);

/* A section's arrays; a missing one is bad. */
struct ts_index_arrays ts_index_record_find(const struct ts_index_record *r, uint32_t kind, uint32_t owner);

#endif
