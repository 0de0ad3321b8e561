/* SPDX-License-Identifier: MIT */
/*
 * Usercorn's version 2: signals, ends, notes, and damage.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "ucir_case.h"

static void expect_error(const char *text, const char *word)
{
	open_form(&ucir_v2, text);
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_FAIL);
	ck_assert_int_eq(t.err.code, TS_ECORRUPT);
	ck_assert_msg(strstr(t.err.text, word) != NULL, "no \"%s\" in: %s", word, t.err.text);
}

/* -------------------------------------------------------------------------------- signals */

/* The position after the step is the handler's first instruction. */
START_TEST(a_signal_with_a_handler_arrives_at_its_step)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 SIGNAL 10 -6 63 25 { WRITE 6f00 0102 REG 44 6f00 REG 39 a } "
			   "JMP 1800 STEP 1 } "
			   "END 0 0",
		  "1000/2@0 signal30/-6@63 W6f00=0102! rsp=6f00! rdi=a!\n1800/1@0 exit0\n");
}
END_TEST

START_TEST(a_fault_that_is_caught_stops_at_its_instruction)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 JMP 1800 STEP 1 SIGNAL 11 1 10 29 { REG 44 6f00 } JMP 1900 "
			   "STEP 3 } END 0 0",
		  "1000/2@0\n1800/1@0 signal11/1@10 rsp=6f00!\n1900/3@0 exit0\n");
}
END_TEST

START_TEST(what_is_not_known_of_a_signal_is_not_shown)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 SIGNAL 14 5 77 1 { } STEP 1 } END 0 0",
		  "1000/2@0 signal14+\n1002/1@0 exit0\n");
}
END_TEST

START_TEST(a_jump_may_have_been_written_before_the_signal_that_came_instead)
{
	expect_v2(START_V2
		  "FRAME 7:7 { STEP 2 JMP 1400 SIGNAL 10 0 0 1 { REG 44 6f00 } JMP 1800 STEP 1 } END 0 0",
		  "1000/2@0 signal30 rsp=6f00!\n1800/1@0 exit0\n");
}
END_TEST

START_TEST(a_signal_for_another_thread_than_the_one_that_ran_is_its_own)
{
	expect_v2(START_V2 SECOND
		  "FRAME 7:7 { STEP 2 } FRAME 7:8 { STEP 1 } FRAME 7:7 { SIGNAL 10 0 0 5 { REG 44 6f00 } JMP "
		  "1800 STEP 1 } END 0 0",
		  "1000/2@0\n1800/1@1 T0 signal30+ rsp=6f00!\n1800/1@0 exit0\n");
}
END_TEST

/* -------------------------------------------------------------------------------- gaps */

/* What code that is not recorded did is the step's that it follows, as of a system call. */
START_TEST(a_gap_belongs_to_the_step_before)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 JMP 9000 GAP 1200 { MAP 8000 1000 3 - - WRITE 8010 0102 REG 44 6f00 "
			   "CHANGED 8020 07 } JMP 1002 STEP 1 GAP 1 { } STEP 1 } END 0 0",
		  "1000/2@0 gap(1200 instructions not recorded) M8000,1000,3,-,- W8010=0102 rsp=6f00 R8020,1=!\n"
		  "1002/1@0 gap(1 instruction not recorded)\n1003/1@0 exit0\n");
}
END_TEST

/* System calls in a gap are told between its parts. */
START_TEST(system_calls_and_signals_divide_a_gap)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 GAP 5 { REG 39 1 } SYSCALL 1 4 1 { REG 35 4 } GAP 6 { REG 39 2 } "
			   "SIGNAL 10 -6 63 25 { REG 44 6f00 } JMP 1800 STEP 1 } END 0 0",
		  "1000/2@0 gap(5 instructions not recorded) rdi=1 syscall1(1)=4 rax=4 "
		  "gap(6 instructions not recorded) rdi=2 signal30/-6@63 rsp=6f00!\n1800/1@0 exit0\n");
}
END_TEST

