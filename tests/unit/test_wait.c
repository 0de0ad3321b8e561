/* SPDX-License-Identifier: MIT */
/*
 * Packets that come while the recording is being read: those that ask about what has not been read wait, and
 * are then answered as if all had been read before.  Reading stands still until a test goes on.
 */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "script.h"

#define N_STEPS 300000u

/* A loop of eight instructions; late in it a call of the system, a signal and another thread. */
static struct script *make_long(void)
{
	static const uint32_t process_of[] = { 0, 0 };
	struct script *s = script_new("x86_64", 2, process_of);
	uint8_t value[8] = { 0 };

	for (unsigned i = 0; i < N_STEPS; i++) {
		uint64_t pc = i == 260000 ? 0x402000 : 0x401000 + i % 8;

		if (i % 1000 == 1) {
			value[0]++;
			ts_steps_value(&s->steps, TS_FX_WRITE, 0x602000, value, 4);
		}
		if (i == 240000)
			ts_steps_event(&s->steps, TS_EV_SYSCALL)->number = 1;
		if (i == 250000)
			ts_steps_event(&s->steps, TS_EV_SIGNAL)->number = 11;
		ts_steps_close(&s->steps, pc, 1, i >= 270000);
	}
	s->rec.has_syscalls = true;
	s->end = (struct ts_end){ .pc = 0x401000, .has_pc = true };
	return s;
}

static const struct fake_options growing = { .make = make_long, .n_read = 1 }, complete = { .make = make_long };

static struct rsp_session *const s = &fake.session;

/* A packet, or the text of a monitor command. */
static const char *begin(const char *text)
{
	char packet[200] = "qRcmd,";

	if (*text != '\'')
		return fake_send(text);
	snprintf(packet + 6, sizeof(packet) - 6, "%s", fake_hex(text + 1));
	return fake_send(packet);
}

/* The reply and the console; what waits is tried again when all has been read. */
static const char *finish(void)
{
	static char text[0x9000];
	struct rsp_reply *r = &fake.reply;
	bool is_over = !rsp_session_is_running(s);

	if (is_over)
		snprintf(text, sizeof(text), "%s", fake.text);
	while (!is_over) {
		if (rsp_job_is_stuck(&s->job, s)) {
			while (fake_read_on())
				continue;
		}
		s->job.next_note = INT64_MAX; /* on a slow machine, too */
		rsp_reply_reset(r);
		is_over = rsp_session_run(s, r);
		if (is_over) {
			rsp_reply_finish(r);
			snprintf(text, sizeof(text), "%.*s", (int)r->len, (const char *)r->data);
		}
	}
	strncat(text, ts_buf_text(&s->console), sizeof(text) - strlen(text) - 1);
	ts_buf_reset(&s->console);
	return text;
}

/* Of a client that knows of processes and shows texts. */
static void greet(void)
{
	fake_send("qSupported:multiprocess+;swbreak+;hwbreak+;error-message+;xmlRegisters=i386");
	fake_send("QCatchSyscalls:1");
}

static const char *const waiting[] = {
	"'goto 290000", "'goto 90%", "'goto end", "'goto next-syscall", "'goto next-signal", "'goto next-gap", "'wait",
	"'history 0x602000 last 3", "'executions 0x402000", "'export frames.tf", "vCont;c", "QTFrame:46cd0",
	"QTFrame:pc:402000", "QTFrame:outside:401000:401007", "QTFrame:range:402000:402001", "QTSave:6162",
};
#define N_WAITING (int)(sizeof(waiting) / sizeof(waiting[0]))

START_TEST(a_packet_waits_and_is_answered_as_after_reading)
{
	char early[0x9000];
	uint64_t pos;

	fake_again(&growing);
	greet();
	begin(waiting[_i]);
	ck_assert_msg(rsp_session_is_running(s), "%s: %s", waiting[_i], fake.text);
	snprintf(early, sizeof(early), "%s", finish());
	pos = s->pos;
	fake_again(&complete);
	greet();
	begin(waiting[_i]);
	ck_assert_str_eq(finish(), early);
	ck_assert_uint_eq(s->pos, pos);
}
END_TEST

