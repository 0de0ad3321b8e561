/* SPDX-License-Identifier: MIT */
/*
 * Usercorn traces that are damaged, cut, or hold nothing to serve: each case is refused, or served up to the
 * damage, with a sentence that names the place; and nothing that a file says makes the loader crash, hang or
 * take memory beyond reason.
 */
#include "unit.h"

#include "loaders/kit/snappy.h"
#include "ucir_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define HEADER_LEN 74
#define FRAMED_START (HEADER_LEN + SNAPPY_IDENTIFIER_LEN)

static struct ucir_trace t;
static struct ts_buf steps;

static void setup(void)
{
	t = (struct ucir_trace){ 0 };
	ts_buf_init(&steps);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&steps);
}

#define KEY0 "KEY 0 { REG 44 7100 MAP 1000 1000 5 exe prog WRITE 1000 0f05 } "
#define GOOD KEY0 "FRAME 0 { JMP 1000 STEP 2 } "

/* Open and read to the end: the first failure is in t.err. */
static void fail_bytes(void)
{
	ts_buf_reset(&steps);
	if (ucir_open(&t, NULL))
		ck_assert_msg(ucir_read_all(&t, &steps) == TS_FAIL, "no failure, but %s",
			      ts_buf_text(&steps));
}

static void expect_error(enum ts_code code, uint64_t off, const char *word)
{
	ck_assert_msg(t.err.code == code, "%s: %s", unit_code_name(t.err.code), t.err.text);
	ck_assert_msg(t.err.off == off, "offset 0x%" PRIx64 ", not 0x%" PRIx64 ": %s", t.err.off, off,
		      t.err.text);
	ck_assert_msg(strstr(t.err.text, word) != NULL, "no \"%s\" in: %s", word, t.err.text);
}

/* Where the bytes of @hex first stand in the op stream of @text. */
static uint64_t find_bytes(const char *text, bool is_v0, const char *hex)
{
	struct ts_buf ops, want;
	char raw[256];
	uint64_t off = 0;

	ts_buf_init(&ops);
	ts_buf_init(&want);
	snprintf(raw, sizeof(raw), "RAW %s", hex);
	ucir_encode_ops(&ops, text, !is_v0);
	ucir_encode_ops(&want, raw, !is_v0);
	while (off + want.len <= ops.len && memcmp(ops.data + off, want.data, want.len) != 0)
		off++;
	ck_assert_uint_le(off + want.len, ops.len);
	ts_buf_fini(&ops);
	ts_buf_fini(&want);
	return off;
}

/*
 * @text fails at the op that begins with the bytes @hex, with @code and a sentence with @word; with its
 * offset in the file if it is plain, with that of its chunk and of the stream if it is framed.
 */
static void expect_bad_on(const char *arch, const char *text, const char *hex, enum ts_code code,
			  const char *word)
{
	struct ucir_form plain = ucir_v0, framed = ucir_v1;
	char place[64];

	plain.arch = framed.arch = arch;
	ucir_encode(&t.bytes, &plain, text);
	fail_bytes();
	expect_error(code, HEADER_LEN + find_bytes(text, true, hex), word);
	ck_assert_ptr_nonnull(strstr(t.err.text, "frame"));
	ucir_close(&t);

	ucir_encode(&t.bytes, &framed, text);
	fail_bytes();
	expect_error(code, FRAMED_START, word);
	snprintf(place, sizeof(place), "(stream offset 0x%" PRIx64 ")", find_bytes(text, false, hex));
	expect_error(code, FRAMED_START, place);
	ck_assert_ptr_nonnull(strstr(t.err.text, "frame"));
	ucir_close(&t);
}

static void expect_bad(const char *text, const char *hex, const char *word)
{
	expect_bad_on("x86_64", text, hex, TS_ECORRUPT, word);
}

/* -------------------------------------------------------------------------------- header */

static void good_file(const struct ucir_form *form)
{
	ucir_encode(&t.bytes, form, GOOD);
}

START_TEST(a_file_without_the_magic_is_refused)
{
	good_file(&ucir_v1);
	t.bytes.data[3] = 'S';
	fail_bytes();
	expect_error(TS_EUNSUPPORTED, 0, "UCIR");
}
END_TEST

