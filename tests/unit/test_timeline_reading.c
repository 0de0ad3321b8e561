/* SPDX-License-Identifier: MIT */
/*
 * A timeline reads a recording to its end, however short, long or damaged it is, and tells of a trace that
 * changes while it is served.
 *
 * Built twice: with the sizes of chunks and segments as they are, and with tiny ones
 * (test_timeline_reading_tiny), so that recordings of a few hundred steps have many of both.
 */
#include "unit.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "src/timeline/builder.h"
#include "src/trace/point.h"
#include "timeline_case.h"

/* Open a script that cannot be served; *err gets why. */
static void check_refused(struct script *s, struct ts_error *err)
{
	struct ts_timeline *tl;

	ts_error_reset(err);
	tl = ts_timeline_new(&s->rec, NULL, err);
	ck_assert_ptr_nonnull(tl);
	ck_assert_int_eq(ts_timeline_grow(tl, 10, err), TS_FAIL);
	ts_timeline_free(tl);
	script_free(s);
}

START_TEST(a_recording_without_a_step_is_refused)
{
	struct ts_error err;

	check_refused(script_new("x86_64", 1, NULL), &err);
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
}
END_TEST

START_TEST(damage_before_the_first_step_is_what_one_hears_of)
{
	struct script *s = script_new("x86_64", 1, NULL);
	struct ts_error err;

	s->ending = TS_FAIL;
	s->damage = TS_ECORRUPT;
	check_refused(s, &err);
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_str_eq(err.text, "the script is damaged after 0 steps");
}
END_TEST

START_TEST(a_recording_that_names_its_first_thread_with_its_first_step_has_an_initial_state)
{
	struct script *s = script_new("x86_64", 1, NULL);
	struct exam x = { .s = s, .n_steps = 1 };
	uint8_t data[2], known[2];
	struct ts_error err = { 0 };

	s->rec.n_threads = 0;
	ts_steps_value(&s->rec.initial, TS_FX_WRITE, 0x5000, "a", 1);
	ts_steps_close(&s->steps, 0x1000, 4, 0);
	read_all(&x, IN_MEMORY);
	must(&x, ts_query_mem(x.q, 0, 0, 0x5000, 2, data, known, &err), &err);
	ck_assert_uint_eq(data[0], 'a');
	ck_assert_uint_eq(known[0], 1);
	ck_assert_uint_eq(known[1], 0);
	ts_query_free(x.q);
	ts_timeline_free(x.tl);
	script_free(s);
}
END_TEST

/* A recording of one thread, read without images. */
static void open_plain(struct exam *x, uint64_t n_steps)
{
	*x = (struct exam){ .s = script_new("x86_64", 1, NULL), .n_steps = n_steps };
	for (uint64_t i = 0; i < n_steps; i++) {
		ts_steps_value(&x->s->steps, TS_FX_REG_WRITE, 0, &i, sizeof(i));
		ts_steps_close(&x->s->steps, 0x1000 + 4 * i, 4, 0);
	}
	read_all(x, IN_MEMORY);
}

static void close_plain(struct exam *x)
{
	ts_query_free(x->q);
	ts_timeline_free(x->tl);
	script_free(x->s);
}

/* The first register at a position; false if the trace fails. */
static bool first_reg(struct exam *x, uint64_t pos, uint64_t *value, struct ts_error *err)
{
	uint8_t data[1024], known[1024];

	ts_error_reset(err);
	if (!ts_query_regs(x->q, pos, 0, data, known, err))
		return false;
	memcpy(value, data, sizeof(*value));
	return true;
}

