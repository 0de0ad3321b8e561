/* SPDX-License-Identifier: MIT */
/*
 * Trace files of gdb, made up here after the manual's appendix: what each frame shows, and what is refused.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "src/frames/frames.h"
#include "src/frames/tracepoint.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#define MAGIC "\x7fTRACE0\n"
#define XML_X64                                                                                        \
	"tdesc <target><architecture>i386:x86-64</architecture>\n"                                      \
	"tdesc <feature name=\"org.gnu.gdb.i386.core\"><reg name=\"rax\" bitsize=\"64\"/>\n"            \
	"tdesc <reg name=\"rsp\" bitsize=\"64\"/><reg name=\"rip\" bitsize=\"64\"/></feature></target>\n"
#define XML_MIPS                                                                                        \
	"tdesc <target><architecture>mips</architecture>\n"                                   \
	"tdesc <feature name=\"org.gnu.gdb.mips.cpu\"><reg name=\"sp\" bitsize=\"32\"/>\n"            \
	"tdesc <reg name=\"pc\" bitsize=\"32\"/></feature></target>\n"
#define HEAD_X64 "R 18\n" XML_X64 "status 0;tstop::0\ntp T1:1000:E:0:0\n"

static struct ts_buf f; /* the file */
static bool is_big;
static size_t frame_at; /* where the open frame's length stands */
static struct ts_source *src;
static struct ts_recording *rec;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_frame frame;
static struct ts_error err;
static const char *arch_option, *exec_option;

static void setup(void)
{
	ts_buf_init(&f);
	ts_frame_init(&frame);
	ts_error_reset(&err);
	is_big = false;
	src = NULL;
	rec = NULL;
	tl = NULL;
	q = NULL;
	arch_option = exec_option = NULL;
}

static void close_all(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	q = NULL;
	tl = NULL;
	rec = NULL;
	src = NULL;
}

static void teardown(void)
{
	close_all();
	ts_frame_fini(&frame);
	ts_buf_fini(&f);
}

/* ------------------------------------------------------------------------------------------- making files */

static void head(const char *lines)
{
	ts_buf_reset(&f);
	ts_buf_puts(&f, MAGIC);
	ts_buf_puts(&f, lines);
	ts_buf_putc(&f, '\n');
}

static void num(uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(&f, (uint8_t)(v >> 8 * (is_big ? len - 1 - i : i)));
}

static void begin(uint16_t tracepoint)
{
	num(tracepoint, 2);
	frame_at = f.len;
	num(0, 4);
}

static void end(void)
{
	size_t len = f.len - frame_at - 4, was = f.len;

	f.len = frame_at;
	num(len, 4);
	f.len = was;
}

static void regs_x64(uint64_t rax, uint64_t rsp, uint64_t rip)
{
	ts_buf_putc(&f, 'R');
	num(rax, 8);
	num(rsp, 8);
	num(rip, 8);
}

static void mem(uint64_t addr, const char *bytes)
{
	ts_buf_putc(&f, 'M');
	num(addr, 8);
	num(strlen(bytes), 2);
	ts_buf_puts(&f, bytes);
}

static void var(uint32_t number, int64_t value)
{
	ts_buf_putc(&f, 'V');
	num(number, 4);
	num((uint64_t)value, 8);
}

static void finish(void)
{
	num(0, 4);
}

/* ------------------------------------------------------------------------------------------- reading them */

static bool open_file(void)
{
	const struct ts_loader_options opt = { .arch = arch_option, .exec = exec_option };
	const struct ts_loader *loader = ts_loader_find("tfile");

	ck_assert(ts_buf_ok(&f));
	ts_error_reset(&err);
	unit_seed(f.data, f.len);
	src = ts_source_from_memory(f.data, f.len, "test", &err);
	rec = ts_loader_open(loader, src, &opt, &err);
	return rec != NULL;
}

static void serve(void)
{
	ck_assert_msg(open_file(), "%s", err.text);
	tl = ts_timeline_new(rec, NULL, &err);
	ck_assert_ptr_nonnull(tl);
	ck_assert_msg(ts_timeline_grow(tl, UINT64_MAX, &err) == TS_GROW_DONE, "%s", err.text);
	q = ts_query_new(tl, &err);
	ck_assert_ptr_nonnull(q);
}

static void expect_refused(enum ts_code code, const char *word)
{
	ck_assert(!open_file());
	ck_assert_msg(err.code == code, "%s: %s", ts_code_name(err.code), err.text);
	ck_assert_msg(strstr(err.text, word) != NULL, "no \"%s\" in: %s", word, err.text);
	close_all();
}

