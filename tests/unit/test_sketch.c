/* SPDX-License-Identifier: MIT */
/*
 * Sketches against a memory that is remembered as a whole: the chunk in which a value begins to stand is never passed
 * over, whether its bytes were known then or were found out later.
 */
#include "unit.h"

#include "script.h"
#include "src/timeline/probe.h"
#include "src/timeline/sketch.h"
#include "src/timeline/space_sketch.h"

#include <string.h>

#define BASE     UINT64_C(0x7fe8) /* values and writes over the border of two pages */
#define LEN      48u
#define N_HALF   30u /* effects of each of two segments, one in a group of chunks */
#define MAX_N    (2 * N_HALF)
#define MAX_LEN  12u

static struct script_random rnd;
static struct ts_sketcher *sk;
static struct ts_space_builder sb;
static struct ts_sketch sketches[2];

/* After effect t: what is there, and by which effect it came (0: before all). */
static uint8_t is[MAX_N + 1][LEN];
static unsigned since[MAX_N + 1][LEN];
static bool is_told[MAX_N + 1][LEN]; /* by that effect: what it put there is known */

static bool is_fill[MAX_N + 1];              /* values that it makes are looked for otherwise */

/* Small numbers among zeros and others: as memory is. */
static uint8_t some_byte(void)
{
	return script_chance(&rnd, 40) ? 0 : (uint8_t)script_below(&rnd, script_chance(&rnd, 50) ? 4 : 256);
}

static void do_effect(unsigned t, uint64_t pos)
{
	unsigned len = 1 + (unsigned)script_below(&rnd, script_chance(&rnd, 90) ? 9 : 40);
	unsigned s = (unsigned)script_below(&rnd, LEN - len), kind = (unsigned)script_below(&rnd, 12);

	memcpy(is[t], is[t - 1], LEN);
	memcpy(since[t], since[t - 1], sizeof(since[t]));
	for (unsigned i = s; i < s + len; i++) {
		if (kind < 2)
			is_told[since[t][i]][i] = true;
		else
			is_told[since[t][i] = t][i] = kind < 8 || kind == 11;
		if (kind >= 2)
			is[t][i] = kind == 11 ? 0 : some_byte();
	}
	if (kind < 2)
		ts_space_see(&sb, BASE + s, is[t] + s, len);
	else if (kind < 8)
		ts_space_write(&sb, BASE + s, is[t] + s, len);
	else if (kind < 10)
		ts_space_lose(&sb, BASE + s, len);
	else
		ts_space_fill(&sb, pos, BASE + s, len, kind == 11 ? TS_FILL_ZERO : TS_FILL_UNKNOWN);
	is_fill[t] = kind >= 10;
}

static unsigned group_of(unsigned t)
{
	return (t - 1) % N_HALF;
}

static void run(void)
{
	struct ts_space *sp = ts_space_new(NULL, NULL, 0);

	sk = ts_sketcher_new();
	ts_space_builder_init(&sb, sp);
	sb.sketcher = sk;
	memset(is_told, 0, sizeof(is_told));
	memset(since[0], 0, sizeof(since[0]));
	for (unsigned i = 0; i < LEN; i++)
		is[0][i] = some_byte();
	for (unsigned t = 1; t <= MAX_N; t++) {
		unsigned segment = (t - 1) / N_HALF;
		uint64_t chunk = segment * TS_SEGMENT_CHUNKS + (group_of(t) + 1) * TS_SKETCH_GROUP - 1;

		do_effect(t, chunk * TS_CHUNK_STEPS + 1);
		ck_assert(ts_space_end_chunk(&sb, chunk));
		ts_sketcher_end_chunk(sk, chunk);
		if (t % N_HALF)
			continue;
		ck_assert(ts_space_seal(&sb, segment));
		ck_assert(ts_sketcher_seal(sk, segment + 1, &sketches[segment]));
		ts_space_end_sketch(&sb);
	}
	ts_space_builder_fini(&sb);
	ts_sketcher_free(sk);
	ts_space_free(sp);
}

/* Is what stands at @m after effect @t known, and was it something else, or unknown, before? */
static bool begins(unsigned t, unsigned m, unsigned len)
{
	bool is_new = false;

	for (unsigned i = m; i < m + len; i++) {
		if (!is_told[since[t][i]][i])
			return false;
		is_new |= is[t][i] != is[t - 1][i] || !is_told[since[t - 1][i]][i];
	}
	return is_new;
}

static bool is_late(const struct ts_probe *p, unsigned m, unsigned len)
{
	struct ts_probe_range ranges[256];
	size_t n = 0;

	for (unsigned i = 0; i < 2; i++) {
		if (!ts_probe_late(p, &sketches[i], 0, ranges, &n, 256))
			return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (ranges[i].first <= BASE + m && ranges[i].last >= BASE + m + len - 1)
			return true;
	}
	return false;
}

/* Returns whether the sketch alone tells, not the late bytes. */
static bool check_value(unsigned t, unsigned m, unsigned len)
{
	unsigned segment = (t - 1) / N_HALF;
	uint8_t mask[MAX_LEN];
	struct ts_probe *p;
	bool is_found;

	memset(mask, 1, sizeof(mask));
	p = ts_probe_new(is[t] + m, mask, len);
	is_found = !p || ts_probe_groups(p, &sketches[segment], segment) >> group_of(t) & 1;
	ck_assert_msg(is_found || is_late(p, m, len), "%u bytes at %u, after effect %u", len, m, t);
	ts_probe_free(p);
	return is_found;
}

START_TEST(a_value_that_begins_is_not_passed_over)
{
	unsigned n = 0, n_found = 0;

	rnd.state = (uint64_t)_i;
	for (unsigned turn = 0; turn < 12; turn++) {
		run();
		for (unsigned t = 1; t <= MAX_N; t++) {
			for (unsigned k = 0; k < 100; k++) {
				unsigned len = 1 + (unsigned)script_below(&rnd, MAX_LEN);
				unsigned m = (unsigned)script_below(&rnd, LEN - len);

				if (is_fill[t] || !begins(t, m, len))
					continue;
				n++;
				n_found += check_value(t, m, len);
			}
		}
		ts_sketch_fini(&sketches[0]);
		ts_sketch_fini(&sketches[1]);
	}
	ck_assert_uint_gt(n, 1000);
	ck_assert_uint_gt(n_found, n / 2);
}
END_TEST

/* A value of which no byte was ever written, in a sketch of few keys. */
START_TEST(a_value_that_was_never_made_is_passed_over)
{
	static const uint8_t value[8] = "\xf1\xe2\xd3\xc4\xb5\xa6\x97\x88", mask[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct ts_probe *p = ts_probe_new(value, mask, sizeof(value));
	struct ts_sketch s;

	ck_assert_ptr_nonnull(p);
	sk = ts_sketcher_new();
	ts_sketch_set(ts_sketcher_keys(sk), 1);
	ck_assert(ts_sketcher_seal(sk, 1, &s));
	ck_assert_uint_eq(ts_probe_groups(p, &s, 0), 0);
	ts_sketch_fini(&s);
	ts_sketcher_free(sk);
	ts_probe_free(p);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("sketch");
	TCase *c = tcase_create("sketch");

	tcase_add_loop_test(c, a_value_that_begins_is_not_passed_over, 1, 10);
	tcase_add_test(c, a_value_that_was_never_made_is_passed_over);
	suite_add_tcase(suite, c);
	return suite;
}
