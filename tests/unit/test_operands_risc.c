/* SPDX-License-Identifier: MIT */
/*
 * What instructions of AArch64, ARM, MIPS and RISC-V write and read.  Encodings were made by GNU as; what they do is in
 * the processors' manuals.
 */
#include "unit.h"

#include "src/arch/operands/operands.h"
#include "src/base/error.h"

#include <stdio.h>
#include <string.h>

static struct ts_regset set;
static struct ts_operands ops;
static char text[1000];

static void put(const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, sizeof(text) - n, "%s", word);
}

static void put_place(const struct ts_op_place *p)
{
	char word[80] = "?";

	if (p->kind == TS_AT_PC)
		snprintf(word, sizeof(word), "next");
	if (p->kind == TS_AT_FLAGS && p->flags == 0x20)
		snprintf(word, sizeof(word), "T");
	else if (p->kind == TS_AT_FLAGS)
		snprintf(word, sizeof(word), "flags %x", p->flags >> 28);
	if (p->kind == TS_AT_MEM)
		snprintf(word, sizeof(word), "[%d]+%u,%u", (int)ops.mem[p->mem].disp, p->off, p->len);
	for (unsigned i = 0; i < set.n_regs && p->kind == TS_AT_REG; i++) {
		const struct ts_reg *r = &set.regs[i];

		if (p->off >= r->off && p->off < r->off + r->len)
			snprintf(word, sizeof(word), p->len == r->len ? "%s" : "%s[%u:%u]", r->name, p->off - r->off,
				 p->off - r->off + p->len);
	}
	put(word);
}

/* "TO=FROM" a transfer: "copy x1", "each x1" (byte by byte), "mix x1", "0x5", "zero", "own", "system". */
static void put_transfer(const struct ts_transfer *t)
{
	static const char *const ways[] = { "copy ", "back ", "each ", "mix ", "0x", "0x", "zero", "own", "system", "syscall", "unknown", "select ", "selector " };
	char word[40];

	put(*text ? " | " : "");
	put_place(&t->to);
	put("=");
	put(ways[t->way]);
	if (t->way == TS_WAY_CONSTANT || t->way == TS_WAY_PART) {
		snprintf(word, sizeof(word), "%llx", (unsigned long long)t->constant);
		put(word);
	} else if (t->way <= TS_WAY_MIX || t->way >= TS_WAY_SELECT) {
		put_place(&t->from);
	}
	if (t->is_conditional)
		put(" if");
}

/* The transfers of the instruction at 0x1000; in the block of an IT instruction with condition @it - 1. */
static const char *decoded(const char *arch, const char *hex, bool is_thumb, uint8_t it)
{
	struct ts_op_mode mode = { .is_64 = true, .is_thumb = is_thumb, .it = it };
	struct ts_error err = { 0 };
	struct ts_decoder *d;
	uint8_t bytes[4];
	unsigned n = 0, b;

	ck_assert(ts_regset_init(&set, ts_arch_find(arch), UINT32_MAX, &err));
	d = ts_decoder_new(&set, &err);
	ck_assert_ptr_nonnull(d);
	for (const char *p = hex; sscanf(p, "%2x", &b) == 1; p += 2)
		bytes[n++] = (uint8_t)b;
	*text = 0;
	if (!ts_decoder_decode(d, mode, 0x1000, bytes, n, &ops))
		put("no instruction");
	else
		ck_assert_uint_eq(ops.len, n);
	for (unsigned i = 0; ops.len && i < ops.n; i++)
		put_transfer(&ops.transfers[i]);
	ts_decoder_free(d);
	ts_regset_fini(&set);
	return text;
}