START_TEST(a_file_shorter_than_the_header_is_refused_with_its_length)
{
	for (size_t len = 0; len < HEADER_LEN; len++) {
		good_file(&ucir_v1);
		t.bytes.len = len;
		fail_bytes();
		if (len < 4)
			expect_error(TS_EUNSUPPORTED, 0, "UCIR");
		else
			expect_error(TS_ETRUNC, len, "74 bytes");
		ucir_close(&t);
	}
}
END_TEST

START_TEST(an_unknown_version_word_is_refused_with_its_digits)
{
	static const uint8_t words[][4] = {
		{ 0, 0, 0, 3 }, { 2, 0, 0, 0 }, { 1, 0, 0, 1 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char digits[16];

		good_file(&ucir_v1);
		memcpy(t.bytes.data + 4, words[i], 4);
		fail_bytes();
		snprintf(digits, sizeof(digits), "%02x%02x%02x%02x", words[i][0], words[i][1], words[i][2],
			 words[i][3]);
		expect_error(TS_EUNSUPPORTED, 4, digits);
		ucir_close(&t);
	}
}
END_TEST

/* The identifier stands at 80 or 72, because the header was longer or shorter. */
START_TEST(the_headers_of_may_2017_are_refused_by_name)
{
	ucir_encode(&t.bytes, &ucir_v1, GOOD);
	ts_buf_put(&t.bytes, "......", 6);
	memmove(t.bytes.data + 80, t.bytes.data + HEADER_LEN, t.bytes.len - 80);
	memcpy(t.bytes.data + 72, "\0\0\0\0\0\4\0\0", 8);
	fail_bytes();
	expect_error(TS_EUNSUPPORTED, 80, "revision of 2017");
	ucir_close(&t);

	ucir_encode(&t.bytes, &ucir_v1, GOOD);
	memmove(t.bytes.data + 72, t.bytes.data + HEADER_LEN, t.bytes.len - HEADER_LEN);
	t.bytes.len -= 2;
	fail_bytes();
	expect_error(TS_EUNSUPPORTED, 72, "revision of 2017");
}
END_TEST

START_TEST(an_unknown_architecture_is_refused_with_its_name)
{
	static const char *const names[] = {
		"ppc", "ppc64", "riscv", "X86_64", "", "x86_64\n", "abcdefghijklmnopqrstuvwxyz012345"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ucir_form form = ucir_v1;

		form.arch = names[i];
		good_file(&form);
		fail_bytes();
		expect_error(TS_EUNSUPPORTED, 8, i == 5 ? "\"x86_64?\"" : names[i]);
		ucir_close(&t);
	}
}
END_TEST

START_TEST(an_unknown_byte_order_is_refused)
{
	for (size_t off = 72; off < 74; off++) {
		good_file(&ucir_v1);
		t.bytes.data[off] = 2;
		fail_bytes();
		expect_error(TS_ECORRUPT, off, "byte orders");
		ucir_close(&t);
	}
}
END_TEST

START_TEST(a_header_alone_is_a_trace_without_any_frame)
{
	good_file(&ucir_v1);
	t.bytes.len = HEADER_LEN;
	fail_bytes();
	expect_error(TS_EUNSUPPORTED, HEADER_LEN, "without any frame");
	ucir_close(&t);
	good_file(&ucir_v0);
	t.bytes.len = HEADER_LEN;
	fail_bytes();
	expect_error(TS_EUNSUPPORTED, HEADER_LEN, "without any frame");
}
END_TEST

START_TEST(an_identifier_alone_is_a_trace_without_any_frame)
{
	good_file(&ucir_v1);
	t.bytes.len = FRAMED_START;
	fail_bytes();
	expect_error(TS_EUNSUPPORTED, HEADER_LEN, "without any frame");
}
END_TEST

/* -------------------------------------------------------------------------------- framing */

START_TEST(version_1_without_the_stream_identifier_is_refused)
{
	struct ucir_form plain = ucir_v1;

	plain.is_framed = false;
	good_file(&plain);
	fail_bytes();
	expect_error(TS_ECORRUPT, HEADER_LEN, "stream identifier");
	ucir_close(&t);
	good_file(&ucir_v1);
	t.bytes.data[HEADER_LEN + 5] = 'n';
	fail_bytes();
	expect_error(TS_ECORRUPT, HEADER_LEN, "sNaPpY");
}
END_TEST

START_TEST(a_plain_stream_that_begins_with_a_damaged_identifier_is_refused_as_that)
{
	struct ucir_form framed = ucir_v0;

	framed.is_framed = true;
	good_file(&framed);
	t.bytes.data[HEADER_LEN + 1] = 7;
	fail_bytes();
	expect_error(TS_ECORRUPT, HEADER_LEN, "identifier of 7 bytes");
}
END_TEST

/* A good first chunk with a state and a step, and a bad second one at *@off. */
static void two_chunks(uint64_t *off)
{
	struct ts_buf ops;

	ts_buf_init(&ops);
	ucir_encode(&t.bytes, &ucir_v1, GOOD);
	*off = t.bytes.len;
	ucir_encode_ops(&ops, "FRAME 0 { STEP 1 STEP 1 }", 1);
	ucir_encode_chunk(&t.bytes, ops.data, ops.len, true);
	ts_buf_fini(&ops);
}

START_TEST(a_bad_chunk_ends_the_recording_there_with_its_offset)
{
	static const struct {
		size_t at; /* byte of the chunk */
		uint8_t value;
		const char *word;
	} cases[] = {
		{ 0, 0x02, "reserved type 0x02" },
		{ 0, 0x7f, "reserved type 0x7f" },
		{ 1, 0x03, "no checksum" },
		{ 3, 0x02, "at most" },
		{ 4, 0x00, "checksum" },
		{ 8, 0x03, "checksum" },
		{ 0, 0x00, "block" },
		{ 0, 0xff, "identifier" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t off;

		two_chunks(&off);
		t.bytes.data[off + cases[i].at] = cases[i].value;
		fail_bytes();
		expect_error(TS_ECORRUPT, off, cases[i].word);
		ck_assert_str_eq(ts_buf_text(&steps), "1000/2@0\n");
		ck_assert_uint_eq(t.reader->end.pc, 0x1002);
		ucir_close(&t);
	}
}
END_TEST

/* A good file behind a first chunk that holds nothing. */
static void after_an_empty_chunk(void)
{
	struct ts_buf rest;

	ts_buf_init(&rest);
	good_file(&ucir_v1);
	ts_buf_put(&rest, t.bytes.data + FRAMED_START, t.bytes.len - FRAMED_START);
	t.bytes.len = FRAMED_START;
	ucir_encode_chunk(&t.bytes, (const uint8_t *)"", 0, true);
	ts_buf_put(&t.bytes, rest.data, rest.len);
	ts_buf_fini(&rest);
}

START_TEST(an_empty_first_chunk_is_nothing_but_its_checksum_is_looked_at)
{
	after_an_empty_chunk();
	ck_assert(ucir_open(&t, NULL));
	ck_assert_int_eq(ucir_read_all(&t, NULL), TS_END);
	ucir_close(&t);
	after_an_empty_chunk();
	t.bytes.data[FRAMED_START + 4] ^= 1;
	fail_bytes();
	expect_error(TS_ECORRUPT, FRAMED_START, "checksum");
}
END_TEST

START_TEST(a_checksum_error_in_the_first_chunk_is_refused)
{
	good_file(&ucir_v1);
	t.bytes.data[FRAMED_START + 4] ^= 1;
	fail_bytes();
	expect_error(TS_ECORRUPT, FRAMED_START, "checksum");
	ck_assert_ptr_null(t.rec);
}
END_TEST

/* -------------------------------------------------------------------------------- ops */

START_TEST(an_unknown_op_is_found)
{
	expect_bad(KEY0 "FRAME 0 { JMP 1000 STEP 2 RAW 0e } ", "0e", "unknown op 14");
	expect_bad(KEY0 "FRAME 0 { JMP 1000 STEP 2 } RAW ff", "ff", "unknown op 255");
	expect_bad("KEY 0 { RAW 63 } FRAME 0 { JMP 1000 STEP 2 } ", "63", "unknown op 99");
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { RAW c8 } } ", "c8", "unknown op 200");
}
END_TEST

START_TEST(a_frame_inside_a_frame_is_found)
{
	expect_bad(GOOD "FRAME 0 { FRAME 77 { NOP } } ", "014d", "FRAME inside the frame");
	expect_bad(GOOD "FRAME 0 { KEY 77 { NOP } } ", "024d", "KEYFRAME inside the frame");
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { FRAME 77 { NOP } } } ", "014d",
		   "FRAME inside the SYSCALL");
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { KEY 77 { NOP } } } ", "024d",
		   "KEYFRAME inside the SYSCALL");
	expect_bad("KEY 0 { KEY 77 { NOP } } ", "024d", "KEYFRAME inside the frame");
	expect_bad("KEY 0 { } FRAME 0 { FRAME 77 { NOP } } ", "014d", "FRAME inside the frame");
}
END_TEST

