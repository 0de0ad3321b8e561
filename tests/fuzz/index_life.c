/* SPDX-License-Identifier: MIT */
#include "index_life.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/cache_dir.h"
#include "src/base/io_full.h"
#include "src/index/keys/trace_keys.h"
#include "src/model/model.h"
#include "src/model/part.h"
#include "src/query/search/call_list.h"
#include "src/query/search/find_filter.h"
#include "src/source/pack.h"
#include "src/source/unpack.h"
#include "src/trace/chunk.h"
#include "tests/unit/bad_calls.h"
#include "tests/unit/forge.h"
#include "tests/unit/forge_store.h"
#include "tests/unit/no_memory.h"
#include "tests/unit/script.h"

#define MAX_MEMORY  ((uint64_t)64 << 20)
#define MAX_FILE    ((size_t)1 << 20)
#define WRITTEN_LEN ((size_t)256 << 10) /* of the trace; the rest are zeros */
#define LAYOUT_LEN  5000u
#define TRACE       "t"
#define PACKED      "t.pack"

static char folder[PATH_MAX];

/*
 * The trace that was written last, if nobody has touched it since.  It stays for the next turn: who opens a file that was just
 * written waits for the next tick of the clock.
 */
static struct {
	uint64_t seed, len;
	bool is_there;
} last;

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* ---------------------------------------------------------------------------------------------- the files */

static void join(char path[PATH_MAX], const char *name)
{
	require(snprintf(path, PATH_MAX, "%.3000s/%.200s", folder, name) < PATH_MAX);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	return at->level && last.is_there && !strcmp(path + at->base, TRACE) ? 0 : remove(path);
}

/* All but the trace, if it stays. */
static void clear_folder(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put_file(const char *path, int mode, const void *bytes, size_t len)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	require(fd >= 0 && ts_write_whole(fd, bytes, len));
	close(fd);
}

/* What the recordings map. */
static void put_mapped_file(void)
{
	uint8_t bytes[SCRIPT_FILE_LEN];
	char path[PATH_MAX];

	join(path, "lib");
	require(!mkdir(path, 0700));
	join(path, SCRIPT_FILE);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = script_file_byte(i);
	put_file(path, 0600, bytes, sizeof(bytes));
}

void life_begin(struct life *l)
{
	static const uint8_t key[TS_SECRET_LEN] = { 1, 2, 3 };
	char here[PATH_MAX / 2], path[PATH_MAX];

	*l = (struct life){ .opt.n_jobs = 1 };
	l->faults = (struct life_faults){ .allocation = UINT64_MAX, .call = UINT64_MAX, .then = UINT64_MAX };
	require(getcwd(here, sizeof(here)) != NULL);
	snprintf(folder, sizeof(folder), "%s/life.%d", here, (int)getpid());
	clear_folder();
	require(!mkdir(folder, 0700) || last.is_there);
	setenv("XDG_CACHE_HOME", folder, 1);
	require(ts_cache_dir(path));
	ts_cache_dir_make(path);
	strcat(path, "/key");
	put_file(path, 0600, key, sizeof(key));
	put_mapped_file();
}

void life_end(void)
{
	last.is_there = false;
	clear_folder();
}

/* What is read: the packed recording if there is one. */
static void name_trace(char path[PATH_MAX])
{
	join(path, PACKED);
	if (access(path, F_OK))
		join(path, TRACE);
}

/* Returns false if the name is none of a file of ours. */
static bool find(char path[PATH_MAX], const char *name)
{
	char trace[PATH_MAX];

	if (!name[0] || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") ||
	    strlen(name) >= LIFE_MAX_NAME)
		return false;
	join(path, name);
	last.is_there &= strcmp(name, TRACE) != 0;
	name_trace(trace);
	if (name[0] == '~' &&
	    (!ts_cache_dir_name(trace, true, path) || strlen(path) + LIFE_MAX_NAME >= PATH_MAX))
		return false;
	if (name[0] == '~')
		strcat(path, name + 1);
	if (name[0] == '^') {
		require(ts_cache_dir(path));
		strcat(strcat(path, "/"), name + 1);
	}
	return true;
}

