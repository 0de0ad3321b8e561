/* SPDX-License-Identifier: MIT */
/*
 * What single bytes that an instruction writes are made of.  Encodings and what they do are those of the
 * processors' manuals.
 */
#include "unit.h"

#include "src/arch/operands/operands.h"
#include "src/base/error.h"

#include <stdio.h>
#include <string.h>

static struct ts_regset set;
static struct ts_decoder *decoder;
static struct ts_operands ops;
static char text[1000];

static void setup(void)
{
	const struct ts_arch *arch = ts_arch_find("x86_64");
	struct ts_error err = { 0 };
	uint32_t features = 1u << ts_arch_feature(arch, "org.gnu.gdb.i386.sse") |
			    1u << ts_arch_feature(arch, "org.gnu.gdb.i386.avx") |
			    1u << ts_arch_feature(arch, "org.gnu.gdb.i386.segments");

	ck_assert(ts_regset_init(&set, arch, features, &err));
	decoder = ts_decoder_new(&set, &err);
	ck_assert_ptr_nonnull(decoder);
}

static void teardown(void)
{
	ts_decoder_free(decoder);
	ts_regset_fini(&set);
}

static void decode(const char *hex)
{
	uint8_t bytes[16];
	size_t n = 0;
	unsigned b;

	for (const char *p = hex; sscanf(p, "%2x", &b) == 1; p += p[2] ? 3 : 2)
		bytes[n++] = (uint8_t)b;
	ck_assert_msg(ts_decoder_decode(decoder, ts_decoder_mode(decoder), 0x1000, bytes, n, &ops), "%s", hex);
	ck_assert_uint_eq(ops.len, n);
}

static void put(const char *word)
{
	size_t n = strlen(text);

	if (!strstr(text, word))
		snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", word);
}

/* Bytes [off, off + len) of the layout as "rax.0-3". */
static void put_register(unsigned off, unsigned len)
{
	char word[64];

	for (unsigned i = 0; i < set.n_regs; i++) {
		const struct ts_reg *r = &set.regs[i];

		if (off < r->off || off >= r->off + r->len)
			continue;
		if (len == 1)
			snprintf(word, sizeof(word), "%s.%u", r->name, off - r->off);
		else
			snprintf(word, sizeof(word), "%s.%u-%u", r->name, off - r->off, off - r->off + len - 1);
		put(word);
	}
}

static void put_flags(uint32_t flags)
{
	static const char *const names[] = { "CF", "", "PF", "", "AF", "", "ZF", "SF", "", "", "DF", "OF" };

	for (unsigned i = 0; i < 12; i++) {
		if (flags >> i & 1)
			put(names[i]);
	}
}

/* What byte @i of transfer @t's destination is made of. */
static void put_source(const struct ts_transfer *t, unsigned i)
{
	struct ts_op_place from = t->from;
	char word[64];

	if (t->way == TS_WAY_COPY || t->way == TS_WAY_REVERSE)
		from = (struct ts_op_place){ from.kind, from.mem,
					     (uint16_t)(from.off + (t->way == TS_WAY_COPY ? i : from.len - 1 - i)), 1, 0 };
	if (t->way == TS_WAY_LANES)
		from = (struct ts_op_place){ from.kind, from.mem, (uint16_t)(from.off + i / t->unit * t->unit),
					     t->unit, 0 };
	switch (from.kind) {
	case TS_AT_REG: put_register(from.off, from.len); break;
	case TS_AT_FLAGS: put_flags(from.flags); break;
	case TS_AT_MEM:
		snprintf(word, sizeof(word), "mem%u.%u-%u", from.mem, from.off, from.off + from.len - 1);
		put(word);
		break;
	default: break;
	}
	if (t->way == TS_WAY_CONSTANT)
		snprintf(word, sizeof(word), "%#llx", (unsigned long long)t->constant);
	else if (t->way == TS_WAY_PART)
		snprintf(word, sizeof(word), "%#llx", (unsigned long long)(t->constant >> 8 * (t->unit + i) & 255));
	else
		snprintf(word, sizeof(word), "%s",
			 t->way == TS_WAY_ZERO	    ? "zero"
			 : t->way == TS_WAY_PROCESSOR ? "processor"
			 : t->way == TS_WAY_SYSTEM    ? "system"
			 : t->way == TS_WAY_SYSCALL   ? "syscall"
			 : t->way == TS_WAY_UNKNOWN   ? "unknown"
						      : "");
	if (*word && from.kind == TS_AT_NOWHERE)
		put(word);
}

