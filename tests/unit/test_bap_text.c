/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames written as text (bap_text.h): what instructions without operands do, which recorder it is,
 * which registers there are, and how the recording ends.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bap_text.h"
#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

extern const struct ts_loader bap_loader;

static struct ts_buf file;
static struct ts_source *src;
static struct ts_recording *rec;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;

#define X64   "3 9:64 qemu/6.2.0-tracewrap\n"
#define I386  "3 9:1 qemu/6.2.0-tracewrap\n"
#define ARM   "3 35:0 qemu/6.2.0-tracewrap\n"
#define A64   "3 78:0 qemu/6.2.0-tracewrap\n"
#define PPC   "3 23:32 qemu/6.2.0-tracewrap\n"
#define MIPS  "3 8:33 qemu/6.2.0-tracewrap\n"
#define OLD64 "2 9:64 qemu/2.0.0/tracewrap\n"
#define OTHER "3 9:64 other/1.0\n"

static void setup(void)
{
	ts_buf_init(&file);
	ts_error_reset(&err);
}

static void close_trace(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	q = NULL;
	tl = NULL;
	rec = NULL;
	src = NULL;
}

static void teardown(void)
{
	close_trace();
	ts_buf_fini(&file);
}

/* Load what is in file. */
static void load(void)
{
	enum ts_grow grow = TS_GROW_MORE;

	unit_seed(file.data, file.len);
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	ck_assert_msg(rec != NULL, "%s", err.text);
	tl = ts_timeline_new(rec, NULL, &err);
	while (tl && grow == TS_GROW_MORE)
		grow = ts_timeline_grow(tl, 1 << 20, &err);
	ck_assert_msg(tl && grow == TS_GROW_DONE, "%s", err.text);
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
}

static void load_text(const char *text)
{
	if (src)
		close_trace();
	ts_buf_reset(&file);
	bap_text(&file, text);
	load();
}

static bool has_warning(const char *words)
{
	for (unsigned i = 0; i < rec->n_warnings; i++)
		if (strstr(rec->warnings[i].text, words))
			return true;
	return false;
}

/* The number in register @name of thread @thread, "?" if part of it is unknown, "-" if there is none. */
static const char *thread_reg(uint64_t pos, uint32_t thread, const char *name)
{
	static char text[24];
	uint8_t data[4096], known[4096];
	int i = ts_regset_find(&rec->regs, name);
	const struct ts_reg *r = &rec->regs.regs[i < 0 ? 0 : i];

	ck_assert(ts_query_regs(q, pos, thread, data, known, &err));
	if (i < 0 || memchr(known + r->off, 0, r->len))
		return i < 0 ? "-" : "?";
	snprintf(text, sizeof(text), "%" PRIx64,
		 ts_arch_get(rec->regs.arch, data + r->off, r->len < 8 ? r->len : 8));
	return text;
}

static const char *reg(uint64_t pos, const char *name)
{
	return thread_reg(pos, 0, name);
}

/* Four bytes of memory, "01020304" or "....0304". */
static const char *mem(uint64_t pos, uint64_t addr)
{
	static char text[9];
	uint8_t data[4], known[4];

	ck_assert(ts_query_mem(q, pos, 0, addr, 4, data, known, &err));
	for (unsigned i = 0; i < 4; i++)
		snprintf(text + 2 * i, 3, known[i] ? "%02x" : "..", data[i]);
	return text;
}

/* ------------------------------------------------------------------------------ what no operand tells */

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

/* --------------------------------------------------------------------------------------- the recorder */

