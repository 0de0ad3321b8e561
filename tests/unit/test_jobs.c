/* SPDX-License-Identifier: MIT */
/*
 * The index of a recording is the same, byte for byte, however many threads build it, and whatever happens to
 * them.
 *
 * Chunks, segments, and the pieces that are read ahead are tiny here, so that short recordings have many of
 * each.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "sample.h"
#include "src/model/model.h"
#include "src/model/part.h"
#include "src/source/unpack.h"
#include "src/trace/chunk.h"

#define INDEX "jobs.tsindex"

static const unsigned all_jobs[] = { 1, 2, 3, 7 };
#define N_JOBS (sizeof(all_jobs) / sizeof(all_jobs[0]))

/* Where nothing is asked before all has been read less is done, but the index is the same. */
static bool is_whole;

static struct ts_source *src;
static struct ts_error err;

/*
 * Threads that were started; those after the first n_allowed are refused, as a system does that has too many.
 */
static unsigned n_threads, n_allowed;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user)
{
	if (__atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED) >= n_allowed)
		return EAGAIN;
	return __real_pthread_create(thread, attr, run, user);
}

static void setup(void)
{
	char dir[4096];

	ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
	setenv("XDG_CACHE_HOME", dir, 1);
	ts_error_reset(&err);
	n_threads = 0;
	n_allowed = UINT32_MAX;
	is_whole = false;
}

static void open_sample(const char *name)
{
	const struct ts_unpack_options unpack = { 0 };

	src = ts_trace_open(unit_data_path(name), &unpack, &err);
	ck_assert_msg(src, "%s: %s", name, err.text);
}

static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *why)
{
	const struct ts_loader_options options = { .like = like };
	const struct ts_loader *loader = ts_loader_probe(src, why);

	(void)user;
	return loader ? ts_loader_open(loader, src, &options, why) : NULL;
}

static const struct ts_model_options options = {
	.trace = "sample",
	.load = load,
	.index = { .path = INDEX },
	.max_memory = UINT64_MAX,
	.is_compared = true,
};

static struct ts_model *open_model(unsigned n_jobs)
{
	struct ts_model_options opt = options;
	struct ts_model *m;

	opt.n_jobs = n_jobs;
	opt.is_whole = is_whole;
	m = ts_model_new(&opt, &err);
	ck_assert_ptr_nonnull(m);
	ck_assert_msg(ts_model_open(m, src, &err), "%s", err.text);
	return m;
}

/* Read about @n_steps at a time, at most @max. */
static void read_steps(struct ts_model *m, uint64_t n_steps, uint64_t max)
{
	enum ts_next next = TS_ITEM;

	while (next == TS_ITEM && ts_model_n_read(m) < max)
		next = ts_model_grow(m, n_steps, &err);
	ck_assert_msg(next != TS_FAIL, "%s", err.text);
}

/* The index file, which is removed. */
static struct ts_buf take_index(void)
{
	struct ts_source *f = ts_source_open(INDEX, &err);
	struct ts_buf b;
	size_t len = f ? (size_t)ts_source_len(f) : 0;
	uint8_t *bytes;

	ck_assert_msg(len, "there is no index file: %s", err.text);
	ts_buf_init(&b);
	bytes = ts_buf_add(&b, len);
	ck_assert(bytes && ts_source_read_all(f, 0, bytes, len, &err));
	ts_source_close(f);
	remove(INDEX);
	return b;
}

static struct ts_buf build(unsigned n_jobs)
{
	struct ts_model *m = open_model(n_jobs);

	read_steps(m, 1000, UINT64_MAX);
	ts_model_free(m);
	return take_index();
}

static void check_same(const struct ts_buf *got, const struct ts_buf *want, const char *name, unsigned n_jobs)
{
	size_t i = 0;

	while (i < got->len && i < want->len && got->data[i] == want->data[i])
		i++;
	ck_assert_msg(got->len == want->len && i == want->len,
		      "%s: with %u jobs the index has %zu bytes, with 1 %zu; they differ from byte %zu on", name, n_jobs,
		      got->len, want->len, i);
}

static bool has_index(const char *name)
{
	return strncmp(name, "tfile", 5) != 0; /* what a trace file of gdb holds is its frames */
}

START_TEST(any_number_of_jobs_builds_the_same_bytes)
{
	const char *name = _i < sample_n_names ? sample_names[_i] : "text/example";
	struct ts_buf want;

	if (!has_index(name))
		return;
	open_sample(name);
	want = build(1);
	ck_assert_uint_eq(n_threads, 0);
	for (unsigned i = 1; i < N_JOBS; i++) {
		struct ts_buf got;

		is_whole = i % 2;
		got = build(all_jobs[i]);
		check_same(&got, &want, name, all_jobs[i]);
		ck_assert_uint_gt(n_threads, 0);
		n_threads = 0;
		ts_buf_fini(&got);
	}
	ts_buf_fini(&want);
	ts_source_close(src);
}
END_TEST

#define SAMPLE "x64dbg-samples/list64.trace64.gz"

