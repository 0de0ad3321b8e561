/* SPDX-License-Identifier: MIT */
/*
 * Chunks of a recording, decoded when they are asked for or ahead on a thread: the same either way.
 */
#include "unit.h"

#include "script.h"
#include "src/timeline/space/lines.h"
#include "src/trace/feed.h"
#include "src/trace/feed_parts.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define SEED 7
#define N_STEPS (20 * TS_CHUNK_STEPS + 5)

static struct script *s;
static struct ts_feed *f;
static struct ts_error err;

static void setup(void)
{
	ts_error_reset(&err);
	s = script_random_new(SEED, N_STEPS);
	f = ts_feed_new(&s->rec, &err);
	ck_assert_ptr_nonnull(f);
}

static void teardown(void)
{
	ts_feed_free(f);
	script_free(s);
}

static void go_ahead(void)
{
	ck_assert_msg(ts_feed_go_ahead(f, &script_random_new(SEED, N_STEPS)->rec, &err), "%s", err.text);
}

static struct ts_batch *next_batch(void)
{
	struct ts_batch *b;

	do
		b = ts_feed_next(f);
	while (!b);
	return b;
}

/* The batch holds the script's steps from @first on. */
static void check_batch(const struct ts_batch *b, uint32_t first)
{
	uint32_t n = N_STEPS - first < TS_CHUNK_STEPS ? N_STEPS - first : TS_CHUNK_STEPS;

	ck_assert_uint_eq(b->steps.n_steps, n);
	ck_assert_int_eq(b->next, first + n < N_STEPS ? TS_ITEM : TS_END);
	for (uint32_t i = 0; i < n; i++) {
		const struct ts_step *got = &b->steps.steps[i], *want = &s->steps.steps[first + i];

		ck_assert_uint_eq(got->pc, want->pc);
		ck_assert_uint_eq(got->thread, want->thread);
		ck_assert_uint_eq(got->n_effects, want->n_effects);
		ck_assert_uint_lt(want->thread, s->rec.n_threads);
	}
}

static void check_from(uint32_t first)
{
	for (uint32_t at = first; at < N_STEPS; at += TS_CHUNK_STEPS)
		check_batch(next_batch(), at);
}

START_TEST(batches_hold_the_steps_in_order)
{
	check_from(0);
}
END_TEST

START_TEST(the_thread_gives_the_same_batches)
{
	go_ahead();
	check_from(0);
	ck_assert_uint_eq(s->n_reads, 0); /* all were read from the twin */
}
END_TEST

START_TEST(a_thread_that_rested_goes_on_where_it_was)
{
	go_ahead();
	for (uint32_t at = 0; at < N_STEPS; at += TS_CHUNK_STEPS) {
		check_batch(next_batch(), at);
		ts_feed_stop_threads(f);
	}
}
END_TEST

START_TEST(it_may_be_freed_at_any_time)
{
	go_ahead();
	for (int i = 0; i < _i; i++)
		next_batch();
}
END_TEST

START_TEST(the_point_after_a_batch_is_where_the_next_begins)
{
	const struct ts_end end = { .pc = 5, .has_pc = true };
	const struct ts_batch *b;
	struct ts_buf after;

	if (_i)
		go_ahead();
	next_batch();
	b = next_batch();
	ts_buf_init(&after);
	ts_buf_put(&after, b->after.data, b->after.len);
	ts_feed_free(f);
	f = ts_feed_new(&s->rec, &err);
	ck_assert(ts_feed_resume(f, after.data, after.len, &end, &err));
	ts_buf_fini(&after);
	if (_i)
		go_ahead();
	check_from(2 * TS_CHUNK_STEPS);
}
END_TEST

/* A reader that finds nothing more says of the end what was said before. */
START_TEST(what_was_said_of_the_end_is_kept)
{
	const struct ts_end end = { .pc = 5, .has_pc = true };
	struct ts_buf start;
	struct ts_batch *b;

	ts_buf_init(&start);
	ts_feed_start(f, &start);
	s->fail_at = 0;
	ck_assert(ts_feed_resume(f, start.data, start.len, &end, &err));
	ts_buf_fini(&start);
	b = next_batch();
	ck_assert_int_eq(b->next, TS_FAIL);
	ck_assert_int_eq(b->err.code, TS_EIO);
	ck_assert_uint_eq(b->steps.n_effects, 0); /* what was read of the step is dropped */
	ck_assert_uint_eq(b->steps.n_events, 0);
	ck_assert_uint_eq(b->end.pc, 5);
	ck_assert(b->end.has_pc);
}
END_TEST

