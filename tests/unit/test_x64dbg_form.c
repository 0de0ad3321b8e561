/* SPDX-License-Identifier: MIT */
/*
 * Forms of blocks of x64dbg: what is read by a form is what is read without one, and other bytes have another
 * form.
 */
#include "unit.h"

#include <string.h>

#include "loaders/loader.h"
#include "loaders/x64dbg/form.h"
#include "src/trace/reader.h"
#include "x64dbg_writer.h"

extern const struct ts_loader x64dbg_loader;

enum { RAX = 0, RCX = 1, FLAGS = 17 };

static struct x64dbg_layout layout;
static struct ts_regset regs;
static struct ts_error err;
static struct ts_buf bytes;

static void setup(void)
{
	ck_assert(ts_regset_init(&regs, ts_arch_find("x86_64"), 0x7f, &err));
	x64dbg_layout_init(&layout, true, &regs);
	ts_buf_init(&bytes);
}

static void teardown(void)
{
	ts_buf_fini(&bytes);
	ts_regset_fini(&regs);
}

/* The block's bytes, and as many after them as a reader may look at. */
static const uint8_t *write(const struct xw_block *b)
{
	static const uint8_t after[X64DBG_MAX_BLOCK + X64DBG_SLACK];

	ts_buf_reset(&bytes);
	xw_put_block(&bytes, true, b);
	ts_buf_put(&bytes, after, sizeof(after));
	return bytes.data;
}

static struct x64dbg_block read_whole(const uint8_t *p)
{
	struct x64dbg_block b = { 0 };

	ck_assert_msg(x64dbg_block_read(&b, p, X64DBG_MAX_BLOCK, &layout, false, &err), "%s", err.text);
	return b;
}

static struct x64dbg_form form_of(const struct xw_block *b)
{
	struct x64dbg_form f = { 0 };
	const uint8_t *p = write(b);
	struct x64dbg_block whole = read_whole(p);

	x64dbg_form_take(&f, p, &whole, &layout);
	return f;
}

static bool has_form(const struct x64dbg_form *f, const struct xw_block *b)
{
	struct x64dbg_block read;

	return x64dbg_form_read(f, b->opcode, &read, write(b), &layout);
}

static struct xw_block mov(uint64_t pc, uint64_t rcx)
{
	struct xw_block b = xw_insn(true, pc, "\x48\x8b\x03", 3);

	xw_reg(&b, RCX, rcx);
	return b;
}

START_TEST(a_block_that_has_the_form_is_read_as_without_one)
{
	struct xw_block b = mov(0x1000, 7), again = mov(0x123456789abc, 0xfedcba9876543210);
	struct x64dbg_block read, whole;
	struct x64dbg_form f;
	const uint8_t *p;

	xw_mem(&b, 0x2000, 5, 5);
	xw_mem(&b, 0x3000, 5, 6);
	f = form_of(&b);
	xw_mem(&again, 0x4000, 1, 2);
	xw_mem(&again, 0x5000, 3, 3);
	p = write(&again);
	memset(&read, 0xff, sizeof(read));
	ck_assert(x64dbg_form_read(&f, again.opcode, &read, p, &layout));
	whole = read_whole(p);
	ck_assert_uint_eq(read.len, whole.len);
	ck_assert_uint_eq(read.tid, whole.tid);
	ck_assert(!read.has_tid && !read.is_flagged && read.is_strict && read.has_pc);
	ck_assert_uint_eq(read.n_opcode, whole.n_opcode);
	ck_assert_uint_eq(read.n_regs, 2);
	ck_assert_uint_eq(read.n_mem, 2);
	ck_assert_uint_eq(read.pc, 0x123456789abc);
	ck_assert_mem_eq(read.opcode, whole.opcode, 16);
	ck_assert_mem_eq(read.slots, whole.slots, 2);
	ck_assert_mem_eq(read.values, whole.values, 16);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(read.mem[i].addr, again.mem[i].addr);
		ck_assert_uint_eq(read.mem[i].old, again.mem[i].old);
		ck_assert_uint_eq(read.mem[i].now, again.mem[i].now);
	}
}
END_TEST

START_TEST(other_code_other_registers_and_other_lengths_are_another_form)
{
	struct xw_block b = mov(0x1000, 7), other;
	struct x64dbg_form f = form_of(&b), none = { 0 };

	ck_assert(has_form(&f, &b));
	for (unsigned i = 0; i < 3; i++) {
		other = b;
		other.opcode[i] ^= 1;
		ck_assert_msg(!has_form(&f, &other), "byte %u of the instruction", i);
	}
	other = b;
	other.n_opcode++;
	ck_assert(!has_form(&f, &other));
	other = mov(0x1000, 7);
	xw_reg(&other, FLAGS, 1);
	ck_assert(!has_form(&f, &other));
	other = xw_insn(true, 0x1000, "\x48\x8b\x03", 3);
	xw_reg(&other, RAX, 7);
	ck_assert(!has_form(&f, &other));
	other = b;
	xw_mem(&other, 0x2000, 1, 1);
	ck_assert(!has_form(&f, &other));
	other = b;
	other.has_tid = other.is_flagged = true;
	ck_assert(!has_form(&f, &other));
	ck_assert(!has_form(&none, &b));
}
END_TEST

/* Four bytes 0 are no block, and they are all that an empty form has. */
START_TEST(zeros_have_no_form)
{
	static const uint8_t zeros[X64DBG_MAX_BLOCK + X64DBG_SLACK];
	const struct x64dbg_form none = { 0 };
	struct x64dbg_block read;

	ck_assert(!x64dbg_form_read(&none, zeros, &read, zeros, &layout));
}
END_TEST

