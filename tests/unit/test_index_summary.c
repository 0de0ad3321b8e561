/* SPDX-License-Identifier: MIT */
/*
 * The summary of an index file: the file is opened by it, records are mapped when they are used and must be
 * those of which it tells; where it is damaged the file is as good as before.
 */
#include "unit.h"

#include "src/index/index_blocks.h"
#include "src/index/index_file.h"
#include "src/index/index_record.h"
#include "src/index/index_summary.h"
#include "src/index/index_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH      "summed.tsindex"
#define OTHER     "other.tsindex"
#define KIND      7u
#define N_RECORDS 5u
#define N_ITEMS   1000u

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 };

static struct ts_error err;
static struct ts_index_file *f;

/* A small array, of the record's number, and one that is read when it is used. */
static void put_record(struct ts_index_file *to, uint32_t record, bool is_other)
{
	uint32_t items[N_ITEMS];

	for (uint32_t i = 0; i < N_ITEMS; i++)
		items[i] = i * record + is_other;
	ts_index_begin(to, 1);
	ts_index_section(to, KIND, 0);
	ts_index_put(to, &record, 1, sizeof(record));
	ts_index_put_unread(to, items, N_ITEMS, sizeof(*items));
	ck_assert(ts_index_commit(to, 10 * (record + (uint64_t)1), record + 1 == N_RECORDS, &err));
}

static void make(const char *path, bool is_other)
{
	struct ts_index_file *made;

	ts_error_reset(&err);
	made = ts_index_create(path, &the_key, &err);
	ck_assert_msg(made, "%s", err.text);
	for (uint32_t i = 0; i < N_RECORDS; i++)
		put_record(made, i, is_other && i == 2);
	ck_assert(ts_index_publish(made, &err));
	ts_index_close(made);
}

static void setup(void)
{
	make(PATH, false);
}

static void teardown(void)
{
	ts_index_close(f);
	f = NULL;
	remove(PATH);
	remove(OTHER);
}

static void open_it(void)
{
	ts_error_reset(&err);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	ck_assert_uint_eq(ts_index_n_records(f), N_RECORDS);
}

static size_t read_file(const char *path, uint8_t bytes[1 << 17])
{
	FILE *in = fopen(path, "rb");
	size_t len;

	ck_assert_ptr_nonnull(in);
	len = fread(bytes, 1, 1 << 17, in);
	fclose(in);
	return len;
}

static void write_file(const uint8_t *bytes, size_t len)
{
	FILE *out = fopen(PATH, "wb");

	ck_assert(out && fwrite(bytes, 1, len, out) == len && !fclose(out));
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Where record @i is, by the directory; N_RECORDS: the summary. */
static size_t place_of(const uint8_t *bytes, size_t len, size_t i)
{
	const uint8_t *entry = bytes + get64(bytes + len - 48) + i * 64;

	if (i < N_RECORDS)
		return get64(entry + 16);
	return get64(entry - 48) + (get64(entry - 40) + 4095) / 4096 * 4096;
}

/* How many times a part of the file is mapped. */
static unsigned n_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4352];
	unsigned n = 0;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "/" PATH "\n") != NULL;
	fclose(maps);
	return n;
}

static struct ts_index_arrays find(uint32_t record)
{
	struct ts_index_arrays a = ts_index_find(f, record, KIND, 0);
	const uint32_t *number = ts_index_take_n(&a, sizeof(*number), 1);

	ck_assert_ptr_nonnull(number);
	ck_assert_uint_eq(*number, record);
	ck_assert_uint_eq(ts_index_n_steps(f, record), 10 * (record + (uint64_t)1));
	return a;
}

/* Returns false if the large array is refused. */
static bool is_right(uint32_t record)
{
	struct ts_index_arrays a = find(record);
	size_t n;
	const uint32_t *items = ts_index_take_unread(&a, sizeof(*items), &n);

	ck_assert_uint_eq(n, N_ITEMS);
	if (!ts_index_blocks_use(a.blocks, items, n * sizeof(*items)))
		return false;
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(items[i], i * record);
	return true;
}

START_TEST(a_record_is_mapped_when_it_is_used)
{
	open_it();
	for (uint32_t i = 0; i < N_RECORDS; i++)
		find(i);
	ck_assert_uint_eq(n_mapped(), 1); /* the summary */
	for (uint32_t i = 0; i < N_RECORDS; i += 2) {
		ck_assert(is_right(i));
		ck_assert(is_right(i));
		ck_assert_uint_eq(n_mapped(), 2 + i / 2);
	}
	ts_index_let_go(f, N_RECORDS - 1);
	find(1); /* it is read again */
	ts_index_close(f);
	f = NULL;
	ck_assert_uint_eq(n_mapped(), 0);
}
END_TEST