/* "" if nothing writes byte @byte of @reg (or a flag, or "pc", or byte @byte of memory operand "mem0"). */
static const char *made_of(const char *reg, unsigned byte)
{
	static const char names[] = "C.P.A.ZS..DO";
	int r = ts_regset_find(&set, reg);
	bool is_flag = strlen(reg) == 2 && reg[1] == 'F';

	*text = 0;
	for (unsigned i = 0; i < ops.n; i++) {
		const struct ts_transfer *t = &ops.transfers[i];
		unsigned at = r >= 0 && !is_flag ? set.regs[r].off + byte : byte;
		bool is_mem = !strncmp(reg, "mem", 3);

		if (is_flag ? t->to.kind == TS_AT_FLAGS && t->to.flags >> (strchr(names, *reg) - names) & 1
		    : !strcmp(reg, "pc") ? t->to.kind == TS_AT_PC
		    : t->to.kind == (is_mem ? TS_AT_MEM : TS_AT_REG) && (!is_mem || t->to.mem == reg[3] - '0') &&
			      at >= t->to.off && at < (unsigned)t->to.off + t->to.len)
			put_source(t, is_flag ? 0 : at - t->to.off);
	}
	return text;
}

#define IS(hex, place, byte, expected)                                                                     \
	do {                                                                                               \
		decode(hex);                                                                               \
		ck_assert_msg(!strcmp(made_of(place, byte), expected), "%s %s.%u: %s", hex, place, byte, text); \
	} while (0)

START_TEST(moves_keep_the_place_of_a_byte)
{
	IS("48 89 c3", "rbx", 5, "rax.5");               /* mov rbx, rax */
	IS("89 c3", "rbx", 1, "rax.1");                  /* mov ebx, eax */
	IS("89 c3", "rbx", 6, "zero");
	IS("88 e0", "rax", 0, "rax.1");                  /* mov al, ah */
	IS("88 e0", "rax", 1, "");
	IS("b8 44 33 22 11", "rax", 2, "0x22");          /* mov eax, 0x11223344 */
	IS("0f b6 01", "rax", 0, "mem0.0-0");            /* movzx eax, byte [rcx] */
	IS("0f b6 01", "rax", 1, "zero");
	IS("48 63 c1", "rax", 3, "rcx.3");               /* movsxd rax, ecx */
	IS("48 63 c1", "rax", 7, "rcx.3");
	IS("0f c8", "rax", 0, "rax.3");                  /* bswap eax */
	IS("48 93", "rbx", 4, "rax.4");                  /* xchg rbx, rax */
	IS("48 93", "rax", 4, "rbx.4");
	IS("50", "mem0", 3, "rax.3");                    /* push rax */
	IS("50", "rsp", 3, "rsp.0-7");
	IS("58", "rax", 3, "mem0.3-3");                  /* pop rax */
	IS("5c", "rsp", 0, "mem0.0-0");                  /* pop rsp */
	IS("c9", "rsp", 0, "rbp.0-7");                   /* leave */
	IS("c9", "rbp", 1, "mem0.1-1");
	IS("0f 38 f0 01", "rax", 0, "mem0.3-3");         /* movbe eax, [rcx] */
	IS("48 98", "rax", 1, "rax.1");                  /* cdqe */
	IS("48 98", "rax", 6, "rax.3");
	IS("99", "rdx", 0, "rax.3");                     /* cdq */
}
END_TEST