START_TEST(flags_of_an_unknown_recorder_are_kept)
{
	load_text(OTHER "step 1000 1 90 RAX=1/8 EFLAGS=246/4\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "246");
	load_text(OTHER "step 1000 1 90 rax=1/8 > eflags=246/4\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "246");
	load_text(OTHER "step 1000 0 90 rax=1/8 rip=1/8 eflags=202/4 > rax=2/8\nstep 1001 0 90\n");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_str_eq(reg(1, "rax"), "2");
}
END_TEST

START_TEST(the_old_tracewrap_logs_whole_flags_and_words_of_memory)
{
	load_text(OLD64 "step 1000 1 90 RFLAGS=246/8 @5000=0102030405060708\n"
			"step 1001 1 90 > EFLAGS=93/8 @5000=1112131415161718\nstep 1002 1 90\n");
	ck_assert_str_eq(reg(0, "eflags"), "246");
	ck_assert_str_eq(reg(1, "eflags"), "246");
	ck_assert_str_eq(reg(2, "eflags"), "93");
	ck_assert_str_eq(mem(1, 0x5000), "01......"); /* only the first byte is sure to be accessed */
	ck_assert_str_eq(mem(2, 0x5000), "11......");
}
END_TEST

START_TEST(pins_old_recorder_lists_what_is_written_with_its_old_value)
{
	load_text("1 9:64\nold 1000 0 90 R_RAX=1/8! R_RBX=2/8 R_RFLAGS=246/8! @5000=01020304!\nold 1001 0 "
		  "90\n");
	ck_assert_str_eq(reg(0, "rax"), "1");
	ck_assert_str_eq(reg(0, "eflags"), "246");
	ck_assert_str_eq(reg(1, "rax"), "?");
	ck_assert_str_eq(reg(1, "rbx"), "2");
	ck_assert_str_eq(reg(1, "eflags"), "?");
	ck_assert_str_eq(mem(0, 0x5000), "01020304");
	ck_assert_str_eq(mem(1, 0x5000), "........");
}
END_TEST

/* -------------------------------------------------------------------------------------- the registers */

static void many_steps(const char *header, unsigned n)
{
	ts_buf_reset(&file);
	bap_text(&file, header);
	for (unsigned i = 0; i < n; i++)
		bap_text_line(&file, "step %x 1 90", 0x1000 + i);
}

START_TEST(registers_that_come_late_are_there)
{
	many_steps(X64, 5000);
	bap_text(&file, "step 9000 1 90 xmm0=1111/16\nstep 9001 1 90 > ymm0=2222/32\nstep 9002 1 90\n");
	load();
	ck_assert_str_eq(reg(5001, "xmm0"), "1111");
	ck_assert_str_eq(reg(5002, "xmm0"), "2222");
	ck_assert_str_eq(reg(5002, "ymm0h"), "0");
	close_trace();
	many_steps(I386, 5000);
	bap_text(&file, "step 9000 1 90 xmm1=5/16 mxcsr=1f80/4\nstep 9002 1 90\n");
	load();
	ck_assert_str_eq(reg(5001, "xmm1"), "5");
	ck_assert_str_eq(reg(5001, "mxcsr"), "1f80");
}
END_TEST

/* gdb wants some registers, whether the trace has their values or not. */
START_TEST(registers_that_gdb_wants_are_there)
{
	load_text(ARM "step 1000 1 00000000 r0=1/4\n");
	ck_assert_str_eq(reg(0, "d0"), "?");
	load_text(X64 "step 1000 1 90 rax=1/8\n");
	ck_assert_str_eq(reg(0, "fs_base"), "?");
	ck_assert_str_eq(rec->osabi, "GNU/Linux");
	load_text("3 9:2 qemu/6.2.0-tracewrap\nstep 1000 1 90 eax=1/4\n");
	ck_assert_ptr_null(rec->osabi); /* 16 bits */
}
END_TEST

START_TEST(registers_that_only_key_frames_have_are_there)
{
	load_text(I386 "key 1 xmm1=5/16\nstep 1000 1 90 eax=1/4\nkey 1 ymm2=7/32\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(0, "xmm1"), "5");
	ck_assert_str_eq(reg(1, "xmm2"), "7");
	ck_assert_str_eq(reg(1, "ymm2h"), "0");
	load_text(I386 "step 1000 1 90 eax=1/4\nstep 1001 1 90\n");
	ck_assert_str_eq(reg(0, "xmm1"), "-");
}
END_TEST

/* -------------------------------------------------------------------------------------------- the end */

START_TEST(the_pc_at_the_end_is_assumed_where_the_last_instruction_may_lead_elsewhere)
{
	load_text(X64 "step 1000 1 90\nstep 1001 1 4889c3\n");
	ck_assert_uint_eq(tl->end_pc, 0x1004);
	ck_assert(!ts_query_is_end_assumed(q));
	load_text(X64 "step 1000 1 90\nstep 1001 1 7405\n");
	ck_assert_uint_eq(tl->end_pc, 0x1003);
	ck_assert(ts_query_is_end_assumed(q));
	load_text(X64 "step 1000 1 90\nstep 1001 1 7405 > rip=1008/8\n");
	ck_assert_uint_eq(tl->end_pc, 0x1008);
	ck_assert(!ts_query_is_end_assumed(q));
	load_text(OTHER "step 1000 0 90 rax=1/8\nstep 1001 0 7405 > rip=1008/8\n");
	ck_assert(ts_query_is_end_assumed(q));
	load_text(ARM "step 1000 1 00f020e3\n");
	ck_assert(ts_query_is_end_assumed(q));
}
END_TEST

/* --------------------------------------------------------------------------------------------- limits */

START_TEST(modules_have_a_limit)
{
	ts_buf_reset(&file);
	bap_text(&file, "2 9:64 bpt/1.0.0\n");
	for (unsigned i = 0; i < 4097; i++)
		bap_text_line(&file, "module /m%x %x %x", i, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0xfff);
	bap_text(&file, "step 1000 0 90\n");
	load();
	ck_assert(has_warning("modules beyond the first 4096"));
}
END_TEST

/*
 * 300 threads take turns; in step k the thread k % 300 reads rax = k and then writes rax = k + 300, which its
 * next step reads.  Every third one also writes CF, of flags that were known before.
 */
static void take_turns(unsigned n_steps)
{
	ts_buf_reset(&file);
	bap_text(&file, X64);
	for (unsigned k = 0; k < n_steps; k++)
		bap_text_line(&file, "step %x %x 90 rax=%x/8%s > rax=%x/8%s", 0x1000 + k % 50, k % 300 + 1, k,
			      k < 300 ? " cf=0/1.1 pf=0/1.1 af=0/1.1 zf=0/1.1 sf=0/1.1 of=0/1.1" : "",
			      k + 300, k % 3 ? "" : " cf=1/1.1");
	load();
}

static void check_turns(unsigned n_steps)
{
	char want[24];

	for (unsigned k = 0; k < n_steps; k += 7) {
		snprintf(want, sizeof(want), "%x", k);
		ck_assert_str_eq(thread_reg(k, k % 300, "rax"), want);
		snprintf(want, sizeof(want), "%x", k + 300);
		ck_assert_str_eq(thread_reg(k + 1, k % 300, "rax"), want);
	}
}

START_TEST(of_many_threads_those_that_were_met_last_are_kept)
{
	struct ts_timeline_stats stats;

	take_turns(3000);
	ck_assert_uint_eq(rec->n_threads, 300);
	check_turns(3000);
	ck_assert_str_eq(thread_reg(299, 1, "eflags"), "202");
	ts_timeline_stats(tl, &stats);
	/* of 64 threads: id, flags, 8 bytes written; in three points */
	ck_assert_uint_lt(stats.points_len, 3 * (64 * 32 + 64));
}
END_TEST

START_TEST(threads_have_a_limit)
{
	ts_buf_reset(&file);
	bap_text(&file, X64);
	for (unsigned i = 0; i < 4096; i++)
		bap_text_line(&file, "step 1000 %x 90", i + 1);
	bap_text(&file, "step 1000 1 90\nstep 1000 1001 90\n"); /* a thread that was met before, and one more */
	src = ts_source_from_memory(file.data, file.len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	tl = ts_timeline_new(rec, NULL, &err);
	while (ts_timeline_grow(tl, 1 << 20, &err) == TS_GROW_MORE)
		;
	ck_assert_int_eq(tl->damage.code, TS_ELIMIT);
	ck_assert_msg(strstr(tl->damage.text, "frame 4097: more than 4096 threads"), "%s", tl->damage.text);
	ck_assert_uint_eq(tl->n_steps, 4097);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- index */

/* Damage in frame 70 of 200: the index leads on to frame 128, unless its entries do not ascend. */
START_TEST(an_index_whose_entries_do_not_ascend_leads_nowhere)
{
	for (unsigned round = 0; round < 2; round++) {
		size_t end;

		ts_buf_reset(&file);
		bap_text(&file, X64);
		for (unsigned i = 0; i < 200; i++) {
			if (i == 70)
				bap_text_line(&file, "damage");
			else
				bap_text_line(&file, "step %x 1 90", 0x1000 + i);
		}
		end = file.len;
		bap_text_line(&file, "index 64");
		if (round) /* entries 64 and 128 change places */
			for (unsigned i = 0; i < 8; i++) {
				uint8_t byte = file.data[end + 8 + i];

				file.data[end + 8 + i] = file.data[end + 16 + i];
				file.data[end + 16 + i] = byte;
			}
		load();
		ck_assert_uint_eq(tl->n_steps, round ? 70 : 70 + 72);
		close_trace();
	}
}
END_TEST

/* -------------------------------------------------------------------------------------- decode points */

/* A reader of a trace with flags, calls and threads, and its decode point after @n steps. */
static struct ts_reader *reader_after(unsigned n, struct ts_buf *point)
{
	struct ts_reader *r = rec->ops->reader(rec, &err);
	struct ts_steps steps;

	ck_assert_ptr_nonnull(r);
	ts_steps_init(&steps);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(ts_reader_next(r, &steps, &err), TS_ITEM);
	ts_steps_fini(&steps);
	ts_buf_init(point);
	r->ops->save(r, point);
	return r;
}

static void load_for_points(void)
{
	load_text("2 9:64 bpt/1.0.0\n"
		  "step 1000 0 90 rax=1/8 cf=1/1.1 > rbx=2/8\n"
		  "step 1001 1 90 rax=3/8 > rcx=5/8 zf=1/1.1\n"
		  "call 1002 0 3c 1 2\nstep 1002 1 90\nstep 1002 0 0f05 rax=3c/8\nstep 1004 0 90\n");
}

START_TEST(a_decode_point_that_was_changed_is_refused_or_is_one)
{
	struct ts_buf point;
	struct ts_reader *r;
	struct ts_steps steps;
	unsigned n_refused = 0;

	load_for_points();
	r = reader_after(3, &point);
	ts_steps_init(&steps);
	for (size_t i = 0; i < point.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint8_t *copy = malloc(point.len); /* its end is watched by the sanitizers */

			memcpy(copy, point.data, point.len);
			copy[i] ^= (uint8_t)(1u << bit);
			ts_error_reset(&err);
			if (!r->ops->resume(r, copy, point.len, &err)) {
				ck_assert_str_eq(err.text, "the decode point belongs to another trace");
				n_refused++;
			} else {
				ts_steps_reset(&steps);
				ts_reader_next(r, &steps, &err);
			}
			free(copy);
		}
	}
	ck_assert_uint_gt(n_refused, point.len);
	ck_assert_uint_eq(rec->n_threads, 2); /* none was made up */
	ts_steps_fini(&steps);
	ts_reader_close(r);
	ts_buf_fini(&point);
}
END_TEST

START_TEST(a_decode_point_that_was_truncated_is_refused)
{
	struct ts_buf point;
	struct ts_reader *r;

	load_for_points();
	r = reader_after(3, &point);
	for (size_t len = 0; len < point.len; len++) {
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, point.data, len);
		ts_error_reset(&err);
		ck_assert(!r->ops->resume(r, copy, len, &err));
		ck_assert_str_eq(err.text, "the decode point belongs to another trace");
		free(copy);
	}
	ts_error_reset(&err);
	ck_assert(r->ops->resume(r, point.data, point.len, &err));
	ts_reader_close(r);
	ts_buf_fini(&point);
}
END_TEST

/* A call waits for its instruction, which comes after the point. */
START_TEST(a_reader_goes_on_from_a_decode_point_as_the_one_that_saved_it)
{
	struct ts_buf point;
	struct ts_reader *r, *other;
	struct ts_steps a, b;

	load_for_points();
	r = reader_after(2, &point);
	other = rec->ops->reader(rec, &err);
	ck_assert(other->ops->resume(other, point.data, point.len, &err));
	ts_steps_init(&a);
	ts_steps_init(&b);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(ts_reader_next(r, &a, &err), TS_ITEM);
		ck_assert_int_eq(ts_reader_next(other, &b, &err), TS_ITEM);
	}
	ck_assert_uint_eq(a.n_events, 1);
	ck_assert_uint_eq(b.n_events, 1);
	ck_assert_uint_eq(b.events[0].number, 0x3c);
	ck_assert_uint_eq(a.n_effects, b.n_effects);
	for (uint32_t i = 0; i < a.n_effects; i++) {
		ck_assert_int_eq(a.effects[i].kind, b.effects[i].kind);
		ck_assert_uint_eq(a.effects[i].addr, b.effects[i].addr);
		ck_assert_uint_eq(a.effects[i].len, b.effects[i].len);
	}
	ck_assert_uint_eq(a.n_data, b.n_data);
	ck_assert_mem_eq(a.data, b.data, a.n_data);
	ts_steps_fini(&a);
	ts_steps_fini(&b);
	ts_reader_close(r);
	ts_reader_close(other);
	ts_buf_fini(&point);
}
END_TEST

/* The registers of threads that the reader no longer keeps are unknown, too. */
START_TEST(after_damage_no_register_of_any_thread_is_known)
{
	ts_buf_reset(&file);
	bap_text(&file, X64);
	for (unsigned k = 0; k < 200; k++) {
		if (k == 150)
			bap_text_line(&file, "damage");
		else
			bap_text_line(&file, "step %x %x 90 > rax=%x/8", 0x1000 + k, k % 100 + 1, k);
	}
	bap_text_line(&file, "index 64");
	load();
	ck_assert_uint_eq(tl->n_steps, 150 + 8); /* the index leads on to frame 192 */
	ck_assert_str_eq(thread_reg(149, 48, "rax"), "94"); /* 148 */
	ck_assert_str_eq(thread_reg(149, 60, "rax"), "3c");
	ck_assert_str_eq(thread_reg(150, 48, "rax"), "?");
	ck_assert_str_eq(thread_reg(150, 60, "rax"), "?");
	ck_assert_str_eq(thread_reg(158, 99, "rax"), "c7");
}
END_TEST

static uint64_t n_warned(const char *words)
{
	for (unsigned i = 0; i < rec->n_warnings; i++)
		if (strstr(rec->warnings[i].text, words))
			return rec->warnings[i].count;
	return 0;
}

/*
 * Frames before the first instruction are read three times: by looks ahead, for the state at 0, by the
 * reader.
 */
START_TEST(a_warning_counts_frames_and_names_each_register)
{
	load_text(X64 "key 1 foo=1/8 foo=2/8 bar=1/8\n"
		      "step 1000 1 90 rax=1/8 foo=1/8 foo=1/8 > rax=2/8 foo=3/8\n"
		      "step 1001 1 90 rax=7/8 rax=9/8 bar=1/8 > rax=8/8\n"
		      "step 1002 1 90 rax=8/8 > rax=9/8\n");
	ck_assert_uint_eq(n_warned("\"foo\""), 2);
	ck_assert_uint_eq(n_warned("\"bar\""), 2);
	ck_assert_uint_eq(n_warned("contradict the result"), 1);
}
END_TEST

UNIT_FIXTURE_SUITE(
	"bap_text", setup, teardown, x86_instructions_without_operands_write_what_their_encoding_says,
	what_instructions_without_operands_write, parallel_additions_set_bits_that_are_not_logged,
	names_of_sparc_and_m68k, flags_of_an_unlogged_comparison_are_unknown,
	a_flag_that_nothing_wrote_had_the_value_that_is_seen_later_from_the_start,
	the_flags_of_another_thread_tell_nothing_of_the_first_ones, each_register_of_flags_is_put_together,
	a_block_of_conditions_in_thumb_moves_on_with_its_instructions,
	each_flag_may_be_the_only_one_that_is_written, the_instruction_set_of_arm_is_the_threads_own,
	memory_that_an_unlogged_instruction_stores_to_is_unknown,
	arm_registers_of_the_system_come_without_operands,
	other_machines_registers_of_the_system_come_without_operands,
	a_system_call_returns_in_the_register_of_its_machine,
	the_number_of_a_system_call_is_in_the_register_of_its_machine,
	a_value_that_contradicts_is_visible_before_its_instruction,
	arms_carry_before_an_instruction_may_be_its_result, flags_of_an_unknown_recorder_are_kept,
	the_old_tracewrap_logs_whole_flags_and_words_of_memory,
	pins_old_recorder_lists_what_is_written_with_its_old_value, registers_that_come_late_are_there,
	registers_that_gdb_wants_are_there, registers_that_only_key_frames_have_are_there,
	the_pc_at_the_end_is_assumed_where_the_last_instruction_may_lead_elsewhere, modules_have_a_limit,
	of_many_threads_those_that_were_met_last_are_kept, threads_have_a_limit,
	a_decode_point_that_was_changed_is_refused_or_is_one, a_decode_point_that_was_truncated_is_refused,
	a_reader_goes_on_from_a_decode_point_as_the_one_that_saved_it,
	after_damage_no_register_of_any_thread_is_known, an_index_whose_entries_do_not_ascend_leads_nowhere,
	a_warning_counts_frames_and_names_each_register)
