/* SPDX-License-Identifier: MIT */
#include "index_record.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "index_pack.h"

const char ts_index_record_magic[8] = "record\n";

static const uint8_t *section_at(const struct ts_index_record *r, uint32_t i)
{
	return r->entries + (size_t)i * TS_INDEX_SECTION_LEN;
}

static const uint8_t *array_at(const struct ts_index_record *r, uint32_t i)
{
	return section_at(r, r->n_sections) + (size_t)i * TS_INDEX_ARRAY_LEN;
}

size_t ts_index_record_entries_len(const struct ts_index_record *r)
{
	return (size_t)r->n_sections * TS_INDEX_SECTION_LEN + (size_t)r->n_arrays * TS_INDEX_ARRAY_LEN;
}

/* Where the signatures of the blocks are. */
static const uint8_t *signatures_of(const struct ts_index_record *r)
{
	return r->map + r->tables + ts_index_record_entries_len(r);
}

uint64_t ts_index_tables_len(uint32_t n_sections, uint32_t n_arrays, uint64_t tables)
{
	return (uint64_t)n_sections * TS_INDEX_SECTION_LEN + (uint64_t)n_arrays * TS_INDEX_ARRAY_LEN +
	       ts_index_blocks_n(tables) * TS_SIGNATURE_LEN;
}

void ts_index_signed_parts(const uint8_t *header, const uint8_t *head, const uint8_t *tables, size_t len,
			   struct iovec parts[3])
{
	parts[0] = (struct iovec){ (uint8_t *)header, TS_INDEX_HEADER_LEN };
	parts[1] = (struct iovec){ (uint8_t *)head, TS_INDEX_SIGNED_LEN };
	parts[2] = (struct iovec){ (uint8_t *)tables, len };
}

static bool check_sections(const struct ts_index_record *r)
{
	for (uint32_t i = 0; i < r->n_sections; i++) {
		uint32_t first = ts_get32(section_at(r, i) + 8), n = ts_get32(section_at(r, i) + 12);

		if (first > r->n_arrays || n > r->n_arrays - first)
			return false;
	}
	return true;
}

void ts_index_put_entry(uint8_t *entry, uint64_t off, uint64_t len, uint32_t packed_len, uint32_t item_len)
{
	ts_put64(entry, off);
	ts_put64(entry + 8, len);
	ts_put32(entry + 16, packed_len);
	ts_put32(entry + 20, item_len);
}

/* A multiple of the pieces in which memory is given back. */
static uint64_t align_piece(uint64_t off)
{
	return (off + TS_INDEX_PIECE_LEN - 1) & ~(uint64_t)(TS_INDEX_PIECE_LEN - 1);
}

/* Array @i; if it is packed, *p, which is unpacked at @at.  Returns false if it does not lie in the record. */
static bool read_array(struct ts_index_record *r, uint32_t i, uint64_t at, struct ts_index_packed *p)
{
	struct ts_index_array *a = &r->arrays[i];
	uint64_t off = ts_get64(array_at(r, i)), packed_len = ts_get32(array_at(r, i) + 16);
	uint32_t item_len = ts_get32(array_at(r, i) + 20);

	*a = (struct ts_index_array){ .at = off, .len = ts_get64(array_at(r, i) + 8), .is_packed = item_len };
	if (!item_len)
		packed_len = a->len;
	if (off < TS_INDEX_HEAD_LEN || off % 8 || off > r->tables || packed_len > r->tables - off)
		return false;
	if (!item_len && r->small && off + a->len <= r->small_end)
		a->copy = r->small + (off - TS_INDEX_HEAD_LEN);
	if (!item_len)
		return true;
	if (item_len > TS_INDEX_MAX_ITEM || a->len / TS_INDEX_BLOCK_LEN > packed_len ||
	    ts_index_pack_table_len(a->len) > packed_len)
		return false;
	a->at = at;
	*p = (struct ts_index_packed){ off, packed_len, at, a->len, item_len };
	return true;
}

static size_t count_packed(const struct ts_index_record *r)
{
	size_t n = 0;

	for (uint32_t i = 0; i < r->n_arrays; i++)
		n += ts_get32(array_at(r, i) + 20) != 0;
	return n;
}