static const struct {
	const char *arch, *hex, *want;
	uint8_t flow;
} insns[] = {
	/* mov x0, x1; mov w0, w1; movk x0, #0x1234, lsl #16 */
	{ "aarch64", "e00301aa", "x0=copy x1", TS_OP_NEXT },
	{ "aarch64", "e003012a", "x0[0:4]=copy x1[0:4] | x0[4:8]=zero", TS_OP_NEXT },
	{ "aarch64", "8046a2f2", "x0[2:4]=0x1234", TS_OP_NEXT },
	/* str x1, [sp, #8]; strb w1, [x2]; ldrsb x3, [x4]; ldr x0, [x1], #8 */
	{ "aarch64", "e10700f9", "[8]+0,8=copy x1", TS_OP_NEXT },
	{ "aarch64", "41000039", "[0]+0,1=copy x1[0:1]", TS_OP_NEXT },
	{ "aarch64", "83008039", "x3[0:1]=copy [0]+0,1 | x3[1:8]=mix [0]+0,1", TS_OP_NEXT },
	{ "aarch64", "208440f8", "x0=copy [0]+0,8 | x1=mix x1", TS_OP_NEXT },
	/* stp x29, x30, [sp, #-32]!; cmp x1, x2; tst w1, w2 */
	{ "aarch64", "fd7bbea9", "[-32]+0,8=copy x29 | [-32]+8,8=copy x30 | sp=mix sp", TS_OP_NEXT },
	{ "aarch64", "3f0002eb", "flags f=mix x1 | flags f=mix x2", TS_OP_NEXT },
	{ "aarch64", "3f00026a", "flags c=mix x1[0:4] | flags c=mix x2[0:4] | flags 3=0x0", TS_OP_NEXT },
	/* eor x0, x1, x2; rev x0, x1; cset w0, lt; b.eq; cbz x3; blr x4; ret; svc */
	{ "aarch64", "200002ca", "x0=each x1 | x0=each x2", TS_OP_NEXT },
	{ "aarch64", "200cc0da", "x0=back x1", TS_OP_NEXT },
	{ "aarch64", "e0a79f1a", "x0[0:4]=mix flags f | x0[4:8]=zero", TS_OP_NEXT },
	{ "aarch64", "40000054", "next=mix flags f", TS_OP_BRANCH },
	{ "aarch64", "430000b4", "next=mix x3", TS_OP_BRANCH },
	{ "aarch64", "80003fd6", "x30=0x1004 | next=mix x4", TS_OP_CALL_INDIRECT },
	{ "aarch64", "c0035fd6", "next=mix x30", TS_OP_RETURN },
	{ "aarch64", "010000d4", "x0=system", TS_OP_SYSCALL },
	/* tbl of one and of two registers, zip1, zip2, uzp1, uzp2, trn1, trn2, ext twice, rev64, rev32, dup of an element, x1 and w1 */
	{ "aarch64", "2000024e", "v0=select v1 | v0=selector v2", TS_OP_NEXT },
	{ "aarch64", "2020030e", "v0[0:8]=select v1 | v0[0:8]=select v2 | v0[0:8]=selector v3[0:8] | v0[8:16]=zero", TS_OP_NEXT },
	{ "aarch64", "2038824e", "v0[0:4]=copy v1[0:4] | v0[4:8]=copy v2[0:4] | v0[8:12]=copy v1[4:8] | v0[12:16]=copy v2[4:8]", TS_OP_NEXT },
	{ "aarch64", "2078c24e", "v0[0:8]=copy v1[8:16] | v0[8:16]=copy v2[8:16]", TS_OP_NEXT },
	{ "aarch64", "2018824e", "v0[0:4]=copy v1[0:4] | v0[4:8]=copy v1[8:12] | v0[8:12]=copy v2[0:4] | v0[12:16]=copy v2[8:12]", TS_OP_NEXT },
	{ "aarch64", "2058820e", "v0[0:4]=copy v1[4:8] | v0[4:8]=copy v2[4:8] | v0[8:16]=zero", TS_OP_NEXT },
	{ "aarch64", "2028824e", "v0[0:4]=copy v1[0:4] | v0[4:8]=copy v2[0:4] | v0[8:12]=copy v1[8:12] | v0[12:16]=copy v2[8:12]", TS_OP_NEXT },
	{ "aarch64", "2068c24e", "v0[0:8]=copy v1[8:16] | v0[8:16]=copy v2[8:16]", TS_OP_NEXT },
	{ "aarch64", "2078026e", "v0[0:1]=copy v1[15:16] | v0[1:16]=copy v2[0:15]", TS_OP_NEXT },
	{ "aarch64", "2030022e", "v0[0:2]=copy v1[6:8] | v0[2:8]=copy v2[0:6] | v0[8:16]=zero", TS_OP_NEXT },
	{ "aarch64", "2008a04e", "v0[0:4]=copy v1[4:8] | v0[4:8]=copy v1[0:4] | v0[8:12]=copy v1[12:16] | v0[12:16]=copy v1[8:12]", TS_OP_NEXT },
	{ "aarch64", "2008606e", "v0[0:2]=copy v1[2:4] | v0[2:4]=copy v1[0:2] | v0[4:6]=copy v1[6:8] | v0[6:8]=copy v1[4:6] | v0[8:10]=copy v1[10:12] | v0[10:12]=copy v1[8:10] | v0[12:14]=copy v1[14:16] | v0[14:16]=copy v1[12:14]", TS_OP_NEXT },
	{ "aarch64", "2004144e", "v0[0:4]=copy v1[8:12] | v0[4:8]=copy v1[8:12] | v0[8:12]=copy v1[8:12] | v0[12:16]=copy v1[8:12]", TS_OP_NEXT },
	{ "aarch64", "200c084e", "v0[0:8]=copy x1 | v0[8:16]=copy x1", TS_OP_NEXT },
	{ "aarch64", "200c020e", "v0[0:2]=copy x1[0:2] | v0[2:4]=copy x1[0:2] | v0[4:6]=copy x1[0:2] | v0[6:8]=copy x1[0:2] | v0[8:16]=zero", TS_OP_NEXT },
	/* mov r0, r1; addeq r0, r1, r2; lsr r0, r3, #1; push {r4, lr}; pop {r4, pc} */
	{ "arm", "0100a0e1", "r0=copy r1", TS_OP_NEXT },
	{ "arm", "02008100", "r0=mix r1 if | r0=mix r2 if", TS_OP_NEXT },
	{ "arm", "a300a0e1", "r0=mix r3", TS_OP_NEXT },
	{ "arm", "10402de9", "sp=mix sp | [-8]+0,4=copy r4 | [-8]+4,4=copy lr", TS_OP_NEXT },
	{ "arm", "1080bde8", "sp=mix sp | r4=copy [0]+0,4 | next=mix [0]+4,4 | T=unknown", TS_OP_RETURN },
	/* ldr r0, [pc, #16]; umull r0, r1, r2, r3; movt r0, #0x1234; bl; bx lr; cmp r0, #3 */
	{ "arm", "10009fe5", "r0=copy [4120]+0,4", TS_OP_NEXT },
	{ "arm", "920381e0", "r0=mix r2 | r0=mix r3 | r1=mix r2 | r1=mix r3", TS_OP_NEXT },
	{ "arm", "340241e3", "r0[2:4]=0x1234", TS_OP_NEXT },
	{ "arm", "000000eb", "lr=0x1004", TS_OP_CALL },
	{ "arm", "1eff2fe1", "next=mix lr | T=mix lr", TS_OP_RETURN },
	{ "arm", "030050e3", "flags f=mix r0 | flags f=0x3", TS_OP_NEXT },
	/* vld1.8 {d0-d1}, [r0:64]!; vst1.32 {d0[1]}, [r1], r2; vld1.16 {d0[]}, [r0]; vld1.16 {d0[2]}, [r0]! */
	{ "arm", "1d0a20f4", "d0=copy [0]+0,8 | d1=copy [0]+8,8 | r0=mix r0", TS_OP_NEXT },
	{ "arm", "820881f4", "[0]+0,4=copy d0[4:8] | r1=mix r1 | r1=mix r2", TS_OP_NEXT },
	{ "arm", "4f0ca0f4", "d0[0:2]=copy [0]+0,2 | d0[2:4]=copy [0]+0,2 | d0[4:6]=copy [0]+0,2 | d0[6:8]=copy [0]+0,2", TS_OP_NEXT },
	{ "arm", "8d04a0f4", "d0[4:6]=copy [0]+0,2 | r0=mix r0", TS_OP_NEXT },
	/* vld2.32 {d0-d3}, [r0]; vld3.32 {d0,d2,d4}, [r0]!; vst4.16 {d0[1],d1[1],d2[1],d3[1]}, [r0]; vld2.16 {d0[],d1[]}, [r0] */
	{ "arm", "8f0320f4", "d0[0:4]=copy [0]+0,4 | d0[4:8]=copy [0]+8,4 | d1[0:4]=copy [0]+16,4 | d1[4:8]=copy [0]+24,4 | "
			     "d2[0:4]=copy [0]+4,4 | d2[4:8]=copy [0]+12,4 | d3[0:4]=copy [0]+20,4 | d3[4:8]=copy [0]+28,4", TS_OP_NEXT },
	{ "arm", "8d0520f4", "d0[0:4]=copy [0]+0,4 | d0[4:8]=copy [0]+12,4 | d2[0:4]=copy [0]+4,4 | d2[4:8]=copy [0]+16,4 | "
			     "d4[0:4]=copy [0]+8,4 | d4[4:8]=copy [0]+20,4 | r0=mix r0", TS_OP_NEXT },
	{ "arm", "4f0780f4", "[0]+0,2=copy d0[2:4] | [0]+2,2=copy d1[2:4] | [0]+4,2=copy d2[2:4] | [0]+6,2=copy d3[2:4]", TS_OP_NEXT },
	{ "arm", "4f0da0f4", "d0[0:2]=copy [0]+0,2 | d0[2:4]=copy [0]+0,2 | d0[4:6]=copy [0]+0,2 | d0[6:8]=copy [0]+0,2 | "
			     "d1[0:2]=copy [0]+2,2 | d1[2:4]=copy [0]+2,2 | d1[4:6]=copy [0]+2,2 | d1[6:8]=copy [0]+2,2", TS_OP_NEXT },
	/* vmov r2, r3, d8; vmov d8, r2, r3; vmov s1, s2, r2, r3 */
	{ "arm", "182b53ec", "r2=copy d8[0:4] | r3=copy d8[4:8]", TS_OP_NEXT },
	{ "arm", "182b43ec", "d8[0:4]=copy r2 | d8[4:8]=copy r3", TS_OP_NEXT },
	{ "arm", "302a43ec", "d0[4:8]=copy r2 | d1[0:4]=copy r3", TS_OP_NEXT },
	/* mrrc p15, #1, r2, r3, c14; ldrexd r2, r3, [r0]; smlalbb r0, r1, r2, r3; vswp d0, d1 */
	{ "arm", "1e2f53ec", "r2=own | r3=own", TS_OP_NEXT },
	{ "arm", "9f2fb0e1", "r2=copy [0]+0,4 | r3=copy [0]+4,4", TS_OP_NEXT },
	{ "arm", "820341e1", "r0=mix r0 | r0=mix r1 | r0=mix r2 | r0=mix r3 | r1=mix r0 | r1=mix r1 | r1=mix r2 | r1=mix r3", TS_OP_NEXT },
	{ "arm", "0100b2f3", "d0=mix d0 | d0=mix d1 | d1=mix d0 | d1=mix d1", TS_OP_NEXT },
	/* lw a0, 8(a1); sb a0, 0(a1); mv a0, a1; c.mv a0, a1; add a0, a1, a2; sext.w a0, a1 */
	{ "riscv64", "03a58500", "a0[0:4]=copy [8]+0,4 | a0[4:8]=mix [8]+3,1", TS_OP_NEXT },
	{ "riscv64", "2380a500", "[0]+0,1=copy a0[0:1]", TS_OP_NEXT },
	{ "riscv64", "13850500", "a0=copy a1", TS_OP_NEXT },
	{ "riscv64", "2e85", "a0=copy a1", TS_OP_NEXT },
	{ "riscv64", "3385c500", "a0=mix a1 | a0=mix a2", TS_OP_NEXT },
	{ "riscv64", "1b850500", "a0[0:4]=copy a1[0:4] | a0[4:8]=mix a1[3:4]", TS_OP_NEXT },
	/* c.ldsp ra, 8(sp); c.sdsp ra, 8(sp); beq a0, a1; jal ra; ret; ecall; lui a0, 0x12345 */
	{ "riscv64", "a260", "ra=copy [8]+0,8", TS_OP_NEXT },
	{ "riscv64", "06e4", "[8]+0,8=copy ra", TS_OP_NEXT },
	{ "riscv64", "6304b500", "next=mix a0 | next=mix a1", TS_OP_BRANCH },
	{ "riscv64", "ef008000", "ra=0x1004", TS_OP_CALL },
	{ "riscv64", "8280", "next=mix ra", TS_OP_RETURN },
	{ "riscv64", "73000000", "a0=system", TS_OP_SYSCALL },
	{ "riscv64", "37553412", "a0=0x12345000", TS_OP_NEXT },
	/* lw $2, 8($4); lb, big-endian; sw $5, 4($29); addu $2, $4, $5; jal; jr $31; syscall */
	{ "mipsel", "0800828c", "r2=copy [8]+0,4", TS_OP_NEXT },
	{ "mips", "80820000", "r2[3:4]=copy [0]+0,1 | r2[0:3]=mix [0]+0,1", TS_OP_NEXT },
	{ "mipsel", "0400a5af", "[4]+0,4=copy r5", TS_OP_NEXT },
	{ "mipsel", "21108500", "r2=mix r4 | r2=mix r5", TS_OP_NEXT },
	{ "mipsel", "0000000c", "r31=0x1008", TS_OP_CALL },
	{ "mipsel", "0800e003", "next=mix r31", TS_OP_RETURN },
	{ "mipsel", "0c000000", "r2=system | r7=system", TS_OP_SYSCALL },
};

