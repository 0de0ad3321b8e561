/* SPDX-License-Identifier: MIT */
/*
 * Whatever becomes of an index file, the answers are those of an index in memory, or it is refused with a
 * reason.
 *
 * Built with tiny chunks and segments, so that a short recording makes many records.
 */
#include "unit.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "full_disk.h"
#include "index_case.h"
#include "src/base/atomic_file.h"

/* ------------------------------------------------------------------------------------------------ damage */

/* Open the finished file, if it is accepted.  Returns false, with a sentence, if it is not. */
static bool open_file(struct opened *o, uint64_t seed, struct ts_error *why)
{
	struct ts_index_file *f;

	open_script(o, seed);
	f = ts_index_open(PATH, &the_key, why);
	if (!f || !ts_timeline_use_file(o->tl, f, why)) {
		close_script(o);
		return false;
	}
	ck_assert_ptr_null(o->tl->builder);
	finish(o);
	return true;
}

START_TEST(a_finished_index_answers_like_one_in_memory)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct ts_error why = { 0 };
		struct opened a, b;

		build_and_close(seed);
		open_script(&a, seed);
		finish(&a);
		ck_assert_msg(open_file(&b, seed, &why), "%s", why.text);
		ck_assert_uint_eq(b.s->n_reads, 0);
		compare(&a, &b, 20);
		close_script(&a);
		close_script(&b);
	}
}
END_TEST

/* All bytes of it. */
static uint8_t *read_all(size_t *len)
{
	FILE *f = fopen(PATH, "rb");
	uint8_t *bytes;

	ck_assert_ptr_nonnull(f);
	*len = file_len(PATH);
	bytes = malloc(*len);
	ck_assert_uint_eq(fread(bytes, 1, *len, f), *len);
	fclose(f);
	return bytes;
}