static void expect_refused_at(enum ts_code code, uint64_t off, const char *word)
{
	expect_refused(code, word);
	ck_assert_msg(err.off == off, "offset 0x%" PRIx64 ", not 0x%" PRIx64 ": %s", err.off, off, err.text);
}

static void expect_warning(const char *word)
{
	for (unsigned i = 0; i < rec->n_warnings; i++) {
		if (strstr(rec->warnings[i].text, word))
			return;
	}
	ck_abort_msg("no warning with \"%s\", the first is: %s", word,
		     rec->n_warnings ? rec->warnings[0].text : "");
}

/* The register's value in words, "?" if it is unknown. */
static const char *reg(uint64_t pos, const char *name)
{
	static char text[32];
	uint8_t data[4096], known[4096];
	const struct ts_reg *r = &rec->regs.regs[ts_regset_find(&rec->regs, name)];

	ck_assert(ts_query_regs(q, pos, 0, data, known, &err));
	snprintf(text, sizeof(text), "%" PRIx64, ts_arch_get(rec->regs.arch, data + r->off, r->len));
	return memchr(known + r->off, 0, r->len) ? "?" : text;
}

/* Eight bytes at @addr as characters, '?' where unknown. */
static const char *bytes(uint64_t pos, uint64_t addr)
{
	static char text[9];
	uint8_t known[8];

	ck_assert(ts_query_mem(q, pos, 0, addr, 8, (uint8_t *)text, known, &err));
	for (unsigned i = 0; i < 8; i++)
		text[i] = known[i] ? text[i] : '?';
	return text;
}

static void get(uint64_t n)
{
	ck_assert_msg(ts_frames_get(rec->frames, n, &frame, &err), "%s", err.text);
}

/* ------------------------------------------------------------------------------------------------ frames */

static void three_frames(void)
{
	head(HEAD_X64 "tp T2:2000:E:0:0\n");
	begin(1);
	regs_x64(0xa, 0x7000, 0x1000);
	mem(0x5000, "abcd");
	end();
	begin(2);
	mem(0x5002, "XYZ");
	end();
	begin(1);
	regs_x64(0xb, 0x7008, 0x1004);
	mem(0x5006, "gh");
	var(1, -5);
	var(1, 7);
	var(2, 9);
	end();
	finish();
}

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
	three_frames();
	serve();
	ck_assert_str_eq(reg(1, "rax"), "?");
	ck_assert_str_eq(reg(1, "rsp"), "?");
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
	ck_assert_uint_eq(ts_query_next_execution(q, 0, 0, UINT64_MAX, 0), TS_NO_POS);
	ck_assert_uint_eq(ts_query_prev_arrival(q, 0, 0, UINT64_MAX, 2), TS_NO_POS);
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

/* The ranges of memory that the next step forgets, in order. */
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
	ck_assert_uint_eq(ts_query_next_arrival(q, 0, 0x1000, 0x1000, 0), 0);
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
	head("R 138\ntp T1:1000:E:0:0\n");
	begin(1);
	ts_buf_putc(&f, 'R');
	for (unsigned i = 0; i < 0x138 / 8; i++)
		num(i == 16 ? 0x1234 : i, 8);
	end();
	finish();
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

/* ---------------------------------------------------------------------------------------------- bad input */

START_TEST(a_file_without_the_magic_is_refused)
{
	three_frames();
	f.data[6] = '1';
	expect_refused_at(TS_EUNSUPPORTED, 0, "magic");
	for (size_t len = 0; len < 8; len++) {
		f.len = len;
		expect_refused(TS_EUNSUPPORTED, "magic");
	}
}
END_TEST

/* gdb's target tfile: no frame is selected, and only the program's own bytes are known. */
static void check_empty(void)
{
	serve();
	ck_assert_uint_eq(rec->frames->n_frames, 0);
	expect_warning("no trace frame");
	ck_assert_uint_eq(rec->frames->ops->next_of(rec->frames, 1, 0), TS_NO_FRAME);
	ck_assert_uint_eq(rec->tracing->n_points, 1);
	ck_assert_uint_eq(ts_query_end(q), 0);
	ck_assert_str_eq(reg(0, "rax"), "?");
	ck_assert_str_eq(reg(0, "rip"), "?");
	ck_assert_uint_eq(ts_query_next_arrival(q, 0, 0, UINT64_MAX, 0), TS_NO_POS);
	ck_assert_str_eq(bytes(0, 0x5000), "????????");
	ck_assert_str_eq(bytes(0, 0x40100a), exec_option ? "\x8b\x55\xec\x89\xd0\x01\xc0\x01" : "????????");
}

