/* SPDX-License-Identifier: MIT */
/*
 * Which byte of which file lies under a recording.
 */
#include "unit.h"

#include "src/object/image.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ts_image img;
static struct ts_error err;
static uint8_t data[1000], known[1000];

static void setup(void)
{
	ts_image_init(&img);
	ts_error_reset(&err);
	memset(data, 0, sizeof(data));
	memset(known, 0, sizeof(known));
}

static void teardown(void)
{
	ts_image_fini(&img);
}

static uint32_t add_source(const char *text)
{
	return ts_image_add_source(&img, ts_source_from_memory(text, strlen(text), text, &err));
}

static void add(uint64_t map, uint64_t addr, uint64_t len, uint32_t source, uint64_t off)
{
	ck_assert(ts_image_add(&img, map, addr, len, source, off, &err));
}

/* The bytes of a map as text, '.' where unknown. */
static const char *text_at(uint64_t map, uint64_t addr, size_t len)
{
	static char text[1001];

	memset(data, 0, len);
	memset(known, 0, len);
	ts_image_fill(&img, map, addr, len, data, known);
	for (size_t i = 0; i < len; i++)
		text[i] = known[i] ? (char)data[i] : '.';
	text[len] = '\0';
	return text;
}

START_TEST(a_range_shows_its_part_of_the_file)
{
	add(0, 0x1000, 4, add_source("0123456789"), 3);
	ck_assert_str_eq(text_at(0, 0xffe, 8), "..3456..");
	ck_assert_str_eq(text_at(0, 0x1001, 2), "45");
	ck_assert_str_eq(text_at(0, 0xff0, 16), "................");
	ck_assert_str_eq(text_at(0, 0x1004, 1), ".");
}
END_TEST

START_TEST(what_passes_the_end_of_the_file_stays_unknown)
{
	uint32_t source = add_source("0123456789");

	add(0, 0x1000, UINT64_MAX, source, 8);
	add(0, 0x2000, 4, source, 10);
	ck_assert_str_eq(text_at(0, 0x1000, 4), "89..");
	ck_assert_str_eq(text_at(0, 0x2000, 4), "....");
}
END_TEST

START_TEST(a_range_may_end_with_the_address_space)
{
	add(0, UINT64_MAX - 1, 10, add_source("0123456789"), 0);
	ck_assert_str_eq(text_at(0, UINT64_MAX - 3, 4), "..01");
	ck_assert_str_eq(text_at(0, 0, 4), "....");
}
END_TEST

START_TEST(known_bytes_are_left_alone)
{
	add(0, 0, 10, add_source("0123456789"), 0);
	data[4] = 'x';
	known[4] = 1;
	ts_image_fill(&img, 0, 0, 10, data, known);
	ck_assert_int_eq(memcmp(data, "0123x56789", 10), 0);
}
END_TEST

START_TEST(known_bytes_are_left_alone_in_a_long_range)
{
	static uint8_t bytes[10000], is_known[10000];
	static char text[10001];

	memset(text, 'a', 10000);
	add(0, 0, 10000, add_source(text), 0);
	is_known[0] = is_known[9000] = 1;
	ts_image_fill(&img, 0, 0, 10000, bytes, is_known);
	for (size_t i = 0; i < 10000; i++) {
		ck_assert_uint_eq(bytes[i], i && i != 9000 ? 'a' : 0);
		ck_assert(is_known[i]);
	}
}
END_TEST

START_TEST(of_two_ranges_the_later_one_wins)
{
	add(0, 0, 10, add_source("0123456789"), 0);
	add(0, 4, 3, add_source("abc"), 0);
	ck_assert_str_eq(text_at(0, 0, 10), "0123abc789");
}
END_TEST

START_TEST(a_range_belongs_to_one_map)
{
	uint32_t source = add_source("0123456789");

	add(7, 0, 5, source, 0);
	ck_assert_str_eq(text_at(7, 0, 2), "01");
	ck_assert_str_eq(text_at(0, 0, 2), "..");
	ck_assert_str_eq(text_at(8, 0, 2), "..");
}
END_TEST

/* A PE file with one section of text at 0x1000, base 0x400000. */
static void write_pe(const char *path)
{
	uint8_t bytes[0x220] = "MZ";
	FILE *f = fopen(path, "wb");

	bytes[0x3c] = 0x40;
	memcpy(bytes + 0x40, "PE\0\0\x4c\1\1", 7);
	bytes[0x40 + 20] = 64; /* optional header */
	memcpy(bytes + 0x58, "\x0b\1", 2);
	bytes[0x58 + 30] = 0x40; /* base */
	bytes[0x58 + 61] = 2;    /* headers */
	bytes[0x98 + 13] = 0x10;
	bytes[0x98 + 16] = 8;
	bytes[0x98 + 21] = 2;
	memcpy(bytes + 0x200, "01234567", 8);
	ck_assert(f && fwrite(bytes, sizeof(bytes), 1, f) == 1 && !fclose(f));
}

