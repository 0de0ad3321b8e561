/* SPDX-License-Identifier: MIT */
/*
 * A table of chunks that is copied or recalled is the one that a scan gives, and one that contradicts its
 * file is not used.  Chunks' bodies are never decoded here, so their checksums are left out.
 */
#include "unit.h"

#include "loaders/kit/snappy.h"

#include <stdlib.h>
#include <string.h>

#define N_CHUNKS (SNAPPY_TABLE_MIN_KEPT + 10)
#define ITEM_LEN 12 /* of a kept chunk */
#define START    74

/* A source that counts what is read of it. */
struct counted {
	struct ts_source base;
	size_t n_read;
};

static uint8_t file[1 << 20];
static size_t file_len;
static struct ts_source *src;
static struct snappy_frames scanned, table;
static struct ts_error err;

/* What the keeper was given last, and what it gives. */
static struct ts_buf kept;
static bool is_known;
static unsigned n_kept;

static bool read_counted(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *got,
			 struct ts_error *e)
{
	(void)e;
	memcpy(data, file + off, len);
	((struct counted *)s)->n_read += len;
	*got = len;
	return true;
}

static void close_counted(struct ts_source *s)
{
	(void)s;
}

static bool recall(void *user, struct ts_buf *out)
{
	(void)user;
	ts_buf_put(out, kept.data, kept.len);
	return is_known;
}

static void keep(void *user, const struct ts_buf *bytes)
{
	(void)user;
	ts_buf_reset(&kept);
	ts_buf_put(&kept, bytes->data, bytes->len);
	is_known = true;
	n_kept++;
}

static const struct ts_source_keeper keeper = { .recall = recall, .keep = keep };

static void put(const void *data, size_t len)
{
	ck_assert_uint_le(file_len + len, sizeof(file));
	memcpy(file + file_len, data, len);
	file_len += len;
}

static void put_head(uint8_t type, size_t len)
{
	const uint8_t head[4] = { type, (uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16) };

	put(head, sizeof(head));
}

/* Stored chunks, compressed ones, and after each tenth one that holds no data. */
static void put_chunks(unsigned n)
{
	static const uint8_t body[64];
	const uint8_t block[] = { 0, 0, 0, 0, 0xac, 0x02, 1, 2, 3 }; /* of 300 bytes */

	put(body, 64), put(body, START - 64);
	put(SNAPPY_IDENTIFIER, SNAPPY_IDENTIFIER_LEN);
	for (unsigned i = 0; i < n; i++) {
		put_head(i % 3 == 1 ? 0x00 : 0x01, i % 3 == 1 ? sizeof(block) : 5 + i % 7);
		put(i % 3 == 1 ? block : body, i % 3 == 1 ? sizeof(block) : 5 + i % 7);
		if (i % 10 == 0)
			put_head(0xfe, 2), put(body, 2);
	}
}

static struct ts_source *open_counted(void)
{
	static const struct ts_source_ops ops = { .read = read_counted, .close = close_counted };
	struct counted *c = calloc(1, sizeof(*c));

	ck_assert(ts_source_init(&c->base, &ops, file_len, "test", &err));
	ts_source_set_keeper(&c->base, &keeper);
	return &c->base;
}

static void setup(void)
{
	file_len = 0;
	n_kept = 0;
	is_known = false;
	ts_buf_init(&kept);
	ts_error_reset(&err);
	put_chunks(N_CHUNKS);
	src = open_counted();
	ck_assert(snappy_frames_scan(&scanned, src, START, &err));
	ck_assert_uint_eq(scanned.n, N_CHUNKS);
	((struct counted *)src)->n_read = 0;
}

static void teardown(void)
{
	snappy_frames_fini(&scanned);
	snappy_frames_fini(&table);
	ts_source_close(src);
	ts_buf_fini(&kept);
}

static void open_table(void)
{
	snappy_frames_fini(&table);
	ck_assert_msg(snappy_table_open(&table, src, START, NULL, &err), "%s", err.text);
}

static void expect_as_scanned(void)
{
	ck_assert_uint_eq(table.n, scanned.n);
	ck_assert_uint_eq(table.len, scanned.len);
	ck_assert_int_eq(table.end.code, TS_OK);
	for (size_t i = 0; i < table.n; i++) {
		ck_assert_uint_eq(table.chunks[i].file_off, scanned.chunks[i].file_off);
		ck_assert_uint_eq(table.chunks[i].off, scanned.chunks[i].off);
		ck_assert_uint_eq(table.chunks[i].body_len, scanned.chunks[i].body_len);
		ck_assert_int_eq(table.chunks[i].is_stored, scanned.chunks[i].is_stored);
	}
}

START_TEST(a_table_that_is_kept_is_recalled_without_a_scan)
{
	open_table();
	ck_assert_uint_eq(n_kept, 1);
	ck_assert_uint_eq(kept.len, N_CHUNKS * ITEM_LEN);
	((struct counted *)src)->n_read = 0;
	open_table();
	ck_assert_uint_eq(((struct counted *)src)->n_read, SNAPPY_IDENTIFIER_LEN);
	ck_assert_uint_eq(n_kept, 1);
	expect_as_scanned();
}
END_TEST

