/* SPDX-License-Identifier: MIT */
/*
 * What a Usercorn trace means: small traces written out as text, and the steps that must come of them.
 */
#include "unit.h"

#include "ucir_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A state to begin with: code at 1000 that is a system call, and a stack. */
#define START                                                           \
	"KEY 0 { REG 44 7100 MAP 1000 1000 5 exe prog WRITE 1000 0f05 " \
	"MAP 7000 1000 3 stack - WRITE 7000 - } "

static void open_form(const struct ucir_form *form, const char *text)
{
	ts_buf_reset(&t.bytes);
	ucir_encode(&t.bytes, form, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}

/* The steps of @text in one form of the file are @want; the trace ends as it should. */
static void expect_form(const struct ucir_form *form, const char *text, const char *want)
{
	open_form(form, text);
	ts_buf_reset(&got);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), want);
}

static void expect(const char *text, const char *want)
{
	expect_form(&ucir_v1, text, want);
}

/* All leading state as text. */
static const char *initial(void)
{
	ts_buf_reset(&got);
	ucir_describe_effects(&got, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	return ts_buf_text(&got);
}

/* -------------------------------------------------------------------------------- ops */

static const char all_ops[] =
	START "NOP FRAME 0 { JMP 1000 REG 35 7000 SPREG 122 00112233445566778899aabbccddeeff READ 2000 8 "
	      "WRITE 2008 0102 MAP 3000 1000 3 brk - UNMAP 3000 1000 PROT 1000 1000 5 STEP 2 "
	      "SYSCALL 1 5 1,2000,5 { REG 38 9 READ 2000 5 NOP } NOP STEP 3 "
	      "SYSCALL 60 0 15 { EXIT } STEP 2 }";

static const char all_steps[] = "1000/2@0 rax=7000 xmm0=00112233445566778899aabbccddeeff R2000,8 W2008=0102 "
				"M3000,1000,3,brk,- U3000,1000 "
				"P1000,1000,5 syscall1(1,2000,5)=5 rcx=9 R2000,5\n"
				"1002/3@0\n"
				"1005/2@0 syscall60(15) exit21\n";

START_TEST(all_fourteen_ops_are_read_in_each_form_of_the_file)
{
	static const struct ucir_form forms[] = {
		{ .version = 1, .is_framed = true },
		{ .version = 1, .is_framed = true, .is_version_le = true },
		{ .version = 1, .is_framed = true, .is_stored = true },
		{ .version = 0, .is_framed = true },
		{ .version = 0 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		expect_form(&forms[i], all_ops, all_steps);
		ck_assert(t.reader->end.has_exit && !t.reader->end.is_fault);
		ck_assert_uint_eq(t.reader->end.pc, 0x1007);
		ucir_close(&t);
	}
}
END_TEST

START_TEST(ops_are_read_across_chunk_borders_at_every_byte)
{
	struct ucir_form form = { .version = 1, .is_framed = true };
	struct ts_buf ops;

	ts_buf_init(&ops);
	ucir_encode_ops(&ops, all_ops, 1);
	for (form.first_chunk = 1; form.first_chunk <= ops.len; form.first_chunk++) {
		form.is_stored = form.first_chunk & 1;
		expect_form(&form, all_ops, all_steps);
		ucir_close(&t);
	}
	form.first_chunk = 0;
	for (form.chunk = 1; form.chunk < 60; form.chunk++) {
		expect_form(&form, all_ops, all_steps);
		ucir_close(&t);
	}
	ts_buf_fini(&ops);
}
END_TEST

START_TEST(an_op_longer_than_many_chunks_is_read)
{
	const struct ucir_form form = { .version = 1, .is_framed = true, .chunk = 100 };

	open_form(&form, START "FRAME 0 { JMP 1000 WRITE 2000 300000*5a WRITE 9000 77 STEP 2 }");
	ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_ITEM);
	ck_assert_uint_eq(t.steps.n_effects, 2);
	ck_assert_uint_eq(t.steps.effects[0].len, 300000);
	for (uint32_t i = 0; i < 300000; i++)
		ck_assert_uint_eq(t.steps.data[t.steps.effects[0].data + i], 0x5a);
	ck_assert_uint_eq(t.steps.data[t.steps.effects[1].data], 0x77);
}
END_TEST

START_TEST(a_plain_stream_longer_than_a_window_is_read)
{
	open_form(&ucir_v0, START
		  "FRAME 0 { JMP 1000 WRITE 20000 400000*5a STEP 2 WRITE 100 700000*21 STEP 2 STEP 1 }");
	ck_assert_int_eq(ucir_read_all(&t, &got), TS_END);
	ck_assert_uint_gt(got.len, 2 * 1100000);
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&got), "\n1004/1@0\n"));
}
END_TEST

/* ---------------------------------------------------------------------------------------------- attribution */

START_TEST(what_stands_before_a_step_is_its_own)
{
	expect(START "FRAME 0 { JMP 1000 STEP 1 WRITE 7000 11 REG 35 5 STEP 2 READ 7000 1 STEP 3 }",
	       "1000/1@0\n"
	       "1001/2@0 W7000=11 rax=5\n"
	       "1003/3@0 R7000,1\n");
}
END_TEST

START_TEST(a_group_goes_on_over_frames)
{
	expect(START "FRAME 0 { JMP 1000 WRITE 7000 11 } NOP FRAME 0 { } FRAME 0 { REG 35 5 } FRAME 0 { STEP "
		     "2 STEP 1 }",
	       "1000/2@0 W7000=11 rax=5\n"
	       "1002/1@0\n");
}
END_TEST

START_TEST(a_system_call_belongs_to_the_step_before_it)
{
	expect(START "FRAME 0 { JMP 1000 REG 35 c000 STEP 2 NOP } NOP FRAME 0 { "
		     "SYSCALL 9 c000 0,1000 { UNMAP c000 1000 MAP c000 1000 3 mmap - WRITE c000 aa } "
		     "NOP SYSCALL 10 0 - { } } FRAME 0 { JMP 1002 REG 36 1 STEP 3 }",
	       "1000/2@0 rax=c000 syscall9(0,1000)=c000 Uc000,1000 Mc000,1000,3,mmap,- Wc000=aa "
	       "syscall10()=0\n"
	       "1002/3@0 rbp=1\n");
}
END_TEST

