/* SPDX-License-Identifier: MIT */
/*
 * Sketches: a byte that was noted is found in its chunk, a pair and a window in their group, whatever form the
 * sketch has; the section in its file.  That `find` misses nothing by them test_ask_find.c shows.
 */
#include "unit.h"

#include "script.h"
#include "src/query/query.h"
#include "src/query/search/find_filter.h"
#include "src/sketch/grams.h"
#include "src/sketch/probe.h"
#include "src/sketch/shorts.h"
#include "src/timeline/file/sketch_section.h"
#include "src/timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH    "trace.tsindex"
#define SIBLING PATH ".find"
#define N_STEPS 700

static const struct ts_index_key the_key = { .trace_len = 10, .content = 30 };

/* ------------------------------------------------------------------------------------------------ windows */

static const struct {
	uint32_t n;
	uint64_t n_steps;
	enum ts_sketch_form form;
} sizes[] = {
	{ 0, 1, TS_SKETCH_LIST },
	{ 1, 1, TS_SKETCH_LIST },
	{ 500, 1000, TS_SKETCH_LIST },
	{ 5000, 1000, TS_SKETCH_BITMAP },        /* more than a bit a step */
	{ 200000, 4000000, TS_SKETCH_LIST },
	{ 400000, 4000000, TS_SKETCH_BITMAP },   /* more than the table takes */
	{ 400000, 1000, TS_SKETCH_BITMAP },
};

/* Distinct for distinct @i, and few of them alike. */
static uint32_t window(uint32_t i)
{
	return i * UINT32_C(0x85ebca6b) + 12345;
}

static unsigned group_of(uint32_t i, uint32_t n)
{
	return (unsigned)((uint64_t)i * 64 / n);
}

static void note(struct ts_grams *g, uint32_t gram)
{
	const uint8_t data[] = { (uint8_t)gram, (uint8_t)(gram >> 8), (uint8_t)(gram >> 16),
				 (uint8_t)(gram >> 24) };

	ts_grams_note(g, data);
}

static uint64_t look_up(const struct ts_sketch *s, uint32_t gram)
{
	uint32_t hash = ts_gram_hash(gram);
	uint64_t groups;

	ts_sketch_look_up(s, &hash, 1, &groups);
	return groups;
}

START_TEST(a_window_is_found_in_the_group_that_noted_it)
{
	uint32_t n = sizes[_i].n, n_found = 0;
	struct ts_grams *g = ts_grams_new();
	struct ts_sketch s;

	for (unsigned turn = 0; turn < 2; turn++) { /* the second time nothing is left of the first */
		for (uint32_t i = 0; i < n; i++) {
			ts_grams_begin_group(g, group_of(i, n));
			note(g, window(i));
			note(g, window(i / 2));
		}
		ck_assert(ts_grams_seal(g, sizes[_i].n_steps, &s));
		ck_assert_uint_eq(s.form, sizes[_i].form);
		ck_assert_uint_le(s.keys_len + s.n, sizes[_i].n_steps / 8 < 4096 ? 4096 : 524288);
		for (uint32_t i = 0; i < n; i++) {
			ck_assert(look_up(&s, window(i)) >> group_of(i, n) & 1);
			ck_assert(look_up(&s, window(i / 2)) >> group_of(i, n) & 1);
			i += n > 1000 ? 997 : 0;
		}
		for (uint32_t i = n; i < n + 1000; i++)
			n_found += look_up(&s, window(i)) != 0;
		ts_sketch_fini(&s);
	}
	if (sizes[_i].form == TS_SKETCH_LIST)
		ck_assert_uint_lt(n_found, 100);
	ts_grams_free(g);
}
END_TEST

/* The two groups of window @i. */
static uint64_t two_groups(uint32_t i)
{
	return UINT64_C(1) << 2 | UINT64_C(1) << (40 + i % 24);
}

/* Windows that two groups noted, as the sketch of a thousand steps. */
static void note_twice(uint32_t n, struct ts_sketch *s)
{
	struct ts_grams *g = ts_grams_new();

	for (unsigned group = 0; group < 64; group++) {
		ts_grams_begin_group(g, group);
		for (uint32_t i = 0; i < n; i++) {
			if (two_groups(i) >> group & 1)
				note(g, window(i));
		}
	}
	ck_assert(ts_grams_seal(g, 1000, s));
	ck_assert_uint_eq(s->form, TS_SKETCH_LIST);
	ck_assert_uint_le(s->keys_len + s->n + s->n_groups * sizeof(*s->groups), 4096);
	ts_grams_free(g);
}

