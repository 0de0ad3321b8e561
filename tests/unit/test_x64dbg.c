/* SPDX-License-Identifier: MIT */
/*
 * x64dbg traces, written block by block: blocks and memory.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "x64dbg_case.h"

/* ---------------------------------------------------------------------------------------- reading */

/*
 * The accesses of a step that an instruction made, as "r1000+8 w2000+4? f3000+16": a write without value has
 * the question mark, and what is forgotten an f.
 */
static const char *accesses(uint64_t step)
{
	const struct ts_step *s = &steps.steps[step];
	static char text[256];

	ck_assert_uint_lt(step, steps.n_steps);
	text[0] = '\0';
	for (uint32_t i = s->first; i < s->first + s->n_effects; i++) {
		const struct ts_effect *e = &steps.effects[i];

		if (e->is_hidden ||
		    (e->kind != TS_FX_READ && e->kind != TS_FX_WRITE && e->kind != TS_FX_FORGET))
			continue;
		sprintf(text + strlen(text), "%s%c%llx+%llu%s", *text ? " " : "",
			e->kind == TS_FX_READ  ? 'r' :
			e->kind == TS_FX_WRITE ? 'w' :
						 'f', (unsigned long long)e->addr,
			(unsigned long long)e->len,
			e->kind == TS_FX_WRITE && e->data == TS_NO_DATA ? "?" : "");
	}
	return text;
}

/* ---------------------------------------------------------------------------------------- blocks */

START_TEST(values_are_those_before_the_instruction)
{
	load_text("x64\n"
		  "full 1000 b801000000 ax=4d sp=9000\n" /* mov $1, %eax */
		  "step 1005 b802000000 ax=1\n"
		  "step 100a 90 ax=2\n");
	ck_assert_uint_eq(tl->n_steps, 2); /* three blocks are positions 0 to 2 */
	ck_assert_uint_eq(reg(0, "rax"), 77);
	ck_assert_uint_eq(reg(1, "rax"), 1);
	ck_assert_uint_eq(reg(2, "rax"), 2);
	ck_assert_uint_eq(reg(2, "rip"), 0x100a);
	ck_assert_uint_eq(reg(1, "rsp"), 0x9000);
	ck_assert_uint_eq(reg(1, "gs_base"), UNKNOWN);
	ck_assert_str_eq(rec->exec_path, "C:\\dir\\prog.exe");
	ck_assert_str_eq(rec->osabi, "Windows");
}
END_TEST

START_TEST(one_block_is_one_position_and_one_that_knows_memory_only)
{
	struct xw_block b = INSN(0x1000, "\x88\x03"); /* mov %al, (%rbx) */

	xw_reg(&b, 3, 0x2000);
	xw_mem(&b, 0x2000, 0x11, 0x22);
	begin(b, 7, 0);
	load();
	ck_assert_uint_eq(tl->n_steps, 1);
	ck_assert_uint_eq(reg(0, "rax"), 7);
	ck_assert_uint_eq(reg(1, "rax"), UNKNOWN);
	ck_assert_str_eq(mem(0, 0x2000, 2), "1100");
	ck_assert_str_eq(mem(1, 0x2000, 2), "2200");
}
END_TEST

START_TEST(instructions_are_memory)
{
	begin(INSN(0x1000, "\xb8\x01\0\0\0"), 0, 0);
	nop(0x1005);
	nop(0x1006);
	load();
	ck_assert_str_eq(mem(0, 0xfff, 9), "..b8010000009090..");
}
END_TEST

/* @n addresses from @pc on that share a place of the decoded instructions, which has room for two. */
static void find_rivals(uint64_t pc, uint64_t *pcs, unsigned n)
{
	const uint64_t hash = UINT64_C(0x9e3779b97f4a7c15); /* x64dbg_insns_place() */

	pcs[0] = pc;
	for (unsigned i = 1; i < n; i++) {
		do
			pc++;
		while ((pc * hash ^ pcs[0] * hash) >> (64 - X64DBG_INSN_BITS));
		pcs[i] = pc;
	}
}

