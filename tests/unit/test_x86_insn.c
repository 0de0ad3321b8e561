/* SPDX-License-Identifier: MIT */
/*
 * Instructions of x86.  Encodings and what they do are those of the processor's manual.
 */
#include "unit.h"

#include "src/arch/x86_insn.h"
#include "src/base/error.h"

#include <stdio.h>

static struct ts_regset set64, set32;
static struct ts_x86 x64, x32;
static struct ts_x86_insn insn;
static struct ts_x86_results results;

static void init(struct ts_regset *set, struct ts_x86 *x, const char *name)
{
	const struct ts_arch *arch = ts_arch_find(name);
	struct ts_error err = { 0 };
	uint32_t features = 1u << ts_arch_feature(arch, "org.gnu.gdb.i386.sse") |
			    1u << ts_arch_feature(arch, "org.gnu.gdb.i386.avx");
	int segments = ts_arch_feature(arch, "org.gnu.gdb.i386.segments");

	if (segments >= 0)
		features |= 1u << segments;
	ck_assert(ts_regset_init(set, arch, features, &err));
	ts_x86_init(x, set);
}

static void setup(void)
{
	init(&set64, &x64, "x86_64");
	init(&set32, &x32, "i386");
}

static void teardown(void)
{
	ts_regset_fini(&set64);
	ts_regset_fini(&set32);
}

/* The bytes of @hex in @bytes; returns how many. */
static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	unsigned b;

	for (; sscanf(hex, "%2x", &b) == 1; hex += hex[2] ? 3 : 2)
		bytes[n++] = (uint8_t)b;
	return n;
}

static void decode(const struct ts_x86 *x, uint64_t pc, const char *hex)
{
	uint8_t bytes[16];
	size_t n = bytes_of(hex, bytes);

	ck_assert_msg(ts_x86_decode(x, pc, bytes, n, &insn), "%s", hex);
	ck_assert_msg(ts_x86_results(x, bytes, n, &results), "%s", hex);
	ck_assert_uint_eq(insn.len, n);
	ck_assert_uint_eq(ts_x86_length(x, bytes, n), n);
}

/* Are bytes [@at, @at + @len) of the register @name written? */
static bool writes(const struct ts_regset *set, const char *name, unsigned at, unsigned len)
{
	int i = ts_regset_find(set, name);

	ck_assert_msg(i >= 0, "no %s", name);
	for (unsigned k = 0; k < results.n; k++)
		if (results.fields[k].off == set->regs[i].off + at && results.fields[k].len == len)
			return true;
	return false;
}

static void is_memory(unsigned i, unsigned size, unsigned access)
{
	ck_assert_uint_lt(i, insn.n_mem);
	ck_assert_uint_eq(insn.mem[i].size, size);
	ck_assert_uint_eq(insn.mem[i].access, access);
}

enum { R = TS_X86_READ, W = TS_X86_WRITE, IR = TS_X86_IF_READ, IW = TS_X86_IF_WRITE };
enum { CF = 1, PF = 4, AF = 0x10, ZF = 0x40, SF = 0x80, DF = 0x400, OF = 0x800 };

START_TEST(operands_are_registers_and_memory)
{
	decode(&x64, 0x1000, "48 03 44 8b 10"); /* add rax, [rbx+rcx*4+0x10] */
	is_memory(0, 8, R);
	ck_assert(writes(&set64, "rax", 0, 8));
	ck_assert(!writes(&set64, "rbx", 0, 8));
	ck_assert(!writes(&set64, "rcx", 0, 8));
	ck_assert_uint_eq(results.n, 1);
	ck_assert_uint_eq(results.flags, CF | PF | AF | ZF | SF | OF);
	decode(&x64, 0x1000, "48 8d 44 8b 10"); /* lea: no access, and what it computes with is data */
	ck_assert_uint_eq(insn.n_mem, 0);
	ck_assert(!writes(&set64, "rbx", 0, 8));
	ck_assert(writes(&set64, "rax", 0, 8));
}
END_TEST

