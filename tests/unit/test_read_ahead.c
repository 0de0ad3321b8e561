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

#define LEN       (20 * TS_READ_AHEAD_LEN + 1000)
#define PAD       64u
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
	uint8_t *p = ts_read_ahead_take(ra, off, want, &len);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(len, want);
	ck_assert_int_eq(memcmp(p, bytes + off, len), 0);
	return p;
}

/* Pieces from @off up to @end; the one taken before stays as it is, though the thread reads on. */
static void check_pieces(uint64_t off, uint64_t end)
{
	uint8_t *last = NULL;

	ts_read_ahead_begin(ra, off, end);
	while (off < end) {
		size_t len = end - off < TS_READ_AHEAD_LEN ? (size_t)(end - off) : TS_READ_AHEAD_LEN;
		uint8_t *p = check_take(off, len);

		memset(p - TS_READ_AHEAD_ROOM, 1,
		       TS_READ_AHEAD_ROOM); /* the taker's, while others are read */
		if (last)
			ck_assert_int_eq(memcmp(last, bytes + off - TS_READ_AHEAD_LEN, TS_READ_AHEAD_LEN), 0);
		last = p;
		off += len;
		ts_read_ahead_begin(ra, off, end); /* as a window does */
	}
}

START_TEST(pieces_come_one_after_the_other)
{
	size_t len;

	check_pieces(5, LEN - 7);
	ck_assert_ptr_null(ts_read_ahead_take(ra, LEN - 7, 1, &len));
	check_pieces(LEN - 20 * TS_READ_AHEAD_LEN, LEN); /* a whole number of them */
}
END_TEST

START_TEST(one_that_is_too_short_is_given_only_as_the_last)
{
	size_t len;

	ts_read_ahead_begin(ra, 0, TS_READ_AHEAD_LEN + 10);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, TS_READ_AHEAD_LEN + 1, &len));
	check_take(0, TS_READ_AHEAD_LEN);
	ck_assert_ptr_nonnull(ts_read_ahead_take(ra, TS_READ_AHEAD_LEN, 1000, &len));
	ck_assert_uint_eq(len, 10);
}
END_TEST

START_TEST(one_that_was_not_begun_is_not_given)
{
	size_t len;

	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, 1, &len));
	ts_read_ahead_begin(ra, 100, 150);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, 1, &len));
	check_take(100, 50);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 100, 1, &len));
}
END_TEST

START_TEST(the_last_one_begun_counts)
{
	size_t len;

	ts_read_ahead_begin(ra, 0, TS_READ_AHEAD_LEN);
	ts_read_ahead_begin(ra, 7, 16);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 0, 1, &len));
	check_take(7, 9);
}
END_TEST

START_TEST(one_that_cannot_be_read_as_a_whole_is_not_given)
{
	size_t len;

	ck_assert_int_eq(truncate(FILE_NAME, 1500), 0);
	ts_read_ahead_begin(ra, 1000, 1501);
	ck_assert_ptr_null(ts_read_ahead_take(ra, 1000, 1, &len));
	ts_read_ahead_begin(ra, 1000, 1500);
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

START_TEST(it_may_be_allowed_while_a_window_is_read)
{
	struct ts_window w;

	ts_window_init(&w, src, LEN);
	for (uint64_t off = 0; off < LEN; off += 1777) {
		const uint8_t *p = ts_window_need(&w, off, off + 1777 < LEN ? 1777 : LEN - off, &err);

		ck_assert(p && *p == bytes[off]);
		if (off < LEN / 2)
			ck_assert_ptr_null(w.ahead);
		else
			ts_source_allow_ahead(src);
	}
	ck_assert_ptr_nonnull(w.ahead);
	ts_window_fini(&w);
}
END_TEST

START_TEST(a_file_that_becomes_shorter_is_the_same_error)
{
	const uint64_t end = LEN - 100000;

	ts_source_allow_ahead(src);
	ck_assert_uint_le(walk(end), end);
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_msg(strstr(err.text, "the file has become shorter: it ends before this offset"), "%s", err.text);
	ck_assert_uint_eq(err.off, end);
}
END_TEST

UNIT_FIXTURE_SUITE("read_ahead", setup, teardown, pieces_come_one_after_the_other,
		   one_that_is_too_short_is_given_only_as_the_last, one_that_was_not_begun_is_not_given,
		   the_last_one_begun_counts, one_that_cannot_be_read_as_a_whole_is_not_given,
		   a_window_over_it_gives_every_byte, it_may_be_allowed_while_a_window_is_read, a_file_that_becomes_shorter_is_the_same_error)