/* The second is looked up, then the third takes its place, then the thread arrives at the second. */
START_TEST(instructions_that_share_a_place_are_themselves)
{
	uint64_t pcs[3];
	struct xw_block b;

	find_rivals(0x1000, pcs, 3);
	begin(INSN(pcs[0], "\xff\xe0"), 0, 0); /* jmp *%rax and the like, which may lead anywhere */
	b = INSN(pcs[1], "\xff\xe1");
	add(&b);
	b = INSN(pcs[2], "\xff\xe2");
	add(&b);
	nop(0x2000);
	nop(0x2001);
	load();
	ck_assert_str_eq(mem(3, pcs[0], 2), "ffe0");
	ck_assert_str_eq(mem(3, pcs[1], 2), "ffe1");
	ck_assert_str_eq(mem(3, pcs[2], 2), "ffe2");
}
END_TEST

START_TEST(code_that_changed_unseen_is_what_ran_last)
{
	load_text("x64\n"
		  "full 1000 90\n"
		  "step 1001 ebfd\n" /* jmp to 0x1000 */
		  "step 1000 f8\n"
		  "step 1001 ebfd\n"
		  "step 1000 90\n"
		  "step 1001 90\n");
	ck_assert_str_eq(mem(1, 0x1000, 1), "90");
	ck_assert_str_eq(mem(2, 0x1000, 1), "f8");
	ck_assert_str_eq(mem(3, 0x1000, 1), "f8");
	ck_assert_str_eq(mem(4, 0x1000, 1), "90");
}
END_TEST

START_TEST(the_words_of_32_bits_have_4_bytes)
{
	/* 40: tag word, and a hole; 42: selector 0x23, opcode 0x7bd with bits that are none */
	load_text("x86\n"
		  "full 1000 8803 ax=5 bx=2000 sp=9000 #40=ffff3fff #42=f7bd0023 @2000=11223344>55667788\n"
		  "step 1002 90\n");
	ck_assert_str_eq(rec->regs.arch->name, "i386");
	ck_assert_str_eq(mem(0, 0x1fff, 6), "..44332211..");
	ck_assert_str_eq(mem(1, 0x2000, 4), "88776655");
	ck_assert_uint_eq(reg(0, "eax"), 5);
	ck_assert_uint_eq(reg(0, "ftag"), 0x3fff);
	ck_assert_uint_eq(reg(0, "fiseg"), 0x23);
	ck_assert_uint_eq(reg(0, "fop"), 0x7bd);
}
END_TEST

START_TEST(a_tag_word_of_two_bits_a_register_is_taken_as_it_is)
{
	/* the second: ST(0) = 1.0, and top 7 is in use */
	load_text("x64\n"
		  "full 1000 90 #36=3fff00000000\n"
		  "step 1001 90 #26=8000000000000000 #27=3fff #36=8038000000\n");
	ck_assert_uint_eq(reg(0, "ftag"), 0x3fff);
	ck_assert_uint_eq(reg(1, "ftag"), 0x3fff);
	ck_assert_uint_eq(reg(1, "fstat"), 0x3800);
	ck_assert_uint_eq(reg(0, "fop"), UNKNOWN);
}
END_TEST

/* ---------------------------------------------------------------------------------------- memory */

START_TEST(an_access_has_its_operands_bytes_and_a_slot_shows_more)
{
	load_text("x64\n"
		  "full 1000 8800 ax=2000 @2000=8877665544332211>88776655443322aa\n" /* mov %al, (%rax) */
		  "step 1002 ff4004 @2004=ff00000088776655>ff00000088776656\n"       /* incl 4(%rax) */
		  "step 1005 8b00 @2000=88776656443322aa\n"                          /* mov (%rax), %eax */
		  "step 1007 90\n");
	ck_assert_str_eq(accesses(0), "w2000+1");
	ck_assert_str_eq(accesses(1), "r2004+4 w2004+4");
	ck_assert_str_eq(accesses(2), "r2000+4");
	ck_assert_str_eq(mem(0, 0x2000, 12), "1122334455667788000000ff");
	ck_assert_str_eq(mem(1, 0x2000, 12), "aa22334455667788000000ff");
	ck_assert_str_eq(mem(2, 0x2000, 12), "aa22334456667788000000ff");
}
END_TEST

/* A compare-and-exchange always reads its operand, so that a word of zeros is what was there. */
START_TEST(what_is_compared_is_known_before)
{
	load_text("x64\n"
		  "full 1000 f00fb10b bx=2000 @2000=0>7\n" /* lock cmpxchg %ecx, (%rbx) */
		  "step 1004 f00fb14b40 ax=1 @2040=0\n"     /* ... 0x40(%rbx), which is not equal */
		  "step 1009 90\n");
	ck_assert_str_eq(accesses(0), "r2000+4 w2000+4"); /* all of its operand, though one byte changes */
	ck_assert_str_eq(accesses(1), "r2040+4");
	ck_assert_str_eq(mem(0, 0x2000, 8), "0000000000000000");
	ck_assert_str_eq(mem(1, 0x2000, 8), "0700000000000000");
	ck_assert_str_eq(mem(1, 0x2040, 8), "0000000000000000");
}
END_TEST

