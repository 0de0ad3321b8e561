/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames: files made here from the format's description, whole and damaged.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

extern const struct ts_loader bap_loader;

/* ---------------------------------------------------------------------------------------- a small encoder */

static void varint(struct ts_buf *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		ts_buf_putc(b, (uint8_t)(n | 0x80));
	ts_buf_putc(b, (uint8_t)n);
}

static void number(struct ts_buf *b, unsigned field, uint64_t n)
{
	varint(b, field << 3);
	varint(b, n);
}

static void bytes(struct ts_buf *b, unsigned field, const void *data, size_t len)
{
	varint(b, field << 3 | 2);
	varint(b, len);
	ts_buf_put(b, data, len);
}

/* A message as a field of another; empties it. */
static void message(struct ts_buf *b, unsigned field, struct ts_buf *m)
{
	bytes(b, field, m->data, m->len);
	ts_buf_fini(m);
	ts_buf_init(m);
}

static void u64(struct ts_buf *b, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		ts_buf_putc(b, (uint8_t)(n >> 8 * i));
}

static void frame(struct ts_buf *file, unsigned kind, struct ts_buf *m)
{
	struct ts_buf f = { 0 };

	message(&f, kind, m);
	u64(file, f.len);
	ts_buf_put(file, f.data, f.len);
	ts_buf_fini(&f);
}

/* Operands have a field that nobody knows. */
static bool has_unknown_fields;

/* An operand; @name NULL: memory at @addr.  @bits as stored, zig-zag comes on top. */
static void operand(struct ts_buf *list, const char *name, uint64_t addr, int64_t bits, bool is_read,
		    bool is_written, const void *value, size_t len)
{
	struct ts_buf op = { 0 }, specific = { 0 }, inner = { 0 };

	if (name)
		bytes(&inner, 1, name, strlen(name));
	else
		number(&inner, 1, addr);
	message(&specific, name ? 2 : 1, &inner);
	message(&op, 1, &specific);
	number(&op, 2, (uint64_t)bits << 1 ^ (uint64_t)(bits >> 63));
	number(&inner, 1, is_read);
	number(&inner, 2, is_written);
	number(&inner, 3, 0);
	number(&inner, 4, 0);
	message(&op, 3, &inner);
	number(&inner, 1, 1);
	message(&op, 4, &inner);
	bytes(&op, 5, value, len);
	if (has_unknown_fields)
		number(&op, 9, 1);
	message(list, 1, &op);
}

static void reg_op(struct ts_buf *list, const char *name, uint64_t value, size_t len, bool is_written)
{
	uint8_t data[8];

	for (size_t i = 0; i < 8; i++)
		data[i] = (uint8_t)(value >> 8 * i);
	operand(list, name, 0, 0, !is_written, is_written, data, len);
}

static void mem_op(struct ts_buf *list, uint64_t addr, const void *data, size_t len, bool is_written)
{
	operand(list, NULL, addr, (int64_t)len * 8, !is_written, is_written, data, len);
}

/* A std frame; the lists are emptied. */
static void std_frame(struct ts_buf *file, uint64_t pc, uint64_t tid, const char *raw, size_t raw_len,
		      struct ts_buf *pre, struct ts_buf *post)
{
	struct ts_buf m = { 0 };

	number(&m, 1, pc);
	number(&m, 2, tid);
	bytes(&m, 3, raw, raw_len);
	message(&m, 4, pre);
	if (post)
		message(&m, 5, post);
	frame(file, 1, &m);
}

static void nop_frame(struct ts_buf *file, uint64_t pc, uint64_t tid)
{
	struct ts_buf pre = { 0 }, post = { 0 };

	std_frame(file, pc, tid, "\x90", 1, &pre, &post);
}

static void header(struct ts_buf *file, uint64_t version, uint64_t arch, uint64_t machine)
{
	ts_buf_put(file, "\x25\x60\xaf\x8a\x82\x28\x7c\x67", 8);
	u64(file, version);
	u64(file, arch);
	u64(file, machine);
	u64(file, 0);
	u64(file, 0);
}

static void meta(struct ts_buf *file, const char *tracer, const char *version, const char *path)
{
	struct ts_buf m = { 0 }, inner = { 0 };

	bytes(&inner, 1, tracer, strlen(tracer));
	bytes(&inner, 4, version, strlen(version));
	message(&m, 1, &inner);
	bytes(&inner, 1, path, strlen(path));
	bytes(&inner, 2, "arg", 3);
	bytes(&inner, 4, "0123456789abcdef", 16);
	message(&m, 2, &inner);
	u64(file, m.len);
	ts_buf_put(file, m.data, m.len);
	ts_buf_fini(&m);
}

/* Version 3, x86-64, as tracewrap writes it. */
static struct ts_buf start(void)
{
	struct ts_buf file = { 0 };

	header(&file, 3, 9, 64);
	meta(&file, "qemu", "6.2.0-tracewrap", "/bin/prog");
	return file;
}

static void set_u64(struct ts_buf *file, size_t off, uint64_t n)
{
	for (unsigned i = 0; i < 8; i++)
		file->data[off + i] = (uint8_t)(n >> 8 * i);
}

/* Close the file: n, T and an index of @m frames an entry without entries. */
static void finish(struct ts_buf *file, uint64_t n, uint64_t m)
{
	set_u64(file, 32, n);
	set_u64(file, 40, file->len);
	u64(file, m);
}

/* ----------------------------------------------------------------------------------------- a loaded trace */

struct loaded {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct ts_error err;
};

static bool load(struct loaded *l, const struct ts_buf *file)
{
	enum ts_grow grow = TS_GROW_MORE;

	*l = (struct loaded){ 0 };
	unit_seed(file->data, file->len);
	l->src = ts_source_from_memory(file->data, file->len, "test", &l->err);
	ck_assert_ptr_nonnull(l->src);
	l->rec = ts_loader_open(&bap_loader, l->src, NULL, &l->err);
	if (!l->rec)
		return false;
	l->tl = ts_timeline_new(l->rec, NULL, &l->err);
	while (l->tl && grow == TS_GROW_MORE)
		grow = ts_timeline_grow(l->tl, 1 << 20, &l->err);
	if (!l->tl || grow == TS_GROW_FAILED)
		return false;
	l->q = ts_query_new(l->tl, &l->err);
	return l->q != NULL;
}

static void unload(struct loaded *l)
{
	ts_query_free(l->q);
	ts_timeline_free(l->tl);
	ts_recording_close(l->rec);
	ts_source_close(l->src);
}

static struct loaded loaded(struct ts_buf *file)
{
	struct loaded l;

	ck_assert_msg(load(&l, file), "%s", l.err.text);
	return l;
}

