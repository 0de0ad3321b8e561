/* SPDX-License-Identifier: MIT */
/*
 * Plans: frames that repeat say the same whether they are read by a plan or in the general way, whatever
 * becomes of their bytes.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bap_text.h"
#include "bap_twins.h"
#include "loaders/bap/frame_template.h"

#define X64   "3 9:64 qemu/6.2.0-tracewrap"
#define I386  "3 9:1 qemu/6.2.0-tracewrap"
#define ARM   "3 35:0 qemu/6.2.0-tracewrap"
#define A64   "3 78:0 qemu/6.2.0-tracewrap"
#define PPC   "3 23:32 qemu/6.2.0-tracewrap"
#define OLD64 "2 9:64 qemu/2.0.0/tracewrap"
#define PIN   "2 9:64 bpt/1.0"

/* A step that is recorded some times: each "$" is another digit each time.  Is there a plan for it? */
static const struct kind {
	const char *about, *header, *step;
	bool is_planned;
} kinds[] = {
	{ "registers", X64, "step 40100$ 1 4801d8 rax=$/8 rbx=7/8 > rax=1$/8", true },
	{ "flags", X64, "step 401000 1 39d8 rax=$/4 > cf=$/1.1 pf=1/1.1 zf=$/1.1 sf=0/1.1 of=$/1.1", true },
	{ "flags that are read", X64, "step 401000 1 7403 zf=$/1.1 cf=0/1.1 > rcx=$/8", true },
	{ "af is not logged", X64, "step 401000 1 31c0 > rax=$/8 zf=1/1.1 cf=$/1.1", true },
	{ "a flag twice", X64, "step 401000 1 9090 cf=$/1.1 cf=1/1.1 > rax=$/8", false },
	{ "a written flag twice", X64, "step 401000 1 9090 > cf=$/1.1 cf=1/1.1", false },
	{ "a whole flag register", X64, "step 401000 1 9d90 eflags=24$/4 > eflags=20$/4", true },
	{ "a flag register and a flag", X64, "step 401000 1 9d90 > cf=1/1.1 eflags=20$/4", false },
	{ "memory", X64, "step 401000 1 8b07 rdi=700$0/8 @700$0=0$020304 > rax=$/8 @70$00=01020$", true },
	{ "memory, high", X64, "step 401000 1 8b07 @7ffe00$0=0$ @7ffe00$0=0$ > @ffffffffffffff0$=0$02",
	  true },
	{ "memory to the end", X64, "step 401000 1 8b07 @fffffffffffffff$=00010203 > rax=$/8", true },
	{ "memory to the end of 32 bits", I386, "step 401000 1 8b07 @fffffff$=000102030405 > eax=$/4", true },
	{ "a register twice", X64, "step 401000 1 5890 rsp=$0/8 @$0=0$ rsp=$0/8 > rsp=$8/8 rsp=$9/8", true },
	{ "a register twice, contradicting itself", X64, "step 401000 1 5890 rsp=1/8 rsp=$/8 > rax=$/8",
	  true },
	{ "a system call", PIN, "call 401000 1 $ 1\nstep 401000 1 0f05 rax=$/8 > rax=0/8", false },
	{ "parts of a register", X64, "step 401000 1 8890 al=$/1 ah=1/1 bx=$/2 > al=$/1 ah=2/1 ecx=$/4",
	  true },
	{ "parts that overlap", X64, "step 401000 1 8890 al=$/1 rax=10$/8 > rax=$/8", false },
	{ "vectors", X64, "step 401000 1 0f28c1 xmm1=$/16 ymm2=$/32 > xmm0=$/16 ymm3=$/32", true },
	{ "vectors, the wide one first", X64, "step 401000 1 0f28c1 ymm2=$/32 xmm1=$/16 ymm3=$/32 > xmm0=$/16", true },
	{ "parts of a vector that overlap", X64, "step 401000 1 0f28c1 ymm2=$/32 xmm2=$/16 > xmm0=$/16", false },
	{ "a register in two lengths", X64, "step 401000 1 8890 rax=$/8 rax=1/4 > rax=$/8", false },
	{ "a flag register and another", X64, "step 401000 1 9d90 eflags=24$/4 rax=$/8 > rax=$/8", true },
	{ "a flag register twice", X64, "step 401000 1 9d90 > eflags=20$/4 eflags=20$/4", false },
	{ "a flag of a register before it", X64, "step 401000 1 9d90 > eflags=20$/4 cf=1/1.1", false },
	{ "wider than the register", X64, "step 401000 1 8890 al=$/8 > al=1$/8 cs=$/8", true },
	{ "the program counter", X64, "step 401000 1 ff20 rip=40100$/8 > rip=40200$/8", true },
	{ "no operands", X64, "step 40100$ 1 0f05", true },
	{ "no operands, unlogged results", X64, "step 40100$ 1 0fa2", true },
	{ "a multiplication", X64, "step 401000 1 48f7e3 rax=$/8 rbx=2/8 > rax=$/8 rdx=0/8 cf=0/1.1", true },
	{ "a shift", X64, "step 401000 1 48d3e0 rax=$/8 rcx=1/8 > rax=2$/8 zf=0/1.1 cf=$/1.1", true },
	{ "neg", X64, "step 401000 1 f7d8 eax=$/4 > eax=$/4 zf=0/1.1 cf=1/1.1 af=$/1.1", true },
	{ "an address of the instruction that grows", X64, "step $00000 1 89c8 eax=$/4 > ecx=$/4", true },
	{ "other threads", X64, "step 401000 $ 89c8 eax=$/4 > ecx=$/4", false },
	{ "an unknown register", X64, "step 401000 1 89c8 what=$/4 > ecx=$/4", false },
	{ "without a list after", X64, "old 401000 1 89c8 eax=$/4 ecx=$/4!", false },
	{ "many operands", X64,
	  "step 401000 1 89c8 rax=1/8 rbx=2/8 rcx=3/8 rdx=4/8 rsi=5/8 rdi=6/8 rbp=7/8 rsp=8/8 r8=9/8 r9=$/8",
	  true },
	{ "too many operands", X64, "step 401000 1 89c8 @1=1$ @2=2$ @3=3$ @4=4$ > @5=5$", false },
	{ "words of memory", OLD64, "step 401000 1 8b07 R_EAX=$/8 @70$0=01020$04 > @70$0=0$020304", true },
	{ "Pin", PIN, "step 401000 1 8b07 rax=$/8 @70$0=01020$04 > rbx=$/8 rflags=20$/8", true },
	{ "big-endian", PPC, "step 1000$0 1 7c642a14 r3=$/4 r4=2/4 @100$=0$02 > r5=$/4 crf0=$/1.4 ca=1/1.1",
	  true },
	{ "big-endian vectors", PPC, "step 100000 1 7c642a14 vr1=$/16 f1=$/8 > f2=$/8 f3=$/4 crf7=3/1.4",
	  true },
	{ "a part that clears the rest", A64, "step 1000$0 1 0b020020 w1=$/4 x2=$/8 > w0=$/4 s1=$/4 nf=1/1.1",
	  true },
	{ "ARM", ARM, "step 1000$0 1 010080e0 r0=$/4 r1=1/4 cf=1/1.1 > r0=$/4 zf=0/1.1 cf=$/1.1", false },
};

