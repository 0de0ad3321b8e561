/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out at any moment: building a small timeline and asking it fails with TS_ENOMEM, or
 * succeeds; nothing crashes, nothing is lost.
 */
#include "unit.h"

#include "machine.h"
#include "no_memory.h"
#include "script.h"
#include "src/object/image.h"
#include "src/query/paging.h"
#include "src/query/search/search.h"
#include "src/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------------------------ what is tried */

#define N_STEPS 300

static struct script *s;

static bool search_from(struct ts_query *q, uint64_t pos, uint64_t limit, struct ts_error *err)
{
	struct ts_watch watches[] = { { 0, 0x1000 - 8, 16, TS_WATCH_ACCESS },
				      { 0, 0x5000, 1, TS_WATCH_WRITE } };
	struct ts_stops stops = { .watches = watches, .n_watches = 2, .has_syscalls = true };
	struct ts_search search;
	struct ts_found found;
	enum ts_next next;

	stops.is_virtual = ts_paging_is_known(q);
	if (!ts_search_init(&search, q, &stops, pos, limit, err))
		return false;
	next = ts_search_run(&search, UINT32_MAX, &found, err);
	ts_search_fini(&search);
	return next == TS_ITEM;
}

/* A few questions of each kind. */
static bool ask(struct ts_query *q, struct ts_error *err)
{
	uint8_t data[1024], known[1024];

	for (uint64_t pos = 0; pos <= N_STEPS; pos += 50) {
		if (!ts_query_regs(q, pos, 0, data, known, err) ||
		    !ts_query_mem(q, pos, 0, 0x1000 - 50, 100, data, known, err) ||
		    !search_from(q, pos, pos < N_STEPS / 2 ? N_STEPS : 0, err))
			return false;
	}
	return true;
}

static bool build(struct ts_timeline *tl, struct ts_error *err)
{
	enum ts_next grown;

	do
		grown = ts_timeline_grow(tl, 100, err);
	while (grown == TS_MORE);
	/* what was read before can be asked about */
	if (grown == TS_END && tl->damage.code == TS_ENOMEM) {
		*err = tl->damage;
		return false;
	}
	return grown == TS_END;
}

static bool lay_image(struct ts_image *img, struct ts_error *err)
{
	struct ts_source *src = ts_source_from_memory("image", 5, "image", err);
	uint32_t source = src ? ts_image_add_source(img, src) : UINT32_MAX;

	if (source == UINT32_MAX)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for an image");
	img->sysroot = ".";
	return ts_image_add(img, 0, 0x1000, 5, source, 0, err);
}

/*
 * From an image to the last question, or to the first failure; *is_good gets whether asking again helps, and
 * all is given back.
 */
static bool try_all(struct ts_error *err, bool *is_good)
{
	struct ts_error later = { 0 };
	struct ts_timeline *tl = NULL;
	struct ts_query *q = NULL;
	struct ts_image img;
	bool done;

	ts_error_reset(err);
	ts_image_init(&img);
	done = lay_image(&img, err) && (tl = ts_timeline_new(&s->rec, &img, err)) && build(tl, err) &&
	       (q = ts_query_new(tl, err)) && ask(q, err);
	*is_good = done || !q || ask(q, &later);
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_image_fini(&img);
	return done;
}

/* The same with the allocations [from, until) failing.  Returns how many there were. */
static uint64_t try_without(uint64_t from, uint64_t until)
{
	struct ts_error err;
	bool done, is_good;
	uint64_t n_calls;
	int64_t n_lost;

	no_memory_start(from, until);
	done = try_all(&err, &is_good);
	n_calls = no_memory_end(&n_lost);
	if (n_lost)
		ck_abort_msg("allocation %lu fails: %ld are lost", (long)from, (long)n_lost);
	if (err.code != (done ? TS_OK : TS_ENOMEM))
		ck_abort_msg("allocation %lu fails: %s: %s", (long)from, unit_code_name(err.code), err.text);
	if (until == from + 1 && !is_good)
		ck_abort_msg("allocation %lu fails: and the next question", (long)from);
	return n_calls;
}

/* What the recordings themselves allocate is done before. */
static void setup(void)
{
	FILE *f;

	mkdir("lib", 0777);
	f = fopen(SCRIPT_FILE, "wb");
	ck_assert_ptr_nonnull(f);
	fputs("mapped", f);
	fclose(f);
}

