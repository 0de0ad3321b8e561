/* SPDX-License-Identifier: MIT */
/*
 * A reader of BAP's frames goes on from a decode point or behind damage as if it had read all, or refuses.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "bap_case.h"

/* ---------------------------------------------------------------------------------------------- index */

/* Damage in frame 70 of 200: the index leads on to frame 128, unless its entries do not ascend. */
START_TEST(an_index_whose_entries_do_not_ascend_leads_nowhere)
{
	for (unsigned round = 0; round < 2; round++) {
		size_t end;

		ts_buf_reset(&file);
		bap_text(&file, X64);
		for (unsigned i = 0; i < 200; i++) {
			if (i == 70)
				bap_text_line(&file, "damage");
			else
				bap_text_line(&file, "step %x 1 90", 0x1000 + i);
		}
		end = file.len;
		bap_text_line(&file, "index 64");
		if (round) /* entries 64 and 128 change places */
			for (unsigned i = 0; i < 8; i++) {
				uint8_t byte = file.data[end + 8 + i];

				file.data[end + 8 + i] = file.data[end + 16 + i];
				file.data[end + 16 + i] = byte;
			}
		load();
		ck_assert_uint_eq(tl->n_steps, round ? 70 : 70 + 72);
		close_trace();
	}
}
END_TEST

/* -------------------------------------------------------------------------------------- decode points */

/* A reader of a trace with flags, calls and threads, and its decode point after @n steps. */
static struct ts_reader *reader_after(unsigned n, struct ts_buf *point)
{
	struct ts_reader *r = rec->ops->reader(rec, &err);
	struct ts_steps steps;

	ck_assert_ptr_nonnull(r);
	ts_steps_init(&steps);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_ITEM);
	ts_steps_fini(&steps);
	ts_buf_init(point);
	ts_reader_save(r, point);
	return r;
}

static void load_for_points(void)
{
	load_text("2 9:64 bpt/1.0.0\n"
		  "step 1000 0 90 rax=1/8 cf=1/1.1 > rbx=2/8\n"
		  "step 1001 1 90 rax=3/8 > rcx=5/8 zf=1/1.1\n"
		  "call 1002 0 3c 1 2\nstep 1002 1 90\nstep 1002 0 0f05 rax=3c/8\nstep 1004 0 90\n");
}

START_TEST(a_decode_point_that_was_changed_is_refused_or_is_one)
{
	struct ts_buf point;
	struct ts_reader *r;
	struct ts_steps steps;
	unsigned n_refused = 0;

	load_for_points();
	r = reader_after(3, &point);
	ts_steps_init(&steps);
	for (size_t i = 0; i < point.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint8_t *copy = malloc(point.len); /* its end is watched by the sanitizers */

			memcpy(copy, point.data, point.len);
			copy[i] ^= (uint8_t)(1u << bit);
			ts_error_reset(&err);
			if (!ts_reader_resume(r, copy, point.len, &err)) {
				ck_assert_str_eq(err.text, "the decode point belongs to another trace");
				n_refused++;
			} else {
				ts_steps_reset(&steps);
				ts_reader_next(r, &steps, &err);
			}
			free(copy);
		}
	}
	ck_assert_uint_gt(n_refused, point.len);
	ck_assert_uint_eq(rec->n_threads, 2); /* none was made up */
	ts_steps_fini(&steps);
	ts_reader_close(r);
	ts_buf_fini(&point);
}
END_TEST

START_TEST(a_decode_point_that_was_truncated_is_refused)
{
	struct ts_buf point;
	struct ts_reader *r;

	load_for_points();
	r = reader_after(3, &point);
	for (size_t len = 0; len < point.len; len++) {
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, point.data, len);
		ts_error_reset(&err);
		ck_assert(!ts_reader_resume(r, copy, len, &err));
		ck_assert_str_eq(err.text, "the decode point belongs to another trace");
		free(copy);
	}
	ts_error_reset(&err);
	ck_assert(ts_reader_resume(r, point.data, point.len, &err));
	ts_reader_close(r);
	ts_buf_fini(&point);
}
END_TEST