START_TEST(a_file_without_frames_shows_its_definitions)
{
	head(HEAD_X64);
	check_empty();
	expect_warning("no mark at the end");
	close_all();
	finish();
	check_empty();
	ck_assert_uint_eq(rec->n_warnings, 1);
	close_all();
	exec_option = unit_data_path("tfile-samples/work");
	check_empty();
}
END_TEST

START_TEST(without_description_the_processor_is_the_programs)
{
	head("R 138\ntp T1:1000:E:0:0\n");
	begin(1);
	ts_buf_putc(&f, 'R');
	for (unsigned i = 0; i < 0x138 / 8; i++)
		num(i == 16 ? 0x1234 : i, 8);
	end();
	finish();
	exec_option = unit_data_path("tfile-samples/work");
	serve();
	ck_assert_str_eq(rec->regs.arch->name, "x86_64");
	ck_assert_str_eq(reg(0, "rbx"), "1");
	ck_assert_str_eq(reg(0, "rip"), "1234");
	close_all();
	arch_option = "aarch64"; /* what the user says comes first */
	ck_assert(open_file());
	ck_assert_str_eq(rec->regs.arch->name, "aarch64");
	close_all();
	arch_option = NULL;
	exec_option = unit_data_path("tfile-samples/../tfile-samples/work.c");
	expect_refused(TS_EUSAGE, "--exec");
}
END_TEST

START_TEST(a_text_section_without_end_is_refused)
{
	three_frames();
	f.len = 8 + strlen(HEAD_X64);
	expect_refused_at(TS_ETRUNC, f.len, "empty line at its end is missing");
}
END_TEST

START_TEST(a_register_size_that_lies_costs_only_the_blocks)
{
	head("R fff\n" XML_X64 "tp T1:1000:E:0:0\n");
	for (unsigned i = 0; i < 2; i++) {
		begin(1);
		mem(0x5000, "ok");
		regs_x64(1, 2, 3);
		end();
	}
	finish();
	serve();
	expect_warning("frame 0");
	ck_assert_str_eq(bytes(1, 0x5000), "ok??????");
	ck_assert_str_eq(reg(1, "rax"), "?");
}
END_TEST

START_TEST(a_register_size_that_is_none_is_refused)
{
	head("R\n");
	expect_refused(TS_ECORRUPT, "R line");
	head(XML_X64);
	expect_refused(TS_ECORRUPT, "R line");
	head("R 0\n");
	expect_refused(TS_ECORRUPT, "R line");
	head("R 1x\n");
	expect_refused_at(TS_ECORRUPT, 10, "\"1x\"");
	head("R 100001\n");
	expect_refused_at(TS_ELIMIT, 10, "1048576");
	head("R ffffffffffffffffffffffff\n");
	expect_refused_at(TS_ELIMIT, 10, "1048576");
}
END_TEST

/* A frame with what is right, then a bad end in a way of its own, then right again; and a good frame. */
static void bad_block(const char *tail, size_t len, const char *word)
{
	close_all();
	head(HEAD_X64);
	begin(1);
	mem(0x5000, "ok");
	ts_buf_put(&f, tail, len);
	end();
	begin(1);
	regs_x64(7, 8, 0x1000);
	mem(0x5000, "fine");
	end();
	finish();
	serve();
	expect_warning("frame 0");
	expect_warning(word);
	ck_assert_uint_eq(rec->n_warnings, 1);
	ck_assert_str_eq(bytes(0, 0x5000), "ok??????");
	ck_assert_str_eq(bytes(1, 0x5000), "fine????");
	ck_assert_str_eq(reg(1, "rax"), "7");
}

START_TEST(a_bad_block_costs_the_rest_of_its_frame)
{
	bad_block("Q", 1, "unknown kind 0x51");
	bad_block("\0", 1, "unknown kind 0x00");
	bad_block("M", 1, "8");
	bad_block("M\0\0\0\0\0\0\0\0\5\0abcd", 15, "5");
	bad_block("R1234", 5, "24");
	bad_block("V123456789ab", 12, "8");
	bad_block("S\5\0ab", 5, "5");
	bad_block("M\377\377\377\377\377\377\377\377\2\0ab", 13, "end of the address space");
}
END_TEST

