/* SPDX-License-Identifier: MIT */
/*
 * The tables of symbols of a server: read on a thread, while other clients are answered.  The thread stands
 * still until a test lets it go on.
 */
#include "fake_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "protocol/session/session.h"
#include "protocol/session/documents/symbol_tables.h"
#include "script.h"
#include "src/base/clock.h"
#include "src/symbols/find_symbols.h"

static struct rsp_session *const s = &fake.session;

/* ------------------------------------------------------------------------------------------- the thread */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_held, is_refused;   /* the thread waits; no thread can be had */
static unsigned n_read, n_in_loop; /* tables that were read, and how many of them by the main thread */
static unsigned n_failures;        /* so many of the next ones cannot be read */
static pthread_t main_thread;

bool __real_ts_symbols_read_all(struct ts_symbols *symbols, struct ts_error *err);
bool __wrap_ts_symbols_read_all(struct ts_symbols *symbols, struct ts_error *err);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);

bool __wrap_ts_symbols_read_all(struct ts_symbols *symbols, struct ts_error *err)
{
	bool is_loop = pthread_equal(pthread_self(), main_thread), fails;

	pthread_mutex_lock(&lock);
	while (is_held && !is_loop)
		pthread_cond_wait(&changed, &lock);
	n_read++;
	n_in_loop += is_loop;
	fails = n_failures > 0;
	n_failures -= fails;
	pthread_mutex_unlock(&lock);
	if (fails)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for symbols");
	return __real_ts_symbols_read_all(symbols, err);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user)
{
	return is_refused ? EAGAIN : __real_pthread_create(thread, attr, run, user);
}

/* The recording is read to its end in the middle of a search, whose slice then is over. */
static bool is_search_slow;
static unsigned n_searches;

enum ts_next __real_ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err);
enum ts_next __wrap_ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err);

enum ts_next __wrap_ts_symbols_search_next(struct ts_symbols_search *f, struct ts_error *err)
{
	const int64_t end = ts_now_ns() + TS_SLICE_NS;

	n_searches += !f->n_images;
	while (is_search_slow && ((!ts_query_is_complete(fake.q) && fake_read_on()) || ts_now_ns() < end))
		;
	is_search_slow = false;
	return __real_ts_symbols_search_next(f, err);
}