/* A recording with so much in each step that a few chunks are all that may be decoded ahead. */
#define LARGE_LEN     ((UINT64_C(4) << 20) / TS_CHUNK_STEPS)
#define N_LARGE       (40 * TS_CHUNK_STEPS)
#define MAX_AHEAD_LEN (UINT64_C(28) << 20)
#define MAX_FAR_LEN   (UINT64_C(56) << 20)

static struct script *make_large(void)
{
	static const uint8_t value[LARGE_LEN];
	struct script *x = script_new("x86-64", 1, NULL);

	ts_steps_value(&x->steps, TS_FX_WRITE, 0, value, LARGE_LEN);
	for (uint32_t i = 0; i < N_LARGE; i++) {
		struct ts_effect *e = i ? ts_steps_effect(&x->steps, TS_FX_WRITE, i, LARGE_LEN) : NULL;

		if (e) /* the same bytes */
			e->data = x->steps.effects[0].data;
		ts_steps_close(&x->steps, 0x1000 + i, 1, 0);
	}
	return x;
}

/* Work that takes longer than decoding the batch did, so that the thread gets ahead. */
static void dwell(const struct ts_batch *b)
{
	uint32_t n_ones = 0;

	for (int i = 0; i < 4; i++)
		for (uint32_t at = 0; at < b->steps.n_data; at++)
			n_ones += b->steps.data[at] == 1 + i;
	ck_assert_uint_eq(n_ones, 0);
}

static void check_bound(bool is_far, uint64_t max_len)
{
	struct script *large = make_large(), *twin = make_large();

	ts_feed_free(f);
	f = ts_feed_new(&large->rec, &err);
	ck_assert(ts_feed_go_ahead(f, &twin->rec, &err));
	for (uint64_t end = TS_CHUNK_STEPS; end <= N_LARGE; end += TS_CHUNK_STEPS) {
		const struct ts_batch *b = next_batch();

		ck_assert_uint_eq(b->steps.n_steps, TS_CHUNK_STEPS);
		ck_assert_uint_eq(b->steps.steps[0].pc, 0x1000 + end - TS_CHUNK_STEPS);
		if (is_far)
			ts_feed_allow_lead(f);
		dwell(b);
		if (end % (20 * TS_CHUNK_STEPS))
			continue;
		ts_feed_stop_threads(f); /* the thread counts its steps */
		ck_assert_uint_le((twin->n_reads - end) * LARGE_LEN, max_len);
	}
	ts_feed_free(f);
	f = NULL;
	script_free(large);
}

START_TEST(what_is_decoded_ahead_is_bounded_in_bytes)
{
	check_bound(_i, _i ? MAX_FAR_LEN : MAX_AHEAD_LEN);
}
END_TEST

/* --------------------------------------------------------------------------------------- several decoders */

#define N_MANY (100 * TS_CHUNK_STEPS + 5)

/* What the scripts of a test are like, which are each other's twins. */
static uint32_t odd_every, lie_every;

static struct script *make_many(void)
{
	struct script *x = script_random_new(SEED, N_MANY);

	x->odd_every = odd_every;
	x->lie_every = lie_every;
	return x;
}

/* A feed of a long script, with as many twins as can be used. */
static void begin_many(unsigned n_jobs)
{
	unsigned n_twins;

	ts_feed_free(f);
	script_free(s);
	s = make_many();
	f = ts_feed_new(&s->rec, &err);
	n_twins = ts_feed_n_twins(f, n_jobs);
	ck_assert_uint_eq(n_twins, n_jobs < 4 ? 1 : n_jobs < 6 ? 3 : n_jobs < 8 ? 4 : 5);
	while (n_twins--)
		ck_assert_msg(ts_feed_go_ahead(f, &make_many()->rec, &err), "%s", err.text);
}

static uint64_t n_odd(void)
{
	return s->rec.n_warnings ? s->rec.warnings[0].count : 0;
}

