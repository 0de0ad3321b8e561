/* SPDX-License-Identifier: MIT */
#include "pass.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "loaders/loader.h"
#include "src/base/thread.h"

/* The recording of @src; its twin, if @like is given. */
static struct ts_recording *load(const struct ts_source *src, const struct ts_recording *like)
{
	const struct ts_loader_options options = { .like = like };
	struct ts_error err = { 0 };
	const struct ts_loader *loader = ts_loader_probe(src, &err);
	struct ts_recording *rec;

	bench_check(loader, &err);
	rec = ts_loader_open(loader, src, &options, &err);
	bench_check(rec, &err);
	return rec;
}

static void open_trace(struct bench_trace *t, const char *path, bool is_kept)
{
	struct ts_error err = { 0 };

	*t = (struct bench_trace){ .src = ts_source_open(path, &err) };
	bench_check(t->src, &err);
	if (is_kept)
		ts_layout_cache_init(&t->keeper, t->src, path, NULL);
	t->rec = load(t->src, NULL);
}

void bench_open(struct bench_trace *t, const char *path)
{
	open_trace(t, path, false);
}

void bench_close(struct bench_trace *t)
{
	ts_layout_cache_fini(&t->keeper);
	ts_query_free(t->q);
	ts_timeline_free(t->tl);
	ts_recording_close(t->rec);
	ts_source_close(t->src);
}

static const char *index_path(const char *path)
{
	static char index[4096];

	snprintf(index, sizeof(index), "%s.tsindex", path);
	return index;
}

/* An index of frames holds nothing that their file does not have: it is never kept (index_policy.c). */
static bool has_file(const struct bench_trace *t, enum bench_index how)
{
	return how != BENCH_IN_MEMORY && !t->rec->frames;
}

/* A timeline over the trace that has read nothing, or all that its file has. */
static void begin(struct bench_trace *t, const char *path, enum bench_index how, bool is_new)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct ts_index_key key;

	open_trace(t, path, how != BENCH_IN_MEMORY);
	if (how == BENCH_AHEAD)
		ts_source_allow_ahead(t->src);
	t->tl = ts_timeline_new(t->rec, NULL, &err);
	bench_check(t->tl, &err);
	ts_timeline_read_whole(t->tl);
	if (how == BENCH_AHEAD)
		t->tl->n_jobs = ts_n_processors();
	if (how == BENCH_COMPARED)
		ts_timeline_make_digests(t->tl);
	if (how == BENCH_NO_READS)
		ts_timeline_leave_reads_out(t->tl);
	if (!has_file(t, how))
		return;
	bench_check(ts_index_key(t->src, "bench", "bench", &key, &err), &err);
	f = is_new ? ts_index_create(index_path(path), &key, &err)
		   : ts_index_open(index_path(path), &key, &err);
	bench_check(f, &err);
	bench_check(ts_timeline_use_file(t->tl, f, &err), &err);
}

static void look_at_memory(struct bench_trace *t)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1 && kb > t->anon_kb)
			t->anon_kb = kb;
	if (f)
		fclose(f);
}

static void read_ahead(struct bench_trace *t)
{
	unsigned n_twins = ts_timeline_n_twins(t->tl);
	struct ts_error err = { 0 };

	while (n_twins--)
		bench_check(ts_timeline_read_ahead(t->tl, load(t->src, t->rec), &err), &err);
}

void bench_build(struct bench_trace *t, const char *path, enum bench_index how)
{
	struct ts_error err = { 0 };
	enum ts_next grown;

	bench_remove_index(path);
	begin(t, path, how, true);
	if (how == BENCH_AHEAD && !t->rec->frames)
		read_ahead(t);
	do {
		grown = ts_timeline_grow(t->tl, 1 << 20, &err);
		look_at_memory(t);
	} while (grown == TS_MORE);
	bench_check(grown == TS_END, &err);
	bench_check(t->tl->damage.code == TS_OK, &t->tl->damage);
	bench_check(t->tl->file_error.code == TS_OK, &t->tl->file_error);
}

void bench_reopen(struct bench_trace *t, const char *path)
{
	begin(t, path, BENCH_TO_FILE, false);
	if (t->tl->builder)
		bench_die("the index is not complete");
}

void bench_ask(struct bench_trace *t)
{
	struct ts_error err = { 0 };

	t->q = ts_query_new(t->tl, &err);
	bench_check(t->q, &err);
}