static bool has_warning(const struct loaded *l, const char *words)
{
	for (unsigned i = 0; i < l->rec->n_warnings; i++)
		if (strstr(l->rec->warnings[i].text, words))
			return true;
	return false;
}

/* The value of a register at a position in thread @thread: false if it is unknown. */
static bool reg_at(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name, uint64_t *value)
{
	const struct ts_regset *set = &l->rec->regs;
	int i = ts_regset_find(set, name);
	uint8_t data[4096], known[4096];
	struct ts_error err = { 0 };

	ck_assert_msg(i >= 0, "no register %s", name);
	ck_assert(ts_query_regs(l->q, pos, thread, data, known, &err));
	*value = ts_arch_get(set->arch, data + set->regs[i].off, set->regs[i].len < 8 ? set->regs[i].len : 8);
	return !memchr(known + set->regs[i].off, 0, set->regs[i].len);
}

static void check_reg(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name, uint64_t want)
{
	uint64_t value;

	ck_assert_msg(reg_at(l, pos, thread, name, &value), "%s is unknown at %" PRIu64, name, pos);
	ck_assert_msg(value == want, "%s is 0x%" PRIx64 " at %" PRIu64 ", not 0x%" PRIx64, name, value, pos,
		      want);
}

static void check_no_reg(const struct loaded *l, uint64_t pos, uint32_t thread, const char *name)
{
	uint64_t value;

	ck_assert_msg(!reg_at(l, pos, thread, name, &value), "%s is known at %" PRIu64, name, pos);
}

/* What is known of four bytes of memory, "01020304" or "....0304". */
static void check_mem(const struct loaded *l, uint64_t pos, uint64_t addr, const char *want)
{
	uint8_t data[4], known[4];
	struct ts_error err = { 0 };
	char text[16] = "";

	ck_assert(ts_query_mem(l->q, pos, 0, addr, 4, data, known, &err));
	for (unsigned i = 0; i < 4; i++) {
		if (known[i])
			snprintf(text + 2 * i, 3, "%02x", data[i]);
		else
			memcpy(text + 2 * i, "..", 3);
	}
	ck_assert_str_eq(text, want);
}

/* ------------------------------------------------------------------------------------------------- values */