START_TEST(a_twin_has_a_copy)
{
	ck_assert(snappy_table_open(&table, src, START, &scanned, &err));
	ck_assert_uint_eq(((struct counted *)src)->n_read, 0);
	ck_assert_ptr_ne(table.chunks, scanned.chunks);
	expect_as_scanned();
}
END_TEST

START_TEST(a_twin_of_a_stream_without_chunks_has_none)
{
	snappy_frames_fini(&scanned);
	file_len = START + SNAPPY_IDENTIFIER_LEN;
	ts_source_close(src);
	src = open_counted();
	ck_assert(snappy_frames_scan(&scanned, src, START, &err));
	ck_assert(snappy_table_open(&table, src, START, &scanned, &err));
	ck_assert_uint_eq(table.n, 0);
	ck_assert_uint_eq(table.len, 0);
}
END_TEST

START_TEST(a_table_of_another_source_is_not_copied)
{
	struct ts_source *other = open_counted();

	ck_assert(snappy_table_open(&table, other, START, &scanned, &err));
	ck_assert_uint_gt(((struct counted *)other)->n_read, file_len / 2);
	ts_source_close(other);
	expect_as_scanned();
}
END_TEST

START_TEST(a_short_table_is_not_kept)
{
	ts_source_close(src);
	file_len = 0;
	put_chunks(SNAPPY_TABLE_MIN_KEPT - 1);
	src = open_counted();
	open_table();
	ck_assert_uint_eq(n_kept, 0);
}
END_TEST

START_TEST(a_table_that_ends_with_damage_is_not_kept)
{
	ts_source_close(src);
	put("\x02\0\0\0", 4);
	src = open_counted();
	open_table();
	ck_assert_int_eq(table.end.code, TS_ECORRUPT);
	ck_assert_uint_eq(n_kept, 0);
}
END_TEST

/* Change the number at byte @at of kept chunk @i to @x: the table is scanned anew. */
static void expect_refused(size_t i, size_t at, uint32_t x)
{
	struct ts_buf good;

	ts_buf_init(&good);
	ts_buf_put(&good, kept.data, kept.len);
	for (unsigned b = 0; b < 4; b++)
		kept.data[i * ITEM_LEN + at + b] = (uint8_t)(x >> 8 * b);
	n_kept = 0;
	open_table();
	ck_assert_msg(n_kept == 1, "byte %zu of chunk %zu: %x is believed", at, i, x);
	expect_as_scanned();
	ck_assert_mem_eq(kept.data, good.data, good.len);
	ts_buf_fini(&good);
}

START_TEST(a_kept_table_that_leads_out_of_its_file_is_scanned_anew)
{
	const uint32_t stored = UINT32_C(1) << 31;

	open_table();
	expect_refused(0, 0, UINT32_MAX);
	expect_refused(N_CHUNKS - 1, 0, 20); /* beyond the end of the file */
	expect_refused(0, 4, stored | 3);    /* shorter than its checksum */
	expect_refused(0, 4, stored | 6);    /* its length is not that of what it decodes to */
	expect_refused(1, 4, SNAPPY_MAX_BODY + 1);
	expect_refused(N_CHUNKS - 1, 4, 4096 + 4);
	expect_refused(1, 8, 0);
	expect_refused(1, 8, SNAPPY_MAX_DECODED + 1);
}
END_TEST

START_TEST(a_kept_table_that_is_cut_or_empty_is_scanned_anew)
{
	open_table();
	kept.len -= 1;
	n_kept = 0;
	open_table();
	ck_assert_uint_eq(n_kept, 1);
	expect_as_scanned();
	for (size_t len = 0; len < ITEM_LEN; len += 5) {
		kept.len = len;
		n_kept = 0;
		open_table();
		ck_assert_uint_eq(n_kept, 1);
		expect_as_scanned();
	}
}
END_TEST

START_TEST(a_kept_table_of_a_file_without_the_identifier_is_not_used)
{
	open_table();
	file[START + 4] = 'x';
	snappy_frames_fini(&table);
	ck_assert(!snappy_table_open(&table, src, START, NULL, &err));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
}
END_TEST

UNIT_FIXTURE_SUITE("snappy_table", setup, teardown, a_table_that_is_kept_is_recalled_without_a_scan,
		   a_twin_has_a_copy, a_twin_of_a_stream_without_chunks_has_none,
		   a_table_of_another_source_is_not_copied, a_short_table_is_not_kept,
		   a_table_that_ends_with_damage_is_not_kept,
		   a_kept_table_that_leads_out_of_its_file_is_scanned_anew,
		   a_kept_table_that_is_cut_or_empty_is_scanned_anew,
		   a_kept_table_of_a_file_without_the_identifier_is_not_used)