/*
 * The longest form has all 15 bytes of an instruction, and 5 registers with the program counter; 8 are the
 * most.
 */
START_TEST(a_form_is_bounded)
{
	struct xw_block b = xw_insn(true, 0x1000, "ffffffffffffff\x90", 15),
			many = xw_insn(true, 0x1000, "\x90", 1);
	struct x64dbg_form f;

	for (unsigned i = 0; i < 4; i++)
		xw_reg(&b, i, i);
	f = form_of(&b);
	ck_assert(has_form(&f, &b));
	b.opcode[14] ^= 1;
	ck_assert(!has_form(&f, &b));
	xw_reg(&b, 4, 4);
	f = form_of(&b);
	ck_assert(!f.a && !has_form(&f, &b));
	for (unsigned i = 0; i < 7; i++)
		xw_reg(&many, i, i);
	f = form_of(&many);
	ck_assert(has_form(&f, &many));
	xw_reg(&many, 7, 7);
	f = form_of(&many);
	ck_assert(!f.a && !has_form(&f, &many));
}
END_TEST

/* --------------------------------------------------------------------------------------- whole recordings */

static uint32_t seed;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/*
 * One of a few instructions at one of a few places, which change what is there: like code that is written
 * anew.
 */
static struct xw_block any_block(bool is_64)
{
	static const char *const codes[] = { "\x90",     "\xf8", "\x8b\x03", "\x89\x03",
					     "\xff\xe0", "\xa4", "\x8b\x0b" };
	bool is_plain = pick(3); /* so that the same comes again soon */
	const char *code = codes[pick(is_plain ? 2 : 7)];
	struct xw_block b = xw_insn(is_64, 0x1000 + pick(4), code, (unsigned)strlen(code));

	for (unsigned i = 0; i < 3 && !is_plain; i++) {
		if (pick(3))
			xw_reg(&b, i, pick(4));
	}
	for (unsigned i = is_plain ? 0 : pick(3); i; i--)
		xw_mem(&b, 0x2000 + 8 * pick(3), pick(2), pick(2));
	if (!pick(5)) {
		b.has_tid = b.is_flagged = true;
		b.tid = 100 + !pick(4);
	}
	return b;
}

/* The same blocks at the file's end, where none is read by a form, or, with @is_far, far from it. */
static void decode(struct ts_steps *steps, bool is_64, bool is_far)
{
	static const uint8_t text[X64DBG_MAX_BLOCK];
	struct xw_block b = xw_insn(is_64, 0x1000, "\x90", 1);
	struct ts_recording *rec;
	struct ts_source *src;
	struct ts_reader *r;

	ts_buf_reset(&bytes);
	xw_head(&bytes, is_64, NULL);
	b = xw_full(is_64, &b, 100);
	xw_put_block(&bytes, is_64, &b);
	for (unsigned i = 0; i < 20; i++) {
		b = any_block(is_64);
		xw_put_block(&bytes, is_64, &b);
	}
	if (is_far)
		xw_user_block(&bytes, 0x80, text, sizeof(text));
	src = ts_source_from_memory(bytes.data, bytes.len, "test", &err);
	rec = ts_loader_open(&x64dbg_loader, src, NULL, &err);
	ck_assert_msg(rec, "%s", err.text);
	r = rec->ops->reader(rec, &err);
	ck_assert_ptr_nonnull(r);
	while (ts_reader_next(r, steps, &err) == TS_ITEM)
		;
	ck_assert_msg(err.code == TS_OK, "%s", err.text);
	ts_reader_close(r);
	ts_recording_close(rec);
	ts_source_close(src);
}

START_TEST(recordings_are_the_same_with_forms_and_without)
{
	for (uint32_t i = 0; i < 200; i++) {
		struct ts_steps with, without;

		ts_steps_init(&with);
		ts_steps_init(&without);
		seed = i;
		decode(&without, i % 2, false);
		seed = i;
		decode(&with, i % 2, true);
		ck_assert_uint_eq(with.n_steps, without.n_steps);
		ck_assert_uint_eq(with.n_effects, without.n_effects);
		ck_assert_uint_eq(with.n_data, without.n_data);
		ck_assert_mem_eq(with.data, without.data, with.n_data);
		for (uint32_t k = 0; k < with.n_steps; k++) {
			ck_assert_uint_eq(with.steps[k].pc, without.steps[k].pc);
			ck_assert_uint_eq(with.steps[k].thread, without.steps[k].thread);
			ck_assert_uint_eq(with.steps[k].n_effects, without.steps[k].n_effects);
			ck_assert_uint_eq(with.steps[k].insn_len, without.steps[k].insn_len);
		}
		for (uint32_t k = 0; k < with.n_effects; k++) {
			ck_assert_int_eq(with.effects[k].kind, without.effects[k].kind);
			ck_assert_uint_eq(with.effects[k].addr, without.effects[k].addr);
			ck_assert_uint_eq(with.effects[k].len, without.effects[k].len);
			ck_assert_uint_eq(with.effects[k].data, without.effects[k].data);
			ck_assert_uint_eq(with.effects[k].item, without.effects[k].item);
			ck_assert_int_eq(with.effects[k].is_hidden, without.effects[k].is_hidden);
		}
		ts_steps_fini(&with);
		ts_steps_fini(&without);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("x64dbg_form", setup, teardown, a_block_that_has_the_form_is_read_as_without_one,
		   other_code_other_registers_and_other_lengths_are_another_form, zeros_have_no_form,
		   a_form_is_bounded, recordings_are_the_same_with_forms_and_without)