START_TEST(an_op_that_may_not_be_inside_a_system_call_is_found)
{
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { JMP 77 } } ", "0377", "JMP inside the SYSCALL");
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { STEP 77 } } ", "044d", "STEP inside the SYSCALL");
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { SYSCALL 77 0 - { } } } ", "0c4d",
		   "SYSCALL inside the SYSCALL");
}
END_TEST

START_TEST(an_op_at_stream_level_names_the_frame_before_it)
{
	expect_bad(GOOD "STEP 77", "044d", "STEP at stream level");
	expect_bad(GOOD "JMP 77", "0377", "JMP at stream level");
	expect_bad(GOOD "REG 77 0", "054d", "REG at stream level");
	expect_bad(GOOD "READ 77 1", "0777", "MEM_READ at stream level");
	expect_bad(GOOD "SYSCALL 77 0 - { }", "0c4d", "SYSCALL at stream level");
	expect_bad(GOOD "FRAME/1 0 { NOP READ 77 1 STEP 1 }", "0777", "op count");
}
END_TEST

START_TEST(a_step_before_any_jump_has_no_address)
{
	expect_bad("KEY 0 { } FRAME 0 { STEP 77 }", "044d", "STEP before any JMP");
	expect_bad("KEY 1 { } KEY 2 { } FRAME 1 { JMP 1000 STEP 1 } FRAME 2 { STEP 77 }", "044d",
		   "STEP before any JMP");
}
END_TEST

