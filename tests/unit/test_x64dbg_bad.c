/* SPDX-License-Identifier: MIT */
/*
 * x64dbg traces that are damaged: what is refused and what is served, where, and in which words.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"
#include "x64dbg_text.h"
#include "x64dbg_writer.h"

extern const struct ts_loader x64dbg_loader;

static struct ts_buf file;
static struct ts_source *src;
static struct ts_recording *rec;
static struct ts_timeline *tl;
static struct ts_error err;

static void setup(void)
{
	ts_buf_init(&file);
}

static void unload(void)
{
	ts_timeline_free(tl);
	ts_recording_close(rec);
	ts_source_close(src);
	tl = NULL;
	rec = NULL;
	src = NULL;
}

static void teardown(void)
{
	unload();
	ts_buf_fini(&file);
}

/* Returns false with the reason in err if nothing is served. */
static bool load(size_t len)
{
	enum ts_next grow = TS_MORE;

	unload();
	ts_error_reset(&err);
	unit_seed(file.data, len);
	src = ts_source_from_memory(file.data, len, "test", &err);
	rec = ts_loader_open(&x64dbg_loader, src, NULL, &err);
	tl = rec ? ts_timeline_new(rec, NULL, &err) : NULL;
	while (tl && grow == TS_MORE)
		grow = ts_timeline_grow(tl, 1 << 20, &err);
	return tl && grow == TS_END;
}

static void refused(enum ts_code code, uint64_t off, const char *words)
{
	ck_assert(!load(file.len));
	ck_assert_msg(err.code == code && err.off == off && strstr(err.text, words),
		      "%s at 0x%" PRIx64 ": %s", unit_code_name(err.code), err.off, err.text);
}

/* The first steps are served, and why not more is said. */
static void cut(uint64_t n_steps, enum ts_code code, uint64_t off, const char *words)
{
	ck_assert_msg(load(file.len), "%s", err.text);
	ck_assert_uint_eq(tl->n_steps, n_steps);
	ck_assert_msg(tl->damage.code == code && tl->damage.off == off && strstr(tl->damage.text, words),
		      "%s at 0x%" PRIx64 ": %s", unit_code_name(tl->damage.code), tl->damage.off,
		      tl->damage.text);
}

/* ---------------------------------------------------------------------------------------- head */

START_TEST(a_file_without_its_magic)
{
	ts_buf_put(&file, "TRAX\0\0\0\0", 8);
	refused(TS_EUNSUPPORTED, 0, "TRAC");
	ts_buf_reset(&file);
	ts_buf_put(&file, "TRA", 3);
	refused(TS_EUNSUPPORTED, 0, "TRAC");
}
END_TEST

START_TEST(a_file_that_ends_in_the_length)
{
	ts_buf_put(&file, "TRAC\5\0\0", 7);
	refused(TS_ETRUNC, 4, "head");
}
END_TEST

START_TEST(a_head_that_is_too_long)
{
	ts_buf_put(&file, "TRAC\xff\xff\xff\xff{", 9);
	refused(TS_ECORRUPT, 4, "4294967295 bytes");
	ts_buf_reset(&file);
	ts_buf_put(&file, "TRAC\1\x90\1\0{", 9); /* 102401 */
	refused(TS_ECORRUPT, 4, "102401 bytes");
	ts_buf_reset(&file);
	ts_buf_put(&file, "TRAC\0\x90\1\0{", 9);
	refused(TS_ETRUNC, 4, "1 are left");
}
END_TEST