START_TEST(a_system_call_that_exits_belongs_to_the_step_behind_it)
{
	expect(START "FRAME 0 { JMP 1000 STEP 1 READ 1001 4 SYSCALL 231 0 5b { EXIT } REG 35 0 STEP 2 }",
	       "1000/1@0\n"
	       "1001/2@0 R1001,4 syscall231(5b) exit91 rax=0\n");
	ck_assert(t.reader->end.has_exit);
	ck_assert_uint_eq(t.reader->end.pc, 0x1003);
}
END_TEST

START_TEST(a_system_call_inside_an_open_group_belongs_to_that)
{
	expect(START "FRAME 0 { JMP 1000 STEP 1 READ 1001 4 SYSCALL 4 0 - { } REG 35 0 STEP 2 }",
	       "1000/1@0\n"
	       "1001/2@0 R1001,4 syscall4()=0 rax=0\n");
}
END_TEST

START_TEST(a_system_call_before_any_step_belongs_to_the_first)
{
	expect(START "FRAME 0 { SYSCALL 4 0 - { } JMP 1000 STEP 1 }", "1000/1@0 syscall4()=0\n");
}
END_TEST

START_TEST(arguments_past_the_eighth_are_left_out)
{
	expect(START "FRAME 0 { JMP 1000 STEP 2 SYSCALL 4 0 1,2,3,4,5,6,7,8,9,a { } }",
	       "1000/2@0 syscall4(1,2,3,4,5,6,7,8)=0\n");
}
END_TEST

START_TEST(a_folded_repetition_is_one_step)
{
	expect(START "FRAME 0 { JMP 1000 READ 2000 1 WRITE 3000 61 } FRAME 0 { JMP 1000 READ 2001 1 WRITE "
		     "3001 62 } "
		     "FRAME 0 { JMP 1000 READ 2002 1 WRITE 3002 63 REG 38 0 STEP 2 STEP 1 }",
	       "1000/2@0 R2000,1 W3000=61 R2001,1 W3001=62 R2002,1 W3002=63 rcx=0\n"
	       "1002/1@0\n");
}
END_TEST

START_TEST(each_explicit_step_at_one_address_counts)
{
	expect_form(&ucir_v0, START "FRAME 0 { JMP 1000 STEP 2 JMP 1000 STEP 2 JMP 1000 STEP 2 }",
		    "1000/2@0\n1000/2@0\n1000/2@0\n");
}
END_TEST

START_TEST(reads_before_the_first_jump_are_nobodys)
{
	expect(START "FRAME 0 { READ 1000 1000 READ 7000 1000 } FRAME 0 { JMP 1000 READ 7000 8 STEP 2 }",
	       "1000/2@0 R7000,8\n");
}
END_TEST