/* The example of the format's description, byte by byte: mov $0x4016ab,%rdi. */
START_TEST(the_worked_example_writes_rdi)
{
	static const uint8_t example[] = {
		0x3b, 0,    0,    0,    0,    0,    0,    0,    0x0a, 0x39, 0x08, 0x84, 0xaa, 0x80,
		0x02, 0x10, 0x01, 0x1a, 0x07, 0x48, 0xc7, 0xc7, 0xab, 0x16, 0x40, 0x00, 0x22, 0x00,
		0x2a, 0x25, 0x0a, 0x23, 0x0a, 0x07, 0x12, 0x05, 0x0a, 0x03, 0x52, 0x44, 0x49, 0x10,
		0x00, 0x1a, 0x08, 0x08, 0x00, 0x10, 0x01, 0x18, 0x00, 0x20, 0x00, 0x22, 0x02, 0x08,
		0x01, 0x2a, 0x08, 0xab, 0x16, 0x40, 0x00, 0,    0,    0,    0,
	};
	struct ts_buf file = start();
	struct loaded l;

	ts_buf_put(&file, example, sizeof(example));
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 1);
	check_reg(&l, 0, 0, "rip", 0x401504);
	check_no_reg(&l, 0, 0, "rdi");
	check_reg(&l, 1, 0, "rdi", 0x4016ab);
	check_mem(&l, 0, 0x401504, "48c7c7ab");
	ck_assert_str_eq(l.rec->exec_path, "/bin/prog");
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(what_is_read_was_there_before)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };
	struct loaded l;

	nop_frame(&file, 0x1000, 1);
	reg_op(&pre, "RBX", 0x1122, 8, false);
	mem_op(&pre, 0x5000, "\1\2\3\4", 4, false);
	reg_op(&post, "RBX", 0x3344, 8, true);
	mem_op(&post, 0x5002, "\7\7\7\7", 4, true);
	std_frame(&file, 0x1001, 1, "\x90", 1, &pre, &post);
	l = loaded(&file);
	check_reg(&l, 0, 0, "rbx", 0x1122);
	check_reg(&l, 1, 0, "rbx", 0x1122);
	check_reg(&l, 2, 0, "rbx", 0x3344);
	check_mem(&l, 0, 0x5000, "01020304");
	check_mem(&l, 0, 0x5002, "0304....");
	check_mem(&l, 2, 0x5000, "01020707");
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(the_first_value_before_and_the_last_after_count)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };
	struct loaded l;

	reg_op(&pre, "RAX", 5, 8, false);
	reg_op(&pre, "RAX", 6, 8, false);
	reg_op(&post, "RAX", 7, 8, true);
	reg_op(&post, "RAX", 8, 8, true);
	std_frame(&file, 0x1000, 1, "\x90", 1, &pre, &post);
	l = loaded(&file);
	check_reg(&l, 0, 0, "rax", 5);
	check_reg(&l, 1, 0, "rax", 8);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(a_result_is_believed_more_than_the_next_value_before)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };
	struct loaded l;

	reg_op(&post, "RAX", 7, 8, true);
	std_frame(&file, 0x1000, 1, "\x90", 1, &pre, &post);
	reg_op(&pre, "RAX", 9, 8, false);
	std_frame(&file, 0x1001, 1, "\x90", 1, &pre, &post);
	l = loaded(&file);
	check_reg(&l, 1, 0, "rax", 7);
	check_reg(&l, 2, 0, "rax", 7);
	ck_assert(has_warning(&l, "contradict"));
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* All of an operand but its value comes again and again: what differs a little is something else. */
START_TEST(operands_that_begin_alike_are_told_apart)
{
	static const uint8_t value[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	struct loaded l;

	header(&file, 2, 9, 64);
	meta(&file, "bpt", "1.0.0", "/bin/prog");
	for (unsigned i = 0; i < 3; i++) {
		operand(&post, "RAX", 0, 64, false, true, value, 8);
		operand(&post, "RBX", 0, 64, false, true, value, 8);
		operand(&post, "RBX", 0, 8, false, true, value, 8);
		operand(&post, "R8", 0, 64, false, true, value, 8);
		operand(&post, "R8", 0, 32, false, true, value, 4);
		operand(&post, "RCX", 0, 64, false, true, value, 8);
		operand(&pre, "RCX", 0, 64, true, false, value, i ? 8 : 1);
		std_frame(&file, 0x1000, 1, "\x90", 1, &pre, &post);
	}
	l = loaded(&file);
	check_reg(&l, 3, 0, "rax", 0x0807060504030201);
	check_reg(&l, 3, 0, "rbx", 0x0807060504030201);
	check_reg(&l, 3, 0, "r8", 0x0807060504030201);
	check_reg(&l, 3, 0, "rcx", 0x0807060504030201);
	check_no_reg(&l, 0, 0, "rcx"); /* but for its lowest byte */
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(an_operand_seen_before_that_is_cut_is_damage)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };
	struct loaded l;

	reg_op(&pre, "RBX", 1, 8, false);
	std_frame(&file, 0x1000, 1, "\x90", 1, &pre, &post);
	reg_op(&pre, "RBX", 1, 8, false);
	pre.len -= 4;
	std_frame(&file, 0x1001, 1, "\x90", 1, &pre, &post);
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 1);
	ck_assert_int_eq(l.tl->damage.code, TS_ECORRUPT);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(single_flags_make_up_eflags)
{
	static const char *const all[] = { "CF", "PF", "AF", "ZF", "SF", "OF" };
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	struct loaded l;

	header(&file, 2, 9, 64);
	meta(&file, "bpt", "1.0.0", "/bin/prog");
	for (unsigned i = 0; i < 6; i++)
		if (i != 2)
			operand(&post, all[i], 0, 1, false, true, i == 3 ? "\1" : "\0", 1);
	std_frame(&file, 0x1000, 1, "\x90", 1, &pre, &post);
	operand(&post, "AF", 0, 1, false, true, "\1", 1);
	std_frame(&file, 0x1001, 1, "\x90", 1, &pre, &post);
	l = loaded(&file);
	check_no_reg(&l, 0, 0, "eflags");
	check_no_reg(&l, 1, 0, "eflags"); /* AF was not logged yet */
	check_reg(&l, 2, 0, "eflags", 0x202 | 0x40 | 0x10);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(parts_of_registers_go_onto_their_parents)
{
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	struct loaded l;

	header(&file, 2, 9, 64);
	meta(&file, "bpt", "1.0.0", "/bin/prog");
	reg_op(&pre, "RAX", 0x1111222233334444, 8, false);
	reg_op(&post, "AL", 0xff, 1, true);
	std_frame(&file, 0x1000, 0, "\x90", 1, &pre, &post);
	reg_op(&post, "AH", 0xee, 1, true);
	std_frame(&file, 0x1001, 0, "\x90", 1, &pre, &post);
	reg_op(&post, "EAX", 0x99, 4, true);
	std_frame(&file, 0x1002, 0, "\x90", 1, &pre, &post);
	l = loaded(&file);
	check_reg(&l, 1, 0, "rax", 0x11112222333344ff);
	check_reg(&l, 2, 0, "rax", 0x111122223333eeff);
	check_reg(&l, 3, 0, "rax", 0x99);
	ck_assert_uint_eq(l.rec->threads[0].tid, 1); /* 0 is no thread to gdb */
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(the_oldest_recorder_lists_old_values_of_what_is_written)
{
	struct ts_buf file = { 0 }, pre = { 0 };
	struct loaded l;
	uint8_t five[8] = { 5 };

	header(&file, 1, 9, 64);
	operand(&pre, "R_RAX", 0, 64, true, true, five, 8);
	std_frame(&file, 0x1000, 0, "\x90", 1, &pre, NULL);
	nop_frame(&file, 0x1001, 0);
	five[0] = 6;
	operand(&pre, "R_EAX_32", 0, 32, true, false, five, 4);
	operand(&pre, "R_RAX", 0, 64, true, true, five, 8);
	std_frame(&file, 0x1002, 0, "\x90", 1, &pre, NULL);
	l = loaded(&file);
	check_reg(&l, 0, 0, "rax", 5);
	check_reg(&l, 1, 0, "rax", 6);
	check_reg(&l, 2, 0, "rax", 6);
	check_no_reg(&l, 3, 0, "rax");
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(arm_modes_are_the_t_bit)
{
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 }, m = { 0 };
	static const char *const modes[] = { "arm:a32", "arm:t32", "arm:a32" };
	struct loaded l;

	header(&file, 3, 35, 0);
	meta(&file, "qemu", "6.2.0-tracewrap", "/bin/prog");
	for (unsigned i = 0; i < 3; i++) {
		static const char *const flags[] = { "NF", "ZF", "CF", "VF", "GE" };

		number(&m, 1, 0x1000 + 4 * i);
		number(&m, 2, 1);
		bytes(&m, 3, "\0\0\0\0", 4);
		for (unsigned j = 0; !i && j < 5; j++)
			reg_op(&pre, flags[j], j == 1, 4, false);
		message(&m, 4, &pre);
		message(&m, 5, &post);
		bytes(&m, 6, modes[i], 7);
		frame(&file, 1, &m);
	}
	l = loaded(&file);
	check_reg(&l, 0, 0, "cpsr", 0x40000010);
	check_reg(&l, 1, 0, "cpsr", 0x40000030);
	check_reg(&l, 2, 0, "cpsr", 0x40000010);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(registers_of_big_endian_targets_are_little_endian_numbers)
{
	struct ts_buf file = { 0 }, pre = { 0 }, post = { 0 };
	struct loaded l;

	header(&file, 3, 23, 32);
	meta(&file, "qemu", "6.2.0-tracewrap", "/bin/prog");
	reg_op(&post, "r3", 0x40800ef0, 4, true);
	mem_op(&post, 0x5000, "\x40\x80\x0e\xf0", 4, true);
	std_frame(&file, 0x1000, 1, "\x7c\x29\x0b\x78", 4, &pre, &post);
	l = loaded(&file);
	check_reg(&l, 1, 0, "r3", 0x40800ef0);
	check_mem(&l, 1, 0x5000, "40800ef0");
	check_mem(&l, 0, 0x1000, "7c290b78");
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(threads_keep_their_own_registers)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };
	struct loaded l;

	for (uint64_t i = 0; i < 4; i++) {
		reg_op(&post, "RCX", 10 + i, 8, true);
		std_frame(&file, 0x1000, 1 + i % 2, "\x90", 1, &pre, &post);
	}
	l = loaded(&file);
	ck_assert_uint_eq(l.rec->n_threads, 2);
	check_reg(&l, 4, 0, "rcx", 12);
	check_reg(&l, 4, 1, "rcx", 13);
	check_reg(&l, 2, 0, "rcx", 10);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* ------------------------------------------------------------------------------------------- other frames */

static void modload(struct ts_buf *file, const char *name, uint64_t low, uint64_t high)
{
	struct ts_buf m = { 0 };

	bytes(&m, 1, name, strlen(name));
	number(&m, 2, low);
	number(&m, 3, high);
	frame(file, 5, &m);
}

static void check_warned(struct ts_buf *file, uint64_t n_steps, const char *words);

static unsigned n_modules(const struct loaded *l, uint64_t pos)
{
	unsigned n = 0;
	size_t at = 0;

	while (ts_world_next_module(&l->tl->world, 0, pos, &at))
		n++;
	return n;
}

START_TEST(modules_appear_before_the_next_instruction)
{
	struct ts_buf file = start();
	const struct ts_loaded *m;
	struct loaded l;
	size_t at = 0;

	modload(&file, "/bin/prog", 0x1000, 0x2fff);
	nop_frame(&file, 0x1000, 1);
	modload(&file, "/lib/a.so", 0x7000, 0x7fff);
	nop_frame(&file, 0x1001, 1);
	modload(&file, "/lib/b.so", 0x7800, 0x8fff);
	l = loaded(&file);
	ck_assert_uint_eq(n_modules(&l, 0), 1);
	ck_assert_uint_eq(n_modules(&l, 1), 2);
	ck_assert_uint_eq(n_modules(&l, 2), 2); /* b.so is where a.so was */
	m = ts_world_next_module(&l.tl->world, 0, 0, &at);
	ck_assert_uint_eq(m->first, 0x1000);
	ck_assert_uint_eq(m->last, 0x2fff);
	ck_assert_str_eq(ts_world_text(&l.tl->world, m->file), "/bin/prog");
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(a_system_call_belongs_to_the_next_instruction_at_its_address)
{
	struct ts_buf file = { 0 }, m = { 0 }, args = { 0 }, pre = { 0 }, post = { 0 };
	const struct ts_happening *h;
	struct loaded l;

	header(&file, 2, 9, 64);
	meta(&file, "bpt", "1.0.0", "/bin/prog");
	number(&m, 1, 0x1001);
	number(&m, 2, 0);
	number(&m, 3, 0x1001); /* bpt stores the address */
	number(&args, 1, 2);   /* 1, zig-zag */
	number(&args, 1, 1);   /* -1 */
	message(&m, 4, &args);
	frame(&file, 2, &m);
	nop_frame(&file, 0x1000, 0);
	reg_op(&pre, "RAX", 39, 8, false);
	std_frame(&file, 0x1001, 0, "\x0f\x05", 2, &pre, &post);
	l = loaded(&file);
	h = ts_world_next_event(&l.tl->world, TS_EV_SYSCALL, 0);
	ck_assert_ptr_nonnull(h);
	ck_assert_uint_eq(h->step, 1);
	ck_assert_uint_eq(h->event.number, 39);
	ck_assert_uint_eq(h->event.n_args, 2);
	ck_assert_uint_eq(h->event.args[1], UINT64_MAX);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(key_frames_exceptions_and_taint_say_what_is_so)
{
	struct ts_buf file = start(), m = { 0 }, list = { 0 }, item = { 0 }, tag = { 0 }, values = { 0 },
		      value = { 0 }, name = { 0 };
	const struct ts_happening *h;
	struct loaded l;

	nop_frame(&file, 0x1000, 1);
	bytes(&name, 1, "rdx", 3); /* key frame: rdx of thread 2 */
	message(&tag, 2, &name);
	message(&value, 1, &tag);
	number(&value, 2, 128);
	bytes(&value, 4, "\x77\0\0\0\0\0\0\0", 8);
	message(&values, 1, &value);
	number(&tag, 2, 2);
	message(&item, 1, &tag);
	message(&item, 2, &values);
	message(&list, 1, &item);
	message(&m, 1, &list);
	frame(&file, 6, &m);
	number(&m, 1, 11); /* exception: SIGSEGV */
	number(&m, 3, 0x1000);
	frame(&file, 3, &m);
	number(&item, 1, 0x6000); /* taint */
	number(&item, 2, 1);
	bytes(&item, 3, "\x55\x66", 2);
	message(&list, 1, &item);
	message(&m, 1, &list);
	frame(&file, 4, &m);
	nop_frame(&file, 0x1001, 2);
	l = loaded(&file);
	check_reg(&l, 1, 1, "rdx", 0x77);
	check_mem(&l, 1, 0x6000, "5566....");
	h = ts_world_next_event(&l.tl->world, TS_EV_SIGNAL, 0);
	ck_assert_ptr_nonnull(h);
	ck_assert_uint_eq(h->event.number, 11);
	ck_assert_uint_eq(h->event.addr, 0x1000);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* gdb's signals, by the numbers of Linux (signal(7)) and of Windows (ntstatus.h). */
START_TEST(exceptions_have_the_numbers_of_gdbs_signals)
{
	static const struct {
		uint64_t number, gdb;
	} signals[] = {
		{ 0, 143 }, { 11, 11 }, { 15, 15 }, { 16, 143 }, { 64, 143 }, /* unknown */
		{ 7, 10 },                                                    /* SIGBUS */
		{ 10, 30 },                                                   /* SIGUSR1 */
		{ 17, 20 },                                                   /* SIGCHLD */
		{ 0xc0000005, 11 },                                           /* an access violation */
		{ 0x80000003, 5 },                                            /* a breakpoint */
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct ts_buf file = start(), m = { 0 };
		const struct ts_happening *h;
		struct loaded l;

		number(&m, 1, signals[i].number);
		frame(&file, 3, &m);
		nop_frame(&file, 0x1000, 1);
		l = loaded(&file);
		h = ts_world_next_event(&l.tl->world, TS_EV_SIGNAL, 0);
		ck_assert_ptr_nonnull(h);
		ck_assert_uint_eq(h->event.number, signals[i].gdb);
		ck_assert(!h->event.has_addr);
		unload(&l);
		ts_buf_fini(&file);
	}
}
END_TEST

START_TEST(a_module_ends_with_its_last_byte_or_before_the_page_that_is_named)
{
	static const struct {
		uint64_t low, high, last;
	} modules[] = { { 0x1000, 0x1fff, 0x1fff }, { 0x1000, 0x3000, 0x2fff }, { 0x5000, 0x5000, 0x5000 } };
	struct ts_buf file;

	for (size_t i = 0; i < 3; i++) {
		const struct ts_loaded *m;
		struct loaded l;
		size_t at = 0;

		file = start();
		modload(&file, "/bin/prog", modules[i].low, modules[i].high);
		nop_frame(&file, 0x1000, 1);
		l = loaded(&file);
		m = ts_world_next_module(&l.tl->world, 0, 0, &at);
		ck_assert_ptr_nonnull(m);
		ck_assert_uint_eq(m->last, modules[i].last);
		unload(&l);
		ts_buf_fini(&file);
	}
	file = start();
	modload(&file, "/bin/prog", 0x1000, 0);
	nop_frame(&file, 0x1000, 1);
	check_warned(&file, 1, "whose end is before their start");
	file = start();
	modload(&file, "/bin/prog", 0, UINT64_MAX);
	nop_frame(&file, 0x1000, 1);
	check_warned(&file, 1, "whose end is before their start");
}
END_TEST

/* Append a value of a key frame: of a register, or of memory (@name NULL). */
static void key_value(struct ts_buf *values, const char *name, uint64_t addr, const char *value, size_t len)
{
	struct ts_buf place = { 0 }, specific = { 0 }, m = { 0 };

	if (name) {
		bytes(&place, 1, name, strlen(name));
		message(&specific, 2, &place);
	} else {
		number(&place, 1, addr);
		message(&specific, 1, &place);
	}
	message(&m, 1, &specific);
	number(&m, 2, 16 * len);
	if (value)
		bytes(&m, 4, value, len);
	message(values, 1, &m);
	ts_buf_fini(&specific);
	ts_buf_fini(&m);
}

START_TEST(values_without_sense_of_key_frames_and_taint_are_left_out)
{
	struct ts_buf file = start(), m = { 0 }, list = { 0 }, item = { 0 }, source = { 0 }, values = { 0 };
	struct loaded l;

	nop_frame(&file, 0x1000, 1);
	key_value(&values, "rdx", 0, NULL, 0);
	key_value(&values, "rcx", 0, "", 0);
	key_value(&values, "nobody's", 0, "\1", 1);
	key_value(&values, NULL, UINT64_MAX, "\1\2", 2);
	key_value(&values, NULL, 0x6000, "\x33\x44", 2);
	key_value(&values, "rbx", 0, "\x77\0\0\0\0\0\0\0", 8);
	number(&source, 2, 1);
	message(&item, 1, &source);
	message(&item, 2, &values);
	message(&list, 1, &item);
	message(&m, 1, &list);
	frame(&file, 6, &m);
	for (unsigned i = 0; i < 3; i++) { /* taint without a value, of no bytes, over the end */
		number(&item, 1, i == 2 ? UINT64_MAX : 0x6002);
		if (i)
			bytes(&item, 3, "\x55\x66", i == 2 ? 2 : 0);
		message(&list, 1, &item);
	}
	message(&m, 1, &list);
	frame(&file, 4, &m);
	nop_frame(&file, 0x1001, 1);
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 2);
	check_no_reg(&l, 1, 0, "rdx");
	check_no_reg(&l, 1, 0, "rcx");
	check_reg(&l, 1, 0, "rbx", 0x77);
	check_mem(&l, 1, 0x6000, "3344....");
	ck_assert(has_warning(&l, "pass the end of the address space"));
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* The loader looks ahead before it knows which thread is the first one to run. */
START_TEST(a_key_frame_may_come_before_all_instructions)
{
	struct ts_buf file = start(), m = { 0 }, list = { 0 }, item = { 0 }, source = { 0 }, values = { 0 };
	struct ts_buf value = { 0 }, specific = { 0 }, name = { 0 };
	struct loaded l;

	for (unsigned i = 0; i < 2; i++) { /* rdx of thread 2, rbx of the first thread */
		bytes(&name, 1, i ? "rbx" : "rdx", 3);
		message(&specific, 2, &name);
		message(&value, 1, &specific);
		number(&value, 2, 128);
		bytes(&value, 4, i ? "\x88\0\0\0\0\0\0\0" : "\x77\0\0\0\0\0\0\0", 8);
		message(&values, 1, &value);
		number(&source, i ? 1 : 2, i ? 1 : 2);
		message(&item, 1, &source);
		message(&item, 2, &values);
		message(&list, 1, &item);
	}
	message(&m, 1, &list);
	frame(&file, 6, &m);
	nop_frame(&file, 0x1000, 1);
	nop_frame(&file, 0x1001, 2);
	l = loaded(&file);
	ck_assert_uint_eq(l.rec->n_threads, 2);
	for (uint32_t i = 0; i < 2; i++)
		check_reg(&l, 0, i, l.rec->threads[i].tid == 1 ? "rbx" : "rdx",
			  l.rec->threads[i].tid == 1 ? 0x88 : 0x77);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(a_machine_that_gdb_has_not_is_named)
{
	struct ts_buf file = { 0 };
	struct loaded l;

	header(&file, 3, 81, 0);
	meta(&file, "qemu", "8.1", "/bin/prog");
	nop_frame(&file, 0x1000, 1);
	l = loaded(&file);
	ck_assert(has_warning(&l, "hexagon"));
	ck_assert_str_eq(l.rec->regs.arch->name, "hexagon");
	check_reg(&l, 0, 0, "pc", 0x1000);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- bad input */

/* A whole small trace: three instructions, closed. */
static struct ts_buf small(void)
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };

	nop_frame(&file, 0x1000, 1);
	reg_op(&pre, "RBX", 1, 8, false);
	mem_op(&pre, 0x5000, "\1\2\3\4", 4, false);
	operand(&post, "ZF", 0, 1, false, true, "\1", 1);
	std_frame(&file, 0x1001, 1, "\x48\x03\x03", 3, &pre, &post);
	nop_frame(&file, 0x1004, 1);
	return file;
}

/* Nothing can be served: the error's code, offset and a word of it. */
static void check_refused(struct ts_buf *file, enum ts_code code, uint64_t off, const char *words)
{
	struct loaded l;

	ck_assert(!load(&l, file));
	ck_assert_msg(l.err.code == code && l.err.off == off && strstr(l.err.text, words),
		      "%s 0x%" PRIx64 " %s", ts_code_name(l.err.code), l.err.off, l.err.text);
	unload(&l);
	ts_buf_fini(file);
}

/* @n_steps are served, then comes damage. */
static void check_damage(struct ts_buf *file, uint64_t n_steps, enum ts_code code, uint64_t off,
			 const char *words)
{
	struct loaded l = loaded(file);
	const struct ts_error *d = &l.tl->damage;

	ck_assert_msg(l.tl->n_steps == n_steps && d->code == code && d->off == off && strstr(d->text, words),
		      "%" PRIu64 " steps, %s 0x%" PRIx64 " %s", l.tl->n_steps, ts_code_name(d->code), d->off,
		      d->text);
	unload(&l);
	ts_buf_fini(file);
}

/* All steps are served, with a warning. */
static void check_warned(struct ts_buf *file, uint64_t n_steps, const char *words)
{
	struct loaded l = loaded(file);

	ck_assert_uint_eq(l.tl->n_steps, n_steps);
	ck_assert_int_eq(l.tl->damage.code, TS_OK);
	ck_assert_msg(has_warning(&l, words), "no warning \"%s\"", words);
	unload(&l);
	ts_buf_fini(file);
}

START_TEST(headers_that_are_none_are_refused)
{
	struct ts_buf file = { 0 };

	ts_buf_put(&file, "\x25\x60", 2);
	check_refused(&file, TS_EUNSUPPORTED, 0, "magic");
	ts_buf_put(&file, "\x67\x7c\x28\x82\x8a\xaf\x60\x25", 8);
	check_refused(&file, TS_EUNSUPPORTED, 0, "wrong byte order");
	ts_buf_put(&file, "\x25\x60\xaf\x8a\x82\x28\x7c\x67\3", 9);
	check_refused(&file, TS_ETRUNC, 0, "48 bytes");
	header(&file, 4, 9, 64);
	check_refused(&file, TS_EUNSUPPORTED, 8, "version 4");
	header(&file, 3, 82, 0);
	check_refused(&file, TS_EUNSUPPORTED, 16, "architecture 82");
	header(&file, 3, 9, 64);
	u64(&file, 1000);
	check_refused(&file, TS_ETRUNC, 48, "1000 bytes");
	header(&file, 3, 9, 64);
	u64(&file, 2);
	ts_buf_put(&file, "\x0a\x05", 2);
	check_refused(&file, TS_ECORRUPT, 58, "meta frame");
	header(&file, 1, 9, 64);
	check_refused(&file, TS_EUNSUPPORTED, 48, "no instructions");
	file = start();
	modload(&file, "a", 1, 2);
	check_refused(&file, TS_EUNSUPPORTED, file.len, "no instructions");
}
END_TEST

START_TEST(lying_counts_and_offsets_are_said)
{
	struct ts_buf file = small();

	finish(&file, 5, 64);
	check_warned(&file, 3, "5 frames, there are 3");
	file = small();
	set_u64(&file, 32, 3);
	check_warned(&file, 3, "not where the index is");
	file = small();
	finish(&file, 0, 64);
	check_warned(&file, 3, "no frames, but has an index");
	file = small();
	set_u64(&file, 40, 20);
	check_warned(&file, 3, "outside of the frames");
	file = small();
	set_u64(&file, 40, UINT64_MAX);
	check_warned(&file, 3, "outside of the frames");
	file = small();
	finish(&file, 3, 0);
	check_warned(&file, 3, "every 0 frames");
	file = small();
	finish(&file, 3, 1);
	u64(&file, 12345);
	check_warned(&file, 3, "does not point at the start");
	file = small();
	finish(&file, 3, 64);
	ts_buf_put(&file, "abc", 3);
	check_warned(&file, 3, "3 bytes follow");
	file = small();
	check_warned(&file, 3, "did not finish");
}
END_TEST

/* An index that points at these bytes of an instruction, which no frame can begin with. */
START_TEST(an_index_that_points_into_a_frame_is_warned_of)
{
	static const char *const bad[] = {
		"\0\0\0\0\0\0\0\0\x0a",       /* a frame without bytes */
		"\0\0\0\0\0\0\0\x40\x0a",    /* one that is too long */
		"\x00\x10\0\0\0\0\0\0\x0a", /* one that ends after the trace */
		"\x05\0\0\0\0\0\0\0\x08",    /* not a message */
		"\x05\0\0\0\0\0\0\0\x02",    /* kinds that there are not */
		"\x05\0\0\0\0\0\0\0\x7a",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ts_buf file = start(), pre = { 0 }, post = { 0 };
		uint64_t inside;

		nop_frame(&file, 0x1000, 1);
		std_frame(&file, 0x1001, 1, bad[i], 9, &pre, &post);
		inside = (uint64_t)((uint8_t *)memmem(file.data, file.len, bad[i], 9) - file.data);
		finish(&file, 2, 1);
		u64(&file, inside);
		set_u64(&file, 40, file.len - 16);
		check_warned(&file, 2, "does not point at the start");
	}
}
END_TEST

START_TEST(a_good_index_is_not_warned_of)
{
	struct ts_buf file = start();
	uint64_t second, third;
	struct loaded l;

	nop_frame(&file, 0x1000, 1);
	second = file.len;
	nop_frame(&file, 0x1001, 1);
	third = file.len;
	nop_frame(&file, 0x1002, 1);
	finish(&file, 3, 1);
	u64(&file, second);
	u64(&file, third);
	set_u64(&file, 40, file.len - 24);
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 3);
	ck_assert_uint_eq(l.rec->n_warnings, 0);
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(frames_that_do_not_fit_are_damage)
{
	struct ts_buf file = small();
	uint64_t off = file.len;

	u64(&file, 100);
	check_damage(&file, 3, TS_ETRUNC, off, "not finished");
	file = small();
	ts_buf_put(&file, "abc", 3);
	check_damage(&file, 3, TS_ETRUNC, off, "a length has 8 bytes");
	file = small();
	u64(&file, 0);
	check_damage(&file, 3, TS_ECORRUPT, off, "length is 0");
	file = small();
	u64(&file, UINT64_C(1) << 40);
	check_damage(&file, 3, TS_ECORRUPT, off, "1099511627776");
	file = small();
	u64(&file, 90);
	finish(&file, 4, 64);
	check_damage(&file, 3, TS_ETRUNC, off, "before the index");
}
END_TEST

/* A frame of these bytes behind three good ones is damage at the @at-th of them. */
static void check_bad_frame(const char *data, size_t len, size_t at, const char *words)
{
	struct ts_buf file = small();
	uint64_t off = file.len + 8;

	u64(&file, len);
	ts_buf_put(&file, data, len);
	check_damage(&file, 3, TS_ECORRUPT, off + at, words);
}

START_TEST(messages_that_are_none_are_damage)
{
	check_bad_frame("\x0a\x05\x08\x01", 4, 2, "5 bytes, but 2 bytes are left");
	check_bad_frame("\x0a\x0c\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14, 3, "longer than ten");
	check_bad_frame("\x0a\x02\x08\x80", 4, 3, "does not end");
	check_bad_frame("\x0b\x00", 2, 0, "wire type 3");
	check_bad_frame("\x0c\x00", 2, 0, "wire type 4");
	check_bad_frame("\x0e\x00", 2, 0, "wire type 6");
	check_bad_frame("\x0f\x00", 2, 0, "wire type 7");
	check_bad_frame("\x02\x00", 2, 0, "field number 0");
	check_bad_frame("\x08\x01", 2, 0, "std_frame of frame has wire type 0, not 2");
	check_bad_frame("\x0a\x02\x10\x01", 4, 2, "without its address");
	check_bad_frame("\x0a\x06\x08\x01\x22\x02\x0a\x05", 8, 8, "left around it");
	check_bad_frame("\x12\x02\x08\x01", 4, 2, "syscall_frame without its number");
	check_bad_frame("\x12\x08\x08\x01\x18\x02\x22\x02\x0a\x00", 10, 9,
			"argument of a system call has wire type 2");
	check_bad_frame("\x1a\x02\x10\x01", 4, 2, "exception_frame without its exception_number");
	check_bad_frame("\x22\x04\x0a\x02\x0a\x00", 6, 6, "taint_intro without its addr");
	check_bad_frame("\x2a\x05\x0a\x01x\x10\x01", 7, 2, "modload_frame without its high_address");
}
END_TEST

START_TEST(unknown_kinds_of_frames_are_skipped_and_said)
{
	struct ts_buf file = small();

	u64(&file, 3);
	ts_buf_put(&file, "\x42\x01x", 3);
	nop_frame(&file, 0x2000, 1);
	check_warned(&file, 4, "frames of an unknown kind");
}
END_TEST

START_TEST(unknown_fields_are_skipped)
{
	struct ts_buf file = small(), m = { 0 };
	struct loaded l;

	number(&m, 1, 0x1234);
	number(&m, 100, 7);
	bytes(&m, 101, "xyz", 3);
	varint(&m, 102 << 3 | 1);
	u64(&m, 7);
	varint(&m, 103 << 3 | 5);
	ts_buf_put(&m, "1234", 4);
	frame(&file, 1, &m);
	l = loaded(&file);
	ck_assert_uint_eq(l.tl->n_steps, 4);
	check_reg(&l, 3, l.rec->n_threads - 1, "rip", 0x1234); /* no thread id: thread 0 */
	unload(&l);
	ts_buf_fini(&file);
}
END_TEST

/* An operand that is left out, with a warning. */
static void check_left_out(const char *name, uint64_t addr, int64_t bits, const char *value, size_t len,
			   const char *words)
{
	struct ts_buf file = small(), pre = { 0 }, post = { 0 };

	operand(&post, name, addr, bits, false, true, value, len);
	std_frame(&file, 0x2000, 1, "\x90", 1, &pre, &post);
	check_warned(&file, 4, words);
}

/* The part that says where is empty, or of a kind that is not known. */
static void check_nowhere(const char *specific, size_t len)
{
	struct ts_buf file = small(), pre = { 0 }, post = { 0 }, op = { 0 };

	bytes(&op, 1, specific, len);
	number(&op, 2, 0);
	bytes(&op, 5, "12345678", 8);
	message(&post, 1, &op);
	std_frame(&file, 0x2000, 1, "\x90", 1, &pre, &post);
	check_warned(&file, 4, "neither register nor memory");
}

START_TEST(operands_without_sense_are_left_out_and_said)
{
	char name[70];

	check_nowhere("", 0);
	check_nowhere("\x1a\x03\x0a\x01x", 5);

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	check_left_out("RAX", 0, 0, "", 0, "without a value");
	check_left_out("RAX", 0, -3, "12345678", 8, "bit lengths");
	check_left_out("RAX", 0, 65, "12345678", 8, "bit lengths");
	check_left_out("", 0, 0, "1", 1, "empty or longer");
	check_left_out(name, 0, 0, "1", 1, "empty or longer");
	check_left_out("FOO", 0, 0, "1", 1, "\"FOO\"");
	check_left_out(NULL, 0x5000, 7, "1", 1, "not whole bytes");
	check_left_out(NULL, UINT64_MAX, 16, "12", 2, "end of the address space");
}
END_TEST

START_TEST(a_trace_cut_anywhere_keeps_its_whole_frames)
{
	struct ts_buf file = small();
	size_t len = file.len;

	for (size_t cut = 0; cut < len; cut++) {
		struct ts_buf part = { .data = file.data, .len = cut };
		struct loaded l;

		if (load(&l, &part))
			ck_assert_uint_lt(l.tl->n_steps, 3);
		unload(&l);
	}
	ts_buf_fini(&file);
}
END_TEST

START_TEST(no_flipped_bit_does_harm)
{
	struct ts_buf file = small();

	finish(&file, 3, 64);
	for (size_t i = 0; i < file.len * 8; i++) {
		struct loaded l;

		file.data[i / 8] ^= (uint8_t)(1 << i % 8);
		load(&l, &file);
		unload(&l);
		file.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ts_buf_fini(&file);
}
END_TEST

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

/* Effects and steps of the same number. */
static void check_same_step(const struct ts_steps *a, uint32_t i, const struct ts_steps *b)
{
	const struct ts_step *x = &a->steps[i], *y = &b->steps[0];

	ck_assert(x->pc == y->pc && x->thread == y->thread && x->n_effects == y->n_effects &&
		  x->insn_len == y->insn_len);
	for (uint32_t k = 0; k < x->n_effects; k++) {
		const struct ts_effect *e = &a->effects[x->first + k], *f = &b->effects[y->first + k];
		const uint8_t *value = ts_effect_data(a, e), *same = ts_effect_data(b, f);

		ck_assert(e->kind == f->kind && e->addr == f->addr && e->len == f->len && !value == !same);
		if (value)
			ck_assert_int_eq(memcmp(value, same, (size_t)e->len), 0);
	}
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

/* A reader that is put at each step in turn goes on as one that reads on. */
static void check_resuming(const struct ts_buf *file, uint32_t n_steps)
{
	struct ts_buf point = { 0 };
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_reader *first, *other;
	struct ts_error err = { 0 };
	struct ts_steps all, one;
	uint32_t n = 0;

	src = ts_source_from_memory(file->data, file->len, "test", &err);
	rec = ts_loader_open(&bap_loader, src, NULL, &err);
	ck_assert_msg(rec != NULL, "%s", err.text);
	first = rec->ops->reader(rec, &err);
	other = rec->ops->reader(rec, &err);
	ts_steps_init(&all);
	ts_steps_init(&one);
	for (;; n++) {
		ts_buf_reset(&point);
		first->ops->save(first, &point);
		if (first->ops->next(first, &all, &err) != TS_ITEM)
			break;
		ck_assert(other->ops->resume(other, point.data, point.len, &err));
		ts_steps_reset(&one);
		ck_assert_int_eq(other->ops->next(other, &one, &err), TS_ITEM);
		check_same_step(&all, n, &one);
	}
	ck_assert_uint_eq(n, n_steps);
	ts_steps_fini(&all);
	ts_steps_fini(&one);
	ts_buf_fini(&point);
	ts_reader_close(first);
	ts_reader_close(other);
	ts_recording_close(rec);
	ts_source_close(src);
}

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

/* ------------------------------------------------------------------------ the index behind damaged frames */

#define LONG_N    20
#define LONG_EACH 5
#define LONG_BAD  7

/*
 * Twenty instructions, each of which sets rax to its number and writes it to 0x5000; an index of every fifth.
 */
static struct ts_buf long_one(uint64_t offs[LONG_N + 1])
{
	struct ts_buf file = start(), pre = { 0 }, post = { 0 };

	for (unsigned i = 0; i < LONG_N; i++) {
		uint8_t byte = (uint8_t)i;

		offs[i] = file.len;
		reg_op(&post, "RAX", i, 8, true);
		mem_op(&post, 0x5000, &byte, 1, true);
		std_frame(&file, 0x1000 + i, 1, "\x90", 1, &pre, &post);
	}
	offs[LONG_N] = file.len;
	finish(&file, LONG_N, LONG_EACH);
	for (unsigned i = LONG_EACH; i <= LONG_N; i += LONG_EACH)
		u64(&file, offs[i]);
	return file;
}

/* What is known around the gap: everything before it, nothing behind it until it is seen again. */
static void check_gap(struct ts_buf *file, uint64_t n_before, const char *words)
{
	struct loaded l = loaded(file);
	const struct ts_happening *gap = ts_world_next_event(&l.tl->world, TS_EV_GAP, 0);

	ck_assert_int_eq(l.tl->damage.code, TS_OK);
	ck_assert_uint_eq(l.tl->n_steps, n_before + 10);
	ck_assert_msg(has_warning(&l, words) && has_warning(&l, "goes on at frame 10"), "%s",
		      l.rec->warnings[0].text);
	ck_assert_ptr_nonnull(gap);
	ck_assert_uint_eq(gap->step, n_before - 1);
	check_reg(&l, n_before - 1, 0, "rip", 0x1000 + n_before - 1);
	check_reg(&l, n_before, 0, "rip", 0x100a);
	check_reg(&l, LONG_BAD - 1, 0, "rax", 5);
	check_mem(&l, LONG_BAD - 1, 0x5000, "05......");
	check_no_reg(&l, n_before, 0, "rax");
	check_mem(&l, n_before, 0x5000, "........");
	check_reg(&l, n_before + 1, 0, "rax", 10);
	check_mem(&l, n_before + 1, 0x5000, "0a......");
	unload(&l);
	check_resuming(file, (uint32_t)n_before + 10);
	ts_buf_fini(file);
}

START_TEST(behind_a_damaged_frame_the_index_leads_on)
{
	static const uint64_t lengths[] = { 0, 1000000, UINT64_C(1) << 40 };
	uint64_t offs[LONG_N + 1];
	struct ts_buf file;

	for (unsigned i = 0; i < 3; i++) {
		file = long_one(offs);
		set_u64(&file, offs[LONG_BAD], lengths[i]);
		check_gap(&file, LONG_BAD, "frame 7: its length is");
	}
	file = long_one(offs);
	file.data[offs[LONG_BAD] + 8] = 0x0b; /* wire type 3 */
	check_gap(&file, LONG_BAD, "frame 7: frame: an invalid key in frame: field number 1, wire type 3");
}
END_TEST

/* Its address is good: it was executed. */
START_TEST(a_damaged_instruction_is_a_step_of_unknown_effects)
{
	uint64_t offs[LONG_N + 1];
	struct ts_buf file = long_one(offs);

	file.data[offs[LONG_BAD] + 8 + 2 + 3] ^= 3; /* the key of the thread's number */
	check_gap(&file, LONG_BAD + 1, "frame 7: ");
}
END_TEST

START_TEST(without_a_sane_index_the_trace_ends_at_damage)
{
	uint64_t offs[LONG_N + 1];
	struct ts_buf file = long_one(offs);

	set_u64(&file, offs[LONG_BAD], 0);
	set_u64(&file, 40, 0); /* no index: behind the frames is one more that is none */
	check_damage(&file, LONG_BAD, TS_ECORRUPT, offs[LONG_BAD], "length is 0");
	file = long_one(offs);
	set_u64(&file, offs[LONG_BAD], 0);
	set_u64(&file, offs[LONG_N] + 16, offs[10] + 1); /* points into a frame */
	check_damage(&file, LONG_BAD, TS_ECORRUPT, offs[LONG_BAD], "length is 0");
	file = long_one(offs);
	set_u64(&file, offs[LONG_BAD], 0);
	set_u64(&file, offs[LONG_N] + 16, offs[5] - 9); /* does not ascend */
	check_damage(&file, LONG_BAD, TS_ECORRUPT, offs[LONG_BAD], "length is 0");
	file = long_one(offs);
	set_u64(&file, offs[17], 0); /* behind which there is no entry but that of the end */
	check_damage(&file, 17, TS_ECORRUPT, offs[17], "length is 0");
}
END_TEST

UNIT_SUITE("bap", the_worked_example_writes_rdi, what_is_read_was_there_before,
	   the_first_value_before_and_the_last_after_count,
	   a_result_is_believed_more_than_the_next_value_before, operands_that_begin_alike_are_told_apart,
	   an_operand_seen_before_that_is_cut_is_damage, single_flags_make_up_eflags,
	   parts_of_registers_go_onto_their_parents, the_oldest_recorder_lists_old_values_of_what_is_written,
	   arm_modes_are_the_t_bit, registers_of_big_endian_targets_are_little_endian_numbers,
	   threads_keep_their_own_registers, modules_appear_before_the_next_instruction,
	   a_system_call_belongs_to_the_next_instruction_at_its_address,
	   key_frames_exceptions_and_taint_say_what_is_so, exceptions_have_the_numbers_of_gdbs_signals,
	   a_module_ends_with_its_last_byte_or_before_the_page_that_is_named,
	   values_without_sense_of_key_frames_and_taint_are_left_out, an_index_that_points_into_a_frame_is_warned_of,
	   a_key_frame_may_come_before_all_instructions,
	   a_machine_that_gdb_has_not_is_named, headers_that_are_none_are_refused,
	   lying_counts_and_offsets_are_said, a_good_index_is_not_warned_of,
	   frames_that_do_not_fit_are_damage, messages_that_are_none_are_damage,
	   unknown_kinds_of_frames_are_skipped_and_said, unknown_fields_are_skipped,
	   operands_without_sense_are_left_out_and_said, a_trace_cut_anywhere_keeps_its_whole_frames,
	   no_flipped_bit_does_harm, operands_of_any_form_say_the_same, lists_that_repeat_say_what_others_do,
	   damage_is_no_repetition, what_is_shown_again_counts_when_something_else_was_written,
	   a_register_written_twice_by_many_writes_is_resumed_as_written,
	   a_resumed_reader_goes_on_as_the_first_one_did, behind_a_damaged_frame_the_index_leads_on,
	   a_damaged_instruction_is_a_step_of_unknown_effects, without_a_sane_index_the_trace_ends_at_damage)