START_TEST(operations_take_whole_operands_and_bitwise_ones_bytes)
{
	IS("01 c8", "rax", 0, "rax.0-3 rcx.0-3");        /* add eax, ecx */
	IS("01 c8", "rax", 7, "zero");
	IS("01 c8", "CF", 0, "rax.0-3 rcx.0-3");
	IS("48 83 c0 05", "rax", 0, "rax.0-7 0x5");      /* add rax, 5 */
	IS("48 21 c8", "rax", 2, "rax.2 rcx.2");         /* and rax, rcx */
	IS("11 c8", "rax", 0, "rax.0-3 rcx.0-3 CF");     /* adc eax, ecx */
	IS("31 c0", "rax", 0, "zero");                   /* xor eax, eax */
	IS("31 c0", "ZF", 0, "0");
	IS("19 c0", "rax", 0, "CF");                     /* sbb eax, eax */
	IS("ff c1", "CF", 0, "");                        /* inc ecx */
	IS("ff c1", "ZF", 0, "rcx.0-3");
	IS("f7 f1", "rdx", 0, "rcx.0-3 rax.0-3 rdx.0-3"); /* div ecx */
	IS("48 8d 44 48 03", "rax", 0, "rax.0-7 rcx.0-7"); /* lea rax, [rax + rcx * 2 + 3] */
	IS("8b 04 8b", "rax", 0, "mem0.0-0");            /* mov eax, [rbx + rcx * 4] */
	IS("0f 44 c1", "rax", 0, "rax.0-3 rcx.0-3 ZF");  /* cmovz eax, ecx */
	IS("0f 94 c0", "rax", 0, "ZF");                  /* setz al */
	IS("0f 94 c0", "rax", 1, "");
	IS("0f c1 07", "rax", 1, "mem0.1-1");            /* xadd [rdi], eax */
	IS("0f c1 07", "mem0", 1, "mem0.0-3 rax.0-3");
	IS("9c", "mem0", 1, "DF OF");                    /* pushfq */
	IS("9d", "ZF", 0, "mem0.0-0");                   /* popfq */
	IS("9e", "ZF", 0, "rax.1");                      /* sahf */
	IS("9e", "OF", 0, "");
}
END_TEST

START_TEST(what_the_processor_or_the_system_gives_is_no_constant)
{
	IS("0f 31", "rdx", 0, "processor");              /* rdtsc */
	IS("0f c7 f0", "rax", 0, "processor");           /* rdrand eax */
	IS("0f a2", "rbx", 0, "processor");              /* cpuid */
	IS("ec", "rax", 0, "processor");                 /* in al, dx */
	IS("0f 05", "rax", 0, "system");                 /* syscall */
	IS("0f 05", "rcx", 0, "syscall");
	IS("0f 05", "r11", 0, "syscall");
	IS("cd 80", "rax", 0, "system");
	ck_assert_uint_eq(ops.flow, TS_OP_SYSCALL);
}
END_TEST

