/* SPDX-License-Identifier: MIT */
/*
 * Index files, and the sketches beside them, whose numbers are changed anywhere and that are signed again:
 * they are refused, or noticed when they are asked, or what they say cannot hurt.
 */
#include "unit.h"

#include "forge.h"
#include "forge_store.h"
#include "script.h"
#include "src/index/index_header.h"
#include "src/index/index_pack.h"
#include "src/timeline/builder.h"
#include "src/timeline/space/layers.h"
#include "src/timeline/file/section.h"
#include "src/timeline/world/world.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH     "forged.tsindex"
#define N_SEEDS  4
#define N_FORGED FORGE_N_FILES /* of each */
#define N_LIED_SEEDS 12 /* few have completed lines */

/* So is one whose blocks are stored. */
static void expect_believed_stored(enum forged (*ask)(const char *, const uint8_t *, size_t, uint64_t),
				   const uint8_t *file, size_t len, uint64_t seed)
{
	size_t stored_len = len;
	uint8_t *stored = forge_store(file, &stored_len);

	ck_assert_uint_ge(stored_len, len);
	ck_assert(stored_len > len || memcmp(stored, file, len));
	ck_assert_int_eq(ask(PATH, stored, stored_len, seed), FORGED_BELIEVED);
	free(stored);
}

START_TEST(a_file_that_is_signed_again_is_as_good_as_before)
{
	uint8_t *file;
	size_t len;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		file = forge_original(PATH, seed, &len);
		ck_assert_int_eq(forge_ask(PATH, file, len, seed), FORGED_BELIEVED);
		forge(file, len, NULL, 0);
		ck_assert_int_eq(forge_ask(PATH, file, len, seed), FORGED_BELIEVED);
		expect_believed_stored(forge_ask, file, len, seed);
		free(file);
		file = forge_find_original(PATH, seed, &len);
		ck_assert_int_eq(forge_find_ask(PATH, file, len, seed), FORGED_BELIEVED);
		forge(file, len, NULL, 0);
		ck_assert_int_eq(forge_find_ask(PATH, file, len, seed), FORGED_BELIEVED);
		expect_believed_stored(forge_find_ask, file, len, seed);
		free(file);
	}
}
END_TEST

/* A file of an index, or of sketches: how one is made, and asked. */
struct kind {
	uint8_t *(*original)(const char *path, uint64_t seed, size_t *len);
	enum forged (*ask)(const char *path, const uint8_t *file, size_t len, uint64_t seed);
};
/* An index whose arrays are stored, so that a number in them can be changed. */
static uint8_t *stored_original(const char *path, uint64_t seed, size_t *len)
{
	uint8_t *file = forge_original(path, seed, len), *stored = forge_store(file, len);

	free(file);
	return stored;
}

#define KIND(text) TS_SECTION_KIND((text)[0], (text)[1], (text)[2], (text)[3])

/* One without what the journals lead to, so that they are read. */
static uint8_t *original_without_world(const char *path, uint64_t seed, size_t *len)
{
	uint8_t *file = stored_original(path, seed, len);

	forge_hide(file, *len, -1, KIND("WRLD"));
	return file;
}

static const struct kind an_index = { forge_original, forge_ask },
			 a_stored_index = { stored_original, forge_ask },
			 journals = { original_without_world, forge_ask },
			 sketches = { forge_find_original, forge_find_ask };

static uint8_t *make_original(const struct kind *kind, uint64_t seed, bool is_stored, size_t *len)
{
	uint8_t *file = kind->original(PATH, seed, len), *stored;

	if (!is_stored)
		return file;
	stored = forge_store(file, len);
	free(file);
	return stored;
}

/* Of every second recording the arrays are stored, so that the numbers in them are changed, too. */
static void forge_many(const struct kind *kind, uint64_t seed, unsigned n_edits)
{
	struct script_random r = { seed };
	unsigned n_of[3] = { 0 };
	uint8_t edits[4 * FORGE_EDIT_LEN], *file, *forged;
	size_t len;

	file = make_original(kind, seed, seed % 2, &len);
	forged = malloc(len);
	ck_assert_ptr_nonnull(forged);
	for (unsigned i = 0; i < N_FORGED / n_edits; i++) {
		for (size_t j = 0; j < sizeof(edits); j++)
			edits[j] = (uint8_t)script_random(&r);
		memcpy(forged, file, len);
		forge(forged, len, edits, n_edits);
		n_of[kind->ask(PATH, forged, len, seed)]++;
	}
	ck_assert_uint_gt(n_of[FORGED_REFUSED], N_FORGED / n_edits / 40);
	ck_assert_uint_gt(n_of[FORGED_NOTICED], N_FORGED / n_edits / 80);
	ck_assert_uint_gt(n_of[FORGED_BELIEVED], 0);
	free(forged);
	free(file);
}

