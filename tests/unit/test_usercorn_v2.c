/* SPDX-License-Identifier: MIT */
/*
 * UCIR version 2, by its specification (tracestub-ucir2(7)): traces written out as text, and the steps that
 * must come of them.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "ucir_text.h"

static struct ucir_trace t;
static struct ts_buf got;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
	ts_buf_init(&got);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&got);
}

/* Process 7: thread 7 with the memory, thread 8 that begins later. */
#define START                                                                                          \
	"KEY 7:7 { REG 44 7100 JMP 1000 MAP 1000 1000 5 exe /bin/prog WRITE 1000 0f05 WRITE 1800 c3 " \
	"MAP 7000 1000 3 stack - WRITE 7100 01 } "
#define SECOND "KEY 7:8 { REG 44 7800 REG 35 5 JMP 1800 } "

static void open_text(const struct ucir_form *form, const char *text)
{
	ts_buf_reset(&t.bytes);
	ucir_encode(&t.bytes, form, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}

static void expect_form(const struct ucir_form *form, const char *text, const char *want)
{
	open_text(form, text);
	ts_buf_reset(&got);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), want);
}

static void expect(const char *text, const char *want)
{
	expect_form(&ucir_v2, text, want);
}

static void expect_error(const char *text, const char *word)
{
	open_text(&ucir_v2, text);
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_FAIL);
	ck_assert_int_eq(t.err.code, TS_ECORRUPT);
	ck_assert_msg(strstr(t.err.text, word) != NULL, "no \"%s\" in: %s", word, t.err.text);
}

static const char *initial(void)
{
	ts_buf_reset(&got);
	ucir_describe_effects(&got, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	return ts_buf_text(&got);
}

/* -------------------------------------------------------------------------------- the wire */

/*
 * Every byte of every op that version 2 changes, written out by hand from the tables of the specification:
 * this test does not use the encoder of the others.
 */
START_TEST(the_layouts_are_those_of_the_specification)
{
	static const char raw[] =
		"RAW 0203000000010000000100000005" /* KEYFRAME thread 3 of process 1, one op: REG */
		"2c000071000000000000"             /* 44, 0x7100 */
		"RAW 01030000000100000008000000"   /* FRAME, eight ops */
		"RAW 03001000000000000000000000"   /* JMP */
		"RAW 10003000000000000004000000000000000" "0" /* FORGET 4 at 0x3000 */
		"RAW 11002000000000000002000000aabb" /* CHANGED */
		"RAW 0402"                           /* STEP */
		"RAW 0c0100000005000000000000000201000000" "0100000000000000" "0020000000000000" "00" /* SYSCALL, NOP */
		"RAW 0e0a00faffffff6300000000000000190" "1000000" "08006f0000000000000100000055" /* SIGNAL, WRITE */
		"RAW 0f07000000"                     /* THREAD_END */
		"RAW 00"
		"RAW 120c020000006869"               /* NOTE */
		"RAW 130007000000";                  /* END */
	struct ts_buf ops, text;
	const char *p = raw;

	/* the string above is for reading: the words between RAWs follow each other */
	ts_buf_init(&ops);
	ts_buf_init(&text);
	for (; *p; p++) {
		if (strncmp(p, "RAW ", 4) == 0)
			p += 3;
		else
			ts_buf_putc(&text, (uint8_t)*p);
	}
	for (size_t i = 0; i + 1 < text.len; i += 2) {
		unsigned b;

		ck_assert_int_eq(sscanf(ts_buf_text(&text) + i, "%2x", &b), 1);
		ts_buf_putc(&ops, (uint8_t)b);
	}
	ucir_encode_stream(&t.bytes, &ucir_v2, ops.data, ops.len);
	ts_buf_fini(&ops);
	ts_buf_fini(&text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), "1000/2@0 F3000,4 R2000,2=! syscall1(1,2000)=5 signal30+/-6@63 "
					    "W6f00=55! threadend7 exit7\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "hi"), 1);
}
END_TEST

START_TEST(version_2_is_big_endian_in_the_header_and_always_framed)
{
	struct ucir_form form = { .version = 2, .is_framed = true, .is_version_le = true };

	ucir_encode(&t.bytes, &form, START "FRAME 7:7 { STEP 2 }");
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_ptr_nonnull(strstr(t.err.text, "02000000"));
	ucir_close(&t);
	form = (struct ucir_form){ .version = 2 };
	ucir_encode(&t.bytes, &form, START "FRAME 7:7 { STEP 2 }");
	ck_assert(!ucir_open(&t, NULL));
}
END_TEST

START_TEST(earlier_versions_have_none_of_its_ops_and_none_of_its_architectures)
{
	struct ucir_form form = { .version = 1, .is_framed = true };

	for (unsigned kind = 14; kind <= 19; kind++) {
		char text[128];

		snprintf(text, sizeof(text), "KEY 0 { } FRAME 0 { JMP 1000 STEP 2 } RAW %02x RAW 20*00",
			 kind);
		open_text(&form, text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), TS_FAIL);
		snprintf(text, sizeof(text), "unknown op %u", kind);
		ck_assert_ptr_nonnull(strstr(t.err.text, text));
		ucir_close(&t);
	}
	form.arch = "riscv64";
	ucir_encode(&t.bytes, &form, "KEY 0 { } FRAME 0 { JMP 1000 STEP 2 }");
	ck_assert(!ucir_open(&t, NULL));
	ck_assert_ptr_nonnull(strstr(t.err.text, "unknown architecture \"riscv64\""));
}
END_TEST

