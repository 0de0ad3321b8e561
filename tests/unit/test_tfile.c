/* SPDX-License-Identifier: MIT */
/*
 * gdb's trace files, written here from the manual's description.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tfile_case.h"

#define XML_MIPS                                                                                        \
	"tdesc <target><architecture>mips</architecture>\n"                                   \
	"tdesc <feature name=\"org.gnu.gdb.mips.cpu\"><reg name=\"sp\" bitsize=\"32\"/>\n"            \
	"tdesc <reg name=\"pc\" bitsize=\"32\"/></feature></target>\n"

/* ------------------------------------------------------------------------------------------------ frames */

START_TEST(a_frame_is_a_position)
{
	three_frames();
	serve();
	ck_assert_uint_eq(ts_query_end(q), 2);
	ck_assert_uint_eq(ts_query_n_steps(q), 2);
	ck_assert_int_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(rec->n_warnings, 0);
	ck_assert_str_eq(reg(0, "rax"), "a");
	ck_assert_str_eq(reg(0, "rip"), "1000");
	ck_assert_str_eq(reg(2, "rax"), "b");
	ck_assert_str_eq(reg(2, "rsp"), "7008");
	ck_assert_str_eq(reg(2, "rip"), "1004");
	ck_assert_str_eq(bytes(0, 0x5000), "abcd????");
	ck_assert_str_eq(bytes(2, 0x5000), "??????gh");
}
END_TEST

START_TEST(what_a_frame_did_not_collect_is_unknown)
{
	uint8_t data[4096], known[4096];

	three_frames();
	serve();
	ck_assert_str_eq(reg(1, "rax"), "?");
	ck_assert_str_eq(reg(1, "rsp"), "?");
	ck_assert(ts_query_regs(q, 1, 0, data, known, &err));
	for (unsigned i = 0; i < 16; i++) /* rax and rsp */
		ck_assert(!known[i] && !data[i]);
	ck_assert_str_eq(bytes(1, 0x5000), "??XYZ???");
}
END_TEST

START_TEST(without_registers_the_pc_is_the_tracepoints)
{
	three_frames();
	serve();
	ck_assert_str_eq(reg(1, "rip"), "2000");
	get(1);
	ck_assert(!frame.has_regs && frame.has_pc && !frame.is_step);
}
END_TEST

START_TEST(a_pc_is_not_guessed_from_several_locations_or_steps)
{
	head(HEAD_X64 "tp T1:1100:E:0:0\ntp T3:3000:E:5:0\n");
	for (uint16_t i = 1; i <= 3; i++) {
		begin(i);
		end();
	}
	finish();
	serve();
	for (unsigned i = 0; i < 3; i++) {
		get(i);
		ck_assert(!frame.has_pc);
		ck_assert_str_eq(reg(i, "rip"), "?");
	}
	ck_assert_uint_eq(ts_query_find_execution(q, 0, 0, UINT64_MAX, 0, TS_FORWARDS), TS_NO_POS);
	ck_assert_uint_eq(ts_query_find_arrival(q, 0, 0, UINT64_MAX, 2, TS_BACKWARDS), TS_NO_POS);
}
END_TEST

START_TEST(frames_tell_their_tracepoint_ranges_and_variables)
{
	int64_t value;

	three_frames();
	serve();
	ck_assert_uint_eq(rec->frames->n_frames, 3);
	get(0);
	ck_assert_uint_eq(frame.tracepoint, 1);
	ck_assert(frame.has_regs && !frame.is_whole);
	ck_assert_uint_eq(frame.n_ranges, 1);
	ck_assert_uint_eq(frame.ranges[0].addr, 0x5000);
	ck_assert_uint_eq(frame.ranges[0].len, 4);
	ck_assert(!ts_frame_value(&frame, 1, &value));
	get(2);
	ck_assert_uint_eq(frame.pos, 2);
	ck_assert(ts_frame_value(&frame, 1, &value) && value == 7);
	ck_assert(ts_frame_value(&frame, 2, &value) && value == 9);
	ck_assert_uint_eq(frame.n_vars, 3);
}
END_TEST

