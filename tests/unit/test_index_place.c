/* SPDX-License-Identifier: MIT */
/*
 * Where the index of a trace lies, and that no failure of the operating system leaves a wrong one there.
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
#include "no_memory.h"
#include "src/base/log.h"
#include "src/index/index_arrays.h"
#include "src/index/index_blocks.h"
#include "src/index/index_place.h"
#include "src/index/index_write.h"
#include "src/source/pack.h"
#include "src/source/unpack.h"

#define KIND    0x31545354u
#define N_ITEMS 3000u
#define INDEX   "trace.tsindex"

static struct ts_index_key key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };
static char cache[PATH_MAX];
static struct ts_error err;
static uint32_t items[N_ITEMS];

static void make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void remove_all(void)
{
	ck_assert_int_eq(system("chmod -R u+w . && rm -rf cache trace* folder packed"), 0);
	make_file("trace", "a trace");
}

static void setup(void)
{
	char here[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	ck_assert_int_lt(snprintf(cache, sizeof(cache), "%.2000s/cache", here), 2100);
	setenv("XDG_CACHE_HOME", cache, 1);
	for (uint32_t i = 0; i < N_ITEMS; i++)
		items[i] = i * 7;
	ts_error_reset(&err);
	remove_all();
}

/* Write all of it, in two records, and give it its name. */
static bool complete(struct ts_index_file *f)
{
	for (unsigned i = 0; i < 2; i++) {
		if (ts_index_n_records(f) > i)
			continue;
		ts_index_begin(f, 2);
		ts_index_section(f, KIND, 0);
		ts_index_put(f, items, N_ITEMS, sizeof(*items));
		ts_index_section(f, KIND, 1);
		ts_index_put(f, items, i, sizeof(*items));
		if (!ts_index_commit(f, N_ITEMS * (i + 1), i == 1, &err))
			return false;
	}
	return ts_index_publish(f, &err) || (ts_index_use_fallback(f) && ts_index_publish(f, &err));
}

static void check_contents(const struct ts_index_file *f)
{
	ck_assert_uint_eq(ts_index_n_records(f), 2);
	for (unsigned i = 0; i < 2; i++) {
		struct ts_index_arrays a = ts_index_find(f, i, KIND, 0);
		const uint32_t *found = ts_index_take_n(&a, sizeof(*items), N_ITEMS);

		ck_assert_ptr_nonnull(found);
		ck_assert_mem_eq(found, items, sizeof(items));
		/* what Linux maps around a page is one piece, which is given back as a whole */
		ck_assert_uint_eq((uintptr_t)a.record % TS_INDEX_PIECE_LEN, 0);
	}
}

/* Open the index of the trace, or make it.  Returns NULL and the error if neither can be done. */
static struct ts_index_file *open_or_make(const char *wanted)
{
	struct ts_index_places places;
	struct ts_index_file *f = NULL;

	ts_error_reset(&err);
	if (!ts_index_signer(&key.signer, "trace", &err))
		return NULL;
	if (!ts_index_places_init(&places, "trace", wanted)) {
		ts_fail(&err, TS_ENOMEM, TS_NO_OFF, "no places");
		return NULL;
	}
	f = ts_index_places_open(&places, &key, NULL);
	if (!f)
		f = ts_index_places_create(&places, &key, &err);
	if (f && !ts_index_is_finished(f) && !complete(f)) {
		ts_index_close(f);
		f = NULL;
	}
	ts_index_places_fini(&places);
	return f;
}

static void expect_at(const char *wanted, const char *path)
{
	struct ts_index_file *f = open_or_make(wanted);

	ck_assert_msg(f != NULL, "%s", err.text);
	check_contents(f);
	ck_assert_msg(!strncmp(ts_index_path(f), path, strlen(path)), "%s, not %s", ts_index_path(f), path);
	ts_index_close(f);
}

/* ------------------------------------------------------------------------------------------------- places */

START_TEST(an_index_lies_beside_its_trace)
{
	struct ts_index_places p;

	ck_assert(ts_index_places_init(&p, "trace", NULL));
	ck_assert(!ts_index_places_have_any(&p));
	expect_at(NULL, INDEX);
	ck_assert(ts_index_places_have_any(&p));
	expect_at(NULL, INDEX); /* the same again */
	ts_index_places_fini(&p);
	ck_assert_uint_eq(p.n, 0);
}
END_TEST

START_TEST(or_where_the_user_says)
{
	expect_at("elsewhere", "elsewhere");
	ck_assert(!is_there(INDEX));
}
END_TEST