START_TEST(waiting_can_be_interrupted)
{
	bool is_resume = *waiting[_i] == 'v';

	fake_again(&growing);
	greet();
	begin(waiting[_i]);
	ck_assert(rsp_session_is_running(s));
	rsp_session_interrupt(s);
	ck_assert(!rsp_job_is_stuck(&s->job, s));
	ck_assert_int_eq(strncmp(finish(), is_resume ? "T02" : "E", is_resume ? 3 : 1), 0);
	ck_assert(is_resume || !s->pos);
	ck_assert(!ts_query_is_complete(fake.q)); /* nothing was read for it */
	ck_assert_str_eq(fake_send("qC"), "QCp64.3e8");
}
END_TEST

START_TEST(a_client_that_goes_leaves_no_job)
{
	fake_again(&growing);
	begin(waiting[_i]);
	rsp_session_reset(s);
	ck_assert(!rsp_session_is_running(s));
}
END_TEST

/* ----------------------------------------------------------------------------------- what is known so far */

START_TEST(answers_say_that_they_are_not_final)
{
	char text[0x2000];
	struct ts_buf out;

	fake_again(&growing);
	s->is_lldb = true; /* texts go to the console */
	begin("'when");
	ck_assert_ptr_nonnull(strstr(fake_console(), "read so far"));
	ck_assert_ptr_null(strstr(fake.text, " of "));
	begin("'announce goto next-syscall");
	ck_assert_str_eq(fake_console(), "The next step or continue stops there.\n");
	begin("'info");
	snprintf(text, sizeof(text), "%s", fake_console());
	ck_assert_msg(strstr(text, "none so far") && strstr(text, ", so far"), "%s", text);
	s->is_lldb = false;
	fake_send("qTStatus");
	ck_assert_msg(strstr(fake.text, "tframes:") == NULL, "%s", fake.text);
	begin("'goto end");
	ts_buf_init(&out);
	s->job.ops->progress(s, &out);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&out), "read so far"));
	ts_buf_fini(&out);
}
END_TEST

START_TEST(what_has_been_read_is_answered_at_once)
{
	fake_again(&growing);
	greet();
	begin("'goto 5");
	ck_assert(!rsp_session_is_running(s));
	ck_assert_uint_eq(s->pos, 5);
	fake_send("Z2,602000,4");
	ck_assert_int_eq(strncmp(fake_resume("bc"), "T05watch:602000", 15), 0);
	ck_assert_uint_eq(s->pos, 1);
	ck_assert_int_eq(strncmp(fake_resume("vCont;c"), "T05watch:602000", 15), 0);
	ck_assert_uint_eq(s->pos, 2);
	begin("'history 0x602000 first 1 --partial");
	ck_assert_ptr_nonnull(strstr(finish(), "0x401001"));
	ck_assert(!ts_query_is_complete(fake.q));
}
END_TEST

/* ------------------------------------------------------------------------------------------- tracepoints */

static void define(void)
{
	ck_assert_str_eq(fake_send("QTinit"), "OK");
	ck_assert_str_eq(fake_send("QTDP:1:0000000000402000:E:0:0-"), "OK");
	ck_assert_str_eq(fake_send("QTDP:-1:0000000000402000:R01M-1,602000,4"), "OK");
	ck_assert_str_eq(fake_send("QTNotes:user:6d65;notes:6d696e65;"), "OK");
}