START_TEST(static_marker_data_is_skipped)
{
	head(HEAD_X64);
	begin(1);
	ts_buf_put(&f, "S\3\0abc", 6);
	mem(0x5000, "behind");
	end();
	finish();
	serve();
	ck_assert_uint_eq(rec->n_warnings, 0);
	ck_assert_str_eq(bytes(0, 0x5000), "behind??");
}
END_TEST

START_TEST(a_file_cut_anywhere_serves_what_came_before)
{
	size_t whole, first, second;

	three_frames();
	whole = f.len - 4;
	first = 8 + strlen(HEAD_X64 "tp T2:2000:E:0:0\n") + 1 + 6 + 25 + 15;
	second = first + 6 + 14;
	for (size_t len = first; len < whole; len++) {
		f.len = len;
		serve();
		ck_assert_uint_eq(rec->frames->n_frames, len < second ? 1 : 2);
		ck_assert_str_eq(bytes(0, 0x5000), "abcd????");
		if (len == first || len == second) {
			ck_assert_int_eq(tl->damage.code, TS_OK);
			expect_warning("no mark at the end");
		} else {
			ck_assert_int_eq(tl->damage.code, TS_ETRUNC);
			ck_assert_uint_eq(tl->damage.off, len < second ? first : second);
			ck_assert_ptr_nonnull(
				strstr(tl->damage.text, len < second ? "after 1 frames" : "after 2 frames"));
			/* of two bytes for the tracepoint and four for the length the head is made */
			ck_assert_int_eq(strstr(tl->damage.text, "its head has 6 bytes") != NULL,
					 len - (len < second ? first : second) < 6);
		}
		close_all();
	}
	for (size_t len = 0; len < first; len++) {
		f.len = len;
		if (len == 8 + strlen(HEAD_X64 "tp T2:2000:E:0:0\n") + 1)
			continue; /* no frame at all */
		ck_assert(!open_file());
		ck_assert_int_ne(err.code, TS_OK);
		close_all();
	}
}
END_TEST

START_TEST(what_follows_the_end_is_ignored)
{
	three_frames();
	ts_buf_puts(&f, "M garbage of a buffer that went round");
	serve();
	ck_assert_uint_eq(rec->frames->n_frames, 3);
	ck_assert_uint_eq(rec->n_warnings, 0);
}
END_TEST

START_TEST(registers_have_at_most_a_mebibyte)
{
	head("R 100001\n" XML_X64 "tp T1:1000:E:0:0\n");
	expect_refused(TS_ELIMIT, "registers of more than 1048576 bytes");
	head("R 100000\n" XML_X64 "tp T1:1000:E:0:0\n");
	open_file();
	ck_assert_ptr_null(strstr(err.text, "registers of more"));
}
END_TEST

START_TEST(the_magic_number_is_enough)
{
	const struct ts_loader *loader = ts_loader_find("tfile");

	ck_assert_uint_eq(loader->probe((const uint8_t *)MAGIC, 8, 8), 64);
	ck_assert_uint_eq(loader->probe((const uint8_t *)MAGIC, 7, 7), 0);
	ck_assert_uint_eq(loader->probe((const uint8_t *)"\x7fTRACE1\n", 8, 8), 0);
}
END_TEST

START_TEST(a_line_of_a_megabyte_is_refused)
{
	static const size_t lens[] = { 65536, 1 << 20 };

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		ts_buf_reset(&f);
		ts_buf_puts(&f, MAGIC "R ");
		for (size_t j = 0; j < lens[i]; j++)
			ts_buf_putc(&f, '0');
		ts_buf_puts(&f, "18\n\n");
		expect_refused_at(TS_ELIMIT, 8, "65535");
	}
}
END_TEST

START_TEST(an_endless_text_section_is_refused)
{
	ts_buf_puts(&f, MAGIC);
	while (f.len < 9 << 20)
		ts_buf_printf(&f, "tp %4000d\n", 1);
	expect_refused(TS_ELIMIT, "text section");
}
END_TEST

START_TEST(lines_that_nobody_understands_are_skipped)
{
	head(HEAD_X64 "frobnicate 1\ntp Q1:1000:0\ntp\ntp T1:zz\ntsv 9\nstatus x\ntp A7:7:R1\n");
	begin(1);
	regs_x64(1, 2, 3);
	end();
	finish();
	serve();
	ck_assert_uint_eq(rec->n_warnings, 7);
	expect_warning("frobnicate");
	expect_warning("no tracepoint 7");
	ck_assert_str_eq(reg(0, "rax"), "1");
	ck_assert_uint_eq(rec->tracing->n_points, 1);
}
END_TEST