START_TEST(without_its_summary_a_file_is_as_good)
{
	static uint8_t bytes[1 << 17];
	size_t len = read_file(PATH, bytes), start = place_of(bytes, len, N_RECORDS),
	       end = get64(bytes + len - 48);

	ck_assert_mem_eq(bytes + start, "summary\n", 8);
	for (size_t at = start; at < end; at += 1 + at % 3) {
		if (at >= start + 36 && at < start + 40)
			continue; /* padding */
		bytes[at] ^= 0x10;
		write_file(bytes, len);
		open_it();
		ck_assert(is_right(at % N_RECORDS));
		ts_index_close(f);
		bytes[at] ^= 0x10;
	}
	f = NULL;
}
END_TEST

/* It is signed, but it is not the one of which the summary tells: its large array has other numbers. */
START_TEST(another_record_is_not_taken_for_it)
{
	static uint8_t bytes[1 << 17], others[1 << 17];
	size_t len, at, n;

	make(OTHER, true);
	len = read_file(PATH, bytes);
	ck_assert_uint_eq(read_file(OTHER, others), len);
	at = place_of(bytes, len, 2);
	n = place_of(bytes, len, 3) - at;
	ck_assert_mem_ne(bytes + at, others + at, n);
	memcpy(bytes + at, others + at, n);
	write_file(bytes, len);
	open_it();
	ck_assert(is_right(1));
	ck_assert(!ts_index_is_damaged(f));
	ck_assert(!is_right(2));
	ck_assert(ts_index_is_damaged(f));
}
END_TEST

/* What the summary has of it is good. */
START_TEST(a_record_whose_head_or_tables_are_damaged_is_refused_when_it_is_used)
{
	static uint8_t bytes[1 << 17];
	size_t len = read_file(PATH, bytes), start = place_of(bytes, len, 3),
	       tables = get64(bytes + start + 24), end = get64(bytes + start + 16);

	for (size_t at = 0; at < end; at = at == 83 ? tables : at + 1) {
		bytes[start + at] ^= 1;
		write_file(bytes, len);
		open_it();
		ck_assert_msg(!is_right(3), "byte %zu", at);
		ck_assert(is_right(2));
		ts_index_close(f);
		bytes[start + at] ^= 1;
	}
	f = NULL;
}
END_TEST

/* Each question about it would map it, and check it in vain. */
START_TEST(a_record_that_was_refused_is_not_mapped_again)
{
	static uint8_t bytes[1 << 17];
	size_t len = read_file(PATH, bytes), start = place_of(bytes, len, 3);

	bytes[start] ^= 1;
	write_file(bytes, len);
	open_it();
	ck_assert(!is_right(3));
	bytes[start] ^= 1;
	write_file(bytes, len);
	ck_assert(!is_right(3));
	ck_assert(is_right(2));
}
END_TEST

/* What is left of the summary of the first record when the rest of it is cut off. */
START_TEST(a_summary_that_ends_within_a_record_is_refused)
{
	static uint8_t bytes[1 << 17];
	size_t len = read_file(PATH, bytes), used, whole;
	size_t at = place_of(bytes, len, N_RECORDS) + TS_INDEX_SUMMARY_HEAD_LEN,
	       end = get64(bytes + len - 48);
	uint64_t off = place_of(bytes, len, 0), record_len = get64(bytes + get64(bytes + len - 48) + 24);
	struct ts_index_record r;

	ck_assert(ts_index_record_read(&r, off, record_len, bytes + at, end - at, &whole));
	free(r.arrays);
	free(r.packed);
	for (size_t n = 0; n <= whole; n++) {
		ck_assert_msg(ts_index_record_read(&r, off, record_len, bytes + at, n, &used) == (n == whole),
			      "%zu bytes", n);
		if (n < whole)
			continue;
		free(r.arrays);
		free(r.packed);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("index_summary", setup, teardown, a_record_is_mapped_when_it_is_used,
		   without_its_summary_a_file_is_as_good, another_record_is_not_taken_for_it,
		   a_record_whose_head_or_tables_are_damaged_is_refused_when_it_is_used,
		   a_record_that_was_refused_is_not_mapped_again,
		   a_summary_that_ends_within_a_record_is_refused)