/* Where calls at @pc lead: the instruction's own number, by the manuals of the processors. */
static const struct {
	const char *arch, *hex;
	uint64_t target;
	bool is_thumb;
} calls[] = {
	/* bl +0x40; bl -4 */
	{ "aarch64", "10000094", 0x1040, false },
	{ "aarch64", "ffffff97", 0xffc, false },
	/* bl +0 and -12 from pc + 8; blx to Thumb code, +0 and half a word more */
	{ "arm", "000000eb", 0x1008, false },
	{ "arm", "fbffffeb", 0xff4, false },
	{ "arm", "000000fa", 0x1008, false },
	{ "arm", "000000fb", 0x100a, false },
	/* bl, blx to ARM code, +4 from pc + 4 */
	{ "arm", "00f002f8", 0x1008, true },
	{ "arm", "00f002e8", 0x1008, true },
	/* jal ra, +8, -4, +0x800, +0x1000; c.jal +16, +32, -2 */
	{ "riscv64", "ef008000", 0x1008, false },
	{ "riscv64", "eff0dfff", 0xffc, false },
	{ "riscv64", "ef001000", 0x1800, false },
	{ "riscv64", "ef100000", 0x2000, false },
	{ "riscv32", "0128", 0x1010, false },
	{ "riscv32", "0520", 0x1020, false },
	{ "riscv32", "fd3f", 0xffe, false },
	/* jal 0x1040; bal +12 from the delay slot */
	{ "mipsel", "1004000c", 0x1040, false },
	{ "mips", "0c000410", 0x1040, false },
	{ "mipsel", "03001104", 0x1010, false },
};