/* Which bytes change does not tell what was written: the comparison with the accumulator does. */
START_TEST(an_exchange_writes_all_of_its_operand_or_nothing)
{
	load_text("x64\n"
		  "full 1000 480fb10b ax=5 bx=2000 @2000=5\n"      /* cmpxchg %rcx, (%rbx): 5 over 5 */
		  "step 1004 0fb00b ax=1 @2000=5\n"                 /* cmpxchg %cl, (%rbx): not equal */
		  "step 1007 0fc70b ax=5 dx=0 @2000=5>500000006\n" /* cmpxchg8b (%rbx) */
		  "step 100a 0fc70b ax=6 dx=0 @2000=500000006\n"   /* the high half is not equal */
		  "step 100d 90\n");
	ck_assert_str_eq(accesses(0), "r2000+8 w2000+8");
	ck_assert_str_eq(accesses(1), "r2000+1");
	ck_assert_str_eq(accesses(2), "r2000+8 w2000+8");
	ck_assert_str_eq(accesses(3), "r2000+8");
}
END_TEST

START_TEST(what_an_instruction_only_names_it_does_not_access)
{
	static const struct {
		const char *bytes;
		unsigned len;
	} insns[] = { { "\x0f\x18\x08", 3 },
		      { "\x0f\x1f\x00", 3 },
		      { "\x0f\x0d\x08", 3 },
		      { "\xf3\xaa", 2 },
		      { "\x48\x8d\x00", 3 } };
	uint64_t pc = 0x1000;

	for (unsigned i = 0; i < 5; i++) {
		/* stos with a count of 0 */
		struct xw_block b = xw_insn(true, pc, insns[i].bytes, insns[i].len);

		xw_mem(&b, 0x2000, 0, 0x4142);
		if (i)
			add(&b);
		else
			begin(b, 0x2000, 0);
		pc += insns[i].len;
	}
	nop(pc);
	load();
	for (unsigned i = 0; i < 5; i++)
		ck_assert_str_eq(accesses(i), "");
	ck_assert_str_eq(mem(3, 0x2000, 4), "........"); /* zeros may be the recorder's */
}
END_TEST

START_TEST(the_old_word_of_a_push_is_not_believed)
{
	load_text("x64\n"
		  "full 1000 50 ax=77 sp=9000 @8ff8=bad>77\n" /* push %rax */
		  "step 1001 50 sp=8ff8 @8ff0=77\n"            /* the fault makes it look unchanged */
		  "step 1002 e810000000 sp=8ff0 @8fe8=77>1007\n"
		  "step 1017 90\n");
	ck_assert_str_eq(mem(0, 0x8ff0, 16), "................................");
	ck_assert_str_eq(mem(1, 0x8ff0, 16), "................7700000000000000");
	ck_assert_str_eq(mem(2, 0x8fe8, 16), "................7700000000000000");
	ck_assert_str_eq(mem(3, 0x8fe8, 8), "0710000000000000");
	ck_assert_str_eq(accesses(0), "w8ff8+8");
	ck_assert_str_eq(accesses(2), "w8fe8+8");
}
END_TEST

START_TEST(a_push_of_16_bits_writes_two_bytes)
{
	load_text("x64\n"
		  "full 1000 6650 ax=1122 sp=9000 @8ff8=bad>1122334455667788\n"
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "w8ffe+2");
	ck_assert_str_eq(mem(0, 0x8ff8, 8), "887766554433....");
	ck_assert_str_eq(mem(1, 0x8ff8, 8), "8877665544332211");
}
END_TEST

START_TEST(zeros_behind_a_large_operand_are_not_believed)
{
	load_text("x64\n"
		  "full 1000 db38 ax=2000 @2000=1>2 @2008=3>8877665544330004\n" /* fstpt (%rax) */
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "w2000+8 w2008+2");
	ck_assert_str_eq(mem(0, 0x2000, 16), "01000000000000000300334455667788");
	ck_assert_str_eq(mem(1, 0x2000, 16), "02000000000000000400334455667788");
	ck_assert_uint_eq(tl->damage.code, TS_OK);
}
END_TEST

