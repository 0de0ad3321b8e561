/* SPDX-License-Identifier: MIT */
/*
 * A window gives the trace's own bytes, wherever it was before, and never one past its end.
 */
#include "unit.h"

#include "loaders/kit/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN (1u << 20)

static struct ts_error err;
static struct ts_source *src;
static struct ts_window w;
static uint8_t *bytes;
static size_t got;

static void setup(void)
{
	uint32_t x = 1;

	bytes = malloc(LEN);
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < LEN; i++) {
		x = x * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(x >> 24);
	}
	ts_error_reset(&err);
	src = ts_source_from_memory(bytes, LEN, "bytes", &err);
	ts_window_init(&w, src, LEN);
}

static void teardown(void)
{
	ts_window_fini(&w);
	ts_source_close(src);
	free(bytes);
}

static void check_at(uint64_t off, uint64_t len)
{
	const uint8_t *p = ts_window_at(&w, off, len, &got, &err);

	ck_assert_ptr_nonnull(p);
	ck_assert(got >= len || off + got == w.end);
	ck_assert(off + got <= w.end);
	ck_assert_int_eq(memcmp(p, bytes + off, got), 0);
}

START_TEST(reading_on_gives_every_byte_once)
{
	uint64_t off = 0;
	struct ts_cursor c = ts_cursor(NULL, 0, 0, "bytes", &err);

	while (ts_window_ahead(&w, &c, 100) && c.left) {
		size_t n = c.left < 99 ? c.left : 99;
		const uint8_t *p = ts_take(&c, n);

		ck_assert_int_eq(memcmp(p, bytes + off, n), 0);
		off += n;
	}
	ck_assert_int_eq(err.code, TS_OK);
	ck_assert_uint_eq(off, LEN);
}
END_TEST

START_TEST(jumps_in_both_directions_give_what_is_there)
{
	uint32_t x = 7;

	for (unsigned i = 0; i < 2000; i++) {
		x = x * 1664525u + 1013904223u;
		check_at((x >> 8) % LEN, (x >> 4) % (i % 20 ? 300 : 100000));
	}
}
END_TEST

START_TEST(little_is_read_after_a_jump_and_more_as_reading_goes_on)
{
	size_t first;

	check_at(500000, 1);
	first = w.len;
	for (uint64_t off = 500000; off < 900000; off += 1000)
		check_at(off, 1000);
	ck_assert_uint_gt(w.len, 4 * first);
	ck_assert_uint_eq((w.off + w.len) % 65536, 0); /* chunks of compressed traces often have 64 KiB */
	check_at(100, 1);
	ck_assert_uint_eq(w.len, first);
}
END_TEST

START_TEST(the_end_is_that_of_the_window)
{
	ts_window_fini(&w);
	ts_window_init(&w, src, 1000);
	check_at(990, 100);
	ck_assert_uint_eq(got, 10);
	check_at(1000, 1);
	ck_assert_uint_eq(got, 0);
	ck_assert_ptr_nonnull(ts_window_need(&w, 990, 10, &err));
	ck_assert_ptr_null(ts_window_need(&w, 990, 11, &err));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ck_assert_uint_eq(err.off, 990);
}
END_TEST

START_TEST(more_than_there_is_costs_no_memory)
{
	ck_assert_ptr_nonnull(ts_window_at(&w, LEN - 5, UINT64_MAX, &got, &err));
	ck_assert_uint_eq(got, 5);
	ck_assert_uint_le(w.cap, 16384);
	ck_assert_ptr_null(ts_window_need(&w, LEN - 5, UINT64_MAX, &err));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ck_assert_uint_le(w.cap, 16384);
}
END_TEST

START_TEST(far_behind_the_end_there_is_nothing)
{
	check_at(0, 10);
	ck_assert_ptr_nonnull(ts_window_at(&w, UINT64_MAX, 1, &got, &err));
	ck_assert_uint_eq(got, 0);
	check_at(0, 10);
}
END_TEST

START_TEST(a_word_may_straddle_the_end)
{
	const uint8_t *p = ts_window_at(&w, LEN - 1, 1, &got, &err);
	volatile uint8_t sum = 0;

	ck_assert_uint_eq(got, 1);
	for (unsigned i = 0; i < TS_WINDOW_PAD; i++)
		sum = (uint8_t)(sum + p[1 + i]); /* the sanitizers look at this */
}
END_TEST

START_TEST(a_file_that_became_shorter_is_an_error_and_not_its_end)
{
	struct ts_cursor c = ts_cursor(NULL, 0, 20, "bytes", &err);
	FILE *f = fopen("file", "wb");

	fwrite(bytes, 1, 100000, f);
	fclose(f);
	teardown();
	bytes = NULL;
	src = ts_source_open("file", &err);
	ts_window_init(&w, src, 100000);
	ck_assert_int_eq(truncate("file", 50), 0);
	ck_assert(!ts_window_ahead(&w, &c, 31));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_uint_eq(err.off, 50);
	ck_assert_uint_eq(c.left, 0);
	ts_error_reset(&err);
	ck_assert_ptr_nonnull(ts_window_at(&w, 20, 30, &got, &err)); /* what came before is good */
	ck_assert_uint_eq(got, 30);
}
END_TEST

/* A source whose bytes cannot be read from BAD on. */
#define BAD 5000u

static bool read_damaged(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *n,
			 struct ts_error *e)
{
	(void)s;
	for (; *n < len && off + *n < BAD; ++*n)
		data[*n] = bytes[off + *n];
	return *n == len || ts_fail(e, TS_ECORRUPT, BAD, "damaged");
}

static void close_damaged(struct ts_source *s)
{
	(void)s;
}

START_TEST(the_bytes_before_damage_are_given)
{
	static const struct ts_source_ops ops = { .read = read_damaged, .close = close_damaged };

	ts_window_fini(&w);
	ts_source_close(src);
	src = calloc(1, sizeof(*src));
	ck_assert(src && ts_source_init(src, &ops, LEN, "bytes", &err));
	for (uint64_t from = 0; from < BAD; from += 1999) { /* the first read of each window fails in its middle */
		ts_window_init(&w, src, LEN);
		for (uint64_t off = from; off + 10 <= BAD; off += 10)
			check_at(off, 10);
		ck_assert_int_eq(err.code, TS_OK);
		ck_assert_ptr_null(ts_window_need(&w, BAD - 10, 11, &err));
		ck_assert_int_eq(err.code, TS_ECORRUPT);
		ts_error_reset(&err);
		check_at(BAD - 10, 10); /* also after that */
		ts_window_fini(&w);
	}
	ts_window_init(&w, src, LEN);
}
END_TEST

UNIT_FIXTURE_SUITE("window", setup, teardown, reading_on_gives_every_byte_once,
		   jumps_in_both_directions_give_what_is_there,
		   little_is_read_after_a_jump_and_more_as_reading_goes_on, the_end_is_that_of_the_window,
		   more_than_there_is_costs_no_memory, far_behind_the_end_there_is_nothing,
		   a_word_may_straddle_the_end, a_file_that_became_shorter_is_an_error_and_not_its_end,
		   the_bytes_before_damage_are_given)