static void write_all(const uint8_t *bytes, size_t len)
{
	FILE *f = fopen(PATH, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

/* What is told of the state at @pos is right; it need not be told. */
static void check_state(const struct opened *a, const struct opened *b, uint64_t pos)
{
	static uint8_t bytes[2][4 * 4096];
	uint32_t g_len = a->s->rec.regs.g_len;
	struct ts_error err = { 0 };

	for (uint32_t t = 0; t < a->s->rec.n_threads; t++) {
		if (!ts_query_regs(b->q, pos, t, bytes[1], bytes[1] + g_len, &err))
			continue;
		ck_assert(ts_query_regs(a->q, pos, t, bytes[0], bytes[0] + g_len, &err));
		ck_assert_mem_eq(bytes[0], bytes[1], 2 * g_len);
	}
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *m = &script_arenas[i];
		size_t len = (size_t)(m->last - m->first) + 1;

		if (!ts_query_mem(b->q, pos, 0, m->first, len, bytes[1], bytes[1] + len, &err))
			continue;
		ck_assert(ts_query_mem(a->q, pos, 0, m->first, len, bytes[0], bytes[0] + len, &err));
		ck_assert_mem_eq(bytes[0], bytes[1], 2 * len);
	}
}

/* The same of what cannot fail, which is not to be believed once the file is damaged. */
static void check_sets(const struct opened *a, const struct opened *b, uint64_t pos, uint64_t pc)
{
	const struct script_arena *m = &script_arenas[pos % SCRIPT_N_ARENAS];
	struct ts_error err = { 0 };
	uint64_t told[4], right[4];

	for (unsigned i = 0; i < 2; i++) {
		const struct opened *o = i ? a : b;
		uint64_t *to = i ? right : told;

		to[0] = ts_query_find_execution(o->q, 0, pc, pc, pos, TS_FORWARDS);
		to[1] = ts_query_find_execution(o->q, 0, pc, pc, pos, TS_BACKWARDS);
		to[2] = ts_query_find_access(o->q, TS_ACCESS_WRITE, 0, m->first, m->last,
					     pos / TS_CHUNK_STEPS, TS_FORWARDS);
		to[3] = ts_query_find_access(o->q, TS_ACCESS_READ, 0, m->first, m->last,
					     pos / TS_CHUNK_STEPS, TS_BACKWARDS);
	}
	if (ts_query_finish_question(b->q, &err))
		ck_assert_mem_eq(told, right, sizeof(told));
}

/* Ask for all there is.  Returns true if the damage was noticed; the file is then gone. */
static bool ask_damaged(const struct opened *a, const struct opened *b)
{
	struct ts_error err = { 0 };

	for (uint64_t pos = 0; pos <= N_STEPS; pos += TS_CHUNK_STEPS / 2) {
		check_sets(a, b, pos, a->s->steps.steps[pos < N_STEPS ? pos : 0].pc);
		check_state(a, b, pos);
	}
	if (ts_query_finish_question(b->q, &err))
		return false;
	ck_assert_ptr_nonnull(strstr(err.text, "is damaged: it was removed"));
	ck_assert_int_ne(access(PATH, F_OK), 0);
	return true;
}

START_TEST(an_index_that_is_damaged_anywhere_is_refused_or_answers_right_until_that_is_noticed)
{
	unsigned n_refused = 0, n_noticed = 0;
	uint8_t *bytes;
	struct opened a;
	size_t len;

	build_and_close(5);
	bytes = read_all(&len);
	open_script(&a, 5);
	finish(&a);
	for (unsigned i = 0; i < N_PLACES; i++) {
		/* half of them where the layout is densest */
		size_t off = i % 2 ? len / N_PLACES * i + i % 7 : i / 8 % (len / 4096) * 4096 + i * 5 % 400;
		struct ts_error why = { 0 };
		struct opened b;

		bytes[off] ^= (uint8_t)(1u << i % 8);
		bytes[len - 64] ^= i / 4 % 2; /* without the directory heads and tables are looked at at once */
		write_all(bytes, len);
		if (open_file(&b, 5, &why)) {
			n_noticed += ask_damaged(&a, &b);
			close_script(&b);
		} else {
			ck_assert_int_ne(why.code, TS_OK);
			ck_assert_ptr_nonnull(strchr(why.text, ' '));
			n_refused++;
		}
		bytes[off] ^= (uint8_t)(1u << i % 8);
		bytes[len - 64] ^= i / 4 % 2;
	}
	ck_assert_uint_ge(n_refused, N_PLACES / 20);
	/*
	 * the rest hit padding, or what only an interrupted build needs; of so short a recording most are
	 * tables
	 */
	ck_assert_uint_ge(n_noticed, N_PLACES / 25);
	close_script(&a);
	free(bytes);
}
END_TEST

/* Where the summary of the index begins, by the last entry of its directory. */
static uint64_t end_of_records(void)
{
	size_t len;
	uint8_t *bytes = read_all(&len);
	uint64_t last[2];

	memcpy(last, bytes + len - 128 + 16, sizeof(last));
	free(bytes);
	return last[0] + (last[1] + 4095) / 4096 * 4096;
}

START_TEST(an_index_that_is_cut_anywhere_or_too_long_is_refused)
{
	uint64_t len, end;

	build_and_close(6);
	len = file_len(PATH);
	end = end_of_records();
	for (unsigned i = 0; i < 40; i++) {
		struct ts_error why = { 0 };

		build_and_close(6);
		/* at the end, the summary, the directory and padding may be missing */
		ck_assert_int_eq(truncate(PATH, (off_t)(i ? (end - 8192) / 40 * i : len + 4096)), 0);
		ck_assert_ptr_null(ts_index_open(PATH, &the_key, &why));
		ck_assert_int_ne(why.code, TS_OK);
	}
}
END_TEST

START_TEST(an_index_of_something_else_is_refused_with_the_reason)
{
	static const struct {
		struct ts_index_key key;
		const char *text;
	} others[] = {
		{ { 11, 20, 30, 40, 50, { .id = 60 }, 0, 0 }, "the trace is not the one" },
		{ { 10, 21, 30, 40, 50, { .id = 60 }, 0, 0 }, "the trace is not the one" },
		{ { 10, 20, 31, 40, 50, { .id = 60 }, 0, 0 }, "the trace is not the one" },
		{ { 10, 20, 30, 40, 50, { .id = 60 }, 1, 0 }, "the file of the trace is not the one" },
		{ { 10, 20, 30, 40, 50, { .id = 60 }, 0, 1 }, "the file of the trace is not the one" },
		{ { 10, 20, 30, 41, 50, { .id = 60 }, 0, 0 }, "made with other options" },
		{ { 10, 20, 30, 40, 51, { .id = 60 }, 0, 0 }, "made by another version" },
		{ { 10, 20, 30, 40, 50, { .id = 61 }, 0, 0 }, "made by another user or machine" },
		/* one that claims to be of this user */
		{ { 10, 20, 30, 40, 50, { .id = 60, .mac_key = { 1 } }, 0, 0 }, "damaged" },
	};
	struct ts_error why;
	FILE *f;

	build_and_close(7);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ts_error_reset(&why);
		ck_assert_ptr_null(ts_index_open(PATH, &others[i].key, &why));
		ck_assert_ptr_nonnull(strstr(why.text, others[i].text));
		ck_assert_int_eq(ts_index_has_other_meaning(PATH, &others[i].key), i == 5);
	}
	ck_assert(!ts_index_has_other_meaning(PATH, &the_key));
	f = fopen(PATH, "wb");
	for (unsigned i = 0; i < 5000; i++)
		fputc('x', f);
	fclose(f);
	ts_error_reset(&why);
	ck_assert_ptr_null(ts_index_open(PATH, &the_key, &why));
	ck_assert_ptr_nonnull(strstr(why.text, "it is not an index"));
	remove(PATH);
	ts_error_reset(&why);
	ck_assert_ptr_null(ts_index_open(PATH, &the_key, &why));
	ck_assert_int_eq(why.code, TS_OK);
}
END_TEST

