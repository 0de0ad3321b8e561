/* SPDX-License-Identifier: MIT */
/*
 * Loops that `why` remembers: a walk that comes to a turn of one goes on from its last one, and what walks
 * find beyond that is added once.
 */
#include "unit.h"

#include <string.h>

#include "script.h"
#include "src/query/loops.h"
#include "src/timeline/timeline.h"

/* A turn each other chunk, so that each is kept; positions descend. */
#define DISTANCE  (UINT64_C(2) * TS_CHUNK_STEPS)
#define POS_OF(i) ((100 - (i)) * DISTANCE)
#define ANY       UINT64_MAX

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;

static void setup(void)
{
	struct ts_error err = { 0 };

	s = script_random_new(1, 10);
	tl = ts_timeline_new(&s->rec, NULL, &err);
	ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_GROW_DONE);
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}

/*
 * The walk goes through turns @turn to @to but for those that a loop spares it, of which there are at most
 * @max at once.  Returns through how many it goes.
 */
static unsigned go(struct ts_loop_walk *w, unsigned turn, unsigned to, uint64_t max)
{
	unsigned n_turns = 0;

	for (uint64_t n; turn <= to; turn += (unsigned)n + 1, n_turns++) {
		uint64_t pos = ts_loop_walk_turn(w, q, POS_OF(turn), max, &n);

		ck_assert_uint_eq(pos, POS_OF(turn + n));
	}
	return n_turns;
}

static struct ts_loop_walk begin(const char *key)
{
	struct ts_loop_walk w = { 0 };

	ts_loop_walk_begin(&w, key, strlen(key));
	return w;
}

/* A walk from @turn to @to.  Returns through how many turns it goes. */
static unsigned walk(const char *key, unsigned turn, unsigned to, uint64_t max)
{
	struct ts_loop_walk w = begin(key);
	unsigned n_turns = go(&w, turn, to, max);

	ts_loop_walk_end(&w, q);
	return n_turns;
}

START_TEST(a_walk_goes_on_from_the_last_turn_that_is_known)
{
	ck_assert_uint_eq(walk("loop", 10, 20, ANY), 11);
	for (unsigned turn = 10; turn <= 20; turn++)
		ck_assert_uint_eq(walk("loop", turn, 20, ANY), 1);
	ck_assert_uint_eq(walk("loop", 5, 20, ANY), 5 + 1);
	ck_assert_uint_eq(walk("other", 10, 20, ANY), 11);
}
END_TEST

START_TEST(what_a_walk_finds_behind_the_last_turn_is_added)
{
	ck_assert_uint_eq(walk("loop", 0, 10, ANY), 11);
	ck_assert_uint_eq(walk("loop", 5, 20, ANY), 1 + 10);
	ck_assert_uint_eq(walk("loop", 0, 20, ANY), 1);
	ck_assert_uint_eq(walk("loop", 20, 30, ANY), 1 + 10);
	ck_assert_uint_eq(walk("loop", 0, 30, ANY), 1);
}
END_TEST

START_TEST(what_two_walks_find_behind_the_last_turn_is_added_once)
{
	struct ts_loop_walk a, b;

	ck_assert_uint_eq(walk("loop", 0, 10, ANY), 11);
	a = begin("loop");
	b = begin("loop");
	go(&a, 0, 15, ANY);
	go(&b, 5, 20, ANY);
	ts_loop_walk_end(&a, q);
	ts_loop_walk_end(&b, q);
	ck_assert_uint_eq(walk("loop", 0, 15, ANY), 1);
	ck_assert_uint_eq(walk("loop", 0, 20, ANY), 1 + 5);
}
END_TEST

/* It has gone on from another turn than the last one: what it went through after that is known. */
START_TEST(what_lies_before_the_last_turn_is_not_added)
{
	ck_assert_uint_eq(walk("loop", 0, 20, ANY), 21);
	ck_assert_uint_eq(walk("loop", 0, 15, 10), 1 + 5);
	ck_assert_uint_eq(walk("loop", 0, 20, ANY), 1);
	ck_assert_uint_eq(walk("loop", 12, 20, ANY), 1);
}
END_TEST

UNIT_FIXTURE_SUITE("loops", setup, teardown, a_walk_goes_on_from_the_last_turn_that_is_known,
		   what_a_walk_finds_behind_the_last_turn_is_added,
		   what_two_walks_find_behind_the_last_turn_is_added_once,
		   what_lies_before_the_last_turn_is_not_added)