START_TEST(frames_of_a_tracepoint_are_found)
{
	const struct ts_frames_ops *ops;

	three_frames();
	serve();
	ops = rec->frames->ops;
	ck_assert_uint_eq(ops->next_of(rec->frames, 1, 0), 0);
	ck_assert_uint_eq(ops->next_of(rec->frames, 1, 1), 2);
	ck_assert_uint_eq(ops->next_of(rec->frames, 1, 3), TS_NO_FRAME);
	ck_assert_uint_eq(ops->next_of(rec->frames, 2, 0), 1);
	ck_assert_uint_eq(ops->next_of(rec->frames, 2, 2), TS_NO_FRAME);
	ck_assert_uint_eq(ops->next_of(rec->frames, 3, 0), TS_NO_FRAME);
	ck_assert_uint_eq(ops->next_of(rec->frames, 0x10001, 0), TS_NO_FRAME);
	ck_assert_uint_eq(ops->pos(rec->frames, 2), 2);
}
END_TEST

/* The ranges of memory that the next step forgets, in order.  No instruction wrote what differs between frames. */
static const char *forgotten(void)
{
	static char text[256];
	struct ts_reader *reader = rec->ops->reader(rec, &err);
	struct ts_steps steps;
	size_t n = 0;

	ts_steps_init(&steps);
	ck_assert_int_eq(ts_reader_next(reader, &steps, &err), TS_ITEM);
	for (uint32_t i = 0; i < steps.n_effects; i++) {
		const struct ts_effect *e = &steps.effects[i];

		ck_assert(e->kind != TS_FX_WRITE || e->is_hidden);
		if (e->kind == TS_FX_WRITE && e->data == TS_NO_DATA)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIx64 "+%" PRIu64, n ? " " : "", e->addr,
					      e->len);
	}
	text[n] = '\0';
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	return text;
}

/* What the next frame has too is not forgotten in between: it would look as if it had changed. */
START_TEST(only_what_the_next_frame_lacks_is_forgotten)
{
	head(HEAD_X64);
	begin(1);
	mem(0x5000, "0123456789abcdef");
	mem(0x5100, "wxyz");
	mem(0x5200, "same");
	end();
	begin(1);
	mem(0x4000, "aa");
	mem(0x4ffe, "bbb");
	mem(0x5002, "xx");
	mem(0x5006, "yy");
	mem(0x50fe, "zzzz");
	mem(0x5200, "same");
	end();
	finish();
	serve();
	ck_assert_str_eq(forgotten(), "5001+1 5004+2 5008+8 5102+2");
	ck_assert_str_eq(bytes(1, 0x5000), "b?xx??yy");
}
END_TEST

START_TEST(of_blocks_over_one_address_the_first_counts)
{
	head(HEAD_X64);
	for (unsigned i = 0; i < 2; i++) {
		begin(1);
		mem(0x5002, "first");
		mem(0x5000, "SECOND");
		mem(0x5004, "third");
		mem(0x6000, "");
		regs_x64(1 + i, 2, 3);
		regs_x64(9, 9, 9);
		end();
	}
	finish();
	serve();
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_str_eq(bytes(i, 0x5000), "SEfirstr");
		ck_assert_str_eq(bytes(i, 0x5008), "d???????");
		ck_assert_str_eq(bytes(i, 0x6000), "????????");
		ck_assert_str_eq(reg(i, "rax"), i ? "2" : "1");
	}
}
END_TEST

START_TEST(steps_after_a_tracepoint_are_known_by_their_pc)
{
	head("R 18\n" XML_X64 "tp T1:1000:E:5:0\n");
	for (unsigned i = 0; i < 3; i++) {
		begin(1);
		regs_x64(0, 0, 0x1000 + 2 * (i % 2));
		end();
	}
	finish();
	serve();
	for (unsigned i = 0; i < 3; i++) {
		get(i);
		ck_assert_int_eq(frame.is_step, i == 1);
	}
}
END_TEST