/* All batches, in order, and what is odd with the batch where it is. */
static void check_many(bool rests)
{
	for (uint64_t at = 0; at < N_MANY; at += TS_CHUNK_STEPS) {
		const struct ts_batch *b = next_batch();
		uint64_t end = at + b->steps.n_steps;

		ck_assert_uint_eq(end, at + TS_CHUNK_STEPS < N_MANY ? at + TS_CHUNK_STEPS : N_MANY);
		ck_assert_int_eq(b->next, end < N_MANY ? TS_ITEM : TS_END);
		for (uint32_t i = 0; i < b->steps.n_steps; i++) {
			ck_assert_uint_eq(b->steps.steps[i].pc, s->steps.steps[at + i].pc);
			ck_assert_uint_lt(b->steps.steps[i].thread, s->rec.n_threads);
		}
		ck_assert_uint_eq(n_odd(), odd_every ? (end + odd_every - 1) / odd_every : 0);
		if (rests)
			ts_feed_stop_threads(f);
	}
	ck_assert_uint_eq(s->n_reads, 0);
}

static void check_all_numbers_of_jobs(void)
{
	for (unsigned n_jobs = 1; n_jobs <= 9; n_jobs++) {
		begin_many(n_jobs);
		check_many(n_jobs % 2);
	}
}

START_TEST(several_decoders_give_the_same_batches)
{
	odd_every = lie_every = 0;
	check_all_numbers_of_jobs();
}
END_TEST

START_TEST(wrong_guesses_are_dropped)
{
	odd_every = 0;
	lie_every = (uint32_t)_i;
	check_all_numbers_of_jobs();
}
END_TEST

/* Decoders that found something where the guess was wrong must not pass it on. */
START_TEST(what_is_odd_is_counted_once)
{
	static const uint32_t all[] = { 1, 3 * TS_CHUNK_STEPS, 10 * TS_CHUNK_STEPS + 1, 40 * TS_CHUNK_STEPS };

	odd_every = all[_i / 3];
	lie_every = (uint32_t)_i % 3;
	check_all_numbers_of_jobs();
}
END_TEST

START_TEST(several_decoders_may_be_freed_at_any_time)
{
	odd_every = 0;
	lie_every = 3;
	begin_many(8);
	for (int i = 0; i < _i * 7; i++)
		next_batch();
}
END_TEST

/* ------------------------------------------------------------------------------------------------ looking */

/* Steps that were looked at, one after the other, as many batches; the batch that fails, and any that is wrong. */
static uint64_t look_pos, n_looks, bad_look;
static bool is_look_wrong;

static bool look(void *user, const struct ts_steps *steps)
{
	ck_assert_ptr_eq(user, &look_pos);
	for (uint32_t i = 0; i < steps->n_steps; i++)
		is_look_wrong |= steps->steps[i].pc != s->steps.steps[look_pos + i].pc;
	look_pos += steps->n_steps;
	return n_looks++ != bad_look;
}

static void begin_looks(uint64_t n)
{
	look_pos = n_looks = 0;
	bad_look = UINT64_MAX;
	is_look_wrong = false;
	ts_feed_set_pass(f, look, &look_pos);
	ts_feed_allow_pass(f, n);
}

static void begin_looking(unsigned n_jobs, uint64_t n)
{
	odd_every = 0;
	begin_many(n_jobs);
	begin_looks(n);
}

static void wait_for_looks(uint64_t n)
{
	while (ts_feed_n_passed(f) < n)
		sched_yield();
}

START_TEST(each_batch_is_looked_at_once_and_in_order)
{
	lie_every = (uint32_t)_i;
	for (unsigned n_jobs = 1; n_jobs <= 9; n_jobs++) {
		begin_looking(n_jobs, UINT64_MAX);
		for (uint64_t n = 1; n <= N_MANY / TS_CHUNK_STEPS + 1; n++) {
			next_batch();
			ck_assert(ts_feed_run_pass(f));
			ck_assert_uint_ge(ts_feed_n_passed(f), n);
			if (n_jobs % 2)
				ts_feed_stop_threads(f);
		}
		ts_feed_stop_threads(f);
		ck_assert_uint_eq(look_pos, N_MANY);
		ck_assert_uint_eq(n_looks, N_MANY / TS_CHUNK_STEPS + 1);
		ck_assert(!is_look_wrong);
	}
}
END_TEST

