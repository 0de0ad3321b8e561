/* SPDX-License-Identifier: MIT */
/*
 * Streaks of usual blocks: whatever the bytes of a trace are, its steps are those of a reader that reads each
 * block for itself (struct x64dbg, has_no_forms).
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "loaders/x64dbg/x64dbg.h"
#include "src/source/unpack.h"
#include "src/trace/reader.h"
#include "x64dbg_writer.h"

extern const struct ts_loader x64dbg_loader;

static struct ts_buf file;
static uint32_t seed;

static void setup(void)
{
	ts_buf_init(&file);
}

static void teardown(void)
{
	ts_buf_fini(&file);
}

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* ------------------------------------------------------------------------------------------ both readers */

/* A recording of the file, and a reader of it. */
struct side {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_reader *r;
	struct ts_steps steps;
	struct ts_buf point;
	struct ts_error err;
};

/* Returns false if it is no trace. */
static bool open_side(struct side *s, bool has_no_forms)
{
	*s = (struct side){ 0 };
	ts_steps_init(&s->steps);
	ts_buf_init(&s->point);
	s->src = ts_source_from_memory(file.data, file.len, "test", &s->err);
	s->rec = ts_loader_open(&x64dbg_loader, s->src, NULL, &s->err);
	if (!s->rec)
		return false;
	((struct x64dbg *)s->rec)->has_no_forms = has_no_forms;
	s->r = s->rec->ops->reader(s->rec, &s->err);
	return s->r != NULL;
}

static void close_side(struct side *s)
{
	ts_reader_close(s->r);
	if (s->rec)
		ts_recording_close(s->rec);
	ts_source_close(s->src);
	ts_steps_fini(&s->steps);
	ts_buf_fini(&s->point);
}

static void save(struct side *s)
{
	ts_buf_reset(&s->point);
	ts_reader_save(s->r, &s->point);
}

static void compare_effects(const struct side *a, const struct side *b)
{
	ck_assert_uint_eq(a->steps.n_effects, b->steps.n_effects);
	for (uint32_t i = 0; i < a->steps.n_effects; i++) {
		const struct ts_effect *x = &a->steps.effects[i], *y = &b->steps.effects[i];

		ck_assert_int_eq(x->kind, y->kind);
		ck_assert_uint_eq(x->addr, y->addr);
		ck_assert_uint_eq(x->len, y->len);
		ck_assert_uint_eq(x->data, y->data);
		ck_assert_uint_eq(x->item, y->item);
		ck_assert_int_eq(x->is_hidden, y->is_hidden);
	}
	ck_assert_uint_eq(a->steps.n_data, b->steps.n_data);
	ck_assert_mem_eq(a->steps.data, b->steps.data, a->steps.n_data);
}

static void compare_step(const struct side *a, const struct side *b)
{
	const struct ts_step *x = a->steps.steps, *y = b->steps.steps;

	ck_assert_uint_eq(a->steps.n_steps, b->steps.n_steps);
	if (a->steps.n_steps) {
		ck_assert_uint_eq(x->pc, y->pc);
		ck_assert_uint_eq(x->thread, y->thread);
		ck_assert_uint_eq(x->n_effects, y->n_effects);
		ck_assert_uint_eq(x->insn_len, y->insn_len);
	}
	compare_effects(a, b);
	ck_assert_uint_eq(a->r->end.pc, b->r->end.pc);
	ck_assert_int_eq(a->r->end.has_pc, b->r->end.has_pc);
}

static void compare_points(struct side *a, struct side *b)
{
	save(a);
	save(b);
	ck_assert_uint_eq(a->point.len, b->point.len);
	ck_assert_mem_eq(a->point.data, b->point.data, a->point.len);
}

static enum ts_next next_step(struct side *s)
{
	ts_steps_reset(&s->steps);
	return ts_reader_next(s->r, &s->steps, &s->err);
}

/* Step by step to the end.  Returns how many there are. */
static uint64_t compare_steps(struct side *a, struct side *b)
{
	uint64_t n = 0;

	for (;; n++) {
		enum ts_next next = next_step(a);

		ck_assert_int_eq(next, next_step(b));
		compare_step(a, b);
		if (n % 16 == 0)
			compare_points(a, b);
		if (next != TS_ITEM)
			return n;
	}
}

static void compare_warnings(const struct ts_recording *a, const struct ts_recording *b)
{
	ck_assert_uint_eq(a->n_threads, b->n_threads);
	ck_assert_uint_eq(a->n_warnings, b->n_warnings);
	for (unsigned i = 0; i < a->n_warnings; i++) {
		ck_assert_str_eq(a->warnings[i].text, b->warnings[i].text);
		ck_assert_uint_eq(a->warnings[i].count, b->warnings[i].count);
	}
}

