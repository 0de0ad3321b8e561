/* SPDX-License-Identifier: MIT */
/*
 * What is kept of a trace's layout is found again by this user for this trace only, and a failure leaves
 * nothing.
 */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bad_calls.h"
#include "src/index/keys/layout_cache.h"
#include "src/index/index_write.h"

#define LAYOUT "trace.tsindex.layout"

/* More than a block of the file. */
#define LEN 20000u

static uint8_t bytes[LEN];
static char cache[PATH_MAX];
static struct ts_error err;

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void setup(void)
{
	char here[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_int_lt(snprintf(cache, sizeof(cache), "%.2000s/cache", here), 2100);
	setenv("XDG_CACHE_HOME", cache, 1);
	ck_assert_int_eq(system("chmod -R u+w . && rm -rf cache trace* && head -c 5000000 /dev/zero > trace"),
			 0);
	for (size_t i = 0; i < LEN; i++)
		bytes[i] = (uint8_t)(i * 31 >> 3);
	ts_error_reset(&err);
}

static void keep(const char *index)
{
	struct ts_source *src = ts_source_open("trace", &err);
	struct ts_layout_cache k;
	struct ts_buf b;

	if (!src) /* a call failed */
		return;
	ts_buf_init(&b);
	ts_buf_put(&b, bytes, LEN);
	ts_layout_cache_init(&k, src, "trace", index);
	ts_source_keep(src, &b);
	ts_layout_cache_fini(&k);
	ts_buf_fini(&b);
	ts_source_close(src);
}

/* Is it found?  If so it is what was kept. */
static bool is_recalled(const char *index)
{
	struct ts_source *src = ts_source_open("trace", &err);
	struct ts_layout_cache k;
	struct ts_buf b;
	bool is_known;

	if (!src)
		return false;
	ts_buf_init(&b);
	ck_assert(!ts_source_recall(src, &b));
	ts_layout_cache_init(&k, src, "trace", index);
	is_known = ts_source_recall(src, &b);
	if (is_known) {
		ck_assert_uint_eq(b.len, LEN);
		ck_assert_mem_eq(b.data, bytes, LEN);
	}
	ts_layout_cache_fini(&k);
	ck_assert(!ts_source_recall(src, &b));
	ts_buf_fini(&b);
	ts_source_close(src);
	return is_known;
}

START_TEST(what_is_kept_is_found_again)
{
	ck_assert(!is_recalled(NULL));
	keep(NULL);
	ck_assert(is_there(LAYOUT));
	ck_assert(!is_there(LAYOUT ".part"));
	ck_assert(is_recalled(NULL));
	keep(NULL);
	ck_assert(is_recalled(NULL));
}
END_TEST

START_TEST(it_lies_beside_the_index_that_the_user_chose)
{
	keep("trace.mine");
	ck_assert(is_there("trace.mine.layout") && !is_there(LAYOUT));
	ck_assert(is_recalled("trace.mine"));
	ck_assert(!is_recalled(NULL));
}
END_TEST

START_TEST(it_is_for_one_trace_and_one_user)
{
	keep(NULL);
	ck_assert_int_eq(system("printf x | dd of=trace bs=1 conv=notrunc 2>/dev/null"), 0);
	ck_assert(!is_recalled(NULL));
	keep(NULL);
	ck_assert(is_recalled(NULL));
	setenv("XDG_CACHE_HOME", "/nowhere", 1);
	ck_assert(!is_recalled(NULL));
	setenv("XDG_CACHE_HOME", cache, 1);
	ck_assert_int_eq(system("rm -rf cache"), 0); /* with the key */
	ck_assert(!is_recalled(NULL));
}
END_TEST

START_TEST(a_file_that_was_changed_is_not_used)
{
	struct stat st;

	keep(NULL);
	ck_assert_int_eq(stat(LAYOUT, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 97) {
		FILE *f = fopen(LAYOUT, "r+b");
		int c;

		ck_assert_ptr_nonnull(f);
		fseek(f, at, SEEK_SET);
		c = fgetc(f);
		fseek(f, at, SEEK_SET);
		fputc(c ^ 0x10, f);
		fclose(f);
		is_recalled(NULL); /* if it is, as where nothing lies, it is right */
		f = fopen(LAYOUT, "r+b");
		fseek(f, at, SEEK_SET);
		fputc(c, f);
		fclose(f);
	}
	ck_assert(is_recalled(NULL));
	ck_assert_int_eq(truncate(LAYOUT, st.st_size / 2), 0);
	ck_assert(!is_recalled(NULL));
}
END_TEST

/* Make the file by hand: @n_records records of a section @kind with @len bytes. */
static void write_layout(unsigned n_records, uint32_t kind, size_t len)
{
	struct ts_source *src = ts_source_open("trace", &err);
	struct ts_index_key key;
	struct ts_index_file *f;

	ck_assert(ts_index_key(src, ts_index_sources, "layout", &key, &err) &&
		  ts_index_signer(&key.signer, "trace", &err));
	f = ts_index_create(LAYOUT, &key, &err);
	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i < n_records; i++) {
		ts_index_begin(f, 1);
		ts_index_section(f, kind, 0);
		ts_index_put_unread(f, bytes, len, 1);
		ck_assert(ts_index_commit(f, 0, i + 1 == n_records, &err));
	}
	ck_assert(ts_index_publish(f, &err));
	ts_index_close(f);
	ts_source_close(src);
}

START_TEST(a_file_that_holds_something_else_is_not_used)
{
	const uint32_t kind = 0x4f59414c; /* "LAYO" */

	write_layout(1, kind, LEN);
	ck_assert(is_recalled(NULL));
	write_layout(2, kind, LEN);
	ck_assert(!is_recalled(NULL));
	write_layout(1, kind, 0);
	ck_assert(!is_recalled(NULL));
	write_layout(1, kind + 1, LEN);
	ck_assert(!is_recalled(NULL));
	keep(NULL);
	ck_assert(is_recalled(NULL));
}
END_TEST

START_TEST(a_writer_that_was_killed_before_the_file_had_its_name_has_written_it)
{
	keep(NULL);
	ck_assert_int_eq(rename(LAYOUT, LAYOUT ".part"), 0);
	ck_assert(!is_recalled(NULL));
	keep(NULL);
	ck_assert(is_recalled(NULL) && !is_there(LAYOUT ".part"));
}
END_TEST

START_TEST(of_what_is_lost_when_it_is_closed_nothing_is_kept_unless_the_user_says_where)
{
	struct ts_source *src = ts_source_open("trace", &err);
	struct ts_layout_cache k;
	struct ts_buf b;

	src->is_fleeting = true;
	ts_buf_init(&b);
	ts_buf_put(&b, bytes, LEN);
	ts_layout_cache_init(&k, src, "trace", NULL);
	ts_source_keep(src, &b);
	ts_layout_cache_fini(&k);
	ck_assert(!is_there(LAYOUT));
	ts_layout_cache_init(&k, src, "trace", "trace.mine");
	ck_assert(!ts_source_recall(src, &b));
	ts_source_keep(src, &b);
	ts_buf_reset(&b);
	ck_assert(ts_source_recall(src, &b) && b.len == LEN);
	ts_layout_cache_fini(&k);
	ts_buf_fini(&b);
	ts_source_close(src);
}
END_TEST

START_TEST(a_small_trace_leaves_none)
{
	ck_assert_int_eq(truncate("trace", 4000000), 0);
	keep(NULL);
	ck_assert(!is_there(LAYOUT));
}
END_TEST

/* How many calls does keep(), or else is_recalled(), make? */
static uint64_t count_calls(bool is_kept)
{
	bad_calls_start(UINT64_MAX, EIO);
	if (is_kept)
		keep("trace.mine");
	else
		is_recalled("trace.mine");
	return bad_calls_end();
}

START_TEST(where_a_call_fails_nothing_is_left_half_done)
{
	static const int errors[] = { EIO, ENOSPC };
	const uint64_t n_calls = count_calls(true);
	struct stat st;

	ck_assert_uint_gt(n_calls, 20);
	for (uint64_t n = 0; n < 2 * n_calls; n++) {
		ck_assert_int_eq(system("rm -rf cache trace.*"), 0);
		bad_calls_start(n / 2, errors[n % 2]);
		keep("trace.mine");
		bad_calls_end();
		/* where the file cannot be locked after it was made it stays, for the next one */
		ck_assert_msg(stat("trace.mine.layout.part", &st) < 0 || !st.st_size, "call %u",
			      (unsigned)n / 2);
		is_recalled("trace.mine"); /* if it is, it is right */
	}
}
END_TEST

START_TEST(where_a_call_fails_nothing_wrong_is_recalled)
{
	uint64_t n_calls;

	keep("trace.mine");
	n_calls = count_calls(false);
	ck_assert_uint_gt(n_calls, 5);
	for (uint64_t n = 0; n < n_calls; n++) {
		bad_calls_start(n, EIO);
		is_recalled("trace.mine");
		bad_calls_end();
	}
	ck_assert(is_recalled("trace.mine"));
}
END_TEST

UNIT_FIXTURE_SUITE("index_keeper", setup, NULL, what_is_kept_is_found_again,
		   a_file_that_holds_something_else_is_not_used,
		   a_writer_that_was_killed_before_the_file_had_its_name_has_written_it,
		   of_what_is_lost_when_it_is_closed_nothing_is_kept_unless_the_user_says_where,
		   it_lies_beside_the_index_that_the_user_chose, it_is_for_one_trace_and_one_user,
		   a_file_that_was_changed_is_not_used, a_small_trace_leaves_none,
		   where_a_call_fails_nothing_is_left_half_done, where_a_call_fails_nothing_wrong_is_recalled)