START_TEST(a_region_past_the_end_of_the_address_space_is_found)
{
	expect_bad(GOOD "FRAME 0 { UNMAP ffffffffffffff77 1000 }", "0a77",
		   "MEM_UNMAP of 0x1000 bytes at 0xffffffffffffff77");
	expect_bad(GOOD "FRAME 0 { PROT ffffffffffffff77 1000 1 }", "0b77", "MEM_PROT");
	expect_bad(GOOD "FRAME 0 { MAP ffffffffffffff77 1000 1 - - }", "0977", "MEM_MAP");
	expect_bad("KEY 0 { MAP ffffffffffffff77 1000 1 - - } ", "0977", "MEM_MAP");
	expect_bad_on("arm", "KEY 0 { } FRAME 0 { JMP 10 STEP 4 MAP fffff077 1000 1 - - } ", "0977",
		      TS_ECORRUPT, "MEM_MAP");
	expect_bad_on("arm", "KEY 0 { } FRAME 0 { JMP 10 STEP 4 UNMAP 177777777 1 } ", "0a77", TS_ECORRUPT,
		      "MEM_UNMAP");
}
END_TEST

START_TEST(an_access_that_wraps_is_found)
{
	expect_bad(GOOD "FRAME 0 { READ ffffffffffffff77 1000 }", "0777",
		   "MEM_READ of 0x1000 bytes at 0xffffffffffffff77");
	expect_bad(GOOD "FRAME 0 { WRITE ffffffffffffff77 200*00 }", "0877", "MEM_WRITE");
	expect_bad(GOOD "FRAME 0 { SYSCALL 1 0 - { READ ffffffffffffff77 1000 } }", "0777", "MEM_READ");
	expect_bad("KEY 0 { WRITE ffffffffffffff77 200*00 } ", "0877", "MEM_WRITE");
}
END_TEST

/* The writer's 16 bits wrap, so that the ops after the first few look as if they stood in the frame. */
START_TEST(a_system_call_with_more_ops_than_its_count_goes_out_of_step)
{
	expect_bad(GOOD "FRAME 0 { SYSCALL/1 1 0 - { NOP NOP } STEP 2 READ 77 1 }", "0777",
		   "MEM_READ at stream level");
}
END_TEST

/* ----------------------------------------------------------------------------------------- nothing to serve */

static void expect_refused(const char *text, const char *word)
{
	ucir_encode(&t.bytes, &ucir_v1, text);
	fail_bytes();
	ck_assert_ptr_null(t.rec);
	expect_error(TS_EUNSUPPORTED, TS_NO_OFF, word);
	ucir_close(&t);
}