START_TEST(heads_that_are_no_known_object)
{
	static const struct {
		const char *json;
		enum ts_code code;
		const char *words;
	} heads[] = {
		{ "[1]", TS_ECORRUPT, "not a JSON object" },
		{ "{\"ver\":1,", TS_ECORRUPT, "not a JSON object" },
		{ "", TS_ECORRUPT, "not a JSON object" },
		{ "{}", TS_ECORRUPT, "\"ver\"" },
		{ "{\"ver\":\"1\",\"arch\":\"x64\"}", TS_ECORRUPT, "\"ver\"" },
		{ "{\"ver\":1.0,\"arch\":\"x64\"}", TS_ECORRUPT, "\"ver\"" },
		{ "{\"ver\":2,\"arch\":\"x64\"}", TS_EUNSUPPORTED, "version 2" },
		{ "{\"ver\":1}", TS_ECORRUPT, "\"arch\"" },
		{ "{\"ver\":1,\"arch\":64}", TS_ECORRUPT, "\"arch\"" },
		{ "{\"ver\":1,\"arch\":\"arm64\"}", TS_EUNSUPPORTED, "\"arm64\"" },
		{ "{\"ver\":1,\"arch\":\"x64\",\"compression\":\"lz4\"}", TS_EUNSUPPORTED, "\"lz4\"" },
		{ "{\"ver\":1,\"arch\":\"x64\",\"compression\":null}", TS_EUNSUPPORTED, "compression" },
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		ts_buf_reset(&file);
		xw_head(&file, true, heads[i].json);
		ck_assert(!load(file.len));
		ck_assert_msg(err.code == heads[i].code && err.off >= 8 && strstr(err.text, heads[i].words),
			      "%s: %s", heads[i].json, err.text);
	}
}
END_TEST

/* ---------------------------------------------------------------------------------------- blocks */

static void add(struct xw_block b)
{
	xw_put_block(&file, true, &b);
}

static void full(uint64_t pc)
{
	struct xw_block b = xw_insn(true, pc, "\x90", 1);

	add(xw_full(true, &b, 7));
}

static void nops(uint64_t pc, unsigned n)
{
	while (n--)
		add(xw_insn(true, pc++, "\x90", 1));
}

START_TEST(heads_that_are_unusual)
{
	static const char *const heads[] = {
		"{\"ver\":1,\"arch\":\"x64\"}",
		"{\"future\":[{}],\"arch\":\"x64\",\"hash\":7,\"ver\":1,\"compression\":\"\",\"path\":8}",
	};

	for (size_t i = 0; i < 2; i++) {
		ts_buf_reset(&file);
		xw_head(&file, true, heads[i]);
		full(0x1000);
		nops(0x1001, 1);
		ck_assert_msg(load(file.len), "%s", err.text);
		ck_assert_ptr_null(rec->exec_path);
		ck_assert_uint_eq(rec->n_warnings, 0);
	}
	ts_buf_reset(&file);
	ts_buf_put(&file, "TRAC\x18\0\0\0{\"ver\":1,\"arch\":\"x64\"}\0\0", 32); /* terminated */
	full(0x1000);
	ck_assert_msg(load(file.len), "%s", err.text);
}
END_TEST

/* Three good blocks; the offset of the next. */
static uint64_t begin(void)
{
	xw_head(&file, true, NULL);
	full(0x1000);
	nops(0x1001, 2);
	return file.len;
}

START_TEST(no_instruction_at_all)
{
	xw_head(&file, true, NULL);
	refused(TS_EUNSUPPORTED, file.len, "no instruction");
	xw_user_block(&file, 0x90, "abc", 3);
	refused(TS_EUNSUPPORTED, file.len, "no instruction");
}
END_TEST

START_TEST(a_first_block_that_is_not_full)
{
	uint64_t off;

	xw_head(&file, true, NULL);
	off = file.len;
	nops(0x1000, 5);
	refused(TS_ECORRUPT, off, "first block");
}
END_TEST

START_TEST(a_block_of_unknown_type)
{
	uint64_t off = begin();

	ts_buf_putc(&file, 0x7f);
	nops(0x1003, 3);
	cut(2, TS_ECORRUPT, off, "type 0x7f");
}
END_TEST

