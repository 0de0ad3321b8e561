/* SPDX-License-Identifier: MIT */
/*
 * The program's file tells where the contents of a keyframe's regions belong; a file that is another one or
 * cannot be read is said to be so.
 */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place_case.h"

struct segment {
	uint64_t addr, mem_len;
	const char *bytes;
	size_t len;
	uint8_t flags; /* PF_R and so on; 0: read and execute */
};

static void put(FILE *f, uint64_t v, unsigned len, bool is_big)
{
	for (unsigned i = 0; i < len; i++)
		fputc((int)(v >> 8 * (is_big ? len - 1 - i : i) & 0xff), f);
}

/* An ELF file called "prog" with these segments. */
static void write_elf(bool is_64, bool is_big, const struct segment *s, unsigned n)
{
	FILE *f = fopen("prog", "wb");
	unsigned w = is_64 ? 8 : 4, phdr_len = is_64 ? 56 : 32, ehdr_len = is_64 ? 64 : 52;
	uint64_t off = ehdr_len + n * phdr_len;

	ck_assert_ptr_nonnull(f);
	fprintf(f, "\177ELF%c%c\1%9s", is_64 ? 2 : 1, is_big ? 2 : 1, "");
	put(f, 2, 2, is_big);
	put(f, 62, 2, is_big);
	put(f, 1, 4, is_big);
	put(f, s[0].addr, w, is_big);
	put(f, ehdr_len, w, is_big);
	put(f, 0, w, is_big);
	put(f, 0, 4, is_big);
	put(f, ehdr_len, 2, is_big);
	put(f, phdr_len, 2, is_big);
	put(f, n, 2, is_big);
	put(f, 0, 6, is_big);
	for (unsigned i = 0; i < n; i++) {
		put(f, 1, 4, is_big);
		if (is_64)
			put(f, s[i].flags ? s[i].flags : 5, 4, is_big);
		put(f, off, w, is_big);
		put(f, s[i].addr, w, is_big);
		put(f, s[i].addr, w, is_big);
		put(f, s[i].len, w, is_big);
		put(f, s[i].mem_len, w, is_big);
		if (!is_64)
			put(f, 5, 4, is_big);
		put(f, 0x1000, w, is_big);
		off += s[i].len;
	}
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq(fwrite(s[i].bytes, 1, s[i].len, f), s[i].len);
	fclose(f);
}

/* Code at a page's start, data in the middle of one and with zeros in front. */
static const struct segment program[] = {
	{ 0x401000, 0x10, "\x90\x91\x92\x00\x00\x00", 6, 0 },
	{ 0x402234, 0x100, "\x00\x00\x00\xa1\x00\xa3\x00\x00", 8, 0 },
};

#define PROGRAM(code, data)                                                                             \
	"KEY 0 { MAP " code " 1000 5 exe p WRITE " code " 909192 MAP " data " 1000 3 exe p WRITE " data \
	" a100a3 } " STEPS

START_TEST(the_programs_file_tells_where_its_bytes_are)
{
	write_elf(true, false, program, 2);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(address_of("\x90\x91", 2), 0x401000);
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x402237);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(a_file_of_32_bits_and_the_other_byte_order_tells_it_too)
{
	const struct ucir_form form = {
		.arch = "mips", .version = 1, .is_framed = true, .is_big_endian = true
	};

	write_elf(false, true, program, 2);
	open_text(&form, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x402237);
}
END_TEST

START_TEST(a_program_that_was_loaded_elsewhere_is_found_by_its_lowest_region)
{
	write_elf(true, false, program, 2);
	open_text(&ucir_v1, PROGRAM("1000000", "1001000"), "prog");
	ck_assert_uint_eq(address_of("\x90\x91", 2), 0x1000000);
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x1001237);
}
END_TEST

