/* SPDX-License-Identifier: MIT */
/*
 * Next and previous in a posting list, against the plain sorted array.
 */
#include "unit.h"

#include "script.h"
#include "src/timeline/runs/postings.h"

#include <stdlib.h>

#define MAX_VALUES 1000

static uint32_t values[MAX_VALUES];
static size_t n_values;
static struct ts_pairs pairs;
static struct ts_postings set;

static void setup(void)
{
	n_values = 0;
	pairs = (struct ts_pairs){ 0 };
	set = (struct ts_postings){ 0 };
}

static void teardown(void)
{
	ts_pairs_fini(&pairs);
	ts_postings_fini(&set);
}

static void note(uint32_t key, uint32_t value)
{
	if (!ts_pairs_add(&pairs, key, value))
		ck_abort_msg("no memory");
}

/* Ask for @value in the list of @key, which holds values[]. */
static void check(uint32_t key, uint32_t value)
{
	uint32_t next = TS_NO_POSTING, prev = TS_NO_POSTING;

	for (size_t i = 0; i < n_values; i++) {
		if (values[i] >= value && next == TS_NO_POSTING)
			next = values[i];
		if (values[i] <= value)
			prev = values[i];
	}
	if (ts_postings_next(&set, key, value) != next || ts_postings_prev(&set, key, value) != prev)
		ck_abort_msg("%zu values, from %u: %u and %u, not %u and %u", n_values, value,
			     ts_postings_next(&set, key, value), ts_postings_prev(&set, key, value), next,
			     prev);
}

struct range {
	uint32_t from, to;
	size_t at; /* the next of values[] */
	bool is_wrong;
};

static void take(void *user, uint32_t value)
{
	struct range *r = user;

	r->is_wrong |= r->at == n_values || value != values[r->at++] || value < r->from || value >= r->to;
}

/* Ask for the values of @key in [@from, @to). */
static void check_range(uint32_t key, uint32_t from, uint32_t to)
{
	struct range r = { .from = from, .to = to };

	while (r.at < n_values && values[r.at] < from)
		r.at++;
	ts_postings_each_of(&set, key, from, to, take, &r);
	if (r.is_wrong || (r.at < n_values && values[r.at] < to))
		ck_abort_msg("%zu values, [%u, %u): not these of them", n_values, from, to);
}

/* Ask at each value and beside it. */
static void check_all(uint32_t key)
{
	check(key, 0);
	check(key, UINT32_MAX - 1);
	check_range(key, 0, UINT32_MAX);
	for (size_t i = 0; i < n_values; i += 1 + i / 3) {
		check_range(key, 0, values[i]);
		for (size_t k = i; k < n_values; k += 1 + k / 3) {
			check_range(key, values[i], values[k] + 1);
			check_range(key, values[i] + 1, values[k]);
		}
	}
	for (size_t i = 0; i < n_values; i++) {
		check(key, values[i]);
		check(key, values[i] + (values[i] < UINT32_MAX - 1));
		check(key, values[i] - (values[i] > 0));
	}
}

/* A list of @n values with gaps of up to @max_gap, among the lists of other keys. */
static void check_list(struct script_random *r, size_t n, uint32_t max_gap)
{
	uint32_t value = (uint32_t)script_below(r, 3);

	setup();
	for (n_values = 0; n_values < n; n_values++) {
		values[n_values] = value;
		if (script_chance(r, 30))
			note((uint32_t)script_below(r, 2) * 9, value);
		note(5, value);
		value += 1 + (uint32_t)script_below(r, max_gap);
	}
	ck_assert(ts_postings_seal(&set, &pairs, 12));
	check_all(5);
	teardown();
}

START_TEST(lists_of_any_length_around_a_block_answer_like_the_array)
{
	static const size_t lengths[] = { 1, 2, 63, 64, 65, 127, 128, 129, 1000 };
	struct script_random r = { 1 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		check_list(&r, lengths[i], 1); /* all adjacent */
		check_list(&r, lengths[i], 200);
		check_list(&r, lengths[i], 4000000);
	}
}
END_TEST

START_TEST(gaps_of_every_size_of_varint_survive)
{
	for (unsigned shift = 0; shift < 32; shift++) {
		setup();
		values[n_values++] = 0;
		values[n_values++] = (UINT32_C(1) << shift) - (shift == 31);
		values[n_values++] = UINT32_MAX - 1;
		for (size_t i = 0; i < n_values; i++)
			note(0, values[i]);
		ck_assert(ts_postings_seal(&set, &pairs, 1));
		check_all(0);
		teardown();
	}
}
END_TEST

START_TEST(a_key_without_values_has_neither_next_nor_previous)
{
	note(3, 7);
	ck_assert(ts_postings_seal(&set, &pairs, 5));
	for (uint32_t key = 0; key < 7; key++)
		ck_assert_uint_eq(ts_postings_next(&set, key, 0), key == 3 ? 7 : TS_NO_POSTING);
	ck_assert_uint_eq(ts_postings_prev(&set, 2, 100), TS_NO_POSTING);
	ck_assert_uint_eq(ts_postings_prev(&set, 4, 100), TS_NO_POSTING);
}
END_TEST

START_TEST(the_same_pairs_may_go_on_or_begin_anew)
{
	struct ts_postings second;

	note(0, 7);
	ck_assert(ts_postings_seal(&set, &pairs, 1));
	note(0, 9);
	ck_assert(ts_postings_seal(&second, &pairs, 1));
	ck_assert_uint_eq(ts_postings_next(&second, 0, 0), 7);
	ck_assert_uint_eq(ts_postings_next(&second, 0, 8), 9);
	ck_assert_uint_eq(ts_postings_next(&set, 0, 8), TS_NO_POSTING);
	ts_postings_fini(&second);
	pairs.n = 0;
	ck_assert(ts_postings_seal(&second, &pairs, 1));
	ck_assert_uint_eq(ts_postings_next(&second, 0, 0), TS_NO_POSTING);
	ts_postings_fini(&second);
}
END_TEST

UNIT_FIXTURE_SUITE("postings", setup, teardown, lists_of_any_length_around_a_block_answer_like_the_array,
		   gaps_of_every_size_of_varint_survive, a_key_without_values_has_neither_next_nor_previous,
		   the_same_pairs_may_go_on_or_begin_anew)
