/* SPDX-License-Identifier: MIT */
/*
 * Usercorn's versions 0 and 1: keyframes, and processes.
 */
#include "unit.h"

#include <string.h>

#include "ucir_case.h"

/* ------------------------------------------------------------------------------------------ keyframes */

START_TEST(the_first_keyframe_is_the_state_at_position_0)
{
	open_form(&ucir_v1, START "FRAME 0 { JMP 1000 STEP 2 }");
	ck_assert_ptr_nonnull(strstr(initial(), "M1000,1000,5,exe,prog W1000=0f05 M7000,1000,3,stack,-"));
	ck_assert_str_eq(t.rec->exec_path, "prog");
	ck_assert_str_eq(t.rec->os, "linux");
	ck_assert_str_eq(t.rec->osabi, "GNU/Linux");
	ck_assert_str_eq(t.rec->variant, "version 1, snappy-framed");
	ck_assert_str_eq(t.rec->format, "usercorn");
	ck_assert_uint_eq(t.rec->n_threads, 1);
}
END_TEST

START_TEST(a_later_keyframe_changes_nothing)
{
	expect(START
	       "FRAME 0 { JMP 1000 STEP 2 } KEY 0 { REG 35 99 MAP 1000 1000 7 x y WRITE 1000 00 SYSCALL 1 1 "
	       "- { } } "
	       "FRAME 0 { SYSCALL 4 0 - { } WRITE 7000 11 } KEY 0 { REG 35 98 } FRAME 0 { REG 35 1 STEP 1 }",
	       "1000/2@0 syscall4()=0\n"
	       "1002/1@0 W7000=11 rax=1\n");
}
END_TEST

START_TEST(a_later_keyframe_before_the_first_step_changes_nothing)
{
	open_form(&ucir_v1, "KEY 0 { REG 35 1 } KEY 0 { REG 35 2 } FRAME 0 { JMP 1000 STEP 2 }");
	ck_assert_ptr_nonnull(strstr(initial(), " rax=1 "));
	ck_assert_ptr_null(strstr(initial(), "rax=2"));
}
END_TEST

START_TEST(a_trace_without_a_keyframe_is_served_with_nothing_known)
{
	expect("FRAME 0 { JMP 1000 REG 35 1 STEP 2 }", "1000/2@0 rax=1\n");
	ck_assert_str_eq(initial(), "");
	ck_assert_uint_eq(ucir_warned(t.rec, "no keyframe"), 1);
}
END_TEST