static void hold(bool holds)
{
	pthread_mutex_lock(&lock);
	is_held = holds;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------------------------------------- clients */

/* Another one than fake.session. */
static struct rsp_session other;
static struct rsp_reply other_reply;
static unsigned n_told;

static void note_told(void *user)
{
	ck_assert_ptr_eq(user, &n_told);
	__atomic_add_fetch(&n_told, 1, __ATOMIC_SEQ_CST);
}

static const struct ts_symbols_file *images(void)
{
	static struct ts_symbols_file image;

	image.path = unit_data_path("usercorn/x64_walk.elf");
	return &image;
}

static void begin(const struct fake_options *opt)
{
	struct ts_error err = { 0 };

	fake_begin(opt);
	fake.target.images = images();
	fake.target.n_images = 1;
	rsp_symbol_tables_notify(fake.target.symbols, note_told, &n_told);
	ck_assert(rsp_session_init(&other, &fake.target, &err));
	ck_assert(rsp_reply_init(&other_reply, RSP_PACKET_SIZE, &err));
	n_read = n_in_loop = n_failures = n_told = 0;
	is_refused = false;
	main_thread = pthread_self();
	hold(true);
}

static void setup(void)
{
	begin(&(struct fake_options){ 0 });
}

static void teardown(void)
{
	hold(false);
	rsp_session_fini(&other);
	rsp_reply_fini(&other_reply);
	fake_end();
}

#define QUESTION "executions fib first 1"
#define NO_SUCH  "executions no_such_function first 1"

/* Returns whether the packet was answered; the reply to @r. */
static bool send(struct rsp_session *session, struct rsp_reply *r, const char *packet)
{
	bool has_reply;

	rsp_reply_reset(r);
	has_reply = rsp_dispatch_packet(session, (const uint8_t *)packet, strlen(packet), r);
	if (has_reply)
		rsp_reply_finish(r);
	return has_reply;
}

static bool send_other(const char *packet)
{
	return send(&other, &other_reply, packet);
}

/* Where the thread is held, up to where all waits for it: finding the files may take several slices. */
static bool ask_in(struct rsp_session *session, struct rsp_reply *r, const char *question)
{
	char packet[200];
	bool has_reply;

	snprintf(packet, sizeof(packet), "qRcmd,%s", fake_hex(question));
	has_reply = send(session, r, packet);
	while (!has_reply && is_held && !rsp_job_is_stuck(&session->job, session)) {
		rsp_reply_reset(r);
		has_reply = rsp_session_run(session, r);
		if (has_reply)
			rsp_reply_finish(r);
	}
	return has_reply;
}

static bool ask(const char *question)
{
	return ask_in(s, &fake.reply, question);
}

static bool ask_other(const char *question)
{
	return ask_in(&other, &other_reply, question);
}

/* Continue when the thread is ready, to the answer: the reply, and all of the text. */
static const char *finish(struct rsp_session *session, struct rsp_reply *r)
{
	static char text[0x9000];

	while (rsp_job_is_stuck(&session->job, session))
		;
	while (rsp_session_is_running(session)) {
		rsp_reply_reset(r);
		if (rsp_session_run(session, r))
			rsp_reply_finish(r);
	}
	snprintf(text, sizeof(text), "%.*s %s", (int)r->len, (const char *)r->data,
		 ts_buf_text(&session->console));
	ts_buf_reset(&session->console);
	return text;
}

static void check_known(const char *text)
{
	ck_assert_msg(!strncmp(text, "OK ", 3) && strstr(text, "no rows"), "%s", text);
}

/* ------------------------------------------------------------------------------------------------ tests */

START_TEST(others_are_answered_while_symbols_are_read)
{
	ck_assert(!ask(QUESTION));
	ck_assert(rsp_job_is_stuck(&s->job, s));
	ck_assert(send_other("qC"));
	ck_assert(send_other("m401000,4"));
	ck_assert_uint_eq(n_read, 0);
	ck_assert_uint_eq(n_told, 0);
	hold(false);
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_read, 1);
	ck_assert_uint_eq(n_in_loop, 0);
}
END_TEST

START_TEST(who_waits_is_told_that_symbols_are_read)
{
	struct ts_buf out;

	ts_buf_init(&out);
	ck_assert(!ask(QUESTION));
	rsp_job_report(&s->job, s, &out, s->job.next_note);
	ck_assert_str_eq(ts_buf_text(&out), "reading symbols\n");
	ts_buf_fini(&out);
}
END_TEST

/* The server sleeps until then. */
START_TEST(it_is_told_when_they_are_there)
{
	ck_assert(!ask(QUESTION));
	hold(false);
	while (!__atomic_load_n(&n_told, __ATOMIC_SEQ_CST))
		;
	ck_assert(!rsp_job_is_stuck(&s->job, s));
	check_known(finish(s, &fake.reply));
}
END_TEST

START_TEST(who_asks_later_waits_for_the_same_table)
{
	ck_assert(!ask(QUESTION));
	ck_assert(!ask_other(NO_SUCH));
	hold(false);
	ck_assert_ptr_nonnull(strstr(finish(&other, &other_reply), "no_such_function"));
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_read, 1);
}
END_TEST

START_TEST(a_table_stays_for_others_if_its_client_goes)
{
	ck_assert(!ask_other(QUESTION));
	rsp_job_cancel(&other.job, &other);
	hold(false);
	ask(QUESTION);
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_read, 1);
}
END_TEST

START_TEST(the_thread_may_run_when_all_are_gone)
{
	ck_assert(!ask_other(QUESTION));
	ck_assert(!ask(QUESTION));
}
END_TEST

START_TEST(waiting_is_interrupted)
{
	ck_assert(!ask(QUESTION));
	rsp_session_interrupt(s);
	ck_assert(!rsp_job_is_stuck(&s->job, s));
	ck_assert_ptr_nonnull(strstr(finish(s, &fake.reply), "interrupted: nothing was done"));
	hold(false);
	ask_other(QUESTION);
	check_known(finish(&other, &other_reply));
	ck_assert_uint_eq(n_read, 1);
}
END_TEST