START_TEST(vectors_move_bytes_and_work_on_lanes)
{
	IS("c4 e2 6d 90 1c a7", "xmm3", 5, "xmm3.4-7 xmm2.4-7 mem0.0-3"); /* vpgatherdd ymm3, [rdi + ymm4 * 4], ymm2 */
	IS("c4 e2 6d 90 1c a7", "xmm2", 5, "zero");
	ck_assert_uint_eq(ops.n_mem, 1);
	ck_assert_uint_eq(ops.mem[0].index, set.regs[ts_regset_find(&set, "xmm4")].off);
	ck_assert_uint_eq(ops.mem[0].extra, set.regs[ts_regset_find(&set, "ymm4h")].off);
	ck_assert_uint_eq(ops.mem[0].special, TS_MEM_UNPLACED);
	IS("66 0f ef c1", "xmm0", 5, "xmm0.5 xmm1.5");       /* pxor xmm0, xmm1 */
	IS("66 0f ef c0", "xmm0", 5, "zero");
	IS("66 0f 6e c0", "xmm0", 2, "rax.2");               /* movd xmm0, eax */
	IS("66 0f 6e c0", "xmm0", 9, "zero");
	IS("f2 0f 58 c1", "xmm0", 3, "xmm0.0-7 xmm1.0-7");   /* addsd xmm0, xmm1 */
	IS("f2 0f 58 c1", "xmm0", 8, "");
	IS("66 0f fe c1", "xmm0", 9, "xmm0.8-11 xmm1.8-11"); /* paddd xmm0, xmm1 */
	IS("66 0f 70 c1 1b", "xmm0", 0, "xmm1.12");          /* pshufd xmm0, xmm1, 0x1b */
	IS("66 0f 60 c1", "xmm0", 2, "xmm0.1");              /* punpcklbw xmm0, xmm1 */
	IS("66 0f 60 c1", "xmm0", 3, "xmm1.1");
	IS("66 0f 6d c1", "xmm0", 9, "xmm1.9");              /* punpckhqdq xmm0, xmm1 */
	IS("66 0f 73 d8 04", "xmm0", 0, "xmm0.4");           /* psrldq xmm0, 4 */
	IS("66 0f 73 d8 04", "xmm0", 12, "zero");
	IS("66 0f 3a 0f c1 0c", "xmm0", 0, "xmm1.12");       /* palignr xmm0, xmm1, 12 */
	IS("66 0f 3a 0f c1 0c", "xmm0", 4, "xmm0.0");
	IS("66 0f 3a 14 c0 05", "rax", 0, "xmm0.5");         /* pextrb eax, xmm0, 5 */
	IS("66 0f 3a 20 c0 03", "xmm0", 3, "rax.0");         /* pinsrb xmm0, eax, 3 */
	IS("66 0f 3a 20 c0 03", "xmm0", 2, "");
	IS("0f 16 00", "xmm0", 8, "mem0.0-0");               /* movhps xmm0, [rax] */
	IS("0f 16 00", "xmm0", 7, "");
	IS("c5 f9 ef c1", "ymm0h", 0, "zero");               /* vpxor xmm0, xmm0, xmm1 */
	IS("c5 fe 6f 00", "ymm0h", 3, "mem0.19-19");         /* vmovdqu ymm0, [rax] */
	IS("66 0f d7 c0", "rax", 0, "xmm0.0-15");            /* pmovmskb eax, xmm0 */
	IS("c5 f8 77", "ymm7h", 3, "zero");                  /* vzeroupper */
}
END_TEST

START_TEST(the_x87_stack_moves)
{
	IS("df 00", "st0", 0, "mem0.0-1");     /* fild word [rax] */
	IS("df 00", "st3", 2, "st2.2");
	IS("db 18", "mem0", 0, "st0.0-9");     /* fistp dword [rax] */
	IS("db 18", "st0", 4, "st1.4");
	IS("de c1", "st0", 0, "st1.0-9 st0.0-9"); /* faddp */
	IS("de c1", "st1", 0, "st2.0");
	IS("d9 ca", "st2", 1, "st0.1");        /* fxch st(2) */
	IS("d9 ca", "st0", 1, "st2.1");
	IS("db 28", "st0", 9, "mem0.9-9");     /* fld tbyte [rax] */
}
END_TEST

START_TEST(where_a_jump_leads_is_made_of_what_decides)
{
	IS("74 10", "pc", 0, "ZF");          /* jz */
	ck_assert_uint_eq(ops.flow, TS_OP_BRANCH);
	IS("ff e0", "pc", 0, "rax.0-7");     /* jmp rax */
	ck_assert_uint_eq(ops.flow, TS_OP_JUMP_INDIRECT);
	IS("ff 10", "pc", 0, "mem0.0-7");    /* call [rax] */
	ck_assert_uint_eq(ops.flow, TS_OP_CALL_INDIRECT);
	IS("c3", "pc", 0, "mem0.0-7");       /* ret */
	ck_assert_uint_eq(ops.flow, TS_OP_RETURN);
	IS("e8 00 00 00 00", "mem0", 0, "0x5"); /* call: the return address is 0x1005 */
	IS("e8 00 00 00 00", "mem0", 1, "0x10");
}
END_TEST

START_TEST(string_instructions_move_what_their_pointers_name)
{
	IS("a4", "mem0", 0, "mem1.0-0");            /* movsb */
	IS("a4", "rsi", 0, "rsi.0-7 DF");
	IS("f3 a4", "rdi", 0, "rdi.0-7 rcx.0-7 DF"); /* rep movsb */
	IS("f3 a4", "rcx", 0, "rcx.0-7");
	ck_assert(ops.is_repeated && ops.condition == TS_IF_COUNT);
	IS("aa", "mem0", 0, "rax.0");               /* stosb */
	IS("ac", "rax", 0, "mem0.0-0");             /* lodsb */
	IS("ac", "rax", 1, "");
	IS("f3 a6", "ZF", 0, "mem0.0-0 mem1.0-0");  /* repe cmpsb */
	IS("ae", "ZF", 0, "rax.0 mem0.0-0");        /* scasb */
	IS("ae", "rdi", 0, "rdi.0-7 DF");
}
END_TEST