START_TEST(direct_calls_lead_to_addresses)
{
	decoded(calls[_i].arch, calls[_i].hex, calls[_i].is_thumb, 0);
	ck_assert_uint_eq(ops.flow, TS_OP_CALL);
	ck_assert(ops.has_target);
	ck_assert_uint_eq(ops.target, calls[_i].target);
}
END_TEST

/* jalr ra, 16(a5); c.jalr a5; blr x4 */
START_TEST(indirect_calls_have_what_is_added_to_the_register)
{
	decoded("riscv64", "e7800701", false, 0);
	ck_assert_uint_eq(ops.flow, TS_OP_CALL_INDIRECT);
	ck_assert_uint_eq(ops.target, 16);
	decoded("riscv64", "8297", false, 0);
	ck_assert_uint_eq(ops.flow, TS_OP_CALL_INDIRECT);
	ck_assert_uint_eq(ops.target, 0);
	ck_assert(!ops.has_target);
	decoded("aarch64", "80003fd6", false, 0);
	ck_assert_uint_eq(ops.target, 0);
}
END_TEST

/* Do the operands in memory reach over all that is read and written there? */
static void check_sizes(void)
{
	for (unsigned i = 0; i < ops.n; i++) {
		const struct ts_op_place *from = &ops.transfers[i].from, *to = &ops.transfers[i].to;

		ck_assert(from->kind != TS_AT_MEM || from->off + from->len <= ops.mem[from->mem].size);
		ck_assert(to->kind != TS_AT_MEM || to->off + to->len <= ops.mem[to->mem].size);
	}
}