START_TEST(one_frame_is_a_recording)
{
	head(HEAD_X64);
	begin(1);
	regs_x64(5, 6, 0x1000);
	end();
	finish();
	serve();
	ck_assert_uint_eq(ts_query_end(q), 0);
	ck_assert_uint_eq(rec->frames->n_frames, 1);
	ck_assert_str_eq(reg(0, "rax"), "5");
	ck_assert_str_eq(reg(0, "rip"), "1000");
	ck_assert_uint_eq(ts_query_find_arrival(q, 0, 0x1000, 0x1000, 0, TS_FORWARDS), 0);
}
END_TEST

START_TEST(big_endian_files_are_known_by_their_frames)
{
	is_big = true;
	head("R 8\n" XML_MIPS "tp T1:1000:E:0:0\n");
	for (unsigned i = 0; i < 2; i++) {
		begin(1);
		ts_buf_putc(&f, 'R');
		num(0x7000 + i, 4);
		num(0x1000, 4);
		mem(0x5000, "big");
		var(1, -3);
		end();
	}
	finish();
	serve();
	ck_assert(rec->regs.arch->is_big_endian);
	ck_assert_str_eq(reg(1, "sp"), "7001");
	ck_assert_str_eq(bytes(1, 0x5000), "big?????");
	get(1);
	ck_assert_uint_eq(frame.tracepoint, 1);
	ck_assert_int_eq(frame.vars[0].value, -3);
}
END_TEST

START_TEST(the_same_processor_may_be_little_endian)
{
	head("R 8\n" XML_MIPS "tp T1:1000:E:0:0\n");
	begin(1);
	ts_buf_putc(&f, 'R');
	num(0x7000, 4);
	num(0x1000, 4);
	end();
	finish();
	serve();
	ck_assert(!rec->regs.arch->is_big_endian);
	ck_assert_str_eq(reg(0, "sp"), "7000");
}
END_TEST

/*
 * Where the frames tell nothing, the order is the description's; known tracepoints count more than unknown
 * ones.
 */
START_TEST(the_byte_order_is_that_of_more_known_tracepoints)
{
	head("R 8\n" XML_MIPS "tp T1:1000:E:0:0\n");
	finish();
	serve();
	ck_assert(!rec->regs.arch->is_big_endian);
	close_all();
	head("R 8\n" XML_MIPS "tp T1:1000:E:0:0\ntp T2:2000:E:0:0\n");
	for (unsigned i = 0; i < 3; i++) { /* of no bytes, so that both orders lead on */
		is_big = i > 0;
		begin((uint16_t)(1 + is_big));
	}
	finish();
	serve();
	ck_assert(rec->regs.arch->is_big_endian); /* 0x100, 2, 2, not 1, 0x200, 0x200 */
	ck_assert_uint_eq(rec->frames->n_frames, 3);
	get(1);
	ck_assert_uint_eq(frame.tracepoint, 2);
}
END_TEST

START_TEST(without_description_the_processor_is_an_option)
{
	frame_without_description();
	expect_refused(TS_EUSAGE, "--arch");
	arch_option = "x86_64";
	serve();
	ck_assert_str_eq(reg(0, "rbx"), "1");
	ck_assert_str_eq(reg(0, "rip"), "1234");
	close_all();
	arch_option = "pdp11";
	expect_refused(TS_EUSAGE, "pdp11");
}
END_TEST

/* The set of x86_64 with these optional features. */
static void init_x64(struct ts_regset *set, unsigned n, const char *const names[])
{
	const struct ts_arch *arch = ts_arch_find("x86_64");
	uint32_t mask = 0;

	for (unsigned i = 0; i < n; i++)
		mask |= 1u << ts_arch_feature(arch, names[i]);
	ck_assert(ts_regset_init(set, arch, mask, &err));
}