START_TEST(an_empty_write_is_nothing)
{
	expect(START "FRAME 0 { JMP 1000 WRITE 7000 - READ 7000 0 STEP 2 }", "1000/2@0\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------ addresses */

START_TEST(jumps_set_the_address_and_lengths_move_it)
{
	expect(START "FRAME 0 { JMP 9000 JMP 1000 STEP 5 STEP 4 JMP 1009 STEP 0 STEP 1 JMP 2000 STEP 1 }",
	       "1000/5@0\n1005/4@0\n1009/0@0\n1009/1@0\n2000/1@0\n");
	ck_assert(t.reader->end.has_pc);
	ck_assert_uint_eq(t.reader->end.pc, 0x2001);
	ck_assert(t.reader->end.is_assumed); /* it may have been a jump */
}
END_TEST

START_TEST(a_jump_behind_the_last_step_says_where_it_would_go_on)
{
	expect(START "FRAME 0 { JMP 1000 STEP 5 } FRAME 0 { JMP 3000 WRITE 7000 11 }", "1000/5@0\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x3000);
	ck_assert(!t.reader->end.has_exit && !t.reader->end.is_assumed);
	ck_assert_uint_eq(ucir_warned(t.rec, "after the last STEP"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "without the program's exit"), 1);
}
END_TEST

START_TEST(an_impossible_length_is_unknown)
{
	expect(START "FRAME 0 { JMP 1000 STEP 16 STEP 15 }", "1000/0@0\n1010/15@0\n");
}
END_TEST

START_TEST(a_recorded_pc_is_believed)
{
	expect_form(&ucir_v0,
		    "KEY 0 { REG 41 1000 } FRAME 0 { REG 41 1002 STEP 2 REG 41 2000 STEP 5 STEP 1 REG 41 3 "
		    "JMP 5000 STEP 1 }",
		    "1000/2@0\n1002/5@0\n2000/1@0\n5000/1@0\n");
	ck_assert_uint_eq(t.reader->end.pc, 3);
}
END_TEST

START_TEST(addresses_and_registers_of_32_bits_are_masked)
{
	const struct ucir_form form = { .arch = "arm", .version = 1, .is_framed = true };

	expect_form(
		&form,
		"KEY 0 { } FRAME 0 { JMP fffffffffffffffc READ ffffffff80000000 4 WRITE 1234567880000004 01 "
		"REG 66 ffffffff12345678 STEP 4 STEP 2 SYSCALL 4 ffffffffffffffff fffffffffffffff0 { } }",
		"fffffffc/4@0 R80000000,4 W80000004=01 r0=12345678\n"
		"0/2@0 syscall4(fffffff0)=ffffffff\n");
}
END_TEST

START_TEST(an_access_past_the_end_of_32_bits_is_cut)
{
	const struct ucir_form form = { .arch = "x86", .version = 1, .is_framed = true };

	expect_form(&form, "KEY 0 { } FRAME 0 { JMP 1000 READ fffffffe 4 WRITE ffffffff 0102 STEP 4 }",
		    "1000/4@0 Rfffffffe,2 Wffffffff=01\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "32-bit"), 2);
}
END_TEST

/* ------------------------------------------------------------------------------------------ registers */

START_TEST(special_registers_have_the_bytes_of_the_op)
{
	expect(START "FRAME 0 { JMP 1000 SPREG 114 0102030405060708090a SPREG 35 1122334455667788 "
		     "SPREG 154 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f STEP 2 }",
	       "1000/2@0 st0=0102030405060708090a rax=8877665544332211 "
	       "xmm0=000102030405060708090a0b0c0d0e0f ymm0h=101112131415161718191a1b1c1d1e1f\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "register"), 0);
}
END_TEST

START_TEST(a_value_of_another_length_fills_the_low_part)
{
	expect(START "FRAME 0 { JMP 1000 SPREG 35 1122 STEP 2 SPREG 35 112233445566778899 STEP 2 }",
	       "1000/2@0 rax[0..1]=1122\n1002/2@0 rax=8877665544332211\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "has 8 bytes"), 1);
}
END_TEST

START_TEST(big_endian_registers_are_in_target_order)
{
	const struct ucir_form form = {
		.arch = "mips", .version = 1, .is_framed = true, .is_big_endian = true
	};

	expect_form(&form,
		    "KEY 0 { } FRAME 0 { JMP 1000 REG 4 12345678 SPREG 5 01020304 SPREG 6 0506 STEP 4 }",
		    "1000/4@0 r2=12345678 r3=1020304 r4[2..3]=0506\n");
	ck_assert_str_eq(t.rec->regs.arch->name, "mips");
	ck_assert_uint_eq(t.steps.n_steps, 0);
	ck_assert_mem_eq(t.steps.data, "\x12\x34\x56\x78", 4);
}
END_TEST

/* The low part is at the end then. */
START_TEST(a_big_endian_value_of_another_length_fills_the_low_part)
{
	const struct ucir_form form = {
		.arch = "mips", .version = 1, .is_framed = true, .is_big_endian = true
	};

	expect_form(&form, "KEY 0 { } FRAME 0 { JMP 1000 SPREG 4 0011223344556677 STEP 4 }",
		    "1000/4@0 r2=44556677\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "number 4 has 4 bytes"), 1);
}
END_TEST

START_TEST(a_vector_register_may_be_recorded_in_part)
{
	expect(START "FRAME 0 { JMP 1000 SPREG 154 00112233445566778899aabbccddeeff STEP 2 SPREG 154 "
		     "000102030405060708090a0b0c0d0e0f1011 STEP 2 }",
	       "1000/2@0 xmm0=00112233445566778899aabbccddeeff\n"
	       "1002/2@0 xmm0=000102030405060708090a0b0c0d0e0f ymm0h[0..1]=1011\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "has 32 bytes but was recorded with 16"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "has 32 bytes but was recorded with 18"), 1);
}
END_TEST

START_TEST(unknown_and_partial_registers_are_counted_and_left_out)
{
	expect(START "FRAME 0 { JMP 1000 REG 3 1 REG 9999 1 SPREG 400 0102 REG 3 2 REG 35 2 STEP 2 }",
	       "1000/2@0 rax=2\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "number 3 "), 2);
	ck_assert_uint_eq(ucir_warned(t.rec, "number 9999 "), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "number 400 "), 1);
}
END_TEST

START_TEST(recorded_registers_are_zero_until_the_keyframe_says_otherwise_and_others_are_unknown)
{
	open_form(&ucir_v1, "KEY 0 { REG 44 7100 REG 36 5 } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert_str_eq(initial(),
			 " T0 rsp=7100 rbp=5 rax=0 rbx=0 rcx=0 rdi=0 rdx=0 rsi=0 r8=0 r9=0 r10=0 r11=0 r12=0"
			 " r13=0 r14=0 r15=0");
	ck_assert_ptr_null(strstr(initial(), "xmm0"));
	ck_assert_int_lt(ts_regset_find(&t.rec->regs, "fs_base"), 0);
}
END_TEST

START_TEST(a_register_that_is_wired_to_zero_is_known)
{
	const struct ucir_form form = { .arch = "mips", .version = 1, .is_framed = true };

	open_form(&form, "KEY 0 { REG 31 7100 } FRAME 0 { JMP 1000 STEP 4 }");
	ck_assert_str_eq(t.rec->regs.arch->name, "mipsel");
	ck_assert_ptr_nonnull(strstr(initial(), " r0=0"));
	ck_assert_ptr_nonnull(strstr(initial(), " r29=7100"));
	ck_assert_ptr_null(strstr(initial(), "hi="));
}
END_TEST

START_TEST(optional_features_are_there_when_the_start_has_their_registers)
{
	open_form(&ucir_v0, "KEY 0 { REG 250 f000 SPREG 123 00112233445566778899aabbccddeeff } FRAME 0 { JMP "
			    "1000 STEP 1 }");
	ck_assert_int_ge(ts_regset_find(&t.rec->regs, "fs_base"), 0);
	ck_assert_ptr_nonnull(strstr(initial(), " fs_base=f000 xmm1=00112233445566778899aabbccddeeff"));
}
END_TEST

/* Each number that the tool records finds a register of its width, on each architecture. */
START_TEST(every_recorded_register_of_every_architecture_is_kept)
{
	static const struct {
		const char *arch, *text, *want;
		bool is_big_endian;
	} cases[] = {
		{ "x86_64", "REG 35 1 REG 113 2", "rax=1 r15=2", false },
		{ "x86", "REG 19 1 REG 25 246 REG 11 8 REG 49 18", "eax=1 eflags=246 cs=8 ss=18", false },
		{ "x86_16", "REG 3 1234 REG 45 2 REG 47 fffe", "eax=1234 esi=2 esp=fffe", false },
		{ "arm", "REG 66 1 REG 78 2 REG 12 3 REG 10 4", "r0=1 r12=2 sp=3 lr=4", false },
		{ "arm", "REG 66 1 REG 12 3", "r0=1 sp=3", true },
		{ "arm64", "REG 199 1 REG 227 2 REG 1 3 REG 2 4 REG 4 5", "x0=1 x28=2 x29=3 x30=4 sp=5",
		  false },
		{ "mips", "REG 3 1 REG 33 2 REG 32 3", "r1=1 r31=2 r30=3", true },
		{ "sparc", "REG 54 1 REG 67 2 REG 84 3 REG 85 4 REG 77 5 REG 61 6",
		  "g1=1 fp=2 sp=3 o7=4 l7=5 i0=6", true },
		{ "m68k", "REG 9 1 REG 7 2 REG 8 3 REG 6 4", "d0=1 fp=2 sp=3 a5=4", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ucir_form form = { .arch = cases[i].arch,
						.version = 1,
						.is_framed = true,
						.is_big_endian = cases[i].is_big_endian };
		char text[200], want[200];

		snprintf(text, sizeof(text), "KEY 0 { } FRAME 0 { READ 0 1 JMP 1000 %s STEP 2 EXIT }",
			 cases[i].text);
		snprintf(want, sizeof(want), "1000/2@0 %s exit\n", cases[i].want);
		expect_form(&form, text, want);
		ck_assert_uint_eq(t.rec->n_warnings, strcmp(cases[i].arch, "x86_16") == 0);
		ucir_close(&t);
	}
}
END_TEST

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

#define TWO "KEY 10 { REG 35 a } KEY 20 { REG 35 b } "

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

/* -------------------------------------------------------------------------------- ends */

/* Code: a store to (rax), then a system call. */
#define CODE "KEY 0 { MAP 1000 1000 5 exe p WRITE 1000 7f454c468900cd80 } "

START_TEST(an_exit_without_system_call_tracing_is_no_fault)
{
	expect(CODE "FRAME 0 { READ 0 1 JMP 1004 STEP 2 EXIT REG 35 0 STEP 2 }",
	       "1004/2@0\n1006/2@0 rax=0 exit\n");
	ck_assert(t.reader->end.has_exit && !t.reader->end.is_fault);
	ck_assert_uint_eq(t.reader->end.pc, 0x1008);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(an_unknown_system_call_ends_the_trace_without_a_fault)
{
	expect(CODE "FRAME 0 { JMP 1006 EXIT STEP 2 }", "1006/2@0 exit\n");
	ck_assert(!t.reader->end.is_fault);
}
END_TEST

START_TEST(a_write_to_a_bad_address_did_not_happen)
{
	expect(CODE "FRAME 0 { JMP 1004 WRITE 10 06000000 EXIT STEP 2 }", "1004/2@0 fault10 exit\n");
	ck_assert(t.reader->end.has_exit && t.reader->end.is_fault && t.reader->end.has_pc);
	ck_assert_uint_eq(t.reader->end.pc, 0x1004);
	ck_assert(!t.reader->end.is_assumed); /* where it faulted */
}
END_TEST

START_TEST(a_read_from_a_bad_address_did_not_happen)
{
	expect(CODE "FRAME 0 { JMP 1004 READ 10 4 EXIT STEP 2 }", "1004/2@0 fault10 exit\n");
	ck_assert(t.reader->end.is_fault);
}
END_TEST

START_TEST(what_a_faulting_instruction_did_before_stays)
{
	expect(CODE "FRAME 0 { JMP 1004 READ 2000 1 WRITE 7000 11 } FRAME 0 { JMP 1004 READ 2001 1 WRITE "
		    "8000 22 EXIT "
		    "REG 38 1 STEP 2 }",
	       "1004/2@0 R2000,1 W7000=11 R2001,1 rcx=1 fault8000 exit\n");
}
END_TEST

START_TEST(an_undefined_instruction_is_a_fault_without_a_length)
{
	expect(CODE "FRAME 0 { JMP 1004 STEP 2 EXIT STEP 241 }", "1004/2@0\n1006/0@0 fault exit\n");
	ck_assert(t.reader->end.is_fault);
	ck_assert_uint_eq(t.reader->end.pc, 0x1006);
}
END_TEST

START_TEST(without_the_instructions_bytes_a_changed_register_shows_that_it_was_completed)
{
	expect("KEY 0 { } FRAME 0 { JMP 1004 EXIT REG 35 0 STEP 2 }", "1004/2@0 rax=0 exit\n");
	ck_assert(!t.reader->end.is_fault);
	ucir_close(&t);
	expect("KEY 0 { } FRAME 0 { JMP 1004 WRITE 0 01 EXIT STEP 2 }", "1004/2@0 fault0 exit\n");
	ck_assert(t.reader->end.is_fault);
}
END_TEST

START_TEST(a_fault_is_found_when_its_group_was_put_aside)
{
	expect_form(&ucir_v0,
		    CODE "KEY 5 { } FRAME 0 { JMP 1004 WRITE 7000 11 WRITE 10 06000000 } FRAME 5 { JMP 9 "
			 "STEP 1 } FRAME 0 { EXIT } "
			 "FRAME 5 { STEP 1 } FRAME 0 { STEP 2 } FRAME 5 { STEP 1 }",
		    "9/1@1\na/1@1\n1004/2@0 W7000=11 fault10 exit\nb/1@1\n");
	ck_assert(!t.reader->end.is_fault);
}
END_TEST

START_TEST(an_exit_with_nothing_behind_it_ends_the_last_step)
{
	expect(START "FRAME 0 { JMP 1000 STEP 2 EXIT NOP }", "1000/2@0 exit\n");
	ck_assert(t.reader->end.has_exit);
	ucir_close(&t);
	expect(START "FRAME 0 { JMP 1000 STEP 2 } EXIT NOP", "1000/2@0 exit\n");
	ck_assert(t.reader->end.has_exit);
	ck_assert(!t.reader->end.is_fault);
}
END_TEST

START_TEST(an_exit_at_stream_level_may_stand_before_its_step)
{
	expect(CODE "FRAME 0 { JMP 1004 STEP 2 } EXIT FRAME 0 { REG 35 0 STEP 2 }",
	       "1004/2@0\n1006/2@0 rax=0 exit\n");
}
END_TEST

/*
 * System call instructions of each architecture: with such code a bare EXIT is an exit, with other code a
 * fault.
 */
START_TEST(the_instruction_tells_an_exit_from_a_fault_on_each_architecture)
{
	static const struct {
		const char *arch, *code;
		unsigned len;
		bool is_big_endian, is_fault;
	} cases[] = {
		{ "x86_64", "0f05", 2, false, false },    { "x86_64", "0f34", 2, false, false },
		{ "x86_64", "8907", 2, false, true },     { "x86_64", "0f0b", 2, false, true },
		{ "x86", "cd80", 2, false, false },       { "x86_16", "cd21", 2, false, false },
		{ "arm", "000000ef", 4, false, false },   { "arm", "00df", 2, false, false },
		{ "arm", "000080e5", 4, false, true },    { "arm", "ef000000", 4, true, false },
		{ "arm64", "010000d4", 4, false, false }, { "arm64", "000000f9", 4, false, true },
		{ "mips", "0c000000", 4, false, false },  { "mips", "0000000c", 4, true, false },
		{ "mips", "0d000000", 4, false, true },   { "sparc", "91d02010", 4, true, false },
		{ "sparc", "d0224000", 4, true, true },   { "m68k", "4e40", 2, true, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ucir_form form = { .arch = cases[i].arch,
						.version = 1,
						.is_framed = true,
						.is_big_endian = cases[i].is_big_endian };
		char text[200];

		snprintf(text, sizeof(text),
			 "KEY 0 { MAP 1000 %x 5 exe - WRITE 1000 %s } FRAME 0 { JMP 1000 EXIT STEP %u }",
			 cases[i].len, cases[i].code, cases[i].len);
		open_form(&form, text);
		ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
		ck_assert_msg(t.reader->end.is_fault == cases[i].is_fault, "%s %s", cases[i].arch,
			      cases[i].code);
		ucir_close(&t);
	}
}
END_TEST

/*
 * exit and exit_group by the kernel's tables of each architecture; the call after each, which other tables
 * have for something else, does not end with a status.
 */
START_TEST(the_status_is_the_argument_of_the_calls_that_exit)
{
	static const struct {
		const char *arch;
		unsigned exit, exit_group;
		bool is_big_endian;
	} cases[] = {
		{ "x86_64", 60, 231, false },   { "x86", 1, 252, false },     { "arm", 1, 248, false },
		{ "arm64", 93, 94, false },     { "mips", 4001, 4246, true }, { "mips", 4001, 4246, false },
		{ "sparc", 1, 188, true },      { "m68k", 1, 247, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ucir_form form = { .arch = cases[i].arch, .is_framed = true };
		const unsigned numbers[] = { cases[i].exit, cases[i].exit_group, cases[i].exit_group + 1,
					     cases[i].exit - 1 };

		form.is_big_endian = cases[i].is_big_endian;
		form.version = 1;
		for (unsigned k = 0; k < 4; k++) {
			char text[200], want[100];

			snprintf(text, sizeof(text),
				 "KEY 0 { } FRAME 0 { JMP 1000 READ 0 4 SYSCALL %u 0 115,7 { EXIT } STEP 4 }",
				 numbers[k]);
			snprintf(want, sizeof(want), "1000/4@0 R0,4 syscall%u(115,7) exit%s\n", numbers[k],
				 k < 2 ? "21" : "");
			expect_form(&form, text, want);
			ucir_close(&t);
		}
	}
}
END_TEST

START_TEST(only_linux_has_these_calls)
{
	const struct ucir_form form = { .arch = "x86_64", .os = "darwin", .version = 1, .is_framed = true };

	expect_form(&form, "KEY 0 { } FRAME 0 { JMP 1000 READ 0 4 SYSCALL 60 0 15 { EXIT } STEP 2 }",
		    "1000/2@0 R0,4 syscall60(15) exit\n");
}
END_TEST

/* A program counter that a producer of version 0 may write in its own width and order. */
START_TEST(a_special_register_may_be_the_pc)
{
	const struct ucir_form mips = { .arch = "mips", .is_big_endian = true },
			       arm = { .arch = "arm" }, arm64 = { .arch = "arm64" };

	expect_form(&mips, "KEY 0 { SPREG 1 00001000 } FRAME 0 { STEP 4 SPREG 1 00402000 STEP 4 STEP 4 }",
		    "1000/4@0\n1004/4@0\n402000/4@0\n");
	ucir_close(&t);
	expect_form(&arm, "KEY 0 { SPREG 11 00100000 } FRAME 0 { STEP 4 SPREG 11 ff200000 STEP 4 STEP 2 }",
		    "1000/4@0\n1004/4@0\n20ff/2@0\n");
	ucir_close(&t);
	expect_form(&arm64,
		    "KEY 0 { } FRAME 0 { JMP 1000 SPREG 260 1032547698badc0e STEP 4 SPREG 260 - STEP 4 }",
		    "1000/4@0\nedcba9876543210/4@0\n");
}
END_TEST

/* ------------------------------------------------------------------------------------------- oddities */

START_TEST(odd_regions_are_warned_of)
{
	expect(START "FRAME 0 { JMP 1000 MAP 3000 0 3 a - UNMAP 3000 0 MAP 4000 1000 15 b - PROT 4000 1000 8 "
		     "STEP 1 EXIT }",
	       "1000/1@0 M4000,1000,7,b,- P4000,1000,0 exit\n");
	ck_assert_uint_eq(ucir_warned(t.rec, "MEM_MAP of no bytes"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "MEM_UNMAP of no bytes"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "above 7"), 2);
}
END_TEST

START_TEST(regions_may_end_where_the_address_space_ends)
{
	const struct ucir_form form = { .arch = "arm", .version = 1, .is_framed = true };

	expect(START "FRAME 0 { JMP 1000 MAP fffffffffffff000 1000 3 a - STEP 1 }",
	       "1000/1@0 Mfffffffffffff000,1000,3,a,-\n");
	ucir_close(&t);
	expect_form(&form,
		    "KEY 0 { MAP ffff0000 10000 5 - - } FRAME 0 { JMP 1000 MAP fffff000 1000 3 a - STEP 4 }",
		    "1000/4@0 Mfffff000,1000,3,a,-\n");
}
END_TEST

START_TEST(an_absurd_region_costs_nothing)
{
	open_form(&ucir_v1,
		  "KEY 0 { MAP 0 ffffffffffffffff 3 exe - WRITE 0 7f454c46 } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert_uint_lt(t.rec->initial.cap_data, 65536);
}
END_TEST

START_TEST(a_byte_order_that_the_architecture_does_not_have_is_warned_of)
{
	static const char *const others[] = { "x86", "x86_16", "sparc", "m68k" };
	struct ucir_form form = { .version = 1, .is_framed = true, .is_big_endian = true };

	open_form(&form, START "FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert_uint_eq(ucir_warned(t.rec, "big-endian"), 1);
	ck_assert(!t.rec->regs.arch->is_big_endian);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		form.arch = others[i];
		form.is_big_endian = i < 2;
		ucir_close(&t);
		open_form(&form, "KEY 0 { } FRAME 0 { JMP 1000 STEP 1 }");
		ck_assert_uint_eq(ucir_warned(t.rec, i < 2 ? "big-endian" : "little-endian"), 1);
		ck_assert(t.rec->regs.arch->is_big_endian == (i >= 2));
	}
}
END_TEST

START_TEST(a_trace_without_any_access_says_so)
{
	open_form(&ucir_v1, "KEY 0 { } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert(!t.rec->has_reads);
	ck_assert_uint_eq(ucir_warned(t.rec, "accesses were not recorded"), 1);
	ucir_close(&t);
	open_form(&ucir_v1, "KEY 0 { } FRAME 0 { READ 0 1000 } FRAME 0 { JMP 1000 STEP 1 }");
	ck_assert(t.rec->has_reads);
	ck_assert_uint_eq(ucir_warned(t.rec, "accesses were not recorded"), 0);
}
END_TEST

/*
 * Without the frame of reads that the tool's snapshot leaves; state and the kernel's writes are no accesses.
 */
START_TEST(an_access_in_a_later_step_shows_that_they_were_recorded)
{
	open_form(&ucir_v1,
		  START "FRAME 0 { JMP 1000 STEP 2 } FRAME 0 { JMP 1002 STEP 1 READ 7000 8 STEP 1 }");
	ck_assert(t.rec->has_reads);
	ck_assert_uint_eq(ucir_warned(t.rec, "accesses were not recorded"), 0);
	ucir_close(&t);
	open_form(&ucir_v1, START "FRAME 0 { JMP 1000 STEP 2 SYSCALL 3 0 - { WRITE 7000 01 READ 7000 1 } } "
				  "KEY 0 { WRITE 7000 02 } FRAME 0 { STEP 1 }");
	ck_assert(!t.rec->has_reads);
	ucir_close(&t);
	open_form(&ucir_v1, START "FRAME 0 { JMP 1000 STEP 2 SYSCALL 3 0 - { } WRITE 7000 01 STEP 1 }");
	ck_assert(t.rec->has_reads);
}
END_TEST

START_TEST(warnings_are_counted_once_however_often_the_ops_are_read)
{
	struct ts_reader *second;

	expect(START "FRAME 0 { JMP 1000 REG 3 1 STEP 1 REG 3 1 STEP 1 }", "1000/1@0\n1001/1@0\n");
	second = t.rec->ops->reader(t.rec, &t.err);
	ts_reader_close(t.reader);
	t.reader = second;
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ck_assert_uint_eq(ucir_warned(t.rec, "number 3 "), 2);
	ck_assert_uint_eq(ucir_warned(t.rec, "without the program's exit"), 1);
}
END_TEST

/* -------------------------------------------------------------------------------------------- decode points */

START_TEST(a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved)
{
	static const char *const texts[] = {
		all_ops,
		START "FRAME 0 { JMP 1000 STEP 2 } NOP FRAME 0 { SYSCALL 4 0 - { WRITE 7000 01 } NOP } FRAME "
		      "0 { STEP 1 WRITE 7000 05 }",
		TWO "FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } FRAME 20 { JMP 2000 STEP 1 WRITE 8000 21 } "
		    "FRAME 10 { WRITE 7001 12 } "
		    "FRAME 20 { REG 35 1 } KEY 30 { REG 35 9 } FRAME 10 { REG 35 2 STEP 2 STEP 1 } FRAME 30 "
		    "{ JMP 5 STEP 1 } "
		    "FRAME 20 { STEP 1 STEP 1 SYSCALL 60 0 1 { EXIT } STEP 1 } FRAME 20 { JMP 9 STEP 1 } "
		    "FRAME 30 { STEP 1 EXIT }",
		CODE "FRAME 0 { JMP 1004 STEP 2 JMP 1004 WRITE 10 06 EXIT STEP 2 }",
		TWO "FRAME 20 { JMP 2000 STEP 1 } FRAME 10 { JMP 1000 SYSCALL 60 0 1 { EXIT } } FRAME 20 { STEP 1 } "
		    "FRAME 10 { STEP 2 } FRAME 20 { STEP 1 EXIT }",
	};
	struct ucir_form form = { .version = 1, .is_framed = true };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (form.chunk = 3; form.chunk < 40; form.chunk += 12) {
			open_form(&form, texts[i]);
			ucir_resume_everywhere(&t);
			ucir_close(&t);
		}
		open_form(&ucir_v0, texts[i]);
		ucir_resume_everywhere(&t);
		ucir_close(&t);
	}
}
END_TEST

/* A group that is open over many frames of another process, resumed in all of them. */
START_TEST(a_group_that_stays_open_makes_no_long_decode_points)
{
	struct ts_buf text, point, lines, again;
	size_t longest = 0;

	ts_buf_init(&text);
	ts_buf_init(&point);
	ts_buf_init(&lines);
	ts_buf_init(&again);
	ts_buf_puts(&text, TWO "FRAME 20 { JMP 2000 REG 35 7 STEP 1 WRITE 8000 11 } ");
	for (int i = 0; i < 100; i++)
		ts_buf_printf(&text,
			      "FRAME 10 { JMP 1000 STEP 1 SYSCALL 3 0 - { WRITE 7000 55 } STEP 2 } NOP "
			      "FRAME 20 { WRITE %x 22 } FRAME 20 { NOP SYSCALL 9 0 - { REG 35 1 } } KEY 10 { REG 35 9 } ",
			      0x8001 + i);
	ts_buf_puts(&text, "FRAME 20 { STEP 1 } FRAME 10 { STEP 1 EXIT }");
	open_form(&ucir_v0, ts_buf_text(&text));
	for (int i = 0; i < 1 + 2 * 100; i++) {
		ts_steps_reset(&t.steps);
		ck_assert_int_eq(ts_reader_next(t.reader, &t.steps, &t.err), TS_ITEM);
		ts_buf_reset(&point);
		t.reader->ops->save(t.reader, &point);
		longest = point.len > longest ? point.len : longest;
		if (i % 20)
			continue;
		ck_assert(t.reader->ops->resume(t.reader, point.data, point.len, &t.err));
		ts_buf_reset(&again);
		ck_assert_int_eq(ucir_read_all(&t, &again), TS_END);
		if (i)
			ck_assert_ptr_nonnull(strstr(ts_buf_text(&lines), ts_buf_text(&again)));
		else
			ts_buf_puts(&lines, ts_buf_text(&again));
		ck_assert(t.reader->ops->resume(t.reader, point.data, point.len, &t.err));
	}
	ck_assert_uint_lt(longest, 80); /* two tasks, with their general registers */
	ck_assert_ptr_nonnull(strstr(ts_buf_text(&lines), "2001/1@1 W8000=1122 syscall9()=0 rax=1 W8002=22"));
	ts_buf_fini(&text);
	ts_buf_fini(&point);
	ts_buf_fini(&lines);
	ts_buf_fini(&again);
}
END_TEST

START_TEST(a_damaged_decode_point_is_refused_or_harmless)
{
	struct ts_buf point;
	uint8_t bytes[256];

	open_form(&ucir_v1,
		  TWO "FRAME 10 { JMP 1000 STEP 2 WRITE 7000 11 } FRAME 20 { JMP 2000 STEP 1 STEP 1 }");
	ts_buf_init(&point);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_ITEM);
	t.reader->ops->save(t.reader, &point);
	ck_assert_uint_lt(point.len, sizeof(bytes));
	for (size_t len = 0; len < point.len; len++) {
		memcpy(bytes, point.data, point.len);
		ts_error_reset(&t.err);
		ck_assert(!t.reader->ops->resume(t.reader, bytes, len, &t.err));
		ck_assert_int_eq(t.reader->ops->next(t.reader, &t.steps, &t.err), TS_FAIL);
	}
	for (size_t bit = 0; bit < point.len * 8; bit++) {
		memcpy(bytes, point.data, point.len);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_error_reset(&t.err);
		if (t.reader->ops->resume(t.reader, bytes, point.len, &t.err))
			ucir_read_all(&t, NULL);
	}
	ts_buf_fini(&point);
}
END_TEST

/* ------------------------------------------------------------------------------------------- registry */

START_TEST(a_trace_is_recognised_by_its_first_bytes)
{
	ucir_encode(&t.bytes, &ucir_v1, START "FRAME 0 { JMP 1000 STEP 1 }");
	t.src = ts_source_from_memory(t.bytes.data, t.bytes.len, "test", &t.err);
	ck_assert_ptr_eq(ts_loader_probe(t.src, &t.err), ts_loader_find("usercorn"));
	ck_assert_ptr_null(ts_loader_find("usercor"));
}
END_TEST

/* So that it is refused for what is odd in it, and not as something unknown. */
START_TEST(a_trace_of_an_unknown_version_or_without_one_is_recognised_too)
{
	static const char *const heads[] = { "UCIR", "UCIR\1\1\1\1 and more", "UCIR\0\0\0\3 and more" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		t.src = ts_source_from_memory(heads[i], i ? 17 : 4, "test", &t.err);
		ck_assert_ptr_eq(ts_loader_probe(t.src, &t.err), ts_loader_find("usercorn"));
		ts_source_close(t.src);
	}
	t.src = NULL;
}
END_TEST

START_TEST(an_unknown_file_is_refused_with_its_first_bytes_and_the_known_formats)
{
	t.src = ts_source_from_memory("\x7f"
				      "ELF\x02\x01",
				      6, "test", &t.err);
	ck_assert_ptr_null(ts_loader_probe(t.src, &t.err));
	ck_assert_int_eq(t.err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(t.err.text, "7f 45 4c 46 02 01 \".ELF..\""));
	ck_assert_ptr_nonnull(strstr(t.err.text, "usercorn"));
	ts_source_close(t.src);
	ts_error_reset(&t.err);
	t.src = ts_source_from_memory("", 0, "test", &t.err);
	ck_assert_ptr_null(ts_loader_probe(t.src, &t.err));
	ck_assert_ptr_nonnull(strstr(t.err.text, "empty"));
}
END_TEST

/* ------------------------------------------------------------------------------------- many words of a step */

#define N_WORDS 1500u

/* How the words of a string instruction come: in one frame, or each in one, perhaps with the instruction's JMP. */
enum words { IN_ONE_FRAME, A_FRAME_EACH, A_FRAME_EACH_WITH_JMP };

static const char *const before[] = { "", "FRAME 0 { ", "FRAME 0 { JMP 1000 " }, *const after[] = { "", "} ", "} " };

static uint64_t address_of_word(unsigned i, uint64_t addr, unsigned gap)
{
	return addr + 8 * (uint64_t)(i + (i >= gap));
}

/* Word @i is its number; they go on from @addr; before word @gap eight bytes are left out. */
static void open_words(const struct ucir_form *form, enum words how, uint64_t addr, unsigned gap)
{
	struct ts_buf text;

	ts_buf_init(&text);
	ts_buf_printf(&text, "FRAME 0 { JMP 1000 %s", after[how]);
	for (unsigned i = 0; i < N_WORDS; i++)
		ts_buf_printf(&text, "%sWRITE %" PRIx64 " %02x%02x000000000000 %s", before[how],
			      address_of_word(i, addr, gap), i & 0xff, i >> 8, after[how]);
	ts_buf_printf(&text, "%sSTEP 2 } FRAME 0 { JMP 1002 STEP 1 EXIT }", how == IN_ONE_FRAME ? "" : "FRAME 0 { ");
	open_form(form, ts_buf_text(&text));
	ts_buf_fini(&text);
}

/* All words, in few effects. */
static void expect_words(uint64_t addr, unsigned gap)
{
	unsigned n = 0;

	ck_assert_msg(ts_reader_next(t.reader, &t.steps, &t.err) == TS_ITEM, "%s", t.err.text);
	ck_assert_uint_lt(t.steps.n_effects, 2 * TS_MANY_EFFECTS);
	for (uint32_t i = 0; i < t.steps.n_effects; i++) {
		const struct ts_effect *e = &t.steps.effects[i];
		const uint8_t *p = ts_effect_data(&t.steps, e);

		for (uint64_t off = 0; e->kind == TS_FX_WRITE && off < e->len; off += 8, n++) {
			const uint8_t word[8] = { (uint8_t)n, (uint8_t)(n >> 8) };

			ck_assert_uint_eq(e->addr + off, address_of_word(n, addr, gap));
			ck_assert_mem_eq(p + off, word, 8);
		}
	}
	ck_assert_uint_eq(n, N_WORDS);
}

START_TEST(the_words_of_a_string_instruction_are_few_writes)
{
	static const struct ucir_form x86 = { .arch = "x86", .version = 1, .is_framed = true };
	static const struct {
		const struct ucir_form *form;
		uint64_t addr;
		unsigned gap;
	} places[] = {
		{ &ucir_v1, 0x7000, N_WORDS },
		{ &ucir_v1, 0x7000, 1000 },
		{ &ucir_v1, -(uint64_t)8 * N_WORDS, N_WORDS }, /* up to the end of the space */
		{ &x86, (UINT64_C(1) << 32) - 8 * N_WORDS, N_WORDS },
	};

	for (enum words how = IN_ONE_FRAME; how <= A_FRAME_EACH_WITH_JMP; how++) {
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			open_words(places[i].form, how, places[i].addr, places[i].gap);
			expect_words(places[i].addr, places[i].gap);
			ts_steps_reset(&t.steps);
			ck_assert_msg(ts_reader_next(t.reader, &t.steps, &t.err) == TS_ITEM, "%s", t.err.text);
			ck_assert_uint_eq(t.steps.steps[0].pc, 0x1002);
			ucir_close(&t);
		}
	}
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		all_fourteen_ops_are_read_in_each_form_of_the_file,
		ops_are_read_across_chunk_borders_at_every_byte,
		an_op_longer_than_many_chunks_is_read,
		a_plain_stream_longer_than_a_window_is_read,
		what_stands_before_a_step_is_its_own,
		a_group_goes_on_over_frames,
		a_system_call_belongs_to_the_step_before_it,
		a_system_call_that_exits_belongs_to_the_step_behind_it,
		a_system_call_inside_an_open_group_belongs_to_that,
		a_system_call_before_any_step_belongs_to_the_first,
		arguments_past_the_eighth_are_left_out,
		a_folded_repetition_is_one_step,
		each_explicit_step_at_one_address_counts,
		reads_before_the_first_jump_are_nobodys,
		the_words_of_a_string_instruction_are_few_writes,
		an_empty_write_is_nothing,
		jumps_set_the_address_and_lengths_move_it,
		a_jump_behind_the_last_step_says_where_it_would_go_on,
		an_impossible_length_is_unknown,
		a_recorded_pc_is_believed,
		addresses_and_registers_of_32_bits_are_masked,
		an_access_past_the_end_of_32_bits_is_cut,
		special_registers_have_the_bytes_of_the_op,
		a_value_of_another_length_fills_the_low_part,
		big_endian_registers_are_in_target_order,
	a_big_endian_value_of_another_length_fills_the_low_part,
	a_vector_register_may_be_recorded_in_part,
		unknown_and_partial_registers_are_counted_and_left_out,
		recorded_registers_are_zero_until_the_keyframe_says_otherwise_and_others_are_unknown,
		a_register_that_is_wired_to_zero_is_known,
		optional_features_are_there_when_the_start_has_their_registers,
		every_recorded_register_of_every_architecture_is_kept,
		the_first_keyframe_is_the_state_at_position_0,
		a_later_keyframe_changes_nothing,
		a_later_keyframe_before_the_first_step_changes_nothing,
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
		another_reader_gives_the_same_ordinals,
		an_exit_without_system_call_tracing_is_no_fault,
		an_unknown_system_call_ends_the_trace_without_a_fault,
		a_write_to_a_bad_address_did_not_happen,
		a_read_from_a_bad_address_did_not_happen,
		what_a_faulting_instruction_did_before_stays,
		an_undefined_instruction_is_a_fault_without_a_length,
		without_the_instructions_bytes_a_changed_register_shows_that_it_was_completed,
		a_fault_is_found_when_its_group_was_put_aside,
		an_exit_with_nothing_behind_it_ends_the_last_step,
		an_exit_at_stream_level_may_stand_before_its_step,
		the_instruction_tells_an_exit_from_a_fault_on_each_architecture,
		the_status_is_the_argument_of_the_calls_that_exit, only_linux_has_these_calls,
		a_special_register_may_be_the_pc,
		odd_regions_are_warned_of,
		regions_may_end_where_the_address_space_ends,
		an_absurd_region_costs_nothing,
		a_byte_order_that_the_architecture_does_not_have_is_warned_of,
		a_trace_without_any_access_says_so,
		an_access_in_a_later_step_shows_that_they_were_recorded,
		warnings_are_counted_once_however_often_the_ops_are_read,
		a_reader_resumed_at_any_step_goes_on_as_the_one_that_saved,
		a_group_that_stays_open_makes_no_long_decode_points,
		a_damaged_decode_point_is_refused_or_harmless,
		a_trace_is_recognised_by_its_first_bytes,
		a_trace_of_an_unknown_version_or_without_one_is_recognised_too,
		an_unknown_file_is_refused_with_its_first_bytes_and_the_known_formats,
	};
	Suite *suite = suite_create("usercorn");
	TCase *tcase = tcase_create("usercorn");

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