START_TEST(zeros_beyond_the_operands_page_are_not_believed)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2ffd @2ffd=11>9999999999000011\n" /* mov (%rax), %al */
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "r2ffd+1");
	ck_assert_str_eq(mem(1, 0x2ffd, 8), "110000..........");
}
END_TEST

START_TEST(an_access_that_faults_tells_nothing)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=2000 @2000=0>9999\n"
		  "step 7000 90\n" /* the handler */
		  "step 7001 90\n");
	ck_assert_str_eq(accesses(0), "");
	ck_assert(has_gap(0));
	ck_assert_str_eq(mem(2, 0x2000, 2), "....");
	for (uint32_t i = 0; i < steps.steps[0].n_effects; i++) /* hidden ones too */
		ck_assert_int_ne(steps.effects[steps.steps[0].first + i].kind, TS_FX_WRITE);
}
END_TEST

START_TEST(an_instruction_that_is_tried_again_did_nothing)
{
	load_text("x64\n"
		  "full 1000 8800 ax=2000 @2000=0>9999\n"
		  "step 1000 8800 @2000=1111>1133\n"
		  "step 1002 90\n");
	ck_assert_str_eq(accesses(0), "");
	ck_assert_str_eq(accesses(1), "w2000+1");
	ck_assert_str_eq(mem(0, 0x2000, 2), "1111");
}
END_TEST

START_TEST(a_bit_number_moves_the_operand)
{
	load_text("x64\n"
		  "full 1000 0fab08 ax=2000 cx=ffffffe1 @2000=5\n" /* bts %ecx, (%rax) */
		  "step 1003 90\n");
	ck_assert_str_eq(accesses(0), "r1ffc+4 w1ffc+4?");
}
END_TEST

START_TEST(an_operand_in_the_teb_is_where_its_slot_is)
{
	load_text("x64\n"
		  "full 1000 65488b042530000000 @7ff0030=7ff0000\n" /* mov %gs:0x30, %rax */
		  "step 1009 90\n");
	ck_assert_str_eq(accesses(0), "r7ff0030+8");
}
END_TEST

START_TEST(an_operand_in_the_teb_is_not_where_another_operand_is)
{
	load_text("x64\n"
		  "full 1000 65ff342530000000 sp=5000 @4ff8=0>77 @7ff0030=77\n" /* push %gs:0x30 */
		  "step 1008 90\n");
	ck_assert_str_eq(accesses(0), "r7ff0030+8 w4ff8+8");
}
END_TEST

START_TEST(operands_without_a_slot_are_unknown)
{
	load_text("x64\n"
		  "full 1000 a4 si=2000 di=3000\n" /* movsb; recorders until 2024 */
		  "step 1001 8a00 ax=3000 @3000=1234\n"
		  "step 1003 90\n");
	ck_assert_str_eq(accesses(0), "r2000+1 w3000+1?");
	ck_assert_str_eq(mem(0, 0x3000, 2), "..12");
	ck_assert_str_eq(mem(1, 0x3000, 2), "3412");
}
END_TEST

START_TEST(iterations_that_were_stepped_over_are_accesses_too)
{
	load_text("x64\n"
		  "full 1000 f3a4 cx=4 si=2000 di=3000 " /* rep movsb */
		  "@3000=8877665544332211>88776655ffffffff @2000=ffffffff\n"
		  "step 1002 fd cx=0\n"                                     /* std */
		  "step 1003 f3ab cx=3 di=4008 flags=400 @4008=1>2\n"       /* rep stosl, downwards */
		  "step 1005 90 cx=0\n");
	ck_assert_str_eq(accesses(0), "r2000+1 w3000+1 w3001+3? r2001+3");
	ck_assert_str_eq(accesses(2), "w4008+4 w4000+8?");
	ck_assert_str_eq(mem(0, 0x3000, 8), "1122334455667788");
}
END_TEST

/*
 * One instruction between two blocks, with @rcx iterations, of which the first is at @rdi and @rsi: what it
 * accessed.
 */