START_TEST(a_failure_is_for_one_who_asked_and_the_next_tries_again)
{
	n_failures = 1;
	ck_assert(!ask(QUESTION));
	ck_assert(!ask_other(QUESTION));
	hold(false);
	ck_assert_ptr_nonnull(strstr(finish(s, &fake.reply), "no memory for symbols"));
	check_known(finish(&other, &other_reply));
	ck_assert_uint_eq(n_read, 2);
}
END_TEST

START_TEST(without_a_thread_they_are_read_at_once)
{
	is_refused = true;
	ck_assert(ask(QUESTION));
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_in_loop, 1);
}
END_TEST

START_TEST(a_file_that_cannot_be_opened_refuses_the_question)
{
	static const struct ts_symbols_file absent = { "absent", NULL };

	fake.target.images = &absent;
	ck_assert(ask(QUESTION));
	ck_assert_ptr_nonnull(strstr(finish(s, &fake.reply), "absent: cannot open it"));
	fake.target.images = images();
	ck_assert(!ask(QUESTION));
	hold(false);
	check_known(finish(s, &fake.reply));
}
END_TEST

#define N_STEPS 300000u

static struct script *make_long(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *long_one = script_new("x86_64", 1, process_of);

	for (unsigned i = 0; i < N_STEPS; i++)
		ts_steps_close(&long_one->steps, 0x401000 + i % 8, 1, 0);
	long_one->end = (struct ts_end){ .pc = 0x401000, .has_pc = true };
	return long_one;
}

/* Modules may come late: what was found before the end does not do after it. */
START_TEST(a_recording_may_end_while_symbols_are_read)
{
	static const struct fake_options growing = { .make = make_long, .n_read = 1 };

	teardown();
	begin(&growing);
	ck_assert(!rsp_is_complete(s));
	ck_assert(!ask(QUESTION " --partial"));
	ck_assert(rsp_job_is_stuck(&s->job, s));
	while (fake_read_on())
		;
	ck_assert(!ask_other(QUESTION));
	hold(false);
	check_known(finish(&other, &other_reply));
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_read, 2);
}
END_TEST

START_TEST(a_recording_may_end_while_files_are_looked_for)
{
	static const struct fake_options growing = { .make = make_long, .n_read = 1 };

	teardown();
	begin(&growing);
	hold(false);
	n_searches = 0;
	is_search_slow = true;
	ck_assert(!ask(QUESTION " --partial"));
	ck_assert(rsp_is_complete(s));
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_searches, 2);
	ck_assert_uint_eq(n_read, 1);
}
END_TEST

START_TEST(files_are_looked_for_in_slices)
{
	hold(false);
	n_searches = 0;
	is_search_slow = true;
	ck_assert(!ask(QUESTION));
	check_known(finish(s, &fake.reply));
	ck_assert_uint_eq(n_searches, 1);
	ck_assert_uint_eq(n_read, 1);
}
END_TEST

/* Where it is linked: that is known when a server begins, or is found with the first question. */
START_TEST(the_program_has_symbols)
{
	struct ts_error err = { 0 };

	for (unsigned is_located = 0; is_located < 2; is_located++) {
		teardown();
		begin(&(struct fake_options){ .exec = unit_data_path("usercorn/x64_walk.elf") });
		hold(false);
		fake.target.n_images = 0;
		ck_assert(!is_located || rsp_target_locate(&fake.target, NULL, &err));
		ck_assert_int_eq(fake.target.located.by, is_located ? TS_LOCATED_LINKED : TS_LOCATED_NOT);
		ask(QUESTION);
		check_known(finish(s, &fake.reply));
	}
}
END_TEST

UNIT_FIXTURE_SUITE("symbol_tables", setup, teardown, others_are_answered_while_symbols_are_read,
		   who_waits_is_told_that_symbols_are_read, it_is_told_when_they_are_there,
		   who_asks_later_waits_for_the_same_table, a_table_stays_for_others_if_its_client_goes,
		   the_thread_may_run_when_all_are_gone, waiting_is_interrupted,
		   a_failure_is_for_one_who_asked_and_the_next_tries_again,
		   without_a_thread_they_are_read_at_once, a_file_that_cannot_be_opened_refuses_the_question,
		   a_recording_may_end_while_symbols_are_read, a_recording_may_end_while_files_are_looked_for,
		   files_are_looked_for_in_slices, the_program_has_symbols)