START_TEST(without_description_the_size_tells_the_features)
{
	static const char *const names[] = { "org.gnu.gdb.i386.linux", "org.gnu.gdb.i386.segments",
					     "org.gnu.gdb.i386.avx" };

	arch_option = "x86_64";
	for (unsigned n = 0; n <= 3; n++) {
		struct ts_regset set;
		char lines[64];

		init_x64(&set, n, names);
		snprintf(lines, sizeof(lines), "R %x\ntp T1:1000:E:0:0\n", set.g_len);
		head(lines);
		begin(1);
		ts_buf_putc(&f, 'R');
		for (uint32_t i = 0; i < set.g_len; i++)
			ts_buf_putc(&f, (uint8_t)(i / 8));
		end();
		finish();
		serve();
		ck_assert_uint_eq(rec->regs.g_len, set.g_len);
		ck_assert_uint_eq(rec->n_warnings, 0);
		for (unsigned i = 0; i < 3; i++) {
			static const char *const regs[] = { "orig_rax", "fs_base", "ymm0h" };

			ck_assert_int_eq(ts_regset_find(&rec->regs, regs[i]) >= 0, i < n);
		}
		ts_regset_fini(&set);
		close_all();
	}
}
END_TEST

START_TEST(a_size_that_no_features_have_is_said)
{
	struct ts_regset set;
	char lines[64];

	arch_option = "x86_64";
	init_x64(&set, 0, NULL);
	snprintf(lines, sizeof(lines), "R %x\ntp T1:1000:E:0:0\n", set.g_len + 4);
	head(lines);
	begin(1);
	ts_buf_putc(&f, 'R');
	for (uint32_t i = 0; i < set.g_len + 4; i++)
		ts_buf_putc(&f, 0);
	end();
	finish();
	serve();
	expect_warning("are not described, x86_64's have");
	ck_assert_uint_eq(rec->regs.g_len, set.g_len);
	ts_regset_fini(&set);
}
END_TEST

/*
 * Read as big-endian the frame below is one of tracepoint 256 with 65,536 bytes, after which stands another
 * and a mark: as many heads as the little-endian reading has, but none of a tracepoint that is defined.
 */
START_TEST(frames_of_known_tracepoints_weigh_more_than_frames)
{
	size_t frames;

	head("R 8\n" XML_MIPS "tp T1:1000:E:0:0\n");
	frames = f.len;
	begin(1);
	ts_buf_putc(&f, 'M');
	num(0x5000, 8);
	num(245, 2);
	for (unsigned i = 0; i < 245; i++)
		ts_buf_putc(&f, 'x');
	end();
	num(0, 2);
	while (f.len < frames + 6 + 65536)
		ts_buf_putc(&f, 'x');
	ts_buf_put(&f, "\2\0\0\0\0\0", 6);
	num(0, 2);
	serve();
	ck_assert_str_eq(rec->regs.arch->name, "mipsel");
	ck_assert_str_eq(bytes(0, 0x5000), "xxxxxxxx");
}
END_TEST

START_TEST(a_frame_may_hold_any_number_of_ranges)
{
	head(HEAD_X64);
	begin(1);
	mem(0x5000, "abcdefgh");
	mem(0x6000, "ABCDEFGH");
	end();
	begin(1);
	mem(0x5001, "x");
	mem(0x5004, "yz");
	end();
	finish();
	serve();
	get(0);
	ck_assert_uint_eq(frame.n_ranges, 2);
	ck_assert_uint_eq(frame.ranges[0].addr, 0x5000);
	ck_assert_uint_eq(frame.ranges[1].addr, 0x6000);
	ck_assert_str_eq(bytes(0, 0x5000), "abcdefgh");
	ck_assert_str_eq(bytes(1, 0x5000), "?x??yz??");
	ck_assert_str_eq(bytes(1, 0x6000), "????????");
}
END_TEST

/* It may lie anywhere in memory. */
START_TEST(a_program_that_was_moved_says_nothing)
{
	size_t len;
	uint8_t *elf = unit_data("tfile-samples/work", &len);
	FILE *out = fopen("pie", "wb");

	elf[16] = 3; /* ET_DYN */
	fwrite(elf, 1, len, out);
	fclose(out);
	free(elf);
	exec_option = "pie";
	three_frames();
	serve();
	ck_assert_str_eq(bytes(0, 0x40100a), "????????");
}
END_TEST