START_TEST(where_threads_are_refused_the_others_build_the_same_bytes)
{
	struct ts_buf want;

	open_sample(SAMPLE);
	want = build(1);
	for (n_allowed = 0; n_allowed < 6; n_allowed++) {
		struct ts_buf got;

		n_threads = 0;
		is_whole = n_allowed % 2;
		got = build(all_jobs[2 + _i]);
		check_same(&got, &want, "threads refused", n_allowed);
		ck_assert_uint_gt(n_threads, n_allowed);
		ts_buf_fini(&got);
	}
	ts_buf_fini(&want);
	ts_source_close(src);
}
END_TEST

/* Decode part @i of @n, as another machine would. */
static void decode_part(uint32_t i, uint32_t n)
{
	const struct ts_part_number number = { i, n };
	enum ts_next next = TS_ITEM;
	struct ts_part *p;

	ts_error_reset(&err);
	p = ts_part_new(&options, src, &number, &err);
	ck_assert_msg(p, "%s", err.text);
	while (next == TS_ITEM)
		next = ts_part_run(p, &err);
	ck_assert_msg(next == TS_END && ts_part_facts(p).path, "%s", err.text);
	ts_part_free(p);
}

/* A model that is to be built of parts; whether they can be is in @err. */
static struct ts_model *open_merged(void)
{
	struct ts_model_options opt = options;
	struct ts_model *m;

	opt.index.is_merged = true;
	opt.n_jobs = 1;
	m = ts_model_new(&opt, &err);
	ck_assert_ptr_nonnull(m);
	ts_error_reset(&err);
	ts_model_open(m, src, &err);
	return m;
}

#define N_ENTERED 4
static const char *const entered[N_ENTERED] = { "x64dbg-samples/list64.trace64.gz", "x64dbg-samples/fib32.trace32.gz",
						"x64dbg-samples/fib64.trace64.gz",
						"x64dbg-samples/threads-flagless.trace64.gz" };

START_TEST(parts_that_were_decoded_apart_build_the_same_bytes)
{
	static const uint32_t ns[] = { 1, 2, 7, 40 };
	struct ts_buf want;

	open_sample(entered[_i]);
	want = build(1);
	for (size_t at = 0; at < sizeof(ns) / sizeof(ns[0]); at++) {
		struct ts_model *m;
		struct ts_buf got;

		for (uint32_t i = ns[at]; i; i--)
			decode_part(i, ns[at]);
		m = open_merged();
		ck_assert_msg(err.code == TS_OK, "%s", err.text);
		read_steps(m, 1000, UINT64_MAX);
		ts_model_free(m);
		got = take_index();
		check_same(&got, &want, entered[_i], ns[at]);
		ck_assert_msg(access(INDEX ".segment-1", F_OK) < 0, "the parts are still there");
		ts_buf_fini(&got);
	}
	ts_buf_fini(&want);
	ts_source_close(src);
}
END_TEST

static void check_not_merged(const char *why)
{
	ts_model_free(open_merged());
	ck_assert_msg(err.code != TS_OK && strstr(err.text, why), "'%s', not '%s'", err.text, why);
	ck_assert_msg(access(INDEX, F_OK) < 0, "there is an index");
}

START_TEST(parts_that_do_not_fit_are_refused)
{
	open_sample(SAMPLE);
	for (uint32_t i = 1; i <= 3; i++)
		decode_part(i, 3);
	remove(INDEX ".segment-2");
	check_not_merged("no such file");
	ck_assert(!rename(INDEX ".segment-3", INDEX ".segment-2"));
	decode_part(3, 3);
	check_not_merged("it is segment 3/3, not 2/3");
	decode_part(2, 4);
	check_not_merged("it is segment 2/4, not 2/3");
	ts_source_close(src);
}
END_TEST

/* A byte of a part is another one: nothing is built of it. */
START_TEST(a_damaged_part_builds_nothing)
{
	struct ts_model *m;
	FILE *f;
	int c;

	open_sample(SAMPLE);
	decode_part(1, 2);
	decode_part(2, 2);
	f = fopen(INDEX ".segment-2", "r+");
	ck_assert(f && !fseek(f, 4096 + 2000, SEEK_SET));
	c = fgetc(f);
	ck_assert(!fseek(f, -1, SEEK_CUR) && fputc(c ^ 1, f) != EOF && !fclose(f));
	m = open_merged();
	while (err.code == TS_OK && ts_model_grow(m, 1000, &err) == TS_ITEM)
		;
	ts_model_free(m);
	ck_assert_msg(access(INDEX, F_OK) < 0, "there is an index");
	remove(INDEX ".part");
	ts_source_close(src);
}
END_TEST

/*
 * Pass @n steps, by reading or skipping them; @point gets the decode point there.  Returns false if that
 * failed.
 */