START_TEST(instructions_write_what_they_are_made_of)
{
	decoded(insns[_i].arch, insns[_i].hex, false, 0);
	ck_assert_msg(!strcmp(text, insns[_i].want), "%s %s: %s, not %s", insns[_i].arch, insns[_i].hex, text, insns[_i].want);
	ck_assert_uint_eq(ops.flow, insns[_i].flow);
	check_sizes();
}
END_TEST

/* adds r0, r1, r2 alone; in a block it is add, and does something if the condition (eq) holds. */
START_TEST(the_block_of_an_it_instruction_makes_t32_conditional)
{
	ck_assert_str_eq(decoded("arm", "8818", true, 0),
			 "r0=mix r1 | r0=mix r2 | flags f=mix r1 | flags f=mix r2");
	ck_assert_uint_eq(ops.condition, TS_IF_ALWAYS);
	ck_assert_str_eq(decoded("arm", "20f91d0a", true, 0), "d0=copy [0]+0,8 | d1=copy [0]+8,8 | r0=mix r0");
	ck_assert_str_eq(decoded("arm", "81f98208", true, 0), "[0]+0,4=copy d0[4:8] | r1=mix r1 | r1=mix r2");
	ck_assert_str_eq(decoded("arm", "8818", true, 1), "r0=mix r1 if | r0=mix r2 if");
	ck_assert_uint_eq(ops.condition, TS_IF_FLAGS);
	ck_assert_uint_eq(ops.cond_code, 0);
}
END_TEST