static void write_file(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	while (n--)
		fputs(text, f);
	fclose(f);
}

START_TEST(a_mapped_file_is_found_beneath_the_sysroot)
{
	mkdir("root", 0777);
	write_file("root/lib", "0123456789", 90);
	img.sysroot = "root";
	ck_assert(ts_image_map(&img, 1, 0x1000, 4096, "/lib", 5, &err));
	ck_assert(ts_image_map(&img, 2, 0x5000, 4, "/lib", 0, &err));
	ck_assert_uint_eq(img.n_sources, 1);
	ck_assert_int_eq(strncmp(text_at(1, 0x1000, 900), "5678901234", 10), 0);
	ck_assert_uint_eq(strspn(text_at(1, 0x1000, 900), "0123456789"), 895);
	ck_assert_str_eq(text_at(2, 0x5000, 5), "0123.");
}
END_TEST

/* As an emulator records them that ran with the same sysroot. */
START_TEST(a_path_may_have_the_sysroot_in_front)
{
	char path[PATH_MAX + 8], real[PATH_MAX];

	mkdir("root", 0777);
	write_file("root/lib", "0123456789", 1);
	ck_assert(symlink("root", "linked") == 0 || errno == EEXIST);
	img.sysroot = "linked";
	ck_assert_ptr_nonnull(realpath("root", real));
	snprintf(path, sizeof(path), "%s/lib", real);
	ck_assert(ts_image_map(&img, 1, 0x1000, 10, path, 0, &err));
	ck_assert_str_eq(text_at(1, 0x1000, 10), "0123456789");
	ck_assert(ts_image_map(&img, 2, 0x1000, 10, "/lib", 5, &err));
	ck_assert_uint_eq(img.n_sources, 1);
	ck_assert_ptr_eq(ts_image_find(&img, path), img.sources[0]);
	ck_assert_ptr_eq(ts_image_find(&img, "/lib"), img.sources[0]);
	snprintf(path, sizeof(path), "%sx/lib", real);
	ts_image_open(&img, path);
	ck_assert_ptr_null(ts_image_find(&img, path));
}
END_TEST

START_TEST(paths_out_of_the_sysroot_and_missing_files_are_nothing)
{
	mkdir("root", 0777);
	write_file("secret", "x", 1);
	ck_assert(ts_image_map(&img, 1, 0, 1, "/secret", 0, &err)); /* no sysroot at all */
	img.sysroot = "root";
	ck_assert(ts_image_map(&img, 1, 0, 1, "/../secret", 0, &err));
	ck_assert(ts_image_map(&img, 1, 0, 1, "/nothing", 0, &err));
	ck_assert_uint_eq(img.n_ranges, 0);
	ck_assert_int_eq(err.code, TS_OK);
}
END_TEST

