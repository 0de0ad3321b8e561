/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames, read from decode points, and in any form that says the same.
 */
#include "unit.h"

#include <string.h>

#include "bap_bytes.h"

/* ------------------------------------------------------------------------------------------ decode points */

/* A longer trace of two threads with flags, parts and contradictions. */
static struct ts_buf mixed(unsigned n)
{
	static const char *const regs[] = { "RAX", "RBX", "EAX", "AL", "RSI" };
	static const uint8_t lens[] = { 8, 8, 4, 1, 8 };
	static const char *const flags[] = { "CF", "PF", "AF", "ZF", "SF", "OF" };
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };
	uint32_t seed = 1;

	for (unsigned i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		reg_op(&pre, regs[seed >> 8 & 3], seed >> 20 & 3, lens[seed >> 8 & 3], false);
		if (seed >> 12 & 1)
			operand(&pre, flags[(seed >> 16) % 6], 0, 1, true, false,
				seed >> 24 & 1 ? "\1" : "\0", 1);
		reg_op(&post, regs[(seed >> 10) % 5], seed >> 18 & 7, lens[(seed >> 10) % 5], true);
		if (seed >> 13 & 1)
			operand(&post, flags[(seed >> 15) % 6], 0, 1, false, true,
				seed >> 25 & 1 ? "\1" : "\0", 1);
		if (seed >> 14 & 1)
			mem_op(&post, 0x5000 + (seed >> 27), "\1\2\3\4", 4, true);
		std_frame(&file, 0x1000 + i % 50, 1 + (seed >> 28) % 2, "\x90", i % 7 ? 1 : 0, &pre, &post);
		if (i % 60 == 59)
			modload(&file, "/lib/m.so", 0x10000 * i, 0x10000 * i + 0xfff);
	}
	return file;
}

/*
 * All registers before each instruction, most of which are what they were: some change unseen, some results
 * do not show, some registers are parts of others and contradict them, some lists lack one or have another
 * order.  Every second
 * list has fields that nobody knows if @is_restless, so that none is like the one before.
 */
static struct ts_buf snapshots(unsigned n, bool is_restless)
{
	static const struct {
		const char *name;
		uint8_t len;
	} regs[] = { { "eax", 4 }, { "ax", 2 },	    { "ecx", 4 },    { "al", 1 },
		     { "esp", 4 }, { "eip", 4 },    { "st0", 10 },   { "xmm0", 16 },
		     { "edx", 4 }, { "nobody", 4 }, { "eflags", 4 }, { "cf", 1 } };
	static const uint8_t order[] = { 2, 1, 0, 3, 8, 5, 6, 7, 4, 9, 10, 11 };
	const unsigned n_regs = sizeof(regs) / sizeof(regs[0]);
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	uint8_t values[12][16] = { { 0 } };
	uint32_t seed = 7;

	header(&file, 3, 9, 0);
	meta(&file, "plugin", "1", "/bin/prog");
	for (unsigned i = 0; i < n; i++) {
		unsigned changed, written, absent;

		seed = seed * 1103515245 + 12345;
		changed = (seed >> 8) % (4 * n_regs);
		written = (seed >> 14) % n_regs;
		absent = (seed >> 20) % (16 * n_regs);
		if (changed < n_regs)
			values[changed][(seed >> 24) % regs[changed].len] ^= 1;
		has_unknown_fields = is_restless && i % 2;
		for (unsigned j = 0; j < n_regs; j++) {
			unsigned k = seed >> 27 == 0 ? order[j] : j;

			if (k != absent)
				operand(&pre, regs[k].name, 0, regs[k].len * 8, true, false, values[k],
					regs[k].len);
		}
		mem_op(&pre, 0x5000, "\1\2\3\4", 4, false);
		values[written][0] ^= (uint8_t)(seed >> 26);
		operand(&post, regs[written].name, 0, regs[written].len * 8, false, true, values[written],
			regs[written].len);
		if (seed >> 29 == 0)
			values[written][0] ^= (uint8_t)(seed >> 26);
		std_frame(&file, 0x1000 + i % 50, (seed >> 24) % 64 == 0, "\x90", 1, &pre, &post);
	}
	has_unknown_fields = false;
	return file;
}

/* All steps of a file. */
static struct ts_steps steps_of(const struct ts_buf *file)
{
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_from_memory(file->data, file->len, "test", &err);
	struct ts_recording *rec = ts_loader_open(&bap_loader, src, NULL, &err);
	struct ts_reader *reader;
	struct ts_steps all;

	ck_assert_msg(rec != NULL, "%s", err.text);
	reader = rec->ops->reader(rec, &err);
	ts_steps_init(&all);
	while (reader->ops->next(reader, &all, &err) == TS_ITEM)
		;
	ts_reader_close(reader);
	ts_recording_close(rec);
	ts_source_close(src);
	return all;
}

