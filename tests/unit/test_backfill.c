/* SPDX-License-Identifier: MIT */
/*
 * The table of sections: one that is unknown is skipped, an optional one that is missing is reported and
 * built alone, in a file of its own.
 *
 * The optional section here is a made-up one: for each segment the sum of its program counters.
 */
#include "unit.h"

#include "forge.h"
#include "full_disk.h"
#include "script.h"
#include "src/index/index_place.h"
#include "src/index/index_write.h"
#include "src/query/query.h"
#include "src/timeline/backfill.h"
#include "src/timeline/builder.h"
#include "src/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH          "trace.tsindex"
#define SIBLING       PATH ".sums"
#define REFUGE        "elsewhere.tsindex"
#define SEED          3
#define N_STEPS       700
#define SEGMENT_STEPS (TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS)
#define MAX_SEGMENTS  (N_STEPS / SEGMENT_STEPS + 1)

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 }, 0, 0 }; /* forge.h signs with it */

/* ----------------------------------------------------------------------------- the made-up section */

static uint64_t sum, sums[MAX_SEGMENTS];
static unsigned n_sums;

static void save_sums(const struct ts_section_at *at, struct ts_index_file *f)
{
	ck_assert_uint_eq(at->owner, 0);
	ts_index_put(f, &sums[at->segment], 1, sizeof(sums[0]));
}

static bool load_sums(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	const uint64_t *p = ts_index_take_n(a, sizeof(*p), 1);

	if (!p || at->segment >= MAX_SEGMENTS)
		return false;
	sums[at->segment] = *p;
	n_sums = (unsigned)at->segment + 1;
	return true;
}

static bool take_sums(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *chunk)
{
	(void)tl;
	ck_assert_uint_eq(pos % TS_CHUNK_STEPS, 0);
	for (uint32_t i = 0; i < chunk->n_steps; i++)
		sum += chunk->steps[i].pc;
	return true;
}

static bool seal_sums(struct ts_timeline *tl, uint64_t segment, bool is_copy)
{
	(void)tl;
	sums[segment] = sum;
	n_sums = (unsigned)segment + 1;
	if (!is_copy)
		sum = 0;
	return true;
}

static const struct ts_section sums_section = {
	.kind = TS_SECTION_KIND('S', 'U', 'M', 'S'),
	.name = "sums",
	.save = save_sums,
	.load = load_sums,
	.stays_in_memory = true,
	.take = take_sums,
	.seal = seal_sums,
};

static const struct ts_section *with_sums[TS_MAX_SECTIONS];

/* Are there the sums of all segments, as the recording's steps have them? */
static void check_sums(const struct script *s)
{
	ck_assert_uint_eq(n_sums, (s->steps.n_steps + SEGMENT_STEPS - 1) / SEGMENT_STEPS);
	for (unsigned i = 0; i < n_sums; i++) {
		uint64_t want = 0;

		for (uint32_t k = i * SEGMENT_STEPS; k < s->steps.n_steps && k < (i + 1) * SEGMENT_STEPS; k++)
			want += s->steps.steps[k].pc;
		ck_assert_uint_eq(sums[i], want);
	}
}

/* ----------------------------------------------------------------------------------- timelines */

struct opened {
	struct script *s;
	struct ts_timeline *tl;
};

static void open_script(struct opened *o, bool has_sums)
{
	struct ts_error err = { 0 };
	unsigned n = 0;

	for (; ts_sections[n]; n++)
		with_sums[n] = ts_sections[n];
	with_sums[n] = &sums_section;
	with_sums[n + 1] = NULL;
	sum = n_sums = 0;
	memset(sums, 0, sizeof(sums));
	o->s = script_random_new(SEED, N_STEPS);
	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	ck_assert_ptr_nonnull(o->tl);
	if (has_sums)
		o->tl->sections = with_sums;
}

static void close_script(struct opened *o)
{
	ts_timeline_free(o->tl);
	script_free(o->s);
}

static void build(bool has_sums)
{
	struct ts_error err = { 0 };
	struct opened o;

	remove(PATH);
	remove(SIBLING);
	open_script(&o, has_sums);
	ck_assert(ts_timeline_use_file(o.tl, ts_index_create(PATH, &the_key, &err), &err));
	ck_assert_int_eq(ts_timeline_grow(o.tl, UINT64_MAX, &err), TS_END);
	ck_assert_int_eq(o.tl->file_error.code, TS_OK);
	if (has_sums)
		check_sums(o.s);
	close_script(&o);
}