/* A call waits for its instruction, which comes after the point. */
START_TEST(a_reader_goes_on_from_a_decode_point_as_the_one_that_saved_it)
{
	struct ts_buf point;
	struct ts_reader *r, *other;
	struct ts_steps a, b;

	load_for_points();
	r = reader_after(2, &point);
	other = rec->ops->reader(rec, &err);
	ck_assert(ts_reader_resume(other, point.data, point.len, &err));
	ts_steps_init(&a);
	ts_steps_init(&b);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(ts_reader_next(r, &a, &err), TS_ITEM);
		ck_assert_int_eq(ts_reader_next(other, &b, &err), TS_ITEM);
	}
	ck_assert_uint_eq(a.n_events, 1);
	ck_assert_uint_eq(b.n_events, 1);
	ck_assert_uint_eq(b.events[0].number, 0x3c);
	ck_assert_uint_eq(a.n_effects, b.n_effects);
	for (uint32_t i = 0; i < a.n_effects; i++) {
		ck_assert_int_eq(a.effects[i].kind, b.effects[i].kind);
		ck_assert_uint_eq(a.effects[i].addr, b.effects[i].addr);
		ck_assert_uint_eq(a.effects[i].len, b.effects[i].len);
	}
	ck_assert_uint_eq(a.n_data, b.n_data);
	ck_assert_mem_eq(a.data, b.data, a.n_data);
	ts_steps_fini(&a);
	ts_steps_fini(&b);
	ts_reader_close(r);
	ts_reader_close(other);
	ts_buf_fini(&point);
}
END_TEST

/* 8 are kept: one more would lie behind them. */
START_TEST(as_many_calls_as_are_kept_go_with_a_decode_point)
{
	struct ts_buf point;
	struct ts_reader *r, *other;
	struct ts_steps steps;

	ts_buf_reset(&file);
	bap_text(&file, X64);
	bap_text_line(&file, "step 1000 0 90");
	for (unsigned i = 0; i < 8; i++)
		bap_text_line(&file, "call %x 0 %x 1 2", 0x2000 + 2 * i, 0x60 + i);
	bap_text_line(&file, "step 1001 0 90");
	bap_text_line(&file, "step 1002 0 90");
	for (unsigned i = 0; i < 8; i++)
		bap_text_line(&file, "step %x 0 0f05 rax=%x/8", 0x2000 + 2 * i, 0x60 + i);
	bap_text_line(&file, "step 3000 0 90");
	load();
	r = reader_after(2, &point);
	other = rec->ops->reader(rec, &err);
	ck_assert(ts_reader_resume(other, point.data, point.len, &err));
	ts_steps_init(&steps);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(ts_reader_next(other, &steps, &err), TS_ITEM);
	ck_assert_uint_eq(steps.n_events, 8);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(steps.events[i].number, 0x60 + i);
	ts_steps_fini(&steps);
	ts_reader_close(r);
	ts_reader_close(other);
	ts_buf_fini(&point);
}
END_TEST

/* The instruction runs twice, and its call waits once: the second execution has none.  Another call goes on waiting. */
START_TEST(a_call_that_was_taken_waits_no_longer)
{
	struct ts_reader *r;
	struct ts_steps steps;

	ts_buf_reset(&file);
	bap_text(&file, X64);
	bap_text_line(&file, "step 1000 0 90");
	bap_text_line(&file, "call 3000 0 61 1 2");
	bap_text_line(&file, "call 2000 0 60 1 2");
	for (unsigned i = 0; i < 2; i++)
		bap_text_line(&file, "step 2000 0 0f05 rax=60/8");
	bap_text_line(&file, "step 2002 0 90");
	load();
	r = rec->ops->reader(rec, &err);
	ts_steps_init(&steps);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_ITEM);
	ck_assert_uint_eq(steps.n_events, 1);
	ck_assert_uint_eq(steps.events[0].number, 0x60);
	ts_steps_fini(&steps);
	ts_reader_close(r);
}
END_TEST

/* The registers of threads that the reader no longer keeps are unknown, too. */
START_TEST(after_damage_no_register_of_any_thread_is_known)
{
	ts_buf_reset(&file);
	bap_text(&file, X64);
	for (unsigned k = 0; k < 200; k++) {
		if (k == 150)
			bap_text_line(&file, "damage");
		else
			bap_text_line(&file, "step %x %x 90 > rax=%x/8", 0x1000 + k, k % 100 + 1, k);
	}
	bap_text_line(&file, "index 64");
	load();
	ck_assert_uint_eq(tl->n_steps, 150 + 8); /* the index leads on to frame 192 */
	ck_assert_str_eq(thread_reg(149, 48, "rax"), "94"); /* 148 */
	ck_assert_str_eq(thread_reg(149, 60, "rax"), "3c");
	ck_assert_str_eq(thread_reg(150, 48, "rax"), "?");
	ck_assert_str_eq(thread_reg(150, 60, "rax"), "?");
	ck_assert_str_eq(thread_reg(158, 99, "rax"), "c7");
}
END_TEST

UNIT_FIXTURE_SUITE("bap_resume", setup, teardown, an_index_whose_entries_do_not_ascend_leads_nowhere,
		   a_decode_point_that_was_changed_is_refused_or_is_one,
		   a_decode_point_that_was_truncated_is_refused,
		   a_reader_goes_on_from_a_decode_point_as_the_one_that_saved_it,
		   as_many_calls_as_are_kept_go_with_a_decode_point,
		   a_call_that_was_taken_waits_no_longer,
		   after_damage_no_register_of_any_thread_is_known)