START_TEST(a_segment_that_begins_before_its_region_counts_from_there)
{
	static const char bytes[0x1800] = { [0] = 'x', [0x1100] = 'y', [0x1101] = 'z', [0x17ff] = 'q' };
	const struct segment one = { 0x400000, 0x1800, bytes, sizeof(bytes), 0 };
	char text[8192],
		*hex = text +
		       sprintf(text,
			       "KEY 0 { MAP 400000 1000 5 exe p WRITE 400000 78 MAP 401000 1000 3 exe p "
			       "WRITE 401000 ");

	for (size_t i = 0x1100; i < 0x1800; i++)
		hex += sprintf(hex, "%02x", (unsigned char)bytes[i]);
	strcpy(hex, " } " STEPS);
	write_elf(true, false, &one, 1);
	open_text(&ucir_v1, text, "prog");
	ck_assert_uint_eq(address_of("x", 1), 0x400000);
	ck_assert_uint_eq(address_of("yz", 2), 0x401100);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

START_TEST(another_program_than_the_recorded_one_is_warned_of)
{
	struct segment other[2];

	memcpy(other, program, sizeof(other));
	other[1].bytes = "\x00\x00\x00\xa1\x00\xa4\x00\x00";
	write_elf(true, false, other, 2);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(address_of("\x90\x91", 2), 0x401000);
	ck_assert_uint_eq(address_of("\xa1\x00\xa3", 3), 0x402000);
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
	ck_assert_uint_eq(ucir_warned(t.rec, "0x402000 of exe are uncertain"), 1);
	ucir_close(&t);
	/* more behind what was recorded */
	other[1].bytes = "\x00\x00\x00\xa1\x00\xa3\x00\x01";
	write_elf(true, false, other, 2);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
}
END_TEST

/* The recording may begin after data was written; where it is is not known then. */
START_TEST(data_that_the_program_may_write_may_differ)
{
	static const struct {
		uint64_t addr, mem_len;
		bool is_warned;
	} data[] = { { 0x402234, 0x100, false }, { 0x401800, 0x1000, false }, { 0x500000, 0x100, true } };

	for (size_t i = 0; i < 3; i++) {
		const struct segment segments[] = {
			program[0], { data[i].addr, data[i].mem_len, "\xb1\xb2\xb3", 3, 6 }
		};

		write_elf(true, false, segments, 2);
		open_text(&ucir_v1, PROGRAM("401000", "402000"), "prog");
		ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), data[i].is_warned);
		ck_assert_uint_eq(ucir_warned(t.rec, "0x402000 of exe are uncertain"), 1);
		ucir_close(&t);
	}
}
END_TEST

/* Whole pages are mapped: the file's head comes before the segment, which begins after it. */
START_TEST(a_page_of_the_file_has_more_than_its_segment)
{
	const struct segment one = { 0x400078, 3, "\x90\x91\x92", 3, 0 };
	char text[2000];
	FILE *f;
	int len, c;

	write_elf(true, false, &one, 1);
	len = sprintf(text, "KEY 0 { MAP 400000 1000 5 exe p WRITE 400000 ");
	f = fopen("prog", "rb");
	while ((c = fgetc(f)) != EOF)
		len += sprintf(text + len, "%02x", (unsigned)c);
	fclose(f);
	strcpy(text + len, " } " STEPS);
	open_text(&ucir_v1, text, "prog");
	ck_assert_uint_eq(address_of("\177ELF", 4), 0x400000);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
	ucir_close(&t);
	memcpy(strstr(text, "909192"), "909193", 6); /* another file */
	open_text(&ucir_v1, text, "prog");
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x400000 differs"), 1);
}
END_TEST

/* The lower one of two bytes that are not zero counts, whichever segment has it, also where segments overlap. */
START_TEST(the_lowest_byte_of_all_segments_tells_the_place)
{
	static const struct segment overlap[] = {
		{ 0x402020, 1, "\xa3", 1, 0 }, { 0x402010, 1, "\xa1", 1, 0 },
		{ 0x402008, 10, "\0\0\0\0\0\0\0\0\xa1\xa2", 10, 0 }, { 0x402800, 8, "\0\0\0\0\0\0\0", 8, 0 },
	};

	write_elf(true, false, overlap, 4);
	open_text(&ucir_v1, "KEY 0 { MAP 402000 1000 5 exe p WRITE 402000 a1a20000000000000000000000000000a3 } "
		  STEPS,
		  "prog");
	ck_assert_uint_eq(address_of("\xa1\xa2", 2), 0x402010);
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* The region of 0x402000, of the file from @file_off on. */
static void open_mapped(uint8_t file_off, const char *hex)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 "
		 "RAW 090020400000000000001000000000000005%02x00000000000000000000000000000003000100" "65786570 "
		 "WRITE 402000 %s } " STEPS, file_off, hex);
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1, text, "prog");
}