START_TEST(a_keyframe_of_the_specification_may_hold_other_ops)
{
	open_form(&ucir_v0,
		  "KEY 0 { JMP 1000 REG 35 1 READ 1000 4 STEP 3 EXIT UNMAP 9000 1000 PROT 1000 1000 5 } "
		  "FRAME 0 { STEP 2 }");
	ck_assert_ptr_nonnull(strstr(initial(), " rax=1 U9000,1000 P1000,1000,5 "));
	ts_buf_reset(&got);
	ck_assert_int_eq(ucir_read_all(&t, &got), TS_END);
	ck_assert_str_eq(ts_buf_text(&got), "1000/2@0\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------ processes */

START_TEST(leading_keyframes_give_each_process_its_state)
{
	open_form(&ucir_v0, TWO "FRAME 20 { JMP 2000 STEP 1 }");
	ck_assert_uint_eq(t.rec->n_threads, 2);
	ck_assert_uint_eq(t.rec->n_processes, 2);
	ck_assert_uint_eq(t.rec->threads[0].pid, 10);
	ck_assert_uint_eq(t.rec->threads[1].pid, 20);
	ck_assert_uint_eq(t.rec->threads[1].process, 1);
	ck_assert_ptr_nonnull(strstr(initial(), "T0 rax=a "));
	ck_assert_ptr_nonnull(strstr(initial(), "T1 rax=b "));
}
END_TEST

START_TEST(a_group_stays_open_while_another_process_runs)
{
	expect_form(&ucir_v0,
		    TWO
		    "FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } FRAME 20 { JMP 2000 STEP 1 WRITE 8000 21 } "
		    "FRAME 10 { } FRAME 10 { WRITE 7001 12 } FRAME 20 { REG 35 1 } FRAME 10 { REG 35 2 STEP "
		    "2 STEP 1 } "
		    "FRAME 20 { STEP 1 STEP 1 }",
		    "1000/2@0\n"
		    "2000/1@1\n"
		    "1002/2@0 W7000=11 W7001=12 rax=2\n"
		    "1004/1@0\n"
		    "2001/1@1 W8000=21 rax=1\n"
		    "2002/1@1\n");
}
END_TEST

START_TEST(reads_before_a_process_jumps_stay_nobodys_when_its_group_is_taken_up_again)
{
	expect_form(&ucir_v0,
		    TWO
		    "FRAME 10 { READ 1000 1000 } FRAME 20 { READ 2000 1000 } FRAME 10 { JMP 1000 READ 1 1 } "
		    "FRAME 20 { JMP 2000 STEP 1 } FRAME 10 { READ 2 1 STEP 1 }",
		    "2000/1@1\n"
		    "1000/1@0 R1,1 R2,1\n");
}
END_TEST

START_TEST(a_system_call_belongs_to_the_last_step_of_its_own_process)
{
	expect_form(&ucir_v0,
		    TWO "FRAME 20 { JMP 2000 STEP 2 } FRAME 10 { JMP 1000 STEP 2 } FRAME 20 { SYSCALL 3 0 - "
			"{ WRITE 8000 1234 } "
			"STEP 1 } FRAME 10 { SYSCALL 4 0 - { } STEP 1 }",
		    "2000/2@1\n"
		    "1000/2@0 T1 syscall3()=0 W8000=1234\n"
		    "2002/1@1 T0 syscall4()=0\n"
		    "1002/1@0\n");
}
END_TEST

START_TEST(system_calls_of_several_processes_behind_one_step_are_each_their_own)
{
	const struct ucir_form form = { .arch = "x86_16", .version = 0 };

	expect_form(
		&ucir_v0,
		TWO
		"FRAME 20 { JMP 2000 STEP 2 } FRAME 10 { JMP 1000 STEP 2 } FRAME 20 { SYSCALL 3 0 - { } } "
		"FRAME 10 { SYSCALL 4 0 - { REG 35 1 } } FRAME 10 { STEP 1 }",
		"2000/2@1\n"
		"1000/2@0 T1 syscall3()=0 T0 syscall4()=0 rax=1\n"
		"1002/1@0\n");
	ucir_close(&t);
	expect_form(&form,
		    "KEY 10 { } FRAME 10 { JMP 1000 STEP 2 } KEY 30 { } FRAME 10 { SYSCALL 4 0 - { } } "
		    "FRAME 30 { JMP 5 STEP 1 }",
		    "1000/2@0 T1 eax=0! ebp=0! ebx=0! cs=0! ecx=0! edi=0! ds=0! edx=0! eflags=0! es=0! esi=0!"
		    " esp=0! ss=0! T0 syscall4()=0\n"
		    "5/1@1\n");
}
END_TEST

START_TEST(nops_for_a_process_that_has_ended_begin_no_new_one)
{
	expect_form(&ucir_v0,
		    TWO "FRAME 10 { JMP 1000 SYSCALL 60 0 1 { EXIT } STEP 2 } FRAME 20 { JMP 2000 REG 35 1 } "
			"FRAME 10 { NOP } FRAME 20 { STEP 1 }",
		    "1000/2@0 syscall60(1) exit1\n"
		    "2000/1@1 rax=1\n");
	ck_assert_uint_eq(t.rec->n_threads, 2);
}
END_TEST

START_TEST(a_process_that_begins_between_steps_has_its_state_at_the_position_there)
{
	expect_form(&ucir_v0,
		    "KEY 10 { } FRAME 10 { JMP 1000 STEP 2 } KEY 30 { REG 35 5 MAP 3000 1000 5 exe q WRITE "
		    "3000 90 } "
		    "FRAME 30 { JMP 3000 STEP 1 } FRAME 10 { STEP 1 }",
		    "1000/2@0 T1 rax=5! M3000,1000,5,exe,q! W3000=90! rbp=0! rbx=0! rcx=0! rdi=0! rdx=0! "
		    "rsi=0! rsp=0! r8=0!"
		    " r9=0! r10=0! r11=0! r12=0! r13=0! r14=0! r15=0!\n"
		    "3000/1@1\n"
		    "1002/1@0\n");
	ck_assert_uint_eq(t.rec->n_threads, 2);
	ck_assert_uint_eq(t.rec->threads[1].pid, 30);
}
END_TEST

/*
 * The position before the step is over, so registers are seen (which holds for all time before), not written.
 */
START_TEST(a_process_that_begins_in_an_open_group_has_its_state_in_the_next_step)
{
	const struct ucir_form form = { .arch = "x86_16", .version = 0 };

	expect_form(&form,
		    "KEY 10 { } FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } KEY 30 { REG 3 5 MAP 3000 1000 5 "
		    "exe q WRITE 3000 90 } "
		    "FRAME 30 { JMP 3000 REG 3 6 STEP 1 } FRAME 10 { STEP 1 }",
		    "1000/2@0\n"
		    "3000/1@1 T1 eax?=5! M3000,1000,5,exe,q! W3000=90! ebp?=0! ebx?=0! cs?=0! ecx?=0! "
		    "edi?=0! ds?=0! edx?=0!"
		    " eflags?=0! es?=0! esi?=0! esp?=0! ss?=0! T1 eax=6\n"
		    "1002/1@0 W7000=11\n");
}
END_TEST

START_TEST(a_process_that_begins_in_an_open_group_of_the_one_that_goes_on)
{
	const struct ucir_form form = { .arch = "x86_16", .version = 0 };

	expect_form(&form,
		    "KEY 10 { } FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } KEY 30 { REG 3 5 } FRAME 10 { "
		    "STEP 1 } "
		    "FRAME 30 { JMP 3000 STEP 1 }",
		    "1000/2@0\n"
		    "1002/1@0 T1 eax?=5! ebp?=0! ebx?=0! cs?=0! ecx?=0! edi?=0! ds?=0! edx?=0! eflags?=0! "
		    "es?=0! esi?=0!"
		    " esp?=0! ss?=0! T0 W7000=11\n"
		    "3000/1@1\n");
}
END_TEST

START_TEST(after_an_exit_the_same_pid_is_a_new_process)
{
	expect_form(&ucir_v0,
		    TWO "FRAME 10 { JMP 1000 SYSCALL 60 0 1 { EXIT } STEP 2 } FRAME 20 { JMP 2000 STEP 1 } "
			"FRAME 10 { JMP 1000 STEP 2 } FRAME 20 { STEP 1 }",
		    "1000/2@0 syscall60(1) exit1\n"
		    "2000/1@1\n"
		    "1000/2@2\n"
		    "2001/1@1\n");
	ck_assert_uint_eq(t.rec->n_threads, 3);
	ck_assert_uint_eq(t.rec->threads[2].pid, 10);
	ck_assert_uint_eq(t.rec->threads[2].process, 2);
	ck_assert_uint_eq(ucir_warned(t.rec, "without a keyframe"), 1);
	ck_assert(!t.reader->end.has_exit);
}
END_TEST

START_TEST(a_keyframe_after_an_exit_without_a_step_begins_a_new_process)
{
	const struct ucir_form form = { .arch = "x86_16", .version = 0 };

	expect_form(&form,
		    "KEY 10 { } FRAME 10 { JMP 1000 STEP 2 EXIT } KEY 10 { REG 3 7 } FRAME 10 { JMP 3000 "
		    "STEP 1 EXIT }",
		    "1000/2@0\n"
		    "3000/1@1 T1 eax?=7! ebp?=0! ebx?=0! cs?=0! ecx?=0! edi?=0! ds?=0! edx?=0! eflags?=0! "
		    "es?=0! esi?=0!"
		    " esp?=0! ss?=0! T1 exit\n");
	ck_assert(t.reader->end.has_exit);
}
END_TEST

START_TEST(another_reader_gives_the_same_ordinals)
{
	struct ts_reader *second;
	struct ts_buf again;

	open_form(&ucir_v0, TWO "FRAME 10 { JMP 1000 SYSCALL 60 0 1 { EXIT } STEP 2 } KEY 30 { } FRAME 30 { "
				"JMP 2000 STEP 1 } "
				"FRAME 10 { JMP 1000 STEP 2 }");
	ck_assert_int_eq(ucir_read_all(&t, &got), TS_END);
	ts_buf_init(&again);
	second = t.rec->ops->reader(t.rec, &t.err);
	ck_assert_ptr_nonnull(second);
	ts_reader_close(t.reader);
	t.reader = second;
	ck_assert_int_eq(ucir_read_all(&t, &again), TS_END);
	ck_assert_str_eq(ts_buf_text(&again), ts_buf_text(&got));
	ck_assert_uint_eq(t.rec->n_threads, 4);
	ck_assert_uint_eq(ucir_warned(t.rec, "without a keyframe"), 1);
	ts_buf_fini(&again);
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_keyframes", setup, teardown, the_first_keyframe_is_the_state_at_position_0,
		   a_later_keyframe_changes_nothing, a_later_keyframe_before_the_first_step_changes_nothing,
		   a_trace_without_a_keyframe_is_served_with_nothing_known,
		   a_keyframe_of_the_specification_may_hold_other_ops,
		   leading_keyframes_give_each_process_its_state,
		   a_group_stays_open_while_another_process_runs,
		   reads_before_a_process_jumps_stay_nobodys_when_its_group_is_taken_up_again,
		   a_system_call_belongs_to_the_last_step_of_its_own_process,
		   system_calls_of_several_processes_behind_one_step_are_each_their_own,
		   nops_for_a_process_that_has_ended_begin_no_new_one,
		   a_process_that_begins_between_steps_has_its_state_at_the_position_there,
		   a_process_that_begins_in_an_open_group_has_its_state_in_the_next_step,
		   a_process_that_begins_in_an_open_group_of_the_one_that_goes_on,
		   after_an_exit_the_same_pid_is_a_new_process,
		   a_keyframe_after_an_exit_without_a_step_begins_a_new_process,
		   another_reader_gives_the_same_ordinals)