START_TEST(a_number_that_lies_leads_nowhere)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
		forge_many(&an_index, seed, 1);
}
END_TEST

START_TEST(several_numbers_that_lie_lead_nowhere)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
		forge_many(&an_index, seed, 3);
}
END_TEST

START_TEST(numbers_of_sketches_that_lie_lead_nowhere)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		forge_many(&sketches, seed, 1);
		forge_many(&sketches, seed, 3);
	}
}
END_TEST

/* ---------------------------------------------------------------------------------- one number, one refusal */

/* A number of an array (if it is longer than 8 bytes, each byte is the value), or, @is_entry, of what the tables say about it (index_record.h). */
struct lie {
	const char *what;
	int record;       /* -1: the last one */
	const char *kind;
	int array;
	bool is_entry;
	unsigned off, len;
	uint64_t value;
};

/* The items of an array that is not packed, or whose blocks are stored. */
static uint8_t *items_of(const struct forge_array *a, size_t *len)
{
	size_t table_len = ts_get32(a->entry + 20) ? ts_index_pack_table_len(ts_get64(a->entry + 8)) : 0;

	*len = a->len - table_len;
	return a->bytes + table_len;
}

/*
 * The number is forged for the first owner in the record whose array has it.  Returns false if none has, or it is the
 * same.
 */
static bool tell(uint8_t *file, size_t len, const struct lie *lie)
{
	for (uint32_t owner = 0; owner <= SCRIPT_MAX_PROCESSES; owner++) {
		struct forge_array a = forge_find(file, len, lie->record, KIND(lie->kind), owner, lie->array);
		uint8_t value[256], *at;
		size_t items_len;

		if (!a.entry)
			continue;
		at = items_of(&a, &items_len);
		if (!lie->is_entry && items_len < lie->off + lie->len)
			continue;
		at = (lie->is_entry ? a.entry : at) + lie->off;
		memset(value, (int)lie->value, sizeof(value));
		if (lie->len <= sizeof(lie->value))
			memcpy(value, &lie->value, lie->len);
		if (!memcmp(at, value, lie->len))
			continue;
		memcpy(at, value, lie->len);
		return true;
	}
	return false;
}

/*
 * Each lie alone is told in the file of @kind, in the first seed that has the place for it, and must be
 * refused, or
 * @is_late: noticed when it is asked.
 */
static void tell_each_to(const struct kind *kind, const struct lie *lies, size_t n, bool is_late)
{
	bool is_told[64] = { false };
	size_t len;

	ck_assert_uint_le(n, 64);
	for (uint64_t seed = 1; seed <= N_LIED_SEEDS; seed++) {
		uint8_t *file = kind->original(PATH, seed, &len), *forged = malloc(len);

		ck_assert_ptr_nonnull(forged);
		for (size_t i = 0; i < n; i++) {
			struct lie lie = lies[i];

			memcpy(forged, file, len);
			/* in another record too, if need be */
			while (!is_told[i] && lie.record < (int)forge_n_records(file, len)) {
				is_told[i] = tell(forged, len, &lie);
				lie.record = lie.record < 0 ? INT_MAX : lie.record + 1;
			}
			if (!memcmp(forged, file, len))
				continue;
			forge(forged, len, NULL, 0);
			if (kind->ask(PATH, forged, len, seed) != (is_late ? FORGED_NOTICED : FORGED_REFUSED))
				ck_abort_msg("seed %lu: %s: it has another end", (unsigned long)seed,
					     lie.what);
		}
		free(forged);
		free(file);
	}
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(is_told[i], "no seed has a place for this: %s", lies[i].what);
}

static void tell_each(const struct kind *kind, const struct lie *lies, size_t n)
{
	tell_each_to(kind, lies, n, false);
}

/* struct saved_head (src/timeline/file/timeline_file.c) */
enum { N_STEPS_AT = 0, N_CHUNKS_AT = 8, DAMAGE_AT = 48, N_PROCESSES_AT = 52, N_MEMORY_AT = 56, FLAGS_AT = 60 };