/* it eq: what is decoded after it is not in its block. */
START_TEST(an_it_instruction_leaves_nothing_behind)
{
	struct ts_op_mode mode = { .is_thumb = true };
	const uint8_t it[2] = { 0x08, 0xbf }, adds[2] = { 0x88, 0x18 };
	struct ts_error err = { 0 };
	struct ts_decoder *d;

	ck_assert(ts_regset_init(&set, ts_arch_find("arm"), UINT32_MAX, &err));
	d = ts_decoder_new(&set, &err);
	ck_assert(ts_decoder_decode(d, mode, 0x1000, it, 2, &ops));
	ck_assert_uint_eq(ops.n, 0);
	ck_assert(ts_decoder_decode(d, mode, 0x1002, adds, 2, &ops));
	ck_assert_uint_eq(ops.n, 4);
	ck_assert_uint_eq(ops.condition, TS_IF_ALWAYS);
	ts_decoder_free(d);
	ts_regset_fini(&set);
}
END_TEST

START_TEST(bytes_that_are_no_instruction_are_none)
{
	ck_assert_str_eq(decoded("aarch64", "ffffffff", false, 0), "no instruction");
	ck_assert_str_eq(decoded("riscv64", "0000", false, 0), "no instruction");
	ck_assert_str_eq(decoded("armeb", "e1a00001", false, 0), "no instruction");
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("operands_risc");
	TCase *c = tcase_create("operands_risc");

	tcase_add_loop_test(c, instructions_write_what_they_are_made_of, 0, sizeof(insns) / sizeof(insns[0]));
	tcase_add_loop_test(c, direct_calls_lead_to_addresses, 0, sizeof(calls) / sizeof(calls[0]));
	tcase_add_test(c, indirect_calls_have_what_is_added_to_the_register);
	tcase_add_test(c, the_block_of_an_it_instruction_makes_t32_conditional);
	tcase_add_test(c, an_it_instruction_leaves_nothing_behind);
	tcase_add_test(c, bytes_that_are_no_instruction_are_none);
	suite_add_tcase(suite, c);
	return suite;
}
