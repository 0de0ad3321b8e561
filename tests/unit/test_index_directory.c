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

static struct ts_index_entry *read_directory(size_t *n)
{
	int fd = open(PATH, O_RDONLY);
	uint64_t at = 0;
	struct ts_index_entry *entries = ts_index_directory_read(fd, file_len, &forge_key, n, &at);

	close(fd);
	if (entries)
		ck_assert_uint_eq(at, get64(file + file_len - 64 + 16));
	return entries;
}

START_TEST(a_directory_is_read_back)
{
	const uint8_t *entry = file + get64(file + file_len - 64 + 16);
	size_t n;
	struct ts_index_entry *entries = read_directory(&n);

	ck_assert_ptr_nonnull(entries);
	ck_assert_uint_eq(n, get64(file + file_len - 64 + 24));
	for (size_t i = 0; i < n; i++, entry += 64) {
		ck_assert_uint_eq(entries[i].pos, get64(entry));
		ck_assert_uint_eq(entries[i].n_steps, get64(entry + 8));
		ck_assert_uint_eq(entries[i].off, get64(entry + 16));
		ck_assert_uint_eq(entries[i].len, get64(entry + 24));
		ck_assert_mem_eq(entries[i].signature, entry + 32, 28);
	}
	free(entries);
}
END_TEST

/* Where the summary begins. */
static size_t end_of_records(void)
{
	const uint8_t *last = file + file_len - 128;

	return get64(last + 16) + (get64(last + 24) + 4095) / 4096 * 4096;
}

START_TEST(without_a_directory_or_with_a_part_of_it_records_are_found_by_their_heads)
{
	size_t directory = get64(file + file_len - 64 + 16), n;

	for (size_t len = directory; len < file_len; len += 24) {
		ck_assert_int_eq(forge_ask(PATH, file, len, SEED), FORGED_BELIEVED);
		write_file(len);
		ck_assert_ptr_null(read_directory(&n));
	}
	ck_assert_int_eq(forge_ask(PATH, file, end_of_records() - 4096, SEED), FORGED_REFUSED);
}
END_TEST

START_TEST(no_byte_of_a_directory_can_be_changed_unnoticed)
{
	size_t n;

	for (size_t at = get64(file + file_len - 64 + 16); at < file_len - 4; at++) {
		file[at] ^= 1;
		write_file(file_len);
		ck_assert_msg(!read_directory(&n), "byte %zu", at);
		if (at % 5 == 0)
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
	size_t at = get64(file + file_len - 64 + 16), n_believed = 0, n;

	for (; at < file_len - 64; at += 64) {
		for (unsigned k = 0; k < 4 * 6; k++) {
			uint8_t *number = file + at + k / 6 * 8;
			uint64_t old = get64(number);
			struct ts_index_entry *entries;

			memcpy(number, &(uint64_t){ htole64(old + by[k % 6]) }, 8);
			sign();
			write_file(file_len);
			entries = read_directory(&n);
			n_believed += entries != NULL; /* a length may be another one up to the next record */
			free(entries);
			ck_assert_int_eq(forge_ask(PATH, file, file_len, SEED), FORGED_BELIEVED);
			memcpy(number, &(uint64_t){ htole64(old) }, 8);
		}
	}
	ck_assert_uint_le(n_believed, 4 * n);
	sign();
	write_file(file_len);
	free(read_directory(&n));
	ck_assert_uint_gt(n, 0);
}
END_TEST

START_TEST(a_file_shorter_than_a_tail_has_no_directory)
{
	int fd = open(PATH, O_RDONLY);
	size_t n = 1;
	uint64_t at;

	ck_assert_ptr_null(ts_index_directory_read(fd, 63, &forge_key, &n, &at));
	ck_assert_uint_eq(n, 0);
	close(fd);
}
END_TEST

/* Put a directory of these entries, signed, at @at: *len gets the length of the file that ends with it. */
static void put_directory(const uint64_t (*entries)[4], size_t n, size_t at, size_t *len)
{
	uint8_t *header = file;

	*len = at + n * 64 + 64;
	file = calloc(1, *len);
	ck_assert_ptr_nonnull(file);
	memcpy(file, header, 104);
	free(header);
	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < 4; k++)
			memcpy(file + at + i * 64 + k * 8, &(uint64_t){ htole64(entries[i][k]) }, 8);
	}
	memcpy(file + *len - 64, "index directory\n", 16);
	memcpy(file + *len - 48, &(uint64_t){ htole64(at) }, 8);
	memcpy(file + *len - 40, &(uint64_t){ htole64(n) }, 8);
}