START_TEST(traces_without_a_step_are_refused_by_what_they_hold)
{
	expect_refused(KEY0 "FRAME 0 { READ 1000 1000 } FRAME 0 { JMP 1000 WRITE 7000 11 REG 35 1 } FRAME 0 "
			    "{ JMP 1010 EXIT }",
		       "basic blocks");
	expect_refused("FRAME 0 { SYSCALL 1 0 - { REG 35 1 } SYSCALL 60 0 - { EXIT } }", "system calls");
	expect_refused(KEY0, "no executed instruction");
	expect_refused(KEY0 "FRAME 0 { REG 35 1 } ", "no executed instruction");
}
END_TEST

/* ---------------------------------------------------------------------------------------------- old layouts */

/* A keyframe with a MEM_MAP of these bytes and its MEM_WRITE. */
static void expect_old_map(const char *map)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "KEY/3 0 { REG 44 7000 RAW 09 RAW 0010000000000000 RAW 0010000000000000 RAW 05 %s WRITE "
		 "1000 0f05 } "
		 "FRAME 0 { JMP 1000 STEP 2 }",
		 map);
	ucir_encode(&t.bytes, &ucir_v1, text);
	fail_bytes();
	ck_assert_ptr_null(t.rec);
	expect_error(TS_EUNSUPPORTED, FRAMED_START, "revision of 2017");
	ucir_close(&t);
}

START_TEST(the_map_layouts_of_2017_are_refused_by_name)
{
	/* flag 0; flag 1 with dlen, flen, off, "exe", "p"; the same with len */
	expect_old_map("RAW 00");
	expect_old_map("RAW 01 RAW 03000100 RAW 0000000000000000 RAW 657865 RAW 70");
	expect_old_map("RAW 01 RAW 03000100 RAW 0000000000000000 RAW ef00000000000000 RAW 657865 RAW 70");
	/* off at 18, len over its end at 24, dlen at 32, flen at 34, "exe" and "p" at 36, two spare bytes */
	expect_old_map("RAW 000000000000 RAW ef00000000000000 RAW 0300 RAW 0100 RAW 657865 RAW 70 RAW 0000");
}
END_TEST

START_TEST(the_map_layout_of_today_is_no_old_one)
{
	ucir_encode(
		&t.bytes, &ucir_v1,
		"KEY 0 { REG 44 7000 MAP 1000 1000 5 exe p WRITE 1000 0f05 } FRAME 0 { JMP 1000 STEP 2 }");
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}
END_TEST

/* -------------------------------------------------------------------------------- cuts */

#define WHOLE                                                                                                \
	KEY0 "KEY 5 { REG 35 1 } NOP FRAME 0 { READ 1000 2 } FRAME 0 { JMP 1000 REG 35 7000 SPREG 122 0011 " \
	     "READ 2000 8 "                                                                                  \
	     "WRITE 2008 0102 MAP 3000 1000 3 brk file UNMAP 3000 1000 PROT 1000 1000 5 STEP 2 "             \
	     "SYSCALL 1 5 1,2000,5 { REG 38 9 READ 2000 5 NOP } NOP STEP 3 WRITE 7000 11 } FRAME 5 { JMP "   \
	     "5000 STEP 1 } "                                                                                \
	     "KEY 7 { REG 35 3 } FRAME 0 { STEP 1 } FRAME 5 { SYSCALL 2 0 - { WRITE 8000 22 } STEP 1 } "     \
	     "FRAME 0 { STEP 2 SYSCALL 60 0 15 { EXIT } STEP 2 }"

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* The steps of a cut trace are the first ones of the whole; the last may lack what came behind its STEP. */
static void check_prefix(const char *whole)
{
	const char *cut = ts_buf_text(&steps);
	size_t len = strlen(cut);

	ck_assert_msg(!len || strncmp(cut, whole, len - 1) == 0, "cut:\n%swhole:\n%s", cut, whole);
}

/*
 * What every cut of @form must come to: refused without a state, or all steps up to the cut, and the sentence
 * says how many.
 */