START_TEST(a_trace_that_is_gone_for_a_while_is_an_error_and_then_right_again)
{
	struct ts_error err;
	struct exam x;
	uint64_t value;

	open_plain(&x, 3 * TS_CHUNK_STEPS);
	x.s->fail_at = TS_CHUNK_STEPS + 3;
	ck_assert(first_reg(&x, TS_CHUNK_STEPS + 2, &value, &err));
	ck_assert(!first_reg(&x, TS_CHUNK_STEPS + 3, &value, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_int_eq(strncmp(err.text, "step ", 5), 0);
	ck_assert_ptr_nonnull(strstr(err.text, ": the script's trace is gone"));
	ck_assert(first_reg(&x, 4, &value, &err));
	ck_assert_uint_eq(value, 3);
	ck_assert(!first_reg(&x, TS_CHUNK_STEPS + 5, &value, &err));
	x.s->fail_at = UINT64_MAX;
	for (uint64_t pos = 1; pos <= x.n_steps; pos++) {
		ck_assert(first_reg(&x, pos, &value, &err));
		ck_assert_uint_eq(value, pos - 1);
	}
	close_plain(&x);
}
END_TEST

START_TEST(a_trace_that_has_become_shorter_is_an_error)
{
	struct ts_error err;
	struct exam x;
	uint64_t value;

	open_plain(&x, 2 * TS_CHUNK_STEPS);
	x.s->steps.n_steps = TS_CHUNK_STEPS + 2;
	ck_assert(first_reg(&x, TS_CHUNK_STEPS + 1, &value, &err));
	ck_assert(!first_reg(&x, TS_CHUNK_STEPS + 2, &value, &err));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ck_assert_ptr_nonnull(strstr(err.text, "shorter"));
	ck_assert(first_reg(&x, TS_CHUNK_STEPS - 1, &value, &err));
	close_plain(&x);
}
END_TEST

static void expect_step(struct exam *x, uint64_t pos)
{
	struct ts_error err = { 0 };
	const struct ts_steps *b;
	const struct ts_step *s = ts_query_step(x->q, pos, &b, &err);

	ck_assert_msg(s != NULL, "step %" PRIu64 ": %s", pos, err.text);
	ck_assert_uint_eq(s->pc, 0x1000 + 4 * pos);
}

/* The chunk that gives way to chunk @n, whatever number of chunks is kept, is the one that was read last. */
START_TEST(the_chunk_that_was_read_last_may_give_way_to_another)
{
	struct exam x;

	open_plain(&x, 34 * TS_CHUNK_STEPS);
	for (uint64_t n = 2; n < 34; n++) {
		for (uint64_t chunk = 0; chunk < n; chunk++)
			expect_step(&x, chunk * TS_CHUNK_STEPS);
		for (uint64_t chunk = 0; chunk + 1 < n; chunk++)
			expect_step(&x, chunk * TS_CHUNK_STEPS);
		expect_step(&x, n * TS_CHUNK_STEPS);
	}
	close_plain(&x);
}
END_TEST

START_TEST(growing_by_any_amount_reads_whole_chunks_up_to_the_end)
{
	struct script *s = script_random_new(3, 5 * TS_CHUNK_STEPS + 1);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);

	ck_assert_ptr_nonnull(tl);
	ck_assert_int_eq(ts_timeline_grow(tl, 1, &err), TS_MORE);
	ck_assert_uint_eq(ts_timeline_n_read(tl), TS_CHUNK_STEPS);
	ck_assert_int_eq(ts_timeline_grow(tl, TS_CHUNK_STEPS + 1, &err), TS_MORE);
	ck_assert_uint_eq(ts_timeline_n_read(tl), 3 * TS_CHUNK_STEPS);
	ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_END);
	ck_assert_uint_eq(tl->n_steps, 5 * TS_CHUNK_STEPS + 1);
	ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_END);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

/* ---------------------------------------------------------------------------------------- long recordings */

/* Steps by a formula, so that they need no memory. */
struct long_reader {
	struct ts_reader base;
	uint64_t step, n_steps;
};

static uint64_t long_n_steps;

#define LONG_LOOP 1000u /* a loop of so many instructions, the first of which writes the step's number */
#define LONG_ADDR UINT64_C(0x7fff0000)

static enum ts_next long_next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct long_reader *r = (struct long_reader *)base;

	(void)err;
	if (r->step == r->n_steps)
		return TS_END;
	if (r->step % LONG_LOOP == 0)
		ts_steps_value(out, TS_FX_WRITE, LONG_ADDR, &r->step, sizeof(r->step));
	ts_steps_close(out, 0x1000 + 4 * (r->step % LONG_LOOP), 4, 0);
	r->step++;
	return TS_ITEM;
}

static bool long_point(struct ts_reader *base, struct ts_point *p)
{
	return ts_point_fixed(p, &((struct long_reader *)base)->step, sizeof(uint64_t));
}

static void long_close(struct ts_reader *base)
{
	free(base);
}

static struct ts_reader *long_open(struct ts_recording *rec, struct ts_error *err)
{
	static const struct ts_reader_ops ops = {
		.next = long_next, .point = long_point, .close = long_close
	};
	struct long_reader *r = calloc(1, sizeof(*r));

	(void)rec;
	(void)err;
	ck_assert_ptr_nonnull(r);
	r->base.ops = &ops;
	r->n_steps = long_n_steps;
	return &r->base;
}