/* Two files with @n steps each say the same. */
static void check_same(const struct ts_buf *one, const struct ts_buf *other, uint32_t n)
{
	struct ts_steps a = steps_of(one), b = steps_of(other);

	ck_assert_uint_eq(a.n_steps, n);
	ck_assert_uint_eq(b.n_steps, n);
	ck_assert_uint_eq(a.n_effects, b.n_effects);
	ck_assert_uint_eq(a.n_data, b.n_data);
	ck_assert_int_eq(memcmp(a.data, b.data, a.n_data), 0);
	for (uint32_t i = 0; i < a.n_effects; i++) {
		ck_assert_int_eq(a.effects[i].kind, b.effects[i].kind);
		ck_assert_uint_eq(a.effects[i].addr, b.effects[i].addr);
		ck_assert_uint_eq(a.effects[i].len, b.effects[i].len);
	}
	ts_steps_fini(&a);
	ts_steps_fini(&b);
}

/* What recorders write is recognized at a glance; the schema has to find the same. */
START_TEST(operands_of_any_form_say_the_same)
{
	struct ts_buf usual = mixed(500), other;

	has_unknown_fields = true;
	other = mixed(500);
	has_unknown_fields = false;
	ck_assert_uint_gt(other.len, usual.len + 1000);
	check_same(&usual, &other, 500);
	ts_buf_fini(&usual);
	ts_buf_fini(&other);
}
END_TEST

/* What a list repeats of the one before is passed over; a list that is never like the one before is not. */
START_TEST(lists_that_repeat_say_what_others_do)
{
	struct ts_buf usual = snapshots(3000, false), other = snapshots(3000, true);
	struct loaded l = loaded(&usual);
	unsigned n_nobody = 0;

	check_same(&usual, &other, 3000);
	for (unsigned i = 0; i < l.rec->n_warnings; i++)
		if (strstr(l.rec->warnings[i].text, "nobody"))
			n_nobody += (unsigned)l.rec->warnings[i].count;
	ck_assert_uint_gt(n_nobody, 2900); /* oddities are counted as often as they come */
	unload(&l);
	ts_buf_fini(&usual);
	ts_buf_fini(&other);
}
END_TEST

START_TEST(damage_is_no_repetition)
{
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	struct loaded l;

	header(&file, 3, 9, 0);
	meta(&file, "plugin", "1", "/bin/prog");
	for (unsigned i = 0; i < 3; i++) {
		reg_op(&pre, "cf", 1, 1, false); /* a flag: it is looked at each time */
		if (i == 2)
			pre.data[0] = 0;
		std_frame(&file, 0x1000, 0, "\x90", 1, &pre, &post);
	}
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 2);
	ck_assert_int_eq(l.tl->damage.code, TS_ECORRUPT);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(what_is_shown_again_counts_when_something_else_was_written)
{
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	struct loaded l;

	header(&file, 3, 9, 0);
	meta(&file, "plugin", "1", "/bin/prog");
	for (unsigned i = 0; i < 6; i++) {
		reg_op(&pre, "ecx", 7, 4, false);
		reg_op(&pre, "eax", 1, 4, false);
		if (i == 2)
			reg_op(&post, "eax", 5, 4, true);
		std_frame(&file, 0x1000, 0, "\x90", 1, &pre, &post);
	}
	l = loaded(&file);
	check_reg(&l, 2, 0, "eax", 1);
	check_reg(&l, 3, 0, "eax", 5); /* the result, though the list before the next one has the old value */
	check_reg(&l, 6, 0, "eax", 1); /* but the one after that is believed */
	check_reg(&l, 6, 0, "ecx", 7);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* More than the reader remembers of one instruction, the first register again behind them. */
START_TEST(a_register_written_twice_by_many_writes_is_resumed_as_written)
{
	static const char *const regs[] = { "RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "R8",
					    "R9",  "R10", "R11", "R12", "R13", "R14", "R15", "RAX" };
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };

	for (uint64_t i = 0; i < 1030; i++) {
		if (i)
			reg_op(&pre, "RAX", i, 8, false);
		for (unsigned k = 0; k < 17; k++)
			reg_op(&post, regs[k], i + 1, 8, true);
		std_frame(&file, 0x1000, 1, "\x90", 1, &pre, &post);
	}
	check_resuming(&file, 1030);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(a_resumed_reader_goes_on_as_the_first_one_did)
{
	struct ts_buf file = mixed(1500), other = snapshots(1500, false);

	check_resuming(&file, 1500);
	check_resuming(&other, 1500);
	ts_buf_fini(&other);
	ts_buf_fini(&file);
}
END_TEST

UNIT_SUITE("bap_points", operands_of_any_form_say_the_same, lists_that_repeat_say_what_others_do,
	   damage_is_no_repetition, what_is_shown_again_counts_when_something_else_was_written,
	   a_register_written_twice_by_many_writes_is_resumed_as_written,
	   a_resumed_reader_goes_on_as_the_first_one_did)