static void cut_everywhere(const struct ucir_form *form)
{
	size_t len, n_before = 0;
	struct ts_buf whole;
	char loaded[64];

	ts_buf_init(&whole);
	ucir_encode(&t.bytes, form, WHOLE);
	len = t.bytes.len;
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_int_eq(ucir_read_all(&t, &whole), TS_END);
	ucir_close(&t);
	for (size_t cut = HEADER_LEN + 1; cut < len; cut++) {
		enum ts_next next;
		size_t n;

		ucir_encode(&t.bytes, form, WHOLE);
		t.bytes.len = cut;
		ts_buf_reset(&steps);
		if (!ucir_open(&t, NULL)) {
			ck_assert_msg(t.err.code == TS_ETRUNC || t.err.code == TS_EUNSUPPORTED, "%s",
				      t.err.text);
			ck_assert_uint_eq(n_before, 0);
			ck_assert_uint_le(t.err.off == TS_NO_OFF ? 0 : t.err.off, cut);
			ucir_close(&t);
			continue;
		}
		next = ucir_read_all(&t, &steps);
		n = count_lines(ts_buf_text(&steps));
		ck_assert_uint_ge(n, n_before);
		n_before = n;
		check_prefix(ts_buf_text(&whole));
		if (next == TS_FAIL) {
			snprintf(loaded, sizeof(loaded), "loaded %zu steps, truncated at 0x", n);
			ck_assert_msg(strstr(t.err.text, loaded) != NULL, "%s", t.err.text);
			ck_assert_int_eq(t.err.code, TS_ETRUNC);
			ck_assert_uint_le(t.err.off, cut);
		}
		ucir_close(&t);
	}
	ck_assert_uint_eq(n_before, count_lines(ts_buf_text(&whole)) - 1);
	ts_buf_fini(&whole);
}

START_TEST(a_plain_trace_may_be_cut_at_any_byte)
{
	cut_everywhere(&ucir_v0);
}
END_TEST

START_TEST(a_framed_trace_may_be_cut_at_any_byte)
{
	struct ucir_form form = { .version = 1, .is_framed = true, .is_stored = true, .chunk = 25 };

	cut_everywhere(&form);
	form.is_stored = false;
	form.chunk = 7;
	cut_everywhere(&form);
}
END_TEST

START_TEST(a_cut_op_is_named_with_what_it_needs)
{
	ucir_encode(&t.bytes, &ucir_v0, GOOD "FRAME 0 { STEP 1 WRITE 7000 100*11 }");
	t.bytes.len -= 90;
	fail_bytes();
	expect_error(TS_ETRUNC, t.bytes.len, "loaded 2 steps");
	expect_error(TS_ETRUNC, t.bytes.len, "MEM_WRITE at 0x");
	expect_error(TS_ETRUNC, t.bytes.len, "113 bytes needed but 23 left");
	expect_error(TS_ETRUNC, t.bytes.len, "frame 3");
	ck_assert_str_eq(ts_buf_text(&steps), "1000/2@0\n1002/1@0\n");
	ck_assert_uint_eq(t.reader->end.pc, 0x1003);
}
END_TEST

START_TEST(a_frame_that_lacks_ops_is_a_cut)
{
	ucir_encode(&t.bytes, &ucir_v0, GOOD "FRAME/4294967295 0 { STEP 1 }");
	fail_bytes();
	expect_error(TS_ETRUNC, t.bytes.len, "4294967294 more ops");
}
END_TEST

/*
 * As a killed recorder leaves it: whole chunks of 64 KiB, cut inside an op; and the same with a short last
 * chunk, which is damage.
 */
START_TEST(a_stream_that_ends_inside_an_op_is_a_kill_unless_the_writer_had_closed_it)
{
	struct ts_buf ops;

	ts_buf_init(&ops);
	ucir_encode_ops(&ops, GOOD "FRAME 0 { STEP 1 WRITE 7000 70000*11 STEP 1 }", 1);
	ucir_encode_stream(&t.bytes, &ucir_v1, ops.data, 65536);
	fail_bytes();
	expect_error(TS_ETRUNC, t.bytes.len, "(stream offset 0x10000)");
	ck_assert_ptr_null(strstr(t.err.text, "closed"));
	ck_assert_str_eq(ts_buf_text(&steps), "1000/2@0\n1002/1@0\n");
	ucir_close(&t);
	ucir_encode_stream(&t.bytes, &ucir_v1, ops.data, 65000);
	fail_bytes();
	expect_error(TS_ETRUNC, t.bytes.len, "had closed the file");
	ts_buf_fini(&ops);
}
END_TEST

START_TEST(a_cut_before_the_state_is_complete_is_refused)
{
	ucir_encode(&t.bytes, &ucir_v0, GOOD);
	t.bytes.len = HEADER_LEN + 40;
	fail_bytes();
	ck_assert_ptr_null(t.rec);
	expect_error(TS_ETRUNC, t.bytes.len, "nothing to serve");
}
END_TEST