/* The arrays.  Returns false if they cannot lie in the record, or memory is exhausted. */
static bool read_arrays(struct ts_index_record *r)
{
	uint64_t packed_len = 0, end = align_piece(r->len);

	r->arrays = calloc(r->n_arrays + (size_t)1, sizeof(*r->arrays));
	r->packed = calloc(count_packed(r) + 1, sizeof(*r->packed));
	for (uint32_t i = 0; r->arrays && r->packed && i < r->n_arrays; i++) {
		struct ts_index_packed p;

		if (!read_array(r, i, end, &p))
			return false;
		if (!r->arrays[i].is_packed)
			continue;
		packed_len += p.len;
		if (packed_len >
		    r->tables) /* so that no file claims more memory than a few thousand times its length */
			return false;
		end = align_piece(end + p.unpacked_len);
		r->packed[r->n_packed++] = p;
	}
	r->memory = end - align_piece(r->len);
	return r->arrays && r->packed && check_sections(r);
}

/* Read the record's head.  Returns false if it does not fit the record's length. */
static bool read_head(struct ts_index_record *r)
{
	r->steps = ts_get64(r->head + 48);
	r->tables = ts_get64(r->head + 24);
	r->n_sections = ts_get32(r->head + 32);
	r->n_arrays = ts_get32(r->head + 36);
	r->small_end = ts_get32(r->head + 44);
	return r->tables >= TS_INDEX_HEAD_LEN && r->tables <= r->len && !(r->tables % 8) &&
	       r->small_end >= TS_INDEX_HEAD_LEN && r->small_end <= r->tables && !(r->small_end % 8) &&
	       ts_index_tables_len(r->n_sections, r->n_arrays, r->tables) == r->len - r->tables;
}

static bool read_tables(struct ts_index_record *r)
{
	r->head = r->map;
	if (!read_head(r))
		return false;
	r->entries = r->map + r->tables;
	return read_arrays(r);
}

/*
 * Linux fetches the pages around one that is touched, as many as a piece has and up to a multiple of it: then they
 * are all of the same piece, and leave with it.
 */
uint8_t *ts_index_reserve(size_t len)
{
	uint8_t *p = mmap(NULL, len + TS_INDEX_PIECE_LEN, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before = -(uintptr_t)p & (TS_INDEX_PIECE_LEN - 1);

	if (p == MAP_FAILED)
		return p;
	if (before)
		munmap(p, before);
	munmap(p + before + len, TS_INDEX_PIECE_LEN - before);
	return p + before;
}

/* Map the record where the memory for what is packed in it follows, instead of where it is. */
static bool add_memory(struct ts_index_record *r, int fd)
{
	size_t len = (size_t)ts_index_record_memory(r);
	uint8_t *p = ts_index_reserve(len);

	if (p == MAP_FAILED)
		return false;
	munmap((uint8_t *)r->map, r->map_len);
	r->map = r->head = p;
	r->entries = p + r->tables;
	r->map_len = len;
	return mmap(p, r->len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)r->off) != MAP_FAILED;
}

static bool add_blocks(struct ts_index_record *r, struct ts_index_pool *pool)
{
	r->blocks = ts_index_blocks_new(pool, r->map, TS_INDEX_HEAD_LEN, r->tables, signatures_of(r));
	return r->blocks &&
	       (!r->n_packed || ts_index_blocks_set_packed(r->blocks, r->packed, r->n_packed, r->map_len));
}

void ts_index_record_unmap(struct ts_index_record *r)
{
	ts_index_blocks_free(r->blocks);
	free(r->arrays);
	free(r->packed);
	if (!r->is_placed)
		munmap((uint8_t *)r->map, r->map_len);
}

bool ts_index_record_map(struct ts_index_record *r, struct ts_index_pool *pool, int fd, uint64_t off,
			 uint64_t len)
{
	*r = (struct ts_index_record){ .off = off, .len = len, .map_len = len };
	r->map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, (off_t)off);
	if (r->map == MAP_FAILED)
		return false;
	if (read_tables(r) && add_memory(r, fd) && add_blocks(r, pool))
		return true;
	ts_index_record_unmap(r);
	return false;
}

static bool check_head(const struct ts_index_record *r, const struct ts_index_key *key, size_t number)
{
	uint8_t header[TS_INDEX_HEADER_LEN];
	struct iovec parts[3];

	if (!ts_index_record_is_number(r, number))
		return false;
	ts_index_header_make(key, header);
	ts_index_signed_parts(header, r->map, r->map + r->tables, r->len - r->tables, parts);
	return ts_signer_check(&key->signer, parts, 3, r->map + TS_INDEX_SIGNED_LEN);
}

