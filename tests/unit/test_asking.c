/* SPDX-License-Identifier: MIT */
/* Questions of a client: where one was before, checkpoints, and moves that are announced. */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "protocol/session/jobs/asking.h"
#include "src/ask/verb.h"
#include "src/symbols/find_symbols.h"

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

/* The fake: thread 1001 runs steps 3 to 5 and ends in the last one, 1002 is of another process; step 7 maps a page. */
START_TEST(threads_and_maps_are_tables_of_what_is_here)
{
	go(4);
	ck_assert_str_eq(ask("threads"), "OK");
	ck_assert_str_eq(fake_console(), "#  thread  process  begin  end  steps  name\n"
					 "1  1000    100      0      -    6      -\n"
					 "2  1001    100      3      6    3      w<&>\n"
					 "2 rows\n");
	ck_assert_str_eq(ask("maps"), "OK");
	ck_assert_str_eq(fake_console(), "#  begin  address         length  kind  file\n"
					 "1  0      0x401000        8192    r-x   /usr/bin/fake\n"
					 "2  0      0x602000        4096    rw-   data\n"
					 "3  0      0x7ffffffde000  135168  rw-   stack\n"
					 "3 rows\n");
	go(9);
	ask("maps");
	ck_assert_ptr_nonnull(strstr(fake_console(), "  0x700000  "));
}
END_TEST

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
	const unsigned last = (unsigned)TS_MAX_BACK + 10;

	for (unsigned i = 1; i <= last; i++)
		go(i % 11);
	for (unsigned i = 1; i <= TS_MAX_BACK; i++) {
		ask("back");
		ck_assert_uint_eq(s->pos, (last - i) % 11);
	}
	ask("back");
	ck_assert_uint_eq(s->pos, (last - TS_MAX_BACK) % 11);
	for (unsigned i = (unsigned)TS_MAX_BACK; i-- > 0;) { /* up to where the first back came from */
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

/* -------------------------------------------------------------------------- conditions that gdb compiles */

/* In x64_walk.elf, which is in memory at that position, fib has 59 bytes and _start is not a function. */
#define FIB      "4013ef"
#define IN_FIB   "4013f0"
#define START    "401044"
#define NOWHERE  "400000"
#define COMPILED ";X9,247473696629220127" /* the mark, popped; 1 */

static void use_file(const char *name)
{
	static struct ts_symbols_file image;

	image.path = unit_data_path(name);
	fake.target.images = &image;
	fake.target.n_images = 1;
}

static void use_program(void)
{
	use_file("usercorn/x64_walk.elf");
}

/* What gdb is to compile of a question. */
static const char *condition_of(const char *question)
{
	static char text[256];
	enum rsp_command_end end;
	struct ts_buf out;

	ts_buf_init(&out);
	do
		end = rsp_asking_condition(s, question, &out);
	while (end == RSP_COMMAND_LATER);
	ck_assert_int_eq(end, RSP_COMMAND_DONE);
	snprintf(text, sizeof(text), "%s", ts_buf_text(&out));
	ts_buf_fini(&out);
	return text;
}

/* The same, and gdb has inserted a breakpoint with that condition at @addr. */
static void offer(const char *question, const char *addr)
{
	char packet[64];

	condition_of(question);
	snprintf(packet, sizeof(packet), "Z0,%s,1" COMPILED, addr);
	ck_assert_str_eq(fake_send(packet), "OK");
}

static void expect(const char *question, const char *text)
{
	ask(question);
	ck_assert_msg(strstr(fake_console(), text), "%s: %s", question, fake.text);
}

#define NOTHING_SENT "gdb sent no expression"

START_TEST(gdb_compiles_a_condition_for_a_function_or_an_address)
{
	use_program();
	ck_assert_str_eq(condition_of("executions fib if n == 1"), "function n == 1\n");
	ck_assert_str_eq(condition_of("executions 0x" FIB " if n == 1"), "0x" FIB " n == 1\n");
	ck_assert_str_eq(condition_of("executions 0x" FIB " if $rax == 1"), "");
	ck_assert_str_eq(condition_of("executions 0x" FIB ",8 if n == 1"), "");
	ck_assert_str_eq(condition_of("history $rax if n == 1"), "");
	ck_assert_str_eq(condition_of("calls if n == 1"), "");
	ck_assert_str_eq(condition_of("events if n == 1"), "");
}
END_TEST

START_TEST(without_the_symbols_there_is_nothing_to_compile)
{
	static const struct ts_symbols_file absent = { "absent", NULL };
	struct ts_buf out;

	ts_buf_init(&out);
	fake.target.images = &absent;
	fake.target.n_images = 1;
	ck_assert_int_eq(rsp_asking_condition(s, "executions fib if n == 1", &out), RSP_COMMAND_REFUSED);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&out), "absent: cannot open it"));
	ts_buf_fini(&out);
}
END_TEST

