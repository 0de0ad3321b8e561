/* SPDX-License-Identifier: MIT */
#include "index_write.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "index_file_parts.h"
#include "index_pack.h"
#include "src/base/collections/vec.h"

#define WRITE_LEN (256u << 10)

/* Shorter arrays are not packed. */
#ifndef TS_INDEX_MIN_PACKED
#define TS_INDEX_MIN_PACKED 512u
#endif

void ts_index_use_threads(struct ts_index_file *f, unsigned n)
{
	f->n_threads = n;
}

void ts_index_begin(struct ts_index_file *f, unsigned n_sections)
{
	assert(f->part && !f->is_finished);
	f->sections = calloc(n_sections + 1u, sizeof(*f->sections));
	if (!f->packer)
		f->packer = ts_index_packer_new(f->n_threads);
	f->failure = f->sections && f->packer ? 0 : ENOMEM;
	f->n_sections = f->n_arrays = 0;
	f->max_sections = n_sections;
	ts_buf_reset(&f->pending);
	ts_buf_reset(&f->apart);
	f->at = f->end + TS_INDEX_HEAD_LEN;
}

static void flush(struct ts_index_file *f)
{
	if (!f->failure && !ts_buf_ok(&f->pending))
		f->failure = ENOMEM;
	if (!f->failure)
		ts_index_file_write(f, f->pending.data, f->pending.len, f->at);
	f->at += f->pending.len;
	ts_buf_reset(&f->pending);
}

void ts_index_section(struct ts_index_file *f, uint32_t kind, uint32_t owner)
{
	if (f->failure)
		return;
	assert(f->n_sections < f->max_sections);
	f->sections[f->n_sections++] = (struct ts_index_new_section){ kind, owner, f->n_arrays, 0 };
}

static void put_bytes(struct ts_index_file *f, const void *data, size_t len)
{
	if (!len)
		return;
	if (len >= WRITE_LEN) {
		flush(f);
		if (!f->failure)
			ts_index_file_write(f, data, len, f->at);
		f->at += len;
		return;
	}
	ts_buf_put(&f->pending, data, len);
	if (f->pending.len >= WRITE_LEN)
		flush(f);
}

/* Note the next array of the last section.  Returns false if memory is exhausted. */
static bool add_array(struct ts_index_file *f, struct ts_index_new_array array)
{
	if (!TS_PUSH(f->arrays, f->n_arrays, f->cap_arrays, array))
		return false;
	f->sections[f->n_sections - 1].n++;
	return true;
}

static const uint8_t zeros[8];

/* How many bytes of the record precede what is put next. */
static uint64_t here(const struct ts_index_file *f)
{
	return f->at + f->pending.len - f->end;
}

void ts_index_put(struct ts_index_file *f, const void *items, size_t n, size_t item_len)
{
	if (!f->failure && !add_array(f, (struct ts_index_new_array){ .off = here(f), .len = n * item_len }))
		f->failure = ENOMEM;
	if (f->failure)
		return;
	put_bytes(f, items, n * item_len);
	put_bytes(f, zeros, -(n * item_len) & 7);
}

static void put_apart(struct ts_index_file *f, const void *items, size_t n, size_t item_len, bool may_pack)
{
	struct ts_index_new_array array = { .off = f->apart.len, .len = n * item_len, .is_apart = true };
	bool is_packed;

	if (f->failure)
		return;
	is_packed = may_pack && array.len >= TS_INDEX_MIN_PACKED &&
		    ts_index_pack(f->packer, items, array.len, (uint32_t)item_len, &f->packed) &&
		    f->packed.len < array.len;
	if (is_packed) {
		array.packed_len = (uint32_t)f->packed.len;
		array.item_len = (uint32_t)item_len;
		ts_buf_put(&f->apart, f->packed.data, f->packed.len);
	} else if (array.len) {
		ts_buf_put(&f->apart, items, array.len);
	}
	ts_buf_put(&f->apart, zeros, -f->apart.len & 7);
	if (!ts_buf_ok(&f->packed) || !ts_buf_ok(&f->apart) || !add_array(f, array))
		f->failure = ENOMEM;
}

void ts_index_put_unread(struct ts_index_file *f, const void *items, size_t n, size_t item_len)
{
	put_apart(f, items, n, item_len, false);
}

void ts_index_put_packed(struct ts_index_file *f, const void *items, size_t n, size_t item_len)
{
	put_apart(f, items, n, item_len, true);
}

/* The arrays that were kept apart follow the others, which are all put. */
static void join_apart(struct ts_index_file *f)
{
	f->small_end = here(f) <= UINT32_MAX ? (uint32_t)here(f) : TS_INDEX_HEAD_LEN;
	for (uint32_t i = 0; i < f->n_arrays; i++) {
		if (f->arrays[i].is_apart)
			f->arrays[i].off += here(f);
	}
	if (!f->failure)
		put_bytes(f, f->apart.data, f->apart.len);
	flush(f);
}

void ts_index_fail(struct ts_index_file *f)
{
	if (!f->failure)
		f->failure = ENOMEM;
}

void ts_index_put_buf(struct ts_index_file *f, const struct ts_buf *b)
{
	if (!ts_buf_ok(b))
		ts_index_fail(f);
	ts_index_put(f, b->data, b->len, 1);
}

