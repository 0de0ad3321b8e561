/* SPDX-License-Identifier: MIT */
/*
 * Programs run and recorded here (x64dbg_live.h), then loaded: every register at every position is the
 * execution's own, and so is every known byte at every sampled one.
 */
#include "unit.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"
#include "x64dbg_live.h"

extern const struct ts_loader x64dbg_loader;

#define MAX_STOPS 12000
#ifdef __SANITIZE_ADDRESS__
#define WALK_STOPS 1500
#else
#define WALK_STOPS 4000
#endif

static struct xl_run run;
static struct ts_source *src;
static struct ts_recording *rec;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	xl_fini(&run);
	q = NULL;
	tl = NULL;
	rec = NULL;
	src = NULL;
}

static void load(void)
{
	ts_error_reset(&err);
	src = ts_source_from_memory(run.w.file.data, run.w.file.len, "live", &err);
	rec = ts_loader_open(&x64dbg_loader, src, NULL, &err);
	ck_assert_msg(rec, "0x%" PRIx64 ": %s", err.off, err.text);
	tl = ts_timeline_new(rec, NULL, &err);
	ck_assert_ptr_nonnull(tl);
	while (ts_timeline_grow(tl, 1 << 20, &err) == TS_MORE)
		;
	ck_assert_msg(tl->damage.code == TS_OK, "0x%" PRIx64 ": %s", tl->damage.off, tl->damage.text);
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
}

/* ---------------------------------------------------------------------------------------- comparison */

/* A register and where the truth is. */
struct place {
	uint32_t off, len;
	size_t truth;
	bool is_recorded;
};

static struct place places[128];

static void find_places(void)
{
	for (unsigned i = 0; i < rec->regs.n_regs; i++) {
		const struct ts_reg *r = &rec->regs.regs[i];

		places[i] = (struct place){ .off = r->off, .len = r->len };
		places[i].is_recorded = xl_reg(&run, r->name, &places[i].truth);
	}
}

static void compare_regs(size_t stop, const uint8_t *data, const uint8_t *known, uint64_t *n)
{
	const uint8_t *truth = (const uint8_t *)&run.stops[stop];

	for (unsigned i = 0; i < rec->regs.n_regs; i++) {
		const struct place *p = &places[i];

		if (p->is_recorded ? memchr(known + p->off, 0, p->len) ||
					     memcmp(data + p->off, truth + p->truth, p->len)
				   : known[p->off])
			ck_abort_msg("stop %zu: %s is not what it was", stop, rec->regs.regs[i].name);
		*n += p->is_recorded;
	}
}

static uint64_t compare_all_regs(void)
{
	uint8_t *data = calloc(2, rec->regs.g_len), *known = data + rec->regs.g_len;
	uint64_t n = 0;

	find_places();
	for (uint64_t pos = 0; pos <= tl->n_steps; pos++) {
		uint32_t thread = ts_query_thread(q, pos);

		if (rec->threads[thread].tid != run.stops[pos].tid)
			ck_abort_msg("position %" PRIu64 ": another thread", pos);
		if (!ts_query_regs(q, pos, thread, data, known, &err))
			ck_abort_msg("%s", err.text);
		compare_regs(pos, data, known, &n);
	}
	free(data);
	return n;
}

struct shares {
	uint64_t n_known, n_wrong, n_unknown;
};

/* Of a page: bytes that are known at some sample count as unknown where they are not. */
static void compare_page(uint64_t addr, uint32_t n_samples, struct shares *s)
{
	static uint8_t data[4096], known[4096], ever[4096];
	uint64_t n_ever = 0;

	memset(ever, 0, sizeof(ever));
	for (uint32_t i = 0; i < n_samples; i++) {
		const uint8_t *truth;

		if (!ts_query_mem(q, (uint64_t)i * XL_SAMPLE_STEPS, 0, addr, sizeof(data), data, known, &err))
			ck_abort_msg("%s", err.text);
		truth = memchr(known, 1, sizeof(known)) ? xl_page_at(&run, addr, i) : NULL;
		for (unsigned j = 0; truth && j < sizeof(data); j++) {
			ever[j] |= known[j];
			s->n_known += known[j];
			if (known[j] && data[j] != truth[j] && s->n_wrong++ < 4)
				printf("# sample %u: 0x%" PRIx64 " is %02x, not %02x\n", i, addr + j,
				       truth[j], data[j]);
		}
	}
	for (unsigned j = 0; j < sizeof(ever); j++)
		n_ever += ever[j];
	s->n_unknown += n_ever * n_samples;
}

static struct shares compare_memory(void)
{
	uint32_t n_samples = (uint32_t)(tl->n_steps / XL_SAMPLE_STEPS) + 1;
	struct shares s = { 0 };