/* A run begins when all has been read; meanwhile its status says so. */
START_TEST(tracepoints_begin_when_all_has_been_read)
{
	fake_again(&growing);
	greet();
	define();
	fake_send("QTStart");
	ck_assert(rsp_session_is_running(s));
	s->tracing.deadline = 0; /* the client has waited long enough */
	ck_assert_str_eq(finish(), "OK");
	ck_assert(!ts_query_is_complete(fake.q));
	fake_send("qTStatus");
	ck_assert_msg(!strncmp(fake.text, "T1;", 3), "%s", fake.text);
	ck_assert_ptr_nonnull(strstr(fake.text, fake_hex("mine; begins when the recording has been read; ")));
	fake_send("QTFrame:0");
	ck_assert(rsp_session_is_running(s)); /* for the run's end */
	ck_assert_str_eq(finish(), "F0T1");
	ck_assert_str_eq(fake_send("m602000,4"), "04000000"); /* the low byte of 260: written in steps 1, 1001, ..., 259001 */
}
END_TEST

START_TEST(a_run_that_has_not_begun_can_be_stopped)
{
	fake_again(&growing);
	define();
	fake_send("QTStart");
	rsp_session_interrupt(s);
	ck_assert_str_eq(finish(), "OK");
	fake_send("qTStatus");
	ck_assert_msg(!strncmp(fake.text, "T0;", 3), "%s", fake.text);
	while (fake_read_on())
		;
	ck_assert(!rsp_session_has_background(s));
	ck_assert_str_eq(fake_send("QTFrame:0"), "F-1");
}
END_TEST

START_TEST(the_run_of_a_client_that_has_gone_is_kept_for_the_next)
{
	static struct rsp_collector *kept;
	struct ts_error err = { 0 };

	fake_again(&growing);
	fake.target.kept = &kept;
	define();
	ck_assert_str_eq(fake_send("QTDisconnected:1"), "OK");
	fake_send("QTStart");
	s->tracing.deadline = 0;
	ck_assert_str_eq(finish(), "OK");
	rsp_session_fini(s);
	ck_assert_ptr_nonnull(kept);
	ck_assert(rsp_session_init(s, &fake.target, &err));
	ck_assert_ptr_null(kept);
	fake_send("QTFrame:0");
	ck_assert(rsp_session_is_running(s));
	ck_assert_str_eq(finish(), "F0T1");
	fake.target.kept = NULL;
}
END_TEST

START_TEST(a_live_run_ends_with_its_client)
{
	static struct rsp_collector *kept;
	struct ts_error err = { 0 };

	fake_again(&complete);
	fake.target.kept = &kept;
	begin("'collect live");
	define();
	ck_assert_str_eq(fake_send("QTDisconnected:1"), "OK");
	ck_assert_str_eq(fake_send("QTStart"), "OK");
	ck_assert_int_eq(strncmp(fake_send("qTStatus"), "T1;", 3), 0);
	rsp_session_fini(s);
	ck_assert(rsp_session_init(s, &fake.target, &err));
	fake_send("qTStatus");
	ck_assert_msg(!strncmp(fake.text, "T0;tdisconnected:0", 18), "%s", fake.text);
	fake.target.kept = NULL;
}
END_TEST

static void setup(void)
{
	fake_begin(&(struct fake_options){ 0 });
}

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		answers_say_that_they_are_not_final,
		what_has_been_read_is_answered_at_once,
		tracepoints_begin_when_all_has_been_read,
		a_run_that_has_not_begun_can_be_stopped,
		the_run_of_a_client_that_has_gone_is_kept_for_the_next,
		a_live_run_ends_with_its_client,
	};
	Suite *suite = unit_suite_of("wait", setup, fake_end, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *t = tcase_create("packets");

	tcase_add_checked_fixture(t, setup, fake_end);
	tcase_add_loop_test(t, a_packet_waits_and_is_answered_as_after_reading, 0, N_WAITING);
	tcase_add_loop_test(t, waiting_can_be_interrupted, 0, N_WAITING);
	tcase_add_loop_test(t, a_client_that_goes_leaves_no_job, 0, N_WAITING);
	tcase_set_timeout(t, 300);
	suite_add_tcase(suite, t);
	return suite;
}