void life_write(struct life *l, const char *name, uint64_t off, const uint8_t *bytes, size_t len)
{
	char path[PATH_MAX];
	int fd = find(path, name) ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666) : -1;

	if (fd < 0)
		return;
	l->is_touched = true;
	require(ts_write_whole_at(fd, bytes, len, off % MAX_FILE));
	close(fd);
}

void life_cut(struct life *l, const char *name, uint64_t len)
{
	char path[PATH_MAX];
	struct stat st;

	l->is_touched = true;
	if (find(path, name) && !stat(path, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size > len)
		require(!truncate(path, (off_t)len));
}

void life_remove(const char *name)
{
	char path[PATH_MAX];

	if (find(path, name))
		remove(path);
}

void life_make_folder(const char *name)
{
	char path[PATH_MAX];

	if (find(path, name))
		mkdir(path, 0700);
}

void life_rename(const char *name, const char *to)
{
	char path[PATH_MAX], new_path[PATH_MAX];

	if (find(path, name) && find(new_path, to))
		rename(path, new_path);
}

void life_link(const char *name, const char *to)
{
	char path[PATH_MAX], new_path[PATH_MAX];

	if (find(path, name) && find(new_path, to) && symlink(path, new_path))
		return;
}

void life_set_mode(const char *name, unsigned mode)
{
	char path[PATH_MAX];

	if (find(path, name) && chmod(path, mode & 0777))
		return;
}

void life_read_secret(const char *name)
{
	uint8_t secret[TS_SECRET_LEN];
	struct ts_error err = { 0 };
	char path[PATH_MAX];

	if (find(path, name))
		require(ts_secret_read(secret, path, &err) || strchr(err.text, ' '));
}

/* An index file that can be forged, and the signer of the trace.  Returns NULL if there is no such file. */
static uint8_t *read_index(char path[PATH_MAX], const char *name, size_t *len, struct ts_trace_keys *keys)
{
	int fd = find(path, name) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct ts_error err = { 0 };
	char trace[PATH_MAX];
	struct stat st;
	uint8_t *file;
	bool done = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size &&
		    (size_t)st.st_size <= MAX_FILE;

	*len = done ? (size_t)st.st_size : 1;
	file = malloc(*len);
	require(file != NULL);
	done = done && ts_read_whole(fd, file, *len, 0) == (ssize_t)*len && forge_can(file, *len);
	if (fd >= 0)
		close(fd);
	name_trace(trace);
	if (done && ts_trace_keys(trace, keys, &err))
		return file;
	free(file);
	return NULL;
}

void life_forge(struct life *l, const char *name, const uint8_t *edits, size_t n)
{
	char path[PATH_MAX];
	struct ts_trace_keys keys;
	size_t len;
	uint8_t *file = read_index(path, name, &len, &keys);

	if (!file)
		return;
	forge_as(&keys.signer, file, len, edits, n);
	put_file(path, 0666, file, len);
	l->is_forged = l->is_touched = true;
	free(file);
}

void life_hide(struct life *l, const char *name, int record, const char kind[4])
{
	char path[PATH_MAX];
	struct ts_trace_keys keys;
	size_t len, n;
	uint8_t *file = read_index(path, name, &len, &keys);
	uint32_t number;

	if (!file)
		return;
	n = forge_n_records(file, len);
	memcpy(&number, kind, sizeof(number));
	if (record < (int)n && record >= -(int)n)
		forge_hide(file, len, record, number);
	forge_as(&keys.signer, file, len, NULL, 0);
	put_file(path, 0666, file, len);
	l->is_forged = l->is_touched = true;
	free(file);
}

void life_store(struct life *l, const char *name)
{
	char path[PATH_MAX];
	struct ts_trace_keys keys;
	size_t len;
	uint8_t *file = l->is_touched ? NULL : read_index(path, name, &len, &keys), *stored;

	if (!file)
		return;
	stored = forge_store_as(&keys.signer, file, &len);
	put_file(path, 0666, stored, len);
	free(stored);
	free(file);
}

/* ---------------------------------------------------------------------------------------------- the trace */

/* The file is written, and what is written there now would change its ctime. */
static void settle(const char *path)
{
	struct ts_error err = { 0 };
	uint64_t ctime = 0;

	while (!ctime) {
		struct ts_source *src = ts_source_open(path, &err);

		require(src != NULL);
		ctime = ts_source_ctime(src);
		ts_source_close(src);
		if (!ctime)
			usleep(500);
	}
}

void life_set_trace(struct life *l, uint64_t seed, uint64_t n_steps, uint64_t len)
{
	static uint8_t bytes[WRITTEN_LEN];
	char path[PATH_MAX];

	l->seed = seed;
	l->n_changes = 0;
	l->n_steps = n_steps ? (n_steps - 1) % LIFE_MAX_STEPS + 1 : 1;
	l->trace_len = len % LIFE_MAX_TRACE;
	if (last.is_there && last.seed == seed && last.len == l->trace_len)
		return;
	last.seed = seed;
	last.len = l->trace_len;
	last.is_there = true;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + (i >> 8) + seed);
	join(path, TRACE);
	put_file(path, 0666, bytes, l->trace_len < sizeof(bytes) ? l->trace_len : sizeof(bytes));
	require(!truncate(path, (off_t)l->trace_len));
	settle(path);
}