START_TEST(a_file_that_shrinks_holds_what_is_left)
{
	mkdir("root", 0777);
	write_file("root/lib", "0123456789", 1);
	img.sysroot = "root";
	ck_assert(ts_image_map(&img, 1, 0, 10, "/lib", 0, &err));
	ck_assert_int_eq(truncate("root/lib", 3), 0);
	ck_assert_str_eq(text_at(1, 0, 10), "012.......");
	ck_assert(!ts_image_check(&img, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ts_error_reset(&err);
	ck_assert_int_eq(truncate("root/lib", 0), 0);
	ck_assert_str_eq(text_at(1, 0, 10), "..........");
}
END_TEST

static bool is_broken;

static bool read_or_fail(const struct ts_source *src, uint64_t off, uint8_t *to, size_t len, size_t *got,
			 struct ts_error *e)
{
	(void)src;
	(void)off;
	if (is_broken)
		return ts_fail(e, TS_EIO, off, "the disk is broken");
	memset(to, 'x', len);
	*got = len;
	return true;
}

static void close_it(struct ts_source *src)
{
	(void)src;
}

START_TEST(a_read_that_fails_is_told_once)
{
	static const struct ts_source_ops ops = { .read = read_or_fail, .close = close_it };
	struct ts_source *src = calloc(1, sizeof(*src));

	ck_assert(ts_source_init(src, &ops, 10, "broken", &err));
	add(0, 0x1000, 10, ts_image_add_source(&img, src), 0);
	is_broken = true;
	ck_assert_str_eq(text_at(0, 0x1000, 4), "....");
	ck_assert(!ts_image_check(&img, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ts_error_reset(&err);
	is_broken = false;
	ck_assert_str_eq(text_at(0, 0x1000, 4), "xxxx");
	ck_assert(ts_image_check(&img, &err));
	ck_assert(ts_image_check(NULL, &err));
}
END_TEST

/* A program whose second segment, its text, is linked at 0x401000 and lies at 0x1000 in the file. */
#define PROGRAM "usercorn/x64_walk.elf"

static void expect_program_at(uint64_t base)
{
	size_t len;
	uint8_t *file = unit_data(PROGRAM, &len);

	ck_assert_uint_ge(len, 0x1040);
	ck_assert_str_eq(text_at(0, base, 4), "\177ELF");
	text_at(0, base + 0x1000, 0x40);
	ck_assert_ptr_null(memchr(known, 0, 0x40));
	ck_assert_mem_eq(data, file + 0x1000, 0x40);
	free(file);
}

START_TEST(an_elf_file_lies_where_it_is_linked)
{
	ck_assert(ts_image_add_file(&img, unit_data_path(PROGRAM), NULL, &err));
	expect_program_at(0x400000);
	ck_assert_str_eq(text_at(0, 0, 4), "....");
}
END_TEST

START_TEST(an_elf_file_lies_where_the_user_says)
{
	const uint64_t base = 0x7fff12340000;

	ck_assert(ts_image_add_file(&img, unit_data_path(PROGRAM), &base, &err));
	expect_program_at(base);
	ck_assert_str_eq(text_at(0, 0x400000, 4), "....");
}
END_TEST

START_TEST(any_other_file_needs_an_address)
{
	const uint64_t base = 0x5000;

	write_file("raw", "0123456789", 1);
	ck_assert(!ts_image_add_file(&img, "raw", NULL, &err));
	ck_assert_int_eq(err.code, TS_EUSAGE);
	ck_assert_ptr_nonnull(strstr(err.text, "FILE@BASE"));
	ts_error_reset(&err);
	ck_assert(ts_image_add_file(&img, "raw", &base, &err));
	ck_assert_str_eq(text_at(0, base - 2, 14), "..0123456789..");
}
END_TEST

START_TEST(files_that_cannot_be_taken_are_refused)
{
	const uint64_t base = 0;

	write_file("cut", "\177ELF\2\1\1 and no more", 1);
	ck_assert(!ts_image_add_file(&img, "cut", &base, &err));
	ck_assert_int_eq(err.code, TS_ETRUNC);
	ts_error_reset(&err);
	ck_assert(!ts_image_add_file(&img, "absent", &base, &err));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_uint_eq(img.n_ranges, 0);
}
END_TEST

START_TEST(a_pe_file_lies_at_its_base_or_at_the_one_given)
{
	uint64_t base = 0x7ff600000000;

	write_pe("prog.exe");
	ck_assert_msg(ts_image_add_file(&img, "prog.exe", NULL, &err), "%s", err.text);
	ck_assert_str_eq(text_at(0, 0x400000, 2), "MZ");
	ck_assert_str_eq(text_at(0, 0x400fff, 10), ".01234567.");
	ck_assert_str_eq(text_at(0, 0x400200, 2), "..");
	ck_assert(ts_image_add_file(&img, "prog.exe", &base, &err));
	ck_assert_str_eq(text_at(0, base + 0x1004, 6), "4567..");
	write_file("cut.exe", "MZ", 200);
	ck_assert(!ts_image_add_file(&img, "cut.exe", NULL, &err));
	ck_assert_int_eq(err.code, TS_EUSAGE);
}
END_TEST

UNIT_FIXTURE_SUITE("image", setup, teardown, a_range_shows_its_part_of_the_file,
		   a_pe_file_lies_at_its_base_or_at_the_one_given,
		   what_passes_the_end_of_the_file_stays_unknown, a_range_may_end_with_the_address_space,
		   known_bytes_are_left_alone, known_bytes_are_left_alone_in_a_long_range,
		   of_two_ranges_the_later_one_wins, a_range_belongs_to_one_map,
		   a_mapped_file_is_found_beneath_the_sysroot,
		   a_path_may_have_the_sysroot_in_front,
		   paths_out_of_the_sysroot_and_missing_files_are_nothing,
		   a_file_that_shrinks_holds_what_is_left, a_read_that_fails_is_told_once,
		   an_elf_file_lies_where_it_is_linked, an_elf_file_lies_where_the_user_says,
		   any_other_file_needs_an_address, files_that_cannot_be_taken_are_refused)