/* A machine whose processes, modes and pages change all the time. */
static struct script *make_machine(void)
{
	struct script *m = machine_new(40);
	struct ts_steps *to = &m->rec.initial;

	machine_long_mode(m, 0x10000);
	for (unsigned level = 0; level < 3; level++)
		machine_put(to, 0x10000 + 0x1000 * level, (0x11000 + 0x1000 * level) | PTE_P, 8);
	for (unsigned page = 0; page < 6; page++)
		machine_put(to, 0x13000 + 8 * page, (0x20000 + 0x1000 * page) | PTE_P, 8);
	for (unsigned i = 0; i < N_STEPS; i++) {
		machine_put(&m->steps, 0x20ff8, i, 8);
		if (i % 7 == 0)
			machine_put(&m->steps, 0x13000, (0x20000 + 0x1000 * (i % 3)) | PTE_P, 8);
		if (i % 5 == 0)
			machine_reg(&m->steps, m, "cr3", 0x10000 + i % 64);
		machine_step(m, 0x401000);
	}
	return m;
}

/* Several recordings, so that there is some of everything. */
static void each_script(void (*check)(void))
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		s = script_random_new(seed, N_STEPS);
		s->rec.n_threads = s->n_threads;
		check();
		script_free(s);
	}
	s = make_machine();
	check();
	script_free(s);
}

static uint64_t count_allocations(void)
{
	uint64_t n_calls = try_without(UINT64_MAX, UINT64_MAX);

	ck_assert_uint_gt(n_calls, 100);
	return n_calls;
}

static void fail_each(void)
{
	uint64_t n_all = count_allocations();

	for (uint64_t n = 0; n < n_all; n++)
		try_without(n, n + 1);
}

START_TEST(any_one_allocation_may_fail)
{
	each_script(fail_each);
}
END_TEST

static void fail_from_each(void)
{
	uint64_t n_all = count_allocations();

	for (uint64_t n = 0; n < n_all; n++)
		try_without(n, UINT64_MAX);
}

START_TEST(memory_may_be_gone_for_good_at_any_moment)
{
	each_script(fail_from_each);
}
END_TEST

/* ------------------------------------------------------------------------------ an index file is read */

#define INDEX_PATH "trace.tsindex"
#define N_PLACES   7

static const struct ts_index_key index_key = { 1, 2, 3, 4, 5, { .id = 6 }, 0, 0 };

/* What is asked of a timeline, and what it answers. */
struct answers {
	uint8_t regs[N_PLACES][SCRIPT_MAX_THREADS][2][1024];
	uint8_t mem[N_PLACES][SCRIPT_MAX_PROCESSES][2][1024];
	uint64_t next[N_PLACES];
};

static bool ask_all(struct ts_query *q, struct answers *a, struct ts_error *err)
{
	bool done = true;

	memset(a, 0, sizeof(*a));
	for (unsigned i = 0; i < N_PLACES && done; i++) {
		uint64_t pos = i * N_STEPS / (N_PLACES - 1);

		for (uint32_t t = 0; t < s->rec.n_threads && done; t++)
			done = ts_query_regs(q, pos, t, a->regs[i][t][0], a->regs[i][t][1], err);
		for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES && done; p++)
			done = ts_query_mem(q, pos, p, 0x1000 - 512, 1024, a->mem[i][p][0], a->mem[i][p][1],
					    err);
		a->next[i] = ts_query_find_execution(q, 0, 0, UINT64_MAX, pos, TS_FORWARDS);
	}
	return done;
}

/* Open the index file and ask; false and the error if that fails. */
static bool reopen(struct answers *a, struct ts_error *err)
{
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, err);
	struct ts_index_file *f = tl ? ts_index_open(INDEX_PATH, &index_key, err) : NULL;
	struct ts_query *q = NULL;
	bool done =
		f && ts_timeline_use_file(tl, f, err) && (q = ts_query_new(tl, err)) && ask_all(q, a, err);

	ts_query_free(q);
	ts_timeline_free(tl);
	return done;
}

