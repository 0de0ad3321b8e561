/* SPDX-License-Identifier: MIT */
/*
 * Index files: whatever becomes of one, the answers are those of an index in memory, or it is refused with a
 * reason.
 *
 * Built with tiny chunks and segments, so that a short recording makes many records.
 */
#include "unit.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "full_disk.h"
#include "script.h"
#include "src/index/index_write.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH "trace.tsindex"
#define PART PATH ".part"
#define N_STEPS 700
#define N_PLACES 200

static const struct ts_index_key the_key = { 10, 20, 30, 40, 50, { .id = 60 } };

/* One recording, opened. */
struct opened {
	struct script *s;
	struct ts_timeline *tl;
	struct ts_query *q;
};

static void open_script(struct opened *o, uint64_t seed)
{
	struct ts_error err = { 0 };

	*o = (struct opened){ .s = script_random_new(seed, N_STEPS) };
	o->tl = ts_timeline_new(&o->s->rec, NULL, &err);
	ck_assert_ptr_nonnull(o->tl);
}

static void finish(struct opened *o)
{
	struct ts_error err = { 0 };

	ck_assert_int_eq(ts_timeline_grow(o->tl, UINT64_MAX, &err), TS_GROW_DONE);
	o->q = ts_query_new(o->tl, &err);
	ck_assert_ptr_nonnull(o->q);
}

static void close_script(struct opened *o)
{
	ts_query_free(o->q);
	ts_timeline_free(o->tl);
	script_free(o->s);
}

/* Go on with what there is at PART, or start. */
static void build(struct opened *o, uint64_t seed)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	open_script(o, seed);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	ck_assert_msg(ts_timeline_use_file(o->tl, f, &err), "%s", err.text);
	finish(o);
	ck_assert_msg(o->tl->file_error.code == TS_OK, "%s", o->tl->file_error.text);
}

static void build_and_close(uint64_t seed)
{
	struct opened o;

	remove(PATH);
	remove(PART);
	build(&o, seed);
	close_script(&o);
}

/* --------------------------------------------------------------------------------------- the same answers */

static void compare_state(const struct opened *a, const struct opened *b, uint64_t pos)
{
	static uint8_t bytes[2][4 * 4096];
	uint32_t g_len = a->s->rec.regs.g_len;
	struct ts_error err = { 0 };

	for (uint32_t t = 0; t < a->s->rec.n_threads; t++) {
		ck_assert(ts_query_regs(a->q, pos, t, bytes[0], bytes[0] + g_len, &err));
		ck_assert(ts_query_regs(b->q, pos, t, bytes[1], bytes[1] + g_len, &err));
		ck_assert_mem_eq(bytes[0], bytes[1], 2 * g_len);
	}
	for (unsigned i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *m = &script_arenas[i];
		size_t len = (size_t)(m->last - m->first) + 1;

		for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++) {
			ck_assert(ts_query_mem(a->q, pos, p, m->first, len, bytes[0], bytes[0] + len, &err));
			ck_assert(ts_query_mem(b->q, pos, p, m->first, len, bytes[1], bytes[1] + len, &err));
			ck_assert_mem_eq(bytes[0], bytes[1], 2 * len);
		}
	}
}

static void compare_worlds(const struct opened *a, const struct opened *b, uint64_t pos, uint64_t pc)
{
	const struct ts_world *v = &a->tl->world, *w = &b->tl->world;

	ck_assert_uint_eq(ts_query_thread(a->q, pos), ts_query_thread(b->q, pos));
	for (uint32_t t = 0; t < a->s->rec.n_threads; t++) {
		ck_assert(ts_query_is_alive(a->q, t, pos) == ts_query_is_alive(b->q, t, pos));
		ck_assert_uint_eq(ts_world_next_step(v, t, pos, N_STEPS), ts_world_next_step(w, t, pos, N_STEPS));
		ck_assert_uint_eq(ts_world_prev_step(v, t, pos, N_STEPS), ts_world_prev_step(w, t, pos, N_STEPS));
		ck_assert_uint_eq(ts_world_n_steps(v, t, pos), ts_world_n_steps(w, t, pos));
	}
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		const struct ts_happening *x = ts_world_next_event(v, kind, pos),
					  *y = ts_world_next_event(w, kind, pos);

		ck_assert_int_eq(!x, !y);
		ck_assert(!x || (x->step == y->step && x->event.number == y->event.number));
	}
	for (uint32_t p = 0; p < SCRIPT_MAX_PROCESSES; p++) {
		const struct ts_region *none[1];

		ck_assert_uint_eq(ts_world_regions(v, p, pos, none, 0), ts_world_regions(w, p, pos, none, 0));
		ck_assert_uint_eq(ts_runs_next(&a->tl->runs, p, pc, pc, pos),
				  ts_runs_next(&b->tl->runs, p, pc, pc, pos));
		ck_assert_uint_eq(ts_runs_prev(&a->tl->runs, p, pc, pc, pos),
				  ts_runs_prev(&b->tl->runs, p, pc, pc, pos));
	}
}

