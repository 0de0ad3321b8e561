/* SPDX-License-Identifier: MIT */
/*
 * Seekable zstd, put together here after the format's description: each byte is where it was.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/collections/buf.h"
#include "src/source/zstd_frames.h"

#define N_FRAMES 20u
#define LEN 20000u

static uint8_t plain[LEN];
static struct ts_buf file;
static size_t ends[N_FRAMES + 1]; /* of the decoded frames */
static size_t table_at, first_entry;
static struct ts_source *packed, *src;
static struct ts_error err;

static void put32(uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		ts_buf_putc(&file, (uint8_t)(v >> 8 * i));
}

/* Frames of 0, 100, 200... bytes and the rest, with a table of entries of 8 or 12 bytes. */
static void make(bool has_checksums)
{
	uint32_t lens[N_FRAMES], unpacked[N_FRAMES];
	size_t at = 0;

	ts_buf_reset(&file);
	for (unsigned i = 0; i < N_FRAMES; i++) {
		size_t n = i < N_FRAMES - 1 ? 100u * i : LEN - at;
		uint8_t *to = ts_buf_room(&file, ZSTD_compressBound(n));

		lens[i] = (uint32_t)ZSTD_compress(to, ZSTD_compressBound(n), plain + at, n, 1);
		file.len += lens[i];
		unpacked[i] = (uint32_t)n;
		ends[i] = at;
		at += n;
	}
	ends[N_FRAMES] = at;
	table_at = file.len;
	put32(0x184d2a5e);
	put32(N_FRAMES * (has_checksums ? 12 : 8) + 9);
	first_entry = file.len;
	for (unsigned i = 0; i < N_FRAMES; i++) {
		put32(lens[i]);
		put32(unpacked[i]);
		if (has_checksums)
			put32((uint32_t)XXH64(plain + ends[i], unpacked[i], 0));
	}
	put32(N_FRAMES);
	ts_buf_putc(&file, has_checksums ? 0x80 : 0);
	put32(0x8f92eab1);
}

static void setup(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < LEN; i++) {
		x = x * 1664525u + 1013904223u;
		plain[i] = (uint8_t)(x >> 24 & 15);
	}
	ts_error_reset(&err);
	ts_buf_init(&file);
	packed = src = NULL;
}

static void close_all(void)
{
	ts_source_close(src);
	ts_source_close(packed);
	src = packed = NULL;
}

static void teardown(void)
{
	close_all();
	ts_buf_fini(&file);
}

static bool open_it(void)
{
	packed = ts_source_from_memory(file.data, file.len, "trace.zst", &err);
	src = ts_zstd_seek_open(packed, &err);
	if (src)
		packed = NULL;
	return src != NULL;
}

static void check_bytes(void)
{
	static uint8_t bytes[LEN];
	uint32_t x = 5;
	size_t got;

	ck_assert_uint_eq(ts_source_len(src), LEN);
	ck_assert_str_eq(ts_source_name(src), "trace.zst");
	ck_assert(ts_source_read_all(src, 0, bytes, LEN, &err));
	ck_assert_int_eq(memcmp(bytes, plain, LEN), 0);
	for (unsigned i = 0; i < 500; i++) {
		size_t off, len;

		x = x * 1664525u + 1013904223u;
		off = (x >> 8) % LEN;
		len = (x >> 4) % 3000;
		ck_assert(ts_source_read(src, off, bytes, len, &got, &err));
		ck_assert_uint_eq(got, len < LEN - off ? len : LEN - off);
		ck_assert_int_eq(memcmp(bytes, plain + off, got), 0);
	}
}

START_TEST(every_byte_is_where_it_was)
{
	make(_i != 0);
	ck_assert(open_it());
	check_bytes();
}
END_TEST

START_TEST(another_source_of_it_outlives_the_first)
{
	struct ts_source *first;

	make(false);
	ck_assert(open_it());
	first = src;
	src = ts_source_dup(first, &err);
	ts_source_close(first);
	check_bytes();
}
END_TEST

static void expect_not_seekable(void)
{
	ck_assert(!open_it());
	ck_assert_int_eq(err.code, TS_OK);
	close_all();
}

START_TEST(other_files_are_left_alone)
{
	make(false);
	for (size_t len = 0; len < file.len; len++) {
		size_t whole = file.len;

		file.len = len;
		expect_not_seekable();
		file.len = whole;
	}
	file.data[file.len - 1] ^= 1; /* the magic number at the end */
	expect_not_seekable();
	make(false);
	file.data[file.len - 5] |= 4; /* a reserved bit */
	expect_not_seekable();
	make(false);
	file.data[first_entry]++; /* the frames are not as long as the file */
	expect_not_seekable();
	make(false);
	file.data[table_at]++; /* not a skippable frame */
	expect_not_seekable();
	make(false);
	file.data[first_entry + 7] = 2; /* a frame of 32 MiB */
	expect_not_seekable();
}
END_TEST

START_TEST(a_table_that_lies_about_a_frame_is_found_when_it_is_read)
{
	uint8_t byte;

	make(false);
	file.data[first_entry + 8 * 3 + 4]++;
	ck_assert(open_it());
	ck_assert(ts_source_read_all(src, ends[3] - 1, &byte, 1, &err));
	ck_assert_uint_eq(byte, plain[ends[3] - 1]);
	ck_assert(!ts_source_read_all(src, ends[3], &byte, 1, &err));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_uint_eq(err.off, ends[3]);
	ck_assert_ptr_nonnull(strstr(err.text, "frame 3"));
	ts_error_reset(&err);
	ck_assert(ts_source_read_all(src, ends[4] + 1, &byte, 1, &err)); /* the next ones moved by a byte */
	ck_assert_uint_eq(byte, plain[ends[4]]);
}
END_TEST

START_TEST(a_damaged_frame_costs_only_its_bytes)
{
	static uint8_t bytes[LEN];

	make(true);
	memset(file.data + table_at - 100, 0x55, 50); /* in the last frame */
	ck_assert(open_it());
	ck_assert(ts_source_read_all(src, 0, bytes, ends[N_FRAMES - 1], &err));
	ck_assert_int_eq(memcmp(bytes, plain, ends[N_FRAMES - 1]), 0);
	ck_assert(!ts_source_read_all(src, 0, bytes, LEN, &err));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = { another_source_of_it_outlives_the_first, other_files_are_left_alone,
					      a_table_that_lies_about_a_frame_is_found_when_it_is_read,
					      a_damaged_frame_costs_only_its_bytes };
	Suite *s = unit_suite_of("zstd_seek", setup, teardown, tests, 4);
	TCase *t = tcase_create("with and without checksums");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_byte_is_where_it_was, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