/* What belongs to the trace was not changed by this: its time stays. */
static void keep_time(const char *path, const struct stat *st)
{
	const struct timespec times[] = { st->st_atim, st->st_mtim };

	require(!utimensat(AT_FDCWD, path, times, 0));
	settle(path);
}

void life_copy_trace(void)
{
	static uint8_t bytes[WRITTEN_LEN];
	char path[PATH_MAX], copy[PATH_MAX];
	struct stat st;
	size_t n;
	int fd;

	join(path, TRACE);
	join(copy, "copy");
	last.is_there = false;
	if (stat(path, &st))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	require(fd >= 0);
	n = (size_t)ts_read_whole(fd, bytes, sizeof(bytes), 0);
	close(fd);
	put_file(copy, 0666, bytes, n);
	require(!truncate(copy, st.st_size) && !rename(copy, path));
	keep_time(path, &st);
}

void life_change_trace(struct life *l, uint64_t off)
{
	char path[PATH_MAX];
	struct stat st;
	uint8_t byte = 0;
	int fd;

	join(path, TRACE);
	last.is_there = false;
	if (!l->trace_len || stat(path, &st))
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	off %= l->trace_len;
	require(fd >= 0 && pread(fd, &byte, 1, (off_t)off) == 1);
	byte ^= 1;
	require(pwrite(fd, &byte, 1, (off_t)off) == 1);
	close(fd);
	l->n_changes++;
	keep_time(path, &st);
}

static bool add_member(struct ts_pack_writer *w, const char *member, const char *name, const char *path,
		       struct ts_error *err)
{
	struct ts_source *src = ts_source_open(path, err);
	bool done = src && ts_pack_writer_add(w, member, name, src, err);

	ts_source_close(src);
	return done;
}

void life_pack(void)
{
	char trace[PATH_MAX], index[PATH_MAX], path[PATH_MAX];
	struct ts_pack_writer w;
	struct ts_error err = { 0 };
	struct stat st;
	struct ts_pack_facts facts = { 0 };

	join(trace, TRACE);
	join(index, TRACE ".tsindex");
	join(path, PACKED);
	if (stat(trace, &st) || access(index, F_OK))
		return;
	facts.mtime = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	require(ts_pack_writer_init(&w, path, &facts, &err) && add_member(&w, "trace/", TRACE, trace, &err) &&
		add_member(&w, "index", NULL, index, &err));
	join(index, TRACE ".tsindex.calls");
	if (!access(index, F_OK))
		require(add_member(&w, "index.calls", NULL, index, &err));
	require(ts_pack_writer_finish(&w, &err));
	ts_pack_writer_fini(&w);
	if (!ts_trace_keys_keep_origin(trace, path, &err))
		require(err.text[0]);
	settle(path);
}

/* ------------------------------------------------------------------------------------------ the recording */

/* One time that it is read. */
struct reading {
	const struct life *l;
	struct ts_source *src;
};