/* Read the file both ways.  Returns how many steps it has. */
static uint64_t compare(void)
{
	struct side a, b;
	bool is_open = open_side(&a, false);
	uint64_t n = 0;

	ck_assert_int_eq(is_open, open_side(&b, true));
	if (is_open) {
		n = compare_steps(&a, &b);
		compare_warnings(a.rec, b.rec);
	}
	ck_assert_int_eq(a.err.code, b.err.code);
	ck_assert_uint_eq(a.err.off, b.err.off);
	ck_assert_str_eq(a.err.text, b.err.text);
	close_side(&a);
	close_side(&b);
	return n;
}

/* --------------------------------------------------------------------------------------------- made up */

/* Instructions of a loop: what they access, where they lead; the last jumps to the first. */
static const struct {
	const char *code;
	uint8_t len;
} codes[] = {
	{ "\x90", 1 },         { "\x01\xd8", 2 },         { "\x8b\x03", 2 },     { "\x89\x43\x08", 3 },
	{ "\x50", 1 },         { "\x58", 1 },             { "\xa4", 1 },         { "\xf3\xa4", 2 },
	{ "\x74\x00", 2 },     { "\xff\xe0", 2 },         { "\xff\x33", 2 },     { "\x0f\xae\x03", 3 },
	{ "\xd9\xe8", 2 },     { "\x0f\x10\x03", 3 },     { "\x65\x8b\x03", 3 }, { "\xf0\x0f\xb1\x0b", 4 },
	{ "\x0f\x44\x03", 3 }, { "\xe8\x00\x00\x00\x00", 5 },
};
#define N_CODES (sizeof(codes) / sizeof(codes[0]))
#define MAX_LOOP 12

static struct xw_block loop[MAX_LOOP];
static unsigned n_loop;

static void list_regs(struct xw_block *b, bool is_64)
{
	unsigned max = pick(4) ? 20 : is_64 ? 172 : 216; /* the general ones and the flags; any */
	unsigned slot = pick(6);

	for (unsigned n = pick(5); n && slot < max; n--) {
		if (slot != (is_64 ? 16 : 8))
			xw_reg(b, slot, pick(8));
		slot += 1 + pick(max / 6);
	}
}

/* Its memory slots; most where the operand is, of a base register that holds little. */
static void list_mem(struct xw_block *b)
{
	for (unsigned n = pick(8) ? pick(2) : pick(4); n; n--) {
		uint64_t old = pick(4), addr = pick(4) ? pick(8) + 8 * pick(2) : 0xff8 + pick(16);

		xw_mem(b, addr, old, pick(2) ? old : pick(4));
	}
}

static void make_loop(bool is_64)
{
	uint64_t pc = 0x1000;

	n_loop = 1 + pick(MAX_LOOP);
	for (unsigned i = 0; i < n_loop; i++) {
		unsigned c = pick(N_CODES);

		loop[i] = xw_insn(is_64, pc, codes[c].code, codes[c].len);
		list_regs(&loop[i], is_64);
		list_mem(&loop[i]);
		pc += codes[c].len;
	}
}

/* The block again, with other values in the same places, or, five times in @rare, something else about it. */
static struct xw_block again(const struct xw_block *was, bool is_64, uint32_t rare)
{
	struct xw_block b = *was;

	for (unsigned i = 0; i < b.n_regs; i++)
		if (b.regs[i].slot != (is_64 ? 16u : 8u) && pick(2))
			b.regs[i].value = pick(4) ? pick(8) : UINT64_MAX - pick(8);
	for (unsigned i = 0; i < b.n_mem; i++)
		if (pick(2))
			b.mem[i].now = pick(4);
	switch (pick(rare)) {
	case 0: list_regs(&b, is_64); break;
	case 1: list_mem(&b); break;
	case 2:
		b.has_tid = b.is_flagged = true;
		b.tid = 100 + pick(2);
		break;
	case 3: b.opcode[0] ^= 1; break;
	case 4: b = xw_full(is_64, &b, 100); break;
	}
	return b;
}

/* A trace whose blocks come again and again: of a loop that is left now and then; see again(). */
static void write_loops(bool is_64, unsigned n_blocks, uint32_t rare)
{
	struct xw_block b = xw_insn(is_64, 0x1000, "\x90", 1);

	ts_buf_reset(&file);
	xw_head(&file, is_64, NULL);
	b = xw_full(is_64, &b, 100);
	xw_put_block(&file, is_64, &b);
	make_loop(is_64);
	for (unsigned i = 0; n_blocks; n_blocks--) {
		b = again(&loop[i], is_64, rare);
		xw_put_block(&file, is_64, &b);
		i = pick(40) ? (i + 1) % n_loop : pick(n_loop);
	}
}

START_TEST(loops_are_the_same_block_by_block)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < 60; i++) {
		seed = i;
		write_loops(i % 2, 300, pick(3) ? 200 : 20);
		n += compare();
	}
	ck_assert_uint_gt(n, 8000);
}
END_TEST

