/* SPDX-License-Identifier: MIT */
/*
 * Digests of chunks: what makes a difference, and that they are the same from an index file.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "index_case.h"
#include "script.h"
#include "src/query/search/scan.h"
#include "src/timeline/timeline.h"

/* What one of the steps of the chunk does otherwise. */
enum other {
	NOTHING,
	PC,
	THREAD,
	REG_VALUE,
	REG,
	SHORT_VALUE,
	LONG_VALUE,
	ADDR,
	LEN,
	ORDER,
	OWNER,
	MORE,
	N_OTHERS,
	READ = N_OTHERS, /* what makes no difference */
	UNUSED,
	N_ALL,
};

static uint64_t digest_of(enum other other)
{
	uint8_t value[40] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct ts_steps b;
	uint64_t digest;

	ts_steps_init(&b);
	ts_steps_value(&b, TS_FX_REG_WRITE, 8, value, 8);
	ts_steps_close(&b, 0x1000, 4, 0);
	value[7] ^= other == REG_VALUE ? 0x80 : 0;
	ts_steps_value(&b, TS_FX_REG_WRITE, other == REG ? 24 : 16, value, 8);
	value[1] ^= other == SHORT_VALUE ? 1 : 0;
	ts_steps_value(&b, TS_FX_WRITE, other == ADDR ? 0x5001 : 0x5000, value, other == LEN ? 4 : 3);
	value[33] ^= other == LONG_VALUE ? 1 : 0;
	ts_steps_value(&b, TS_FX_WRITE, 0x6000, value, 34);
	if (other == READ)
		ts_steps_value(&b, TS_FX_READ, 0x7000, value, 4);
	if (other == UNUSED)
		ts_steps_grow_data(&b, 100);
	ts_steps_effect(&b, TS_FX_WRITE, 0x8000, 4); /* unknown */
	ts_steps_effect(&b, TS_FX_THREAD, 0, 0)->item = other == OWNER ? 2 : 1;
	ts_steps_close(&b, other == PC ? 0x1005 : 0x1004, 4, other == THREAD);
	value[0] = other == ORDER ? 2 : 1;
	ts_steps_value(&b, TS_FX_WRITE, 0x9000, value, 1);
	value[0] = other == ORDER ? 1 : 2;
	ts_steps_value(&b, TS_FX_WRITE, 0x9000, value, 1);
	ts_steps_close(&b, 0x1008, 4, 0);
	if (other == MORE)
		ts_steps_close(&b, 0x100c, 4, 0);
	digest = ts_digest(&b);
	ts_steps_fini(&b);
	return digest;
}

START_TEST(each_thing_that_a_step_does_counts)
{
	for (enum other i = 0; i < N_OTHERS; i++) {
		for (enum other k = 0; k < i; k++)
			ck_assert_msg(digest_of(i) != digest_of(k), "%d %d", (int)i, (int)k);
		ck_assert(digest_of(i));
	}
}
END_TEST

START_TEST(what_was_read_from_memory_does_not_count)
{
	for (enum other i = N_OTHERS; i < N_ALL; i++)
		ck_assert_uint_eq(digest_of(i), digest_of(NOTHING));
}
END_TEST

START_TEST(a_register_that_becomes_unknown_has_no_digest)
{
	for (unsigned i = 0; i < 2; i++) {
		struct ts_steps b;

		ts_steps_init(&b);
		ts_steps_effect(&b, i ? TS_FX_FORGET_REGS : TS_FX_REG_WRITE, 0, 8);
		ts_steps_close(&b, 0x1000, 4, 0);
		ck_assert_uint_eq(ts_digest(&b), 0);
		ts_steps_fini(&b);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------ index files */

static struct ts_timeline *open_timeline(struct script *s, bool has_digests, bool is_finished)
{
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);

	ck_assert_ptr_nonnull(tl);
	if (has_digests)
		ts_timeline_make_digests(tl);
	use_index(tl, is_finished);
	return tl;
}

/* The chunk's steps alone; effects and data stay those of the script. */
static struct ts_steps chunk_of(const struct script *s, uint64_t chunk)
{
	struct ts_steps b = s->steps;

	b.steps += chunk * TS_CHUNK_STEPS;
	b.n_steps = s->steps.n_steps - (uint32_t)chunk * TS_CHUNK_STEPS;
	b.n_steps = b.n_steps < TS_CHUNK_STEPS ? b.n_steps : TS_CHUNK_STEPS;
	return b;
}

/* Does it have all, as they are by definition? */
static void check_timeline(const struct script *s, struct ts_timeline *tl, bool has_digests)
{
	struct ts_error err = { 0 };
	struct ts_query *q = ts_query_new(tl, &err);
	uint64_t n;
	const uint64_t *digests = ts_query_digests(q, &n);

	ck_assert((digests != NULL) == has_digests);
	ck_assert_uint_eq(n, (tl->n_steps + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS);
	for (uint64_t i = 0; digests && i < n; i++) {
		struct ts_steps b = chunk_of(s, i);

		ck_assert_uint_eq(digests[i], ts_digest(&b));
	}
	ts_query_free(q);
}

static void remove_files(void)
{
	remove(PATH);
	remove(PART);
}

/* What one program after another does with a recording: none knows which threads the one before it found. */
static void use_new(uint64_t seed, bool makes_digests, bool has_digests, bool is_finished, uint64_t n_steps)
{
	struct script *s = script_random_new(seed, 500);
	struct ts_timeline *tl = open_timeline(s, makes_digests, is_finished);

	if (is_finished) {
		ck_assert_ptr_null(tl->builder);
		ck_assert_uint_eq(tl->digests.n_read, 0); /* opening costs no more for more of them */
	} else {
		grow(tl, n_steps);
	}
	if (n_steps == UINT64_MAX)
		check_timeline(s, tl, has_digests);
	ts_timeline_free(tl);
	script_free(s);
}

START_TEST(an_index_file_brings_them_back)
{
	struct script_random rnd = { (uint64_t)_i };
	uint64_t seed = (uint64_t)_i + 40;

	remove_files();
	for (unsigned i = 0; i < 3; i++) /* interrupted twice */
		use_new(seed, true, true, false, i == 2 ? UINT64_MAX : script_below(&rnd, 200));
	for (unsigned has_digests = 0; has_digests < 2; has_digests++)
		use_new(seed, has_digests, has_digests, true, UINT64_MAX);
	remove_files();
}
END_TEST

START_TEST(one_that_was_built_without_them_has_none)
{
	remove_files();
	use_new(7, false, false, false, 150);
	use_new(7, true, false, false, UINT64_MAX); /* goes on with what has none */
	use_new(7, true, false, true, UINT64_MAX);
	remove_files();
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("digests");
	TCase *tc = tcase_create("digests");

	tcase_add_test(tc, each_thing_that_a_step_does_counts);
	tcase_add_test(tc, what_was_read_from_memory_does_not_count);
	tcase_add_test(tc, a_register_that_becomes_unknown_has_no_digest);
	tcase_add_loop_test(tc, an_index_file_brings_them_back, 0, 10);
	tcase_add_test(tc, one_that_was_built_without_them_has_none);
	suite_add_tcase(s, tc);
	return s;
}
