/* SPDX-License-Identifier: MIT */
/*
 * gdb's trace files, damaged: what is said of them, and what is read all the same.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tfile_case.h"

/* ------------------------------------------------------------------------------------------- reading them */

static void expect_refused_at(enum ts_code code, uint64_t off, const char *word)
{
	expect_refused(code, word);
	ck_assert_msg(err.off == off, "offset 0x%" PRIx64 ", not 0x%" PRIx64 ": %s", err.off, off, err.text);
}

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
	ck_assert_uint_eq(ts_query_find_arrival(q, 0, 0, UINT64_MAX, 0, TS_FORWARDS), TS_NO_POS);
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
	frame_without_description();
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

UNIT_FIXTURE_SUITE("tfile_bad", setup, teardown, a_file_without_the_magic_is_refused,
		   a_file_without_frames_shows_its_definitions,
		   without_description_the_processor_is_the_programs, a_text_section_without_end_is_refused,
		   a_register_size_that_lies_costs_only_the_blocks, a_register_size_that_is_none_is_refused,
		   a_bad_block_costs_the_rest_of_its_frame, static_marker_data_is_skipped,
		   a_file_cut_anywhere_serves_what_came_before, what_follows_the_end_is_ignored,
		   registers_have_at_most_a_mebibyte, the_magic_number_is_enough,
		   a_line_of_a_megabyte_is_refused, an_endless_text_section_is_refused,
		   lines_that_nobody_understands_are_skipped,
		   descriptions_with_entities_or_nothing_in_them_are_refused,
		   no_flipped_bit_is_more_than_an_error)