static const char *repeated(const char *bytes, unsigned len, uint64_t rcx, uint64_t left, uint64_t rdi,
			    uint64_t flags)
{
	struct xw_block b = xw_insn(true, 0x1000, bytes, len);
	static char text[256];

	teardown();
	setup();
	xw_reg(&b, RCX, rcx);
	xw_reg(&b, RDI, rdi);
	xw_reg(&b, RSI, rdi);
	xw_reg(&b, FLAGS, flags);
	begin(b, 0, 0);
	b = xw_insn(true, 0x1000 + len, "\x90", 1);
	xw_reg(&b, RCX, left);
	add(&b);
	load();
	strcpy(text, accesses(0));
	return text;
}

#define REPEATED(bytes, ...) repeated(bytes, sizeof(bytes) - 1, __VA_ARGS__)

#define STOSB "\xf3\xaa"

#define STOSQ "\xf3\x48\xab"

#define LODSB "\xf3\xac"

#define SCASB "\xf2\xae"

#define DF 0x400u

START_TEST(iterations_follow_the_direction_flag)
{
	ck_assert_str_eq(REPEATED(STOSB, 5, 0, 0x3000, 0), "w3000+1? w3001+4?");
	ck_assert_str_eq(REPEATED(STOSB, 5, 0, 0x3000, ~(uint64_t)DF), "w3000+1? w3001+4?");
	ck_assert_str_eq(REPEATED(STOSB, 5, 0, 0x3000, DF), "w3000+1? w2ffc+4?");
	ck_assert_str_eq(REPEATED(STOSQ, 3, 0, 0x3000, 0), "w3000+8? w3008+16?");
	ck_assert_str_eq(REPEATED(STOSQ, 3, 0, 0x3000, DF), "w3000+8? w2ff0+16?");
	ck_assert_str_eq(REPEATED(LODSB, 3, 0, 0x3000, DF), "r3000+1 r2ffe+2");
	ck_assert_str_eq(REPEATED(SCASB, 9, 6, 0x3000, 0), "r3000+1 r3001+2"); /* found it */
	ck_assert_str_eq(REPEATED(STOSB, 1, 0, 0x3000, 0), "w3000+1?");
	ck_assert_str_eq(REPEATED("\x67\xf3\xaa", UINT64_C(0x500000002), UINT64_C(0x500000000), 0x3000, 0),
			 "w3000+1? w3001+1?"); /* counts in ecx */
}
END_TEST

START_TEST(iterations_end_with_the_address_space)
{
	ck_assert_str_eq(REPEATED(STOSB, 10, 0, UINT64_MAX - 2, 0),
			 "wfffffffffffffffd+1? wfffffffffffffffe+2?");
	ck_assert_str_eq(REPEATED(STOSB, 10, 0, UINT64_MAX, 0), "wffffffffffffffff+1?");
	ck_assert_str_eq(REPEATED(STOSB, 10, 0, 3, DF), "w3+1? w0+3?");
	ck_assert_str_eq(REPEATED(STOSQ, UINT64_MAX, 0, 0x1000, DF), "w1000+8? w0+4096?");
}
END_TEST

START_TEST(where_a_million_iterations_wrote_is_forgotten)
{
	ck_assert_str_eq(REPEATED(STOSB, 0x100001, 0, 0x3000, 0), "w3000+1? w3001+1048576?");
	ck_assert_str_eq(REPEATED(STOSB, 0x100002, 0, 0x3000, 0), "w3000+1? f3001+1048577");
	ck_assert_str_eq(REPEATED(LODSB, 0x100001, 0, 0x3000, 0), "r3000+1 r3001+1048576");
	ck_assert_str_eq(REPEATED(LODSB, 0x100002, 0, 0x3000, 0), "r3000+1");
	ck_assert_str_eq(REPEATED(STOSQ, UINT64_C(1) << 61, 0, 0x3000, 0),
			 "w3000+8? f3008+18446744073709539320");
}
END_TEST

/* The area has at most 11,008 bytes: AVX-512, protection keys, tiles. */
START_TEST(what_xsave_may_write_is_forgotten)
{
	load_text("x64\n"
		  "full 1000 8a00 ax=4af9 @4af9=8877665544332211\n"
		  "step 1002 0fae20 ax=2000\n" /* xsave (%rax) */
		  "step 1005 90\n");
	ck_assert_str_eq(mem(1, 0x4af9, 8), "1122334455667788");
	ck_assert_str_eq(mem(2, 0x4af9, 8), "..............88");
}
END_TEST