START_TEST(a_record_whose_head_contradicts_itself_or_the_one_before_is_refused)
{
	static const struct lie lies[] = {
		{ "no steps", 0, "HEAD", 0, false, N_STEPS_AT, 8, 0 },
		{ "no more steps than before", 1, "HEAD", 0, false, N_STEPS_AT, 8, 32 },
		{ "a segment that is not full", 0, "HEAD", 0, false, N_STEPS_AT, 8, 31 },
		{ "no chunks", 0, "HEAD", 0, false, N_CHUNKS_AT, 8, 0 },
		{ "a chunk too few", 0, "HEAD", 0, false, N_CHUNKS_AT, 8, 3 },
		{ "a chunk too many", 0, "HEAD", 0, false, N_CHUNKS_AT, 8, 5 },
		{ "no more chunks than before", 1, "HEAD", 0, false, N_CHUNKS_AT, 8, 4 },
		{ "steps without chunks at the end", -1, "HEAD", 0, false, N_STEPS_AT, 8, 1 << 20 },
		{ "no segment before the end", 0, "HEAD", 0, false, FLAGS_AT, 4, 0 },
		{ "no segment, but steps, at the end", -1, "HEAD", 0, false, FLAGS_AT, 4, 0 },
		{ "without reads", 0, "HEAD", 0, false, FLAGS_AT, 4, 1 | 16 },
		{ "an error that there is not", 0, "HEAD", 0, false, DAMAGE_AT, 4, 1000 },
		{ "damage without a reason", 0, "HEAD", 0, false, DAMAGE_AT, 4, TS_ECORRUPT },
		{ "more processes than threads name", 0, "HEAD", 0, false, N_PROCESSES_AT, 4, 1000 },
		{ "more spaces than processes", 0, "HEAD", 0, false, N_MEMORY_AT, 4, 1000 },
		{ "no numbers", 0, "HEAD", 0, true, 8, 8, 0 },
		{ "a thread of a process that there is not", 0, "HEAD", 1, false, 0, 4, 1000 },
		{ "a name without its end", 0, "HEAD", 1, false, 24, 32, 'x' },
		{ "no threads", 0, "HEAD", 1, true, 8, 8, 0 },
		{ "a part of a thread", 0, "HEAD", 1, true, 8, 8, 1 },
		{ "a part of a warning", 0, "HEAD", 2, true, 8, 8, 1 },
		{ "more warnings than a recording has", 0, "HEAD", 2, true, 8, 8,
		  (TS_MAX_WARNINGS + 1) * sizeof(struct ts_warning) },
		{ "a warning without its end", 0, "HEAD", 2, false, 0, 256, 'x' },
		{ "a reason without its end", 0, "HEAD", 3, false, 0, 1, 'x' },
		{ "no reason", 0, "HEAD", 3, true, 8, 8, 0 },
		{ "a reason that is packed", 0, "HEAD", 3, true, 16, 8, UINT64_C(1) << 32 | 8 },
	};

	tell_each(&an_index, lies, sizeof(lies) / sizeof(lies[0]));
}
END_TEST

/* struct head (src/timeline/file/journal.c): pos, addr, len, thread, item, kind, size of what follows it */
enum { NOTE_ADDR_AT = 8, NOTE_LEN_AT = 16, NOTE_THREAD_AT = 24, NOTE_KIND_AT = 32, NOTE_SIZE_AT = 36,
       NOTE_LEN = 40 };

/* struct ts_turn_block (src/timeline/world/turns.h), and the arrays of JRNL */
enum { BLOCK_AT_AT = 8, BLOCK_N_AT = 12, BLOCK_WIDTHS_AT = 14 };
enum { NOTES, BLOCKS, COLUMNS };

/* struct saved_page (src/timeline/space/space_file.c): page, layer, n_lines, lines */
enum { PAGE_LAYER_AT = 8, PAGE_LINES_AT = 16 };

/* struct ts_inferred (src/timeline/space/inferred.h): pos, addr, len, layer */
enum { RANGE_ADDR_AT = 8, RANGE_LEN_AT = 16, RANGE_LAYER_AT = 20 };

