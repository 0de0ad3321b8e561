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
#include "src/source/source.h"

#define N_STEPS 5000
#define INDEX "here.tsindex"

/* Traces that are at least so long are read on a thread of their own. */
static uint8_t bytes[64 << 20]; /* the length from which on a trace is shared among threads */

static struct ts_source *src;
static struct ts_model *m;
static struct ts_error err;
static struct script *newest; /* what load() made last; the model closes it */
static unsigned n_loads;
static bool is_compared;
static enum ts_next ending;

static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *load_err)
{
	(void)user;
	(void)like;
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
		.is_compared = is_compared,
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
	remove(INDEX ".part");
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

/* A trace of more than is compared at once, and a place in it that no sample has. */
#define LONG_LEN  (512u << 10)
#define UNSAMPLED 100000u

static void keep_index_of_long_trace(void)
{
	ts_source_close(src);
	open_source(LONG_LEN);
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert(ts_model_index(m).is_finished);
	ts_model_free(m);
}

START_TEST(an_index_of_a_trace_that_has_changed_anywhere_is_rebuilt)
{
	keep_index_of_long_trace();
	bytes[UNSAMPLED] ^= 1;
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert_uint_eq(newest->n_reads, N_STEPS);
	ts_model_free(m);
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert_uint_eq(newest->n_reads, 0);
	bytes[UNSAMPLED] ^= 1;
}
END_TEST

/* A server serves at once; until the trace is compared nothing counts as complete. */
START_TEST(a_server_compares_the_trace_beside_its_first_questions)
{
	keep_index_of_long_trace();
	make(INDEX, true);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(ts_model_grow(m, 1, &err), TS_END);
	ck_assert(ts_query_is_complete(ts_model_query(m)));
	ck_assert_uint_eq(newest->n_reads, 0);
	must(ts_query_finish_question(ts_model_query(m), &err));
	ts_model_free(m);
	bytes[UNSAMPLED] ^= 1;
	make(INDEX, true);
	must(ts_model_open(m, src, &err));
	ck_assert(access(INDEX, F_OK) == 0);
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert(!ts_query_finish_question(ts_model_query(m), &err));
	ck_assert_ptr_nonnull(strstr(err.text, "the trace has changed"));
	ck_assert(access(INDEX, F_OK) != 0);
	bytes[UNSAMPLED] ^= 1;
}
END_TEST

/* The same bytes; it counts those that are read of it and of the sources beside it. */
static uint64_t n_read;

static bool read_counted(const struct ts_source *s, uint64_t off, uint8_t *data, size_t len, size_t *got, struct ts_error *e)
{
	(void)s;
	(void)e;
	memcpy(data, bytes + off, len);
	n_read += len;
	*got = len;
	return true;
}

static struct ts_source *open_counted(const struct ts_source *like, struct ts_error *e);

static void close_counted(struct ts_source *s)
{
	(void)s;
}

static struct ts_source *open_counted(const struct ts_source *like, struct ts_error *e)
{
	static const struct ts_source_ops ops = { .read = read_counted, .dup = open_counted, .close = close_counted };
	struct ts_source *s = calloc(1, sizeof(*s));

	ck_assert(s && ts_source_init(s, &ops, like ? like->len : LONG_LEN, "made up", e));
	return s;
}

/* Read as a loader does, from front to back, what is not in [hole, hole_end); grow meanwhile. */
static void read_source(size_t hole, size_t hole_end)
{
	static uint8_t piece[150000]; /* few: the model has few chunks */

	must(ts_source_read_all(src, LONG_LEN - 8, piece, 8, &err)); /* what is at the end was looked up */
	for (size_t off = 300, len; off < LONG_LEN; off += len) {
		len = LONG_LEN - off < sizeof(piece) ? LONG_LEN - off : sizeof(piece);
		if (off + len <= hole || off >= hole_end)
			must(ts_source_read_all(src, off, piece, len, &err));
		ck_assert_int_eq(ts_model_grow(m, 1, &err), TS_ITEM);
	}
}

START_TEST(what_a_loader_reads_of_a_trace_is_not_read_again_for_its_hash)
{
	static const struct {
		size_t hole, hole_end;
		uint64_t max; /* bytes that are read */
	} cases[] = {
		{ LONG_LEN, LONG_LEN, LONG_LEN + 1000 },
		{ 200000, 210000, 2 * LONG_LEN }, /* what comes after it is read again */
		{ 0, LONG_LEN, LONG_LEN + 1000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ts_source_close(src);
		src = open_counted(NULL, &err);
		make(INDEX, false);
		must(ts_model_open(m, src, &err));
		n_read = 0;
		read_source(cases[i].hole, cases[i].hole_end);
		ck_assert_int_eq(read_all(), TS_END);
		ck_assert_uint_ge(n_read, LONG_LEN);
		ck_assert_uint_le(n_read, cases[i].max);
		ts_model_free(m);
		make(INDEX, false); /* the hash is that of the bytes */
		must(ts_model_open(m, src, &err));
		ck_assert_int_eq(read_all(), TS_END);
		ck_assert_uint_eq(newest->n_reads, 0);
		ts_model_free(m);
		remove(INDEX);
	}
	make(INDEX, false); /* for teardown() */
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
	ck_assert(f && !fseek(f, 5000, SEEK_SET) && fputc(0x5a, f) != EOF);
	/* without its directory the records are opened, else the summary, which is good */
	ck_assert(!fseek(f, -64, SEEK_END) && fputc(0x5a, f) != EOF && !fclose(f));
	make(INDEX, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
	ck_assert_uint_eq(newest->n_reads, N_STEPS);
	ck_assert(ts_model_index(m).is_finished);
}
END_TEST

/* ------------------------------------------------------------------- damage that is found when it is used */

#define N_PLACES 40u

/* A number that depends on each byte. */
static uint64_t mix(uint64_t sum, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static bool add_state(struct ts_query *q, uint64_t pos, uint64_t *sum)
{
	static uint8_t data[2 * 16384];
	uint32_t g_len = ts_query_regset(q)->g_len;

	if (!ts_query_regs(q, pos, 0, data, data + g_len, &err))
		return false;
	*sum = mix(*sum, data, 2 * (size_t)g_len);
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *a = &script_arenas[i];
		size_t len = (size_t)(a->last - a->first) + 1;

		if (!ts_query_mem(q, pos, 0, a->first, len, data, data + len, &err))
			return false;
		*sum = mix(*sum, data, 2 * len);
	}
	return true;
}

/* What the recording answers, as one number.  Returns false if a question is refused. */
static bool add_answers(struct ts_query *q, uint64_t *sum)
{
	struct script *same = script_random_new(7, N_STEPS);
	bool done = true;
	uint64_t found[4];

	*sum = 0;
	for (uint64_t pos = 0; done && pos < N_STEPS; pos += 41) {
		const struct script_arena *a = &script_arenas[pos % SCRIPT_N_ARENAS];
		uint64_t pc = same->steps.steps[pos].pc;

		done = add_state(q, pos, sum);
		found[0] = ts_query_find_execution(q, 0, pc, pc, pos + 1, TS_FORWARDS);
		found[1] = ts_query_find_execution(q, 0, pc, pc, pos, TS_BACKWARDS);
		found[2] =
			ts_query_find_access(q, TS_ACCESS_WRITE, 0, a->first, a->last, pos / TS_CHUNK_STEPS, TS_FORWARDS);
		found[3] =
			ts_query_find_access(q, TS_ACCESS_READ, 0, a->first, a->last, pos / TS_CHUNK_STEPS, TS_BACKWARDS);
		*sum = mix(*sum, (const uint8_t *)found, sizeof(found));
	}
	script_free(same);
	return done && ts_query_finish_question(q, &err);
}

static uint64_t sum_of_answers(struct ts_query *q)
{
	uint64_t sum;

	must(add_answers(q, &sum));
	return sum;
}

/* A model that has read all, or taken it from the index file. */
static void open_model(const char *index)
{
	make(index, false);
	must(ts_model_open(m, src, &err));
	ck_assert_int_eq(read_all(), TS_END);
}

static void close_model(void)
{
	ts_model_free(m);
	m = NULL;
}

/* Change a byte of the index file in place; returns its length. */
static long flip(long off)
{
	FILE *f = fopen(INDEX, "r+b");
	long len;
	int c;

	ck_assert(f && !fseek(f, 0, SEEK_END));
	len = ftell(f);
	ck_assert(!fseek(f, off, SEEK_SET));
	c = fgetc(f);
	ck_assert(c != EOF && !fseek(f, off, SEEK_SET) && fputc(c ^ 1, f) != EOF && !fclose(f));
	return len;
}

/* A sum of the index file's bytes and where they are. */
static uint64_t sum_of_index(void)
{
	FILE *f = fopen(INDEX, "rb");
	uint64_t sum = 0;

	ck_assert_ptr_nonnull(f);
	for (int c; (c = fgetc(f)) != EOF;)
		sum = (sum ^ (unsigned)c) * UINT64_C(0x100000001b3);
	fclose(f);
	return sum;
}

/*
 * Records begin at multiples of 4096; about where the blocks end that are needed to open the file, and before
 * most tables.
 */
static long place(unsigned i, long len)
{
	return 4096 * (1 + i * 7 % (len / 4096 - 1)) + 900 + i * 40 % 1100;
}

/*
 * Opens a finished index file in which one byte was changed.
 */
static void open_damaged(long off)
{
	remove(INDEX);
	is_compared = off % 32 < 16; /* what made the file had other sections than what asks has */
	open_model(INDEX);
	close_model();
	is_compared = false;
	flip(off);
	open_model(INDEX);
}

/* Asks a damaged index.  Returns true if the question was refused, or false if the answer is right. */
static bool is_refused(uint64_t right)
{
	uint64_t sum;

	if (add_answers(ts_model_query(m), &sum)) {
		ck_assert(sum == right);
		return false;
	}
	ck_assert_ptr_nonnull(strstr(err.text, "index file is damaged: it was removed"));
	ck_assert_int_ne(access(INDEX, F_OK), 0);
	ts_error_reset(&err);
	return true;
}

START_TEST(a_question_to_a_damaged_index_is_refused_and_the_next_start_rebuilds_it)
{
	unsigned n_refused = 0;
	uint64_t right;
	long len;

	open_model("none");
	right = sum_of_answers(ts_model_query(m));
	close_model();
	open_model(INDEX);
	close_model();
	len = flip(0);
	for (unsigned i = 0; i < N_PLACES; i++) {
		open_damaged(place(i, len));
		n_refused += is_refused(right);
		close_model();
		open_model(INDEX);
		ck_assert(ts_model_index(m).is_finished);
		ck_assert(sum_of_answers(ts_model_query(m)) == right);
		close_model();
	}
	ck_assert_uint_gt(n_refused, 0); /* with such short segments most blocks are needed to open the file */
}
END_TEST

/* Another version of zstd: what it packs has other bytes, which every version unpacks to the same. */
static bool is_other_zstd;

size_t __real_ZSTD_compressCCtx(void *zstd, void *out, size_t out_len, const void *in, size_t in_len, int level);
size_t __wrap_ZSTD_compressCCtx(void *zstd, void *out, size_t out_len, const void *in, size_t in_len, int level);

size_t __wrap_ZSTD_compressCCtx(void *zstd, void *out, size_t out_len, const void *in, size_t in_len, int level)
{
	return __real_ZSTD_compressCCtx(zstd, out, out_len, in, in_len, is_other_zstd ? 19 : level);
}

/* The finished index as another version of zstd makes it; returns the sum of its bytes. */
static uint64_t make_other_index(void)
{
	remove(INDEX);
	is_other_zstd = true;
	open_model(INDEX);
	close_model();
	is_other_zstd = false;
	return sum_of_index();
}

/* A copy of the index file that a test makes only once: to pack it takes half a second. */
static uint8_t *copy_of_index(size_t *len)
{
	FILE *f = fopen(INDEX, "rb");
	uint8_t *copy;

	ck_assert(f && !fseek(f, 0, SEEK_END));
	*len = (size_t)ftell(f);
	copy = malloc(*len);
	rewind(f);
	ck_assert(copy && fread(copy, 1, *len, f) == *len);
	fclose(f);
	return copy;
}

static void put_index(const uint8_t *copy, size_t len)
{
	FILE *f = fopen(INDEX, "wb");

	ck_assert(f && fwrite(copy, 1, len, f) == len && !fclose(f));
}

/* It is used as it is.  If a part of it is damaged, the question is refused and the next start rebuilds the index. */
START_TEST(an_index_that_another_version_of_zstd_packed_is_used_and_rebuilt_if_it_is_damaged)
{
	unsigned n_refused = 0;
	uint64_t right, own;
	uint8_t *other;
	size_t len;

	open_model(INDEX);
	right = sum_of_answers(ts_model_query(m));
	close_model();
	own = sum_of_index();
	ck_assert(make_other_index() != own);
	other = copy_of_index(&len);
	open_model(INDEX);
	ck_assert_uint_eq(newest->n_reads, 0);
	ck_assert(sum_of_answers(ts_model_query(m)) == right);
	close_model();
	for (unsigned i = 0; i < N_PLACES; i++) {
		put_index(other, len);
		flip(place(i, (long)len));
		open_model(INDEX);
		n_refused += is_refused(right);
		close_model();
		open_model(INDEX);
		ck_assert(ts_model_index(m).is_finished);
		ck_assert(sum_of_answers(ts_model_query(m)) == right);
		close_model();
	}
	ck_assert_uint_gt(n_refused, 0);
	free(other);
}
END_TEST

START_TEST(a_long_served_trace_is_read_on_a_thread_of_its_own)
{
	ts_source_close(src);
	open_source(sizeof(bytes) - 1);
	make("none", true);
	must(ts_model_open(m, src, &err));
	ck_assert_uint_eq(n_loads, 1);
	ts_model_free(m);
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
		   an_index_of_a_trace_that_has_changed_anywhere_is_rebuilt,
		   a_server_compares_the_trace_beside_its_first_questions,
		   what_a_loader_reads_of_a_trace_is_not_read_again_for_its_hash,
		   a_question_to_a_damaged_index_is_refused_and_the_next_start_rebuilds_it,
		   an_index_that_another_version_of_zstd_packed_is_used_and_rebuilt_if_it_is_damaged,
		   a_long_served_trace_is_read_on_a_thread_of_its_own,
		   what_a_loader_says_is_the_error_and_damage_names_the_format,
		   how_far_reading_is_is_told_by_the_bytes_of_the_trace)