/* Nobody takes more than the first batch: so the ring becomes full, and all in it is looked at that may be. */
START_TEST(threads_without_room_look_as_far_as_they_may)
{
	lie_every = 0;
	begin_looking(2 + 2 * (unsigned)_i, 5);
	next_batch();
	wait_for_looks(5);
	ts_feed_allow_pass(f, 9);
	wait_for_looks(9);
	ts_feed_stop_threads(f);
	ck_assert_uint_eq(ts_feed_n_passed(f), 9);
	ck_assert_uint_eq(look_pos, 9 * TS_CHUNK_STEPS);
	ck_assert(!is_look_wrong);
}
END_TEST

/* More batches than a thread alone decodes ahead as a rule, and as it may: 72 and 480. */
#define N_RULE 72u
#define N_LEAD  (N_RULE + 100)
#define N_LONG (600 * TS_CHUNK_STEPS)

/* Only a thread without room looks: what it has looked at, it has decoded. */
START_TEST(a_thread_goes_far_when_it_may)
{
	struct script *x = script_random_new(SEED, N_LONG);

	ts_feed_free(f);
	script_free(s);
	s = script_random_new(SEED, N_LONG);
	f = ts_feed_new(&s->rec, &err);
	ck_assert(ts_feed_go_ahead(f, &x->rec, &err));
	begin_looks(UINT64_MAX);
	for (uint64_t at = 0; at < N_LONG; at += TS_CHUNK_STEPS) {
		ck_assert_uint_eq(next_batch()->steps.steps[0].pc, s->steps.steps[at].pc);
		ck_assert(ts_feed_run_pass(f));
		if (at != 5 * TS_CHUNK_STEPS && at != 200 * TS_CHUNK_STEPS)
			continue;
		ts_feed_allow_lead(f);
		wait_for_looks(at / TS_CHUNK_STEPS + N_LEAD);
	}
	ck_assert_uint_eq(look_pos, N_LONG);
	ck_assert(!is_look_wrong);
}
END_TEST

START_TEST(a_look_that_fails_is_a_failure_of_its_batch)
{
	lie_every = 0;
	begin_looking(_i ? 2 : 1, _i ? UINT64_MAX : 0);
	bad_look = 3;
	if (_i) {
		next_batch();
		wait_for_looks(4);
		ck_assert(!ts_feed_run_pass(f));
		return;
	}
	for (unsigned i = 0; i < 3; i++) {
		next_batch();
		ck_assert(ts_feed_run_pass(f));
	}
	next_batch();
	ck_assert(!ts_feed_run_pass(f));
}
END_TEST

/* ----------------------------------------------------------------------------------------- what it learns */

/* A recording that finds a thread and something odd in its second chunk. */
static struct script *make_two_threads(void)
{
	struct script *x = script_new("x86-64", 1, NULL);

	for (uint32_t i = 0; i < 3 * TS_CHUNK_STEPS; i++)
		ts_steps_close(&x->steps, 0x1000 + i, 1, i == TS_CHUNK_STEPS + 3);
	x->n_threads = 2;
	return x;
}

START_TEST(a_thread_is_known_with_the_batch_in_which_it_appears)
{
	struct script *two = make_two_threads();

	ts_feed_free(f);
	f = ts_feed_new(&two->rec, &err);
	ts_recording_warn(&two->rec, "odd from the beginning");
	ck_assert(ts_feed_go_ahead(f, &make_two_threads()->rec, &err));
	next_batch();
	ck_assert_uint_eq(two->rec.n_threads, 1);
	next_batch();
	ck_assert_uint_eq(two->rec.n_threads, 2);
	ck_assert_uint_eq(two->rec.n_warnings, 1);
	ck_assert_str_eq(two->rec.warnings[0].text, "odd from the beginning");
	ts_recording_warn(&two->rec, "what a question finds odd was found by the twin");
	ck_assert_uint_eq(two->rec.n_warnings, 1);
	ts_feed_free(f);
	f = NULL;
	script_free(two);
}
END_TEST

/* ------------------------------------------------------------------------------------ who waits for whom */

#define MS         INT64_C(1000000)
#define N_JUDGED   400u
#define MIN_JUDGED 256u

/*
 * The clock of this program runs ahead of the system's by what the caller and the decoder are said to take.  The decoder
 * is said to take it while the caller waits, for which it waits itself.
 */
static atomic_int_least64_t ahead;
static int64_t decode_ms;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool is_waiting, is_open = true;

