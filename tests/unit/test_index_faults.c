/* SPDX-License-Identifier: MIT */
/*
 * Memory, reads and writes that fail while an index is built, loaded, continued, or completed by a section:
 * the result is the one without failures, or an error with a sentence; and what is on the disk is whole, or can be
 * continued, so that the next one has the result without failures.
 *
 * Built with tiny chunks and segments, so that a short recording makes many records.
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bad_calls.h"
#include "no_memory.h"
#include "script.h"
#include "src/base/log.h"
#include "src/query/query.h"
#include "src/query/search/find_filter.h"
#include "src/timeline/timeline.h"

#define PATH    "trace.tsindex"
#define PART    PATH ".part"
#define FOUND   PATH ".find"
#define REFUGE  "elsewhere.tsindex"
#define SEED    5
#define N_STEPS 80

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };

/* ------------------------------------------------------------------------------------------ what is tried */

/* What an attempt came to; nothing of it allocates. */
static struct result {
	struct ts_error err; /* of what was asked, or of the file that could not be written */
	uint64_t n_steps;
	uint64_t state; /* hash of registers and memory at the end */
} good, now;

static uint64_t hash(uint64_t h, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Returns false if something cannot be had. */
static bool ask(struct ts_query *q, struct result *out)
{
	static uint8_t bytes[2 * 16384];
	uint64_t h = 14695981039346656037u;
	uint32_t g_len = ts_query_regset(q)->g_len;

	for (uint32_t t = 0; t < ts_query_n_threads(q); t++) {
		if (!ts_query_regs(q, ts_query_end(q), t, bytes, bytes + g_len, &out->err))
			return false;
		h = hash(h, bytes, 2 * g_len);
	}
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *m = &script_arenas[i];
		size_t len = (size_t)(m->last - m->first) + 1;

		if (!ts_query_mem(q, ts_query_end(q), 0, m->first, len, bytes, bytes + len, &out->err))
			return false;
		h = hash(h, bytes, 2 * len);
	}
	out->state = h;
	out->n_steps = ts_query_n_steps(q);
	return true;
}

static void grow_and_ask(struct ts_timeline *tl, struct result *out)
{
	struct ts_query *q;

	if (ts_timeline_grow(tl, UINT64_MAX, &out->err) != TS_END)
		return;
	if (tl->damage.code != TS_OK || tl->file_error.code != TS_OK)
		out->err = tl->damage.code != TS_OK ? tl->damage : tl->file_error;
	q = ts_query_new(tl, &out->err);
	if (q)
		ask(q, out);
	ts_query_free(q);
}

static bool has_refuge;

/* Build the index, go on with what there is of it at PART, or load it. */
static void use(struct script *s, struct result *out)
{
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &out->err);
	struct ts_index_file *f = NULL;

	if (tl) {
		ts_timeline_make_digests(tl);
		f = ts_index_open(PATH, &the_key, &out->err);
		if (!f) {
			ts_error_reset(&out->err);
			f = ts_index_create(PATH, &the_key, &out->err);
		}
		if (f && has_refuge)
			ts_index_set_fallback(f, REFUGE);
	}
	if (f && ts_timeline_use_file(tl, f, &out->err))
		grow_and_ask(tl, out);
	ts_timeline_free(tl);
}

/* Sketches of values, beside the index that is there. */
static void complete(struct script *s, struct result *out)
{
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &out->err);
	struct ts_index_file *f = tl ? ts_index_open(PATH, &the_key, &out->err) : NULL;
	struct ts_query *q = NULL;
	enum ts_next need = TS_FAIL;

	if (tl)
		ts_timeline_make_digests(tl);
	if (f && ts_timeline_use_file(tl, f, &out->err))
		q = ts_query_new(tl, &out->err);
	if (q) {
		do {
			need = ts_query_need_values(q, N_STEPS, &out->err);
		} while (need == TS_MORE);
	}
	if (need == TS_END)
		ask(q, out);
	ts_query_free(q);
	ts_timeline_free(tl);
}

/* --------------------------------------------------------------------------------------------- the judgement */

struct bytes {
	uint8_t *p;
	size_t len;
};