START_TEST(more_registers_than_there_are)
{
	uint64_t off = begin();
	struct xw_block b = xw_insn(true, 0x1003, "\x90", 1);

	b = xw_full(true, &b, 7);
	xw_reg(&b, 172, 0);
	add(b);
	nops(0x1003, 40);
	cut(2, TS_ECORRUPT, off + 1, "173");
}
END_TEST

START_TEST(more_memory_slots_than_there_can_be)
{
	uint64_t off = begin();

	ts_buf_put(&file, "\0\1\41\1\x90", 5);
	nops(0x1003, 40);
	cut(2, TS_ECORRUPT, off + 2, "33");
}
END_TEST

START_TEST(an_instruction_of_length_0)
{
	uint64_t off = begin();

	ts_buf_put(&file, "\0\1\0\x70\x0f", 5); /* bits that are masked */
	nops(0x1003, 40);
	cut(2, TS_ECORRUPT, off + 3, "length 0");
}
END_TEST

START_TEST(a_slot_past_the_last)
{
	uint64_t off = begin();

	ts_buf_put(&file, "\0\2\0\1\x90\xaa\1", 7); /* 170, 172 */
	ts_buf_put(&file, "0123456789abcdef", 16);
	nops(0x1003, 40);
	cut(2, TS_ECORRUPT, off + 6, "register slot 172");
}
END_TEST

START_TEST(a_file_that_ends_in_a_block)
{
	uint64_t off = begin();

	nops(0x1003, 1);
	file.len--;
	cut(2, TS_ETRUNC, off, "14 bytes needed but 13 left"); /* 4, nop, the slot and its value */
	ck_assert_uint_eq(tl->end_pc, 0x1002);
}
END_TEST

START_TEST(a_file_that_ends_in_its_first_block)
{
	uint64_t off;

	xw_head(&file, true, NULL);
	off = file.len;
	full(0x1000);
	file.len--;
	ck_assert(!load(file.len));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ck_assert_uint_ge(err.off, off);
}
END_TEST

START_TEST(a_user_block_past_the_end)
{
	uint64_t off = begin();

	ts_buf_put(&file, "\x80\xff\xff\xff\xff{}", 7);
	cut(2, TS_ETRUNC, off, "4294967295 bytes, but 2 are left");
	file.len -= 3; /* and one that ends in its length */
	ck_assert(load(file.len));
	ck_assert_int_eq(tl->damage.code, TS_ETRUNC);
	ck_assert_uint_eq(tl->n_steps, 2);
}
END_TEST

START_TEST(reserved_bits_are_masked)
{
	uint64_t off = begin();

	nops(0x1003, 2);
	file.data[off + 3] |= 0x70;
	ck_assert(load(file.len));
	ck_assert_uint_eq(tl->n_steps, 4);
	ck_assert_int_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(rec->n_warnings, 0);
}
END_TEST

START_TEST(behind_damage_reading_goes_on_at_the_next_full_block)
{
	uint64_t off = begin();
	char words[64];

	ts_buf_putc(&file, 0x7f);
	nops(0x1004, 30);
	snprintf(words, sizeof(words), "%zu bytes are lost", file.len - (size_t)off);
	full(0x2000);
	nops(0x2001, 9);
	ck_assert(load(file.len));
	ck_assert_int_eq(tl->damage.code, TS_OK);
	ck_assert_uint_eq(tl->n_steps, 12);
	ck_assert_uint_eq(rec->n_warnings, 1);
	ck_assert_msg(strstr(rec->warnings[0].text, words) && strstr(rec->warnings[0].text, "type 0x7f"),
		      "%s", rec->warnings[0].text);
	ck_assert_ptr_nonnull(ts_world_find_event(&tl->world, TS_EV_GAP, 2, false));
}
END_TEST

START_TEST(something_like_a_full_block_is_none)
{
	uint64_t off = begin();

	x64dbg_text(&file, "damage\n"
			   "step 1004 90\n"
			   "full 2000 90 tid=7\n"
			   "step 2001 90\n");
	ts_buf_puts(&file, "\x01 what follows is no block");
	cut(2, TS_ECORRUPT, off, "type 0x7f");
}
END_TEST

