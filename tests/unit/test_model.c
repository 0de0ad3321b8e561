/* SPDX-License-Identifier: MIT */
/*
 * A model: opened with plain options over a made-up recording, read, asked, its index file kept and used.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "script.h"
#include "src/model/model.h"
#include "src/query/query.h"
#include "src/trace/source.h"

#define N_STEPS 5000
#define INDEX "here.tsindex"

/* Traces that are at least so long are read on a thread of their own. */
static uint8_t bytes[2 << 20];

static struct ts_source *src;
static struct ts_model *m;
static struct ts_error err;
static struct script *newest; /* what load() made last; the model closes it */
static unsigned n_loads;
static enum ts_next ending;

static struct ts_recording *load(void *user, struct ts_error *load_err)
{
	(void)user;
	n_loads++;
	ck_assert(ts_source_read_all(src, ts_source_len(src) - 1, bytes, 1, load_err));
	if (ending == TS_ITEM) {
		ts_fail(load_err, TS_ECORRUPT, 16, "not a trace");
		return NULL;
	}
	newest = script_random_new(7, N_STEPS);
	newest->ending = ending;
	newest->damage = TS_ECORRUPT;
	return &newest->rec;
}

static void open_source(size_t len)
{
	ts_error_reset(&err);
	src = ts_source_from_memory(bytes, len, "made up", &err);
	ck_assert_ptr_nonnull(src);
}

static void make(const char *index, bool is_served)
{
	const struct ts_model_options opt = {
		.trace = "made-up",
		.load = load,
		.index = { .path = index },
		.max_memory = UINT64_MAX,
		.is_served = is_served,
	};

	n_loads = 0;
	m = ts_model_new(&opt, &err);
	ck_assert_ptr_nonnull(m);
}

static void setup(void)
{
	char dir[4096];

	ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
	setenv("XDG_CACHE_HOME", dir, 1);
	ending = TS_END;
	open_source(4096);
}

static void teardown(void)
{
	ts_model_free(m);
	ts_source_close(src);
	remove(INDEX);
}

static void must(bool done)
{
	ck_assert_msg(done, "%s", err.text);
}

static enum ts_next read_all(void)
{
	enum ts_next next;

	do
		next = ts_model_grow(m, 1000, &err);
	while (next == TS_ITEM);
	return next;
}

START_TEST(a_model_is_asked_while_it_is_read)
{
	uint64_t end = 0;

	make("none", false);
	must(ts_model_open(m, src, &err));
	ck_assert_ptr_null(ts_model_query(m));
	while (ts_model_grow(m, TS_CHUNK_STEPS, &err) == TS_ITEM) {
		const struct ts_query *q = ts_model_query(m);

		if (!q || ts_query_is_complete(q))
			continue;
		ck_assert_uint_le(end, ts_query_end(q));
		end = ts_query_end(q);
		ck_assert_uint_lt(end, ts_model_n_read(m));
		ck_assert_uint_lt(ts_query_permille(q), 1000);
	}
	must(err.code == TS_OK);
	ck_assert_uint_gt(end, 0);
	ck_assert(ts_query_is_complete(ts_model_query(m)));
	ck_assert_uint_eq(ts_query_end(ts_model_query(m)), N_STEPS);
	ck_assert_uint_eq(ts_query_permille(ts_model_query(m)), 1000);
	ck_assert_ptr_null(ts_model_index(m).path);
}
END_TEST

START_TEST(an_index_file_is_kept_and_spares_the_next_one_the_reading)
{
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert(ts_model_index(m).is_finished && !ts_model_index(m).error);
	ck_assert_uint_eq(newest->n_reads, N_STEPS);
	ts_model_free(m);
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert_uint_eq(newest->n_reads, 0);
	ck_assert_uint_eq(ts_query_end(ts_model_query(m)), N_STEPS);
}
END_TEST

START_TEST(a_damaged_index_file_is_rebuilt)
{
	FILE *f;

	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ts_model_free(m);
	f = fopen(INDEX, "r+b");
	ck_assert(f && !fseek(f, 5000, SEEK_SET) && fputc(0x5a, f) != EOF && !fclose(f));
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert_uint_eq(newest->n_reads, N_STEPS);
	ck_assert(ts_model_index(m).is_finished);
}
END_TEST

START_TEST(a_served_trace_is_read_on_a_thread_of_its_own)
{
	ts_source_close(src);
	open_source(sizeof(bytes));
	make("none", true);
	must(ts_model_open(m, src, &err));
	ck_assert_uint_eq(n_loads, 2);
	while (!ts_model_query(m))
		ck_assert_int_ne(ts_model_grow(m, 1, &err), TS_FAIL);
	ck_assert_uint_eq(ts_query_permille(ts_model_query(m)), 0);
	while (ts_model_grow_for(m, 1000) == TS_ITEM)
		continue;
	ck_assert_uint_eq(ts_query_end(ts_model_query(m)), N_STEPS);
}
END_TEST

START_TEST(what_a_loader_says_is_the_error_and_damage_names_the_format)
{
	struct ts_ending end;

	ending = TS_ITEM;
	make("none", false);
	ck_assert(!ts_model_open(m, src, &err));
	ck_assert_str_eq(err.text, "not a trace");
	ts_model_free(m);
	ts_error_reset(&err);
	ending = TS_FAIL;
	make("none", false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert(ts_query_ending(ts_model_query(m), &end));
	ck_assert_str_eq(end.damage.text, "script: the script is damaged after 5000 steps");
	ck_assert_int_eq(ts_model_grow(m, 1, &err), TS_END);
	ck_assert(ts_query_ending(ts_model_query(m), &end));
	ck_assert_str_eq(end.damage.text, "script: the script is damaged after 5000 steps");
}
END_TEST

START_TEST(how_far_reading_is_is_told_by_the_bytes_of_the_trace)
{
	uint8_t some[1024];

	make("none", false);
	must(ts_model_open(m, src, &err));
	while (!ts_model_query(m))
		ck_assert_int_eq(ts_model_grow(m, 1, &err), TS_ITEM);
	ck_assert_uint_eq(ts_query_permille(ts_model_query(m)), 0);
	must(ts_source_read_all(src, 0, some, sizeof(some), &err));
	ck_assert_uint_eq(ts_query_permille(ts_model_query(m)), 250);
	must(ts_source_read_all(src, 3072, some, sizeof(some), &err));
	ck_assert_uint_eq(ts_query_permille(ts_model_query(m)), 999);
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert_uint_eq(ts_query_permille(ts_model_query(m)), 1000);
}
END_TEST

UNIT_FIXTURE_SUITE("model", setup, teardown, a_model_is_asked_while_it_is_read,
		   an_index_file_is_kept_and_spares_the_next_one_the_reading, a_damaged_index_file_is_rebuilt,
		   a_served_trace_is_read_on_a_thread_of_its_own,
		   what_a_loader_says_is_the_error_and_damage_names_the_format,
		   how_far_reading_is_is_told_by_the_bytes_of_the_trace)
