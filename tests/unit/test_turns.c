/* SPDX-License-Identifier: MIT */
/*
 * Turns of threads answer as a list of them does, whatever their lengths and the numbers of the threads are.
 */
#include "unit.h"

#include <string.h>

#include "script.h"
#include "src/trace/chunk.h"
#include "src/timeline/world/turns.h"

#define N_TURNS 4000u /* some blocks */
#define N_PLACES 60u

static struct ts_turns turns;
static uint64_t begins[N_TURNS + 1]; /* the naive twin; after the last one, the steps of all */
static uint32_t threads[N_TURNS];

static void setup(void)
{
	memset(&turns, 0, sizeof(turns));
}

static void teardown(void)
{
	ts_turns_fini(&turns);
}

/* How a test's turns are. */
struct shape {
	uint64_t max_len;
	uint32_t n_threads, every; /* thread numbers are multiples of @every */
};

static const struct shape shapes[] = {
	{ 1, 2, 1 },        { 1, 100, 1 },       { 3, 7, 1 },
	{ 40, 5, 50 },      { 300, 3, 1 },       { UINT64_C(1) << 17, 9, 30 },
	{ UINT64_C(1) << 34, 4, 16384 },
};

static void make(struct script_random *r, const struct shape *shape)
{
	uint64_t pos = 0;

	for (uint32_t i = 0; i < N_TURNS; i++) {
		uint32_t last = i ? threads[i - 1] / shape->every : shape->n_threads;

		do {
			threads[i] = (uint32_t)script_below(r, shape->n_threads);
		} while (threads[i] == last);
		threads[i] *= shape->every;
		begins[i] = pos;
		ck_assert(ts_turns_add(&turns, pos, threads[i]));
		ck_assert(ts_turns_add(&turns, pos + 1, threads[i])); /* it runs already */
		/* not each block has a long one */
		pos += 1 + script_below(r, script_chance(r, 10) ? shape->max_len : shape->max_len < 3 ? shape->max_len : 3);
	}
	begins[N_TURNS] = pos;
}

static uint32_t turn_of(uint64_t pos)
{
	uint32_t i = 0;

	while (i + 1 < N_TURNS && begins[i + 1] <= pos)
		i++;
	return i;
}

static uint64_t naive_next(uint32_t thread, uint64_t pos)
{
	uint32_t i = turn_of(pos);

	if (threads[i] == thread)
		return pos;
	while (i < N_TURNS && threads[i] != thread)
		i++;
	return i < N_TURNS ? begins[i] : UINT64_MAX;
}

static uint64_t naive_prev(uint32_t thread, uint64_t pos)
{
	uint32_t i = turn_of(pos);

	if (threads[i] == thread)
		return pos;
	while (i && threads[i] != thread)
		i--;
	return threads[i] == thread ? begins[i + 1] - 1 : UINT64_MAX;
}

static uint64_t naive_n_steps(uint32_t thread, uint64_t n_steps)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < N_TURNS && begins[i] < n_steps; i++) {
		if (threads[i] == thread)
			sum += (begins[i + 1] < n_steps ? begins[i + 1] : n_steps) - begins[i];
	}
	return sum;
}

static bool has_run(uint32_t thread)
{
	return thread < turns.n_threads && turns.threads[thread].n;
}

static void compare(uint64_t pos, const struct shape *shape)
{
	uint32_t i = turn_of(pos);

	ck_assert_uint_eq(ts_turns_thread(&turns, pos), threads[i]);
	ck_assert_uint_eq(ts_turns_end(&turns, pos), i + 1 < N_TURNS ? begins[i + 1] : UINT64_MAX);
	for (uint32_t t = 0; t < shape->n_threads * shape->every; t += shape->every) {
		ck_assert(has_run(t) == (naive_next(t, 0) != UINT64_MAX));
		if (!has_run(t))
			continue;
		ck_assert_uint_eq(turns.threads[t].first, naive_next(t, 0));
		ck_assert_uint_eq(ts_turns_next(&turns, t, pos), naive_next(t, pos));
		ck_assert_uint_eq(ts_turns_prev(&turns, t, pos), naive_prev(t, pos));
		ck_assert_uint_eq(ts_turns_n_steps(&turns, t, pos + 1), naive_n_steps(t, pos + 1));
	}
}

START_TEST(turns_are_found_as_in_a_list)
{
	struct script_random r = { (uint64_t)_i + 1 };
	const struct shape *shape = &shapes[_i];

	ck_assert(ts_turns_are_empty(&turns));
	make(&r, shape);
	ck_assert(!ts_turns_are_empty(&turns));
	for (unsigned i = 0; i < N_PLACES; i++) {
		/* often where a turn begins or ends */
		uint64_t pos = begins[script_below(&r, N_TURNS)], more = script_below(&r, 3);

		pos = script_chance(&r, 30) ? script_below(&r, begins[N_TURNS]) : pos && !more ? pos - 1 : pos + more / 2;
		if (pos < begins[N_TURNS])
			compare(pos, shape);
	}
}
END_TEST

/* A block's numbers are as wide as the greatest needs, so that a long turn costs its own block alone. */
START_TEST(columns_are_as_wide_as_they_need)
{
	static const uint64_t lens[] = { 1, 255, 256, 65536, UINT64_C(1) << 32 };
	static const unsigned widths[] = { 1, 1, 2, 4, 8 };
	struct ts_turn_columns c;

	for (unsigned i = 0; i < 5; i++) {
		ts_turns_fini(&turns);
		ck_assert(ts_turns_add(&turns, 0, 0));
		ck_assert(ts_turns_add(&turns, lens[i], i % 2 ? 300 : 1));
		ck_assert(ts_turns_end_block(&turns));
		if (lens[i] >= TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS) {
			/* of another segment: the length is that of no turn of the block */
			ck_assert_uint_eq(turns.n_pieces, 2);
			continue;
		}
		ck_assert(ts_turns_columns(&turns.pieces[0], 0, &c));
		ck_assert_uint_eq(c.n, 2);
		ck_assert_uint_eq(c.len_width, widths[i]);
		ck_assert_uint_eq(c.thread_width, i % 2 ? 2 : 1);
		ck_assert_uint_eq(ts_turn_len(&c, 0), lens[i]);
		ck_assert_uint_eq(ts_turn_thread(&c, 1), i % 2 ? 300 : 1);
	}
}
END_TEST

/* As a file may say: callers use the number as an index. */
START_TEST(a_thread_that_there_is_not_is_the_first_one)
{
	ck_assert(ts_turns_add(&turns, 0, 0) && ts_turns_add(&turns, 5, 1) && ts_turns_add(&turns, 9, 0));
	ck_assert(ts_turns_end_block(&turns));
	ck_assert_uint_eq(ts_turns_thread(&turns, 6), 1);
	turns.n_threads = 1;
	ck_assert_uint_eq(ts_turns_thread(&turns, 6), 0);
	turns.n_threads = 2;
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("turns");
	TCase *t = tcase_create("turns");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, turns_are_found_as_in_a_list, 0, (int)(sizeof(shapes) / sizeof(shapes[0])));
	tcase_add_test(t, columns_are_as_wide_as_they_need);
	tcase_add_test(t, a_thread_that_there_is_not_is_the_first_one);
	suite_add_tcase(s, t);
	return s;
}
