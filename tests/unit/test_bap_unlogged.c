/* SPDX-License-Identifier: MIT */
/*
 * On each processor, what an instruction does that no operand of its frame tells is taken from the
 * instruction's encoding, or is unknown.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "bap_case.h"

START_TEST(x86_instructions_without_operands_write_what_their_encoding_says)
{
	load_text(X64 "step 1000 1 90 rax=1/8 rdx=2/8 rcx=3/8 rbx=4/8\n"
		      "step 1001 1 0f01f9\n" /* rdtscp */
		      "step 1004 1 90\n");
	ck_assert_str_eq(reg(1, "rax"), "1");
	ck_assert_str_eq(reg(2, "rax"), "?");
	ck_assert_str_eq(reg(2, "rdx"), "?");
	ck_assert_str_eq(reg(2, "rcx"), "?");
	ck_assert_str_eq(reg(2, "rbx"), "4");
	load_text(X64 "step 1000 1 90 rax=1/8 rbx=4/8\n"
		      "step 1001 1 660f7ec0\n" /* movd %xmm0,%eax */
		      "step 1005 1 90\n");
	ck_assert_str_eq(reg(2, "rax"), "?");
	ck_assert_str_eq(reg(2, "rbx"), "4");
	load_text(X64 "step 1000 1 90 rax=1/8 rbx=4/8\n"
		      "step 1001 1 eb00\n" /* jmp */
		      "step 1003 1 90\n");
	ck_assert_str_eq(reg(2, "rax"), "1");
}
END_TEST

START_TEST(the_kernel_may_change_registers_and_memory)
{
	load_text(I386 "step 1000 1 90 eax=14/4 ebx=4/4 ecx=5/4\n"
		       "step 1001 1 0f34\n" /* sysenter */
		       "step 1003 1 90\n");
	ck_assert_str_eq(reg(2, "eax"), "?");
	ck_assert_str_eq(reg(2, "ecx"), "?");
	ck_assert_str_eq(reg(2, "ebx"), "4");
	load_text(X64 "step 1000 1 90 @3000=42\n"
		      "step 1001 1 0f05\n" /* syscall */
		      "step 1003 1 8a03 @2000=41\n"
		      "step 1005 1 90\n");
	ck_assert_str_eq(mem(1, 0x2000), "........");
	ck_assert_str_eq(mem(2, 0x2000), "41......"); /* known back to the system call */
	ck_assert_str_eq(mem(0, 0x1003), "8a0390.."); /* code is taken to have been there */
	ck_assert_str_eq(mem(3, 0x3000), "42......"); /* what is known stays so */
}
END_TEST

