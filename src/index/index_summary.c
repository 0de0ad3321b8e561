/* SPDX-License-Identifier: MIT */
#include "index_summary.h"

#include <string.h>
#include <sys/mman.h>

#include "index_header.h"

#define SIGNATURE_AT 8

static const char magic[8] = { 's', 'u', 'm', 'm', 'a', 'r', 'y', '\n' };

/* The signed bytes: the header of the file, and the summary after its own head. */
static void signed_parts(const uint8_t *header, const uint8_t *bytes, size_t len, struct iovec parts[2])
{
	parts[0] = (struct iovec){ (uint8_t *)header, TS_INDEX_HEADER_LEN };
	parts[1] = (struct iovec){ (uint8_t *)bytes, len };
}

/* ------------------------------------------------------------------------------------------------ writing */

uint64_t ts_index_summary_len(const struct ts_index_record *records, size_t n)
{
	uint64_t len = TS_INDEX_SUMMARY_HEAD_LEN;

	for (size_t i = 0; i < n; i++)
		len += ts_index_record_entries_len(&records[i]) + records[i].small_end;
	return len;
}

/* Returns false if the record is damaged. */
static bool put_record(struct ts_buf *out, const struct ts_index_record *r)
{
	const uint8_t *small = r->map + TS_INDEX_HEAD_LEN;
	size_t len = r->small_end - TS_INDEX_HEAD_LEN;

	if (!ts_index_blocks_use(r->blocks, small, len))
		return false;
	ts_buf_put(out, r->head, TS_INDEX_HEAD_LEN);
	ts_buf_put(out, r->entries, ts_index_record_entries_len(r));
	ts_buf_put(out, small, len);
	ts_index_record_let_go(r);
	return true;
}

void ts_index_summary_put(struct ts_buf *out, const struct ts_index_key *key,
			  const struct ts_index_record *records, size_t n)
{
	uint8_t head[TS_INDEX_SUMMARY_HEAD_LEN] = { 0 }, header[TS_INDEX_HEADER_LEN];
	size_t start = out->len, first = start + sizeof(head);
	struct iovec parts[2];

	ts_buf_put(out, head, sizeof(head));
	for (size_t i = 0; i < n && ts_buf_ok(out); i++) {
		if (put_record(out, &records[i]))
			continue;
		out->len = start;
		return;
	}
	if (!ts_buf_ok(out))
		return;
	memcpy(out->data + start, magic, sizeof(magic));
	ts_index_header_make(key, header);
	signed_parts(header, out->data + first, out->len - first, parts);
	ts_signer_sign(&key->signer, parts, 2, out->data + start + SIGNATURE_AT);
}

/* ------------------------------------------------------------------------------------------------ reading */

static bool is_signed(const struct ts_index_summary *s, const struct ts_index_key *key)
{
	uint8_t header[TS_INDEX_HEADER_LEN];
	struct iovec parts[2];

	ts_index_header_make(key, header);
	signed_parts(header, s->map + TS_INDEX_SUMMARY_HEAD_LEN, s->len - TS_INDEX_SUMMARY_HEAD_LEN, parts);
	return !memcmp(s->map, magic, sizeof(magic)) &&
	       ts_signer_check(&key->signer, parts, 2, s->map + SIGNATURE_AT);
}

/*
 * The records follow each other from the header to @end.  *n_read gets how many there are to be unmapped.  Returns false if
 * they contradict each other.
 */
static bool read_records(const struct ts_index_summary *s, size_t n, uint64_t end, struct ts_index_record *records,
			 size_t *n_read)
{
	size_t at = TS_INDEX_SUMMARY_HEAD_LEN, used;
	uint64_t off = TS_INDEX_ALIGN;

	for (size_t i = 0; i < n; i++, at += used) {
		struct ts_index_record *r = &records[i];
		uint64_t len = s->len - at < TS_INDEX_HEAD_LEN ? 0 : ts_get64(s->map + at + 16);

		if (len < TS_INDEX_HEAD_LEN || len > end - off || !ts_index_record_read(r, off, len, s->map + at, s->len - at, &used))
			return false;
		*n_read = i + 1;
		if (!ts_index_record_is_number(r, i) || ts_index_record_is_last(r) != (i + 1 == n) ||
		    (i && ts_index_record_steps(r) < ts_index_record_steps(r - 1)))
			return false;
		off = ts_index_record_end(r);
	}
	return at == s->len && off == end;
}

static bool place_records(struct ts_index_summary *s, int fd, const struct ts_index_key *key,
			  struct ts_index_pool *pool, struct ts_index_record *records, size_t n)
{
	uint8_t *p;

	for (size_t i = 0; i < n; i++)
		s->memory_len += ts_index_record_memory(&records[i]);
	p = ts_index_reserve(s->memory_len);
	if (p == MAP_FAILED)
		return false;
	s->memory = p;
	for (size_t i = 0; i < n; p += ts_index_record_memory(&records[i++])) {
		if (!ts_index_record_place(&records[i], pool, key, fd, p))
			return false;
	}
	return true;
}

static bool map_summary(struct ts_index_summary *s, int fd, uint64_t from, uint64_t to)
{
	void *map;

	if (to - from <= TS_INDEX_SUMMARY_HEAD_LEN)
		return false;
	map = mmap(NULL, (size_t)(to - from), PROT_READ, MAP_PRIVATE, fd, (off_t)from);
	if (map == MAP_FAILED)
		return false;
	s->map = map;
	s->len = (size_t)(to - from);
	return true;
}

bool ts_index_summary_open(struct ts_index_summary *s, int fd, const struct ts_index_key *key,
			   struct ts_index_pool *pool, size_t n, uint64_t from, uint64_t to,
			   struct ts_index_record *records)
{
	size_t n_read = 0;

	*s = (struct ts_index_summary){ 0 };
	if (map_summary(s, fd, from, to) && is_signed(s, key) && read_records(s, n, from, records, &n_read) &&
	    place_records(s, fd, key, pool, records, n))
		return true;
	while (n_read)
		ts_index_record_unmap(&records[--n_read]);
	ts_index_summary_close(s);
	return false;
}

void ts_index_summary_close(struct ts_index_summary *s)
{
	if (s->map)
		munmap(s->map, s->len);
	if (s->memory)
		munmap(s->memory, s->memory_len);
	*s = (struct ts_index_summary){ 0 };
}

void ts_index_summary_let_go(const struct ts_index_summary *s)
{
	if (s->map)
		madvise(s->map, s->len, MADV_DONTNEED);
}