START_TEST(a_gap_of_another_thread_is_its_own)
{
	expect_v2(START_V2 SECOND "FRAME 7:7 { STEP 2 } FRAME 7:8 { GAP 3 { REG 39 1 } STEP 1 } END 0 0",
		  "1000/2@0 T1 gap(3 instructions not recorded) rdi=1\n1800/1@1 exit0\n");
}
END_TEST

/* -------------------------------------------------------------------------------- the end */

START_TEST(a_crash_ends_at_the_instruction_that_failed)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 JMP 1800 } END 1 11", "1000/2@0 signal11+ exit(by SIGSEGV)\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1800);
	ck_assert(t.reader->end.has_pc && t.reader->end.has_exit && !t.reader->end.is_assumed &&
		  !t.reader->end.is_fault);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(a_crash_whose_instruction_has_a_step_is_a_fault_there)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 JMP 1800 STEP 1 SIGNAL 11 1 10 30 { } } END 1 11",
		  "1000/2@0\n1800/1@0 fault10 exit(by SIGSEGV)\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1800);
	ck_assert(t.reader->end.is_fault && t.reader->end.has_exit);
}
END_TEST

START_TEST(a_signal_that_kills_is_told_once)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 SIGNAL 9 0 0 2 { } } END 1 9",
		  "1000/2@0 signal9+ exit(by SIGKILL)\n");
}
END_TEST

START_TEST(an_end_is_that_of_the_process_of_the_frame_before)
{
	expect_v2(START_V2 "KEY 9:9 { JMP 5 } FRAME 9:9 { STEP 1 } FRAME 7:7 { STEP 2 } END 0 4 FRAME 9:9 { "
			   "STEP 1 } END 0 5",
		  "5/1@1\n1000/2@0 exit4\n6/1@1 exit5\n");
	ck_assert(t.reader->end.has_exit);
}
END_TEST

/* It is told of the thread that the frame was of, where the one that ran last is gone. */
START_TEST(an_end_is_told_of_a_thread_that_still_lives)
{
	expect_v2(START_V2 SECOND "FRAME 7:8 { STEP 1 THREAD_END 0 } FRAME 7:7 { } END 0 3",
		  "1800/1@1 threadend0 T0 exit3\n");
	ucir_close(&t);
	expect_v2(START_V2 SECOND "FRAME 7:8 { STEP 1 } FRAME 7:7 { } END 0 3", "1800/1@1 exit3\n");
	ucir_close(&t); /* the last one that ran, though another one's call that never returned is told after its step */
	expect_v2(START_V2 SECOND "FRAME 7:7 { STEP 2 SYSCALL 231 0 - { } } FRAME 7:8 { SYSCALL 35 0 - { } } END 0 3",
		  "1000/2@0 syscall231()=0 T1 syscall35()=0 T0 exit3\n");
}
END_TEST

START_TEST(exec_and_an_early_end_of_the_recorder_are_said)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 SYSCALL 59 0 1 { EXIT } } NOTE 10 =/bin/true END 2 0",
		  "1000/2@0 syscall59(1) exit(by exec of /bin/true)\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "became /bin/true"), 1);
	ucir_close(&t);
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 } END 3 0", "1000/2@0\n");
	ck_assert(!t.reader->end.has_exit);
	ck_assert_uint_eq(ucir_warned(t.rec, "the recorder ended before the program"), 1);
	ck_assert_uint_eq(t.rec->n_warnings, 1);
	ucir_close(&t);
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 JMP 1800 WRITE 7000 01 } END 3 0", "1000/2@0\n");
	ck_assert(!t.reader->end.has_exit);
	ck_assert_uint_eq(ucir_warned(t.rec, "the recorder ended before the program"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "the program ended inside an instruction"), 0);
}
END_TEST

START_TEST(an_instruction_that_has_no_step_when_the_program_ends_is_left_out)
{
	expect_v2(START_V2 "FRAME 7:7 { STEP 2 JMP 1800 WRITE 7000 01 } END 1 9", "1000/2@0\n");
	ck_assert(t.reader->end.has_exit);
	ck_assert_uint_eq(ucir_warned(t.rec, "inside an instruction"), 1);
}
END_TEST

/* -------------------------------------------------------------------------------- notes */