static struct bytes read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bytes b = { malloc(1 << 20), 0 };

	ck_assert_ptr_nonnull(b.p);
	if (f) {
		b.len = fread(b.p, 1, 1 << 20, f);
		fclose(f);
	}
	return b;
}

static void read_again(struct bytes *b, const char *path)
{
	free(b->p);
	*b = read_file(path);
}

static void write_file(const char *path, const struct bytes *b)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(b->p, 1, b->len, f), b->len);
	ck_assert_int_eq(fclose(f), 0);
}

static void expect_file(const char *path, const struct bytes *want, const char *what, uint64_t n)
{
	struct bytes got = read_file(path);

	if (got.len != want->len || memcmp(got.p, want->p, want->len))
		ck_abort_msg("%s %lu: %s is not the one without failures", what, (unsigned long)n, path);
	free(got.p);
}

struct scene {
	void (*act)(struct script *s, struct result *out);
	bool is_begun, is_there; /* half of the index; the index */
};
static const struct scene scenes[] = {
	{ .act = use },
	{ .act = use, .is_begun = true },
	{ .act = use, .is_there = true },
	{ .act = complete, .is_there = true },
};
#define N_SCENES ((int)(sizeof(scenes) / sizeof(scenes[0])))

static struct bytes whole, half, found;

/* The files as the scene finds them. */
static void set(const struct scene *scene)
{
	remove(PATH);
	remove(PART);
	remove(FOUND);
	remove(REFUGE);
	if (scene->is_begun)
		write_file(PART, &half);
	if (scene->is_there)
		write_file(PATH, &whole);
}

static void act(const struct scene *scene, struct script *s, struct result *out)
{
	memset(out, 0, sizeof(*out));
	scene->act(s, out);
}

static bool is_good(void)
{
	return now.n_steps == good.n_steps && now.state == good.state;
}

/* Without failures the result is the good one.  Returns how many steps were read from the recording. */
static uint64_t try_again(const struct scene *scene, const char *what, uint64_t n)
{
	struct script *s = script_random_new(SEED, N_STEPS);
	uint64_t n_reads;

	act(scene, s, &now);
	if (now.err.code != TS_OK || !is_good())
		ck_abort_msg("%s %lu: afterwards another result, and %s: %s", what, (unsigned long)n,
			     unit_code_name(now.err.code), now.err.text);
	n_reads = s->n_reads;
	script_free(s);
	return n_reads;
}

/* An attempt in which something failed, one after it, and one with the file that this left. */
static void judge(const struct scene *scene, const char *what, uint64_t n)
{

	if (!is_good() && now.err.code == TS_OK)
		ck_abort_msg("%s %lu: another result without an error", what, (unsigned long)n);
	if (!is_good() && !strchr(now.err.text, ' '))
		ck_abort_msg("%s %lu: no sentence: %s", what, (unsigned long)n, now.err.text);
	try_again(scene, what, n);
	expect_file(PATH, &whole, what, n);
	ck_assert_uint_eq(try_again(&scenes[2], what, n), 0);
	if (scene->act == complete)
		expect_file(FOUND, &found, what, n);
}

static void prepare(void)
{
	struct script *s = script_random_new(SEED, N_STEPS);

	ts_log_set_level(TS_LOG_ERROR);
	set(&scenes[0]);
	act(&scenes[0], s, &good);
	ck_assert_msg(good.err.code == TS_OK && good.n_steps == N_STEPS, "%s", good.err.text);
	read_again(&whole, PATH);
	script_free(s);
	s = script_random_new(SEED, N_STEPS);
	act(&scenes[3], s, &now);
	ck_assert_msg(now.err.code == TS_OK && now.state == good.state, "%s", now.err.text);
	read_again(&found, FOUND);
	ck_assert_uint_gt(found.len, 4096);
	half = (struct bytes){ whole.p, whole.len / 2 };
	script_free(s);
}