START_TEST(a_section_that_contradicts_itself_or_its_record_is_refused)
{
	static const struct lie lies[] = {
		{ "no decode points", 0, "PNTS", 0, true, 8, 8, 4 },
		{ "a decode point too few", 0, "PNTS", 0, true, 8, 8, 16 },
		{ "a part of a number", 0, "PNTS", 0, true, 8, 8, 7 },
		{ "a part of a page that changed", 0, "SPCE", 0, true, 8, 8, 1 },
		{ "a part of a page that was written", 0, "SPCE", 7, true, 8, 8, 1 },
		{ "a part of a page that was read", 0, "SPCE", 10, true, 8, 8, 1 },
		{ "a layer that there is not", 0, "SPCE", -6, false, PAGE_LAYER_AT, 4, 1 << 20 },
		{ "a page after the end of the space", 0, "SPCE", -6, false, 0, 8, UINT64_MAX },
		{ "more lines than there are", 0, "SPCE", -6, false, PAGE_LINES_AT, 8, UINT64_MAX },
		{ "lines that no page has", 0, "SPCE", -6, true, 8, 8, 0 },
		{ "a part of a page", 0, "SPCE", -6, true, 8, 8, 1 },
		{ "a part of a line", 0, "SPCE", -5, true, 8, 8, 1 },
		{ "a completed line that does not begin where lines do", 0, "SPCE", -4, false, 0, 8, 1 },
		{ "more bytes than a line has", 0, "SPCE", -4, false, 24, 8, 1 << 16 },
		{ "an inferred range of the initial state", 0, "SPCE", -3, false, 0, 8, 0 },
		{ "an inferred range after the last gap", 0, "SPCE", -3, false, 0, 8, INT64_MAX },
		{ "an inferred range of a page that there is not", 0, "SPCE", -3, false, RANGE_ADDR_AT, 8, UINT64_C(7) << 50 },
		{ "an inferred range of no bytes", 0, "SPCE", -3, false, RANGE_LEN_AT, 4, 0 },
		{ "an inferred range beyond its page", 0, "SPCE", -3, false, RANGE_LEN_AT, 4, 4097 },
		{ "an inferred range of a layer that there is not", 0, "SPCE", -3, false, RANGE_LAYER_AT, 4, 1 << 20 },
		{ "a part of an inferred range", 0, "SPCE", -3, true, 8, 8, 1 },
		{ "lost bytes that do not begin where words do", 0, "SPCE", -2, false, 0, 8, 1 },
		{ "a part of lost bytes", 0, "SPCE", -2, true, 8, 8, 1 },
		{ "no counts", 0, "SPCE", -1, true, 8, 8, 0 },
		{ "a gap after the record", 0, "SPCE", -1, false, 16, 8, INT64_MAX },
		{ "a part of a page of a group", 3, "GRUP", 0, true, 8, 8, 1 },
		{ "a part of a line of a group", 3, "GRUP", 1, true, 8, 8, 1 },
		{ "a digest too few", 0, "DGST", 1, true, 8, 8, 8 },
		{ "a part of a digest", 0, "DGST", 1, true, 8, 8, 1 },
	};

	tell_each(&an_index, lies, sizeof(lies) / sizeof(lies[0]));
}
END_TEST

/* Calls and digests are optional: without any arrays they are not there. */
START_TEST(a_section_that_lacks_an_array_is_refused)
{
	enum { CALLS = 7, DIGESTS };
	static const int records[] = { 0, 1, -1 };
	size_t len;
	uint8_t *file = forge_original(PATH, 1, &len), *forged = malloc(len);
	unsigned n_forged = 0;
	enum forged as;
	uint32_t n;

	ck_assert_ptr_nonnull(forged);
	for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		/* but the head, whose last array is of files that are not finished */
		n = 1;
		for (unsigned section = 1; n; section++) {
			for (n = 0;; n++) {
				memcpy(forged, file, len);
				if (!forge_shorten(forged, len, records[i], section, n))
					break;
				forge(forged, len, NULL, 0);
				as = forge_ask(PATH, forged, len, 1);
				if (as != (n || (section != CALLS && section != DIGESTS) ? FORGED_REFUSED : FORGED_BELIEVED))
					ck_abort_msg("record %d, section %u, %u arrays: %d", records[i],
						     section, n, as);
				n_forged++;
			}
		}
	}
	ck_assert_uint_gt(n_forged, 50);
	free(forged);
	free(file);
}
END_TEST

/* If what the journals lead to is not there, they are read. */
START_TEST(an_index_without_the_world_after_all_steps_is_as_good)
{
	size_t len;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		uint8_t *file = original_without_world(PATH, seed, &len);

		forge(file, len, NULL, 0);
		ck_assert_int_eq(forge_ask(PATH, file, len, seed), FORGED_BELIEVED);
		free(file);
	}
}
END_TEST

START_TEST(a_journal_that_contradicts_itself_or_its_record_is_refused)
{
	static const struct lie lies[] = {
		{ "a thread that there is not", 0, "JRNL", NOTES, false, NOTE_THREAD_AT, 4, 1000 },
		{ "a note far after all steps", 0, "JRNL", NOTES, false, 0, 8, UINT64_MAX },
		{ "a note of the start", 0, "JRNL", NOTES, false, 0, 8, 0 },
		{ "an effect that is not noted", 0, "JRNL", NOTES, false, NOTE_KIND_AT, 4, TS_FX_WRITE },
		{ "a turn as a note", 0, "JRNL", NOTES, false, NOTE_KIND_AT, 4, TS_FX_THREAD },
		{ "a part of a note", 0, "JRNL", NOTES, true, 8, 8, 8 },
		{ "a first turn that is not at the start", 0, "JRNL", BLOCKS, false, 0, 8, 1 },
		{ "a turn that is not after the one before", 1, "JRNL", BLOCKS, false, 0, 8, 0 },
		{ "a turn after all steps", 0, "JRNL", BLOCKS, false, 0, 8, 32 },
		{ "turns that end after all steps", 0, "JRNL", BLOCKS, false, 0, 8, 31 },
		{ "columns that are not there", 0, "JRNL", BLOCKS, false, BLOCK_AT_AT, 4, 1 << 20 },
		{ "columns that end after the bytes", 0, "JRNL", COLUMNS, true, 8, 8, 0 },
		{ "no turns in a block", 0, "JRNL", BLOCKS, false, BLOCK_N_AT, 2, 0 },
		{ "more turns than a block has", 0, "JRNL", BLOCKS, false, BLOCK_N_AT, 2, 5 },
		{ "lengths of no bytes", 0, "JRNL", BLOCKS, false, BLOCK_WIDTHS_AT, 1, 0 },
		{ "lengths of three bytes", 0, "JRNL", BLOCKS, false, BLOCK_WIDTHS_AT, 1, 3 },
		{ "threads of eight bytes", 0, "JRNL", BLOCKS, false, BLOCK_WIDTHS_AT + 1, 1, 8 },
		{ "a part of a block", 0, "JRNL", BLOCKS, true, 8, 8, 8 },
	};

	tell_each(&journals, lies, sizeof(lies) / sizeof(lies[0]));
}
END_TEST