START_TEST(a_window_is_found_in_no_group_between_those_that_noted_it)
{
	struct ts_sketch s;

	note_twice(100, &s);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(look_up(&s, window(i)), two_groups(i));
	ts_sketch_fini(&s);
	note_twice(1000, &s); /* too many: only the first and the last one of each are kept */
	ck_assert_uint_eq(s.n_groups, 0);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(look_up(&s, window(i)) & two_groups(i), two_groups(i));
	ts_sketch_fini(&s);
}
END_TEST

/* As somebody would choose them who knows the hash: all in one slot of the table. */
START_TEST(windows_with_like_hashes_take_no_longer)
{
	struct ts_grams *g = ts_grams_new();
	struct ts_sketch s;

	for (uint32_t i = 0; i < 100000; i++)
		ts_grams_add(g, i);
	ck_assert_ptr_nonnull(g->bitmap);
	ck_assert(ts_grams_seal(g, 4000000, &s));
	ck_assert_uint_eq(s.form, TS_SKETCH_BITMAP);
	ts_sketch_fini(&s);
	ts_grams_free(g);
}
END_TEST

START_TEST(a_value_needs_one_byte_that_counts)
{
	static const uint8_t bytes[3], some[] = { 0, 0, 1 }, none[3];
	struct ts_probe *p = ts_probe_new(bytes, some, 3);

	ck_assert_ptr_nonnull(p);
	ts_probe_free(p);
	ck_assert_ptr_null(ts_probe_new(bytes, none, 3));
}
END_TEST

/* Chunk @chunk left @text: its bytes and pairs, and windows. */
static void leave(struct ts_grams *g, struct ts_shorts *sh, unsigned chunk, const char *text)
{
	size_t len = strlen(text);

	ts_grams_begin_group(g, chunk / TS_SKETCH_GROUP);
	ts_shorts_begin_chunk(sh, chunk);
	for (size_t i = 0; i < len; i++) {
		ts_shorts_note_byte(sh, (uint8_t)text[i]);
		if (i + 1 < len)
			ts_shorts_note_pair(sh, (const uint8_t *)text + i);
		if (i + TS_GRAM_LEN <= len)
			ts_grams_note(g, (const uint8_t *)text + i);
	}
	ts_shorts_end_chunk(sh, chunk);
}

/* The first chunk in which @text, where a dot may be anything, may begin; TS_SEGMENT_CHUNKS: none. */
static unsigned first_chunk(const struct ts_sketch *s, const char *text)
{
	uint32_t len = (uint32_t)strlen(text), next;
	struct ts_probe *p;
	uint8_t mask[16];

	for (uint32_t i = 0; i < len; i++)
		mask[i] = text[i] != '.';
	p = ts_probe_new((const uint8_t *)text, mask, len);
	next = ts_probe_next(p, s, 0, 0);
	ts_probe_free(p);
	return next;
}

START_TEST(short_values_are_found_in_the_chunks_that_left_them)
{
	static const struct {
		const char *text;
		bool is_there;
	} values[] = {
		{ "a", true }, { "x", false }, { "ab", true }, { "ba", false }, { "b.d", true },
		{ "b.x", true }, /* of these two either may have come last */
		{ "x.y", false }, { "bcd", true }, { "cbd", false }, { "..d", true }, { "abcd", true },
		{ "abdc", false },
	};
	unsigned last = TS_SEGMENT_CHUNKS - 1;
	struct ts_grams *g = ts_grams_new();
	struct ts_shorts sh;

	ck_assert(ts_shorts_init(&sh));
	for (unsigned turn = 0; turn < 2; turn++) { /* the second time nothing is left of the first */
		struct ts_sketch s;

		leave(g, &sh, last, turn ? "abcd" : "xyba");
		ck_assert(ts_grams_seal(g, 100, &s) && ts_shorts_seal(&sh, &s));
		for (size_t i = 0; turn && i < sizeof(values) / sizeof(values[0]); i++)
			ck_assert_msg(first_chunk(&s, values[i].text) ==
					      (values[i].is_there ? last : TS_SEGMENT_CHUNKS),
				      "%s", values[i].text);
		ts_sketch_fini(&s);
	}
	ts_shorts_fini(&sh);
	ts_grams_free(g);
}
END_TEST

