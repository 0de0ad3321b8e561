/* SPDX-License-Identifier: MIT */
/*
 * PE headers of both widths, put together here field by field, whole and damaged.
 */
#include "unit.h"

#include "src/object/pe.h"

#include <string.h>

static uint8_t file[0x1000];
static size_t file_len;
static struct ts_pe pe;
static struct ts_error err;

static void put(size_t off, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		file[off + i] = (uint8_t)(v >> 8 * i);
}

static size_t optional_len(bool is_64)
{
	return is_64 ? 240 : 224;
}

static void put_section(bool is_64, unsigned i, uint32_t mem_len, uint32_t addr, uint32_t len, uint32_t off)
{
	size_t at = 0x80 + 24 + optional_len(is_64) + 40 * i;

	put(at + 8, mem_len, 4);
	put(at + 12, addr, 4);
	put(at + 16, len, 4);
	put(at + 20, off, 4);
}

/* Headers of 0x400 bytes and two sections. */
static void make(bool is_64)
{
	memset(file, 0, sizeof(file));
	memcpy(file, "MZ", 2);
	put(0x3c, 0x80, 4);
	memcpy(file + 0x80, "PE", 2);
	put(0x84, is_64 ? 0x8664 : 0x14c, 2);
	put(0x86, 2, 2);
	put(0x94, optional_len(is_64), 2);
	put(0x98, is_64 ? 0x20b : 0x10b, 2);
	if (is_64)
		put(0x98 + 24, 0x140000000, 8);
	else
		put(0x98 + 28, 0x400000, 4);
	put(0x98 + 60, 0x400, 4);
	put_section(is_64, 0, 0x123, 0x1000, 0x200, 0x400);
	put_section(is_64, 1, 0x8000, 0x2000, 0xa00, 0x600);
	file_len = sizeof(file);
}

static bool read_it(void)
{
	struct ts_source *src;
	bool done;

	ts_error_reset(&err);
	src = ts_source_from_memory(file, file_len, "test", &err);
	done = ts_pe_init(&pe, src, &err);
	ts_source_close(src);
	ck_assert(done == (err.code == TS_OK));
	return done;
}

START_TEST(sections_of_both_widths_are_read)
{
	for (int is_64 = 0; is_64 < 2; is_64++) {
		make(is_64);
		ck_assert_msg(read_it(), "%s", err.text);
		ck_assert(pe.is_64 == is_64);
		ck_assert_uint_eq(pe.base, is_64 ? 0x140000000 : 0x400000);
		ck_assert_uint_eq(pe.n_sections, 3);
		ck_assert_uint_eq(pe.sections[0].addr, 0);
		ck_assert_uint_eq(pe.sections[0].file_len, 0x400);
		ck_assert_uint_eq(pe.sections[1].addr, 0x1000);
		ck_assert_uint_eq(pe.sections[1].file_off, 0x400);
		ck_assert_uint_eq(pe.sections[1].file_len, 0x200);
		ck_assert_uint_eq(pe.sections[2].file_len, 0xa00);
		ts_pe_fini(&pe);
	}
}
END_TEST

START_TEST(a_section_has_no_more_than_its_pages_and_the_file)
{
	make(true);
	put_section(true, 0, 0x10, 0x1000, UINT32_MAX, 0x200);
	put_section(true, 1, 0x8000, 0x2000, 0x2000, 0x800);
	ck_assert(read_it());
	ck_assert_uint_eq(pe.sections[1].file_len, 0xe00);
	ck_assert_uint_eq(pe.sections[2].file_len, 0x800);
	ts_pe_fini(&pe);
	put_section(true, 1, 0, 0x2000, 5, UINT32_MAX);
	file_len = 0x300;
	ck_assert(read_it());
	ck_assert_uint_eq(pe.n_sections, 2);
	ck_assert_uint_eq(pe.sections[0].file_len, 0x300);
	ts_pe_fini(&pe);
}
END_TEST

/* base + addr + length of a section never wraps. */
START_TEST(a_base_at_the_end_of_the_address_space_is_refused)
{
	make(true);
	put(0x98 + 24, UINT64_MAX - (UINT64_C(1) << 33), 8);
	ck_assert_msg(read_it(), "%s", err.text);
	ts_pe_fini(&pe);
	put(0x98 + 24, UINT64_MAX - (UINT64_C(1) << 33) + 1, 8);
	ck_assert(!read_it() && err.code == TS_ECORRUPT);
}
END_TEST

START_TEST(what_is_no_pe_file_is_refused)
{
	make(true);
	file[0] = 0;
	ck_assert(!read_it() && err.code == TS_EUNSUPPORTED);
	make(true);
	file_len = 63;
	ck_assert(!read_it() && err.code == TS_EUNSUPPORTED);
	make(true);
	file[0x81] = 0;
	ck_assert(!read_it() && err.code == TS_EUNSUPPORTED);
	make(true);
	put(0x3c, UINT32_MAX, 4);
	ck_assert(!read_it() && err.code == TS_EUNSUPPORTED);
}
END_TEST

START_TEST(headers_outside_the_file_are_refused)
{
	make(true);
	file_len = 0x80 + 20;
	ck_assert(!read_it() && err.code == TS_ETRUNC);
	make(true);
	file_len = 0x80 + 24 + 239;
	ck_assert(!read_it() && err.code == TS_ETRUNC);
	make(true);
	file_len = 0x80 + 24 + 240 + 79;
	ck_assert(!read_it() && err.code == TS_ETRUNC);
	make(true);
	put(0x86, 0xffff, 2);
	ck_assert(!read_it() && err.code == TS_ETRUNC);
	make(true);
	put(0x94, 60, 2);
	ck_assert(!read_it() && err.code == TS_ETRUNC);
}
END_TEST

START_TEST(an_unknown_optional_header_is_refused)
{
	make(true);
	put(0x98, 0x107, 2);
	ck_assert(!read_it() && err.code == TS_ECORRUPT && err.off == 0x98);
}
END_TEST

START_TEST(any_flipped_bit_is_survived)
{
	for (int is_64 = 0; is_64 < 2; is_64++) {
		for (size_t bit = 0; bit < 0x1f0 * 8; bit++) {
			make(is_64);
			file[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (!read_it())
				continue;
			for (size_t i = 0; i < pe.n_sections; i++)
				ck_assert(pe.sections[i].file_off + pe.sections[i].file_len <= file_len);
			ts_pe_fini(&pe);
		}
	}
}
END_TEST

UNIT_SUITE("pe", sections_of_both_widths_are_read, a_section_has_no_more_than_its_pages_and_the_file,
	   a_base_at_the_end_of_the_address_space_is_refused, what_is_no_pe_file_is_refused,
	   headers_outside_the_file_are_refused, an_unknown_optional_header_is_refused,
	   any_flipped_bit_is_survived)