/* Two timelines over one recording agree about what is asked at @n random positions. */
static void compare(const struct opened *a, const struct opened *b, unsigned n)
{
	struct ts_timeline_stats x, y;
	struct script_random r = { n };

	ck_assert_uint_eq(a->tl->n_steps, b->tl->n_steps);
	ck_assert_uint_eq(a->tl->end_pc, b->tl->end_pc);
	ck_assert(a->tl->is_end_assumed == b->tl->is_end_assumed);
	ck_assert_uint_eq(a->s->rec.n_threads, b->s->rec.n_threads);
	ts_timeline_stats(a->tl, &x);
	ts_timeline_stats(b->tl, &y);
	ck_assert_uint_eq(x.n_inferred, y.n_inferred);
	ck_assert_uint_eq(x.n_unexplained, y.n_unexplained);
	for (unsigned i = 0; i < n; i++) {
		uint64_t pc = a->s->steps.steps[script_below(&r, N_STEPS)].pc;

		compare_state(a, b, script_below(&r, N_STEPS + 1));
		compare_worlds(a, b, script_below(&r, N_STEPS + 1), pc);
	}
}

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

static uint64_t file_len(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static uint8_t flip(uint64_t off, uint8_t bits)
{
	int fd = open(PATH, O_RDWR);
	uint8_t byte;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)off), 1);
	byte ^= bits;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)off), 1);
	close(fd);
	return byte;
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

		to[0] = ts_query_next_execution(o->q, 0, pc, pc, pos);
		to[1] = ts_query_prev_execution(o->q, 0, pc, pc, pos);
		to[2] = ts_query_next_access(o->q, TS_ACCESS_WRITE, 0, m->first, m->last,
					     pos / TS_CHUNK_STEPS);
		to[3] = ts_query_prev_access(o->q, TS_ACCESS_READ, 0, m->first, m->last,
					     pos / TS_CHUNK_STEPS);
	}
	if (ts_query_is_sound(b->q, &err))
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
	if (ts_query_is_sound(b->q, &err))
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
		{ { 11, 20, 30, 40, 50, { .id = 60 } }, "the trace is not the one" },
		{ { 10, 21, 30, 40, 50, { .id = 60 } }, "the trace is not the one" },
		{ { 10, 20, 31, 40, 50, { .id = 60 } }, "the trace is not the one" },
		{ { 10, 20, 30, 41, 50, { .id = 60 } }, "made with other options" },
		{ { 10, 20, 30, 40, 51, { .id = 60 } }, "made by another version" },
		{ { 10, 20, 30, 40, 50, { .id = 61 } }, "made by another user or machine" },
		/* one that claims to be of this user */
		{ { 10, 20, 30, 40, 50, { .id = 60, .mac_key = { 1 } } }, "damaged" },
	};
	struct ts_error why;
	FILE *f;

	build_and_close(7);
	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ts_error_reset(&why);
		ck_assert_ptr_null(ts_index_open(PATH, &others[i].key, &why));
		ck_assert_ptr_nonnull(strstr(why.text, others[i].text));
		ck_assert_int_eq(ts_index_has_other_meaning(PATH, &others[i].key), i == 3);
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
	uint8_t header[88];
	uint64_t hash;
	FILE *f;

	build_and_close(7);
	f = fopen(PATH, "r+b");
	ck_assert(f && fread(header, 1, sizeof(header), f) == sizeof(header));
	header[20]++;
	hash = XXH3_64bits(header, 80);
	memcpy(header + 80, &hash, sizeof(hash));
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

/* ---------------------------------------------------------------------------------------- killed builders */

/*
 * Without ck_assert(), which writes to a file of its own: that would be the death of a child whose files have
 * a limit.
 */
static int build_quietly(uint64_t seed)
{
	struct ts_error err = { 0 };
	struct script *s = script_random_new(seed, N_STEPS);
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	struct ts_index_file *f = ts_index_create(PATH, &the_key, &err);

	return tl && f && ts_timeline_use_file(tl, f, &err) &&
			       ts_timeline_grow(tl, UINT64_MAX, &err) == TS_GROW_DONE
		       ? 0
		       : 1;
}

/* A child that builds and dies when it writes beyond @len bytes of the file. */
static void build_and_die(uint64_t seed, uint64_t len)
{
	struct rlimit limit = { len, len };
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(build_quietly(seed));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGXFSZ);
}