START_TEST(a_program_that_was_moved_lies_where_the_user_says)
{
	static const uint64_t base = 0x7ff7e0000000; /* of 0x400000 */
	size_t len;
	uint8_t *elf = unit_data("tfile-samples/work", &len);
	FILE *out = fopen("pie", "wb");

	elf[16] = 3; /* ET_DYN */
	fwrite(elf, 1, len, out);
	fclose(out);
	free(elf);
	exec_option = "pie";
	exec_base = &base;
	three_frames();
	serve();
	ck_assert_str_eq(bytes(0, base + 0x100a), "\x8b\x55\xec\x89\xd0\x01\xc0\x01");
	ck_assert_str_eq(bytes(0, 0x40100a), "????????");
}
END_TEST

START_TEST(registers_beyond_the_block_are_unknown)
{
	head("R 14\n" XML_X64 "tp T1:1000:E:0:0\n");
	begin(1);
	ts_buf_putc(&f, 'R');
	num(1, 8);
	num(2, 8);
	num(3, 4);
	end();
	finish();
	serve();
	ck_assert_str_eq(reg(0, "rax"), "1");
	ck_assert_str_eq(reg(0, "rsp"), "2");
	ck_assert_str_eq(reg(0, "rip"), "1000");
	get(0);
	ck_assert(frame.has_regs && frame.has_pc);
}
END_TEST

START_TEST(a_decimal_register_size_is_understood)
{
	head("R 24\n" XML_X64 "tp T1:1000:E:0:0\n");
	begin(1);
	regs_x64(1, 2, 3);
	mem(0x5000, "abc");
	end();
	finish();
	serve();
	expect_warning("decimal");
	ck_assert_str_eq(reg(0, "rip"), "3");
	ck_assert_str_eq(bytes(0, 0x5000), "abc?????");
}
END_TEST

START_TEST(what_the_program_cannot_write_is_known)
{
	exec_option = unit_data_path("tfile-samples/work");
	head(HEAD_X64);
	for (unsigned i = 0; i < 2; i++) {
		begin(1);
		mem(i ? 0x5000 : 0x40100e, "now");
		end();
	}
	finish();
	serve();
	ck_assert_str_eq(bytes(0, 0x40100a), "\x8b\x55\xec\x89" "now\x01");
	ck_assert_str_eq(bytes(1, 0x40100a),
			 "\x8b\x55\xec\x89\xd0\x01\xc0\x01"); /* what objdump -s shows of it */
	ck_assert_str_eq(bytes(1, 0x402010), "????????");
	ck_assert_str_eq(bytes(0, 0x5000), "????????");
}
END_TEST

START_TEST(definitions_variables_and_status_are_there)
{
	head("R 18\n" XML_X64 "status 0;terror:6469766964652062792030:1;tframes:2;notes:6869;username:\n"
	     "tsv 1:fffffffffffffffe:0:68697473\n"
	     "tp T1:1000:D:0:3:X2,2227\ntp A1:1000:R40\ntp Z1:1000:at:0:4:66696c6c\ntp V1:1000:8:30\n");
	begin(1);
	end();
	finish();
	serve();
	ck_assert_int_eq(rec->tracing->status.end, TS_RUN_ERROR);
	ck_assert_str_eq(rec->tracing->status.text, "divide by 0");
	ck_assert_str_eq(rec->tracing->status.notes, "hi");
	ck_assert_uint_eq(rec->tracing->status.n_frames, 2);
	ck_assert_int_eq(ts_tracing_find_var(rec->tracing, 1)->initial, -2);
	ck_assert_uint_eq(ts_tracing_find(rec->tracing, 1, 0x1000)->pass_count, 3);
	ck_assert_uint_eq(ts_tracing_find(rec->tracing, 1, 0x1000)->n_hits, 8);
}
END_TEST