struct decoder;
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
void __real_ts_feed_decode(struct decoder *d, struct ts_batch *b);
void __wrap_ts_feed_decode(struct decoder *d, struct ts_batch *b);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int status = __real_clock_gettime(clock, t);
	int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec + ahead;

	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return status;
}

static void set_gate(bool *flag, bool value)
{
	pthread_mutex_lock(&gate);
	*flag = value;
	pthread_cond_broadcast(&gate_changed);
	pthread_mutex_unlock(&gate);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
	int status;

	set_gate(&is_waiting, true);
	status = __real_pthread_cond_timedwait(cond, lock, until);
	set_gate(&is_waiting, false);
	return status;
}

void __wrap_ts_feed_decode(struct decoder *d, struct ts_batch *b)
{
	__real_ts_feed_decode(d, b);
	pthread_mutex_lock(&gate);
	while (!is_open && !is_waiting)
		pthread_cond_wait(&gate_changed, &gate);
	pthread_mutex_unlock(&gate);
	ahead += decode_ms * MS;
}

/* Is the feed slow, after @n batches that the caller takes @ms for, each? */
static bool is_slow_after(unsigned n, int64_t ms)
{
	struct script *many = script_random_new(SEED, N_JUDGED * TS_CHUNK_STEPS);
	bool is_slow;

	ts_feed_free(f);
	f = ts_feed_new(&many->rec, &err);
	ck_assert(ts_feed_go_ahead(f, &script_random_new(SEED, N_JUDGED * TS_CHUNK_STEPS)->rec, &err));
	is_open = false;
	for (unsigned i = 0; i < n; i++) {
		next_batch();
		ahead += ms * MS;
	}
	is_slow = ts_feed_is_slow(f);
	set_gate(&is_open, true);
	ts_feed_free(f);
	f = NULL;
	script_free(many);
	return is_slow;
}

START_TEST(a_feed_is_slow_where_the_caller_waits_for_a_third_of_its_time)
{
	decode_ms = 480; /* of 1,480; the first batches, which are decoded before the caller begins, are free */
	ck_assert(!is_slow_after(N_JUDGED - 50, 1000));
	decode_ms = 750;
	ck_assert(is_slow_after(N_JUDGED - 50, 1000));
	ck_assert(!is_slow_after(MIN_JUDGED - 1, 1000)); /* too early to say */
}
END_TEST

/* The first batch takes long where the trace must be found on a disk: the caller has not begun then. */
START_TEST(waiting_for_the_first_batch_does_not_count)
{
	is_open = false; /* the decoder waits until the caller does */
	go_ahead();
	next_batch();
	ck_assert_int_eq(f->waited, 0);
	set_gate(&is_open, true);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("feed");
	TCase *tc = tcase_create("feed");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, batches_hold_the_steps_in_order);
	tcase_add_test(tc, the_thread_gives_the_same_batches);
	tcase_add_test(tc, a_thread_that_rested_goes_on_where_it_was);
	tcase_add_loop_test(tc, it_may_be_freed_at_any_time, 0, 12);
	tcase_add_loop_test(tc, the_point_after_a_batch_is_where_the_next_begins, 0, 2);
	tcase_add_test(tc, what_was_said_of_the_end_is_kept);
	tcase_add_loop_test(tc, what_is_decoded_ahead_is_bounded_in_bytes, 0, 2);
	tcase_add_test(tc, several_decoders_give_the_same_batches);
	tcase_add_loop_test(tc, wrong_guesses_are_dropped, 1, 4);
	tcase_add_loop_test(tc, what_is_odd_is_counted_once, 0, 12);
	tcase_add_loop_test(tc, several_decoders_may_be_freed_at_any_time, 0, 12);
	tcase_add_loop_test(tc, each_batch_is_looked_at_once_and_in_order, 0, 4);
	tcase_add_loop_test(tc, threads_without_room_look_as_far_as_they_may, 0, 4);
	tcase_add_test(tc, a_thread_goes_far_when_it_may);
	tcase_add_loop_test(tc, a_look_that_fails_is_a_failure_of_its_batch, 0, 2);
	tcase_add_test(tc, a_thread_is_known_with_the_batch_in_which_it_appears);
	tcase_add_test(tc, a_feed_is_slow_where_the_caller_waits_for_a_third_of_its_time);
	tcase_add_test(tc, waiting_for_the_first_batch_does_not_count);
	suite_add_tcase(suite, tc);
	return suite;
}
