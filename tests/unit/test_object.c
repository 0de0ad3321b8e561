/* SPDX-License-Identifier: MIT */
/*
 * The place of an object file, ELF and PE alike.  The PE file is put together here; the ELF file is the
 * program of tests/data, of which `readelf -lh` tells what is expected.
 */
#include "unit.h"

#include "src/object/object.h"
#include "src/trace/step.h"

#include <string.h>

static uint8_t file[0x1000];
static struct ts_object object;
static struct ts_error err;

static void put(size_t off, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		file[off + i] = (uint8_t)(v >> 8 * i);
}

static void put_section(unsigned i, uint32_t addr, uint32_t flags)
{
	size_t at = 0x80 + 24 + 240 + 40 * i;

	put(at + 8, 0x200, 4);
	put(at + 12, addr, 4);
	put(at + 16, 0x200, 4);
	put(at + 20, 0x400 + 0x200 * i, 4);
	put(at + 36, flags, 4);
}

/* A PE file for 64 bits with the flags @flags. */
static bool make_pe(uint16_t flags)
{
	struct ts_source *src;
	bool done;

	memset(file, 0, sizeof(file));
	memcpy(file, "MZ", 2);
	put(0x3c, 0x80, 4);
	memcpy(file + 0x80, "PE", 2);
	put(0x84, 0x8664, 2);
	put(0x86, 2, 2);
	put(0x94, 240, 2);
	put(0x96, flags, 2);
	put(0x98, 0x20b, 2);
	put(0x98 + 16, 0x1234, 4);
	put(0x98 + 24, 0x140000000, 8);
	put(0x98 + 60, 0x400, 4);
	put_section(0, 0x1000, 0x60000020);
	put_section(1, 0x2000, 0xc0000040);
	ts_error_reset(&err);
	src = ts_source_from_memory(file, sizeof(file), "test", &err);
	done = ts_object_init(&object, src, &err);
	ts_source_close(src);
	return done;
}

START_TEST(a_pe_file_has_its_headers_and_sections)
{
	ck_assert_msg(make_pe(0x22), "%s", err.text);
	ck_assert(object.is_pe && object.is_movable);
	ck_assert_uint_eq(object.first, 0x140000000);
	ck_assert_uint_eq(object.entry, 0x140001234);
	ck_assert_uint_eq(object.n_loads, 3);
	ck_assert_uint_eq(object.loads[0].addr, 0x140000000);
	ck_assert_uint_eq(object.loads[0].prot, TS_PROT_READ);
	ck_assert_uint_eq(object.loads[1].addr, 0x140001000);
	ck_assert_uint_eq(object.loads[1].file_off, 0x400);
	ck_assert_uint_eq(object.loads[1].prot, TS_PROT_READ | TS_PROT_EXEC);
	ck_assert_uint_eq(object.loads[2].prot, TS_PROT_READ | TS_PROT_WRITE);
	ts_object_fini(&object);
}
END_TEST

START_TEST(a_pe_file_without_relocations_lies_where_it_is_linked)
{
	ck_assert(make_pe(0x23));
	ck_assert(!object.is_movable);
	ts_object_fini(&object);
}
END_TEST

static void read_program(const char *name)
{
	struct ts_source *src;

	ts_error_reset(&err);
	src = ts_source_open(unit_data_path(name), &err);
	ck_assert_msg(src && ts_object_init(&object, src, &err), "%s", err.text);
	ts_source_close(src);
}

START_TEST(elf_files_are_movable_or_not)
{
	read_program("programs/pie/prog");
	ck_assert(object.is_movable && !object.is_pe);
	ck_assert_uint_eq(object.first, 0);
	ts_object_fini(&object);
	read_program("programs/static/prog");
	ck_assert(!object.is_movable);
	ck_assert_uint_eq(object.first, 0x400000);
	ts_object_fini(&object);
}
END_TEST

START_TEST(other_files_and_damaged_ones_are_refused)
{
	static const uint8_t text[64] = "neither";
	struct ts_source *src;

	ts_error_reset(&err);
	src = ts_source_from_memory(text, sizeof(text), "test", &err);
	ck_assert(!ts_object_init(&object, src, &err) && err.code == TS_EUNSUPPORTED);
	ts_source_close(src);
	ts_error_reset(&err);
	src = ts_source_from_memory((const uint8_t *)"\177ELF\2\1\1", 7, "test", &err);
	ck_assert(!ts_object_init(&object, src, &err) && err.code != TS_OK);
	ts_source_close(src);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("object");
	TCase *t = tcase_create("files");

	tcase_add_test(t, a_pe_file_has_its_headers_and_sections);
	tcase_add_test(t, a_pe_file_without_relocations_lies_where_it_is_linked);
	tcase_add_test(t, elf_files_are_movable_or_not);
	tcase_add_test(t, other_files_and_damaged_ones_are_refused);
	suite_add_tcase(s, t);
	return s;
}