/*
 * struct saved_thread (src/timeline/world/turns_file.c): first, end, end_step, n; the arrays of WRLD, and those of LAYR
 * (layers.c)
 */
enum { THREAD_N_AT = 24 };
enum { THREADS, TEXTS, PLACES, REGIONS, LATEST, WITH_FILE, MODULES };
enum { LAYERS, EXTENTS, ENDS };

START_TEST(a_world_that_contradicts_itself_is_refused)
{
	static const struct lie lies[] = {
		{ "more places of a thread than there are", -1, "WRLD", THREADS, false, THREAD_N_AT, 4,
		  1 << 20 },
		{ "a thread that ends before it begins", -1, "WRLD", THREADS, false, 0, 8, UINT64_MAX },
		{ "places of no thread", -1, "WRLD", THREADS, false, THREAD_N_AT, 4, 0 },
		{ "more threads than there are", -1, "WRLD", THREADS, true, 8, 8, 4096 },
		{ "a text without its end", -1, "WRLD", TEXTS, true, 8, 8, 1 },
		{ "no places", -1, "WRLD", PLACES, true, 8, 8, 0 },
		{ "a part of a place", -1, "WRLD", PLACES, true, 8, 8, 8 },
		{ "a part of a block of turns", 0, "JRNL", BLOCKS, true, 8, 8, 8 },
		{ "no regions", -1, "WRLD", REGIONS, true, 8, 8, 0 },
		{ "a part of a region", -1, "WRLD", REGIONS, true, 8, 8, 8 },
		{ "no groups of regions", -1, "WRLD", LATEST, true, 8, 8, 0 },
		{ "a part of a module", -1, "WRLD", MODULES, true, 8, 8, 8 },
		{ "no layers", -1, "LAYR", LAYERS, true, 8, 8, 0 },
		{ "a part of a layer", -1, "LAYR", LAYERS, true, 8, 8, 8 },
		{ "a part of an extent", -1, "LAYR", EXTENTS, true, 8, 8, 8 },
		{ "no ends of blocks", -1, "LAYR", ENDS, true, 8, 8, 0 },
	};

	tell_each(&an_index, lies, sizeof(lies) / sizeof(lies[0]));
}
END_TEST

START_TEST(what_lies_in_the_world_is_noticed_when_it_is_asked)
{
	static const struct lie lies[] = {
		{ "turns after all steps", 0, "JRNL", BLOCKS, false, 0, 8, UINT64_MAX },
		{ "more turns than a block has", 0, "JRNL", BLOCKS, false, BLOCK_N_AT, 2, 5 },
		{ "blocks that there are not", -1, "WRLD", PLACES, false, 0, 128, UINT8_MAX },
		{ "a region without bytes", -1, "WRLD", REGIONS, false, offsetof(struct ts_region, first), 8,
		  UINT64_MAX },
		{ "a process that there is not", -1, "WRLD", REGIONS, false,
		  offsetof(struct ts_region, process), 4, 1000 },
		{ "a text that there is not", -1, "WRLD", REGIONS, false, offsetof(struct ts_region, desc), 4,
		  1 << 30 },
		{ "a file that there is not", -1, "WRLD", REGIONS, false, offsetof(struct ts_region, file), 4,
		  1 << 30 },
		{ "a module without bytes", -1, "WRLD", MODULES, false, offsetof(struct ts_module_span, first), 8,
		  UINT64_MAX },
		{ "a layer without bytes", -1, "LAYR", LAYERS, false, offsetof(struct ts_layer, first), 8,
		  UINT64_MAX },
		{ "a layer after all steps", -1, "LAYR", LAYERS, false, 0, 8, UINT64_MAX },
		{ "a layer of something else", -1, "LAYR", LAYERS, false, offsetof(struct ts_layer, fill), 4,
		  7 },
	};

	tell_each_to(&a_stored_index, lies, sizeof(lies) / sizeof(lies[0]), true);
}
END_TEST