START_TEST(a_builder_that_is_killed_anywhere_leaves_a_good_beginning_or_nothing)
{
	uint64_t len, n_resumed = 0;
	struct opened a;

	build_and_close(8);
	len = file_len(PATH);
	open_script(&a, 8);
	finish(&a);
	for (unsigned i = 0; i < N_PLACES; i++) {
		struct opened b;

		remove(PATH);
		remove(PART);
		build_and_die(8, len * i / N_PLACES);
		ck_assert_uint_eq(file_len(PATH), 0);
		build(&b, 8);
		n_resumed += b.s->n_reads < N_STEPS;
		compare(&a, &b, 2);
		close_script(&b);
		ck_assert_uint_eq(file_len(PATH), len);
		ck_assert_uint_eq(file_len(PART), 0);
	}
	ck_assert_uint_ge(n_resumed, N_PLACES * 8 / 10);
	close_script(&a);
}
END_TEST

START_TEST(a_builder_that_is_killed_again_and_again_gets_there)
{
	struct opened a, b;
	uint64_t len;

	build_and_close(9);
	len = file_len(PATH);
	open_script(&a, 9);
	finish(&a);
	remove(PATH);
	for (uint64_t at = 0; at < len; at += len / 30)
		build_and_die(9, at);
	build(&b, 9);
	compare(&a, &b, 20);
	close_script(&b);
	close_script(&a);
}
END_TEST

START_TEST(what_a_killed_builder_left_may_be_damaged_too)
{
	struct opened a;

	build_and_close(10);
	open_script(&a, 10);
	finish(&a);
	for (unsigned i = 0; i < 60; i++) {
		uint64_t len = file_len(PATH);
		struct opened b;

		rename(PATH, PART);
		ck_assert_int_eq(truncate(PART, (off_t)(len / 60 * (60 - i))), 0);
		ck_assert_int_eq(rename(PART, PATH), 0);
		flip(len / 60 * i % (file_len(PATH) - 1), 0x10);
		rename(PATH, PART);
		build(&b, 10);
		compare(&a, &b, 2);
		close_script(&b);
	}
	close_script(&a);
}
END_TEST

START_TEST(two_cannot_build_one_index)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f, *g;

	remove(PATH);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_null(ts_index_create(PATH, &the_key, &err));
	ck_assert_int_eq(err.code, TS_ELIMIT);
	ts_index_close(f);
	ts_error_reset(&err);
	g = ts_index_create(PATH, &the_key, &err);
	ck_assert_ptr_nonnull(g);
	ts_index_close(g);
}
END_TEST

START_TEST(a_disk_that_is_full_leaves_the_index_in_memory)
{
	struct opened a, b;
	uint64_t len;

	build_and_close(11);
	len = file_len(PATH);
	open_script(&a, 11);
	finish(&a);
	for (unsigned i = 1; i < 10; i++) {
		struct rlimit old, limit;
		struct ts_error err = { 0 };

		remove(PATH);
		remove(PART);
		getrlimit(RLIMIT_FSIZE, &old);
		limit = (struct rlimit){ len * i / 10, old.rlim_max };
		signal(SIGXFSZ, SIG_IGN);
		open_script(&b, 11);
		ck_assert(ts_timeline_use_file(b.tl, ts_index_create(PATH, &the_key, &err), &err));
		setrlimit(RLIMIT_FSIZE, &limit);
		ts_timeline_grow(b.tl, UINT64_MAX, &err);
		setrlimit(RLIMIT_FSIZE, &old);
		finish(&b);
		ck_assert_int_eq(b.tl->file_error.code, TS_EIO);
		compare(&a, &b, 10);
		close_script(&b);
		ck_assert_uint_eq(file_len(PATH), 0);
	}
	close_script(&a);
}
END_TEST

/* @b, whose index went to the refuge at @path, is as script 11 in @a; so is what is found there. Nothing else is left. */
static void check_refuge(struct opened *a, struct opened *b, const char *path)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	ck_assert_msg(b->tl->file_error.code == TS_OK, "%s", b->tl->file_error.text);
	compare(a, b, 10);
	close_script(b);
	ck_assert(access(PATH, F_OK) && access(PART, F_OK) && access("elsewhere.tsindex.part", F_OK));
	open_script(b, 11);
	f = ts_index_open(path, &the_key, &err);
	ck_assert_msg(f, "%s", err.text);
	ck_assert(ts_timeline_use_file(b->tl, f, &err));
	finish(b);
	compare(a, b, 10);
	close_script(b);
}