START_TEST(beside_what_cannot_be_written_it_goes_to_the_cache)
{
	ck_assert_int_eq(mkdir(INDEX, 0700), 0); /* not a file */
	expect_at(NULL, cache);
	expect_at(NULL, cache);
}
END_TEST

/* Whoever sends a trace may put there what is no file: the sandbox does not follow links that nobody named. */
START_TEST(beside_what_is_not_a_file_it_goes_to_the_cache)
{
	ck_assert(!symlink(INDEX, INDEX)); /* as a link that is not followed */
	expect_at(NULL, cache);
	ck_assert(!unlink(INDEX) && !mknod(INDEX, S_IFSOCK | 0600, 0));
	expect_at(NULL, cache);
}
END_TEST

START_TEST(without_a_cache_there_is_no_signer_and_one_place)
{
	struct ts_index_places p;

	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "not/absolute", 1);
	ck_assert(!ts_index_signer(&key.signer, "trace", &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_ptr_nonnull(strstr(err.text, "XDG_CACHE_HOME"));
	ck_assert(ts_index_places_init(&p, "trace", NULL));
	ck_assert_uint_eq(p.n, 1);
	ts_index_places_fini(&p);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_not_a_place)
{
	static char path[PATH_MAX + 10];
	struct ts_index_places p;

	memset(path, 'x', sizeof(path) - 1);
	ck_assert(ts_index_places_init(&p, "trace", path));
	ck_assert_uint_eq(p.n, 0);
	ck_assert(!ts_index_places_have_any(&p));
	ck_assert_ptr_null(ts_index_places_create(&p, &key, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ts_index_places_fini(&p);
	path[0] = '/';
	setenv("XDG_CACHE_HOME", path, 1);
	unsetenv("HOME");
	ck_assert(ts_index_places_init(&p, "trace", NULL));
	ck_assert_uint_eq(p.n, 1);
	ts_index_places_fini(&p);
}
END_TEST

START_TEST(a_place_without_room_for_what_is_not_finished_cannot_be_used)
{
	static char path[PATH_MAX];
	struct ts_index_places p;

	memset(path, 'x', PATH_MAX - 3);
	ck_assert(ts_index_places_init(&p, "trace", path));
	ck_assert_uint_eq(p.n, 1);
	ck_assert_ptr_null(ts_index_places_open(&p, &key, NULL));
	ck_assert_uint_eq(p.n, 0); /* nobody knows what is there */
	ts_index_places_fini(&p);
}
END_TEST

START_TEST(a_place_in_what_is_not_a_folder_is_empty)
{
	struct ts_index_places p;

	ck_assert(ts_index_places_init(&p, "trace", "trace/index"));
	ck_assert_ptr_null(ts_index_places_open(&p, &key, NULL));
	ck_assert_uint_eq(p.n, 1);
	ck_assert_ptr_null(ts_index_places_create(&p, &key, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "trace/index"));
	ts_index_places_fini(&p);
}
END_TEST

START_TEST(a_cache_that_is_not_a_folder_has_no_key)
{
	make_file(cache, "not a folder");
	ck_assert(!ts_index_signer(&key.signer, "trace", &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_ptr_nonnull(strstr(err.text, cache));
}
END_TEST

START_TEST(a_trace_that_is_gone_has_one_place)
{
	struct ts_index_places p;

	ck_assert(ts_index_places_init(&p, "no/such/trace", NULL));
	ck_assert_uint_eq(p.n, 1);
	ts_index_places_fini(&p);
}
END_TEST

START_TEST(an_index_of_other_options_keeps_its_name)
{
	uint64_t meaning = key.meaning;

	expect_at(NULL, INDEX);
	key.meaning = 0x123456789;
	expect_at(NULL, INDEX "-23456789");
	expect_at(NULL, INDEX "-23456789");
	key.meaning = meaning;
	expect_at(NULL, INDEX);
	ck_assert(is_there(INDEX "-23456789"));
}
END_TEST

START_TEST(an_index_that_is_not_finished_keeps_its_name_too)
{
	uint64_t meaning = key.meaning;
	struct ts_index_places p;
	struct ts_index_file *f;

	ck_assert(ts_index_signer(&key.signer, "trace", &err));
	ck_assert(ts_index_places_init(&p, "trace", NULL));
	f = ts_index_places_create(&p, &key, &err);
	ck_assert_ptr_nonnull(f);
	ts_index_close(f);
	ts_index_places_fini(&p);
	key.meaning = 0x987654321;
	expect_at(NULL, INDEX "-87654321");
	key.meaning = meaning;
	expect_at(NULL, INDEX);
}
END_TEST

START_TEST(a_section_that_cannot_be_beside_its_index_goes_to_the_cache)
{
	struct ts_index_file *f, *s;

	expect_at(NULL, INDEX);
	f = open_or_make(NULL);
	ck_assert_int_eq(mkdir(INDEX ".find", 0777), 0);
	s = ts_index_create_sibling(f, "find", &err);
	ck_assert_msg(s && complete(s), "%s", err.text);
	ck_assert(!strncmp(ts_index_path(s), cache, strlen(cache)));
	ts_index_close(s);
	s = ts_index_open_sibling(f, "find", &err);
	ck_assert_ptr_nonnull(s);
	check_contents(s);
	ts_index_close(s);
	ts_index_close(f);
}
END_TEST

START_TEST(while_one_is_built_no_second_one_is)
{
	struct ts_index_places p;
	struct ts_index_file *f;

	ck_assert(ts_index_signer(&key.signer, "trace", &err));
	ck_assert(ts_index_places_init(&p, "trace", NULL));
	f = ts_index_places_create(&p, &key, &err);
	ck_assert_ptr_null(ts_index_places_create(&p, &key, &err));
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, INDEX));
	ts_index_close(f);
	ts_index_places_fini(&p);
}
END_TEST

START_TEST(a_bad_index_is_made_again)
{
	expect_at(NULL, INDEX);
	ck_assert_int_eq(truncate(INDEX, 100), 0);
	expect_at(NULL, INDEX);
	make_file(INDEX, "text");
	expect_at(NULL, INDEX);
	key.content++;
	expect_at(NULL, INDEX);
	key.content--;
}
END_TEST

/* ------------------------------------------------------------------------------------- packed recordings */

static void add(struct ts_pack_writer *w, const char *folder, const char *path, const char *file)
{
	struct ts_source *src = ts_source_open(file, &err);

	ck_assert_msg(src && ts_pack_writer_add(w, folder, path, src, &err), "%s", err.text);
	ts_source_close(src);
}

/* A packed recording with an index, and a section of it in a file of its own. */
static struct ts_source *pack(bool has_index)
{
	const struct ts_pack_facts facts = { .mtime = 1 };
	const struct ts_unpack_options opt = { 0 };
	struct ts_pack_writer w;
	struct ts_source *src;

	expect_at(NULL, INDEX);
	make_file("trace.section", "a section");
	ck_assert(ts_pack_writer_init(&w, "packed", &facts, &err));
	add(&w, "trace/", "trace", "trace");
	if (has_index) {
		add(&w, "index", NULL, INDEX);
		add(&w, "index.calls", NULL, "trace.section");
		add(&w, "indexed/", "trace.section", "trace.section");
	}
	ck_assert(ts_pack_writer_finish(&w, &err));
	ts_pack_writer_fini(&w);
	ck_assert_int_eq(unlink(INDEX), 0);
	src = ts_trace_open("packed", &opt, &err);
	ck_assert_msg(src && ts_source_archive(src), "%s", err.text);
	return src;
}

static void adopt(const struct ts_source *src)
{
	struct ts_index_places p;

	ck_assert(ts_index_places_init(&p, "trace", NULL));
	ts_index_places_adopt(&p, src);
	ts_index_places_fini(&p);
}

START_TEST(the_index_of_a_packed_recording_is_unpacked)
{
	struct ts_source *src = pack(true);

	adopt(src);
	ck_assert(is_there(INDEX));
	ck_assert(is_there(INDEX ".calls"));
	expect_at(NULL, INDEX);
	ts_source_close(src);
}
END_TEST

START_TEST(an_index_that_is_there_is_not_replaced_by_a_packed_one)
{
	struct ts_source *src = pack(true);

	make_file(INDEX, "mine");
	adopt(src);
	ck_assert(!is_there(INDEX ".calls"));
	ts_source_close(src);
}
END_TEST

START_TEST(a_packed_index_goes_to_the_cache_if_need_be)
{
	struct ts_source *src = pack(true);
	struct ts_index_places p;

	ck_assert(ts_index_places_init(&p, "trace", NULL));
	free(p.paths[0]);
	p.paths[0] = strdup("no/such/folder/index");
	ts_index_places_adopt(&p, src);
	ck_assert(is_there(p.paths[1]));
	free(p.paths[1]);
	p.paths[1] = strdup("another/folder/index"); /* nowhere */
	ts_index_places_adopt(&p, src);
	ck_assert(!is_there(p.paths[1]));
	ts_index_places_fini(&p);
	ts_source_close(src);
}
END_TEST

START_TEST(without_a_packed_index_nothing_is_unpacked)
{
	struct ts_source *src = pack(false), *plain;

	adopt(src);
	ck_assert(!is_there(INDEX));
	ts_source_close(src);
	plain = ts_source_open("trace", &err);
	adopt(plain);
	ck_assert(!is_there(INDEX));
	ts_source_close(plain);
}
END_TEST

/* ------------------------------------------------------------------------------------------- what fails */

/* The file beside the trace, 0: there is none. */
static ino_t index_file(void)
{
	struct stat st;

	return stat(INDEX, &st) == 0 ? st.st_ino : 0;
}

/*
 * One that was made or opened is good, or there is a reason; one that was there before is still there.  The
 * next one, without a failure, is as good.
 */
static void judge(struct ts_index_file *f, const char *what, uint64_t n, ino_t before)
{
	if (f)
		check_contents(f);
	else
		ck_assert_msg(err.code != TS_OK && *err.text, "%s %lu: no reason", what, (unsigned long)n);
	ts_index_close(f);
	ck_assert_msg(!before || index_file() == before, "%s %lu: it was replaced", what, (unsigned long)n);
	f = open_or_make(NULL);
	ck_assert_msg(f != NULL, "after %s %lu: %s", what, (unsigned long)n, err.text);
	check_contents(f);
	ts_index_close(f);
}

static void fail_each_call(int error, bool is_new)
{
	uint64_t n_all = 1;

	ts_log_set_level(TS_LOG_ERROR);
	for (uint64_t n = 0; n < n_all; n++) {
		struct ts_index_file *f;
		ino_t before;

		if (is_new)
			remove_all();
		before = index_file();
		bad_calls_start(n, error);
		f = open_or_make(NULL);
		n_all = bad_calls_end();
		judge(f, strerror(error), n, before);
		n_all += n_all == n + 1; /* it may have ended early */
	}
}

/* Of them, the first two may befall a file that is read. */
static const int errors[] = { EIO, ENOMEM, ENOSPC };

START_TEST(every_call_may_fail_while_an_index_is_made)
{
	fail_each_call(errors[_i], true);
}
END_TEST

START_TEST(every_call_may_fail_while_an_index_is_opened)
{
	expect_at(NULL, INDEX);
	fail_each_call(errors[_i], false);
}
END_TEST

static void fail_each_allocation(bool is_new)
{
	uint64_t n_all = 1;
	int64_t n_lost;

	ts_log_set_level(TS_LOG_ERROR);
	for (uint64_t n = 0; n <= n_all; n++) {
		struct ts_index_file *f;
		ino_t before;

		if (is_new)
			remove_all();
		before = index_file();
		no_memory_start(n, n + 1);
		f = open_or_make(NULL);
		n_all = no_memory_end(&n_lost);
		judge(f, "allocation", n, before);
	}
}

START_TEST(every_allocation_may_fail)
{
	fail_each_allocation(true);
	expect_at(NULL, INDEX);
	fail_each_allocation(false);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		an_index_lies_beside_its_trace,
		or_where_the_user_says,
		beside_what_cannot_be_written_it_goes_to_the_cache,
		beside_what_is_not_a_file_it_goes_to_the_cache,
		without_a_cache_there_is_no_signer_and_one_place,
		a_path_that_is_too_long_is_not_a_place,
		a_place_without_room_for_what_is_not_finished_cannot_be_used,
		a_place_in_what_is_not_a_folder_is_empty,
		a_cache_that_is_not_a_folder_has_no_key,
		a_trace_that_is_gone_has_one_place,
		an_index_of_other_options_keeps_its_name,
		an_index_that_is_not_finished_keeps_its_name_too,
		a_section_that_cannot_be_beside_its_index_goes_to_the_cache,
		while_one_is_built_no_second_one_is,
		a_bad_index_is_made_again,
		the_index_of_a_packed_recording_is_unpacked,
		an_index_that_is_there_is_not_replaced_by_a_packed_one,
		a_packed_index_goes_to_the_cache_if_need_be,
		without_a_packed_index_nothing_is_unpacked,
		every_allocation_may_fail,
	};
	Suite *suite = unit_suite_of("index_place", setup, NULL, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *t = tcase_create("calls");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, every_call_may_fail_while_an_index_is_made, 0, 3);
	tcase_add_loop_test(t, every_call_may_fail_while_an_index_is_opened, 0, 2);
	tcase_set_timeout(t, 300);
	suite_add_tcase(suite, t);
	return suite;
}