static bool tell_all(uint8_t *file, size_t len, const struct lie *lies, int record)
{
	for (unsigned k = 0; k < 3 && lies[k].what; k++) {
		struct lie lie = lies[k];

		lie.record = record;
		if (!tell(file, len, &lie))
			return false;
	}
	return true;
}

/* Each alone would be noticed by another check. */
START_TEST(numbers_that_are_false_together_are_refused)
{
	static const struct {
		struct lie lies[3];
	} cases[] = {
		{ { { "processes that no thread has", 0, "HEAD", 0, false, N_PROCESSES_AT, 4, 1000 },
		    { "a thread of one of them", 0, "HEAD", 1, false, 0, 4, 500 } } },
		{ { { "something unmapped", 0, "JRNL", 0, false, NOTE_KIND_AT, 4, TS_FX_UNMAP },
		    { "at the end of the space", 0, "JRNL", 0, false, NOTE_ADDR_AT, 8, UINT64_MAX },
		    { "and after it", 0, "JRNL", 0, false, NOTE_LEN_AT, 8, 2 } } },
	};
	size_t len;
	uint8_t *file = original_without_world(PATH, 1, &len), *forged = malloc(len);

	ck_assert_ptr_nonnull(forged);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool are_told = false;

		for (int record = 0; !are_told && record < (int)forge_n_records(file, len); record++) {
			memcpy(forged, file, len);
			are_told = tell_all(forged, len, cases[i].lies, record);
		}
		ck_assert_msg(are_told, "no place for %s", cases[i].lies[0].what);
		forge(forged, len, NULL, 0);
		ck_assert_msg(forge_ask(PATH, forged, len, 1) == FORGED_REFUSED, "case %zu", i);
	}
	free(forged);
	free(file);
}
END_TEST

/* Where record @i is in a file that is as it was built, by the file's directory. */
static uint8_t *record_at(uint8_t *file, size_t len, size_t i)
{
	uint64_t directory, off;

	memcpy(&directory, file + len - 48, sizeof(directory));
	memcpy(&off, file + directory + i * 64 + 16, sizeof(off));
	return file + off;
}

/* In the head of record @i and in its section HEAD, which must be the same. */
static void set_steps(uint8_t *file, size_t len, size_t i, uint64_t n_steps)
{
	memcpy(record_at(file, len, i) + 48, &n_steps, sizeof(n_steps));
	memcpy(forge_find(file, len, (int)i, KIND("HEAD"), 0, 0).bytes + N_STEPS_AT, &n_steps, sizeof(n_steps));
}

/* What a record says of its steps is wrong in both places. */
START_TEST(steps_that_do_not_go_on_are_refused)
{
	size_t len;
	uint8_t *file = forge_original(PATH, 1, &len), *forged = malloc(len);
	size_t last = forge_n_records(file, len) - 1;
	uint64_t segment = TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS;
	uint32_t no_segment = 0;

	ck_assert_ptr_nonnull(forged);
	for (unsigned i = 0; i < 4; i++) {
		memcpy(forged, file, len);
		switch (i) {
		case 0: break; /* as it was */
		case 1: set_steps(forged, len, 0, segment - 1); break; /* its last chunk is not full */
		case 2: set_steps(forged, len, 1, segment); break;     /* none are new */
		case 3: /* none are new, but chunks, and it has no segment */
			set_steps(forged, len, last, last * segment);
			memcpy(forge_find(forged, len, -1, KIND("HEAD"), 0, 0).bytes + FLAGS_AT, &no_segment,
			       sizeof(no_segment));
			break;
		}
		forge(forged, len, NULL, 0);
		ck_assert_msg(forge_ask(PATH, forged, len, 1) == (i ? FORGED_REFUSED : FORGED_BELIEVED), "case %u", i);
	}
	free(forged);
	free(file);
}
END_TEST

/* The first block of two turns or more: its lengths, and in *threads its threads, of a byte each; NULL if there is none. */
static uint8_t *some_turns(uint8_t *file, size_t len, uint32_t *n, uint8_t **threads)
{
	for (size_t i = 0; i < forge_n_records(file, len); i++) {
		struct forge_array blocks = forge_find(file, len, (int)i, KIND("JRNL"), 0, BLOCKS),
				   columns = forge_find(file, len, (int)i, KIND("JRNL"), 0, COLUMNS);
		struct ts_turn_block b;
		size_t items_len;
		uint8_t *items = items_of(&blocks, &items_len);

		if (items_len < sizeof(b))
			continue;
		memcpy(&b, items, sizeof(b));
		if (b.n < 2)
			continue;
		ck_assert(!b.at && b.len_width == 1 && b.thread_width == 1);
		*n = b.n;
		*threads = items_of(&columns, &items_len) + b.n - 1;
		return *threads - (b.n - 1);
	}
	return NULL;
}