START_TEST(on_a_disk_that_is_full_the_index_goes_on_in_its_refuge)
{
	static const char elsewhere[] = "elsewhere.tsindex";
	struct opened a, b;
	uint64_t len;

	build_and_close(11);
	len = file_len(PATH);
	open_script(&a, 11);
	finish(&a);
	for (unsigned i = 1; i < 10; i++) {
		struct ts_error err = { 0 };
		struct ts_index_file *f;

		remove(PATH);
		remove(elsewhere);
		open_script(&b, 11);
		f = ts_index_create(PATH, &the_key, &err);
		ck_assert(f && ts_index_set_refuge(f, elsewhere));
		ck_assert(ts_timeline_use_file(b.tl, f, &err));
		full_disk_start(PART, FULL_DISK_WRITES, len * i / 10);
		finish(&b);
		full_disk_end();
		ck_assert_str_eq(ts_index_path(f), elsewhere);
		check_refuge(&a, &b, elsewhere);
		ck_assert_uint_eq(file_len(elsewhere), len);
	}
	close_script(&a);
}
END_TEST

/* Build the index of script 11 at PATH, with that refuge, on a disk that is full. */
static void build_with_refuge(struct opened *o, const char *refuge, enum full_disk how)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;

	remove(PATH);
	open_script(o, 11);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert(f && ts_index_set_refuge(f, refuge));
	ck_assert(ts_timeline_use_file(o->tl, f, &err));
	full_disk_start(PART, how, 0);
	finish(o);
	full_disk_end();
}

START_TEST(a_finished_index_goes_to_its_refuge_too)
{
	static const char elsewhere[] = "elsewhere.tsindex";
	struct opened a, b;

	open_script(&a, 11);
	finish(&a);
	for (unsigned how = FULL_DISK_SYNCS; how <= FULL_DISK_NAMES; how++) {
		remove(elsewhere);
		build_with_refuge(&b, elsewhere, how);
		check_refuge(&a, &b, elsewhere);
	}
	close_script(&a);
}
END_TEST

START_TEST(a_finished_index_without_a_refuge_leaves_nothing_on_a_full_disk)
{
	for (unsigned how = FULL_DISK_SYNCS; how <= FULL_DISK_NAMES; how++) {
		struct opened o;

		build_with_refuge(&o, "no folder/elsewhere", how);
		ck_assert_int_eq(o.tl->file_error.code, TS_EIO);
		close_script(&o);
		ck_assert(access(PATH, F_OK) && access(PART, F_OK));
	}
}
END_TEST

START_TEST(where_the_refuge_cannot_be_written_the_index_stays_in_memory)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct opened o;

	open_script(&o, 11);
	f = ts_index_create(PATH, &the_key, &err);
	ck_assert(f && ts_index_set_refuge(f, "no folder/elsewhere"));
	ck_assert(ts_timeline_use_file(o.tl, f, &err));
	full_disk_start(PART, FULL_DISK_WRITES, 5000);
	finish(&o);
	full_disk_end();
	ck_assert_int_eq(o.tl->file_error.code, TS_EIO);
	close_script(&o);
	ck_assert(access(PATH, F_OK) && access(PART, F_OK));

	full_disk_start(PART, FULL_DISK_WRITES, 0); /* not even the header */
	ck_assert_ptr_null(ts_index_create(PATH, &the_key, &err));
	full_disk_end();
	ck_assert(access(PART, F_OK));
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
	ck_assert_uint_eq(ts_space_next_read(b.tl->memory[0], 0, 0, UINT64_MAX), TS_NO_CHUNK);
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
	ck_assert_int_eq(ts_timeline_grow(o.tl, UINT64_MAX, &err), TS_GROW_DONE);
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

UNIT_SUITE("index_file", an_index_that_was_opened_does_not_stay_in_memory,
	   a_finished_index_answers_like_one_in_memory,
	   an_index_that_is_damaged_anywhere_is_refused_or_answers_right_until_that_is_noticed,
	   an_index_that_is_cut_anywhere_or_too_long_is_refused,
	   an_index_of_something_else_is_refused_with_the_reason,
	a_header_of_another_layout_is_refused,
	an_index_knows_what_is_known_of_the_end,
	an_array_longer_than_a_write_is_whole,
	a_long_array_after_a_failed_write_is_not_written,
	the_length_of_an_index_is_that_of_its_file,
	   building_twice_gives_the_same_bytes,
	   a_builder_that_is_killed_anywhere_leaves_a_good_beginning_or_nothing,
	   a_builder_that_is_killed_again_and_again_gets_there, what_a_killed_builder_left_may_be_damaged_too,
	   two_cannot_build_one_index, a_disk_that_is_full_leaves_the_index_in_memory,
	   on_a_disk_that_is_full_the_index_goes_on_in_its_refuge, a_finished_index_goes_to_its_refuge_too,
	   a_finished_index_without_a_refuge_leaves_nothing_on_a_full_disk,
	   where_the_refuge_cannot_be_written_the_index_stays_in_memory,
	   without_reads_the_rest_is_the_same,
	   an_index_that_may_not_grow_ends_the_recording_where_it_is_too_large,
	   an_index_is_kept_if_the_trace_itself_ends_it)