bool ts_index_record_is_number(const struct ts_index_record *r, size_t number)
{
	return !memcmp(r->head, ts_index_record_magic, sizeof(ts_index_record_magic)) &&
	       ts_get64(r->head + 8) == number && ts_get32(r->head + 40) <= 1;
}

void ts_index_record_let_go(const struct ts_index_record *r)
{
	if (!r->is_placed)
		madvise((uint8_t *)r->map, r->len, MADV_DONTNEED);
}

/* --------------------------------------------------------------------------------- read from a summary */

bool ts_index_record_read(struct ts_index_record *r, uint64_t off, uint64_t len, const uint8_t *bytes,
			  size_t n_bytes, size_t *used)
{
	uint64_t entries_len;

	*r = (struct ts_index_record){ .off = off, .len = len, .is_placed = true };
	r->head = bytes;
	if (n_bytes < TS_INDEX_HEAD_LEN || !read_head(r))
		return false;
	entries_len = ts_index_record_entries_len(r);
	if (entries_len > n_bytes - TS_INDEX_HEAD_LEN || r->small_end > n_bytes - entries_len)
		return false;
	r->entries = bytes + TS_INDEX_HEAD_LEN;
	r->small = r->entries + entries_len;
	*used = (size_t)(entries_len + r->small_end);
	if (read_arrays(r))
		return true;
	free(r->arrays);
	free(r->packed);
	return false;
}

/* Map the record and check that it is the one that the summary describes.  The pool notes if it cannot be mapped. */
static bool begin(void *user)
{
	struct ts_index_record *r = user;
	uint8_t *map = mmap((uint8_t *)r->map, r->len, PROT_READ, MAP_PRIVATE | MAP_FIXED, r->fd, (off_t)r->off);

	if (map == MAP_FAILED) {
		r->blocks->pool->is_exhausted = true;
		return false;
	}
	return !memcmp(map, r->head, TS_INDEX_HEAD_LEN) &&
	       !memcmp(map + r->tables, r->entries, ts_index_record_entries_len(r)) &&
	       check_head(r, r->key, (size_t)ts_get64(r->head + 8));
}

bool ts_index_record_place(struct ts_index_record *r, struct ts_index_pool *pool, const struct ts_index_key *key,
			   int fd, uint8_t *memory)
{
	r->map = memory;
	r->map_len = ts_index_record_memory(r);
	r->fd = fd;
	r->key = key;
	if (!add_blocks(r, pool))
		return false;
	ts_index_blocks_begin_with(r->blocks, begin, r);
	return true;
}

uint64_t ts_index_record_memory(const struct ts_index_record *r)
{
	return align_piece(r->len) + r->memory;
}

bool ts_index_record_check(const struct ts_index_record *r, const struct ts_index_key *key, size_t number,
			   bool is_whole)
{
	return check_head(r, key, number) &&
	       (!is_whole || ts_index_blocks_use(r->blocks, r->map + TS_INDEX_HEAD_LEN,
						 r->tables - TS_INDEX_HEAD_LEN));
}

uint64_t ts_index_record_steps(const struct ts_index_record *r)
{
	return r->steps;
}

const uint8_t *ts_index_record_signature(const struct ts_index_record *r)
{
	return r->head + TS_INDEX_SIGNED_LEN;
}

bool ts_index_record_is_last(const struct ts_index_record *r)
{
	return ts_get32(r->head + 40);
}

bool ts_index_record_has(const struct ts_index_record *r, uint32_t kind)
{
	for (uint32_t i = 0; i < r->n_sections; i++) {
		if (ts_get32(section_at(r, i)) == kind)
			return true;
	}
	return false;
}

struct ts_index_arrays ts_index_record_find(const struct ts_index_record *r, uint32_t kind, uint32_t owner)
{
	for (uint32_t i = 0; i < r->n_sections; i++) {
		const uint8_t *s = section_at(r, i);

		if (ts_get32(s) == kind && ts_get32(s + 4) == owner)
			return (struct ts_index_arrays){ r->map, r->arrays + ts_get32(s + 8),
							 ts_get32(s + 12), false, r->blocks };
	}
	return (struct ts_index_arrays){ .is_bad = true };
}