START_TEST(notes_before_the_first_frame_are_facts)
{
	open_form(&ucir_v2, "NOTE 1 2f61006200 NOTE 2 =/tmp NOTE 3 =/bin/a NOTE 4 00ff10 NOTE 5 =me NOTE 6 "
			    "=qemu NOTE 7 =max "
			    "NOTE 8 =xmm0 NOTE 99 =later " START_V2 "FRAME 7:7 { STEP 2 }");
	ck_assert_str_eq(t.rec->exec_path, "/bin/a");
	ck_assert_uint_eq(t.rec->cmdline.len, 5);
	ck_assert_mem_eq(t.rec->cmdline.data, "/a\0b\0", 5);
	ck_assert_uint_eq(t.rec->notes.len, sizeof("folder\0/tmp\0build id\0"
						   "00ff10\0recorder\0me\0emulator\0qemu\0processor\0max\0not recorded\0"
						   "xmm0\0") - 1);
	ck_assert_mem_eq(t.rec->notes.data, "folder\0/tmp\0build id\0", 21);
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(t.rec->n_warnings, 1); /* no exit */
}
END_TEST

START_TEST(the_first_program_and_the_first_arguments_count)
{
	static const struct {
		const char *notes, *program;
		const char *args;
		size_t args_len;
	} cases[] = {
		{ "NOTE 3 =/bin/a NOTE 3 =/bin/b NOTE 1 610062 NOTE 1 6300", "/bin/a", "a\0b\0", 4 }, /* its last end is added */
		{ "NOTE 3 2f610062 NOTE 3 =/bin/b", "/bin/b", "", 0 },                          /* no path has a NUL */
		{ "NOTE 3 - NOTE 3 =/bin/c NOTE 1 - NOTE 1 6400", "/bin/c", "d\0", 2 }, /* what is empty says nothing */
		{ "NOTE 1 6100", "/bin/prog", "a\0", 2 }, /* the header's program */
		{ "", "/bin/prog", "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[600];

		teardown();
		setup();
		snprintf(text, sizeof(text), "%s " START_V2 "FRAME 7:7 { STEP 2 }", cases[i].notes);
		open_form(&ucir_v2, text);
		ck_assert_str_eq(t.rec->exec_path, cases[i].program);
		ck_assert_uint_eq(t.rec->cmdline.len, cases[i].args_len);
		if (cases[i].args_len)
			ck_assert_mem_eq(t.rec->cmdline.data, cases[i].args, cases[i].args_len);
	}
}
END_TEST

START_TEST(a_note_of_text_is_a_fact_up_to_its_first_nul)
{
	open_form(&ucir_v2, "NOTE 12 68690078 " START_V2 "FRAME 7:7 { STEP 2 }");
	ck_assert_uint_eq(t.rec->notes.len, 8);
	ck_assert_mem_eq(t.rec->notes.data, "note\0hi\0", 8);
}
END_TEST

START_TEST(each_kind_of_note_on_the_way)
{
	static const struct {
		const char *note, *warning; /* NULL: none */
	} cases[] = {
		{ "NOTE 8 =xmm0", "registers that are not recorded: xmm0" },
		{ "NOTE 9 =123", "child process 123 was not recorded" },
		{ "NOTE 10 =/bin/b", "the program became /bin/b, which is not in this recording" },
		{ "NOTE 11 =12", "12 loads read values that no recorded write had stored" },
		{ "NOTE 11 =0", NULL },
		{ "NOTE 12 =full", "full" },
		{ "NOTE 3 =/bin/c", NULL }, /* facts come before the first frame */
		{ "NOTE 99 =new", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[600];

		teardown();
		setup();
		snprintf(text, sizeof(text), START_V2 "FRAME 7:7 { STEP 2 } %s FRAME 7:7 { STEP 1 } END 0 0",
			 cases[i].note);
		open_form(&ucir_v2, text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
		ck_assert_msg(t.rec->n_warnings == (cases[i].warning != NULL), "%s: %u warnings",
			      cases[i].note, t.rec->n_warnings);
		if (cases[i].warning)
			ck_assert_str_eq(t.rec->warnings[0].text, cases[i].warning);
		ck_assert_str_eq(t.rec->exec_path, "/bin/prog");
	}
}
END_TEST

START_TEST(notes_on_the_way_are_warnings_once_each)
{
	open_form(
		&ucir_v2, START_V2
		"FRAME 7:7 { STEP 2 } NOTE 9 =123 FRAME 7:7 { STEP 1 } NOTE 11 =4 NOTE 12 =free NOTE 9 =124 "
		"END 0 0");
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "child process 123"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "child process 124"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "4 loads"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "free"), 1);
	ck_assert_uint_eq(t.rec->n_warnings, 4);
}
END_TEST

START_TEST(many_children_leave_room_for_other_warnings)
{
	struct ts_buf text;

	ts_buf_init(&text);
	ts_buf_puts(&text, START_V2 "FRAME 7:7 { STEP 2 } ");
	for (unsigned i = 0; i < 100; i++)
		ts_buf_printf(&text, "NOTE 9 =%u ", 1000 + i);
	ts_buf_puts(&text, "NOTE 12 =last END 0 0");
	open_form(&ucir_v2, ts_buf_text(&text));
	ts_buf_fini(&text);
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "further child processes"), 100 - TS_MAX_WARNINGS / 2);
	ck_assert_uint_eq(ucir_warned(t.rec, "last"), 1);
}
END_TEST