/* Whole, and by this user; but what a header has otherwise is not what this program knows. */
START_TEST(a_header_of_another_layout_is_refused)
{
	struct ts_error why = { 0 };
	uint8_t header[104];
	uint64_t hash;
	FILE *f;

	build_and_close(7);
	f = fopen(PATH, "r+b");
	ck_assert(f && fread(header, 1, sizeof(header), f) == sizeof(header));
	header[20]++;
	hash = XXH3_64bits(header, 96);
	memcpy(header + 96, &hash, sizeof(hash));
	rewind(f);
	ck_assert(fwrite(header, 1, sizeof(header), f) == sizeof(header) && !fclose(f));
	ck_assert_ptr_null(ts_index_open(PATH, &the_key, &why));
	ck_assert_ptr_nonnull(strstr(why.text, "its layout is that of another version"));
}
END_TEST

/* Known, a guess, or not recorded: built, and loaded. */
START_TEST(an_index_knows_what_is_known_of_the_end)
{
	static const struct ts_end ends[] = {
		{ .pc = 0x1234, .has_pc = true },
		{ .pc = 0x1234, .has_pc = true, .is_assumed = true },
		{ .pc = 0x1234, .has_pc = true, .is_absent = true },
	};

	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct ts_error err = { 0 };
		struct ts_index_file *f;
		struct opened o;

		remove(PATH);
		remove(PART);
		for (unsigned again = 0; again < 2; again++) {
			open_script(&o, 7);
			o.s->end = ends[i];
			f = again ? ts_index_open(PATH, &the_key, &err) : ts_index_create(PATH, &the_key, &err);
			ck_assert(f && ts_timeline_use_file(o.tl, f, &err));
			finish(&o);
			ck_assert_uint_eq(o.s->n_reads == 0, again);
			ck_assert(ts_query_is_end_assumed(o.q) == ends[i].is_assumed);
			ck_assert(o.tl->has_end == !ends[i].is_absent);
			close_script(&o);
		}
	}
}
END_TEST

/* What is put at once is written at once: arrays longer than what is collected before a write. */
static uint8_t long_array[(512u << 10) + 3];

static struct ts_index_file *put_long_array(bool is_full)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	for (size_t i = 0; i < sizeof(long_array); i++)
		long_array[i] = (uint8_t)(i * 7 + (i >> 10));
	remove(PATH);
	remove(PART);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
	if (is_full)
		full_disk_start(PART, FULL_DISK_WRITES, 0);
	ts_index_begin(f, 1);
	ts_index_section(f, TS_SECTION_KIND('T', 'E', 'S', 'T'), 0);
	ts_index_put(f, "before", 6, 1);
	ts_index_put(f, long_array, sizeof(long_array), 1);
	ts_index_put(f, "after", 5, 1);
	return f;
}

