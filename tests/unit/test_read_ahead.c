/* SPDX-License-Identifier: MIT */
/*
 * A piece that was read ahead is the source's own bytes, or nothing.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaders/kit/read_ahead.h"
#include "loaders/kit/window.h"

#define LEN 2000000u
#define PAD 64u
#define FILE_NAME "bytes"

static uint8_t *bytes;
static struct ts_source *src;
static struct ts_read_ahead *ra;
static struct ts_error err;

static void setup(void)
{
	uint32_t x = 1;
	FILE *f = fopen(FILE_NAME, "wb");

	bytes = malloc(LEN);
	ck_assert(bytes && f);
	for (size_t i = 0; i < LEN; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
	ck_assert_uint_eq(fwrite(bytes, 1, LEN, f), LEN);
	ck_assert_int_eq(fclose(f), 0);
	ts_error_reset(&err);
	src = ts_source_open(FILE_NAME, &err);
	ck_assert_msg(src, "%s", err.text);
	ra = ts_read_ahead_new(src, PAD);
	ck_assert_ptr_nonnull(ra);
}

static void teardown(void)
{
	ts_read_ahead_free(ra);
	ts_source_close(src);
	remove(FILE_NAME);
	free(bytes);
}

static uint8_t *check_take(uint64_t off, size_t want)
{
	size_t len = 0;
	uint8_t *p = ts_read_ahead_take(ra, off, &len);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(len, want);
	ck_assert_int_eq(memcmp(p, bytes + off, len), 0);
	return p;
}

START_TEST(pieces_come_one_after_the_other)
{
	uint64_t off = 5;

	ts_read_ahead_begin(ra, off, 1000);
	for (unsigned i = 0; i < 50; i++) {
		uint8_t *p = check_take(off, 1000);

		off += 1000;
		ts_read_ahead_begin(ra, off, 1000);
		memset(p - TS_READ_AHEAD_ROOM, 1, TS_READ_AHEAD_ROOM); /* the taker's, while the next one is read */
		ck_assert_int_eq(memcmp(p, bytes + off - 1000, 1000), 0);
	}
}
END_TEST

START_TEST(one_that_was_not_begun_is_not_given)
{
	size_t len;

	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, &len));
	ts_read_ahead_begin(ra, 100, 50);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, &len));
	check_take(100, 50);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 100, &len));
}
END_TEST

START_TEST(the_last_one_begun_counts)
{
	size_t len;

	ts_read_ahead_begin(ra, 0, TS_READ_AHEAD_LEN);
	ts_read_ahead_begin(ra, 7, 9);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, &len));
	check_take(7, 9);
}
END_TEST

START_TEST(one_that_cannot_be_read_as_a_whole_is_not_given)
{
	size_t len;

	ck_assert_int_eq(truncate(FILE_NAME, 1500), 0);
	ts_read_ahead_begin(ra, 1000, 501);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 1000, &len));
	ts_read_ahead_begin(ra, 1000, 500);
	check_take(1000, 500);
}
END_TEST

/* Read the file front to back through a window.  Returns how many bytes were right before it failed. */
static uint64_t walk(uint64_t truncate_at)
{
	struct ts_window w;
	uint64_t off = 0;

	ts_window_init(&w, src, LEN);
	while (off < LEN) {
		uint64_t n = off + 77 <= LEN ? 77 : LEN - off;
		const uint8_t *p = ts_window_need(&w, off, n, &err);

		if (!p)
			break;
		ck_assert_int_eq(memcmp(p, bytes + off, n), 0);
		off += n;
		if (off / 77 == 1000 && truncate_at)
			ck_assert_int_eq(truncate(FILE_NAME, (off_t)truncate_at), 0);
	}
	ts_window_fini(&w);
	return off;
}

START_TEST(a_window_over_it_gives_every_byte)
{
	ts_source_allow_ahead(src);
	ck_assert_uint_eq(walk(0), LEN);
}
END_TEST

START_TEST(a_file_that_becomes_shorter_is_the_same_error)
{
	const uint64_t end = LEN - 100000;

	ts_source_allow_ahead(src);
	ck_assert_uint_le(walk(end), end);
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_msg(strstr(err.text, "the file has become shorter: nothing is left here"), "%s", err.text);
	ck_assert_uint_eq(err.off, end);
}
END_TEST

UNIT_FIXTURE_SUITE("read_ahead", setup, teardown, pieces_come_one_after_the_other,
		   one_that_was_not_begun_is_not_given, the_last_one_begun_counts,
		   one_that_cannot_be_read_as_a_whole_is_not_given, a_window_over_it_gives_every_byte,
		   a_file_that_becomes_shorter_is_the_same_error)