/* -------------------------------------------------------------------------------- keyframes */

START_TEST(registers_that_a_keyframe_does_not_name_are_unknown)
{
	open_text(&ucir_v2, START "FRAME 7:7 { STEP 2 }");
	ck_assert_str_eq(initial(), " T0 rsp=7100 M1000,1000,5,exe,/bin/prog W1000=0f05 W1800=c3 "
				    "M7000,1000,3,stack,- W7100=01");
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(what_a_keyframe_forgets_is_unknown_from_the_start)
{
	open_text(&ucir_v2, "KEY 7:7 { JMP 1000 MAP 9000 1000 5 - /big FORGET 9000 1000 WRITE 9004 05 } "
			    "FRAME 7:7 { STEP 1 }");
	ck_assert_str_eq(initial(), " T0 M9000,1000,5,-,/big F9000,1000 W9004=05");
}
END_TEST

START_TEST(a_jump_in_the_keyframe_is_where_the_thread_begins)
{
	expect(START "FRAME 7:7 { STEP 2 } " SECOND "FRAME 7:8 { STEP 1 } END 0 0",
	       "1000/2@0 T1 rsp=7800! rax=5!\n1800/1@1 exit0\n");
}
END_TEST

/* -------------------------------------------------------------------------------- threads */

START_TEST(threads_of_a_process_share_its_memory)
{
	open_text(&ucir_v2, START SECOND "KEY 9:9 { JMP 5 } FRAME 7:7 { STEP 2 }");
	ck_assert_uint_eq(t.rec->n_threads, 3);
	ck_assert_uint_eq(t.rec->n_processes, 2);
	ck_assert_uint_eq(t.rec->threads[0].process, 0);
	ck_assert_uint_eq(t.rec->threads[1].process, 0);
	ck_assert_uint_eq(t.rec->threads[2].process, 1);
	ck_assert_uint_eq(t.rec->threads[1].pid, 7);
	ck_assert_uint_eq(t.rec->threads[1].tid, 8);
	ck_assert_uint_eq(t.rec->threads[2].pid, 9);
}
END_TEST

START_TEST(an_ended_thread_and_a_later_one_of_its_number_are_two)
{
	expect(START SECOND "FRAME 7:8 { STEP 1 THREAD_END 3 } " SECOND
			    "FRAME 7:7 { STEP 2 } FRAME 7:8 { STEP 1 }",
	       "1800/1@1 threadend3 T2 rsp=7800! rax=5!\n1000/2@0\n1800/1@2\n");
	ck_assert_uint_eq(t.rec->threads[2].tid, 8);
	ck_assert_uint_eq(t.rec->n_processes, 1);
}
END_TEST

START_TEST(a_call_that_returns_after_steps_of_others_happens_there)
{
	expect(START SECOND
	       "FRAME 7:7 { STEP 2 } FRAME 7:8 { STEP 1 STEP 1 } FRAME 7:7 { SYSCALL 0 1 3 { WRITE 7000 61 } JMP 1002 "
	       "STEP 1 }",
	       "1000/2@0\n1800/1@1\n1801/1@1 T0 syscall0(3)=1 W7000=61\n1002/1@0\n");
}
END_TEST

START_TEST(a_call_that_does_not_return_ends_nothing_by_itself)
{
	expect(START SECOND "FRAME 7:8 { STEP 1 SYSCALL 60 0 0 { EXIT WRITE 7000 00 } THREAD_END 0 } "
			    "FRAME 7:7 { STEP 2 SYSCALL 231 0 15 { EXIT } } END 0 21",
	       "1800/1@1 syscall60(0) W7000=00 threadend0\n1000/2@0 syscall231(15) exit21\n");
	ck_assert(t.reader->end.has_exit);
}
END_TEST

START_TEST(a_thread_ends_where_it_stands_though_it_never_ran)
{
	expect(START SECOND "FRAME 7:7 { STEP 2 } FRAME 7:8 { THREAD_END 9 } FRAME 7:7 { STEP 1 } END 0 0",
	       "1000/2@0 T1 threadend9\n1002/1@0 exit0\n");
}
END_TEST

START_TEST(a_group_that_is_open_while_others_run_is_put_together)
{
	expect(START SECOND
	       "FRAME 7:7 { WRITE 7000 01 } FRAME 7:8 { WRITE 7000 02 STEP 1 } FRAME 7:7 { REG 35 9 STEP 2 "
	       "} END 0 0",
	       "1800/1@1 W7000=02\n1000/2@0 W7000=01 rax=9 exit0\n");
}
END_TEST

/* What stands between the frames of a group: notes, steps, calls and signals of others, threads that begin. */
START_TEST(a_group_goes_on_after_what_stands_between_its_frames)
{
	static const char text[] =
		START SECOND
		"FRAME 7:7 { STEP 2 WRITE 7000 01 } NOTE 9 =5 FRAME 7:7 { WRITE 7001 02 } "
		"FRAME 7:8 { STEP 1 SYSCALL 1 2 3 { WRITE 7100 03 } SIGNAL 10 1 2 25 { REG 44 6f00 } } "
		"KEY 7:9 { REG 44 5 SYSCALL 1 0 - { NOP } JMP 1900 } FRAME 7:9 { STEP 3 } NOTE 9 =6 "
		"FRAME 7:7 { WRITE 7002 04 } FRAME 7:8 { JMP 1800 STEP 1 SYSCALL 1 2 3 { NOP } } FRAME 7:7 { STEP 2 }";

	expect(text,
	       "1000/2@0\n"
	       "1800/1@1 syscall1(3)=2 W7100=03 signal30+/1@2 rsp=6f00! T2 rsp=5!\n"
	       "1900/3@2\n"
	       "1800/1@1 syscall1(3)=2\n"
	       "1002/2@0 W7000=01 W7001=02 W7002=04\n");
	ucir_close(&t);
	open_text(&ucir_v2, text);
	ucir_resume_everywhere(&t);
}
END_TEST

START_TEST(a_jump_after_a_step_of_another_is_where_an_open_group_goes_on)
{
	expect(START SECOND "FRAME 7:8 { WRITE 7000 01 } FRAME 7:7 { STEP 2 } FRAME 7:8 { JMP 1900 STEP 1 }",
	       "1000/2@0\n1900/1@1 W7000=01\n");
}
END_TEST

/* -------------------------------------------------------------------------------- signals */

START_TEST(a_signal_with_a_handler_arrives_after_its_step)
{
	expect(START
	       "FRAME 7:7 { STEP 2 SIGNAL 10 -6 63 25 { WRITE 6f00 0102 REG 44 6f00 REG 39 a } JMP 1800 STEP 1 } "
	       "END 0 0",
	       "1000/2@0 signal30+/-6@63 W6f00=0102! rsp=6f00! rdi=a!\n1800/1@0 exit0\n");
}
END_TEST

START_TEST(a_fault_that_is_caught_stops_at_its_instruction)
{
	expect(START
	       "FRAME 7:7 { STEP 2 JMP 1800 STEP 1 SIGNAL 11 1 10 29 { REG 44 6f00 } JMP 1900 STEP 3 } END 0 0",
	       "1000/2@0\n1800/1@0 signal11/1@10 rsp=6f00!\n1900/3@0 exit0\n");
}
END_TEST

START_TEST(what_is_not_known_of_a_signal_is_not_shown)
{
	expect(START "FRAME 7:7 { STEP 2 SIGNAL 14 5 77 1 { } STEP 1 } END 0 0",
	       "1000/2@0 signal14+\n1002/1@0 exit0\n");
}
END_TEST

START_TEST(a_jump_may_have_been_written_before_the_signal_that_came_instead)
{
	expect(START "FRAME 7:7 { STEP 2 JMP 1400 SIGNAL 10 0 0 1 { REG 44 6f00 } JMP 1800 STEP 1 } END 0 0",
	       "1000/2@0 signal30+ rsp=6f00!\n1800/1@0 exit0\n");
}
END_TEST

START_TEST(a_signal_for_another_thread_than_the_one_that_ran_is_its_own)
{
	expect(START SECOND
	       "FRAME 7:7 { STEP 2 } FRAME 7:8 { STEP 1 } FRAME 7:7 { SIGNAL 10 0 0 5 { REG 44 6f00 } JMP "
	       "1800 STEP 1 } END 0 0",
	       "1000/2@0\n1800/1@1 T0 signal30+ rsp=6f00!\n1800/1@0 exit0\n");
}
END_TEST

/* -------------------------------------------------------------------------------- the end */

START_TEST(a_crash_ends_at_the_instruction_that_failed)
{
	expect(START "FRAME 7:7 { STEP 2 JMP 1800 } END 1 11", "1000/2@0 signal11+ exit(by SIGSEGV)\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1800);
	ck_assert(t.reader->end.has_pc && t.reader->end.has_exit && !t.reader->end.is_assumed &&
		  !t.reader->end.is_fault);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(a_crash_whose_instruction_has_a_step_is_a_fault_there)
{
	expect(START "FRAME 7:7 { STEP 2 JMP 1800 STEP 1 SIGNAL 11 1 10 30 { } } END 1 11",
	       "1000/2@0\n1800/1@0 fault10 exit(by SIGSEGV)\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1800);
	ck_assert(t.reader->end.is_fault && t.reader->end.has_exit);
}
END_TEST

START_TEST(a_signal_that_kills_is_told_once)
{
	expect(START "FRAME 7:7 { STEP 2 SIGNAL 9 0 0 2 { } } END 1 9",
	       "1000/2@0 signal9+ exit(by SIGKILL)\n");
}
END_TEST

START_TEST(an_end_is_that_of_the_process_of_the_frame_before)
{
	expect(START
	       "KEY 9:9 { JMP 5 } FRAME 9:9 { STEP 1 } FRAME 7:7 { STEP 2 } END 0 4 FRAME 9:9 { STEP 1 } END 0 5",
	       "5/1@1\n1000/2@0 exit4\n6/1@1 exit5\n");
	ck_assert(t.reader->end.has_exit);
}
END_TEST

/* It is told of the thread that the frame was of, where the one that ran last is gone. */
START_TEST(an_end_is_told_of_a_thread_that_still_lives)
{
	expect(START SECOND "FRAME 7:8 { STEP 1 THREAD_END 0 } FRAME 7:7 { } END 0 3",
	       "1800/1@1 threadend0 T0 exit3\n");
	ucir_close(&t);
	expect(START SECOND "FRAME 7:8 { STEP 1 } FRAME 7:7 { } END 0 3", "1800/1@1 exit3\n");
}
END_TEST

START_TEST(exec_and_an_early_end_of_the_recorder_are_said)
{
	expect(START "FRAME 7:7 { STEP 2 SYSCALL 59 0 1 { EXIT } } NOTE 10 =/bin/true END 2 0",
	       "1000/2@0 syscall59(1) exit(by exec of another program)\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "became /bin/true"), 1);
	ucir_close(&t);
	expect(START "FRAME 7:7 { STEP 2 } END 3 0", "1000/2@0\n");
	ck_assert(!t.reader->end.has_exit);
	ck_assert_uint_eq(ucir_warned(t.rec, "the recorder ended before the program"), 1);
	ck_assert_uint_eq(t.rec->n_warnings, 1);
	ucir_close(&t);
	expect(START "FRAME 7:7 { STEP 2 JMP 1800 WRITE 7000 01 } END 3 0", "1000/2@0\n");
	ck_assert(!t.reader->end.has_exit);
	ck_assert_uint_eq(ucir_warned(t.rec, "the recorder ended before the program"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "the program ended inside an instruction"), 0);
}
END_TEST

START_TEST(an_instruction_that_has_no_step_when_the_program_ends_is_left_out)
{
	expect(START "FRAME 7:7 { STEP 2 JMP 1800 WRITE 7000 01 } END 1 9", "1000/2@0\n");
	ck_assert(t.reader->end.has_exit);
	ck_assert_uint_eq(ucir_warned(t.rec, "inside an instruction"), 1);
}
END_TEST

/* -------------------------------------------------------------------------------- notes */

START_TEST(notes_before_the_first_frame_are_facts)
{
	open_text(&ucir_v2,
		  "NOTE 1 2f61006200 NOTE 2 =/tmp NOTE 3 =/bin/a NOTE 4 00ff10 NOTE 5 =me NOTE 6 =qemu NOTE 7 =max "
		  "NOTE 8 =xmm0 NOTE 99 =later " START "FRAME 7:7 { STEP 2 }");
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
		snprintf(text, sizeof(text), "%s " START "FRAME 7:7 { STEP 2 }", cases[i].notes);
		open_text(&ucir_v2, text);
		ck_assert_str_eq(t.rec->exec_path, cases[i].program);
		ck_assert_uint_eq(t.rec->cmdline.len, cases[i].args_len);
		if (cases[i].args_len)
			ck_assert_mem_eq(t.rec->cmdline.data, cases[i].args, cases[i].args_len);
	}
}
END_TEST

START_TEST(a_note_of_text_is_a_fact_up_to_its_first_nul)
{
	open_text(&ucir_v2, "NOTE 12 68690078 " START "FRAME 7:7 { STEP 2 }");
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
		{ "NOTE 10 =/bin/b", "the program became /bin/b, which was not recorded" },
		{ "NOTE 11 =12", "12 loads found what the recorder had not seen written" },
		{ "NOTE 11 =0", NULL },
		{ "NOTE 12 =full", "full" },
		{ "NOTE 3 =/bin/c", NULL }, /* facts come before the first frame */
		{ "NOTE 99 =new", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[600];

		teardown();
		setup();
		snprintf(text, sizeof(text), START "FRAME 7:7 { STEP 2 } %s FRAME 7:7 { STEP 1 } END 0 0",
			 cases[i].note);
		open_text(&ucir_v2, text);
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
	open_text(&ucir_v2, START
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
	ts_buf_puts(&text, START "FRAME 7:7 { STEP 2 } ");
	for (unsigned i = 0; i < 100; i++)
		ts_buf_printf(&text, "NOTE 9 =%u ", 1000 + i);
	ts_buf_puts(&text, "NOTE 12 =last END 0 0");
	open_text(&ucir_v2, ts_buf_text(&text));
	ts_buf_fini(&text);
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "further child processes"), 100 - TS_MAX_WARNINGS / 2);
	ck_assert_uint_eq(ucir_warned(t.rec, "last"), 1);
}
END_TEST

/* -------------------------------------------------------------------------------- architectures */

START_TEST(every_register_of_every_new_architecture_is_kept)
{
	/* numbers: Unicorn 2's headers (riscv.h, ppc.h, mips.h, s390x.h) */
	static const struct {
		const char *arch, *model, *text, *want;
		bool is_big_endian;
	} cases[] = {
		{ "riscv64", "riscv64",
		  "REG 2 1 REG 3 2 REG 4 3 REG 5 4 REG 6 5 REG 8 6 REG 9 7 REG 10 8 REG 11 9 REG 18 a REG 19 b REG 28 c "
		  "REG 29 d REG 32 e REG 43 f REG 158 10 REG 166 11 REG 167 12 REG 168 13 REG 176 14 REG 185 15 REG 186 16 "
		  "REG 189 17",
		  "ra=1 sp=2 gp=3 tp=4 t0=5 t2=6 fp=7 s1=8 a0=9 a7=a s2=b s11=c t3=d t6=e fcsr=f ft0=10 fs0=11 fs1=12 fa0=13 "
		  "fs2=14 fs11=15 ft8=16 ft11=17",
		  false },
		{ "riscv32", "riscv32", "REG 3 2 REG 32 ffffffff87654321", "sp=2 t6=87654321", false },
		{ "mips64", "mips64", "REG 33 1 REG 31 123456789abcdef0 REG 129 2 REG 130 3 REG 57 4 REG 88 5 REG 139 6",
		  "r31=1 r29=123456789abcdef0 hi=2 lo=3 f0=4 f31=5 status=6", true },
		{ "mips64", "mips64el", "REG 33 1", "r31=1", false },
		{ "ppc64", "ppc64", "REG 2 1 REG 33 2 REG 42 3 REG 73 4 REG 74 5 REG 75 6 REG 76 7 REG 77 8 REG 78 9 REG 79 a",
		  "r0=1 r31=2 f0=3 f31=4 lr=5 xer=6 ctr=7 msr=8 fpscr=9 cr=a", true },
		{ "ppc64", "ppc64le", "REG 3 1122334455667788", "r1=1122334455667788", false },
		{ "ppc", "ppc", "REG 3 11223344 REG 42 1122334455667788", "r1=11223344 f0=1122334455667788", true },
		{ "s390x", "s390x", "REG 1 1 REG 16 2 REG 17 3 REG 32 4 REG 49 5 REG 64 6 REG 66 7 REG 99 8",
		  "r0=1 r15=2 f0=3 f15=4 acr0=5 acr15=6 pswm=7 fpc=8", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ucir_form form = { .arch = cases[i].arch,
						.version = 2,
						.is_framed = true,
						.is_big_endian = cases[i].is_big_endian };
		char text[1000], want[600];

		snprintf(text, sizeof(text),
			 "KEY 1:1 { %s JMP 1000 } FRAME 1:1 { READ 0 1 %s STEP 4 } END 0 0", cases[i].text,
			 cases[i].text);
		snprintf(want, sizeof(want), "1000/4@0 R0,1 %s exit0\n", cases[i].want);
		expect_form(&form, text, want);
		ck_assert_str_eq(t.rec->regs.arch->name, cases[i].model);
		ck_assert_uint_eq(t.rec->n_warnings, 0);
		ucir_close(&t);
	}
}
END_TEST

START_TEST(signals_have_the_numbers_of_their_processor)
{
	const struct ucir_form form = { .arch = "mips64", .version = 2, .is_framed = true, .is_big_endian = true };

	expect_form(
		&form,
		"KEY 1:1 { JMP 1000 } FRAME 1:1 { READ 0 1 STEP 4 SIGNAL 10 0 0 1 { } STEP 4 } END 1 16",
		"1000/4@0 R0,1 signal10+\n1004/4@0 signal30+ exit(by SIGUSR1)\n"); /* SIGBUS, SIGUSR1 on MIPS */
}
END_TEST

/* -------------------------------------------------------------------------------- damage */

#define GOOD START "FRAME 7:7 { STEP 2 "

START_TEST(ops_where_they_may_not_stand_are_refused)
{
	expect_error(GOOD "EXIT }", "EXIT outside of a SYSCALL");
	ucir_close(&t);
	expect_error(GOOD "WRITE 7000 01 SIGNAL 10 0 0 1 { } STEP 2 }", "SIGNAL inside an instruction");
	ucir_close(&t);
	expect_error(START "FRAME 7:7 { SIGNAL 10 0 0 1 { } STEP 2 }", "SIGNAL inside an instruction");
	ucir_close(&t);
	expect_error(GOOD "WRITE 7000 01 THREAD_END 0 STEP 2 }", "THREAD_END inside the frame");
	ucir_close(&t);
	expect_error(GOOD "NOTE 1 =a }", "NOTE inside the frame");
	ucir_close(&t);
	expect_error(GOOD "} SIGNAL 10 0 0 1 { }", "SIGNAL at stream level");
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
	expect_error(START SECOND "FRAME 7:7 { STEP 2 } FRAME 7:8 { WRITE 7000 01 } FRAME 7:7 { STEP 1 } FRAME 7:8 { "
				  "THREAD_END 0 }",
		     "THREAD_END inside the frame");
	ucir_close(&t);
	expect_error(START SECOND "FRAME 7:7 { STEP 2 } FRAME 7:8 { WRITE 7000 01 } FRAME 7:7 { STEP 1 } FRAME 7:8 { "
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
		open_text(&form, text);
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
	open_text(&ucir_v2, ts_buf_text(&text));
	ts_buf_fini(&text);
	while (ts_reader_next(t.reader, &t.steps, &t.err) == TS_ITEM)
		n++;
	ck_assert_uint_eq(n, 4096);
	ck_assert_int_eq(t.err.code, TS_ELIMIT);
	ck_assert_ptr_nonnull(strstr(t.err.text, "more than 4096 threads at one time"));
}
END_TEST

#define WHOLE                                                                                                       \
	"NOTE 2 =/tmp " START SECOND                                                                                \
	"FRAME 7:7 { CHANGED 7000 05 FORGET 7010 4 STEP 2 SYSCALL 1 2 3 { WRITE 7100 0102 } SIGNAL 10 1 2 25 { REG 44 " \
	"6f00 WRITE 6f00 0102 } JMP 1800 STEP 1 } FRAME 7:8 { WRITE 7200 09 } FRAME 7:7 { REG 35 7 STEP 1 } FRAME 7:8 { " \
	"REG 35 8 STEP 1 SYSCALL 60 0 0 { EXIT } THREAD_END 0 } NOTE 9 =99 KEY 7:9 { REG 44 5 JMP 1900 } FRAME 7:9 { " \
	"STEP 3 JMP 1000 STEP 2 SIGNAL 11 1 10 29 { REG 44 4 } JMP 1c00 STEP 1 JMP 1d00 } NOTE 12 =x END 1 11"

START_TEST(a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved)
{
	struct ucir_form form = { .version = 2, .is_framed = true };

	for (form.chunk = 3; form.chunk < 40; form.chunk += 6) {
		open_text(&form, WHOLE);
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

/* -------------------------------------------------------------------------------- the naive twin */

#define N_THREADS 4
#define N_BYTES 16

/* The machine that the text was made from: registers of each thread, memory of all. */
struct machine {
	uint64_t rax[N_THREADS], pc[N_THREADS];
	uint8_t mem[N_BYTES];
	bool known[N_BYTES];
	bool lives[N_THREADS];
};

/* What a loader's effects make of the same: nothing but assignments. */
static void run_effects(struct machine *m, uint32_t thread, const struct ts_step *s)
{
	const struct ts_reg *rax = &t.rec->regs.regs[ts_regset_find(&t.rec->regs, "rax")];

	for (uint32_t i = s->first; i < s->first + s->n_effects; i++) {
		const struct ts_effect *e = &t.steps.effects[i];
		const uint8_t *data = ts_effect_data(&t.steps, e);

		if (e->kind == TS_FX_THREAD)
			thread = e->item;
		if (e->kind == TS_FX_REG_WRITE && e->addr == rax->off)
			m->rax[thread] = ts_arch_get(t.rec->regs.arch, data, 8);
		for (uint64_t k = 0; k < e->len; k++) {
			if ((e->kind == TS_FX_WRITE || e->kind == TS_FX_READ) && data) {
				m->mem[e->addr - 0x7000 + k] = data[k];
				m->known[e->addr - 0x7000 + k] = true;
			} else if (e->kind == TS_FX_FORGET) {
				m->known[e->addr - 0x7000 + k] = false;
			}
		}
		if (e->kind == TS_FX_EVENT && t.steps.events[e->item].kind == TS_EV_THREAD_END)
			m->lives[thread] = false;
	}
}

struct writer {
	struct machine m;
	struct script_random rnd;
	struct ts_buf text;
	unsigned n_steps;
	struct machine after[64]; /* each step and what belongs to it */
	uint32_t thread[64];
};

static void put_byte(struct writer *w, const char *op, unsigned at, uint8_t value)
{
	ts_buf_printf(&w->text, "%s %x %02x ", op, 0x7000 + at, value);
	w->m.mem[at] = value;
	w->m.known[at] = true;
}

/* One instruction of thread @i, and what may follow it. */
static void put_step(struct writer *w, unsigned i)
{
	if (!script_below(&w->rnd, 5))
		put_byte(w, "CHANGED", (unsigned)script_below(&w->rnd, N_BYTES),
			 (uint8_t)script_below(&w->rnd, 256));
	if (!script_below(&w->rnd, 3))
		put_byte(w, "WRITE", (unsigned)script_below(&w->rnd, N_BYTES),
			 (uint8_t)script_below(&w->rnd, 256));
	w->m.rax[i] = script_below(&w->rnd, 1000);
	ts_buf_printf(&w->text, "REG 35 %" PRIx64 " STEP 1 ", w->m.rax[i]);
	w->thread[w->n_steps] = i;
	w->m.pc[i]++;
}

static void put_tail(struct writer *w, unsigned i)
{
	switch (script_below(&w->rnd, 8)) {
	case 0:
		ts_buf_puts(&w->text, "SYSCALL 3 0 - { ");
		put_byte(w, "WRITE", (unsigned)script_below(&w->rnd, N_BYTES),
			 (uint8_t)script_below(&w->rnd, 256));
		ts_buf_puts(&w->text, "} ");
		break;
	case 1:
		w->m.rax[i] = script_below(&w->rnd, 1000);
		w->m.pc[i] = 0x2000 + script_below(&w->rnd, 1000);
		ts_buf_printf(&w->text,
			      "SIGNAL 10 0 0 1 { REG 35 %" PRIx64 " FORGET 7003 2 } JMP %" PRIx64 " ",
			      w->m.rax[i], w->m.pc[i]);
		w->m.known[3] = w->m.known[4] = false;
		break;
	case 2:
		w->m.pc[i] = 0x3000 + script_below(&w->rnd, 1000);
		ts_buf_printf(&w->text, "JMP %" PRIx64 " ", w->m.pc[i]);
		break;
	}
}

static void write_random(struct writer *w, uint64_t seed)
{
	*w = (struct writer){ .rnd = { seed } };
	ts_buf_init(&w->text);
	for (unsigned i = 0; i < N_THREADS; i++) {
		w->m.pc[i] = 0x1000 * i;
		w->m.rax[i] = i;
		w->m.lives[i] = true;
		ts_buf_printf(&w->text, "KEY 1:%u { REG 35 %x JMP %x %s } ", i, i, 0x1000 * i,
			      i ? "" : "MAP 7000 10 3 - -");
	}
	for (unsigned k = 0; k < N_BYTES; k++)
		w->m.known[k] = true;
	while (w->n_steps < 60) {
		unsigned i = (unsigned)script_below(&w->rnd, N_THREADS);

		if (!w->m.lives[i])
			continue;
		/* a frame may also hold only what belongs to a step before, of whichever thread */
		ts_buf_printf(&w->text, "FRAME 1:%u { ", i);
		if (w->n_steps && !script_below(&w->rnd, 4)) {
			put_tail(w, i);
			w->after[w->n_steps - 1] = w->m;
		}
		for (uint64_t n = script_below(&w->rnd, 3); n > 0 && w->n_steps < 60; n--) {
			put_step(w, i);
			put_tail(w, i);
			w->after[w->n_steps++] = w->m;
		}
		if (i && w->n_steps && !script_below(&w->rnd, 25)) {
			ts_buf_puts(&w->text, "THREAD_END 0 ");
			w->m.lives[i] = false;
			w->after[w->n_steps - 1] = w->m;
		}
		ts_buf_puts(&w->text, "} ");
	}
	ts_buf_puts(&w->text, "END 0 0");
}

START_TEST(any_schedule_of_threads_gives_the_states_it_was_made_from)
{
	static struct writer w;

	for (uint64_t seed = 1; seed < 100; seed++) {
		struct machine m = { 0 };

		write_random(&w, seed);
		open_text(&ucir_v2, ts_buf_text(&w.text));
		for (unsigned i = 0; i < N_THREADS; i++) {
			m.rax[i] = i;
			m.lives[i] = true;
		}
		memset(m.known, true, sizeof(m.known));
		for (unsigned k = 0; k < w.n_steps; k++) {
			ts_steps_reset(&t.steps);
			ck_assert_msg(ts_reader_next(t.reader, &t.steps, &t.err) == TS_ITEM, "%s in\n%s",
				      t.err.text, ts_buf_text(&w.text));
			ck_assert_uint_eq(t.steps.steps[0].thread, w.thread[k]);
			run_effects(&m, t.steps.steps[0].thread, &t.steps.steps[0]);
			for (unsigned i = 0; i < N_THREADS; i++) {
				ck_assert_uint_eq(m.rax[i], w.after[k].rax[i]);
				ck_assert(m.lives[i] == w.after[k].lives[i]);
			}
			for (unsigned i = 0; i < N_BYTES; i++) {
				ck_assert(m.known[i] == w.after[k].known[i]);
				ck_assert(!m.known[i] || m.mem[i] == w.after[k].mem[i]);
			}
			if (k)
				ck_assert_uint_eq(t.steps.steps[0].pc, w.after[k - 1].pc[w.thread[k]]);
		}
		ck_assert_int_eq(ts_reader_next(t.reader, &t.steps, &t.err), TS_END);
		ucir_close(&t);
		open_text(&ucir_v2, ts_buf_text(&w.text));
		ucir_resume_everywhere(&t);
		ucir_close(&t);
		ts_buf_fini(&w.text);
	}
}
END_TEST

UNIT_FIXTURE_SUITE(
	"usercorn_v2", setup, teardown, the_layouts_are_those_of_the_specification,
	version_2_is_big_endian_in_the_header_and_always_framed,
	earlier_versions_have_none_of_its_ops_and_none_of_its_architectures,
	registers_that_a_keyframe_does_not_name_are_unknown,
	what_a_keyframe_forgets_is_unknown_from_the_start, a_jump_in_the_keyframe_is_where_the_thread_begins,
	threads_of_a_process_share_its_memory, an_ended_thread_and_a_later_one_of_its_number_are_two,
	a_call_that_returns_after_steps_of_others_happens_there,
	a_call_that_does_not_return_ends_nothing_by_itself, a_thread_ends_where_it_stands_though_it_never_ran,
	a_group_that_is_open_while_others_run_is_put_together,
	a_group_goes_on_after_what_stands_between_its_frames,
	a_jump_after_a_step_of_another_is_where_an_open_group_goes_on, a_signal_with_a_handler_arrives_after_its_step,
	a_fault_that_is_caught_stops_at_its_instruction, what_is_not_known_of_a_signal_is_not_shown,
	a_jump_may_have_been_written_before_the_signal_that_came_instead,
	a_signal_for_another_thread_than_the_one_that_ran_is_its_own,
	a_crash_ends_at_the_instruction_that_failed, a_crash_whose_instruction_has_a_step_is_a_fault_there,
	a_signal_that_kills_is_told_once, an_end_is_that_of_the_process_of_the_frame_before,
	an_end_is_told_of_a_thread_that_still_lives,
	exec_and_an_early_end_of_the_recorder_are_said,
	an_instruction_that_has_no_step_when_the_program_ends_is_left_out,
	notes_before_the_first_frame_are_facts, the_first_program_and_the_first_arguments_count,
	a_note_of_text_is_a_fact_up_to_its_first_nul, each_kind_of_note_on_the_way,
	notes_on_the_way_are_warnings_once_each, many_children_leave_room_for_other_warnings,
	every_register_of_every_new_architecture_is_kept, signals_have_the_numbers_of_their_processor,
	ops_where_they_may_not_stand_are_refused,
	an_address_that_the_processor_does_not_have_is_refused,
	too_many_threads_at_one_time_are_refused, a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved,
	a_file_that_is_truncated_anywhere_loads_up_to_its_last_step,
	any_changed_byte_gives_steps_or_a_sentence, any_schedule_of_threads_gives_the_states_it_was_made_from)
