/* SPDX-License-Identifier: MIT */
/* Questions of a client: where one was before, checkpoints, and moves that are announced. */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "protocol/session/asking.h"

#define MAX_BACK 64u

static struct rsp_session *const s = &fake.session;

/* Ask, and wait for the answer: the reply; the console has the text. */
static const char *ask(const char *command)
{
	char packet[256];

	ts_buf_reset(&s->console);
	snprintf(packet, sizeof(packet), "qRcmd,%s", fake_hex(command));
	return fake_resume(packet);
}

static void go(uint64_t pos)
{
	char command[32];

	snprintf(command, sizeof(command), "goto %u", (unsigned)pos);
	ask(command);
	ck_assert_uint_eq(s->pos, pos);
}

START_TEST(one_goes_back_to_where_one_was_and_forward_again)
{
	go(3);
	go(5);
	go(5); /* which is no move */
	ck_assert_str_eq(ask("back"), "OK");
	ck_assert_uint_eq(s->pos, 3);
	ask("back");
	ck_assert_uint_eq(s->pos, 0);
	ask("back");
	ck_assert_ptr_nonnull(strstr(fake_console(), "there is no place to go back to"));
	ck_assert_uint_eq(s->pos, 0);
	ask("forward");
	ask("forward");
	ck_assert_uint_eq(s->pos, 5);
	ask("forward");
	ck_assert_ptr_nonnull(strstr(fake_console(), "there is no place to go forward to"));
	ck_assert_uint_eq(s->pos, 5);
}
END_TEST

/* Move i leads to position i % 11, so that each leaves another one. */
START_TEST(the_last_places_are_kept)
{
	const unsigned last = MAX_BACK + 10;

	for (unsigned i = 1; i <= last; i++)
		go(i % 11);
	for (unsigned i = 1; i <= MAX_BACK; i++) {
		ask("back");
		ck_assert_uint_eq(s->pos, (last - i) % 11);
	}
	ask("back");
	ck_assert_uint_eq(s->pos, (last - MAX_BACK) % 11);
	for (unsigned i = MAX_BACK - 1; i >= 1; i--) {
		ask("forward");
		ck_assert_uint_eq(s->pos, (last - i) % 11);
	}
}
END_TEST

START_TEST(the_text_of_a_checkpoint_is_one_line)
{
	struct ts_buf out;

	ts_buf_init(&out);
	fake.target.trace = "trace";
	ck_assert(!rsp_asking_checkpoint(s, "two\nlines", &out));
	ck_assert_str_eq(ts_buf_text(&out), "the text of a mark is one line");
	ts_buf_reset(&out);
	ck_assert(rsp_asking_checkpoint(s, "one line", &out));
	ck_assert_str_eq(ts_buf_text(&out), "Checkpoint 1: position 0, the mark checkpoint-1\n");
	ts_buf_fini(&out);
}
END_TEST

START_TEST(without_a_recordings_file_there_are_no_checkpoints)
{
	struct ts_buf out;

	ts_buf_init(&out);
	ck_assert(!rsp_asking_checkpoint(s, "here", &out));
	ck_assert_str_eq(ts_buf_text(&out), "marks cannot be kept for this recording");
	ts_buf_fini(&out);
}
END_TEST

START_TEST(an_announced_goto_that_leads_nowhere_says_so)
{
	fake_send("qSupported:error-message+");
	ck_assert_int_eq(strncmp(ask("announce goto next write 0x123456"), "E.", 2), 0);
	ck_assert_ptr_null(strchr(fake.text, '\n'));
	ck_assert_uint_eq(s->pos, 0);
	ck_assert_str_eq(ask("announce goto next write 0x602000"), "OK");
	ck_assert_uint_eq(s->pos, 0); /* it is where the next stop will be */
	fake_resume("c");
	ck_assert_uint_eq(s->pos, 2); /* after step 1, which writes there */
}
END_TEST

FAKE_SUITE("asking", one_goes_back_to_where_one_was_and_forward_again, the_last_places_are_kept,
	   the_text_of_a_checkpoint_is_one_line, without_a_recordings_file_there_are_no_checkpoints,
	   an_announced_goto_that_leads_nowhere_says_so)