/* @refuge: of the index, NULL: it has none. */
static void reopen_with(struct opened *o, bool has_sums, const char *refuge)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f = ts_index_open(PATH, &the_key, &err);

	open_script(o, has_sums);
	ck_assert(f && (!refuge || ts_index_set_fallback(f, refuge)));
	ck_assert_msg(ts_timeline_use_file(o->tl, f, &err), "%s", err.text);
	ck_assert_ptr_null(o->tl->builder);
	ck_assert_uint_eq(o->s->n_reads, 0);
}

static void reopen(struct opened *o, bool has_sums)
{
	reopen_with(o, has_sums, NULL);
}

static void backfill(struct opened *o)
{
	struct ts_error err = { 0 };
	struct ts_backfill *b = ts_backfill_new(o->tl, &sums_section, &err);
	enum ts_next grown;

	ck_assert_ptr_nonnull(b);
	do {
		ck_assert(!ts_timeline_has(o->tl, &sums_section));
		grown = ts_backfill_grow(b, 100, &err);
	} while (grown == TS_MORE);
	ck_assert_msg(grown == TS_END, "%s", err.text);
	ck_assert_uint_eq(ts_backfill_n_read(b), o->tl->n_steps);
	ts_backfill_free(b);
	ck_assert(ts_timeline_has(o->tl, &sums_section));
	check_sums(o->s);
}

