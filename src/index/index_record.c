/* SPDX-License-Identifier: MIT */
#include "index_record.h"

#include <sys/mman.h>

const char ts_index_record_magic[8] = "record\n";

static const uint8_t *section_at(const struct ts_index_record *r, uint32_t i)
{
	return r->map + r->tables + (size_t)i * TS_INDEX_SECTION_LEN;
}

static const uint8_t *array_at(const struct ts_index_record *r, uint32_t i)
{
	return section_at(r, r->n_sections) + (size_t)i * TS_INDEX_ARRAY_LEN;
}

/* Where the signatures of the blocks are. */
static const uint8_t *signatures_of(const struct ts_index_record *r)
{
	return array_at(r, r->n_arrays);
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

void ts_index_record_unmap(struct ts_index_record *r)
{
	ts_index_blocks_free(r->blocks);
	munmap((uint8_t *)r->map, r->len);
}

/*
 * Map the bytes at a multiple of the pieces in which memory is given back.  Linux fetches the pages around one that
 * is touched, as many as a piece has and up to such a multiple: then they are all of the same piece, and leave with
 * it.  Returns MAP_FAILED on failure.
 */
static uint8_t *map_aligned(int fd, uint64_t off, uint64_t len)
{
	size_t room = (size_t)len + TS_INDEX_PIECE_LEN, used;
	uint8_t *p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *at;

	if (p == MAP_FAILED)
		return p;
	at = p + (-(uintptr_t)p & (TS_INDEX_PIECE_LEN - 1));
	used = (size_t)(at - p) + (size_t)((len + TS_INDEX_ALIGN - 1) & ~(TS_INDEX_ALIGN - 1));
	if (mmap(at, len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)off) == MAP_FAILED) {
		munmap(p, room);
		return MAP_FAILED;
	}
	if (at > p)
		munmap(p, (size_t)(at - p));
	if (used < room)
		munmap(p + used, room - used);
	return at;
}

bool ts_index_record_map(struct ts_index_record *r, struct ts_index_pool *pool, int fd, uint64_t off,
			 uint64_t len)
{
	*r = (struct ts_index_record){ .off = off, .len = len };
	r->map = map_aligned(fd, off, len);
	if (r->map == MAP_FAILED)
		return false;
	r->tables = ts_get64(r->map + 24);
	r->n_sections = ts_get32(r->map + 32);
	r->n_arrays = ts_get32(r->map + 36);
	if (r->tables >= TS_INDEX_HEAD_LEN && r->tables <= len && !(r->tables % 8) &&
	    ts_index_tables_len(r->n_sections, r->n_arrays, r->tables) == len - r->tables)
		r->blocks = ts_index_blocks_new(pool, r->map, TS_INDEX_HEAD_LEN, r->tables, signatures_of(r));
	if (r->blocks)
		return true;
	ts_index_record_unmap(r);
	return false;
}

/* Do the tables name what lies in the record? */
static bool check_tables(const struct ts_index_record *r)
{
	for (uint32_t i = 0; i < r->n_sections; i++) {
		uint32_t first = ts_get32(section_at(r, i) + 8), n = ts_get32(section_at(r, i) + 12);

		if (first > r->n_arrays || n > r->n_arrays - first)
			return false;
	}
	for (uint32_t i = 0; i < r->n_arrays; i++) {
		uint64_t off = ts_get64(array_at(r, i)), len = ts_get64(array_at(r, i) + 8);

		if (off < TS_INDEX_HEAD_LEN || off % 8 || off > r->tables || len > r->tables - off)
			return false;
	}
	return true;
}

static bool check_head(const struct ts_index_record *r, const struct ts_index_key *key, size_t number)
{
	uint8_t header[TS_INDEX_HEADER_LEN];
	struct iovec parts[3];

	if (memcmp(r->map, ts_index_record_magic, sizeof(ts_index_record_magic)) ||
	    ts_get64(r->map + 8) != number || ts_get32(r->map + 40) > 1)
		return false;
	ts_index_header_make(key, header);
	ts_index_signed_parts(header, r->map, r->map + r->tables, r->len - r->tables, parts);
	return ts_signer_check(&key->signer, parts, 3, r->map + TS_INDEX_SIGNED_LEN) && check_tables(r);
}

static void let_go_of_tables(const struct ts_index_record *r)
{
	uint64_t start = (r->tables + TS_INDEX_ALIGN - 1) & ~(TS_INDEX_ALIGN - 1);

	if (start < r->len)
		madvise((uint8_t *)r->map + start, r->len - start, MADV_DONTNEED);
}

bool ts_index_record_check(const struct ts_index_record *r, const struct ts_index_key *key, size_t number,
			   bool is_whole)
{
	bool is_good = check_head(r, key, number) &&
		       (!is_whole || ts_index_blocks_use(r->blocks, r->map + TS_INDEX_HEAD_LEN,
							 r->tables - TS_INDEX_HEAD_LEN));

	let_go_of_tables(r);
	return is_good;
}

/* A head's signature covers the tables, and these cover the blocks. */
bool ts_index_record_replace(struct ts_index_record *r, const struct ts_index_record *from, int fd)
{
	if (r->len != from->len || memcmp(r->map, from->map, TS_INDEX_HEAD_LEN) ||
	    mmap((uint8_t *)r->map, r->len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)from->off) ==
		    MAP_FAILED)
		return false;
	ts_index_blocks_renew(r->blocks);
	return true;
}

bool ts_index_record_is_last(const struct ts_index_record *r)
{
	return ts_get32(r->map + 40);
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
			return (struct ts_index_arrays){ r->map, array_at(r, ts_get32(s + 8)),
							 ts_get32(s + 12), false, r->blocks };
	}
	return (struct ts_index_arrays){ .is_bad = true };
}
