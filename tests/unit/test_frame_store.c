/* SPDX-License-Identifier: MIT */
#include "protocol/tracing/frame_store.h"

#include "src/frames/tracepoint.h"
#include "unit.h"

/*
 * Frames of the form 6 + (11 + 4) bytes: frame i at position 10 * i, pc 0x1000 + i % 7, of tracepoint 1 + i %
 * 3, with 4 bytes at i.
 */
#define FRAME_LEN 21u

static struct rsp_frame_store st;

static void setup(void)
{
	rsp_frame_store_init(&st);
}

static void teardown(void)
{
	rsp_frame_store_fini(&st);
}

static bool add(uint64_t i)
{
	uint64_t bytes;

	ck_assert(rsp_frame_store_open(&st, 10 * i, 0x1000 + i % 7, (uint32_t)(1 + i % 3), i % 2));
	ck_assert(rsp_frame_store_range(&st, i, 4));
	if (!rsp_frame_store_close(&st, &bytes))
		return false;
	ck_assert_uint_eq(bytes, FRAME_LEN);
	return true;
}

/* Frame @n is the one that was made as the @i-th. */
static void check_frame(uint64_t n, uint64_t i)
{
	struct ts_frame f;
	struct ts_error err = { 0 };

	ts_frame_init(&f);
	ck_assert(ts_frames_get(&st.frames, n, &f, &err));
	ck_assert_uint_eq(f.pos, 10 * i);
	ck_assert_uint_eq(f.tracepoint, 1 + i % 3);
	ck_assert_uint_eq(f.is_step, i % 2);
	ck_assert(!f.is_whole && !f.has_regs && f.has_pc);
	ck_assert_uint_eq(f.n_ranges, 1);
	ck_assert_uint_eq(f.ranges[0].addr, i);
	ck_assert_uint_eq(f.ranges[0].len, 4);
	ck_assert_uint_eq(f.n_vars, 0);
	ts_frame_fini(&f);
}

/* All look-ups from each frame on, beside a walk; frame 0 was made as the @first. */
static void check_searches(uint64_t first, uint64_t from_step)
{
	for (uint64_t from = 0; from < st.frames.n_frames; from += from_step) {
		uint64_t pc = TS_NO_FRAME, other = TS_NO_FRAME, of = TS_NO_FRAME;

		for (uint64_t n = st.frames.n_frames; n-- > from;) {
			uint64_t i = first + n;

			pc = i % 7 >= 2 && i % 7 <= 4 ? n : pc;
			other = i % 7 < 2 || i % 7 > 4 ? n : other;
			of = i % 3 == 1 ? n : of;
		}
		ck_assert_uint_eq(rsp_frame_store_next_pc(&st, 0x1002, 0x1004, false, from), pc);
		ck_assert_uint_eq(rsp_frame_store_next_pc(&st, 0x1002, 0x1004, true, from), other);
		ck_assert_uint_eq(st.frames.ops->next_of(&st.frames, 2, from), of);
	}
	ck_assert_uint_eq(st.frames.ops->next_of(&st.frames, 4, 0), TS_NO_FRAME);
	ck_assert_uint_eq(rsp_frame_store_next_pc(&st, 0x2000, UINT64_MAX, false, 0), TS_NO_FRAME);
	ck_assert_uint_eq(rsp_frame_store_next_pc(&st, 0, UINT64_MAX, true, 0), TS_NO_FRAME);
}

START_TEST(frames_are_kept_and_found)
{
	for (uint64_t i = 0; i < 500; i++)
		ck_assert(add(i));
	ck_assert_uint_eq(st.frames.n_frames, 500);
	for (uint64_t i = 0; i < 500; i += 13)
		check_frame(i, i);
	check_frame(499, 499);
	check_searches(0, 3);
	ck_assert_uint_eq(st.n_bytes, 500 * FRAME_LEN);
}
END_TEST

START_TEST(a_full_store_takes_no_more_and_stays_as_it_was)
{
	rsp_frame_store_reset(&st, 20 * FRAME_LEN + 1, false);
	for (uint64_t i = 0; i < 20; i++)
		ck_assert(add(i));
	for (unsigned i = 0; i < 3; i++)
		ck_assert(!add(20));
	ck_assert_uint_eq(st.frames.n_frames, 20);
	ck_assert_uint_eq(rsp_frame_store_created(&st), 20);
	ck_assert_uint_eq(st.n_bytes, 20 * FRAME_LEN);
	check_frame(19, 19);
	check_searches(0, 1);
	/* where the one would be that did not fit: of tracepoint 3, at 0x1006 */
	ck_assert_uint_eq(st.frames.ops->next_of(&st.frames, 3, 18), TS_NO_FRAME);
	ck_assert_uint_eq(rsp_frame_store_next_pc(&st, 0x1006, 0x1006, false, 14), TS_NO_FRAME);
}
END_TEST