static void expect_bad_xml(const char *xml, enum ts_code code, const char *word)
{
	char text[1024];

	snprintf(text, sizeof(text), "R 18\n%s", xml);
	head(text);
	begin(1);
	end();
	finish();
	expect_refused_at(code, 8 + 5 + 6, word);
	ck_assert_ptr_nonnull(strstr(err.text, "target description"));
}

START_TEST(descriptions_with_entities_or_nothing_in_them_are_refused)
{
	expect_bad_xml(
		"tdesc <!DOCTYPE target [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
		"tdesc <!ENTITY c "
		"\"&b;&b;&b;&b;&b;&b;&b;&b;\">]><target><architecture>&c;</architecture></target>\n",
		TS_ECORRUPT, "");
	expect_bad_xml("tdesc <!DOCTYPE target [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n"
		       "tdesc <target><architecture>&a;</architecture></target>\n", TS_ECORRUPT, "");
	expect_bad_xml("tdesc <target><architecture>pdp11</architecture></target>\n", TS_EUNSUPPORTED,
		       "pdp11");
	expect_bad_xml("tdesc <target>\n", TS_ECORRUPT, "");
	expect_bad_xml("tdesc nonsense\n", TS_ECORRUPT, "");
}
END_TEST

START_TEST(no_flipped_bit_is_more_than_an_error)
{
	size_t n;

	three_frames();
	n = f.len * 8;
	for (size_t i = 0; i < n; i++) {
		f.data[i / 8] ^= (uint8_t)(1 << i % 8);
		if (open_file()) {
			struct ts_reader *r = rec->ops->reader(rec, &err);
			struct ts_steps steps;

			ck_assert_ptr_nonnull(r);
			ts_steps_init(&steps);
			while (r->ops->next(r, &steps, &err) == TS_ITEM)
				;
			ts_steps_fini(&steps);
			ts_reader_close(r);
			for (uint64_t j = 0; j < rec->frames->n_frames; j++)
				get(j);
		}
		close_all();
		f.data[i / 8] ^= (uint8_t)(1 << i % 8);
	}
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
		a->ops->save(a, &point);
		ck_assert(b->ops->resume(b, point.data, point.len, &err));
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

UNIT_FIXTURE_SUITE(
	"tfile", setup, teardown, a_frame_is_a_position, what_a_frame_did_not_collect_is_unknown,
	without_registers_the_pc_is_the_tracepoints, a_pc_is_not_guessed_from_several_locations_or_steps,
	frames_tell_their_tracepoint_ranges_and_variables, frames_of_a_tracepoint_are_found,
	of_blocks_over_one_address_the_first_counts, steps_after_a_tracepoint_are_known_by_their_pc,
	one_frame_is_a_recording, big_endian_files_are_known_by_their_frames,
	the_same_processor_may_be_little_endian, the_byte_order_is_that_of_more_known_tracepoints,
	without_description_the_processor_is_an_option, only_what_the_next_frame_lacks_is_forgotten,
	without_description_the_size_tells_the_features, a_size_that_no_features_have_is_said,
	frames_of_known_tracepoints_weigh_more_than_frames, a_frame_may_hold_any_number_of_ranges,
	a_program_that_was_moved_says_nothing, registers_beyond_the_block_are_unknown,
	a_decimal_register_size_is_understood, what_the_program_cannot_write_is_known,
	definitions_variables_and_status_are_there, a_file_saved_in_mid_run_is_served_as_stopped,
	lines_longer_than_gdb_reads_are_read, a_file_without_the_magic_is_refused,
	a_file_without_frames_shows_its_definitions, without_description_the_processor_is_the_programs,
	a_text_section_without_end_is_refused, a_register_size_that_lies_costs_only_the_blocks,
	a_register_size_that_is_none_is_refused, a_bad_block_costs_the_rest_of_its_frame,
	static_marker_data_is_skipped, a_file_cut_anywhere_serves_what_came_before,
	what_follows_the_end_is_ignored, registers_have_at_most_a_mebibyte, the_magic_number_is_enough,
	a_line_of_a_megabyte_is_refused, an_endless_text_section_is_refused,
	lines_that_nobody_understands_are_skipped, descriptions_with_entities_or_nothing_in_them_are_refused,
	no_flipped_bit_is_more_than_an_error, a_reader_resumed_anywhere_goes_on_the_same)