/* A loader that keeps what it learnt of the trace. */
static void keep_layout(const struct reading *r)
{
	static uint8_t bytes[LAYOUT_LEN];
	struct ts_buf known;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * r->l->seed >> 3);
	ts_buf_init(&known);
	if (!ts_source_recall(r->src, &known)) {
		ts_buf_reset(&known);
		ts_buf_put(&known, bytes, sizeof(bytes));
		ts_source_keep(r->src, &known);
	} else if (!r->l->is_forged) {
		require(known.len == sizeof(bytes) && !memcmp(known.data, bytes, sizeof(bytes)));
	}
	ts_buf_fini(&known);
}

/* What a loader learns at the beginning, which is part of an index's key, stays the same. */
static void change_values(const struct ts_steps *s, uint8_t by)
{
	for (uint32_t i = 0; i < s->n_effects; i++) {
		const struct ts_effect *e = &s->effects[i];

		if ((e->kind == TS_FX_WRITE || e->kind == TS_FX_REG_WRITE) && e->data != TS_NO_DATA)
			s->data[e->data] ^= by;
	}
}

static struct ts_recording *load(void *user, const struct ts_recording *like, struct ts_error *err)
{
	const struct reading *r = user;
	struct script *s;

	(void)like;
	(void)err;
	keep_layout(r);
	no_memory_hold(true);
	s = script_random_new(r->l->seed, r->l->n_steps);
	no_memory_hold(false);
	change_values(&s->steps, r->l->n_changes);
	if (r->l->opt.has_odd_steps)
		s->odd_every = 5;
	if (r->l->opt.is_damaged) {
		s->ending = TS_FAIL;
		s->damage = TS_ECORRUPT;
	}
	return &s->rec;
}

static void arm(const struct life_faults *f)
{
	uint64_t until =
		f->n_allocations < UINT64_MAX - f->allocation ? f->allocation + f->n_allocations : UINT64_MAX;

	bad_calls_start_two(f->call, f->error, f->then, f->then_error);
	no_memory_start(f->allocation, until);
}

static void disarm(void)
{
	int64_t n_lost;

	no_memory_end(&n_lost);
	bad_calls_end();
}

/* ----------------------------------------------------------------------------------------------- asking */

/* Of all answers. */
struct answers {
	uint64_t sum;
	bool is_good; /* false: @err says why not */
	struct ts_error err;
};

static void add(struct answers *a, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		a->sum = (a->sum ^ p[i]) * UINT64_C(0x100000001b3);
}

static void add_number(struct answers *a, uint64_t n)
{
	add(a, &n, sizeof(n));
}

static bool ask_state(struct ts_query *q, uint64_t pos, struct answers *a)
{
	static uint8_t bytes[2 * 16384];
	uint32_t g_len = ts_query_regset(q)->g_len;

	for (uint32_t t = 0; t < ts_query_n_threads(q) && t < SCRIPT_MAX_THREADS; t++) {
		if (!ts_query_regs(q, pos, t, bytes, bytes + g_len, &a->err))
			return false;
		add(a, bytes, 2 * (size_t)g_len);
	}
	for (uint32_t i = 0; i < SCRIPT_N_ARENAS; i++) {
		const struct script_arena *m = &script_arenas[i];
		size_t len = (size_t)(m->last - m->first) + 1;

		if (!ts_query_mem(q, pos, i % 2, m->first, len, bytes, bytes + len, &a->err))
			return false;
		add(a, bytes, 2 * len);
	}
	return true;
}

static bool ask_sets(struct ts_query *q, const struct life_options *opt, uint64_t pos, struct answers *a)
{
	uint64_t pc = 0;
	bool has_pc;

	if (!ts_query_pc(q, pos, ts_query_thread(q, pos), &pc, &has_pc, &a->err))
		return false;
	add_number(a, has_pc ? pc : 0);
	for (uint32_t p = 0; p < ts_query_n_processes(q) && p < SCRIPT_MAX_PROCESSES; p++) {
		add_number(a, ts_query_find_execution(q, p, pc, pc + 20, pos, TS_FORWARDS));
		add_number(a, ts_query_find_execution(q, p, pc, pc + 20, pos, TS_BACKWARDS));
		for (unsigned k = TS_ACCESS_CHANGE; k <= TS_ACCESS_READ; k <<= 1) {
			const struct script_arena *m = &script_arenas[pos % SCRIPT_N_ARENAS];

			if (k == TS_ACCESS_READ && opt->has_no_reads)
				continue;
			add_number(a, ts_query_find_access(q, k, p, m->first, m->last, pos / TS_CHUNK_STEPS, TS_FORWARDS));
			add_number(a, ts_query_find_access(q, k, p, m->first, m->last, pos / TS_CHUNK_STEPS, TS_BACKWARDS));
		}
	}
	return true;
}

