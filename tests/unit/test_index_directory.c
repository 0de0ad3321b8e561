/* SPDX-License-Identifier: MIT */
/*
 * The directory of an index file: it says where the records are, and a reader of ranges needs no more; whatever
 * becomes of it, the records are found all the same, and what it says falsely is not believed.
 */
#include "unit.h"

#include "forge.h"
#include "src/index/index_directory.h"
#include "src/trace/chunk.h"

#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH    "listed.tsindex"
#define SEED    3
#define N_STEPS 700 /* of the recordings of forge.h */

static uint8_t *file;
static size_t file_len;

static void setup(void)
{
	file = forge_original(PATH, SEED, &file_len);
}

static void teardown(void)
{
	free(file);
	remove(PATH);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static void write_file(size_t len)
{
	FILE *f = fopen(PATH, "wb");

	ck_assert(f && fwrite(file, 1, len, f) == len && !fclose(f));
}

/* By the layout alone, as index_file.c describes it. */
START_TEST(a_reader_of_ranges_finds_every_head)
{
	const uint8_t *tail = file + file_len - 64, *entry = file + get64(tail + 16);
	uint64_t n = get64(tail + 24), pos = 0, off = 4096;

	ck_assert_mem_eq(tail, "index directory\n", 16);
	ck_assert_uint_ge(n, N_STEPS / (TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS));
	for (uint64_t i = 0; i < n; i++, entry += 64) {
		const uint8_t *head = file + get64(entry + 16);

		ck_assert_uint_eq(get64(entry), pos);
		ck_assert_uint_eq(get64(entry + 16), off);
		ck_assert_mem_eq(head, "record\n", 8);
		ck_assert_uint_eq(get64(head + 8), i);
		ck_assert_uint_eq(get64(head + 16), get64(entry + 24));
		ck_assert_mem_eq(head + 56, entry + 32, 28);
		pos += get64(entry + 8);
		off += (get64(entry + 24) + 4095) / 4096 * 4096;
		if (pos < N_STEPS)
			ck_assert_uint_eq(get64(entry + 8), TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS);
	}
	ck_assert_uint_eq(pos, N_STEPS);
	ck_assert_mem_eq(file + off, "summary\n", 8);
	ck_assert_uint_gt(get64(tail + 16), off);
	ck_assert_ptr_eq(entry, tail);
}
END_TEST

/* Is a directory found at the end of the first @len bytes of the file? */
static bool is_found(size_t len)
{
	size_t n = 0;
	uint64_t summary = 0, at = 0;
	bool is;
	int fd;

	write_file(len);
	fd = open(PATH, O_RDONLY);
	is = ts_index_directory_find(fd, len, &n, &summary, &at);
	close(fd);
	if (!is)
		return false;
	ck_assert_uint_eq(at, get64(file + len - 64 + 16));
	ck_assert_uint_eq(n, get64(file + len - 64 + 24));
	ck_assert_uint_le(summary, at);
	ck_assert_uint_le(n, len / 4096);
	return true;
}

/* Where the summary begins. */
static size_t end_of_records(void)
{
	const uint8_t *last = file + file_len - 128;

	return get64(last + 16) + (get64(last + 24) + 4095) / 4096 * 4096;
}

START_TEST(the_summary_is_found_by_the_end_of_the_directory)
{
	size_t n;
	uint64_t summary, at;
	int fd = open(PATH, O_RDONLY);

	ck_assert(ts_index_directory_find(fd, file_len, &n, &summary, &at));
	close(fd);
	ck_assert_uint_eq(summary, end_of_records());
	ck_assert_mem_eq(file + summary, "summary\n", 8);
	ck_assert(is_found(file_len));
}
END_TEST

START_TEST(without_a_directory_or_with_a_part_of_it_records_are_found_by_their_heads)
{
	size_t directory = get64(file + file_len - 64 + 16);

	for (size_t len = directory; len < file_len; len += 24) {
		ck_assert_int_eq(forge_ask(PATH, file, len, SEED), FORGED_BELIEVED);
		ck_assert(!is_found(len));
	}
	ck_assert_int_eq(forge_ask(PATH, file, end_of_records() - 4096, SEED), FORGED_REFUSED);
}
END_TEST

/* Whatever is found by it: the summary is the one that is signed, or none. */
START_TEST(a_damaged_directory_changes_no_answer)
{
	for (size_t at = get64(file + file_len - 64 + 16); at < file_len; at += at < file_len - 128 ? 5 : 1) {
		file[at] ^= 1;
		ck_assert_int_eq(forge_ask(PATH, file, file_len, SEED), FORGED_BELIEVED);
		file[at] ^= 1;
	}
}
END_TEST

/* Sign what the directory says now. */
static void sign(void)
{
	uint8_t *tail = file + file_len - 64;
	size_t at = file_len - 64 - get64(tail + 24) * 64;
	struct iovec parts[3] = { { file, 104 }, { file + at, file_len - 64 - at }, { tail, 32 } };

	ts_signer_sign(&forge_key.signer, parts, 3, tail + 32);
}

/* Each number of each entry, by something that makes it wrong; it is signed as if it were right. */
START_TEST(what_contradicts_the_records_is_not_believed)
{
	const uint64_t by[] = { 1, UINT64_MAX, 4096, (uint64_t)-4096, UINT64_C(1) << 63, 64 };

	for (size_t at = get64(file + file_len - 64 + 16); at < file_len - 64; at += 64) {
		for (unsigned k = 0; k < 4 * 6; k++) {
			uint8_t *number = file + at + k / 6 * 8;
			uint64_t old = get64(number);

			memcpy(number, &(uint64_t){ htole64(old + by[k % 6]) }, 8);
			sign();
			ck_assert_int_eq(forge_ask(PATH, file, file_len, SEED), FORGED_BELIEVED);
			memcpy(number, &(uint64_t){ htole64(old) }, 8);
		}
	}
}
END_TEST

/* Offset and length of the last record, where the directory begins, and of how many records its tail tells. */
START_TEST(what_the_end_of_a_directory_says_lies_in_the_file)
{
	static const struct {
		uint64_t off, len, at, n;
		bool is_good;
	} cases[] = {
		{ 8192, 100, 12288, 2, true },
		{ 8192, 4096, 12288, 2, true },
		{ 4096, 100, 12288, 2, true }, /* a summary is between */
		{ 8192, 4097, 12288, 2, false }, /* after the directory's beginning */
		{ 12288, 88, 12288, 2, false }, /* begins there */
		{ 8192, UINT64_MAX - 8191, 12288, 2, false },
		{ UINT64_MAX - 4095, 100, 12288, 2, false },
		{ 4096, 100, 8192, 0, false },
		{ 4096, 100, 8192, 3, false }, /* more than there is room for */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = cases[i].at + cases[i].n * 64 + 64;

		free(file);
		file = calloc(1, len);
		ck_assert_ptr_nonnull(file);
		memcpy(file + len - 128 + 16, &(uint64_t){ htole64(cases[i].off) }, 8);
		memcpy(file + len - 128 + 24, &(uint64_t){ htole64(cases[i].len) }, 8);
		memcpy(file + len - 64, "index directory\n", 16);
		memcpy(file + len - 64 + 16, &(uint64_t){ htole64(cases[i].at) }, 8);
		memcpy(file + len - 64 + 24, &(uint64_t){ htole64(cases[i].n) }, 8);
		ck_assert_msg(is_found(len) == cases[i].is_good, "case %zu", i);
	}
}
END_TEST

/* The last record is left out, and the directory says so: what is left has no end. */
START_TEST(a_directory_does_not_end_an_index_whose_last_record_is_missing)
{
	uint64_t n = get64(file + file_len - 40) - 1, old_at = get64(file + file_len - 48),
		 at = get64(file + old_at + n * 64 + 16);

	memmove(file + at, file + old_at, n * 64);
	memmove(file + at + n * 64, file + file_len - 64, 64);
	file_len = at + n * 64 + 64;
	memcpy(file + file_len - 48, &(uint64_t){ htole64(at) }, 8);
	memcpy(file + file_len - 40, &(uint64_t){ htole64(n) }, 8);
	sign();
	ck_assert(is_found(file_len));
	ck_assert_int_eq(forge_ask(PATH, file, file_len, SEED), FORGED_REFUSED);
}
END_TEST

START_TEST(a_record_shorter_than_its_head_is_not_read)
{
	file_len = end_of_records(); /* records are looked for by their heads */
	memcpy(file + 4096 + 16, &(uint64_t){ htole64(87) }, 8);
	ck_assert_int_eq(forge_ask(PATH, file, file_len, SEED), FORGED_REFUSED);
}
END_TEST

/* What the tail says of how many there are, and where. */
START_TEST(counts_and_places_that_lie_lead_nowhere)
{
	const uint64_t lies[] = { 0, 1, UINT64_MAX, UINT64_MAX / 64, UINT64_C(1) << 58, file_len, file_len / 64 };
	uint8_t *tail = file + file_len - 64;

	for (unsigned i = 0; i < 7 * 7; i++) {
		uint8_t old[16];

		memcpy(old, tail + 16, 16);
		memcpy(tail + 16, &(uint64_t){ htole64(lies[i / 7]) }, 8);
		memcpy(tail + 24, &(uint64_t){ htole64(lies[i % 7]) }, 8);
		ck_assert(!is_found(file_len));
		memcpy(tail + 16, old, 16);
	}
	ck_assert(!is_found(127)); /* no entry and tail */
}
END_TEST

UNIT_FIXTURE_SUITE("index_directory", setup, teardown, a_reader_of_ranges_finds_every_head,
		   the_summary_is_found_by_the_end_of_the_directory,
		   without_a_directory_or_with_a_part_of_it_records_are_found_by_their_heads, a_damaged_directory_changes_no_answer,
		   what_contradicts_the_records_is_not_believed, what_the_end_of_a_directory_says_lies_in_the_file,
		   a_directory_does_not_end_an_index_whose_last_record_is_missing, a_record_shorter_than_its_head_is_not_read,
		   counts_and_places_that_lie_lead_nowhere)