START_TEST(parts_of_registers_are_their_bytes)
{
	decode(&x64, 0, "88 e0"); /* mov al, ah */
	ck_assert(writes(&set64, "rax", 0, 1));
	ck_assert(!writes(&set64, "rax", 1, 1));
	decode(&x64, 0, "01 d8"); /* add eax, ebx: clears the upper half */
	ck_assert(!writes(&set64, "rax", 0, 4));
	ck_assert(writes(&set64, "rax", 0, 8));
	ck_assert(!writes(&set64, "rbx", 0, 4));
	decode(&x32, 0, "01 d8");
	ck_assert(writes(&set32, "eax", 0, 4));
	decode(&x64, 0, "66 41 89 c7"); /* mov r15w, ax: leaves the rest */
	ck_assert(writes(&set64, "r15", 0, 2));
	decode(&x64, 0, "c5 f9 6f c1"); /* vmovdqa xmm0, xmm1 */
	ck_assert(writes(&set64, "xmm0", 0, 16));
	ck_assert(writes(&set64, "ymm0h", 0, 16));
	ck_assert(!writes(&set64, "ymm1h", 0, 16));
	decode(&x64, 0, "66 0f 6f c1"); /* movdqa xmm0, xmm1 */
	ck_assert(!writes(&set64, "ymm0h", 0, 16));
	decode(&x64, 0, "c5 fd fe c1"); /* vpaddd ymm0, ymm0, ymm1 */
	ck_assert(writes(&set64, "ymm0h", 0, 16));
	ck_assert(!writes(&set64, "ymm1h", 0, 16));
}
END_TEST

START_TEST(flags_are_written)
{
	decode(&x64, 0, "74 10"); /* je */
	ck_assert_uint_eq(results.flags, 0);
	decode(&x64, 0, "48 ff c0"); /* inc leaves the carry */
	ck_assert_uint_eq(results.flags, PF | AF | ZF | SF | OF);
	decode(&x64, 0, "48 21 c8"); /* and: the auxiliary carry is undefined */
	ck_assert_uint_eq(results.flags & AF, AF);
	ck_assert_uint_eq(results.flags & CF, CF);
	decode(&x64, 0, "fd"); /* std */
	ck_assert_uint_eq(results.flags, DF);
}
END_TEST

START_TEST(conditions_are_told_from_what_always_happens)
{
	decode(&x64, 0, "f0 48 0f b1 0b"); /* lock cmpxchg [rbx], rcx: always reads */
	is_memory(0, 8, R | W | IW);
	ck_assert(!writes(&set64, "rcx", 0, 8));
	decode(&x64, 0, "48 0f 44 03"); /* cmove rax, [rbx] */
	ck_assert(writes(&set64, "rax", 0, 8));
	decode(&x64, 0, "c4 e2 75 2e 03"); /* vmaskmovps [rbx], ymm1, ymm0 */
	is_memory(0, 32, W | IW);
	decode(&x64, 0, "0f 18 0b"); /* prefetcht0 [rbx] */
	is_memory(0, insn.mem[0].size, 0);
	decode(&x64, 0, "f3 48 ab"); /* rep stosq */
	is_memory(0, 8, W);
	ck_assert_uint_eq(insn.count_len, 8);
}
END_TEST

static uint64_t addr_of(const struct ts_regset *set, const struct ts_x86 *x, unsigned i,
			const char *const *names, const uint64_t *values, unsigned n)
{
	static uint8_t g[4096];

	memset(g, 0, sizeof(g));
	for (unsigned k = 0; k < n; k++) {
		const struct ts_reg *r = &set->regs[ts_regset_find(set, names[k])];

		ts_arch_put(set->arch, g + r->off, r->len, values[k]);
	}
	return ts_x86_mem_addr(&insn, &insn.mem[i], x, g);
}

#define ADDR(set, x, i, names, ...) \
	addr_of(&(set), &(x), i, (const char *const[])names, (const uint64_t[])__VA_ARGS__, \
		sizeof((const uint64_t[])__VA_ARGS__) / 8)
#define NAMES(...) { __VA_ARGS__ }

START_TEST(addresses_follow_from_registers)
{
	decode(&x64, 0x1000, "48 03 44 8b 10"); /* [rbx+rcx*4+0x10] */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rbx", "rcx"), { 0x2000, 3 }), 0x201c);
	decode(&x64, 0x1000, "48 8b 05 10 00 00 00"); /* mov rax, [rip+0x10] */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rax"), { 1 }), 0x1017);
	decode(&x64, 0, "67 8b 43 fc"); /* mov eax, [ebx-4] wraps at 32 bits */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rbx"), { 0x500000000 }), 0xfffffffc);
	decode(&x64, 0, "50"); /* push rax */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rsp"), { 0x8000 }), 0x7ff8);
	is_memory(0, 8, W);
	decode(&x64, 0, "58"); /* pop rax */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rsp"), { 0x8000 }), 0x8000);
	decode(&x64, 0, "8f 44 24 08"); /* pop [rsp+8]: with the stack pointer after the pop */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rsp"), { 0x8000 }), 0x8010);
	decode(&x64, 0, "48 0f a3 03"); /* bt [rbx], rax: by the signed bit number */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rbx", "rax"), { 0x2000, 130 }), 0x2010);
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rbx", "rax"), { 0x2000, UINT64_MAX }), 0x1ff8);
	decode(&x64, 0, "d7"); /* xlat */
	ck_assert_uint_eq(ADDR(set64, x64, 0, NAMES("rbx", "rax"), { 0x2000, 0x1ff }), 0x20ff);
	decode(&x32, 0, "64 a1 30 00 00 00"); /* mov eax, fs:[0x30] */
	ck_assert_uint_eq(insn.mem[0].segment, TS_X86_FS);
	ck_assert_uint_eq(ADDR(set32, x32, 0, NAMES("eax"), { 5 }), 0x30);
}
END_TEST

