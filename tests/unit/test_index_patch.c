/* SPDX-License-Identifier: MIT */
/*
 * Patches: what was built again takes the place of what was damaged, in memory and in the file, if it is the
 * same; else nothing is changed.
 */
#include "unit.h"

#include "src/index/index_blocks.h"
#include "src/index/index_patch.h"
#include "src/index/index_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH      "mended.tsindex"
#define KIND      7
#define N_RECORDS 4u
#define N_ITEMS   3000u

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 } };

static struct ts_error err;
static struct ts_index_file *f, *patch;

static uint32_t item(size_t record, size_t i)
{
	return (uint32_t)(i * i * (record + 1));
}

/* A record as it is, or with another number in it. */
static void put_record(struct ts_index_file *to, bool is_other)
{
	static uint32_t items[N_ITEMS];
	size_t record = ts_index_n_records(to);

	for (size_t i = 0; i < N_ITEMS; i++)
		items[i] = item(record, i) + (is_other && i == 5);
	ts_index_begin(to, 1);
	ts_index_section(to, KIND, 0);
	ts_index_put_packed(to, items, N_ITEMS, sizeof(*items));
	ck_assert(ts_index_commit(to, 10 * (record + 1), record + 1 == N_RECORDS, &err));
}

static void setup(void)
{
	ts_error_reset(&err);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i < N_RECORDS; i++)
		put_record(f, false);
	ck_assert(ts_index_publish(f, &err));
	ts_index_close(f);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
}

static void teardown(void)
{
	ts_index_close(patch);
	ts_index_close(f);
	patch = f = NULL;
	ck_assert_int_ne(access(PATH ".part", F_OK), 0);
	remove(PATH);
}

static uint8_t *read_file(size_t *len)
{
	static uint8_t bytes[1 << 20];
	FILE *in = fopen(PATH, "rb");

	ck_assert_ptr_nonnull(in);
	*len = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	return bytes;
}

/* Change byte @at of a record, where it is mapped from. */
static void damage_at(size_t record, size_t at)
{
	size_t off = 4096, len;
	FILE *out = fopen(PATH, "r+b");
	uint8_t *bytes = read_file(&len);

	for (size_t i = 0; i < record; i++) {
		uint64_t record_len;

		memcpy(&record_len, bytes + off + 16, sizeof(record_len));
		off += (record_len + 4095) / 4096 * 4096;
	}
	ck_assert_mem_eq(bytes + off, "record\n", 8);
	off += at;
	ck_assert(out && !fseek(out, (long)off, SEEK_SET) && fputc(bytes[off] ^ 4, out) != EOF && !fclose(out));
}

/* In its arrays. */
static void damage(size_t record)
{
	damage_at(record, 300);
}

/* Is all of a record as it was put? */
static bool is_right(size_t record)
{
	struct ts_index_arrays a = ts_index_find(f, record, KIND, 0);
	size_t n;
	const uint32_t *items = ts_index_take_unread(&a, sizeof(*items), &n);

	ck_assert_uint_eq(n, N_ITEMS);
	if (!ts_index_blocks_use(a.blocks, items, n * sizeof(*items)))
		return false;
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(items[i], item(record, i));
	return true;
}

static bool has_original_bytes(const uint8_t *original, size_t original_len)
{
	size_t len;
	uint8_t *bytes = read_file(&len);

	return len == original_len && !memcmp(bytes, original, len);
}

static uint8_t *copy_of_file(size_t *len)
{
	uint8_t *bytes = read_file(len), *copy = malloc(*len);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, *len);
	return copy;
}

static void begin_patch(size_t max, size_t n_kept)
{
	patch = ts_index_create_patch(f, max, &err);
	ck_assert_msg(patch, "%s", err.text);
	ck_assert(!ts_index_is_finished(patch));
	ck_assert_uint_eq(ts_index_n_records(patch), n_kept);
}

/* On disk and in memory. */
static bool mend(void)
{
	ts_index_write_back(f, patch);
	return ts_index_mend(f, patch);
}

START_TEST(a_damaged_record_gets_its_bytes_back)
{
	size_t len, bad = (size_t)_i;
	uint8_t *original = copy_of_file(&len);

	damage(bad);
	ck_assert(!is_right(bad));
	begin_patch(SIZE_MAX, bad); /* those before it are good */
	ck_assert(!mend());
	put_record(patch, false);
	ck_assert(mend());
	ts_index_close(patch);
	patch = NULL;
	for (size_t i = 0; i < N_RECORDS; i++)
		ck_assert(is_right(i));
	ck_assert(has_original_bytes(original, len));
	free(original);
}
END_TEST