enum turn_lie { EMPTY_TURN, LONG_TURN, TURN_OF_NO_THREAD, NO_BLOCKS };

static void tell_no_blocks(uint8_t *file, size_t len)
{
	for (size_t i = 0, n = forge_n_records(file, len); i < n; i++) {
		memset(forge_find(file, len, (int)i, KIND("JRNL"), 0, BLOCKS).entry + 8, 0, 8);
	}
}

/* Returns false if the file has no place for the lie. */
static bool tell_of_turns(uint8_t *file, size_t len, enum turn_lie lie)
{
	uint32_t n;
	uint8_t *threads, *lens = some_turns(file, len, &n, &threads);

	if (!lens)
		return false;
	switch (lie) {
	case EMPTY_TURN: lens[0] = 0; break;
	case LONG_TURN: lens[n - 2] = 200; break;
	case TURN_OF_NO_THREAD: threads[n - 1] = 200; break;
	case NO_BLOCKS: tell_no_blocks(file, len); break;
	}
	return true;
}

/* What becomes of the first file of @kind that has a place for the lie. */
static enum forged end_of(const struct kind *kind, enum turn_lie lie)
{
	for (uint64_t seed = 1; seed <= N_LIED_SEEDS; seed++) {
		size_t len;
		uint8_t *file = kind->original(PATH, seed, &len);
		enum forged end;

		if (tell_of_turns(file, len, lie)) {
			forge(file, len, NULL, 0);
			end = kind->ask(PATH, file, len, seed);
			free(file);
			return end;
		}
		free(file);
	}
	ck_abort_msg("no seed has a place for it");
}

START_TEST(turns_that_lie_are_refused_or_noticed)
{
	for (enum turn_lie lie = EMPTY_TURN; lie <= NO_BLOCKS; lie++)
		ck_assert_int_eq(end_of(&journals, lie), FORGED_REFUSED);
	ck_assert_int_ne(end_of(&a_stored_index, EMPTY_TURN), FORGED_REFUSED); /* it is passed over */
	ck_assert_int_eq(end_of(&a_stored_index, LONG_TURN), FORGED_NOTICED);
	ck_assert_int_eq(end_of(&a_stored_index, TURN_OF_NO_THREAD), FORGED_NOTICED);
	ck_assert_int_eq(end_of(&a_stored_index, NO_BLOCKS), FORGED_REFUSED);
}
END_TEST

/* The first one that a note of the journal maps. */
START_TEST(a_region_of_no_bytes_is_refused)
{
	static const uint64_t no_len;
	bool is_told = false;
	size_t len;
	uint8_t *file = original_without_world(PATH, 1, &len);

	for (size_t i = 0, n = forge_n_records(file, len); i < n && !is_told; i++) {
		struct forge_array notes = forge_find(file, len, (int)i, KIND("JRNL"), 0, 0);
		size_t notes_len;
		uint8_t *p = items_of(&notes, &notes_len);
		uint32_t kind, size;

		for (size_t at = 0; at < notes_len && !is_told; at += NOTE_LEN + size) {
			memcpy(&kind, p + at + NOTE_KIND_AT, sizeof(kind));
			memcpy(&size, p + at + NOTE_SIZE_AT, sizeof(size));
			is_told = kind == TS_FX_MAP;
			if (is_told)
				memcpy(p + at + NOTE_LEN_AT, &no_len, sizeof(no_len));
		}
	}
	ck_assert(is_told);
	forge(file, len, NULL, 0);
	ck_assert_int_eq(forge_ask(PATH, file, len, 1), FORGED_REFUSED);
	free(file);
}
END_TEST

/* Arrays that say that all of the record is theirs: together they would need more memory than it is worth. */
START_TEST(packed_arrays_that_are_more_than_their_record_are_refused)
{
	size_t len, n_told = 0;
	uint8_t *file = forge_original(PATH, 1, &len), *head = record_at(file, len, 0);
	uint64_t tables, off = 88;
	uint32_t n_sections, n_arrays, packed_len;

	memcpy(&tables, head + 24, sizeof(tables));
	memcpy(&n_sections, head + 32, sizeof(n_sections));
	memcpy(&n_arrays, head + 36, sizeof(n_arrays));
	for (uint32_t i = 0; i < n_arrays && n_told < 2; i++) {
		uint8_t *entry = head + tables + n_sections * 16 + i * 24;

		memcpy(&packed_len, entry + 16, sizeof(packed_len));
		if (!packed_len)
			continue;
		packed_len = (uint32_t)(tables - off);
		memcpy(entry, &off, sizeof(off));
		memcpy(entry + 16, &packed_len, sizeof(packed_len));
		n_told++;
	}
	ck_assert_uint_eq(n_told, 2);
	forge(file, len, NULL, 0);
	ck_assert_int_eq(forge_ask(PATH, file, len, 1), FORGED_REFUSED);
	free(file);
}
END_TEST