/* Position, steps, offset, length; and where the directory begins. */
START_TEST(records_follow_each_other_up_to_the_directory)
{
	static const struct {
		uint64_t entries[2][4], at;
		bool is_good;
	} cases[] = {
		{ { { 0, 10, 4096, 4096 }, { 10, 5, 8192, 100 } }, 12288, true },
		{ { { 0, 10, 4096, 4096 }, { 10, UINT64_MAX - 10, 8192, 100 } }, 12288, true },
		{ { { 0, 10, 4096, 4096 }, { 10, UINT64_MAX - 9, 8192, 100 } }, 12288, false }, /* too many steps */
		{ { { 0, 10, 4096, 4096 }, { 10, 5, 8192, 87 } }, 12288, false }, /* no room for a head */
		{ { { 0, 10, 4096, 4096 }, { 10, 5, 8192, 4097 } }, 12288, false }, /* after the directory's beginning */
		{ { { 0, 10, 4096, 4196 }, { 10, 5, 12288, 88 } }, 8292, false }, /* begins after it */
		{ { { 0, 10, 4096, 100 }, { 10, 5, 8192, 100 } }, 16384, true }, /* a summary is between */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ts_index_entry *entries;
		size_t n;

		put_directory(cases[i].entries, 2, cases[i].at, &file_len);
		sign();
		write_file(file_len);
		entries = read_directory(&n);
		ck_assert_msg(!entries == !cases[i].is_good, "case %zu", i);
		free(entries);
	}
}
END_TEST

START_TEST(an_entry_fits_the_record_that_it_was_made_of)
{
	size_t n;
	struct ts_index_entry *entries = read_directory(&n), e;
	const struct ts_index_record r = { .head = file + 4096, .off = 4096, .len = entries[0].len,
					   .steps = entries[0].n_steps };

	ck_assert(ts_index_entry_fits(&entries[0], &r));
	ck_assert(!ts_index_entry_fits(&entries[1], &r));
	e = entries[0];
	e.len++;
	ck_assert(!ts_index_entry_fits(&e, &r));
	e = entries[0];
	e.n_steps++;
	ck_assert(!ts_index_entry_fits(&e, &r));
	e = entries[0];
	e.signature[TS_SIGNATURE_LEN - 1] ^= 1;
	ck_assert(!ts_index_entry_fits(&e, &r));
	free(entries);
}
END_TEST

/* The last record is left out, and the directory says so: what is left has no end. */
START_TEST(a_directory_does_not_end_an_index_whose_last_record_is_missing)
{
	uint64_t n = get64(file + file_len - 40) - 1, old_at = get64(file + file_len - 48),
		 at = get64(file + old_at + n * 64 + 16);
	struct ts_index_entry *entries;
	size_t n_read;

	memmove(file + at, file + old_at, n * 64);
	memmove(file + at + n * 64, file + file_len - 64, 64);
	file_len = at + n * 64 + 64;
	memcpy(file + file_len - 48, &(uint64_t){ htole64(at) }, 8);
	memcpy(file + file_len - 40, &(uint64_t){ htole64(n) }, 8);
	sign();
	write_file(file_len);
	entries = read_directory(&n_read);
	ck_assert_ptr_nonnull(entries);
	ck_assert_uint_eq(n_read, n);
	free(entries);
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
	size_t n;

	for (unsigned i = 0; i < 7 * 7; i++) {
		uint8_t old[16];

		memcpy(old, tail + 16, 16);
		memcpy(tail + 16, &(uint64_t){ htole64(lies[i / 7]) }, 8);
		memcpy(tail + 24, &(uint64_t){ htole64(lies[i % 7]) }, 8);
		write_file(file_len);
		ck_assert_ptr_null(read_directory(&n));
		memcpy(tail + 16, old, 16);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("index_directory", setup, teardown, a_reader_of_ranges_finds_every_head,
		   a_directory_is_read_back,
		   without_a_directory_or_with_a_part_of_it_records_are_found_by_their_heads,
		   no_byte_of_a_directory_can_be_changed_unnoticed,
		   what_contradicts_the_records_is_not_believed,
	a_file_shorter_than_a_tail_has_no_directory,
	records_follow_each_other_up_to_the_directory,
	an_entry_fits_the_record_that_it_was_made_of,
	a_directory_does_not_end_an_index_whose_last_record_is_missing,
	a_record_shorter_than_its_head_is_not_read, counts_and_places_that_lie_lead_nowhere)