static uint64_t inode(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

START_TEST(an_optional_section_is_built_with_the_rest_and_loaded)
{
	struct opened o;

	build(true);
	reopen(&o, true);
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	check_sums(o.s);
	ck_assert_uint_eq(inode(SIBLING), 0);
	close_script(&o);
}
END_TEST

START_TEST(an_unknown_section_is_skipped)
{
	struct opened o;

	build(true);
	reopen(&o, false);
	ck_assert_uint_eq(o.tl->n_steps, N_STEPS);
	for (unsigned i = 0; o.tl->sections[i]; i++)
		ck_assert_uint_eq(o.tl->lacks >> i & 1, o.tl->sections[i]->is_on_demand);
	close_script(&o);
}
END_TEST

START_TEST(a_missing_optional_section_is_built_alone_and_found_again)
{
	struct opened o;
	uint64_t before;

	build(false);
	before = inode(PATH);
	reopen(&o, true);
	ck_assert(!ts_timeline_has(o.tl, &sums_section));
	backfill(&o);
	close_script(&o);
	ck_assert_uint_eq(inode(PATH), before);
	ck_assert_uint_ne(inode(SIBLING), 0);
	reopen(&o, true);
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	check_sums(o.s);
	close_script(&o);
}
END_TEST

/* The file's optional sections say that they are of another version; it is signed again. */
static void change_version(void)
{
	size_t len = strlen(ts_index_optional_sources);
	unsigned n_changed = 0;
	static uint8_t bytes[1 << 19];
	FILE *f = fopen(PATH, "r+b");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	ck_assert_uint_lt(n, sizeof(bytes));
	for (size_t i = 0; i + len < n; i++) {
		if (memcmp(bytes + i, ts_index_optional_sources, len))
			continue;
		bytes[i] ^= 1;
		n_changed++;
	}
	ck_assert_uint_gt(n_changed, 1);
	forge(bytes, n, NULL, 0);
	rewind(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

START_TEST(an_optional_section_of_another_version_is_built_again_and_the_rest_is_not)
{
	struct opened o;

	build(true);
	change_version();
	reopen(&o, true);
	ck_assert(!ts_timeline_has(o.tl, &sums_section));
	ck_assert_uint_eq(n_sums, 0);
	backfill(&o);
	close_script(&o);
	reopen(&o, true);
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	check_sums(o.s);
	close_script(&o);
}
END_TEST

START_TEST(a_missing_optional_section_is_built_for_an_index_in_memory)
{
	struct ts_error err = { 0 };
	struct opened o;

	remove(SIBLING);
	open_script(&o, false);
	ck_assert_int_eq(ts_timeline_grow(o.tl, UINT64_MAX, &err), TS_END);
	o.tl->sections = with_sums;
	for (unsigned i = 0; with_sums[i]; i++)
		o.tl->lacks = UINT32_C(1) << i;
	backfill(&o);
	close_script(&o);
	ck_assert_uint_eq(inode(SIBLING), 0);
}
END_TEST

START_TEST(who_asks_for_another_section_than_is_being_built_waits_for_that_first)
{
	struct ts_error err = { 0 };
	struct opened o;

	build(false);
	reopen(&o, true);
	ck_assert_int_eq(ts_timeline_fill(o.tl, &sums_section, 100, &err), TS_MORE);
	o.tl->lacks |= 1; /* another section, which is not there either */
	do {
		ck_assert_int_eq(ts_timeline_fill(o.tl, o.tl->sections[0], 100, &err), TS_MORE);
	} while (o.tl->backfill);
	o.tl->lacks &= ~UINT32_C(1);
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	check_sums(o.s);
	o.s->n_reads = 0;
	ck_assert_int_eq(ts_timeline_fill(o.tl, &sums_section, 100, &err), TS_END);
	ck_assert_uint_eq(o.s->n_reads, 0);
	close_script(&o);
}
END_TEST

/* Another recording is there than the one that was indexed. */
START_TEST(a_trace_that_is_no_longer_what_it_was_ends_a_backfill)
{
	static const uint32_t n_steps[] = { N_STEPS / 2, N_STEPS - 1, N_STEPS + 1 };

	for (size_t i = 0; i < sizeof(n_steps) / sizeof(n_steps[0]); i++) {
		struct ts_error err = { 0 };
		struct ts_backfill *b;
		enum ts_next grown;
		struct script *other;
		struct opened o;

		build(false);
		reopen(&o, true);
		other = script_random_new(SEED, n_steps[i]);
		o.tl->rec = &other->rec;
		b = ts_backfill_new(o.tl, &sums_section, &err);
		do {
			grown = ts_backfill_grow(b, 100, &err);
		} while (grown == TS_MORE);
		ck_assert_int_eq(grown, TS_FAIL);
		ck_assert_ptr_nonnull(strstr(err.text, "the trace has changed"));
		ck_assert(!ts_timeline_has(o.tl, &sums_section));
		ts_backfill_free(b);
		ck_assert_uint_eq(inode(SIBLING ".part"), 0);
		o.tl->rec = &o.s->rec;
		script_free(other);
		close_script(&o);
	}
}
END_TEST

START_TEST(a_backfill_that_is_given_up_leaves_nothing)
{
	struct ts_error err = { 0 };
	struct ts_backfill *b;
	struct opened o;

	build(false);
	reopen(&o, true);
	b = ts_backfill_new(o.tl, &sums_section, &err);
	ck_assert_int_eq(ts_backfill_grow(b, N_STEPS / 2, &err), TS_MORE);
	ts_backfill_free(b);
	ck_assert(!ts_timeline_has(o.tl, &sums_section));
	ck_assert_uint_eq(inode(SIBLING), 0);
	ck_assert_uint_eq(inode(SIBLING ".part"), 0);
	/* another one stays in memory */
	sum = n_sums = 0;
	while (ts_timeline_fill(o.tl, &sums_section, 100, &err) == TS_MORE)
		continue;
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	check_sums(o.s);
	close_script(&o);
	ck_assert_uint_eq(inode(SIBLING), 0);
	ck_assert_uint_eq(inode(SIBLING ".part"), 0);
}
END_TEST

/* Signed, finished, and of this recording, but with one segment alone. */
START_TEST(a_file_of_a_section_that_lacks_segments_contradicts_its_index)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct opened o;

	build(false);
	reopen(&o, true);
	f = ts_index_create_sibling(o.tl->file, sums_section.name, &err);
	ck_assert_ptr_nonnull(f);
	ts_index_begin(f, 1);
	ts_builder_save_section(o.tl, &sums_section, 0, 0, f);
	ck_assert(ts_index_commit(f, N_STEPS, true, &err));
	ck_assert(ts_index_publish(f, &err));
	ts_index_close(f);
	close_script(&o);
	ck_assert_uint_ne(inode(SIBLING), 0);

	open_script(&o, true);
	f = ts_index_open(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
	ck_assert(!ts_timeline_use_file(o.tl, f, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "its file of sums contradicts it"));
	close_script(&o);
	ck_assert_uint_eq(inode(SIBLING), 0);
}
END_TEST

START_TEST(a_damaged_file_of_a_section_is_ignored)
{
	struct opened o;
	FILE *f;

	build(false);
	reopen(&o, true);
	backfill(&o);
	close_script(&o);
	f = fopen(SIBLING, "r+b");
	ck_assert_ptr_nonnull(f);
	fseek(f, 4096 + 50, SEEK_SET);
	fputc(0xee, f);
	fseek(f, -64, SEEK_END); /* without its directory heads are looked at when it is opened */
	fputc(0xee, f);
	fclose(f);
	reopen(&o, true);
	ck_assert(!ts_timeline_has(o.tl, &sums_section));
	backfill(&o);
	close_script(&o);
	reopen(&o, true);
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	close_script(&o);
}
END_TEST

/* Build the section on a disk that is full for it. */
static void backfill_without_room(const char *refuge, enum full_disk how, uint64_t room)
{
	struct opened o;

	reopen_with(&o, true, refuge);
	full_disk_start(SIBLING ".part", how, room);
	backfill(&o);
	full_disk_end();
	close_script(&o);
	ck_assert(!inode(SIBLING) && !inode(SIBLING ".part") && !inode(REFUGE ".sums.part"));
}

static void expect_in_refuge(enum full_disk how, uint64_t room, uint64_t len)
{
	struct opened o;
	struct stat st;

	remove(REFUGE ".sums");
	backfill_without_room(REFUGE, how, room);
	ck_assert_int_eq(stat(REFUGE ".sums", &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, len);
	reopen_with(&o, true, REFUGE);
	ck_assert(ts_timeline_has(o.tl, &sums_section));
	check_sums(o.s);
	close_script(&o);
}

START_TEST(on_a_full_disk_a_section_goes_to_the_refuge_of_its_index)
{
	struct opened o;
	struct stat st;
	uint64_t len;

	build(false);
	reopen(&o, true);
	backfill(&o);
	close_script(&o);
	ck_assert_int_eq(stat(SIBLING, &st), 0);
	len = (uint64_t)st.st_size;
	remove(SIBLING);
	for (uint64_t room = 0; room < len / 2; room += len / 20) /* its last page is padding */
		expect_in_refuge(FULL_DISK_WRITES, room, len);
	expect_in_refuge(FULL_DISK_SYNCS, 0, len);
	expect_in_refuge(FULL_DISK_NAMES, 0, len);
}
END_TEST

/* Another process builds it already: that needs no second file elsewhere. */
START_TEST(a_section_that_another_one_builds_takes_no_refuge)
{
	struct ts_error err = { 0 };
	struct ts_index_file *first;
	struct opened o;

	build(false);
	reopen_with(&o, true, REFUGE);
	first = ts_index_create_sibling(o.tl->file, sums_section.name, &err);
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(ts_index_create_sibling(o.tl->file, sums_section.name, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "another tracestub is building it"));
	ck_assert_uint_eq(inode(REFUGE ".sums.part"), 0);
	ts_index_remove(first);
	ts_index_close(first);
	close_script(&o);
}
END_TEST

START_TEST(without_a_refuge_a_section_stays_in_memory_on_a_full_disk)
{
	struct opened o;

	build(false);
	for (unsigned how = FULL_DISK_WRITES; how <= FULL_DISK_NAMES; how++) {
		backfill_without_room(NULL, how, 0);
		backfill_without_room("no folder/elsewhere", how, 5000);
	}
	reopen(&o, true);
	ck_assert(!ts_timeline_has(o.tl, &sums_section));
	close_script(&o);
}
END_TEST

/* Is there the section, with what lies beside the index and in its refuge? */
static bool is_found(void)
{
	struct opened o;
	bool has;

	reopen_with(&o, true, REFUGE);
	has = ts_timeline_has(o.tl, &sums_section);
	close_script(&o);
	return has;
}

START_TEST(a_damaged_file_of_a_section_does_not_hide_that_in_the_refuge)
{
	FILE *f;

	build(false);
	remove(REFUGE ".sums");
	backfill_without_room(REFUGE, FULL_DISK_WRITES, 0);
	ck_assert(is_found());
	f = fopen(SIBLING, "wb");
	ck_assert_ptr_nonnull(f);
	fputs("damage", f);
	fclose(f);
	ck_assert(is_found());
	ck_assert_int_eq(truncate(REFUGE ".sums", 100), 0);
	ck_assert(!is_found());
}
END_TEST

UNIT_SUITE("backfill", an_optional_section_is_built_with_the_rest_and_loaded, an_unknown_section_is_skipped,
	   a_missing_optional_section_is_built_alone_and_found_again,
	   an_optional_section_of_another_version_is_built_again_and_the_rest_is_not,
	   a_missing_optional_section_is_built_for_an_index_in_memory,
	   who_asks_for_another_section_than_is_being_built_waits_for_that_first,
	   a_trace_that_is_no_longer_what_it_was_ends_a_backfill, a_backfill_that_is_given_up_leaves_nothing,
		   a_file_of_a_section_that_lacks_segments_contradicts_its_index,
	   a_damaged_file_of_a_section_is_ignored, on_a_full_disk_a_section_goes_to_the_refuge_of_its_index,
	a_section_that_another_one_builds_takes_no_refuge,
	   without_a_refuge_a_section_stays_in_memory_on_a_full_disk,
	   a_damaged_file_of_a_section_does_not_hide_that_in_the_refuge)