/* -------------------------------------------------------------------------------- damage */

#define GOOD START_V2 "FRAME 7:7 { STEP 2 "

START_TEST(ops_where_they_may_not_stand_are_refused)
{
	expect_error(GOOD "EXIT }", "EXIT outside of a SYSCALL");
	ucir_close(&t);
	expect_error(GOOD "WRITE 7000 01 SIGNAL 10 0 0 1 { } STEP 2 }", "SIGNAL inside an instruction");
	ucir_close(&t);
	expect_error(START_V2 "FRAME 7:7 { SIGNAL 10 0 0 1 { } STEP 2 }", "SIGNAL inside an instruction");
	ucir_close(&t);
	expect_error(GOOD "WRITE 7000 01 THREAD_END 0 STEP 2 }", "THREAD_END inside the frame");
	ucir_close(&t);
	expect_error(GOOD "NOTE 1 =a }", "NOTE inside the frame");
	ucir_close(&t);
	expect_error(GOOD "} SIGNAL 10 0 0 1 { }", "SIGNAL at stream level");
	ucir_close(&t);
	expect_error(GOOD "WRITE 7000 01 GAP 1 { } STEP 2 }", "GAP inside an instruction");
	ucir_close(&t);
	expect_error(GOOD "GAP 1 { STEP 2 } }", "STEP inside the GAP");
	ucir_close(&t);
	expect_error(GOOD "GAP 1 { GAP 1 { } } }", "GAP inside the GAP");
	ucir_close(&t);
	expect_error(GOOD "} FORGET 10 10", "FORGET at stream level");
	ucir_close(&t);
	expect_error(GOOD "SIGNAL 10 0 0 1 { STEP 2 } }", "STEP inside the SIGNAL");
	ucir_close(&t);
	expect_error(GOOD "SIGNAL 10 0 0 1 { EXIT } }", "EXIT inside the SIGNAL");
	ucir_close(&t);
	expect_error(GOOD "SYSCALL 10 0 - { SIGNAL 1 0 0 0 { } } }", "SIGNAL inside the SYSCALL");
	ucir_close(&t);
	expect_error(GOOD "WRITE 7000 01 SIGNAL 10 0 0 1 { STEP 2 } STEP 2 }", "STEP inside the SIGNAL");
	ucir_close(&t);
	expect_error(GOOD "KEY 7:9 { } }", "KEYFRAME inside the frame");
	ucir_close(&t);
	expect_error(GOOD "} THREAD_END 0", "THREAD_END at stream level");
	ucir_close(&t);
	expect_error(GOOD "} JMP 1000", "JMP at stream level");
	ucir_close(&t);
	expect_error(START_V2 SECOND
		     "FRAME 7:7 { STEP 2 } FRAME 7:8 { WRITE 7000 01 } FRAME 7:7 { STEP 1 } FRAME 7:8 { "
		     "THREAD_END 0 }",
		     "THREAD_END inside the frame");
	ucir_close(&t);
	expect_error(START_V2 SECOND
		     "FRAME 7:7 { STEP 2 } FRAME 7:8 { WRITE 7000 01 } FRAME 7:7 { STEP 1 } FRAME 7:8 { "
		     "SIGNAL 10 0 0 1 { } }",
		     "SIGNAL inside an instruction");
	ucir_close(&t);
	expect_error(GOOD "} END 4 0", "unknown kind 4");
	ucir_close(&t);
	expect_error(GOOD "FORGET ffffffffffffffff 2 STEP 2 }", "FORGET of 0x2 bytes");
	ucir_close(&t);
	expect_error(GOOD "CHANGED ffffffffffffffff 0102 STEP 2 }", "CHANGED of 0x2 bytes");
}
END_TEST