START_TEST(an_array_longer_than_a_write_is_whole)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f = put_long_array(false);
	struct ts_index_arrays a;
	const uint8_t *p;
	size_t n;

	ck_assert(ts_index_commit(f, 1, true, &err) && ts_index_publish(f, &err));
	ts_index_close(f);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
	a = ts_index_find(f, 0, TS_SECTION_KIND('T', 'E', 'S', 'T'), 0);
	ck_assert_mem_eq(ts_index_take_n(&a, 1, 6), "before", 6);
	p = ts_index_take(&a, 1, &n);
	ck_assert_uint_eq(n, sizeof(long_array));
	ck_assert_mem_eq(p, long_array, n);
	ck_assert_mem_eq(ts_index_take_n(&a, 1, 5), "after", 5);
	ts_index_close(f);
}
END_TEST

START_TEST(a_long_array_after_a_failed_write_is_not_written)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f = put_long_array(true);
	struct stat st;

	ts_index_fail(f); /* of several failures the first one is told */
	ck_assert(!ts_index_commit(f, 1, true, &err));
	full_disk_end();
	ck_assert_ptr_nonnull(strstr(err.text, strerror(ENOSPC)));
	ck_assert(stat(PART, &st) < 0 || st.st_size < (off_t)sizeof(long_array));
	ts_index_remove(f);
	ts_index_close(f);
}
END_TEST

/* The directory is counted where there is one. */
START_TEST(the_length_of_an_index_is_that_of_its_file)
{
	for (unsigned is_last = 0; is_last < 2; is_last++) {
		struct ts_error err = { 0 };
		struct ts_index_file *f = put_long_array(false);
		struct stat st;

		ck_assert(ts_index_commit(f, 1, is_last, &err));
		ck_assert_int_eq(stat(PART, &st), 0);
		if (is_last)
			ck_assert_uint_eq(ts_index_len(f), (uint64_t)st.st_size);
		else /* the next record begins at a page */
			ck_assert_uint_eq(ts_index_len(f), ((uint64_t)st.st_size + 4095) / 4096 * 4096);
		ts_index_remove(f);
		ts_index_close(f);
	}
}
END_TEST