/* They are looked at when the record is used, not when the file is opened. */
START_TEST(a_damaged_head_or_table_gets_its_bytes_back)
{
	static const size_t places[] = { 0, 8, 16, 48, 60, 84 };
	size_t len, tables = 0;
	uint8_t *original = copy_of_file(&len);

	memcpy(&tables, original + 4096 + 24, 8);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t at = _i ? tables + places[i] : places[i];

		ts_index_close(f);
		f = ts_index_open(PATH, &the_key, &err);
		ck_assert_ptr_nonnull(f);
		damage_at(0, at);
		ck_assert_msg(!is_right(0), "byte %zu", at);
		begin_patch(SIZE_MAX, 0);
		put_record(patch, false);
		ck_assert(mend());
		ts_index_close(patch);
		patch = NULL;
		ck_assert(is_right(0));
		ck_assert(has_original_bytes(original, len));
	}
	free(original);
}
END_TEST

START_TEST(a_patch_from_the_beginning_on_will_do)
{
	size_t len;
	uint8_t *original = copy_of_file(&len);

	damage(2);
	ck_assert(!is_right(2));
	begin_patch(0, 0);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert(!mend());
		put_record(patch, false);
	}
	ck_assert(mend());
	ck_assert(is_right(2));
	ck_assert(has_original_bytes(original, len));
	free(original);
}
END_TEST

START_TEST(what_is_found_damaged_later_is_left)
{
	size_t len;
	uint8_t *original = copy_of_file(&len);

	damage(2);
	ck_assert(!is_right(2));
	begin_patch(SIZE_MAX, 2);
	put_record(patch, false);
	damage(0);
	ck_assert(!is_right(0));
	ck_assert(!mend()); /* the patch has the damaged one, too */
	ck_assert_uint_eq(ts_index_next_damaged(f, 0), 0);
	ck_assert_uint_eq(ts_index_next_damaged(f, 1), N_RECORDS);
	ck_assert(is_right(2));
	ts_index_close(patch);
	begin_patch(SIZE_MAX, 0);
	put_record(patch, false);
	ck_assert(mend());
	ck_assert(is_right(0));
	ck_assert(has_original_bytes(original, len));
	free(original);
}
END_TEST

START_TEST(what_is_not_the_same_replaces_nothing)
{
	size_t len;
	uint8_t *damaged;

	damage(1);
	damaged = copy_of_file(&len);
	ck_assert(!is_right(1));
	begin_patch(SIZE_MAX, 1);
	put_record(patch, true);
	ck_assert(!mend());
	ck_assert(!is_right(1));
	ck_assert(has_original_bytes(damaged, len));
	free(damaged);
}
END_TEST

START_TEST(a_file_that_has_taken_its_place_is_not_written_to)
{
	static const uint8_t zeros[4096 * 64];
	size_t len, other_len;
	FILE *other;

	damage(1);
	ck_assert(!is_right(1));
	begin_patch(SIZE_MAX, 1);
	put_record(patch, false);
	read_file(&len);
	ck_assert_uint_le(len, sizeof(zeros));
	ck_assert_int_eq(remove(PATH), 0);
	other = fopen(PATH, "wb");
	ck_assert(other && fwrite(zeros, 1, len, other) == len && !fclose(other));
	ck_assert(mend());
	ck_assert(is_right(1)); /* in memory */
	ck_assert_mem_eq(read_file(&other_len), zeros, len);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("index_patch");
	TCase *t = tcase_create("index_patch");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_damaged_record_gets_its_bytes_back, 0, N_RECORDS);
	tcase_add_loop_test(t, a_damaged_head_or_table_gets_its_bytes_back, 0, 2);
	tcase_add_test(t, a_patch_from_the_beginning_on_will_do);
	tcase_add_test(t, what_is_found_damaged_later_is_left);
	tcase_add_test(t, what_is_not_the_same_replaces_nothing);
	tcase_add_test(t, a_file_that_has_taken_its_place_is_not_written_to);
	suite_add_tcase(s, t);
	return s;
}