#define N_COPIES 4

static struct ts_buf file;
static uint64_t offs[N_COPIES + 1]; /* of the copies of the step, and of what follows them */

static void teardown(void)
{
	ts_buf_fini(&file);
	ts_buf_init(&file);
}

/* Lines with a digit in place of each "$". */
static void put_lines(const char *lines, char digit)
{
	char text[512];

	snprintf(text, sizeof(text), "%s\n", lines);
	for (char *p = text; (p = strchr(p, '$')) != NULL;)
		*p = digit;
	bap_text(&file, text);
}

/* A trace of the step again and again, of which the model knows something before and after. */
static void make(const struct kind *k)
{
	bap_text_line(&file, "%s", k->header);
	bap_text_line(&file, "step 10 1 9090 > @7000=00000000");
	for (unsigned i = 0; i < N_COPIES; i++) {
		offs[i] = file.len;
		put_lines(k->step, (char)('1' + i));
	}
	offs[N_COPIES] = file.len;
	ck_assert_uint_eq(offs[3] - offs[2], offs[4] - offs[3]);
	bap_text_line(&file, "step 20 1 9090 @7000=00");
}

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Read the trace in the general way and by plans; how many frames were read by a plan. */
static unsigned check_twins(const char *about, const struct bap_twins *w)
{
	uint64_t n_followed;
	const char *differs = bap_twins_differ(w, UINT64_MAX, &n_followed);

	ck_assert_msg(!differs, "%s: %s", about, differs);
	return (unsigned)n_followed;
}

START_TEST(frames_that_repeat_are_read_by_plans)
{
	for (unsigned i = 0; i < N_KINDS; i++) {
		struct bap_twins w;
		unsigned n;

		make(&kinds[i]);
		unit_seed(file.data, file.len);
		ck_assert_msg(bap_twins_open(&w, file.data, file.len), "%s", kinds[i].about);
		n = check_twins(kinds[i].about, &w);
		ck_assert_msg((n > 0) == kinds[i].is_planned, "%s: %u frames were read by a plan",
			      kinds[i].about, n);
		bap_twins_close(&w);
		teardown();
	}
}
END_TEST

/* Bit @bit of the trace is another one.  Copies of a step are equally long. */
static void flip(uint64_t bit, unsigned copy)
{
	file.data[bit / 8 + offs[copy] - offs[2]] ^= (uint8_t)(1 << bit % 8);
}

/*
 * Every bit of a frame for which there is a plan is flipped, those of its length too; then in the next copy
 * as well, which may have a plan too.
 */