START_TEST(flags_of_an_unlogged_comparison_are_unknown)
{
	load_text(X64 "step 1000 1 90 > cf=1/1.1 pf=0/1.1 af=0/1.1 zf=1/1.1 sf=0/1.1 of=0/1.1\n"
		      "step 1001 1 0f2fc1\n" /* comiss %xmm1,%xmm0 */
		      "step 1004 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "243");
	ck_assert_str_eq(reg(2, "eflags"), "?");
}
END_TEST

/* ZF is written twice before CF and the others are seen, which nothing wrote before. */
START_TEST(a_flag_that_nothing_wrote_had_the_value_that_is_seen_later_from_the_start)
{
	load_text(X64 "step 1000 1 90 > zf=1/1.1\n"
		      "step 1001 1 90 > zf=0/1.1\n"
		      "step 1002 1 90 cf=1/1.1 pf=0/1.1 af=0/1.1 sf=0/1.1 of=0/1.1\n");
	ck_assert_str_eq(reg(0, "eflags"), "?");
	ck_assert_str_eq(reg(1, "eflags"), "243");
	ck_assert_str_eq(reg(2, "eflags"), "203");
	ck_assert_str_eq(reg(3, "eflags"), "203");
	/* SF is written in between: what it was before that is not known */
	load_text(X64 "step 1000 1 90 > zf=1/1.1\n"
		      "step 1001 1 90 > zf=0/1.1 sf=1/1.1\n"
		      "step 1002 1 90 cf=1/1.1 pf=0/1.1 af=0/1.1 sf=1/1.1 of=0/1.1\n");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_str_eq(reg(2, "eflags"), "283");
	/* so it is if an instruction without operands writes all flags */
	load_text(X64 "step 1000 1 90 > zf=1/1.1\n"
		      "step 1001 1 0f2fc1\n" /* comiss %xmm1,%xmm0 */
		      "step 1004 1 90 > zf=0/1.1\n"
		      "step 1005 1 90 cf=1/1.1 pf=0/1.1 af=0/1.1 sf=0/1.1 of=0/1.1\n");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_str_eq(reg(4, "eflags"), "203");
}
END_TEST

START_TEST(the_flags_of_another_thread_tell_nothing_of_the_first_ones)
{
	load_text(X64 "step 1000 1 90 > zf=1/1.1 of=0/1.1\n"
		      "key 2 cf=1/1.1 pf=0/1.1 af=0/1.1 sf=0/1.1 of=0/1.1\n"
		      "step 1001 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	load_text(X64 "step 1000 1 90 > zf=1/1.1 of=0/1.1\n"
		      "step 2000 2 90 cf=1/1.1 pf=0/1.1 af=0/1.1 sf=0/1.1 of=0/1.1\n"
		      "step 1001 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_uint_eq(rec->n_threads, 2);
	close_trace();
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	ck_assert_uint_eq(rec->n_threads, 1); /* the other one has not run yet */
}
END_TEST

/* XER is PowerPC's second register of flags. */
START_TEST(each_register_of_flags_is_put_together)
{
	load_text(PPC "step 1000 1 60000000 so=1/4 ov=0/4 ca=1/4 crf0=2/1.4\n"
		      "step 1004 1 60000000\n");
	ck_assert_str_eq(reg(0, "xer"), "a0000000");
	ck_assert_str_eq(reg(0, "cr"), "?");
}
END_TEST

/* Encodings are the assembler's; what an instruction writes is in the processors' manuals. */
START_TEST(what_instructions_without_operands_write)
{
	static const struct {
		const char *head, *nop, *insn; /* bytes */
		unsigned len;
		const char *lost;              /* of the registers below */
	} cases[] = {
		{ A64, "1f2003d5", "010000d4", 4, "x0" },           /* svc #0 */
		{ A64, "1f2003d5", "0020211e", 4, "cpsr" },         /* fcmp s0, s1 */
		{ A64, "1f2003d5", "0004211e", 4, "cpsr" },         /* fccmp s0, s1, #0, eq */
		{ A64, "1f2003d5", "03423bd5", 4, "x3" },           /* mrs x3, nzcv */
		{ A64, "1f2003d5", "1f423bd5", 4, "" },             /* mrs xzr, nzcv */
		{ A64, "1f2003d5", "0300669e", 4, "x3" },           /* fmov x3, d0 */
		{ A64, "1f2003d5", "0300381e", 4, "x3" },           /* fcvtzs w3, s0 */
		{ A64, "1f2003d5", "033c010e", 4, "x3" },           /* umov w3, v0.b[0] */
		{ A64, "1f2003d5", "6300221e", 4, "" },             /* scvtf s3, w3 */
		{ A64, "1f2003d5", "6300231e", 4, "" },             /* ucvtf s3, w3 */
		{ A64, "1f2003d5", "6300271e", 4, "" },             /* fmov s3, w3 */
		{ ARM "mode arm:a32\n", "00f020e3", "000000ef", 4, "r0" },           /* svc 0 */
		{ ARM "mode arm:a32\n", "00f020e3", "703f1dee", 4, "r3" },           /* mrc p15, 0, r3, c13, c0, 3 */
		{ ARM "mode arm:a32\n", "00f020e3", "10faf1ee", 4, "cpsr" },         /* vmrs APSR_nzcv, fpscr */
		{ ARM "mode arm:a32\n", "00f020e3", "0e3f54ec", 4, "r3 r4" },        /* mrrc p15, 0, r3, r4, c14 */
		{ ARM "mode arm:a32\n", "00f020e3", "103b54ec", 4, "r3 r4" },        /* vmov r3, r4, d0 */
		{ ARM "mode arm:a32\n", "00f020e3", "103a10ee", 4, "r3" },           /* vmov r3, s0 */
		{ ARM "mode arm:a32\n", "00f020e3", "00300fe1", 4, "r3" },           /* mrs r3, cpsr */
		{ ARM "mode arm:a32\n", "00f020e3", "0130a0e1", 4, "" },             /* mov r3, r1, which is always logged */
		{ ARM "mode arm:t32\n", "00bf", "00df", 2, "r0" },  /* svc 0 */
		{ ARM "mode arm:t32\n", "00bf", "1dee703f", 4, "r3" },
		{ ARM "mode arm:t32\n", "00bf", "f1ee10fa", 4, "cpsr" },
		{ ARM "mode arm:t32\n", "00bf", "54ec0e3f", 4, "r3 r4" },
		{ ARM "mode arm:t32\n", "00bf", "10ee103a", 4, "r3" },
		{ ARM "mode arm:t32\n", "00bf", "eff30083", 4, "r3" }, /* mrs r3, cpsr */
		{ PPC, "60000000", "44000002", 4, "r3" },           /* sc */
		{ PPC, "60000000", "7c8802a6", 4, "r4" },           /* mflr r4 */
		{ PPC, "60000000", "7c8c42e6", 4, "r4" },           /* mftb r4 */
		{ PPC, "60000000", "7c800026", 4, "r4" },           /* mfcr r4 */
		{ PPC, "60000000", "7c8000a6", 4, "r4" },           /* mfmsr r4 */
		{ PPC, "60000000", "7c8803a6", 4, "" },             /* mtlr r4 */
		{ MIPS, "3c010000", "0000000c", 4, "r2" },          /* syscall; r7, too */
		{ MIPS, "3c010000", "7c03e83b", 4, "r3" },          /* rdhwr v1, $29 */
		{ MIPS, "3c010000", "40036000", 4, "r3" },          /* mfc0 v1, c0_sr */
		{ MIPS, "3c010000", "44030000", 4, "r3" },          /* mfc1 v1, $f0 */
		{ MIPS, "3c010000", "44830000", 4, "" },            /* mtc1 v1, $f0 */
		{ I386, "90", "cd80", 2, "eax" },                   /* int $0x80 */
		{ I386, "90", "0fa2", 2, "eax ecx edx ebx" },       /* cpuid */
	};
	static const struct {
		const char *head, *known, *names; /* operands that make these registers known */
	} states[] = {
		{ A64, "r0=1/8 r1=1/8 r3=1/8 r4=1/8 nf=0/4 zf=0/4 cf=0/4 vf=0/4", "x0 x1 x3 x4 cpsr" },
		{ ARM, "r0=1/4 r1=1/4 r3=1/4 r4=1/4 nf=0/4 zf=0/4 cf=0/4 vf=0/4 ge=0/4", "r0 r1 r3 r4 cpsr" },
		{ PPC, "r0=1/4 r3=1/4 r4=1/4 r5=1/4", "r0 r3 r4 r5" },
		{ MIPS, "v0=1/4 v1=1/4 a0=1/4", "r2 r3 r4" },
		{ I386, "eax=1/4 ecx=1/4 edx=1/4 ebx=1/4 esi=1/4", "eax ecx edx ebx esi" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned nop_len = (unsigned)strlen(cases[i].nop) / 2;
		char text[600], names[80], *rest = names, *name;
		size_t k = 0;

		while (strncmp(cases[i].head, states[k].head, strlen(states[k].head)) != 0)
			k++;
		snprintf(text, sizeof(text), "%sstep 1000 1 %s %s\nstep %x 1 %s\nstep %x 1 %s\n",
			 cases[i].head, cases[i].nop, states[k].known, 0x1000 + nop_len, cases[i].insn,
			 0x1000 + nop_len + cases[i].len, cases[i].nop);
		load_text(text);
		strcpy(names, states[k].names);
		while ((name = strsep(&rest, " "))) {
			const char *lost = strstr(cases[i].lost, name);

			ck_assert_msg(strcmp(reg(1, name), "?") != 0, "%s: %s is unknown before",
				      cases[i].insn, name);
			ck_assert_msg(!strcmp(reg(2, name), "?") == !!lost, "%s: %s is %s", cases[i].insn,
				      name, reg(2, name));
		}
	}
}
END_TEST

/* GE, which parallel additions set and halving ones do not, is not among their operands. */
START_TEST(parallel_additions_set_bits_that_are_not_logged)
{
	static const struct {
		const char *head, *nop, *insn;
		bool is_lost;
	} cases[] = {
		{ ARM "mode arm:a32\n", "00f020e3", "923f11e6", true },                 /* sadd8 r3, r1, r2 */
		{ ARM "mode arm:a32\n", "00f020e3", "923f51e6", true },                 /* uadd8 */
		{ ARM "mode arm:a32\n", "00f020e3", "923f71e6", false },                /* uhadd8 */
		{ ARM "mode arm:t32\n", "00bf", "81fa02f3", true },    /* sadd8 */
		{ ARM "mode arm:t32\n", "00bf", "81fa62f3", false },   /* uhadd8 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned nop_len = (unsigned)strlen(cases[i].nop) / 2;
		char text[400];

		snprintf(text, sizeof(text),
			 "%sstep 1000 1 %s nf=0/4 zf=0/4 cf=0/4 vf=0/4 ge=0/4\nstep %x 1 %s r1=1/4 r2=2/4 > r3=3/4\nstep %x 1 %s\n",
			 cases[i].head, cases[i].nop, 0x1000 + nop_len, cases[i].insn, 0x1004 + nop_len,
			 cases[i].nop);
		load_text(text);
		ck_assert_str_eq(reg(2, "r3"), "3");
		ck_assert_msg(strcmp(reg(1, "cpsr"), "?") != 0, "%s", cases[i].insn);
		ck_assert_msg(!strcmp(reg(2, "cpsr"), "?") == cases[i].is_lost, "%s: %s", cases[i].insn,
			      reg(2, "cpsr"));
	}
}
END_TEST

/* Machines whose recordings are rare: other names of gdb's registers. */
START_TEST(names_of_sparc_and_m68k)
{
	load_text(
		"3 6:0 qemu/6.2.0-tracewrap\nstep 1000 1 01000000 o6=1/4 i6=2/4 g1=3/4\nstep 1004 1 01000000\n");
	ck_assert_str_eq(rec->regs.arch->name, "sparc");
	ck_assert_str_eq(reg(1, "sp"), "1");
	ck_assert_str_eq(reg(1, "fp"), "2");
	ck_assert_str_eq(reg(1, "g1"), "3");
	load_text("3 2:0 qemu/6.2.0-tracewrap\nstep 1000 1 4e71 a6=1/4 a7=2/4 d0=3/4\nstep 1002 1 4e71\n");
	ck_assert_str_eq(rec->regs.arch->name, "m68k");
	ck_assert_str_eq(reg(1, "fp"), "1");
	ck_assert_str_eq(reg(1, "sp"), "2");
	ck_assert_str_eq(reg(1, "d0"), "3");
}
END_TEST

START_TEST(the_instruction_set_of_arm_is_the_threads_own)
{
	load_text(ARM "mode arm:a32\n"
		      "step 1000 1 00000000 nf=0/4 zf=0/4 cf=0/4 vf=0/4 ge=0/4\n"
		      "mode arm:t32\n"
		      "step 2000 2 0000 nf=0/4 zf=0/4 cf=0/4 vf=0/4 ge=0/4\n"
		      "step 2002 2 0000\n");
	ck_assert_str_eq(thread_reg(1, 0, "cpsr"), "10"); /* the next frame is another thread's */
	ck_assert_str_eq(thread_reg(1, 1, "cpsr"), "30");
	/* without modes an instruction of two bytes is Thumb's */
	load_text(ARM "step 2000 1 0000 nf=0/4 zf=0/4 cf=0/4 vf=0/4 ge=0/4\nstep 2002 1 0000\n");
	ck_assert_str_eq(reg(0, "cpsr"), "30");
	ck_assert_str_eq(reg(1, "cpsr"), "30");
}
END_TEST

/* By the manual: the low five bits move up after each instruction of the block, until the low three are 0. */
START_TEST(a_block_of_conditions_in_thumb_moves_on_with_its_instructions)
{
	static const char *const cpsr[] = { "30", "6001c30", "4001c30", "1c30", "1830", "30" };

	load_text(ARM "step 2000 1 1fbf nf=0/4 zf=0/4 cf=0/4 vf=0/4 ge=0/4\n" /* itttt ne */
		      "step 2002 1 0000\nstep 2004 1 0000\nstep 2006 1 0000\nstep 2008 1 0000\nstep 200a 1 0000\n");
	for (unsigned i = 0; i < 6; i++)
		ck_assert_str_eq(reg(i, "cpsr"), cpsr[i]);
}
END_TEST

START_TEST(each_flag_may_be_the_only_one_that_is_written)
{
	static const struct {
		const char *name, *eflags;
	} flags[] = { { "cf", "203" }, { "pf", "206" }, { "af", "212" }, { "zf", "242" },
		      { "sf", "282" }, { "df", "602" }, { "of", "a02" } };

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		ts_buf_reset(&file);
		close_trace();
		bap_text(&file, X64
			 "step 1000 1 90 cf=0/1.1 pf=0/1.1 af=0/1.1 zf=0/1.1 sf=0/1.1 df=0/1.1 of=0/1.1\n");
		bap_text_line(&file, "step 1001 1 90 rax=1/8 > %s=1/1.1", flags[i].name);
		bap_text_line(&file, "step 1002 1 90 rax=1/8");
		load();
		ck_assert_str_eq(reg(1, "eflags"), "202");
		ck_assert_str_eq(reg(2, "eflags"), flags[i].eflags);
	}
}
END_TEST

START_TEST(memory_that_an_unlogged_instruction_stores_to_is_unknown)
{
	load_text(X64 "step 1000 1 90 rdi=5000/8 @5000=0102030405060708\n"
		      "step 1001 1 0f114704\n" /* movups %xmm0,4(%rdi) */
		      "step 1005 1 90\n");
	ck_assert_str_eq(mem(1, 0x5002), "03040506");
	ck_assert_str_eq(mem(2, 0x5002), "0304....");
	load_text(X64 "step 1000 1 90 rcx=5000/8 @5000=0102030405060708\n"
		      "step 1001 1 0f01f9\n"   /* rdtscp writes rcx: */
		      "step 1004 1 0f114104\n" /* nobody knows where movups %xmm0,4(%rcx) stores */
		      "step 1008 1 90\n");
	ck_assert_str_eq(mem(3, 0x5002), "03040506");
}
END_TEST

START_TEST(arm_registers_of_the_system_come_without_operands)
{
	load_text(ARM "mode arm:a32\nstep 1000 1 00f020e3 r0=1/4 r3=2/4\n"
		      "step 1004 1 703f1dee\n" /* mrc p15, 0, r3, c13, c0, 3 */
		      "step 1008 1 00000fe1\n" /* mrs r0, cpsr */
		      "step 100c 1 00f020e3\n");
	ck_assert_str_eq(reg(1, "r3"), "2");
	ck_assert_str_eq(reg(2, "r3"), "?");
	ck_assert_str_eq(reg(2, "r0"), "1");
	ck_assert_str_eq(reg(3, "r0"), "?");
	load_text(ARM "mode arm:t32\nstep 1000 1 00bf r0=1/4 r3=2/4\n"
		      "step 1002 1 1dee703f\n"
		      "step 1006 1 eff30080\n" /* mrs r0, cpsr */
		      "step 100a 1 00df\n"     /* svc */
		      "step 100c 1 00bf\n");
	ck_assert_str_eq(reg(1, "r3"), "2");
	ck_assert_str_eq(reg(2, "r3"), "?");
	ck_assert_str_eq(reg(2, "r0"), "1");
	ck_assert_str_eq(reg(3, "r0"), "?");
}
END_TEST

START_TEST(other_machines_registers_of_the_system_come_without_operands)
{
	load_text(A64 "step 1000 1 1f2003d5 r0=1/8 r3=2/8\n"
		      "step 1004 1 43d03bd5\n" /* mrs x3, tpidr_el0 */
		      "step 1008 1 0000669e\n" /* fmov x0, d0 */
		      "step 100c 1 1f2003d5\n");
	ck_assert_str_eq(reg(1, "x3"), "2");
	ck_assert_str_eq(reg(2, "x3"), "?");
	ck_assert_str_eq(reg(2, "x0"), "1");
	ck_assert_str_eq(reg(3, "x0"), "?");
	load_text(PPC "step 1000 1 60000000 r3=2/4 r4=1/4\n"
		      "step 1004 1 7c6c42e6\n" /* mftb r3 */
		      "step 1008 1 44000002\n" /* sc */
		      "step 100c 1 60000000\n");
	ck_assert_str_eq(reg(1, "r3"), "2");
	ck_assert_str_eq(reg(2, "r3"), "?");
	ck_assert_str_eq(reg(3, "r4"), "1");
	load_text(MIPS "step 1000 1 3c010000 v1=2/4 v0=1/4\n"
		       "step 1004 1 7c03e83b\n" /* rdhwr v1, $29 */
		       "step 1008 1 0000000c\n" /* syscall */
		       "step 100c 1 3c010000\n");
	ck_assert_str_eq(reg(1, "r3"), "2");
	ck_assert_str_eq(reg(2, "r3"), "?");
	ck_assert_str_eq(reg(2, "r2"), "1");
	ck_assert_str_eq(reg(3, "r2"), "?");
}
END_TEST

START_TEST(a_system_call_returns_in_the_register_of_its_machine)
{
	load_text(I386 "step 1000 1 90 eax=4/4 ebx=2/4\nstep 1001 1 cd80\nstep 1003 1 90\n");
	ck_assert_str_eq(reg(1, "eax"), "4");
	ck_assert_str_eq(reg(2, "eax"), "?");
	ck_assert_str_eq(reg(2, "ebx"), "2");
	load_text(X64 "step 1000 1 90 rax=4/8 rbx=2/8 r11=7/8\nstep 1001 1 0f05\nstep 1003 1 90\n");
	ck_assert_str_eq(reg(2, "rax"), "?");
	ck_assert_str_eq(reg(2, "r11"), "?");
	ck_assert_str_eq(reg(2, "rbx"), "2");
}
END_TEST

/* bpt stores the address where the number should be: then the register tells. */
START_TEST(the_number_of_a_system_call_is_in_the_register_of_its_machine)
{
	const struct ts_steps *b;
	const struct ts_step *s;

	load_text("3 9:1 bpt/1.0.0\ncall 1000 0 1000 1 2\nstep 1000 0 cd80 eax=4/4.32 rax=9/8\nstep 1002 0 "
		  "90\n");
	s = ts_query_step(q, 0, &b, &err);
	ck_assert(s && b->n_events == 1);
	ck_assert_uint_eq(b->events[0].number, 4);
	ck_assert_uint_eq(b->events[0].args[1], 2);
	load_text("3 9:64 bpt/1.0.0\ncall 1000 0 1000 1 2\nstep 1000 0 0f05 rax=9/8.64\nstep 1002 0 90\n");
	s = ts_query_step(q, 0, &b, &err);
	ck_assert(s && b->n_events == 1);
	ck_assert_uint_eq(b->events[0].number, 9);
}
END_TEST

/* ------------------------------------------------------------------------------------- contradictions */

START_TEST(a_value_that_contradicts_is_visible_before_its_instruction)
{
	load_text(X64 "step 1000 1 90 > rax=1/8 @5000=01020304\nstep 1001 1 90\n"
		      "step 1002 1 90 rax=2/8 @5000=05060708\nstep 1003 1 90\n");
	ck_assert_str_eq(reg(1, "rax"), "1");
	ck_assert_str_eq(reg(2, "rax"), "2");
	ck_assert_str_eq(mem(1, 0x5000), "01020304");
	ck_assert_str_eq(mem(2, 0x5000), "05060708");
}
END_TEST

/* tst.w r2, #0x200: no register has the carry that tracewrap lists before it. */
START_TEST(arms_carry_before_an_instruction_may_be_its_result)
{
	static const char before[] = ARM "mode arm:t32\nstep 1000 1 00bf > nf=0/4 zf=0/4 cf=1/4 vf=0/4 "
					 "qf=0/4 ge=0/4\nstep 1002 1 00bf r0=1/4\n";

	ts_buf_reset(&file);
	bap_text(&file, before);
	bap_text(&file, "step 1004 1 12f4007f nf=0/4 cf=0/4 > nf=0/4 cf=0/4\nstep 1008 1 00bf\n");
	load();
	ck_assert_str_eq(reg(2, "cpsr"), "20000030");
	ck_assert_str_eq(reg(3, "cpsr"), "30");
	ck_assert(has_warning("carry"));
	close_trace();
	ts_buf_reset(&file);
	bap_text(&file, before);
	bap_text(&file, "step 1004 1 12f4007f nf=0/4 cf=0/4 > nf=0/4 cf=1/4\nstep 1008 1 00bf\n");
	load();
	ck_assert_str_eq(reg(2, "cpsr"), "30");
}
END_TEST

UNIT_FIXTURE_SUITE("bap_unlogged", setup, teardown,
		   the_kernel_may_change_registers_and_memory, x86_instructions_without_operands_write_what_their_encoding_says,
		   flags_of_an_unlogged_comparison_are_unknown,
		   a_flag_that_nothing_wrote_had_the_value_that_is_seen_later_from_the_start,
		   the_flags_of_another_thread_tell_nothing_of_the_first_ones,
		   each_register_of_flags_is_put_together, what_instructions_without_operands_write,
		   parallel_additions_set_bits_that_are_not_logged, names_of_sparc_and_m68k,
		   the_instruction_set_of_arm_is_the_threads_own,
		   a_block_of_conditions_in_thumb_moves_on_with_its_instructions,
		   each_flag_may_be_the_only_one_that_is_written,
		   memory_that_an_unlogged_instruction_stores_to_is_unknown,
		   arm_registers_of_the_system_come_without_operands,
		   other_machines_registers_of_the_system_come_without_operands,
		   a_system_call_returns_in_the_register_of_its_machine,
		   the_number_of_a_system_call_is_in_the_register_of_its_machine,
		   a_value_that_contradicts_is_visible_before_its_instruction,
		   arms_carry_before_an_instruction_may_be_its_result)