/* Where no block is full marks are set as steps go by. */
START_TEST(loops_go_on_over_marks_and_pieces_of_the_file)
{
	for (uint32_t i = 0; i < 4; i++) {
		seed = i;
		write_loops(i % 2, 6000, UINT32_MAX);
		ck_assert_uint_gt(compare(), 1000);
	}
}
END_TEST

START_TEST(damaged_loops_are_the_same_block_by_block)
{
	for (uint32_t i = 0; i < 60; i++) {
		size_t head;

		seed = i;
		write_loops(i % 2, 200, pick(3) ? 200 : 20);
		head = file.len / 4;
		for (unsigned n = 1 + pick(8); n; n--)
			file.data[head + pick((uint32_t)(file.len - head))] = (uint8_t)pick(256);
		compare();
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------- recorded */

static void load_sample(const char *name, size_t max)
{
	static const struct ts_unpack_options unpack;
	struct ts_error err = { 0 };
	struct ts_source *src = ts_trace_open(unit_data_path(name), &unpack, &err);
	uint8_t bytes[4096];
	size_t got = 1;

	ck_assert_msg(src, "%s", err.text);
	ts_buf_reset(&file);
	while (got && file.len < max) {
		ck_assert_msg(ts_source_read(src, file.len, bytes, sizeof(bytes), &got, &err), "%s", err.text);
		ts_buf_put(&file, bytes, got);
	}
	ts_source_close(src);
}

static const char *const samples[] = { "x64dbg-samples/fib64.trace64.gz", "x64dbg-samples/fib32.trace32.gz",
				       "x64dbg-samples/list64.trace64.gz",
				       "x64dbg-samples/threads-flagless.trace64.gz" };

START_TEST(recorded_traces_are_the_same_block_by_block)
{
	load_sample(samples[_i], 200000);
	ck_assert_uint_gt(compare(), 400);
}
END_TEST

START_TEST(damaged_traces_are_the_same_block_by_block)
{
	load_sample(samples[_i], 60000);
	seed = (uint32_t)_i;
	for (unsigned i = 0; i < 8; i++) {
		file.data[4000 + pick((uint32_t)file.len - 4000)] ^= (uint8_t)(1 + pick(255));
		compare();
	}
}
END_TEST

/* ---------------------------------------------------------------------------- other ways to go on from it */

/* After any number of steps skip() goes on from where next() stood. */
START_TEST(skipping_goes_on_from_within_a_streak)
{
	load_sample(samples[2], 200000);
	for (unsigned n = 1; n < 700; n += 37) {
		struct side a, b;

		ck_assert(open_side(&a, false) && open_side(&b, true));
		for (unsigned i = 0; i < n; i++) {
			next_step(&a);
			next_step(&b);
		}
		ck_assert_int_eq(a.r->ops->skip(a.r, 1000), b.r->ops->skip(b.r, 1000));
		compare_points(&a, &b);
		ck_assert(ts_reader_resume(a.r, a.point.data, a.point.len, &a.err));
		ck_assert(ts_reader_resume(b.r, b.point.data, b.point.len, &b.err));
		ck_assert_int_eq(next_step(&a), next_step(&b));
		compare_effects(&a, &b);
		close_side(&a);
		close_side(&b);
	}
}
END_TEST

START_TEST(resuming_leaves_a_streak)
{
	load_sample(samples[2], 200000);
	for (unsigned n = 1; n < 700; n += 37) {
		struct side a, b;

		ck_assert(open_side(&a, false) && open_side(&b, true));
		for (unsigned i = 0; i < n; i++)
			next_step(&b);
		save(&b);
		for (unsigned i = 0; i < n + 50; i++)
			next_step(&a);
		ck_assert(ts_reader_resume(a.r, b.point.data, b.point.len, &a.err));
		for (unsigned i = 0; i < 30; i++) {
			ck_assert_int_eq(next_step(&a), next_step(&b));
			compare_step(&a, &b);
		}
		close_side(&a);
		close_side(&b);
	}
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("x64dbg_streak");
	TCase *c = tcase_create("x64dbg_streak");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 300);
	tcase_add_test(c, loops_are_the_same_block_by_block);
	tcase_add_test(c, loops_go_on_over_marks_and_pieces_of_the_file);
	tcase_add_test(c, damaged_loops_are_the_same_block_by_block);
	tcase_add_loop_test(c, recorded_traces_are_the_same_block_by_block, 0, 4);
	tcase_add_loop_test(c, damaged_traces_are_the_same_block_by_block, 0, 4);
	tcase_add_test(c, skipping_goes_on_from_within_a_streak);
	tcase_add_test(c, resuming_leaves_a_streak);
	suite_add_tcase(s, c);
	return s;
}