START_TEST(a_frame_that_differs_anywhere_says_what_it_says_in_the_general_way)
{
	for (unsigned i = 0; i < N_KINDS; i++) {
		struct bap_twins w;

		make(&kinds[i]);
		ck_assert_msg(bap_twins_open(&w, file.data, file.len), "%s", kinds[i].about);
		for (uint64_t bit = offs[2] * 8; bit < offs[3] * 8; bit++) {
			char about[128];

			snprintf(about, sizeof(about), "%s, bit %u of byte %u", kinds[i].about,
				 (unsigned)(bit % 8), (unsigned)(bit / 8 - offs[2]));
			flip(bit, 2);
			check_twins(about, &w);
			flip(bit, 3);
			check_twins(about, &w);
			flip(bit, 2);
			flip(bit, 3);
		}
		bap_twins_close(&w);
		teardown();
	}
}
END_TEST

/* The instruction is two bytes, whose number has two bytes: they are not where they are in other frames. */
START_TEST(a_length_may_have_more_bytes_than_it_needs)
{
	static const struct kind k = { "a long length", X64, "step 401000 1 00f7e3 rax=$/8 > rax=1$/8",
				       false };
	static const uint8_t raw[] = { 0x1a, 3, 0, 0xf7, 0xe3 };
	struct bap_twins w;

	make(&k);
	for (unsigned i = 0; i < N_COPIES; i++) {
		uint8_t *at = memmem(file.data + offs[i], offs[i + 1] - offs[i], raw, sizeof(raw));

		ck_assert_ptr_nonnull(at);
		at[1] = 0x82;
	}
	ck_assert(bap_twins_open(&w, file.data, file.len));
	check_twins(k.about, &w);
	bap_twins_close(&w);
}
END_TEST

/* A trace of @n instructions; each is executed once in each round, with the same values. */
static unsigned check_rounds(unsigned n, unsigned n_rounds)
{
	struct bap_twins w;
	unsigned n_followed;

	bap_text_line(&file, X64);
	for (unsigned i = 0; i < n * n_rounds; i++)
		bap_text_line(&file, "step 401000 1 b8%06x rbx=1/8 > rax=2/8", i % n);
	ck_assert(bap_twins_open(&w, file.data, file.len));
	n_followed = check_twins("rounds", &w);
	bap_twins_close(&w);
	teardown();
	return n_followed;
}

START_TEST(plans_are_kept_while_others_are_made)
{
	ck_assert_uint_eq(check_rounds(2000, 3), 4000);
}
END_TEST

/* More instructions than plans are kept: those of each round are dropped before they are met again. */
START_TEST(so_many_plans_that_all_are_dropped)
{
	ck_assert_uint_lt(check_rounds(9000, 2), 9000);
}
END_TEST

/* Each of three instructions comes after each other one, and after itself. */
START_TEST(plans_are_followed_in_any_order)
{
	static const char order[] = "abcabcaabbccbacbacaab";
	static const char *const from[] = { "rbx", "rcx", "rsi" }, *const to[] = { "rax", "rdx", "rdi" };
	struct bap_twins w;

	bap_text_line(&file, X64);
	for (unsigned i = 0; order[i]; i++)
		bap_text_line(&file, "step 401000 1 b8%02x %s=%x/8 > %s=%x/8", order[i], from[order[i] - 'a'], i,
			      to[order[i] - 'a'], i * 2);
	ck_assert(bap_twins_open(&w, file.data, file.len));
	ck_assert_uint_eq(check_twins("order", &w), sizeof(order) - 1 - 3);
	bap_twins_close(&w);
}
END_TEST

/* Identifiers of one byte to ten, some of which begin as others do.  A thread's second frame has a plan. */
START_TEST(threads_take_turns)
{
	static const uint64_t ids[] = { 1, 2, 1, 0x81, 0x4081, 0x81, 0x4081, UINT64_MAX, 0x4081, UINT64_MAX - 1 };
	const unsigned n = sizeof(ids) / sizeof(ids[0]);
	struct bap_twins w;

	bap_text_line(&file, X64);
	for (unsigned i = 0; i < 4 * n; i++)
		bap_text_line(&file, "step 401000 %" PRIx64 " b801 rbx=%x/8 > rax=1/8", ids[i / 2 % n], i);
	ck_assert(bap_twins_open(&w, file.data, file.len));
	ck_assert_uint_eq(check_twins("threads", &w), 2 * n);
	bap_twins_close(&w);
}
END_TEST

UNIT_FIXTURE_SUITE("bap_plan", NULL, teardown, frames_that_repeat_are_read_by_plans,
		   a_frame_that_differs_anywhere_says_what_it_says_in_the_general_way,
		   a_length_may_have_more_bytes_than_it_needs, plans_are_kept_while_others_are_made,
		   so_many_plans_that_all_are_dropped, plans_are_followed_in_any_order, threads_take_turns)