/* ---------------------------------------------------------------------------------------- any damage */

static void a_little_of_everything(void)
{
	struct xw_block b = xw_insn(true, 0x1003, "\x88\x00", 2);

	begin();
	xw_reg(&b, 0, 0x2000);
	xw_mem(&b, 0x2000, 1, 2);
	xw_mem(&b, 0x3000, 1, 1);
	add(b);
	xw_user_block(&file, 0xf0, "something", 9);
	b = xw_insn(true, 0x1005, "\x90", 1);
	b.has_tid = b.is_flagged = true;
	b.tid = 7;
	add(b);
	b.is_flagged = false;
	b.tid = 9;
	add(b);
	nops(0x1006, 5);
	full(0x100b);
	nops(0x100c, 5);
	xw_user_block(&file, 0x80, "{\"modules\":[]}", 14);
}

/* The next place worth a try: within the values of full blocks, one in a while. */
static size_t next_place(size_t i)
{
	static const uint8_t zeros[64];
	bool is_dull = i >= 32 && i + 32 < file.len && !memcmp(file.data + i - 32, zeros, 64);

	return i + (is_dull ? 61 : 1);
}

START_TEST(cut_anywhere_nothing_breaks)
{
	uint64_t last = 0;

	a_little_of_everything();
	ck_assert(load(file.len));
	ck_assert_uint_eq(tl->n_steps, 16);
	for (size_t len = 0; len <= file.len;
	     len = len < file.len && next_place(len) > file.len ? file.len : next_place(len)) {
		/* in a piece of memory of its own, so that a byte too far is seen */
		uint8_t *piece = malloc(len ? len : 1);
		struct ts_buf whole = file;
		bool is_served;

		memcpy(piece, file.data, len);
		file.data = piece;
		is_served = load(len);
		if (is_served) {
			/* a lone block is a step until there is another */
			ck_assert_uint_ge(tl->n_steps + 1, last);
			last = tl->n_steps;
		} else {
			ck_assert_uint_eq(last, 0);
			ck_assert_int_ne(err.code, TS_OK);
		}
		unload();
		file = whole;
		free(piece);
	}
	ck_assert_uint_eq(last, 16);
}
END_TEST

START_TEST(with_any_bit_flipped_nothing_breaks)
{
	unsigned n_served = 0, n_all = 0;

	a_little_of_everything();
	for (size_t i = 0; i < file.len; i = next_place(i)) {
		file.data[i] ^= (uint8_t)(1 << _i);
		n_served += load(file.len);
		n_all++;
		file.data[i] ^= (uint8_t)(1 << _i);
	}
	ck_assert_uint_gt(n_served, n_all / 2);
}
END_TEST

Suite *unit_suite(void)
{
	const TTest *const tests[] = {
		a_file_without_its_magic,
		a_file_that_ends_in_the_length,
		a_head_that_is_too_long,
		heads_that_are_no_known_object,
		heads_that_are_unusual,
		no_instruction_at_all,
		a_first_block_that_is_not_full,
		a_block_of_unknown_type,
		more_registers_than_there_are,
		more_memory_slots_than_there_can_be,
		an_instruction_of_length_0,
		a_slot_past_the_last,
		a_file_that_ends_in_a_block,
		a_file_that_ends_in_its_first_block,
		a_user_block_past_the_end,
		reserved_bits_are_masked,
		behind_damage_reading_goes_on_at_the_next_full_block,
		something_like_a_full_block_is_none,
		cut_anywhere_nothing_breaks,
	};
	Suite *s = unit_suite_of("x64dbg_bad", setup, teardown, tests, sizeof(tests) / sizeof(tests[0]));
	TCase *c = tcase_create("bits");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, with_any_bit_flipped_nothing_breaks, 0, 8);
	suite_add_tcase(s, c);
	return s;
}