	for (size_t i = 0; i < run.n_pages; i++)
		if (!i || run.pages[i].addr != run.pages[i - 1].addr)
			compare_page(run.pages[i].addr, n_samples, &s);
	s.n_unknown -= s.n_known;
	return s;
}

static void compare(const char *name)
{
	uint64_t n_regs;
	struct shares s;

	load();
	/* the last stop is not written, the last block is no step */
	ck_assert_uint_eq(tl->n_steps + 2, run.n_stops);
	n_regs = compare_all_regs();
	s = compare_memory();
	printf("# %s: %zu bytes, %" PRIu64 " positions, %" PRIu64
	       " register values right, 0 wrong; bytes known %" PRIu64 ", wrong %" PRIu64
	       " (%.3f %%), unknown %.2f %%; %u kinds of warnings\n",
	       name, run.w.file.len, tl->n_steps + 1, n_regs, s.n_known, s.n_wrong,
	       100.0 * s.n_wrong / s.n_known, 100.0 * s.n_unknown / (s.n_known + s.n_unknown),
	       rec->n_warnings);
	fflush(stdout);
	ck_assert_uint_eq(s.n_wrong, 0);
	ck_assert_uint_gt(s.n_known, 4000); /* some were asked for: half as many under the sanitizers */
}

/* ---------------------------------------------------------------------------------------- programs */

static const struct xw_era eras[4] = { { false, false }, { true, false }, { true, true }, { false, true } };

static void walk(const char *name, bool is_64, int era)
{
	char path[4200], text[64];

	/* the bundled program is not executable in a released tree */
	snprintf(path, sizeof(path), "cp '%s' prog && chmod +x prog", unit_data_path(name));
	ck_assert_int_eq(system(path), 0);
	if (!xl_run(&run, "./prog", NULL, is_64, eras[era], WALK_STOPS) || run.n_stops < 1000) {
		printf("# %s cannot be run or traced here\n", name);
		return;
	}
	snprintf(text, sizeof(text), "%s, hidden operands %d", name, eras[era].has_hidden);
	compare(text);
}

START_TEST(a_64_bit_program_is_what_it_was)
{
	walk("usercorn/x64_walk.elf", true, _i);
}
END_TEST

START_TEST(a_32_bit_program_is_what_it_was)
{
	walk("usercorn/x86_walk.elf", false, _i);
}
END_TEST

START_TEST(a_program_with_doubles_is_what_it_was)
{
	walk("usercorn/x64_fpu.elf", true, _i);
}
END_TEST

/* Two threads of plain code; nothing of a library may run in the second. */
static volatile unsigned turns, is_over;
static unsigned shared[64];
static char stack[16384] __attribute__((aligned(64)));

#define PLAIN __attribute__((noinline, no_sanitize("address", "undefined"), no_stack_protector))

PLAIN static void count(unsigned seed, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		__asm__ volatile("lock xaddl %0, %1" : "+r"(seed), "+m"(shared[seed % 64]) : : "memory");
		turns++;
	}
}

PLAIN static int second(void *arg)
{
	(void)arg;
	count(17, 100);
	is_over = 1;
	for (;;)
		__asm__ volatile("syscall" : : "a"(60), "D"(0) : "rcx", "r11", "memory");
	return 0;
}

/* Not by way of a library, which has much to do then. */
PLAIN static void leave(void)
{
	for (;;)
		__asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
}

