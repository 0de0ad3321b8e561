/* SPDX-License-Identifier: MIT */
/*
 * Lines of a text, of any length and at any place in the buffer.
 */
#include "unit.h"

#include "loaders/kit/line_reader.h"

#include <stdlib.h>
#include <string.h>

static struct ts_error err;
static struct ts_source *src;
static struct ts_line_reader r;
static struct ts_text_line line;

static void setup(void)
{
	ts_error_reset(&err);
}

static void teardown(void)
{
	ts_line_reader_fini(&r);
	ts_source_close(src);
	src = NULL;
}

static void open_text(const char *text, size_t len, size_t max_len)
{
	src = ts_source_from_memory(text, len, "text", &err);
	ts_line_reader_init(&r, src, 0, max_len);
}

static void check_line(const char *text, uint64_t off, bool is_whole)
{
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_ITEM);
	ck_assert_uint_eq(line.len, strlen(text));
	ck_assert_int_eq(memcmp(line.text, text, line.len), 0);
	ck_assert_uint_eq(line.off, off);
	ck_assert_int_eq(line.is_whole, is_whole);
}

START_TEST(lines_have_their_offsets_and_no_newline)
{
	open_text("one\n\nthree\r\n", 12, 100);
	check_line("one", 0, true);
	check_line("", 4, true);
	check_line("three\r", 5, true);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_END);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_END);
}
END_TEST

START_TEST(the_last_line_may_have_no_newline)
{
	open_text("one\ntwo", 7, 100);
	check_line("one", 0, true);
	check_line("two", 4, false);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_END);
}
END_TEST

START_TEST(an_empty_text_has_no_line)
{
	open_text("", 0, 100);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_END);
	ck_assert_int_eq(err.code, TS_OK);
}
END_TEST

START_TEST(a_line_may_have_just_the_length_that_is_allowed)
{
	open_text("12345\n123456\n", 13, 5);
	check_line("12345", 0, true);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ck_assert_uint_eq(err.off, 6);
}
END_TEST

START_TEST(a_last_line_that_is_too_long_is_refused_too)
{
	open_text("123456", 6, 5);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ELIMIT);
}
END_TEST

/* Line i is i bytes long and all 'a' + i % 26. */
START_TEST(lines_of_all_lengths_cross_the_buffer)
{
	enum { N = 1500 };
	size_t len = (size_t)N * (N - 1) / 2 + N, at = 0;
	char *text = malloc(len);

	for (size_t i = 0; i < N; i++) {
		memset(text + at, 'a' + (int)(i % 26), i);
		at += i;
		text[at++] = '\n';
	}
	open_text(text, len, N);
	for (size_t i = 0; i < N; i++) {
		ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_ITEM);
		ck_assert_uint_eq(line.len, i);
		ck_assert(!i || (line.text[0] == 'a' + (int)(i % 26) && line.text[i - 1] == line.text[0]));
	}
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_END);
	free(text);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_passed_over)
{
	open_text("123456\nab\n1234567", 17, 5);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_FAIL);
	ts_error_reset(&err);
	ck_assert_int_eq(ts_line_reader_pass(&r, &err), TS_ITEM);
	check_line("ab", 7, true);
	ck_assert_int_eq(ts_line_reader_pass(&r, &err), TS_END);
	ck_assert_int_eq(ts_line_reader_next(&r, &line, &err), TS_END);
}
END_TEST

static unsigned n_reads;

static bool read_counted(const struct ts_source *self, uint64_t off, uint8_t *data, size_t len, size_t *got,
			 struct ts_error *e)
{
	(void)self;
	(void)e;
	(void)off;
	n_reads++;
	memset(data, 'x', len);
	*got = len;
	return true;
}

static void close_counted(struct ts_source *self)
{
	(void)self;
}

START_TEST(a_long_line_takes_few_reads)
{
	static const struct ts_source_ops ops = { .read = read_counted, .close = close_counted };
	struct ts_source *counted = calloc(1, sizeof(*counted));
	struct ts_line_reader l;

	ck_assert(ts_source_init(counted, &ops, 8 << 20, "counted", &err));
	ts_line_reader_init(&l, counted, 0, 4 << 20);
	ck_assert_int_eq(ts_line_reader_next(&l, &line, &err), TS_FAIL);
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ck_assert_uint_lt(n_reads, 100);
	ts_line_reader_fini(&l);
	ts_source_close(counted);
}
END_TEST

START_TEST(reading_may_begin_anywhere)
{
	open_text("one\ntwo\n", 8, 100);
	r.off = 4;
	check_line("two", 4, true);
	r.off = 0;
	check_line("one", 0, true);
}
END_TEST

START_TEST(a_word_is_skipped_where_it_stands)
{
	open_text("tp T1\n", 6, 100);
	check_line("tp T1", 0, true);
	ck_assert(!ts_text_line_skip(&line, "tsv "));
	ck_assert(ts_text_line_skip(&line, "tp "));
	ck_assert_uint_eq(line.off, 3);
	ck_assert_uint_eq(line.len, 2);
	ck_assert(!ts_text_line_skip(&line, "T12"));
}
END_TEST

UNIT_FIXTURE_SUITE("line_reader", setup, teardown, lines_have_their_offsets_and_no_newline,
		   the_last_line_may_have_no_newline, an_empty_text_has_no_line,
		   a_line_may_have_just_the_length_that_is_allowed,
		   a_last_line_that_is_too_long_is_refused_too, lines_of_all_lengths_cross_the_buffer,
		   a_line_that_is_too_long_is_passed_over, a_long_line_takes_few_reads,
		   reading_may_begin_anywhere, a_word_is_skipped_where_it_stands)