/* "abcdefgh": its last byte came in the last group, another one's windows are spread over groups. */
START_TEST(all_windows_of_one_byte_are_needed_in_a_group)
{
	static const char *const notes[] = { "abcd", "bcde", "cdef", "defg" };
	static const uint8_t mask[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct ts_probe *p = ts_probe_new((const uint8_t *)"abcdefgh", mask, 8);
	struct ts_grams *g = ts_grams_new();
	uint16_t wild[] = { 3 };
	struct ts_shorts sh;
	struct ts_sketch s;

	ck_assert(ts_shorts_init(&sh));
	for (unsigned i = 1; i < 4 && i * TS_SKETCH_GROUP < TS_SEGMENT_CHUNKS - 1; i++)
		leave(g, &sh, i * TS_SKETCH_GROUP, notes[i]);
	leave(g, &sh, TS_SEGMENT_CHUNKS - 1, "efgh");
	ck_assert(ts_grams_seal(g, 100, &s) && ts_shorts_seal(&sh, &s));
	ts_shorts_fini(&sh);
	ck_assert_uint_eq(ts_probe_next(p, &s, 0, 0), TS_SEGMENT_CHUNKS - 1); /* h: "efgh" alone has it */
	s.wild = wild;
	s.n_wild = 1;
	ck_assert_uint_eq(ts_probe_next(p, &s, 0, 0), TS_SEGMENT_CHUNKS - 1 < 3 ? TS_SEGMENT_CHUNKS - 1 : 3);
	s.wild = NULL;
	ts_sketch_fini(&s);
	ts_probe_free(p);
	ts_grams_free(g);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ changes */

#define BASE     UINT64_C(0x10d0) /* over the border of two blocks */
#define LEN      96u
#define N_CALM   800u
#define MAX_LEN  9u

static struct script_random rnd;

/* Memory at each position, as queries have it. */
static uint8_t memory[N_CALM + 1][LEN], known[N_CALM + 1][LEN];

static uint8_t some_byte(void)
{
	return (uint8_t)script_below(&rnd, script_chance(&rnd, 30) ? 2 : 256);
}

/* Mostly writes; few steps after which the recording does not tell what memory holds. */
static void add_effect(struct script *s, uint8_t *is)
{
	unsigned len = 1 + (unsigned)script_below(&rnd, 9), off = (unsigned)script_below(&rnd, LEN - len);
	unsigned kind = (unsigned)script_below(&rnd, 100);

	if (kind < 2) {
		ts_steps_effect(&s->steps, TS_FX_FORGET, BASE + off, len);
	} else if (kind < 4) {
		ts_steps_effect(&s->steps, TS_FX_UNMAP, BASE + off, len);
	} else if (kind < 6) {
		ts_steps_map(&s->steps, BASE + off, len, NULL, 0, NULL, 0)->fill = TS_FILL_ZERO;
		memset(is + off, 0, script_chance(&rnd, 80) ? len : 0);
	} else if (kind < 10) {
		ts_steps_effect(&s->steps, TS_FX_WRITE, BASE + off, len);
	} else {
		for (unsigned i = off; i < off + len && (kind < 60 || kind > 94); i++)
			is[i] = some_byte();
		ts_steps_value(&s->steps, kind < 60 ? TS_FX_WRITE : TS_FX_READ, BASE + off, is + off, len);
	}
}

static struct script *calm_script(void)
{
	struct script *s = script_new("x86_64", 1, NULL);
	uint8_t is[LEN];

	for (unsigned i = 0; i < LEN; i++)
		is[i] = some_byte();
	for (unsigned k = 0; k < N_CALM; k++) {
		for (unsigned n = (unsigned)script_below(&rnd, 3); n; n--)
			add_effect(s, is);
		ts_steps_close(&s->steps, 0x4000, 1, 0);
	}
	s->end = (struct ts_end){ .pc = 0x4001, .has_pc = true };
	return s;
}

/* Does the value at [at, at + len) begin to stand at @pos? */
static bool begins(unsigned pos, unsigned at, unsigned len)
{
	return !memchr(known[pos] + at, 0, len) &&
	       (memchr(known[pos - 1] + at, 0, len) || memcmp(memory[pos] + at, memory[pos - 1] + at, len));
}

static bool may_begin(const struct ts_query *q, struct ts_probe *p, unsigned step)
{
	uint64_t chunk = step / TS_CHUNK_STEPS;

	return step < N_CALM && ts_query_next_begin(q, p, chunk, chunk + 1) == chunk;
}

/* Returns in how many chunks it may begin. */
static unsigned check_value(const struct ts_query *q, unsigned pos, unsigned at, unsigned len)
{
	static const uint8_t mask[MAX_LEN] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct ts_probe *p = ts_query_probe_new(memory[pos] + at, mask, len);
	unsigned n = 0;

	/* by the step before, or because this one saw it */
	ck_assert_msg(may_begin(q, p, pos - 1) || may_begin(q, p, pos), "%u bytes at %u begin at %u", len, at,
		      pos);
	for (uint64_t chunk = 0; chunk < N_CALM / TS_CHUNK_STEPS; chunk++)
		n += may_begin(q, p, (unsigned)chunk * TS_CHUNK_STEPS);
	ts_query_probe_free(p);
	return n;
}

START_TEST(a_value_that_begins_is_not_passed_over)
{
	struct ts_error err = { 0 };
	uint64_t n_may = 0, n = 0;
	struct ts_timeline *tl;
	struct ts_query *q;
	struct script *s;

	rnd.state = (uint64_t)_i;
	s = calm_script();
	tl = ts_timeline_new(&s->rec, NULL, &err);
	while (tl->builder)
		ck_assert_int_ne(ts_timeline_grow(tl, UINT64_MAX, &err), TS_FAIL);
	q = ts_query_new(tl, &err);
	while (ts_query_need_values(q, UINT64_MAX, &err) == TS_MORE)
		continue;
	for (unsigned pos = 0; pos <= N_CALM; pos++)
		ck_assert(ts_query_mem(q, pos, 0, BASE, LEN, memory[pos], known[pos], &err));
	for (unsigned pos = 1; pos <= N_CALM; pos++) {
		for (unsigned i = 0; i < 60; i++) {
			unsigned len = 1 + (unsigned)script_below(&rnd, MAX_LEN), n_chunks;
			unsigned at = (unsigned)script_below(&rnd, LEN - len);

			if (!begins(pos, at, len))
				continue;
			n_chunks = check_value(q, pos, at, len);
			n_may += len < TS_GRAM_LEN ? 0 : n_chunks;
			n += len >= TS_GRAM_LEN;
		}
	}
	ck_assert_uint_gt(n, 200);
	ck_assert_uint_lt(n_may, n * (N_CALM / TS_CHUNK_STEPS) * 3 / 4); /* and others are */
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

/*
 * Memory is "abc", and what is written after it is told only after the "c" has become another, and then
 * overwritten.
 */
static struct script *told_later(uint64_t loss)
{
	struct script *s = script_new("x86_64", 1, NULL);

	ts_steps_value(&s->steps, TS_FX_WRITE, BASE, (const uint8_t *)"abc", 3);
	ts_steps_effect(&s->steps, TS_FX_WRITE, BASE + 3, loss);
	ts_steps_close(&s->steps, 0x4000, 1, 0);
	ts_steps_value(&s->steps, TS_FX_WRITE, BASE + 2, (const uint8_t *)"x", 1);
	ts_steps_close(&s->steps, 0x4001, 1, 0);
	ts_steps_value(&s->steps, TS_FX_READ, BASE + 3, (const uint8_t *)"d", 1);
	ts_steps_value(&s->steps, TS_FX_READ, BASE + 2 + loss, (const uint8_t *)"e", 1);
	ts_steps_close(&s->steps, 0x4002, 1, 0);
	ts_steps_value(&s->steps, TS_FX_WRITE, BASE + 3, (const uint8_t *)"q", 1);
	ts_steps_close(&s->steps, 0x4003, 1, 0);
	s->end = (struct ts_end){ .pc = 0x4004, .has_pc = true };
	return s;
}

static bool may_begin_in(const struct ts_query *q, const char *text, uint32_t len, uint64_t chunk)
{
	static const uint8_t mask[] = { 1, 1, 1, 1 };
	struct ts_probe *p = ts_query_probe_new((const uint8_t *)text, mask, len);
	bool may = p && ts_query_next_begin(q, p, chunk, chunk + 1) == chunk;

	ts_query_probe_free(p);
	return may;
}

/* The recording is read, and its sketches are made. */
static struct ts_query *sketched(struct script *s, struct ts_timeline **tl)
{
	struct ts_error err = { 0 };
	struct ts_query *q;

	*tl = ts_timeline_new(&s->rec, NULL, &err);
	while ((*tl)->builder)
		ck_assert_int_ne(ts_timeline_grow(*tl, UINT64_MAX, &err), TS_FAIL);
	q = ts_query_new(*tl, &err);
	while (ts_query_need_values(q, UINT64_MAX, &err) == TS_MORE)
		continue;
	return q;
}

START_TEST(what_a_later_read_shows_stood_since_it_was_written)
{
	static const struct {
		uint64_t len;
		bool is_looked_for;
	} losses[] = { { 2, true }, { 300, true }, { 60000, true }, { 70000, false } };
	struct script *s = told_later(losses[_i].len);
	struct ts_timeline *tl;
	struct ts_query *q = sketched(s, &tl);

	ck_assert(may_begin_in(q, "abcd", 4, 0));
	ck_assert(may_begin_in(q, "zzzz", 4, 0) != losses[_i].is_looked_for);
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

/*
 * Memory holds "abcdwxyz", and "ij" @len bytes after the "d".  The second chunk maps zeros between "d" and "ij",
 * or (@is_unmap) unmaps that range, and a later chunk reads "st" at its start.
 */
static struct script *mapped(bool is_unmap, uint64_t len)
{
	struct script *s = script_new("x86_64", 1, NULL);

	ts_steps_value(&s->steps, TS_FX_WRITE, BASE, (const uint8_t *)"abcdwxyz", 8);
	ts_steps_value(&s->steps, TS_FX_WRITE, BASE + 4 + len, (const uint8_t *)"ij", 2);
	ts_steps_close(&s->steps, 0x4000, 1, 0);
	for (unsigned i = 1; i < TS_CHUNK_STEPS; i++)
		ts_steps_close(&s->steps, 0x4000 + i, 1, 0);
	if (is_unmap)
		ts_steps_effect(&s->steps, TS_FX_UNMAP, BASE + 4, len);
	else
		ts_steps_map(&s->steps, BASE + 4, len, NULL, 0, NULL, 0)->fill = TS_FILL_ZERO;
	for (unsigned i = 0; i < 2 * TS_CHUNK_STEPS; i++)
		ts_steps_close(&s->steps, 0x5000 + i, 1, 0);
	if (is_unmap)
		ts_steps_value(&s->steps, TS_FX_READ, BASE + 4, (const uint8_t *)"st", 2);
	ts_steps_close(&s->steps, 0x6000, 1, 0);
	s->end = (struct ts_end){ .pc = 0x4004, .has_pc = true };
	return s;
}

/* Memory that starts afresh holds zeros, or what is seen there later, and nothing else. */
START_TEST(what_is_mapped_is_known)
{
	static const struct {
		bool is_unmap;
		uint64_t len;
		const char *value;
	} starts[] = { { false, 60, "cd\0\0" }, { false, 4, "cd\0\0" }, { false, 200000, "\0\0\0\0" }, { true, 60, "cdst" } };
	struct script *s = mapped(starts[_i].is_unmap, starts[_i].len);
	struct ts_timeline *tl;
	struct ts_query *q = sketched(s, &tl);

	ck_assert(may_begin_in(q, starts[_i].value, 4, 1));
	ck_assert(may_begin_in(q, "\0\0ij", 4, 1) != starts[_i].is_unmap);
	ck_assert(!may_begin_in(q, "wxyz", 4, 1) && !may_begin_in(q, "zzzz", 4, 1));
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

static void close_chunk(struct script *s)
{
	do {
		ts_steps_close(&s->steps, 0x4000, 1, 0);
	} while (s->steps.n_steps % TS_CHUNK_STEPS);
}

/* Memory is "ab", then memory may change unseen, and "x" is written: what a later read shows behind it stood there. */
START_TEST(what_a_later_read_shows_stood_since_it_may_have_changed)
{
	struct script *s = script_new("x86_64", 1, NULL);
	struct ts_timeline *tl;
	struct ts_query *q;

	ts_steps_value(&s->steps, TS_FX_WRITE, BASE, (const uint8_t *)"ab", 2);
	close_chunk(s);
	ts_steps_effect(&s->steps, TS_FX_UNSEEN, 0, 0);
	close_chunk(s);
	ts_steps_value(&s->steps, TS_FX_WRITE, BASE + 1, (const uint8_t *)"x", 1);
	close_chunk(s);
	ts_steps_value(&s->steps, TS_FX_READ, BASE + 2, (const uint8_t *)"cd", 2);
	close_chunk(s);
	s->end = (struct ts_end){ .pc = 0x4001, .has_pc = true };
	q = sketched(s, &tl);
	ck_assert(may_begin_in(q, "axcd", 4, 2));
	ck_assert(!may_begin_in(q, "axcd", 4, 3) && !may_begin_in(q, "axce", 4, 2));
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

/*
 * Memory is "ab".  A step maps zeros behind that, or (@is_unmap) unmaps what is there, and then reads @seen
 * there; the next chunk reads "uv".
 */
static struct script *read_after_clearing(bool is_unmap, const char *seen)
{
	struct script *s = script_new("x86_64", 1, NULL);

	ts_steps_value(&s->steps, TS_FX_WRITE, BASE, (const uint8_t *)"ab", 2);
	ts_steps_close(&s->steps, 0x4000, 1, 0);
	if (is_unmap)
		ts_steps_effect(&s->steps, TS_FX_UNMAP, BASE + 2, 2);
	else
		ts_steps_map(&s->steps, BASE + 2, 2, NULL, 0, NULL, 0)->fill = TS_FILL_ZERO;
	ts_steps_value(&s->steps, TS_FX_READ, BASE + 2, (const uint8_t *)seen, 2);
	for (unsigned i = 1; i < TS_CHUNK_STEPS; i++)
		ts_steps_close(&s->steps, 0x4000 + i, 1, 0);
	ts_steps_value(&s->steps, TS_FX_READ, BASE + 2, (const uint8_t *)"uv", 2);
	ts_steps_close(&s->steps, 0x5000, 1, 0);
	s->end = (struct ts_end){ .pc = 0x5001, .has_pc = true };
	return s;
}

START_TEST(what_is_read_in_the_step_that_maps_it_is_known)
{
	static const struct {
		bool is_unmap;
		const char *seen, *value;
	} reads[] = { { true, "st", "abst" }, { false, "\0\0", "ab\0\0" } };
	struct script *s = read_after_clearing(reads[_i].is_unmap, reads[_i].seen);
	uint8_t data[4], is_known[4];
	struct ts_error err = { 0 };
	struct ts_timeline *tl;
	struct ts_query *q = sketched(s, &tl);

	ck_assert(ts_query_mem(q, 2, 0, BASE, 4, data, is_known, &err));
	ck_assert_mem_eq(data, reads[_i].value, 4);
	ck_assert(may_begin_in(q, reads[_i].value, 4, 0) && may_begin_in(q, "abuv", 4, 1));
	ck_assert(!may_begin_in(q, "abuv", 4, 0) && !may_begin_in(q, "zzzz", 4, 0));
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

/* ------------------------------------------------------------------------------------- the section's file */

struct opened {
	struct script *s;
	struct ts_image image;
	struct ts_timeline *tl;
	struct ts_query *q;
};

/* A recording with its index file; @file (may be NULL) lies beneath it. */
static void open_all(struct opened *o, const char *file)
{
	uint64_t base = UINT64_C(0x40000000);
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	o->s = script_random_new(3, N_STEPS);
	ts_image_init(&o->image);
	ck_assert(!file || ts_image_add_file(&o->image, file, &base, &err));
	o->tl = ts_timeline_new(&o->s->rec, &o->image, &err);
	f = ts_index_open(PATH, &the_key, &err);
	if (!f)
		f = ts_index_create(PATH, &the_key, &err);
	ck_assert_msg(f && ts_timeline_use_file(o->tl, f, &err), "%s", err.text);
	while (o->tl->builder)
		ck_assert_int_ne(ts_timeline_grow(o->tl, UINT64_MAX, &err), TS_FAIL);
	o->q = ts_query_new(o->tl, &err);
	ck_assert_ptr_nonnull(o->q);
}

static void close_all(struct opened *o)
{
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	ts_image_fini(&o->image);
	script_free(o->s);
}

static void build(struct opened *o)
{
	struct ts_error err = { 0 };
	enum ts_next need;

	do {
		need = ts_query_need_values(o->q, TS_CHUNK_STEPS, &err);
	} while (need == TS_MORE);
	ck_assert_msg(need == TS_END, "%s", err.text);
	ck_assert(ts_query_has_values(o->q));
}

static size_t read_file(const char *path, uint8_t *bytes, size_t max)
{
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(bytes, 1, max, f) : 0;

	if (f)
		fclose(f);
	return n;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

START_TEST(sketches_are_not_built_with_the_index_and_kept_when_they_are)
{
	static uint8_t first[1 << 20], again[1 << 20];
	size_t n_first, n_again;
	struct opened o;

	remove(PATH);
	remove(SIBLING);
	open_all(&o, NULL);
	ck_assert(!ts_query_has_values(o.q));
	ck_assert_uint_eq(read_file(SIBLING, first, sizeof(first)), 0);
	build(&o);
	close_all(&o);
	n_first = read_file(SIBLING, first, sizeof(first));
	ck_assert_uint_gt(n_first, 0);

	open_all(&o, NULL);
	ck_assert(ts_query_has_values(o.q));
	close_all(&o);

	remove(SIBLING);
	open_all(&o, NULL);
	build(&o);
	close_all(&o);
	n_again = read_file(SIBLING, again, sizeof(again));
	ck_assert_uint_eq(n_first, n_again);
	ck_assert_mem_eq(first, again, n_first);
}
END_TEST

START_TEST(sketches_of_other_files_beneath_the_recording_are_made_anew)
{
	struct opened o;

	remove(PATH);
	remove(SIBLING);
	write_file("file", "what lies there");
	open_all(&o, "file");
	build(&o);
	close_all(&o);
	open_all(&o, "file");
	ck_assert(ts_query_has_values(o.q));
	close_all(&o);
	write_file("file", "what lay there ");
	for (unsigned i = 0; i < 2; i++) {
		open_all(&o, "file");
		ck_assert(ts_query_has_values(o.q) == i); /* made the first time, and kept */
		build(&o);
		close_all(&o);
	}
	open_all(&o, NULL);
	ck_assert(!ts_query_has_values(o.q));
	close_all(&o);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *suite = suite_create("sketch");
	TCase *c = tcase_create("sketch");

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, a_window_is_found_in_the_group_that_noted_it, 0,
			    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(c, a_window_is_found_in_no_group_between_those_that_noted_it);
	tcase_add_test(c, windows_with_like_hashes_take_no_longer);
	tcase_add_test(c, a_value_needs_one_byte_that_counts);
	tcase_add_test(c, short_values_are_found_in_the_chunks_that_left_them);
	tcase_add_test(c, all_windows_of_one_byte_are_needed_in_a_group);
	tcase_add_loop_test(c, a_value_that_begins_is_not_passed_over, 1, 61);
	tcase_add_loop_test(c, what_a_later_read_shows_stood_since_it_was_written, 0, 4);
	tcase_add_loop_test(c, what_is_mapped_is_known, 0, 4);
	tcase_add_test(c, what_a_later_read_shows_stood_since_it_may_have_changed);
	tcase_add_loop_test(c, what_is_read_in_the_step_that_maps_it_is_known, 0, 2);
	tcase_add_test(c, sketches_are_not_built_with_the_index_and_kept_when_they_are);
	tcase_add_test(c, sketches_of_other_files_beneath_the_recording_are_made_anew);
	suite_add_tcase(suite, c);
	return suite;
}