START_TEST(tables_that_lead_out_of_their_record_are_refused)
{
	static const struct lie lies[] = {
		{ "an array in the head", 0, "HEAD", 0, true, 0, 8, 8 },
		{ "an array at an odd place", 0, "HEAD", 0, true, 0, 8, 1001 },
		{ "an array after the record", 0, "HEAD", 0, true, 0, 8, UINT64_C(1) << 40 },
		{ "an array that ends after it", 0, "HEAD", 0, true, 8, 8, UINT64_C(1) << 40 },
		{ "items that are too long", 0, "HEAD", 0, true, 20, 4, 1 << 20 },
		{ "more blocks than packed bytes", 0, "HEAD", 0, true, 16, 8, UINT64_C(1) << 32 | 1 },
	};

	tell_each(&an_index, lies, sizeof(lies) / sizeof(lies[0]));
}
END_TEST

START_TEST(sketches_that_contradict_themselves_are_refused)
{
	static const struct lie lies[] = {
		{ "files that were not there before", 1, "FIND", 1, false, 0, 8, 12345 },
		{ "no files", 0, "FIND", 1, true, 8, 8, 0 },
		{ "a part of a chunk", 0, "FIND", -1, true, 8, 8, 1 },
	};

	tell_each(&sketches, lies, sizeof(lies) / sizeof(lies[0]));
}
END_TEST

/* Is the file opened where files that the recording names are looked for? */
static bool opens_with_sysroot(const uint8_t *file, size_t len)
{
	struct script *s = script_random_new(1, forge_n_steps);
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct ts_timeline *tl;
	struct ts_image image;
	FILE *out = fopen(PATH, "wb");
	bool done;

	ck_assert(out && fwrite(file, 1, len, out) == len && !fclose(out));
	ts_image_init(&image);
	image.sysroot = "no folder";
	tl = ts_timeline_new(&s->rec, &image, &err);
	ts_timeline_make_digests(tl);
	f = ts_index_open(PATH, &forge_key, &err);
	done = f && ts_timeline_use_file(tl, f, &err);
	ck_assert(done || strchr(err.text, ' '));
	ts_timeline_free(tl);
	ts_image_fini(&image);
	script_free(s);
	return done;
}

START_TEST(files_that_no_step_can_have_named_are_refused)
{
	static const struct ts_named_file lies[] = {
		{ .name = UINT32_MAX },
		{ .map = 1 }, /* of no length */
		{ .map = 1, .addr = UINT64_MAX, .len = 2 },
	};
	size_t len, items_len;
	uint8_t *built = forge_original(PATH, 1, &len), *file = forge_store(built, &len),
		*forged = malloc(len);
	struct forge_array a;
	uint8_t *p;

	ck_assert_ptr_nonnull(forged);
	ck_assert(opens_with_sysroot(file, len));
	for (unsigned i = 0; i < 4; i++) {
		memcpy(forged, file, len);
		a = forge_find(forged, len, -1, KIND("WRLD"), 0, -1);
		p = items_of(&a, &items_len);
		ck_assert_uint_ge(items_len, sizeof(lies[0]));
		if (i < 3)
			memcpy(p, &lies[i], sizeof(lies[i]));
		forge(forged, len, NULL, 0);
		if (i == 3) /* damaged, and not signed */
			*p ^= 1;
		ck_assert_msg(!opens_with_sysroot(forged, len), "case %u", i);
	}
	free(forged);
	free(file);
	free(built);
}
END_TEST

UNIT_SUITE("index_forged", a_file_that_is_signed_again_is_as_good_as_before, a_number_that_lies_leads_nowhere,
	   several_numbers_that_lie_lead_nowhere, numbers_of_sketches_that_lie_lead_nowhere,
	   a_record_whose_head_contradicts_itself_or_the_one_before_is_refused,
	   a_section_that_contradicts_itself_or_its_record_is_refused, a_section_that_lacks_an_array_is_refused,
	   steps_that_do_not_go_on_are_refused,
	   an_index_without_the_world_after_all_steps_is_as_good,
	   a_journal_that_contradicts_itself_or_its_record_is_refused,
	   a_world_that_contradicts_itself_is_refused, what_lies_in_the_world_is_noticed_when_it_is_asked,
	   turns_that_lie_are_refused_or_noticed, a_region_of_no_bytes_is_refused,
	   packed_arrays_that_are_more_than_their_record_are_refused,
	   numbers_that_are_false_together_are_refused, tables_that_lead_out_of_their_record_are_refused,
	   sketches_that_contradict_themselves_are_refused,
	   files_that_no_step_can_have_named_are_refused)