/* Sign the record's blocks, whose bytes are in the file.  Returns false if they cannot be read back. */
static bool sign_blocks(const struct ts_index_file *f, size_t len, uint8_t *signatures)
{
	uint8_t *map = mmap(NULL, len, PROT_READ, MAP_SHARED, f->fd, (off_t)f->end);

	if (map == MAP_FAILED)
		return false;
	ts_index_blocks_sign(&f->key.signer, map, TS_INDEX_HEAD_LEN, len, signatures);
	munmap(map, len);
	return true;
}

/* The tables of a record whose arrays have @len bytes, the head counted. */
static bool make_tables(const struct ts_index_file *f, size_t len, uint8_t *tables)
{
	for (unsigned i = 0; i < f->n_sections; i++, tables += TS_INDEX_SECTION_LEN) {
		ts_put32(tables, f->sections[i].kind);
		ts_put32(tables + 4, f->sections[i].owner);
		ts_put32(tables + 8, f->sections[i].first);
		ts_put32(tables + 12, f->sections[i].n);
	}
	for (uint32_t i = 0; i < f->n_arrays; i++, tables += TS_INDEX_ARRAY_LEN) {
		const struct ts_index_new_array *a = &f->arrays[i];

		ts_index_put_entry(tables, a->off, a->len, a->packed_len, a->item_len);
	}
	return sign_blocks(f, len, tables);
}

static void make_head(const struct ts_index_file *f, bool is_last, uint64_t at, const uint8_t *tables,
		      size_t len, uint8_t *head)
{
	uint8_t header[TS_INDEX_HEADER_LEN];
	struct iovec parts[3];

	memset(head, 0, TS_INDEX_HEAD_LEN);
	memcpy(head, ts_index_record_magic, sizeof(ts_index_record_magic));
	ts_put64(head + 8, f->n_records);
	ts_put64(head + 16, at + len);
	ts_put64(head + 24, at);
	ts_put32(head + 32, f->n_sections);
	ts_put32(head + 36, f->n_arrays);
	ts_put32(head + 40, is_last);
	ts_put32(head + 44, f->small_end);
	ts_put64(head + 48, f->n_steps);
	ts_index_header_make(&f->key, header);
	ts_index_signed_parts(header, head, tables, len, parts);
	ts_signer_sign(&f->key.signer, parts, 3, head + TS_INDEX_SIGNED_LEN);
}

/*
 * The record's tables, then its head; all of its arrays are in the file, and have @at bytes, the head
 * counted.
 */
static void write_tables(struct ts_index_file *f, bool is_last, uint64_t at)
{
	size_t len = (size_t)ts_index_tables_len(f->n_sections, f->n_arrays, at);
	uint8_t *tables = calloc(1, len + 1), head[TS_INDEX_HEAD_LEN];

	if (!tables)
		f->failure = ENOMEM;
	else if (ftruncate(f->fd, (off_t)(f->end + ts_index_align(at + len))) < 0)
		f->failure = errno;
	else if (!make_tables(f, (size_t)at, tables))
		f->failure = EIO;
	else
		make_head(f, is_last, at, tables, len, head);
	if (!f->failure && ts_index_file_write(f, tables, len, f->at))
		ts_index_file_write(f, head, TS_INDEX_HEAD_LEN, f->end);
	f->at += len;
	free(tables);
}

/* The record goes to the file and is mapped. */
static void write_record(struct ts_index_file *f, bool is_last)
{
	assert(f->failure || f->n_sections == f->max_sections); /* as many sections as were announced */
	join_apart(f);
	if (!f->failure)
		write_tables(f, is_last, f->at - f->end);
	if (!f->failure && !ts_index_file_map_record(f, f->at - f->end))
		f->failure = errno;
	free(f->sections);
	f->sections = NULL;
}

/* The file is as it was before the record; on a full disk, and if that is nothing, it goes. */
static void take_back(struct ts_index_file *f)
{
	if (!f->n_records || ts_index_is_disk_full(f->failure) || ftruncate(f->fd, (off_t)f->end) < 0)
		unlink(f->part);
}

void ts_index_abort(struct ts_index_file *f)
{
	free(f->sections);
	f->sections = NULL;
	ts_buf_reset(&f->pending);
	take_back(f);
}

bool ts_index_commit(struct ts_index_file *f, uint64_t n_steps, bool is_last, struct ts_error *err)
{
	f->n_steps = n_steps;
	write_record(f, is_last);
	if (is_last && !f->failure && !ts_index_file_write_directory(f))
		ts_index_record_unmap(&f->records[--f->n_records]);
	if (!f->failure) {
		uint64_t len = f->at - f->end;

		/*
		 * Begin to write it now, so that the final sync waits for little more than the last record.
		 */
		if (len >= WRITE_LEN)
			sync_file_range(f->fd, (off_t)f->end, (off_t)len, SYNC_FILE_RANGE_WRITE);
		f->end += ts_index_align(len);
		f->is_finished = is_last;
		ts_index_give_back(f);
		return true;
	}
	take_back(f);
	errno = f->failure;
	return ts_fail_errno(err, "cannot write it");
}