static bool pass_steps(struct ts_reader *r, uint64_t n, bool is_read, struct ts_buf *point)
{
	struct ts_steps ignored;
	bool done = is_read || r->ops->skip(r, n);

	ts_steps_init(&ignored);
	for (; is_read && done && n; n--) {
		ts_steps_reset(&ignored);
		done = ts_reader_next(r, &ignored, &err) == TS_ITEM;
	}
	ts_steps_fini(&ignored);
	ts_buf_reset(point);
	ts_reader_save(r, point);
	return done;
}

/* Stretches of every length are passed from where the last one ended. */
START_TEST(skipping_leads_where_reading_does)
{
	static const char *const names[] = { "x64dbg-samples/list64.trace64.gz", "x64dbg-samples/fib32.trace32.gz",
					     "x64dbg-samples/fib64.trace64.gz" };
	struct ts_recording *rec;
	struct ts_reader *reads, *skips;
	struct ts_buf want, got;
	unsigned n_same = 0;

	open_sample(names[_i]);
	rec = load(NULL, NULL, &err);
	reads = rec->ops->reader(rec, &err);
	skips = rec->ops->reader(rec, &err);
	ck_assert(reads && skips);
	ts_buf_init(&want);
	ts_buf_init(&got);
	for (uint64_t n = 1; pass_steps(reads, n, true, &want); n++) {
		if (pass_steps(skips, n, false, &got)) {
			ck_assert_uint_eq(got.len, want.len);
			ck_assert(!memcmp(got.data, want.data, want.len));
			n_same++;
		} else {
			ck_assert(ts_reader_resume(skips, want.data, want.len, &err));
		}
	}
	ck_assert_uint_gt(n_same, 10);
	ts_buf_fini(&want);
	ts_buf_fini(&got);
	ts_reader_close(reads);
	ts_reader_close(skips);
	ts_recording_close(rec);
	ts_source_close(src);
}
END_TEST

/* Built by @first jobs up to the middle of segment @segment, by @then from there. */
static struct ts_buf build_twice(unsigned segment, unsigned first, unsigned then)
{
	struct ts_model *m = open_model(first);

	read_steps(m, TS_CHUNK_STEPS, (segment * TS_SEGMENT_CHUNKS + TS_SEGMENT_CHUNKS / 2) * TS_CHUNK_STEPS);
	ts_model_free(m);
	return build(then);
}

START_TEST(what_was_interrupted_is_finished_with_another_number_of_jobs)
{
	open_sample(SAMPLE);
	for (unsigned segment = 1; segment < 12; segment += 2) {
		struct ts_buf want = build_twice(segment, 1, 1), one = build_twice(segment, 7, 1),
			      other = build_twice(segment, 1, 7);

		check_same(&one, &want, "interrupted with 7 jobs", 1);
		check_same(&other, &want, "interrupted with 1 job", 7);
		ts_buf_fini(&want);
		ts_buf_fini(&one);
		ts_buf_fini(&other);
	}
	ts_source_close(src);
}
END_TEST

/* The sample with bytes overwritten and its end missing. */
static uint8_t *open_damaged(const char *name)
{
	struct ts_source *whole;
	uint8_t *bytes;
	uint64_t len;

	open_sample(name);
	whole = src;
	len = ts_source_len(whole);
	bytes = malloc(len);
	ck_assert(bytes && ts_source_read_all(whole, 0, bytes, len, &err));
	ts_source_close(whole);
	memset(bytes + len / 16 * 15, 0xff, len / 32);
	src = ts_source_from_memory(bytes, len - len / 64, "damaged", &err);
	ck_assert_ptr_nonnull(src);
	return bytes;
}

START_TEST(damage_is_found_at_the_same_place)
{
	static const char *const names[] = {
		"usercorn/x86_walk.ucir", "bap-samples/tw-x86_64.frames.gz", "x64dbg-samples/list64.trace64.gz",
		"tenet-samples/pin-walk64.log.gz",
	};
	uint8_t *bytes = open_damaged(names[_i]);
	struct ts_buf want = build(1);

	for (unsigned i = 1; i < N_JOBS; i++) {
		struct ts_buf got = build(all_jobs[i]);

		check_same(&got, &want, names[_i], all_jobs[i]);
		ts_buf_fini(&got);
	}
	ts_buf_fini(&want);
	ts_source_close(src);
	free(bytes);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("jobs");
	TCase *tc = tcase_create("jobs");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, any_number_of_jobs_builds_the_same_bytes, 0, sample_n_names + 1);
	tcase_add_loop_test(tc, damage_is_found_at_the_same_place, 0, 4);
	tcase_add_loop_test(tc, where_threads_are_refused_the_others_build_the_same_bytes, 0, 2);
	tcase_add_loop_test(tc, parts_that_were_decoded_apart_build_the_same_bytes, 0, N_ENTERED);
	tcase_add_test(tc, parts_that_do_not_fit_are_refused);
	tcase_add_test(tc, a_damaged_part_builds_nothing);
	tcase_add_loop_test(tc, skipping_leads_where_reading_does, 0, 3);
	tcase_add_test(tc, what_was_interrupted_is_finished_with_another_number_of_jobs);
	suite_add_tcase(s, tc);
	return s;
}