START_TEST(what_others_wrote_is_no_access)
{
	load_text("x64\n"
		  "full 1000 8800 ax=2000 @2000=1111>3322\n"
		  "step 1002 8a00 @2000=4422\n"
		  "step 1004 90\n");
	ck_assert_str_eq(accesses(0), "w2000+1");
	ck_assert_str_eq(mem(0, 0x2000, 2), "1111");
	ck_assert_str_eq(mem(1, 0x2000, 2), "2244"); /* before the read that shows it */
}
END_TEST

/* What is read after a system call may have come from there. */
START_TEST(what_the_kernel_may_have_written_was_not_there_before)
{
	load_text("x64\n"
		  "full 1000 90 sp=9000 bx=2000\n"
		  "step 1001 0f05\n"            /* syscall */
		  "step 1003 8a03 @2000=41\n"   /* mov (%rbx),%al */
		  "step 1005 8a03 ax=41 @2000=41\n"
		  "step 1007 90\n");
	ck_assert_str_eq(mem(0, 0x2000, 1), "..");
	ck_assert_str_eq(mem(1, 0x2000, 1), "..");
	ck_assert_str_eq(mem(2, 0x2000, 1), "41"); /* known back to the system call */
	/* code is taken to have been there, that of the last block, which is not a step, too */
	ck_assert_str_eq(mem(0, 0x1000, 8), "900f058a038a0390");
}
END_TEST

START_TEST(an_indirect_call_that_was_stepped_over_is_a_gap)
{
	load_text("x64\n"
		  "full 1000 ff1500200000 sp=9000 bx=2000 @3006=0\n" /* call *0x2000(%rip) */
		  "step 1009 8a03 @2000=41\n"  /* two instructions on, and the stack pointer is where it was */
		  "step 100b 90\n");
	ck_assert(has_gap(0));
	ck_assert_str_eq(mem(0, 0x2000, 1), "..");
	ck_assert_str_eq(mem(1, 0x2000, 1), "41");
}
END_TEST

START_TEST(an_indirect_call_to_code_near_it_is_none)
{
	load_text("x64\n"
		  "full 1000 ff1500200000 sp=9000 bx=2000 @3006=0\n"
		  "step 1009 8a03 sp=8ff8 @2000=41\n" /* this one was called */
		  "step 100b 90\n");
	ck_assert(!has_gap(0));
	ck_assert_str_eq(mem(0, 0x2000, 1), "41");
}
END_TEST

START_TEST(an_operand_may_reach_the_end_of_memory)
{
	load_text("x64\n"
		  "full 1000 8800 ax=fffffffffffffffe @fffffffffffffffe=3322>3344\n"
		  "step 1002 90\n");
	ck_assert_str_eq(mem(1, UINT64_MAX - 1, 2), "4433");
	ck_assert_str_eq(mem(0, UINT64_MAX - 1, 2), "2233");
}
END_TEST

UNIT_FIXTURE_SUITE("x64dbg", setup, teardown, what_the_kernel_may_have_written_was_not_there_before,
		   an_indirect_call_that_was_stepped_over_is_a_gap, an_indirect_call_to_code_near_it_is_none,
		   values_are_those_before_the_instruction,
		   one_block_is_one_position_and_one_that_knows_memory_only, instructions_are_memory,
		   instructions_that_share_a_place_are_themselves, code_that_changed_unseen_is_what_ran_last,
		   the_words_of_32_bits_have_4_bytes, a_tag_word_of_two_bits_a_register_is_taken_as_it_is,
		   an_access_has_its_operands_bytes_and_a_slot_shows_more, what_is_compared_is_known_before,
		   an_exchange_writes_all_of_its_operand_or_nothing,
		   what_an_instruction_only_names_it_does_not_access, the_old_word_of_a_push_is_not_believed,
		   a_push_of_16_bits_writes_two_bytes, zeros_behind_a_large_operand_are_not_believed,
		   zeros_beyond_the_operands_page_are_not_believed, an_access_that_faults_tells_nothing,
		   an_instruction_that_is_tried_again_did_nothing, a_bit_number_moves_the_operand,
		   an_operand_in_the_teb_is_where_its_slot_is,
		   an_operand_in_the_teb_is_not_where_another_operand_is, operands_without_a_slot_are_unknown,
		   iterations_that_were_stepped_over_are_accesses_too, iterations_follow_the_direction_flag,
		   iterations_end_with_the_address_space, where_a_million_iterations_wrote_is_forgotten,
		   what_xsave_may_write_is_forgotten, what_others_wrote_is_no_access,
		   an_operand_may_reach_the_end_of_memory)