/* 32-bit processors end at 4 GiB. */
START_TEST(an_address_that_the_processor_does_not_have_is_refused)
{
	const struct ucir_form form = { .arch = "arm", .version = 2, .is_framed = true };
	static const char *const ops[] = { "FORGET 100000000 4", "FORGET fffffffe 3", "CHANGED 100000000 01" };
	char text[200];

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		snprintf(text, sizeof(text), "KEY 7:7 { JMP 1000 } FRAME 7:7 { STEP 4 %s STEP 4 }", ops[i]);
		open_form(&form, text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), TS_FAIL);
		ck_assert_int_eq(t.err.code, TS_ECORRUPT);
		ck_assert_ptr_nonnull(strstr(t.err.text, "passes the end of the address space"));
		ucir_close(&t);
	}
	expect_form(&form, "KEY 7:7 { JMP 1000 } FRAME 7:7 { STEP 4 FORGET fffffffe 2 STEP 4 }",
		    "1000/4@0\n1004/4@0 Ffffffffe,2\n");
}
END_TEST

START_TEST(too_many_threads_at_one_time_are_refused)
{
	struct ts_buf text;
	unsigned n = 0;

	ts_buf_init(&text);
	for (unsigned i = 0; i < 4097; i++)
		ts_buf_printf(&text, "FRAME 7:%u { JMP 1000 STEP 1 } ", i + 7);
	open_form(&ucir_v2, ts_buf_text(&text));
	ts_buf_fini(&text);
	while (ts_reader_next(t.reader, &t.steps, &t.err) == TS_ITEM)
		n++;
	ck_assert_uint_eq(n, 4096);
	ck_assert_int_eq(t.err.code, TS_ELIMIT);
	ck_assert_ptr_nonnull(strstr(t.err.text, "more than 4096 threads at one time"));
}
END_TEST

#define WHOLE                                                                                                \
	"NOTE 2 =/tmp " START_V2 SECOND "FRAME 7:7 { CHANGED 7000 05 FORGET 7010 4 STEP 2 SYSCALL 1 2 3 { "  \
					"WRITE 7100 0102 } SIGNAL 10 1 2 25 { REG 44 "                       \
	"6f00 WRITE 6f00 0102 } JMP 1800 STEP 1 } FRAME 7:8 { WRITE 7200 09 } FRAME 7:7 { REG 35 7 STEP 1 "  \
	"} FRAME 7:8 { "                                                                                     \
	"REG 35 8 STEP 1 SYSCALL 60 0 0 { EXIT } THREAD_END 0 } NOTE 9 =99 KEY 7:9 { REG 44 5 JMP 1900 } "   \
	"FRAME 7:9 { "                                                                                       \
	"STEP 3 JMP 1000 STEP 2 SIGNAL 11 1 10 29 { REG 44 4 } JMP 1c00 STEP 1 JMP 1d00 } NOTE 12 =x END 1 " \
	"11"

START_TEST(a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved)
{
	struct ucir_form form = { .version = 2, .is_framed = true };

	for (form.chunk = 3; form.chunk < 40; form.chunk += 6) {
		open_form(&form, WHOLE);
		ucir_resume_everywhere(&t);
		ucir_close(&t);
	}
}
END_TEST

/* Lines of @cut are those of @whole; only the last may have less at its end: what belonged to it is gone. */
static void check_prefix(const char *cut, const char *whole, size_t at)
{
	size_t len = strlen(cut);

	ck_assert_msg(!len || strncmp(cut, whole, len - 1) == 0, "cut at %zu:\n%swhole:\n%s", at, cut, whole);
}