static void build_index(void)
{
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);

	remove(INDEX_PATH);
	ck_assert(ts_timeline_use_file(tl, ts_index_create(INDEX_PATH, &index_key, &err), &err));
	ck_assert(build(tl, &err));
	ck_assert_int_eq(tl->file_error.code, TS_OK);
	ts_timeline_free(tl);
}

/* Each allocation fails once.  Returns how often that was an error. */
static unsigned reopen_without_each(const struct answers *want, uint64_t seed, uint64_t n)
{
	static struct answers got;
	unsigned n_failed = 0;
	int64_t n_lost;

	for (uint64_t i = 0; i < n; i++) {
		struct ts_error err = { 0 };
		bool done;

		s = script_random_new(seed, N_STEPS);
		no_memory_start(i, i + 1);
		done = reopen(&got, &err);
		no_memory_end(&n_lost);
		script_free(s);
		if (done && memcmp(want, &got, sizeof(got)))
			ck_abort_msg("allocation %lu fails: other answers", (unsigned long)i);
		if (!done && err.code != TS_ENOMEM)
			ck_abort_msg("allocation %lu fails: %s: %s", (unsigned long)i, unit_code_name(err.code),
				     err.text);
		n_failed += !done;
	}
	return n_failed;
}

START_TEST(an_index_that_is_read_while_memory_fails_answers_as_without_or_not)
{
	static struct answers want;
	struct ts_error err = { 0 };
	int64_t n_lost;

	for (uint64_t seed = 1; seed < 4; seed++) {
		uint64_t n;

		s = script_random_new(seed, N_STEPS);
		build_index();
		script_free(s);
		s = script_random_new(seed, N_STEPS);
		no_memory_start(UINT64_MAX, UINT64_MAX);
		ck_assert_msg(reopen(&want, &err), "%s", err.text);
		n = no_memory_end(&n_lost);
		script_free(s);
		ck_assert_uint_gt(reopen_without_each(&want, seed, n), 50);
	}
}
END_TEST

/* --------------------------------------------------------------------------------- stops that are listed */

/* Forks that memory is exhausted for are not passed over: the search fails, and finds them when it is tried again. */
START_TEST(a_fork_is_found_or_memory_is_exhausted)
{
	struct ts_stops stops = { .has_forks = true };
	unsigned n_failed = 0;

	for (uint64_t n = 0; n < 8; n++) {
		struct ts_error err = { 0 };
		struct ts_timeline *tl;
		struct ts_search search;
		struct ts_found found = { 0 };
		struct ts_query *q;
		int64_t n_lost;
		bool done;

		s = script_new("x86_64", 1, NULL);
		for (unsigned i = 0; i < 8; i++) {
			if (i == 3) {
				struct ts_event *fork = ts_steps_event(&s->steps, TS_EV_SYSCALL);

				fork->number = 57;
				fork->has_ret = true;
				fork->ret = 1234;
			}
			ts_steps_close(&s->steps, 16 * (uint64_t)i, 16, 0);
		}
		tl = ts_timeline_new(&s->rec, NULL, &err);
		ck_assert(tl && build(tl, &err));
		q = ts_query_new(tl, &err);
		ck_assert_ptr_nonnull(q);
		for (unsigned try = 0; try < 2; try++) {
			no_memory_start(try ? UINT64_MAX : n, try ? UINT64_MAX : n + 1);
			done = ts_search_init(&search, q, &stops, 0, 8, &err) &&
			       ts_search_run(&search, UINT32_MAX, &found, &err) == TS_ITEM;
			ts_search_fini(&search);
			no_memory_end(&n_lost);
			n_failed += !done;
			ck_assert_int_eq(err.code, done ? TS_OK : TS_ENOMEM);
			ck_assert(done ? found.kind == TS_STOP_FORK && found.pos == 4 : !try);
			ts_error_reset(&err);
		}
		ts_query_free(q);
		ts_timeline_free(tl);
		script_free(s);
	}
	ck_assert_uint_ge(n_failed, 2);
}
END_TEST

UNIT_FIXTURE_SUITE("no_memory", setup, NULL, any_one_allocation_may_fail,
		   memory_may_be_gone_for_good_at_any_moment,
		   an_index_that_is_read_while_memory_fails_answers_as_without_or_not,
		   a_fork_is_found_or_memory_is_exhausted)