START_TEST(a_file_saved_in_mid_run_is_served_as_stopped)
{
	head("R 18\n" XML_X64 "status 1;tnotrun:0;tframes:1\n");
	begin(1);
	end();
	finish();
	serve();
	ck_assert(!rec->tracing->status.is_running);
	ck_assert_int_eq(rec->tracing->status.end, TS_RUN_UNKNOWN);
}
END_TEST

START_TEST(lines_longer_than_gdb_reads_are_read)
{
	struct ts_buf lines;

	ts_buf_init(&lines);
	ts_buf_puts(&lines, HEAD_X64 "tp Z1:1000:cmd:0:1:");
	for (unsigned i = 0; i < 2000; i++)
		ts_buf_puts(&lines, "41");
	ts_buf_puts(&lines, "\n");
	head(ts_buf_text(&lines));
	ts_buf_fini(&lines);
	begin(1);
	end();
	finish();
	serve();
	ck_assert_uint_eq(rec->n_warnings, 0);
	ck_assert_uint_eq(ts_tracing_find(rec->tracing, 1, 0x1000)->sources->n_text, 2000);
}
END_TEST

/* ------------------------------------------------------------------------------------------ decode points */

START_TEST(a_reader_resumed_anywhere_goes_on_the_same)
{
	struct ts_reader *a, *b;
	struct ts_steps x, y;
	enum ts_next next;

	three_frames();
	ck_assert(open_file());
	a = rec->ops->reader(rec, &err);
	b = rec->ops->reader(rec, &err);
	ts_steps_init(&x);
	ts_steps_init(&y);
	do {
		struct ts_buf point;

		ts_buf_init(&point);
		ts_reader_save(a, &point);
		ck_assert(ts_reader_resume(b, point.data, point.len, &err));
		ts_buf_fini(&point);
		ts_steps_reset(&x);
		ts_steps_reset(&y);
		next = a->ops->next(a, &x, &err);
		ck_assert_int_eq(b->ops->next(b, &y, &err), next);
		ck_assert_uint_eq(x.n_effects, y.n_effects);
		ck_assert_uint_eq(x.n_data, y.n_data);
		ck_assert(!x.n_data || !memcmp(x.data, y.data, x.n_data));
		ck_assert(!x.n_effects || !memcmp(x.effects, y.effects, x.n_effects * sizeof(*x.effects)));
		ck_assert_uint_eq(a->end.pc, b->end.pc);
	} while (next == TS_ITEM);
	ts_steps_fini(&x);
	ts_steps_fini(&y);
	ts_reader_close(a);
	ts_reader_close(b);
}
END_TEST

UNIT_FIXTURE_SUITE("tfile", setup, teardown, a_frame_is_a_position, what_a_frame_did_not_collect_is_unknown,
		   without_registers_the_pc_is_the_tracepoints,
		   a_pc_is_not_guessed_from_several_locations_or_steps,
		   frames_tell_their_tracepoint_ranges_and_variables, frames_of_a_tracepoint_are_found,
		   of_blocks_over_one_address_the_first_counts,
		   steps_after_a_tracepoint_are_known_by_their_pc, one_frame_is_a_recording,
		   big_endian_files_are_known_by_their_frames, the_same_processor_may_be_little_endian,
		   the_byte_order_is_that_of_more_known_tracepoints,
		   without_description_the_processor_is_an_option,
		   only_what_the_next_frame_lacks_is_forgotten,
		   without_description_the_size_tells_the_features, a_size_that_no_features_have_is_said,
		   frames_of_known_tracepoints_weigh_more_than_frames, a_frame_may_hold_any_number_of_ranges,
		   a_program_that_was_moved_says_nothing,
		   a_program_that_was_moved_lies_where_the_user_says, registers_beyond_the_block_are_unknown,
		   a_decimal_register_size_is_understood, what_the_program_cannot_write_is_known,
		   definitions_variables_and_status_are_there, a_file_saved_in_mid_run_is_served_as_stopped,
		   lines_longer_than_gdb_reads_are_read, a_reader_resumed_anywhere_goes_on_the_same)