START_TEST(repeats_count_as_wide_as_addresses)
{
	static uint8_t g[4096];

	ts_arch_put(set64.arch, g + x64.gprs[1], 8, UINT64_C(0x100000007));
	decode(&x64, 0, "f3 a4");
	ck_assert_uint_eq(ts_x86_count(&insn, &x64, g), UINT64_C(0x100000007));
	decode(&x64, 0, "67 f3 a4");
	ck_assert_uint_eq(ts_x86_count(&insn, &x64, g), 7);
}
END_TEST

START_TEST(instructions_lead_somewhere)
{
	static const struct {
		const char *hex;
		unsigned flow;
		uint64_t target;
	} cases[] = {
		{ "90", TS_X86_NEXT, 0 },
		{ "f3 a4", TS_X86_REPEAT, 0 },
		{ "eb fe", TS_X86_JUMP, 0x1000 },
		{ "74 10", TS_X86_BRANCH, 0x1012 },
		{ "e8 00 01 00 00", TS_X86_CALL, 0x1105 },
		{ "e8 00 00 00 00", TS_X86_JUMP, 0x1005 }, /* how position-independent code finds itself */
		{ "ff d0", TS_X86_CALL_ANY, 0 },
		{ "ff e0", TS_X86_ANY, 0 },
		{ "c3", TS_X86_RETURN, 0 },
		{ "0f 05", TS_X86_ANY, 0 },
		{ "8e d0", TS_X86_ANY, 0 }, /* mov ss, eax */
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		decode(&x64, 0x1000, cases[i].hex);
		ck_assert_msg(insn.flow == cases[i].flow, "%s: %u", cases[i].hex, insn.flow);
		ck_assert_uint_eq(insn.target, cases[i].target);
	}
	decode(&x32, 0xfffffff0, "eb 20");
	ck_assert_uint_eq(insn.target, 0x12);
}
END_TEST

START_TEST(what_the_layout_lacks_is_left_out)
{
	decode(&x64, 0, "d9 c0"); /* fld st0 */
	ck_assert_uint_eq(results.n, 0);
	decode(&x64, 0, "62 e1 7d 48 6f c1"); /* vmovdqa32 zmm16, zmm1 */
	ck_assert_uint_eq(results.n, 0);
	ck_assert(!ts_x86_decode(&x64, 0, (const uint8_t *)"\x0f", 1, &insn));
	ck_assert_uint_eq(insn.len, 0);
	ck_assert_uint_eq(insn.flow, TS_X86_ANY);
	ck_assert(!ts_x86_results(&x64, (const uint8_t *)"\x06", 1, &results)); /* push es: not in 64 bits */
	ck_assert(ts_x86_results(&x32, (const uint8_t *)"\x06", 1, &results));
	ck_assert_uint_eq(ts_x86_length(&x64, (const uint8_t *)"\x06", 1), 0);
}
END_TEST

START_TEST(text_is_intels)
{
	static const uint8_t add[] = { 0x48, 0x03, 0x44, 0x8b, 0x10 }, je[] = { 0x74, 0x10 };
	char text[64];

	ck_assert(ts_x86_text(&x64, 0x1000, add, sizeof(add), text, sizeof(text)));
	ck_assert_str_eq(text, "add rax, [rbx+rcx*4+0x10]");
	ck_assert(ts_x86_text(&x64, 0x401000, je, sizeof(je), text, sizeof(text)));
	ck_assert_ptr_nonnull(strstr(text, "401012"));
	ck_assert(!ts_x86_text(&x64, 0x1000, add, sizeof(add), text, 8));
	ck_assert(!ts_x86_text(&x64, 0x1000, add, 2, text, sizeof(text)));
}
END_TEST

UNIT_FIXTURE_SUITE("x86_insn", setup, teardown, operands_are_registers_and_memory,
		   parts_of_registers_are_their_bytes, flags_are_written,
		   conditions_are_told_from_what_always_happens, addresses_follow_from_registers,
		   repeats_count_as_wide_as_addresses, instructions_lead_somewhere,
		   what_the_layout_lacks_is_left_out, text_is_intels)