START_TEST(every_allocation_may_fail)
{
	const struct scene *scene = &scenes[_i];
	uint64_t n_all = 1;
	int64_t n_lost;

	prepare();
	for (uint64_t n = 0; n <= n_all; n++) {
		struct script *s = script_random_new(SEED, N_STEPS);

		set(scene);
		no_memory_start(n, n + 1);
		act(scene, s, &now);
		n_all = no_memory_end(&n_lost);
		script_free(s);
		ck_assert(now.err.code == TS_OK || now.err.code == TS_ENOMEM);
		judge(scene, "allocation", n);
	}
	ck_assert_uint_gt(n_all, 20);
}
END_TEST

START_TEST(every_call_may_fail)
{
	static const int errors[] = { EIO, ENOSPC };
	const struct scene *scene = &scenes[_i / 2];
	uint64_t n_all = 1;

	prepare();
	for (uint64_t n = 0; n <= n_all; n++) {
		struct script *s = script_random_new(SEED, N_STEPS);

		set(scene);
		bad_calls_start(n, errors[_i % 2]);
		act(scene, s, &now);
		n_all = bad_calls_end();
		script_free(s);
		judge(scene, strerror(errors[_i % 2]), n);
	}
	ck_assert_uint_gt(n_all, 5);
}
END_TEST

/* The disk is full at call @n, and call @then fails with @error.  Returns whether the index went to its refuge. */
static bool go_elsewhere(uint64_t n, uint64_t then, int error, uint64_t *n_all)
{
	struct script *s = script_random_new(SEED, N_STEPS);
	bool is_elsewhere;

	set(&scenes[0]);
	bad_calls_start_two(n, ENOSPC, then, error);
	act(&scenes[0], s, &now);
	*n_all = bad_calls_end();
	script_free(s);
	is_elsewhere = access(REFUGE, F_OK) == 0;
	if (is_elsewhere)
		expect_file(REFUGE, &whole, "full disk, then failure", then);
	ck_assert_int_ne(access(REFUGE ".part", F_OK), 0);
	has_refuge = false;
	judge(&scenes[0], "full disk", n);
	has_refuge = true;
	return is_elsewhere;
}

START_TEST(a_refuge_may_fail_too)
{
	static const int errors[] = { EIO, ENOSPC };
	uint64_t n_all = 1, n_then;
	unsigned n_refuges = 0, n_failed = 0;

	prepare();
	has_refuge = true;
	for (uint64_t n = 0; n <= n_all; n++) {
		if (!go_elsewhere(n, UINT64_MAX, 0, &n_all))
			continue;
		if (n_refuges++ % 4) /* the same calls follow each */
			continue;
		for (uint64_t then = n + 1; then < n + 16; then++)
			n_failed += !go_elsewhere(n, then, errors[_i], &n_then);
	}
	has_refuge = false;
	ck_assert_uint_gt(n_refuges, 2);
	ck_assert_uint_gt(n_failed, n_refuges / 4);
}
END_TEST

START_TEST(an_index_that_is_continued_has_the_bytes_of_one_made_at_once)
{
	struct script *s;

	ts_log_set_level(TS_LOG_ERROR);
	set(&scenes[0]);
	s = script_random_new((uint64_t)_i, N_STEPS);
	act(&scenes[0], s, &good);
	script_free(s);
	read_again(&whole, PATH);
	for (unsigned part = 1; part < 20; part++) {
		/* the last ones lack some of the directory, or all of it */
		half = (struct bytes){ whole.p, part < 16 ? whole.len * part / 16 : whole.len - (part - 16) * 40 };
		set(&scenes[1]);
		s = script_random_new((uint64_t)_i, N_STEPS);
		act(&scenes[1], s, &now);
		script_free(s);
		ck_assert_int_eq(now.err.code, TS_OK);
		expect_file(PATH, &whole, "part of the file:", part);
	}
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("index_faults");
	TCase *t = tcase_create("index_faults");

	tcase_add_loop_test(t, an_index_that_is_continued_has_the_bytes_of_one_made_at_once, 1, 20);
	tcase_add_loop_test(t, every_allocation_may_fail, 0, N_SCENES);
	tcase_add_loop_test(t, every_call_may_fail, 0, 2 * N_SCENES);
	tcase_add_loop_test(t, a_refuge_may_fail_too, 0, 2);
	tcase_set_timeout(t, 300);
	suite_add_tcase(s, t);
	return s;
}