/* Registers before the instruction; all are known. */
static uint8_t g[4096], known[4096];

static struct ts_op_state state_with(const char *name, uint64_t value)
{
	const struct ts_reg *r = &set.regs[ts_regset_find(&set, name)];

	memset(known, 1, sizeof(known));
	ts_arch_put(set.arch, g + r->off, r->len < 8 ? r->len : 8, value);
	return (struct ts_op_state){ .arch = set.arch, .g = g, .known = known,
				     .flags_off = (uint16_t)set.regs[set.flags].off };
}

static uint64_t addr_of(const char *hex, const char *name, uint64_t value)
{
	struct ts_op_state s = state_with(name, value);
	uint64_t addr;

	decode(hex);
	ck_assert(ts_operands_addr(&ops, 0, &s, &addr));
	return addr;
}

START_TEST(addresses_and_conditions_are_those_of_the_registers)
{
	struct ts_op_state s;
	uint64_t addr;

	memset(g, 0, sizeof(g));
	state_with("rbx", 0x100);
	ck_assert_uint_eq(addr_of("8b 44 8b 08", "rcx", 3), 0x114);           /* mov eax, [rbx + rcx * 4 + 8] */
	ck_assert_uint_eq(addr_of("8b 05 10 00 00 00", "rcx", 3), 0x1016);    /* mov eax, [rip + 0x10] */
	ck_assert_uint_eq(addr_of("50", "rsp", 0x7000), 0x6ff8);              /* push rax */
	ck_assert_uint_eq(addr_of("8f 44 24 08", "rsp", 0x7000), 0x7010);     /* pop [rsp + 8] */
	ck_assert_uint_eq(addr_of("67 e8 00 00 00 00", "rsp", UINT64_C(0x7fff00000008)), UINT64_C(0x7fff00000000)); /* addr32 call */
	ck_assert_uint_eq(addr_of("67 c3", "rsp", UINT64_C(0x7fff00000008)), UINT64_C(0x7fff00000008));  /* addr32 ret */
	ck_assert_uint_eq(addr_of("64 8b 04 25 28 00 00 00", "fs_base", 0x5000), 0x5028); /* mov eax, fs:[0x28] */
	state_with("rdi", 0x200);
	ck_assert_uint_eq(addr_of("0f a3 07", "rax", 0xffffffff), 0x1fc);     /* bt [rdi], eax */
	ck_assert_uint_eq(addr_of("0f a3 07", "rax", 33), 0x204);
	ck_assert_uint_eq(addr_of("d7", "rax", 0x77), 0x177);                 /* xlat */
	s = state_with("rcx", 0x20);
	decode("d3 e0"); /* shl eax, cl */
	ck_assert_int_eq(ts_operands_happen(&ops, &s), TS_HAPPENS_NOT);
	s = state_with("rcx", 0x21);
	ck_assert_int_eq(ts_operands_happen(&ops, &s), TS_HAPPENS);
	known[set.regs[ts_regset_find(&set, "rcx")].off] = 0;
	ck_assert_int_eq(ts_operands_happen(&ops, &s), TS_MAY_HAPPEN);
	decode("8b 44 8b 08");
	ck_assert(!ts_operands_addr(&ops, 0, &s, &addr));
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("operands");
	TCase *c = tcase_create("operands");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, moves_keep_the_place_of_a_byte);
	tcase_add_test(c, operations_take_whole_operands_and_bitwise_ones_bytes);
	tcase_add_test(c, what_the_processor_or_the_system_gives_is_no_constant);
	tcase_add_test(c, vectors_move_bytes_and_work_on_lanes);
	tcase_add_test(c, the_x87_stack_moves);
	tcase_add_test(c, where_a_jump_leads_is_made_of_what_decides);
	tcase_add_test(c, string_instructions_move_what_their_pointers_name);
	tcase_add_test(c, addresses_and_conditions_are_those_of_the_registers);
	suite_add_tcase(suite, c);
	return suite;
}