START_TEST(a_circular_store_has_the_last_frames_however_many_there_were)
{
	rsp_frame_store_reset(&st, 100 * FRAME_LEN, true);
	for (uint64_t i = 0; i < 12345; i++) {
		uint64_t n = i < 99 ? i + 1 : 100;

		ck_assert(add(i));
		ck_assert_uint_eq(st.frames.n_frames, n);
		if (i % 101 == 0) {
			check_frame(0, i + 1 - n);
			check_frame(n - 1, i);
			check_searches(i + 1 - n, 17);
		}
	}
	ck_assert_uint_eq(rsp_frame_store_created(&st), 12345);
	ck_assert_uint_eq(st.n_bytes, 100 * FRAME_LEN);
}
END_TEST

START_TEST(the_users_limit_holds_for_ranges_and_over_a_reset)
{
	struct rsp_frame_budget budget = { .max = 2000 };
	unsigned n = 0;

	rsp_frame_store_bound(&st, &budget);
	rsp_frame_store_reset(&st, TS_NO_COUNT, false);
	ck_assert(rsp_frame_store_open(&st, 0, 0x1000, 1, false));
	while (!rsp_frame_store_is_full(&st) && rsp_frame_store_range(&st, n, 1))
		n++;
	ck_assert(rsp_frame_store_is_full(&st));
	ck_assert_uint_gt(n, 2000 / 32 / 2);
	ck_assert_uint_lt(n, 2000 / 32); /* a range takes 16 bytes at least, and as much is reserved */
	ck_assert(!rsp_frame_store_range(&st, n, 1));
	ck_assert(!rsp_frame_store_var(&st, 1, 1));
	rsp_frame_store_fini(&st); /* before the budget */
}
END_TEST

START_TEST(what_one_frame_holds_is_limited)
{
	ck_assert(rsp_frame_store_open(&st, 0, 0x1000, 1, false));
	ck_assert(!rsp_frame_store_range(&st, 0, (uint64_t)RSP_MAX_RANGE + 1));
	ck_assert(!rsp_frame_store_range(&st, UINT64_MAX, 2));
	ck_assert(rsp_frame_store_range(&st, UINT64_MAX, 1));
	ck_assert(rsp_frame_store_range(&st, 0, 0));
	for (uint64_t i = 0; i + 1 < RSP_MAX_IN_FRAME / RSP_MAX_RANGE; i++)
		ck_assert(rsp_frame_store_range(&st, 0, RSP_MAX_RANGE));
	ck_assert(!rsp_frame_store_range(&st, 0, RSP_MAX_RANGE));
}
END_TEST

/* Add frames until there is no more memory; returns how many. */
static uint64_t fill(struct rsp_frame_store *store)
{
	uint64_t n = 0, bytes;

	while (rsp_frame_store_open(store, n, 0x1000, 1, false)) {
		ck_assert(rsp_frame_store_close(store, &bytes));
		n++;
	}
	return n;
}

START_TEST(memory_is_a_limit_too)
{
	struct rsp_frame_budget budget = { .max = 20000 };
	uint64_t n;

	rsp_frame_store_bound(&st, &budget);
	n = fill(&st);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_lt(n, 10000 / 8);
	ck_assert_uint_eq(st.frames.n_frames, n);
	rsp_frame_store_fini(&st); /* before the budget */
}
END_TEST

START_TEST(stores_share_a_budget_and_give_it_back)
{
	struct rsp_frame_budget budget = { .max = 4096 };
	struct rsp_frame_store other;
	uint64_t n;

	rsp_frame_store_init(&other);
	rsp_frame_store_bound(&st, &budget);
	rsp_frame_store_bound(&other, &budget);
	n = fill(&st);
	ck_assert(n > 40 && budget.used >= 2048);
	ck_assert_uint_eq(fill(&other), 0);
	rsp_frame_store_reset(&st, TS_NO_COUNT, false);
	ck_assert_uint_eq(budget.used, 0);
	for (uint64_t i = 0; i < 5; i++)
		add(i); /* 56 bytes each, as much as 7 / 5 of those without a range */
	ck_assert_uint_eq(fill(&other), n - 7);
	rsp_frame_store_fini(&other);
	budget.max = 1 << 20;
	rsp_frame_store_reset(&st, FRAME_LEN, true);
	for (uint64_t i = 0; i < 20000; i++) /* what was dropped counts no longer */
		add(i);
	rsp_frame_store_fini(&st);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

UNIT_FIXTURE_SUITE("frame_store", setup, teardown, stores_share_a_budget_and_give_it_back,
		   frames_are_kept_and_found, a_full_store_takes_no_more_and_stays_as_it_was,
		   a_circular_store_has_the_last_frames_however_many_there_were, memory_is_a_limit_too,
		   the_users_limit_holds_for_ranges_and_over_a_reset, what_one_frame_holds_is_limited)