/* A length that passes the end cannot be told from a cut; nothing is allocated for it. */
START_TEST(a_length_past_the_end_is_treated_as_a_cut)
{
	static const char *const ops[] = {
		"RAW 08 RAW 0070000000000000 RAW ffffffff",
		"RAW 06 RAW 2300 RAW ffff",
		"RAW 09 RAW 0070000000000000 RAW 0010000000000000 RAW 03 RAW 0000000000000000 RAW "
		"0000000000000000 RAW ffffffff",
		"RAW 0c RAW 01000000 RAW 0000000000000000 RAW ff RAW ffff",
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), GOOD "FRAME/9 0 { %s }", ops[i]);
		ucir_encode(&t.bytes, &ucir_v1, text);
		fail_bytes();
		expect_error(TS_ETRUNC, t.bytes.len, "loaded 1 steps");
		ucir_close(&t);
	}
}
END_TEST

START_TEST(too_many_processes_are_refused)
{
	struct ts_buf text;

	ts_buf_init(&text);
	ts_buf_puts(&text, KEY0);
	for (int i = 0; i < 4100; i++)
		ts_buf_printf(&text, "FRAME %d { JMP 1000 STEP 1 } ", i);
	ucir_encode(&t.bytes, &ucir_v0, ts_buf_text(&text));
	ts_buf_fini(&text);
	fail_bytes();
	ck_assert_int_eq(t.err.code, TS_ELIMIT);
	ck_assert_ptr_nonnull(strstr(t.err.text, "4096 processes"));
	ck_assert_uint_eq(count_lines(ts_buf_text(&steps)), 4096);
}
END_TEST

/* -------------------------------------------------------------------------------- flips */

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* With sanitizers freed memory is kept for a while. */
#ifdef __SANITIZE_ADDRESS__
#define MAX_GROWTH_KIB (1L << 20)
#else
#define MAX_GROWTH_KIB 32768
#endif

/*
 * Read what is in @file with one bit changed, to its end, then once more from a decode point in the middle.
 */
static void read_flipped(const struct ts_buf *file, size_t bit)
{
	struct ts_buf point;
	enum ts_next next = TS_ITEM;
	unsigned n = 0;

	ts_buf_init(&t.bytes);
	ts_buf_put(&t.bytes, file->data, file->len);
	t.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	ts_buf_init(&point);
	if (ucir_open(&t, NULL)) {
		for (; next == TS_ITEM; n++) {
			if (n == 3)
				t.reader->ops->save(t.reader, &point);
			ts_steps_reset(&t.steps);
			next = t.reader->ops->next(t.reader, &t.steps, &t.err);
			if (n > file->len)
				ck_abort_msg("more steps than bytes");
		}
		ts_error_reset(&t.err);
		if (point.len) {
			ck_assert(t.reader->ops->resume(t.reader, point.data, point.len, &t.err));
			ts_steps_reset(&t.steps);
			t.reader->ops->next(t.reader, &t.steps, &t.err);
		}
	}
	ts_buf_fini(&point);
	ucir_close(&t);
}

static void flip_every_bit(const struct ts_buf *file, size_t from, size_t to)
{
	long before = peak_kib();

	for (size_t bit = from * 8; bit < to * 8; bit++)
		read_flipped(file, bit);
	ck_assert_int_lt(peak_kib() - before, MAX_GROWTH_KIB);
}

START_TEST(every_flipped_bit_of_a_plain_trace_is_survived)
{
	struct ts_buf file;

	ts_buf_init(&file);
	ucir_encode(&file, &ucir_v0, WHOLE);
	flip_every_bit(&file, 0, file.len);
	ts_buf_fini(&file);
}
END_TEST

START_TEST(every_flipped_bit_of_a_recording_is_survived)
{
	struct ts_buf file;
	size_t len;
	uint8_t *bytes = unit_data("usercorn/x64_crash.ucir", &len);

	ts_buf_init(&file);
	ts_buf_put(&file, bytes, len);
	flip_every_bit(&file, 0, len);
	ts_buf_fini(&file);
	free(bytes);
}
END_TEST

/*
 * Flips under a right checksum: the stream of a recording in stored chunks, which are made anew for each
 * flip.
 */
