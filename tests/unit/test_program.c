/* SPDX-License-Identifier: MIT */
/*
 * The constant segments of a program's file, written here: two pages, of which the second can be written.
 */
#include "loaders/kit/program.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

#define LINKED UINT64_C(0x401000)
#define ENTRY  (LINKED + 2)

static struct ts_image memory;
static struct ts_error err;

/* Of the reads of a file, that number fails; all are counted. */
static unsigned n_reads, bad_read;

ssize_t pread(int fd, void *buf, size_t len, off_t off)
{
	if (n_reads++ == bad_read) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, len, off);
}

static void write_program(unsigned type)
{
	const Elf64_Ehdr head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 }, .e_type = (Elf64_Half)type,
		.e_machine = EM_X86_64, .e_version = 1, .e_entry = ENTRY, .e_phoff = sizeof(head),
		.e_ehsize = sizeof(head), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2
	};
	const uint64_t off = sizeof(head) + 2 * sizeof(Elf64_Phdr);
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = off, .p_vaddr = LINKED, .p_filesz = 4,
		  .p_memsz = 4 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = off + 4, .p_vaddr = LINKED + 0x1000, .p_filesz = 4,
		  .p_memsz = 4 },
	};
	FILE *f = fopen("prog", "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(&head, sizeof(head), 1, f) + fwrite(segments, sizeof(segments), 1, f), 2);
	ck_assert_int_ge(fputs("codedata", f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void setup(void)
{
	n_reads = 0;
	bad_read = UINT_MAX;
	ts_error_reset(&err);
	ts_image_init(&memory);
	write_program(ET_EXEC);
}

static void teardown(void)
{
	ts_image_fini(&memory);
}

/* Are these four bytes at @addr?  NULL: none of them is known. */
static void expect(uint64_t addr, const char *bytes)
{
	uint8_t data[4] = { 0 }, known[4] = { 0 };

	ts_image_fill(&memory, 0, addr, 4, data, known);
	ck_assert_mem_eq(known, bytes ? "\1\1\1\1" : "\0\0\0\0", 4);
	if (bytes)
		ck_assert_mem_eq(data, bytes, 4);
}

static bool add(const uint64_t *base, const uint64_t *entry)
{
	return kit_program_add(&memory, "prog", base, entry, NULL, NULL, &err);
}

/* ------------------------------------------------------------------------------------------------- places */

START_TEST(constant_segments_lie_where_they_are_linked)
{
	ck_assert(add(NULL, NULL));
	expect(LINKED, "code");
	expect(LINKED + 0x1000, NULL);
}
END_TEST

START_TEST(a_base_is_that_of_the_lowest_page)
{
	const uint64_t base = 0x7f0000000000;

	ck_assert(add(&base, NULL));
	expect(base, "code");
	expect(LINKED, NULL);
}
END_TEST

START_TEST(an_entry_point_tells_the_place_unless_a_base_does)
{
	const uint64_t entry = 0x7f0000005002, base = 0x10000;

	write_program(ET_DYN);
	ck_assert(add(NULL, &entry));
	expect(0x7f0000005000, "code");
	ck_assert(add(&base, &entry));
	expect(base, "code");
}
END_TEST

START_TEST(a_program_that_may_lie_anywhere_adds_nothing)
{
	write_program(ET_DYN);
	ck_assert(add(NULL, NULL));
	ck_assert_uint_eq(memory.n_ranges, 0);
}
END_TEST

START_TEST(other_files_add_nothing)
{
	FILE *f = fopen("text", "wb");

	fputs("no program", f);
	fclose(f);
	ck_assert(kit_program_add(&memory, "text", NULL, NULL, NULL, NULL, &err));
	ck_assert(kit_program_add(&memory, NULL, NULL, NULL, NULL, NULL, &err));
	ck_assert_int_eq(err.code, TS_OK);
	ck_assert_uint_eq(memory.n_ranges, 0);
	ck_assert(!kit_program_add(&memory, "missing", NULL, NULL, NULL, NULL, &err));
	ck_assert_int_eq(err.code, TS_EIO);
}
END_TEST

/* -------------------------------------------------------------------------------------------- comparisons */

/* What compare() was asked about last, and how often; what it says. */
static struct {
	uint64_t addr, len;
	unsigned n;
	bool is_same, is_failing;
} asked;

static bool compare(void *user, uint64_t addr, uint64_t len, const struct ts_source *src, uint64_t off,
		    bool *is_same, struct ts_error *e)
{
	char bytes[4];

	ck_assert_ptr_eq(user, &asked);
	asked.addr = addr;
	asked.len = len;
	asked.n++;
	ck_assert(ts_source_read_all(src, off, bytes, sizeof(bytes), e));
	ck_assert_mem_eq(bytes, "code", 4);
	*is_same = asked.is_same;
	return !asked.is_failing || ts_fail(e, TS_EIO, off, "a test");
}

static bool add_compared(bool is_same, bool is_failing)
{
	const uint64_t base = 0x10000;

	memset(&asked, 0, sizeof(asked));
	asked.is_same = is_same;
	asked.is_failing = is_failing;
	return kit_program_add(&memory, "prog", &base, NULL, compare, &asked, &err);
}

START_TEST(only_constant_segments_are_compared_where_they_would_lie)
{
	ck_assert(add_compared(true, false));
	ck_assert_uint_eq(asked.n, 1);
	ck_assert_uint_eq(asked.addr, 0x10000);
	ck_assert_uint_eq(asked.len, 4);
	expect(0x10000, "code");
}
END_TEST

START_TEST(another_program_adds_nothing)
{
	ck_assert(add_compared(false, false));
	ck_assert_int_eq(err.code, TS_OK);
	ck_assert_uint_eq(memory.n_ranges, 0);
}
END_TEST

START_TEST(a_comparison_that_fails_is_a_failure)
{
	ck_assert(!add_compared(true, true));
	ck_assert_int_eq(err.code, TS_EIO);
	ck_assert_uint_eq(memory.n_ranges, 0);
}
END_TEST

START_TEST(a_read_that_fails_is_a_failure)
{
	unsigned n_all;

	ck_assert(add(NULL, NULL));
	n_all = n_reads;
	ck_assert_uint_gt(n_all, 1);
	for (bad_read = 0; bad_read < n_all; bad_read++) {
		n_reads = 0;
		ck_assert_msg(!add(NULL, NULL), "read %u", bad_read);
		ck_assert_int_eq(err.code, TS_EIO);
		ts_error_reset(&err);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("program", setup, teardown, constant_segments_lie_where_they_are_linked,
		   a_base_is_that_of_the_lowest_page, an_entry_point_tells_the_place_unless_a_base_does,
		   a_program_that_may_lie_anywhere_adds_nothing, other_files_add_nothing,
		   only_constant_segments_are_compared_where_they_would_lie, another_program_adds_nothing,
		   a_comparison_that_fails_is_a_failure, a_read_that_fails_is_a_failure)