/* What the file has there is nothing, all zeros, or something else; with one byte more it is the contents. */
START_TEST(a_page_of_the_file_that_has_other_bytes_tells_no_place)
{
	static const struct segment segments[] = {
		program[0], { 0x500000, 16, "\0\0\xb1\xb2\xb3\0\0\0\0\0\0\0\0\0\0\0", 16, 0 }
	};
	const uint8_t start = 64 + 2 * 56 + 6, end = (uint8_t)(start + 16);
	const struct {
		uint8_t off;
		const char *hex;
		bool is_there;
	} cases[] = {
		{ start, "b1b2b3", true }, { start, "b1b2b4", false }, { start, "b1b2", false },
		{ (uint8_t)(start + 5), "b1b2b3", false }, { end, "b1b2b3", false },
	};

	write_elf(true, false, segments, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		open_mapped(cases[i].off, cases[i].hex);
		ck_assert_uint_eq(address_of("\xb1\xb2", 2), cases[i].is_there ? 0x402002 : 0x402000);
		ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), !cases[i].is_there);
		ucir_close(&t);
	}
	/* the region is of no file */
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1,
		  "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 1000 5 exe - WRITE 402000 b1b2b3 } "
		  STEPS, "prog");
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
}
END_TEST

/* The last byte that the region has room for, and one that it has not. */
START_TEST(a_place_from_which_the_contents_would_pass_the_region_is_none)
{
	static const struct segment last[] = { program[0], { 0x402ffd, 3, "\xa1\xa2\xa3", 3, 0 } };

	write_elf(true, false, last, 2);
	open_text(&ucir_v1, "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 1000 5 exe p WRITE 402000 "
			    "a1a2a3 } " STEPS, "prog");
	ck_assert_uint_eq(address_of("\xa1\xa2", 2), 0x402ffd);
	ucir_close(&t);
	ts_buf_reset(&t.bytes);
	open_text(&ucir_v1, "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 1000 5 exe p WRITE 402000 "
			    "a1a2a3a4 } " STEPS, "prog");
	ck_assert_uint_eq(address_of("\xa1\xa2", 2), 0x402000);
	ck_assert_uint_eq(ucir_warned(t.rec, "the region at 0x402000 differs"), 1);
}
END_TEST

START_TEST(a_file_that_does_not_help_is_warned_of)
{
	FILE *f = fopen("text", "wb");

	fputs("no program", f);
	fclose(f);
	open_text(&ucir_v1, PROGRAM("401000", "402000"), "text");
	ck_assert_uint_eq(ucir_warned(t.rec, "text does not help"), 1);
}
END_TEST

/* Of the reads of a file, that number fails; all are counted. */
static unsigned n_reads, bad_read = UINT_MAX;

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
	if (n_reads++ == bad_read) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, len, off);
}

/* A failure that may pass must not make a recording whose contents are in worse places. */
START_TEST(a_read_of_the_program_that_fails_is_a_failure)
{
	static const char bytes[0x3000] = { [0x2800] = 'x' };
	const struct segment segments[] = { program[0], { 0x402000, sizeof(bytes), bytes, sizeof(bytes), 0 } };
	unsigned n_all;

	write_elf(true, false, segments, 2);
	ucir_encode(&t.bytes, &ucir_v1,
		    "KEY 0 { MAP 401000 1000 5 exe p WRITE 401000 909192 MAP 402000 4000 3 exe p WRITE 402000 78 } "
		    STEPS);
	n_reads = 0;
	ck_assert(ucir_open(&t, "prog"));
	ck_assert_uint_eq(address_of("x", 1), 0x404800);
	n_all = n_reads;
	ck_assert_uint_gt(n_all, 5);
	for (unsigned i = 0; i < n_all; i++) {
		const struct ts_loader_options opt = { .exec = "prog" };

		n_reads = 0;
		bad_read = i;
		ck_assert_msg(!ts_loader_open(ts_loader_find("usercorn"), t.src, &opt, &t.err), "read %u", i);
		ck_assert_int_eq(t.err.code, TS_EIO);
		ts_error_reset(&t.err);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("usercorn_place_file", setup, teardown, the_programs_file_tells_where_its_bytes_are,
		   a_file_of_32_bits_and_the_other_byte_order_tells_it_too,
		   a_program_that_was_loaded_elsewhere_is_found_by_its_lowest_region,
		   a_segment_that_begins_before_its_region_counts_from_there,
		   another_program_than_the_recorded_one_is_warned_of,
		   data_that_the_program_may_write_may_differ, a_page_of_the_file_has_more_than_its_segment,
		   the_lowest_byte_of_all_segments_tells_the_place,
		   a_page_of_the_file_that_has_other_bytes_tells_no_place,
		   a_place_from_which_the_contents_would_pass_the_region_is_none,
		   a_file_that_does_not_help_is_warned_of, a_read_of_the_program_that_fails_is_a_failure)
