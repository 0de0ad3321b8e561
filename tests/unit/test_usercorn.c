/* SPDX-License-Identifier: MIT */
/*
 * Usercorn's versions 0 and 1: what each operation does, to which step it belongs, addresses and registers.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ucir_case.h"

/* -------------------------------------------------------------------------------- ops */

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

UNIT_FIXTURE_SUITE("usercorn", setup, teardown, all_fourteen_ops_are_read_in_each_form_of_the_file,
		   ops_are_read_across_chunk_borders_at_every_byte, an_op_longer_than_many_chunks_is_read,
		   a_plain_stream_longer_than_a_window_is_read, what_stands_before_a_step_is_its_own,
		   a_group_goes_on_over_frames, a_system_call_belongs_to_the_step_before_it,
		   a_system_call_that_exits_belongs_to_the_step_behind_it,
		   a_system_call_inside_an_open_group_belongs_to_that,
		   a_system_call_before_any_step_belongs_to_the_first, arguments_past_the_eighth_are_left_out,
		   a_folded_repetition_is_one_step, each_explicit_step_at_one_address_counts,
		   reads_before_the_first_jump_are_nobodys, the_words_of_a_string_instruction_are_few_writes,
		   an_empty_write_is_nothing, jumps_set_the_address_and_lengths_move_it,
		   a_jump_behind_the_last_step_says_where_it_would_go_on, an_impossible_length_is_unknown,
		   a_recorded_pc_is_believed, addresses_and_registers_of_32_bits_are_masked,
		   an_access_past_the_end_of_32_bits_is_cut, special_registers_have_the_bytes_of_the_op,
		   a_value_of_another_length_fills_the_low_part, big_endian_registers_are_in_target_order,
		   a_big_endian_value_of_another_length_fills_the_low_part,
		   a_vector_register_may_be_recorded_in_part,
		   unknown_and_partial_registers_are_counted_and_left_out,
		   recorded_registers_are_zero_until_the_keyframe_says_otherwise_and_others_are_unknown,
		   a_register_that_is_wired_to_zero_is_known,
		   optional_features_are_there_when_the_start_has_their_registers,
		   every_recorded_register_of_every_architecture_is_kept)