START_TEST(a_file_that_is_truncated_anywhere_loads_up_to_its_last_step)
{
	struct ucir_form form = { .version = 2, .is_framed = true, .is_stored = true };
	struct ts_buf whole;
	size_t n_most = 0;

	for (form.chunk = 11; form.chunk < 65536; form.chunk += 65000) {
		size_t len, n_before = 0;

		ts_buf_init(&whole);
		ucir_encode(&t.bytes, &form, WHOLE);
		len = t.bytes.len;
		ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
		ck_assert_int_eq(ucir_read_all(&t, &whole), TS_END);
		ucir_close(&t);
		for (size_t at = 75; at < len; at++) {
			size_t n = 0;

			ucir_encode(&t.bytes, &form, WHOLE);
			t.bytes.len = at;
			ts_buf_reset(&got);
			if (ucir_open(&t, NULL)) {
				ucir_read_all(&t, &got);
				for (const char *p = ts_buf_text(&got); *p; p++)
					n += *p == '\n';
				ck_assert_uint_gt(n, 0);
				check_prefix(ts_buf_text(&got), ts_buf_text(&whole), at);
			}
			ck_assert_uint_ge(n, n_before);
			n_before = n;
			ucir_close(&t);
		}
		n_most = n_before > n_most ? n_before : n_most;
		ts_buf_fini(&whole);
	}
	ck_assert_uint_eq(n_most, 7);
}
END_TEST

START_TEST(any_changed_byte_gives_steps_or_a_sentence)
{
	const struct ucir_form form = { .version = 2, .is_framed = true };
	struct ts_buf ops;
	struct script_random rnd = { 11 };

	ts_buf_init(&ops);
	ucir_encode_ops(&ops, WHOLE, 2);
	for (size_t i = 0; i < ops.len; i++) {
		uint8_t old = ops.data[i];

		for (unsigned k = 0; k < 3; k++) {
			ops.data[i] = (uint8_t)script_below(&rnd, 256);
			ts_buf_reset(&t.bytes);
			ucir_encode_stream(&t.bytes, &form, ops.data, ops.len);
			if (ucir_open(&t, NULL)) {
				enum ts_next next = ucir_read_all(&t, NULL);

				ck_assert(next == TS_END || *t.err.text);
			}
			ucir_close(&t);
		}
		ops.data[i] = old;
	}
	ts_buf_fini(&ops);
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_v2_ends", setup, teardown, a_signal_with_a_handler_arrives_at_its_step,
		   a_fault_that_is_caught_stops_at_its_instruction,
		   what_is_not_known_of_a_signal_is_not_shown,
		   a_jump_may_have_been_written_before_the_signal_that_came_instead,
		   a_signal_for_another_thread_than_the_one_that_ran_is_its_own,
		   a_crash_ends_at_the_instruction_that_failed,
		   a_crash_whose_instruction_has_a_step_is_a_fault_there, a_signal_that_kills_is_told_once, a_gap_belongs_to_the_step_before,
		   system_calls_and_signals_divide_a_gap, a_gap_of_another_thread_is_its_own,
		   an_end_is_that_of_the_process_of_the_frame_before,
		   an_end_is_told_of_a_thread_that_still_lives,
		   exec_and_an_early_end_of_the_recorder_are_said,
		   an_instruction_that_has_no_step_when_the_program_ends_is_left_out,
		   notes_before_the_first_frame_are_facts, the_first_program_and_the_first_arguments_count,
		   a_note_of_text_is_a_fact_up_to_its_first_nul, each_kind_of_note_on_the_way,
		   notes_on_the_way_are_warnings_once_each, many_children_leave_room_for_other_warnings,
		   ops_where_they_may_not_stand_are_refused,
		   an_address_that_the_processor_does_not_have_is_refused,
		   too_many_threads_at_one_time_are_refused,
		   a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved,
		   a_file_that_is_truncated_anywhere_loads_up_to_its_last_step,
		   any_changed_byte_gives_steps_or_a_sentence)