void bench_pass_read(const char *path, uint64_t off)
{
	static uint8_t piece[1 << 17];
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 || lseek(fd, (off_t)off, SEEK_SET) < 0 ? -1 : 1;

	while (got > 0)
		got = read(fd, piece, sizeof(piece));
	if (got < 0)
		bench_die("%s cannot be read", path);
	close(fd);
}

/* Decode the first @max steps, or all; @each gets every batch of them. */
static void decode(const char *path, uint64_t max, void (*each)(const struct ts_steps *b, void *user),
		   void *user)
{
	struct ts_error err = { 0 };
	enum ts_next next = TS_ITEM;
	struct ts_reader *reader;
	struct bench_trace t;
	struct ts_steps b;

	bench_open(&t, path);
	reader = t.rec->ops->reader(t.rec, &err);
	bench_check(reader, &err);
	ts_steps_init(&b);
	for (uint64_t n = 0; next == TS_ITEM && n < max; n += next == TS_ITEM) {
		if (b.n_steps == TS_CHUNK_STEPS) {
			if (each)
				each(&b, user);
			ts_steps_reset(&b);
		}
		next = ts_reader_next(reader, &b, &err);
	}
	bench_check(next != TS_FAIL, &err);
	ts_steps_fini(&b);
	ts_reader_close(reader);
	bench_close(&t);
}

void bench_pass_decode(const char *path)
{
	decode(path, UINT64_MAX, NULL, NULL);
}

/* Where it cannot skip it decodes, as a thread of the feed does. */
static bool decode_some(struct ts_reader *r, const struct ts_buf *point, uint64_t n)
{
	enum ts_next next = TS_ITEM;
	struct ts_error err = { 0 };
	struct ts_steps b;

	bench_check(ts_reader_resume(r, point->data, point->len, &err), &err);
	ts_steps_init(&b);
	for (; n && next == TS_ITEM; n--) {
		ts_steps_reset(&b);
		next = ts_reader_next(r, &b, &err);
	}
	ts_steps_fini(&b);
	return next == TS_ITEM;
}

bool bench_pass_skip(const char *path)
{
	const uint64_t n = 8 * TS_CHUNK_STEPS;
	struct ts_error err = { 0 };
	struct ts_reader *reader;
	struct bench_trace t;
	struct ts_buf point;
	bool can_skip;

	bench_open(&t, path);
	reader = t.rec->ops->reader(t.rec, &err);
	bench_check(reader, &err);
	ts_buf_init(&point);
	can_skip = reader->ops->skip;
	for (bool goes_on = can_skip; goes_on;) {
		ts_buf_reset(&point);
		ts_reader_save(reader, &point);
		goes_on = reader->ops->skip(reader, n) || decode_some(reader, &point, n);
	}
	ts_buf_fini(&point);
	ts_reader_close(reader);
	bench_close(&t);
	return can_skip;
}

void bench_pass_index(const char *path)
{
	struct bench_trace t;

	bench_build(&t, path, BENCH_TO_FILE);
	bench_close(&t);
}

void bench_pass_reopen(const char *path)
{
	struct bench_trace t;

	bench_reopen(&t, path);
	bench_close(&t);
}

/* ------------------------------------------------------------------------------------ the hottest address */

#define N_LOOKED_AT (64 * TS_CHUNK_STEPS)

struct addrs {
	uint64_t items[N_LOOKED_AT];
	size_t n;
};

static void take_addrs(const struct ts_steps *b, void *user)
{
	struct addrs *a = user;

	for (uint32_t i = 0; i < b->n_steps && a->n < N_LOOKED_AT; i++)
		a->items[a->n++] = b->steps[i].pc;
}

static int compare_addrs(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint64_t bench_find_hot(const char *path)
{
	static struct addrs a;
	size_t best = 0;
	uint64_t hot = 0;

	a.n = 0;
	decode(path, N_LOOKED_AT + 1, take_addrs, &a);
	qsort(a.items, a.n, sizeof(a.items[0]), compare_addrs);
	for (size_t i = 0, start = 0; i < a.n; i++) {
		if (a.items[i] != a.items[start])
			start = i;
		if (i - start >= best) {
			best = i - start;
			hot = a.items[i];
		}
	}
	return hot;
}