static void ask_world(struct ts_query *q, uint64_t pos, struct answers *a)
{
	struct ts_region_info regions[16];

	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		const struct ts_event_at *next = ts_query_find_event(q, kind, pos, false),
					 *prev = ts_query_find_event(q, kind, pos, true);

		add_number(a, next ? next->step : TS_NO_POS);
		add_number(a, prev ? prev->step : TS_NO_POS);
	}
	for (uint32_t p = 0; p < ts_query_n_processes(q) && p < SCRIPT_MAX_PROCESSES; p++) {
		struct ts_module_info m;

		add_number(a, ts_query_regions(q, p, pos, regions, 16));
		for (size_t at = 0; ts_query_next_module(q, p, pos, &at, &m);)
			add_number(a, m.first);
	}
	for (uint32_t t = 0; t < ts_query_n_threads(q) && t < SCRIPT_MAX_THREADS; t++) {
		add_number(a, ts_query_is_alive(q, t, pos));
		add_number(a, ts_query_next_step(q, t, pos));
		add_number(a, ts_query_prev_step(q, t, pos));
	}
}

static bool ask_calls(struct ts_query *q, struct answers *a)
{
	enum ts_next need = TS_MORE;
	struct ts_call calls[TS_CALL_BLOCK];

	while (need == TS_MORE)
		need = ts_query_need_calls(q, 100, &a->err);
	for (uint32_t t = 0; need == TS_END && t < ts_query_n_threads(q); t++) {
		uint32_t n = ts_query_n_calls(q, t);
		uint32_t n_block = n ? ts_query_call_block(q, t, n - 1, calls) : 0;

		add_number(a, n);
		for (uint32_t i = 0; i < n_block; i++)
			add_number(a, calls[i].pos);
	}
	return need == TS_END;
}

