/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames: files made here from the format's description.
 */
#include "unit.h"

#include <string.h>

#include "bap_bytes.h"
#include "world_lists.h"

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

static unsigned n_modules(const struct loaded *l, uint64_t pos)
{
	unsigned n = 0;
	size_t at = 0;

	while (world_next_module(&l->tl->world, 0, pos, &at))
		n++;
	return n;
}

START_TEST(modules_appear_before_the_next_instruction)
{
	struct ts_buf file = start();
	const struct ts_module_span *m;
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
	m = world_next_module(&l.tl->world, 0, 0, &at);
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
	const struct ts_event_at *h;
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
	h = ts_world_find_event(&l.tl->world, TS_EV_SYSCALL, 0, false);
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
	const struct ts_event_at *h;
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
	h = ts_world_find_event(&l.tl->world, TS_EV_SIGNAL, 0, false);
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
		{ 0, 143 }, { 11, 11 }, { 15, 15 }, { 16, 143 }, { 1000, 143 }, /* unknown */
		{ 7, 10 },                                                    /* SIGBUS */
		{ 10, 30 },                                                   /* SIGUSR1 */
		{ 17, 20 },                                                   /* SIGCHLD */
		{ 24, 24 }, { 27, 27 }, { 28, 28 }, /* SIGXCPU, SIGPROF, SIGWINCH */
		{ 29, 23 }, { 30, 32 }, { 31, 12 }, /* SIGIO, SIGPWR, SIGSYS */
		{ 34, 46 }, { 64, 78 },             /* real-time signals */
		{ UINT64_C(1) << 32 | 11, 143 },
		{ 0xc0000005, 11 },                                           /* an access violation */
		{ 0x80000003, 5 },                                            /* a breakpoint */
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct ts_buf file = start(), m = { 0 };
		const struct ts_event_at *h;
		struct loaded l;

		number(&m, 1, signals[i].number);
		frame(&file, 3, &m);
		nop_frame(&file, 0x1000, 1);
		l = loaded(&file);
		h = ts_world_find_event(&l.tl->world, TS_EV_SIGNAL, 0, false);
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
		const struct ts_module_span *m;
		struct loaded l;
		size_t at = 0;

		file = start();
		modload(&file, "/bin/prog", modules[i].low, modules[i].high);
		nop_frame(&file, 0x1000, 1);
		l = loaded(&file);
		m = world_next_module(&l.tl->world, 0, 0, &at);
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
	   values_without_sense_of_key_frames_and_taint_are_left_out,
	   a_key_frame_may_come_before_all_instructions, a_machine_that_gdb_has_not_is_named)