static void check_long(struct ts_timeline *tl, struct ts_query *q, uint64_t pos)
{
	uint64_t last_write = pos ? (pos - 1) / LONG_LOOP * LONG_LOOP : 0, value;
	struct ts_watch watch = { 0, LONG_ADDR, 8, TS_WATCH_ACCESS };
	struct ts_stops stops = { .watches = &watch, .n_watches = 1 };
	uint8_t data[8], known[8];
	struct ts_error err = { 0 };
	struct ts_search search;
	struct ts_found found;

	ck_assert(ts_query_mem(q, pos, 0, LONG_ADDR, 8, data, known, &err));
	memcpy(&value, data, 8);
	ck_assert_uint_eq(value, last_write);
	ck_assert_uint_eq(known[0], pos > 0);
	ck_assert_uint_eq(ts_runs_find(&tl->runs, 0, 0x1000, 0x1000, pos, TS_BACKWARDS), pos / LONG_LOOP * LONG_LOOP);
	ck_assert(ts_search_init(&search, q, &stops, pos, 0, &err));
	ck_assert_int_eq(ts_search_run(&search, 2, &found, &err), TS_ITEM);
	ck_assert_uint_eq(found.pos, last_write);
	ts_search_fini(&search);
}

START_TEST(several_segments_answer_as_one)
{
	static const struct ts_recording_ops ops = { .reader = long_open };
	uint64_t segment = (uint64_t)TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS;
	struct script_random r = { 8 };
	struct ts_error err = { 0 };
	struct ts_recording rec;
	struct ts_timeline *tl;
	struct ts_query *q;

	ts_recording_init(&rec, &ops, "formula");
	rec.has_reads = true; /* else each step is decoded for what its instruction may have read */
	ck_assert(ts_regset_init(&rec.regs, ts_arch_find("x86_64"), 0, &err));
	ck_assert_uint_eq(ts_recording_thread(&rec, 0, 1, 1), 0);
	rec.has_reads = true;
	long_n_steps = 2 * segment + 5000;
	tl = ts_timeline_new(&rec, NULL, &err);
	ck_assert_ptr_nonnull(tl);
	ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_END);
	ck_assert_uint_eq(tl->n_steps, long_n_steps);
	q = ts_query_new(tl, &err);
	for (unsigned i = 0; i < 2000; i++)
		check_long(tl, q, script_below(&r, long_n_steps));
	for (uint64_t pos = segment - 2; pos < segment + 2; pos++)
		check_long(tl, q, pos);
	check_long(tl, q, 0);
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_fini(&rec);
}
END_TEST

/* The index is looked at for the limit on its memory once in so many chunks. */
#define N_LOOK 64

/*
 * The thread that decodes has given the calls what is beyond the chunk after which the limit on memory ends the
 * reading: they are left out.
 */
START_TEST(calls_that_were_given_more_than_is_kept_are_left_out)
{
	struct script *s = script_random_new(5, (N_LOOK + 16) * TS_CHUNK_STEPS),
		      *twin = script_random_new(5, (N_LOOK + 16) * TS_CHUNK_STEPS);
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);

	ck_assert_ptr_nonnull(tl);
	ts_timeline_read_whole(tl);
	ck_assert(ts_timeline_read_ahead(tl, &twin->rec, &err));
	ck_assert(ts_timeline_has(tl, &ts_calls_section));
	while (ts_timeline_n_read(tl) < (N_LOOK - 1) * TS_CHUNK_STEPS)
		ck_assert_int_eq(ts_timeline_grow(tl, 1, &err), TS_MORE);
	while (TS_SEGMENT_CHUNKS > N_LOOK && ts_feed_n_passed(tl->builder->feed) <= N_LOOK)
		sched_yield();
	tl->max_memory = 1;
	while (ts_timeline_grow(tl, 1, &err) == TS_MORE)
		;
	ck_assert_int_eq(tl->damage.code, TS_ELIMIT);
	ck_assert_uint_eq(tl->n_steps, N_LOOK * TS_CHUNK_STEPS);
	/* no segment is given to before the one before it is sealed: tiny ones end with what is kept */
	ck_assert_int_eq(ts_timeline_has(tl, &ts_calls_section), TS_SEGMENT_CHUNKS <= N_LOOK);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

UNIT_SUITE("timeline_reading", a_recording_without_a_step_is_refused,
	   damage_before_the_first_step_is_what_one_hears_of,
	   a_recording_that_names_its_first_thread_with_its_first_step_has_an_initial_state,
	   a_trace_that_is_gone_for_a_while_is_an_error_and_then_right_again,
	   a_trace_that_has_become_shorter_is_an_error, the_chunk_that_was_read_last_may_give_way_to_another,
	   growing_by_any_amount_reads_whole_chunks_up_to_the_end, several_segments_answer_as_one,
	   calls_that_were_given_more_than_is_kept_are_left_out)