static void flip_stream(const uint8_t *ops, size_t len, size_t from, size_t to)
{
	struct ucir_form form = { .version = 1, .is_framed = true, .is_stored = true };
	uint8_t *copy = malloc(len);
	long before = peak_kib();

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, ops, len);
	for (size_t bit = from * 8; bit < to * 8; bit++) {
		struct ts_buf file;

		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		ts_buf_init(&file);
		ucir_encode_stream(&file, &form, copy, len);
		/*
		 * the changed bit is in the file already: change the unused upper half of the header's name
		 * instead
		 */
		read_flipped(&file, 71 * 8);
		ts_buf_fini(&file);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	ck_assert_int_lt(peak_kib() - before, MAX_GROWTH_KIB);
	free(copy);
}

START_TEST(flipped_bits_under_a_right_checksum_are_survived)
{
	struct ts_error err = { 0 };
	struct snappy_frames frames;
	size_t len;
	uint8_t *bytes = unit_data("usercorn/x64_crash.ucir", &len);
	uint8_t *ops = malloc(SNAPPY_MAX_DECODED), *scratch = malloc(SNAPPY_MAX_BODY);
	struct ts_source *src = ts_source_from_memory(bytes, len, "test", &err);
	uint32_t ops_len;

	ck_assert(ops && scratch && src);
	ck_assert(snappy_frames_scan(&frames, src, HEADER_LEN, &err));
	ck_assert_uint_eq(frames.n, 1);
	ck_assert(snappy_frames_decode(&frames, 0, ops, scratch, &err));
	ops_len = snappy_frames_decoded_len(&frames, 0);
	flip_stream(ops, ops_len, 0, 0x60);                 /* keyframe, a register, the first region */
	flip_stream(ops, ops_len, 0x741, 0x78b);            /* the stack */
	flip_stream(ops, ops_len, 0x1188, 0x1188 + 0x80);   /* the first steps */
	flip_stream(ops, ops_len, ops_len - 0x60, ops_len); /* the last ones */
	snappy_frames_fini(&frames);
	ts_source_close(src);
	free(ops);
	free(scratch);
	free(bytes);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		a_file_without_the_magic_is_refused,
		a_file_shorter_than_the_header_is_refused_with_its_length,
		an_unknown_version_word_is_refused_with_its_digits,
		the_headers_of_may_2017_are_refused_by_name,
		an_unknown_architecture_is_refused_with_its_name,
		an_unknown_byte_order_is_refused,
		a_header_alone_is_a_trace_without_any_frame,
		an_identifier_alone_is_a_trace_without_any_frame,
		version_1_without_the_stream_identifier_is_refused,
		a_plain_stream_that_begins_with_a_damaged_identifier_is_refused_as_that,
		a_bad_chunk_ends_the_recording_there_with_its_offset,
		an_empty_first_chunk_is_nothing_but_its_checksum_is_looked_at,
		a_checksum_error_in_the_first_chunk_is_refused,
		an_unknown_op_is_found,
		a_frame_inside_a_frame_is_found,
		an_op_that_may_not_be_inside_a_system_call_is_found,
		an_op_at_stream_level_names_the_frame_before_it,
		a_step_before_any_jump_has_no_address,
		a_region_past_the_end_of_the_address_space_is_found,
		an_access_that_wraps_is_found,
		a_system_call_with_more_ops_than_its_count_goes_out_of_step,
		traces_without_a_step_are_refused_by_what_they_hold,
		the_map_layouts_of_2017_are_refused_by_name,
		the_map_layout_of_today_is_no_old_one,
		a_plain_trace_may_be_cut_at_any_byte,
		a_framed_trace_may_be_cut_at_any_byte,
		a_cut_op_is_named_with_what_it_needs,
		a_frame_that_lacks_ops_is_a_cut,
		a_stream_that_ends_inside_an_op_is_a_kill_unless_the_writer_had_closed_it,
		a_cut_before_the_state_is_complete_is_refused,
		a_length_past_the_end_is_treated_as_a_cut,
		too_many_processes_are_refused,
		every_flipped_bit_of_a_plain_trace_is_survived,
		every_flipped_bit_of_a_recording_is_survived,
		flipped_bits_under_a_right_checksum_are_survived,
	};
	Suite *suite = suite_create("usercorn_bad");
	TCase *tcase = tcase_create("usercorn_bad");

	tcase_add_checked_fixture(tcase, setup, teardown);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return suite;
}