START_TEST(building_twice_gives_the_same_bytes)
{
	uint8_t *first, *second;
	size_t n, m;

	for (uint64_t seed = 1; seed < 10; seed++) {
		build_and_close(seed);
		first = read_all(&n);
		build_and_close(seed);
		second = read_all(&m);
		ck_assert_uint_eq(n, m);
		ck_assert_mem_eq(first, second, n);
		free(first);
		free(second);
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------------ options */

START_TEST(without_reads_the_rest_is_the_same)
{
	struct ts_error err = { 0 };
	struct ts_timeline_stats x, y;
	struct opened a, b;

	open_script(&a, 12);
	finish(&a);
	open_script(&b, 12);
	ts_timeline_leave_reads_out(b.tl);
	remove(PATH);
	remove(PART);
	ck_assert(ts_timeline_use_file(b.tl, ts_index_create(PATH, &the_key, &err), &err));
	finish(&b);
	for (uint64_t pos = 0; pos <= N_STEPS; pos += 13)
		compare_state(&a, &b, pos);
	ts_timeline_stats(a.tl, &x);
	ts_timeline_stats(b.tl, &y);
	ck_assert_uint_eq(ts_space_find(b.tl->memory[0], TS_SPACE_READ, 0, 0, UINT64_MAX, TS_FORWARDS), TS_NO_CHUNK);
	ck_assert_uint_lt(y.reads_len, x.reads_len);
	ck_assert(!b.s->rec.has_reads);
	close_script(&a);
	close_script(&b);
}
END_TEST

START_TEST(an_index_that_may_not_grow_ends_the_recording_where_it_is_too_large)
{
	struct ts_error err = { 0 };
	struct opened o;

	open_script(&o, 13);
	o.tl->max_memory = 1;
	ck_assert_int_eq(ts_timeline_grow(o.tl, UINT64_MAX, &err), TS_END);
	ck_assert_int_eq(o.tl->damage.code, TS_ELIMIT);
	ck_assert_uint_gt(o.tl->n_steps, 0);
	ck_assert_uint_lt(o.tl->n_steps, N_STEPS);
	close_script(&o);
}
END_TEST

/* Is an index kept of a recording that ends so? */
static bool is_kept(enum ts_code damage, uint64_t max_memory)
{
	struct ts_error err = { 0 };
	struct opened o;
	bool is_there;

	remove(PATH);
	remove(PART);
	open_script(&o, 14);
	o.s->ending = TS_FAIL;
	o.s->damage = damage;
	o.tl->max_memory = max_memory;
	ck_assert(ts_timeline_use_file(o.tl, ts_index_create(PATH, &the_key, &err), &err));
	finish(&o);
	ck_assert_int_ne(o.tl->damage.code, TS_OK);
	close_script(&o);
	is_there = !remove(PATH);
	return is_there;
}

/* A trace that is too large stays so; what the system or the user's options ended may have more next time. */
START_TEST(an_index_is_kept_if_the_trace_itself_ends_it)
{
	ck_assert(is_kept(TS_ETRUNC, UINT64_MAX));
	ck_assert(is_kept(TS_ELIMIT, UINT64_MAX));
	ck_assert(!is_kept(TS_EIO, UINT64_MAX));
	ck_assert(!is_kept(TS_ETRUNC, 1));
}
END_TEST

/* KiB of the file at PATH that are mapped and in memory. */
static size_t resident(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool is_ours = false;
	size_t sum = 0, n;
	char line[4352];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%zx-", &n) == 1)
			is_ours = strstr(line, "/" PATH "\n") != NULL;
		if (is_ours && sscanf(line, "Rss: %zu kB", &n) == 1)
			sum += n;
	}
	fclose(f);
	return sum;
}

/* With a directory it is opened by its summary, which is let go when it is loaded. */
static void check_resident(bool has_directory)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct opened o;

	script_has_no_unseen = true; /* the sizes below are those of this recording */
	build_and_close(5);
	if (!has_directory)
		ck_assert_int_eq(truncate(PATH, (off_t)file_len(PATH) - 64), 0);
	open_script(&o, 5);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	if (!has_directory)
		ck_assert_uint_eq(resident(), 0);
	ck_assert_uint_gt(ts_index_len(f), 6 * 65536);
	ck_assert(ts_timeline_use_file(o.tl, f, &err));
	/*
	 * The end of loading looks at the last record again, and at the summary.  A fault maps the 64 KiB around it,
	 * and both may cross the border of such a piece.
	 */
	ck_assert_uint_le(resident(), has_directory ? 256 : 128);
	close_script(&o);
	remove(PATH);
}

START_TEST(an_index_that_was_opened_does_not_stay_in_memory)
{
	check_resident(true);
	check_resident(false);
}
END_TEST

/* The mask is read before there are threads: reading it changes it for a moment, in which another thread may make a file. */
START_TEST(the_mask_of_files_is_that_of_the_start)
{
	struct ts_error err = { 0 };
	struct ts_atomic_file f;
	mode_t start = umask(0077);
	struct stat st;

	ck_assert(ts_atomic_file_init(&f, "masked", &err) && ts_atomic_file_place(&f, &err));
	ck_assert_uint_eq(umask(start), 0077);
	ts_atomic_file_fini(&f);
	ck_assert_int_eq(stat("masked", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0666 & ~start);
}
END_TEST


UNIT_SUITE("index_file", a_finished_index_answers_like_one_in_memory,
	   an_index_that_is_damaged_anywhere_is_refused_or_answers_right_until_that_is_noticed,
	   an_index_that_is_cut_anywhere_or_too_long_is_refused,
	   an_index_of_something_else_is_refused_with_the_reason, a_header_of_another_layout_is_refused,
	   an_index_knows_what_is_known_of_the_end, an_array_longer_than_a_write_is_whole,
	   a_long_array_after_a_failed_write_is_not_written, the_length_of_an_index_is_that_of_its_file,
	   building_twice_gives_the_same_bytes, without_reads_the_rest_is_the_same,
	   an_index_that_may_not_grow_ends_the_recording_where_it_is_too_large,
	   an_index_is_kept_if_the_trace_itself_ends_it, an_index_that_was_opened_does_not_stay_in_memory,
	   the_mask_of_files_is_that_of_the_start)