static bool ask_values(struct ts_query *q, struct answers *a)
{
	static const uint8_t bytes[] = { 1, 0, 0, 0 }, mask[] = { 1, 1, 1, 1 };
	const uint64_t end = (ts_query_end(q) + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS;
	enum ts_next need = TS_MORE;
	struct ts_probe *p;

	while (need == TS_MORE)
		need = ts_query_need_values(q, 100, &a->err);
	p = need == TS_END ? ts_query_probe_new(bytes, mask, 1) : NULL;
	if (need == TS_END && !p)
		return ts_fail(&a->err, TS_ENOMEM, TS_NO_OFF, "no memory for a probe");
	for (uint64_t chunk = 0, next; p && chunk < end; chunk = next + 1) {
		next = ts_query_next_begin(q, p, chunk, end);
		require(next >= chunk && next <= end);
	}
	ts_query_probe_free(p);
	return need == TS_END;
}

static bool ask(struct ts_query *q, const struct life_options *opt, struct answers *a)
{
	uint64_t end = ts_query_end(q);

	add_number(a, end);
	for (uint64_t i = 0; i <= 4; i++) {
		if (!ask_state(q, end / 4 * i, a) || !ask_sets(q, opt, end / 4 * i, a))
			return false;
		ask_world(q, end / 4 * i, a);
	}
	return (!opt->wants_calls || ask_calls(q, a)) && (!opt->wants_values || ask_values(q, a)) &&
	       ts_query_finish_question(q, &a->err) && !ts_query_is_abandoned(q, &a->err);
}

/* ----------------------------------------------------------------------------------------------- reading */

static struct ts_model_options options(struct reading *r, const char *trace, const char *index)
{
	const struct life_options *o = &r->l->opt;

	return (struct ts_model_options){
		.trace = trace,
		.load = load,
		.user = r,
		.index = { .path = index, .is_wanted = true, .has_no_reads = o->has_no_reads },
		.max_memory = MAX_MEMORY,
		.n_jobs = o->n_jobs,
		.sysroot = o->has_sysroot ? folder : NULL,
		.is_served = o->is_served,
		.is_compared = o->is_compared,
		.is_whole = o->is_whole,
	};
}

/* Up to @n_steps are read.  Returns whether all were, and asked about. */
static bool read_model(struct ts_model *m, struct reading *r, uint64_t n_steps, struct answers *a)
{
	enum ts_next next = TS_ITEM;

	if (!ts_model_open(m, r->src, &a->err))
		return true;
	while (next == TS_ITEM && ts_model_n_read(m) < n_steps)
		next = ts_model_grow(m, 64, &a->err);
	if (next == TS_END && ts_model_query(m))
		a->is_good = ask(ts_model_query(m), &r->l->opt, a);
	return next != TS_ITEM;
}

static bool read_once(const struct ts_model_options *opt, struct reading *r, uint64_t n_steps,
		      struct answers *a)
{
	struct ts_model *m;
	bool is_all = true;

	*a = (struct answers){ 0 };
	m = ts_model_new(opt, &a->err);
	if (m)
		is_all = read_model(m, r, n_steps, a);
	ts_model_free(m);
	return is_all;
}

/* What an index in memory tells, which the next turn wants to know again. */
static uint64_t expected(struct reading *r, const char *trace)
{
	static struct answers a;
	static uint64_t seed, n_steps;
	static uint8_t n_changes;
	static struct life_options of;
	const struct ts_model_options opt = options(r, trace, "none");

	if (a.is_good && seed == r->l->seed && n_steps == r->l->n_steps && n_changes == r->l->n_changes &&
	    !memcmp(&of, &r->l->opt, sizeof(of)))
		return a.sum;
	require(read_once(&opt, r, UINT64_MAX, &a) && a.is_good);
	seed = r->l->seed;
	n_steps = r->l->n_steps;
	n_changes = r->l->n_changes;
	of = r->l->opt;
	return a.sum;
}

static struct ts_source *open_trace(char path[PATH_MAX])
{
	const struct ts_unpack_options opt = { .max_len = LIFE_MAX_TRACE };
	struct ts_error err = { 0 };

	name_trace(path);
	return ts_trace_open(path, &opt, &err);
}

void life_read(struct life *l, uint64_t n_steps, bool is_merged)
{
	char trace[PATH_MAX], index[PATH_MAX];
	struct reading r = { .l = l, .src = open_trace(trace) };
	struct ts_model_options opt;
	struct answers a;
	bool is_all;

	if (!r.src)
		return;
	opt = options(&r, trace, l->opt.index[0] && find(index, l->opt.index) ? index : NULL);
	opt.index.is_merged = is_merged;
	arm(&l->faults);
	is_all = read_once(&opt, &r, n_steps, &a);
	disarm();
	if (is_all && !a.is_good)
		require(strchr(a.err.text, ' ') != NULL);
	if (is_all && a.is_good && !l->is_forged)
		require(a.sum == expected(&r, trace));
	ts_source_close(r.src);
}

void life_decode_part(struct life *l, uint32_t i, uint32_t n)
{
	char trace[PATH_MAX], index[PATH_MAX];
	struct reading r = { .l = l, .src = open_trace(trace) };
	const struct ts_part_number number = { i, n };
	struct ts_error err = { 0 };
	struct ts_model_options opt;
	enum ts_next next = TS_ITEM;
	struct ts_part *part;

	if (!r.src || !n || n > 16 || !i || i > n) {
		ts_source_close(r.src);
		return;
	}
	opt = options(&r, trace, l->opt.index[0] && find(index, l->opt.index) ? index : NULL);
	arm(&l->faults);
	part = ts_part_new(&opt, r.src, &number, &err);
	while (part && next == TS_ITEM)
		next = ts_part_run(part, &err);
	require((part && next == TS_END) || strchr(err.text, ' '));
	ts_part_free(part);
	disarm();
	ts_source_close(r.src);
}
