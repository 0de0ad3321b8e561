/* SPDX-License-Identifier: MIT */
/*
 * Constant segments of a small ELF file: where they lie, and when they are not the program's.
 */
#include "unit.h"

#include "loaders/kit/program.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define PATH "program"
#define CODE 0x401000u
#define RODATA 0x402000u
#define DATA 0x403000u
#define ENTRY (CODE + 8)

static struct ts_image image;
static struct ts_error err;
static unsigned n_asked;

static void setup(void)
{
	ts_error_reset(&err);
	ts_image_init(&image);
	n_asked = 0;
}

static void teardown(void)
{
	ts_image_fini(&image);
}

/* Code of 16 bytes c0 c1 ..., constants d0 ..., and data that can be written. */
static void write_file(uint16_t type)
{
	static const struct {
		uint64_t addr;
		uint32_t flags;
		uint8_t first;
	} segments[] = { { CODE, PF_R | PF_X, 0xc0 }, { RODATA, PF_R, 0xd0 }, { DATA, PF_R | PF_W, 0xe0 } };
	uint8_t file[0x400] = { 0 };
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = type,
			    .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_entry = ENTRY, .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3 };
	FILE *f = fopen(PATH, "wb");

	memcpy(file, &head, sizeof(head));
	for (unsigned i = 0; i < 3; i++) {
		Elf64_Phdr load = { .p_type = PT_LOAD, .p_flags = segments[i].flags, .p_offset = 0x200 + 0x10 * i,
				    .p_vaddr = segments[i].addr, .p_filesz = 16, .p_memsz = 16, .p_align = 1 };

		memcpy(file + sizeof(head) + i * sizeof(load), &load, sizeof(load));
		for (unsigned k = 0; k < 16; k++)
			file[0x200 + 0x10 * i + k] = (uint8_t)(segments[i].first + k);
	}
	ck_assert(f && fwrite(file, sizeof(file), 1, f) == 1 && !fclose(f));
}

/* The byte that the image has at @addr, -1 if none. */
static int byte_at(uint64_t addr)
{
	uint8_t data = 0, known = 0;

	ts_image_fill(&image, 0, addr, 1, &data, &known);
	return known ? data : -1;
}

static void expect_moved_by(int64_t moved)
{
	ck_assert_int_eq(byte_at(CODE + (uint64_t)moved), 0xc0);
	ck_assert_int_eq(byte_at(CODE + (uint64_t)moved + 15), 0xcf);
	ck_assert_int_eq(byte_at(CODE + (uint64_t)moved + 16), -1);
	ck_assert_int_eq(byte_at(RODATA + (uint64_t)moved), 0xd0);
	ck_assert_int_eq(byte_at(DATA + (uint64_t)moved), -1); /* the program may have written there */
}

static void expect_nothing(void)
{
	ck_assert_uint_eq(image.n_ranges, 0);
	ck_assert_int_eq(err.code, TS_OK);
}

static void add(const uint64_t *base, const uint64_t *entry)
{
	ck_assert_msg(kit_program_add(&image, PATH, base, entry, NULL, NULL, &err), "%s", err.text);
}

START_TEST(a_program_that_cannot_move_lies_where_it_is_linked)
{
	write_file(ET_EXEC);
	add(NULL, NULL);
	expect_moved_by(0);
}
END_TEST

START_TEST(one_that_can_move_lies_nowhere_unless_that_is_known)
{
	write_file(ET_DYN);
	add(NULL, NULL);
	expect_nothing();
}
END_TEST

START_TEST(its_lowest_page_lies_at_the_base)
{
	write_file(ET_DYN);
	add(&(uint64_t){ 0x555555554000 }, NULL);
	expect_moved_by(INT64_C(0x555555554000) - CODE);
}
END_TEST

START_TEST(its_entry_point_tells_where_it_lies)
{
	write_file(ET_DYN);
	add(NULL, &(uint64_t){ ENTRY - 0x1000 });
	expect_moved_by(-0x1000);
}
END_TEST

START_TEST(the_base_is_believed_more_than_the_entry_point)
{
	write_file(ET_EXEC);
	add(&(uint64_t){ 0x10000 }, &(uint64_t){ 0x90000 });
	expect_moved_by(INT64_C(0x10000) - CODE);
}
END_TEST

/* Segment @user, from 1 on, is another program's; 0: all are this one's. */
static bool compare(void *user, uint64_t addr, uint64_t len, const struct ts_source *src, uint64_t off, bool *is_same,
		    struct ts_error *e)
{
	uint8_t first;

	ck_assert(ts_source_read_all(src, off, &first, 1, e));
	ck_assert_uint_eq(len, 16);
	ck_assert_uint_eq(first, n_asked ? 0xd0 : 0xc0);
	ck_assert_uint_eq(addr, n_asked ? RODATA : CODE);
	*is_same = ++n_asked != *(unsigned *)user;
	return true;
}

START_TEST(a_segment_of_another_program_refuses_all)
{
	write_file(ET_EXEC);
	for (unsigned other = 1; other <= 2; other++) {
		n_asked = 0;
		ck_assert(kit_program_add(&image, PATH, NULL, NULL, compare, &other, &err));
		ck_assert_uint_eq(n_asked, other);
		expect_nothing();
	}
	n_asked = 0;
	ck_assert(kit_program_add(&image, PATH, NULL, NULL, compare, &(unsigned){ 0 }, &err));
	ck_assert_uint_eq(n_asked, 2);
	expect_moved_by(0);
}
END_TEST

START_TEST(another_file_adds_nothing)
{
	FILE *f = fopen(PATH, "wb");

	ck_assert(f && fputs("#!/bin/sh\n", f) >= 0 && !fclose(f));
	add(NULL, NULL);
	expect_nothing();
	ck_assert(kit_program_add(&image, NULL, NULL, NULL, NULL, NULL, &err));
	expect_nothing();
	ck_assert(!kit_program_add(&image, "nowhere", NULL, NULL, NULL, NULL, &err));
	ck_assert_int_eq(err.code, TS_EIO);
}
END_TEST

UNIT_FIXTURE_SUITE("program", setup, teardown, a_program_that_cannot_move_lies_where_it_is_linked,
		   one_that_can_move_lies_nowhere_unless_that_is_known, its_lowest_page_lies_at_the_base,
		   its_entry_point_tells_where_it_lies, the_base_is_believed_more_than_the_entry_point,
		   a_segment_of_another_program_refuses_all, another_file_adds_nothing)