/* Instructions of which slots say too much, too little, or something false. */
PLAIN static void oddities(void)
{
	static uint8_t area[4096] __attribute__((aligned(64)));
	static const float ones[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	register uint8_t *p __asm__("r8") = area + 1024;
	register const float *from __asm__("r9") = ones;

	__asm__ volatile(
		"lea -256(%%rsp), %%rsp\n" /* below what the compiler keeps there */
		"mov $0x1122334455667788, %%rax\n mov %%rax, (%0)\n"
		"push %%rax\n pushw %%ax\n popw %%dx\n pop %%rdx\n"
		"push (%0)\n pop 8(%0)\n pushf\n pop %%rdx\n"
		"push %%rax\n push %%rdx\n pop (%%rsp)\n pop %%rdx\n"
		"fld1\n fldz\n fstpt 16(%0)\n fldpi\n fstpt 32(%0)\n fnstenv 48(%0)\n fldenv 48(%0)\n fstpl "
		"80(%0)\n"
		"fxsave 256(%0)\n fldl 80(%0)\n fxrstor 256(%0)\n"
		"movl $1000, %%edx\n btsl %%edx, (%0)\n btcq %%rdx, (%0)\n btl %%edx, (%0)\n movq $-77, "
		"%%rdx\n btrq %%rdx, (%0)\n"
		"prefetcht0 0\n nopl 0(%%rax)\n lea 0, %%rdx\n"
		"movq %0, %%rdi\n mov %0, %%rsi\n add $700, %%rdi\n mov $9, %%ecx\n rep movsb\n xor %%ecx, "
		"%%ecx\n rep stosb\n"
		"std\n mov $3, %%ecx\n rep stosq\n cld\n movsb\n lodsw\n stosl\n mov %0, %%rsi\n mov %0, "
		"%%rdi\n mov $5, %%ecx\n repe cmpsb\n"
		"mov $7, %%al\n xor %%edx, %%edx\n cmpxchg %%dl, 3(%0)\n xor %%eax, %%eax\n cmpxchg16b (%0)\n"
		"cmove (%0), %%rdx\n cmovne (%0), %%rdx\n"
		"push %%rbp\n mov %%rsp, %%rbp\n enter $32, $0\n mov %%rax, -8(%%rbp)\n leave\n enter $16, "
		"$3\n leave\n pop %%rbp\n"
		"movups (%1), %%xmm7\n movups %%xmm7, 901(%0)\n pcmpeqd %%xmm6, %%xmm6\n psrldq $5, %%xmm6\n"
		"lea 930(%0), %%rdi\n maskmovdqu %%xmm6, %%xmm7\n"
		"xor %%edx, %%edx\n call 1f\n1: pop %%rcx\n call 2f\n jmp 3f\n2: ret\n3:\n"
		"mov $2, %%al\n mov %0, %%rbx\n xlatb\n lea 256(%%rsp), %%rsp\n"
		:
		: "r"(p), "r"(from)
		: "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "xmm6", "xmm7", "memory", "cc");
	if (__builtin_cpu_supports("avx2"))
		__asm__ volatile(
			"vmovups (%1), %%ymm3\n vmovups %%ymm3, 1001(%0)\n vpcmpeqd %%ymm2, %%ymm2, %%ymm2\n"
			"vpsrldq $4, %%ymm2, %%ymm2\n vmaskmovps %%ymm3, %%ymm2, 1100(%0)\n vmaskmovps (%0), "
			"%%ymm2, %%ymm4\n"
			"vzeroupper\n"
			:
			: "r"(p), "r"(from)
			: "xmm2", "xmm3", "xmm4", "memory");
}

PLAIN static void odd_work(void)
{
	for (unsigned i = 0; i < 20; i++)
		oddities();
	leave();
}

START_TEST(odd_instructions_do_what_they_did)
{
	if (xl_run(&run, NULL, odd_work, true, eras[_i], MAX_STOPS) && run.n_stops > 1000)
		compare(eras[_i].has_hidden ? "odd instructions, hidden operands 1"
					    : "odd instructions, hidden operands 0");
}
END_TEST

PLAIN static void threaded_work(void)
{
	clone(second, stack + sizeof(stack),
	      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
	count(3, 100);
	while (!is_over)
		turns++;
	leave();
}

/*
 * The blocks whose thread id nothing announces: the thread has changed, and neither is the block one with all
 * registers nor does the thread change again after it (struct xw_writer).  The last stop is not written.
 */
static unsigned count_unannounced(void)
{
	const struct xl_truth *s = run.stops;
	unsigned n = 0;

	for (size_t i = 1; i + 1 < run.n_stops; i++)
		n += s[i].tid != s[i - 1].tid && s[i].tid == s[i + 1].tid && i % 512;
	return n;
}

START_TEST(threads_are_told_apart)
{
	char text[64];

	if (!xl_run(&run, NULL, threaded_work, true, eras[_i], WALK_STOPS) || run.n_stops < 1000)
		return;
	snprintf(text, sizeof(text), "threads, hidden operands %d, flag %d", eras[_i].has_hidden,
		 eras[_i].has_flag);
	compare(text);
	ck_assert_uint_eq(rec->n_threads, 2);
	ck_assert_uint_eq(rec->n_warnings, !eras[_i].has_flag && count_unannounced());
	if (rec->n_warnings)
		ck_assert_uint_eq(rec->warnings[0].count, count_unannounced());
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("x64dbg_live");
	TCase *c = tcase_create("x64dbg_live");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, a_64_bit_program_is_what_it_was, 0, 2);
	tcase_add_loop_test(c, a_32_bit_program_is_what_it_was, 0, 2);
	tcase_add_loop_test(c, a_program_with_doubles_is_what_it_was, 1, 2);
	tcase_add_loop_test(c, odd_instructions_do_what_they_did, 0, 2);
	tcase_add_loop_test(c, threads_are_told_apart, 0, 4);
	suite_add_tcase(s, c);
	return s;
}