START_TEST(what_gdb_has_compiled_for_the_function_takes_the_place_of_the_text)
{
	use_program();
	offer("executions fib if n == 1", FIB);
	expect("executions fib if n == 1", "no rows");
	offer("executions fib if n == 1", IN_FIB);
	expect("executions fib if n == 1", "no rows");
	expect("executions fib if n == 1", "variables are for gdb"); /* it is for one question */
}
END_TEST

START_TEST(what_gdb_has_compiled_for_other_places_only_does_not)
{
	use_program();
	offer("executions fib if n == 1", START);
	ck_assert_str_eq(fake_send("Z0,402000,1" COMPILED), "OK");
	expect("executions fib if n == 1", NOTHING_SENT);
}
END_TEST

/* Each was kept, also the same one again and again: the server's memory grew as a client liked. */
START_TEST(conditions_are_kept_once_and_have_a_bound)
{
	use_program();
	offer("executions fib if n == 1", FIB);
	for (unsigned i = 0; i < 2000; i++)
		ck_assert_str_eq(fake_send("Z0," FIB ",1" COMPILED), "OK");
	expect("executions fib if n == 1", "no rows");
	offer("executions fib if n == 1", FIB);
	for (unsigned i = 0; i < 2000; i++) {
		char packet[64];

		snprintf(packet, sizeof(packet), "Z0,%x,1" COMPILED, 0x500000 + i);
		ck_assert_str_eq(fake_send(packet), "OK");
	}
	expect("executions fib if n == 1", "at more places than tracestub supports");
}
END_TEST

/* Within the function that begins there, if its size is known. */
START_TEST(a_condition_for_an_address_may_be_compiled_behind_the_prologue)
{
	static const struct {
		const char *asked, *compiled;
		bool is_it;
	} cases[] = {
		{ FIB, FIB, true },         { FIB, IN_FIB, true },        { IN_FIB, IN_FIB, true },
		{ IN_FIB, FIB, false },     { START, START, true },       { START, "401045", false },
		{ NOWHERE, NOWHERE, true }, { NOWHERE, "400001", false },
	};

	use_program();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char question[64];

		snprintf(question, sizeof(question), "executions 0x%s if n == 1", cases[i].asked);
		offer(question, cases[i].compiled);
		expect(question, cases[i].is_it ? "no rows" : NOTHING_SENT);
	}
}
END_TEST

START_TEST(of_a_function_without_a_size_only_the_first_address_is_known)
{
	use_file("usercorn/x64_lib.elf"); /* with deregister_tm_clones */
	offer("executions 0x401080 if n == 1", "401080");
	expect("executions 0x401080 if n == 1", "no rows");
	offer("executions 0x401080 if n == 1", "401081");
	expect("executions 0x401080 if n == 1", NOTHING_SENT);
}
END_TEST

START_TEST(other_conditions_of_breakpoints_are_no_answer)
{
	static const char *const others[] = { ";X3,220127", ";X9,240000000029220127" };

	ck_assert_str_eq(fake_send("Z0," FIB ",1" COMPILED), "OK"); /* before the first question */
	use_program();
	ask("when");
	ck_assert_str_eq(fake_send("Z0," FIB ",1" COMPILED), "OK");
	for (unsigned i = 0; i < 2; i++) {
		char packet[64];

		condition_of("executions fib if n == 1");
		snprintf(packet, sizeof(packet), "Z0," FIB ",1%s", others[i]);
		ck_assert_str_eq(fake_send(packet), "OK");
		expect("executions fib if n == 1", NOTHING_SENT);
	}
}
END_TEST

FAKE_SUITE("asking", threads_and_maps_are_tables_of_what_is_here, one_goes_back_to_where_one_was_and_forward_again, the_last_places_are_kept,
	   the_text_of_a_checkpoint_is_one_line, without_a_recordings_file_there_are_no_checkpoints,
	   an_announced_goto_that_leads_nowhere_says_so,
	   gdb_compiles_a_condition_for_a_function_or_an_address,
	   without_the_symbols_there_is_nothing_to_compile,
	   what_gdb_has_compiled_for_the_function_takes_the_place_of_the_text,
	   what_gdb_has_compiled_for_other_places_only_does_not, conditions_are_kept_once_and_have_a_bound,
	   a_condition_for_an_address_may_be_compiled_behind_the_prologue,
	   of_a_function_without_a_size_only_the_first_address_is_known,
	   other_conditions_of_breakpoints_are_no_answer)
