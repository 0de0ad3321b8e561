/* SPDX-License-Identifier: MIT */
/*
 * How fast is a recording of each format indexed, how large is the index, how fast does it answer?
 *
 * Every recording is made here (recording.h), in each size that is asked for.  Indexing it, into a file, is
 * measured beside reading the trace and beside decoding it without an index, in turns, the best of some runs;
 * then opening the index again, and 10,000 random questions of each kind.  Times are the processor's for this
 * process, file in the page cache, so that a busy machine does not show; nothing here waits but for the disk.
 * Only what several threads do, and round trips, are by the clock.  What needs memory of its own to be seen
 * has a process of its own: making the recording, and indexing it with reads and without.  At last tracestub
 * serves the recording, beside a gdbserver over a live program.
 *
 * BENCH_SIZES="1 10 100" are the sizes in millions of steps (1 and 10 by default), BENCH_LARGE=1 adds 1,000;
 * those beyond 15 have one run.  BENCH_FORMATS="bap tfile" are the formats, all by default.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "pass.h"
#include "questions.h"
#include "recording.h"
#include "src/base/thread.h"
#include "src/calls/calls.h"
#include "src/query/search/call_list.h"
#include "rsp.h"
#include "src/timeline/space/lines.h"

#define N_REOPEN   5
#define MAX_RUNS   10
#define RUNS_STEPS UINT64_C(30000000) /* in all runs over a recording; one at the least */
#define MAX_SIZES  8
#define MIB        (1 << 20)

/* What is asked (millions of steps a second: recording.h). */
#define MIN_OF_DECODE (1.0 / 3)
#define MAX_CALLS     0.1 /* bytes a step, for calls and questions about registers */
#define MAX_INDEX     1.5 /* bytes a step, and what distinct memory costs */
#define MAX_NO_READS  0.8
#define MAX_MEMORY    256 /* MiB, and twice the memory touched */
#define MAX_REOPEN_MS 50
#define MAX_P99_US    1000
#define MAX_GROWTH    2
#define MAX_MARK_US   5000
#define MAX_FIRST_MS  1000
#define MIN_OF_LIVE   5
#define MAX_APART     16 /* processes */

/* Of a recording in one size; seconds are the least of some runs. */
struct result {
	const struct bench_format *format;
	const char *path; /* borrowed */
	struct bench_recording rec;
	uint64_t n_steps;
	double read_s, decode_s, index_s, library_s, reopen_s;
	double skip_s;                   /* 0: readers cannot skip */
	double alone_s, ahead_s;         /* by the clock: one job, as many as there are processors */
	double alone_cpu_s, ahead_cpu_s; /* the same, of all processors */
	double apart_s;                  /* an index, where each processor makes one with one job */
	struct ts_timeline_stats stats;
	uint64_t index_len, no_reads_len, calls_len, n_calls;
	bool has_file;                   /* the index is in a file */
	long base_kb, built_kb, peak_kb; /* resident: before, while indexing, while it was asked too */
	long anon_kb;                    /* of it no file, while indexing */
	long reopened_kb;                /* resident: when the index was opened again and asked */
	struct bench_times times;
	double mark_s;
	struct bench_round_trips stub, live;
};

/* ---------------------------------------------------------------------------------------------- measuring */

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static unsigned n_runs(const struct result *r)
{
	uint64_t n = RUNS_STEPS / r->n_steps;

	return n > MAX_RUNS ? MAX_RUNS : n ? (unsigned)n : 1;
}

static uint64_t index_len(const struct bench_trace *t, struct ts_timeline_stats *s)
{
	ts_timeline_stats(t->tl, s);
	return t->tl->file ? ts_index_len(t->tl->file)
			   : s->points_len + s->regs_len + s->memory_len + s->reads_len + s->runs_len;
}

static void make_recording(void *arg)
{
	struct result *r = arg;

	r->format->record(r->format, r->path, r->n_steps, &r->rec);
}

static void measure_index(void *arg)
{
	struct result *r = arg;
	struct bench_trace t;

	r->base_kb = peak_kb();
	bench_build(&t, r->path, BENCH_TO_FILE);
	r->built_kb = peak_kb();
	r->anon_kb = t.anon_kb;
	r->index_len = index_len(&t, &r->stats);
	r->calls_len = t.tl->calls ? ts_calls_saved_len(t.tl->calls) : 0;
	r->has_file = t.tl->file;
	r->n_steps = t.tl->n_steps;
	if (r->n_steps != r->rec.n_steps)
		bench_die("%s: %" PRIu64 " steps indexed where %" PRIu64 " were written", r->format->name,
			  r->n_steps, r->rec.n_steps);
	bench_ask(&t);
	for (uint32_t i = 0; i < ts_query_n_threads(t.q); i++)
		r->n_calls += ts_query_n_calls(t.q, i);
	bench_questions(&t, &r->times);
	if (r->rec.mark)
		r->mark_s = bench_find_mark(&t, r->rec.mark);
	r->peak_kb = peak_kb();
	bench_close(&t);
}

static void measure_no_reads(void *arg)
{
	struct result *r = arg;
	struct ts_timeline_stats stats;
	struct bench_trace t;

	bench_build(&t, r->path, BENCH_NO_READS);
	r->no_reads_len = index_len(&t, &stats);
	bench_close(&t);
}

static double time_of(void (*pass)(const char *path), const char *path)
{
	double start = bench_cpu();

	pass(path);
	return bench_cpu() - start;
}

/* By the clock, and of all processors. */
static void time_jobs(const char *path, enum bench_index how, double *clock_s, double *cpu_s)
{
	double start = bench_now(), cpu_start = bench_cpu();
	struct bench_trace t;

	bench_build(&t, path, how);
	bench_close(&t);
	bench_keep_least(clock_s, bench_now() - start);
	bench_keep_least(cpu_s, bench_cpu() - cpu_start);
}

/* A process that indexes the recording by another name, as its index has this name too. */
static pid_t start_one_apart(const char *path, unsigned n)
{
	char name[PATH_MAX];
	pid_t pid;

	snprintf(name, sizeof(name), "%s.%u", path, n);
	if (link(path, name) && errno != EEXIST)
		bench_die("%s: cannot be linked", name);
	pid = fork();
	if (pid < 0)
		bench_die("cannot start a process");
	if (pid)
		return pid;
	bench_pass_index(name);
	bench_remove(name);
	_exit(0);
}

/*
 * What the machine itself gains by all of its processors: nothing is shared, and nobody waits for another
 * one.  Jobs cannot gain more.
 */
static void time_apart(struct result *r)
{
	unsigned n = ts_n_processors() < MAX_APART ? ts_n_processors() : MAX_APART;
	double start = bench_now();
	pid_t pids[MAX_APART];
	int status;

	for (unsigned i = 0; i < n; i++)
		pids[i] = start_one_apart(r->path, i);
	for (unsigned i = 0; i < n; i++) {
		if (waitpid(pids[i], &status, 0) != pids[i] || status)
			bench_die("%s: a process that indexes it failed", r->path);
	}
	bench_keep_least(&r->apart_s, (bench_now() - start) / n);
}

/* In turns: one job, one for each processor, and a process for each. */
static void measure_ahead(void *arg)
{
	struct result *r = arg;

	for (unsigned i = 0; i < n_runs(r); i++) {
		time_jobs(r->path, BENCH_TO_FILE, &r->alone_s, &r->alone_cpu_s);
		time_jobs(r->path, BENCH_AHEAD, &r->ahead_s, &r->ahead_cpu_s);
		time_apart(r);
	}
}

/* In turns, so that what else the machine does is the same for all. */
static void measure_passes(void *arg)
{
	struct result *r = arg;

	for (unsigned i = 0; i < n_runs(r); i++) {
		double start = bench_cpu();

		bench_pass_read(r->path, r->rec.steps_at);
		bench_keep_least(&r->read_s, bench_cpu() - start);
		bench_keep_least(&r->decode_s, time_of(bench_pass_decode, r->path));
		bench_keep_least(&r->index_s, time_of(bench_pass_index, r->path));
		start = bench_cpu();
		if (bench_pass_skip(r->path))
			bench_keep_least(&r->skip_s, bench_cpu() - start);
	}
	for (unsigned i = 0; r->has_file && i < N_REOPEN; i++)
		bench_keep_least(&r->reopen_s, time_of(bench_pass_reopen, r->path));
	if (r->format->library)
		r->library_s = r->format->library(r->path, &r->rec);
}

/* In a process that has not built the index. */
static void measure_reopened(void *arg)
{
	struct result *r = arg;
	long base_kb = peak_kb();
	struct bench_times times;
	struct bench_trace t;

	if (!r->has_file)
		return;
	bench_reopen(&t, r->path);
	bench_ask(&t);
	bench_questions(&t, &times);
	r->reopened_kb = peak_kb() - base_kb;
	bench_close(&t);
}

/* The program of which Usercorn's recordings are. */
static struct bench_served live_program(void)
{
	char *path = bench_temp("live");
	struct bench_recording rec = { 0 };
	struct bench_served live;

	bench_usercorn_v0.record(&bench_usercorn_v0, path, 100000, &rec);
	live = (struct bench_served){ .path = bench_data("usercorn/x64_lib.elf"),
				      .hot = bench_find_hot(path) };
	bench_remove(path);
	free(path);
	return live;
}

static void measure_server(void *arg)
{
	struct result *r = arg;
	bool is_live = bench_has_gdbserver();
	struct bench_served recording = { .path = r->path,
					  .hot = bench_find_hot(r->path),
					  .mark = r->rec.mark,
					  .has_index = r->has_file };
	struct bench_served live = { 0 };

	if (is_live)
		live = live_program();
	bench_round_trips(&recording, is_live ? &live : NULL, &r->stub, &r->live);
}

static void measure(struct result *r)
{
	bench_in_child(make_recording, r);
	bench_in_child(measure_index, r);
	bench_in_child(measure_no_reads, r);
	bench_in_child(measure_ahead, r);
	bench_in_child(measure_passes, r);
	bench_in_child(measure_reopened, r);
	bench_in_child(measure_server, r);
	bench_remove(r->path);
}

/* ------------------------------------------------------------------------------------------------ telling */

static void tell(const struct result *r, const char *name, double value, enum bench_asked asked, double limit,
		 const char *note)
{
	char column[32];

	snprintf(column, sizeof(column), "%" PRIu64 " M", (r->n_steps + 500000) / 1000000);
	bench_figure(r->format->name, column, name, value, asked, limit, note);
}

static void tell_plain(const struct result *r, const char *name, double value)
{
	tell(r, name, value, BENCH_NOTHING, 0, NULL);
}

/*
 * How many times faster than one job @n_processors can be at the most, by what each part took alone.  One
 * thread reads, one decodes, and one builds; the longest of them decides.  Where readers can skip, from four
 * processors on half as many threads, at most four, share reading and decoding, and skipping in addition
 * (src/timeline/README).
 */
static double most_gain(const struct result *r, unsigned n_processors)
{
	double longest_s = r->index_s - r->decode_s, decode_s = r->decode_s - r->read_s, gain;
	unsigned n_decoders = n_processors / 2 < 4 ? n_processors / 2 : 4;

	if (r->skip_s > 0 && n_decoders > 1)
		decode_s = (r->decode_s + r->skip_s) / n_decoders;
	if (decode_s > longest_s)
		longest_s = decode_s;
	gain = r->index_s / longest_s;
	return gain < n_processors ? gain : n_processors;
}

static void tell_parts(const struct result *r)
{
	tell_plain(r, "of 100 of indexing: reading", r->read_s / r->index_s * 100);
	tell_plain(r, "  decoding", (r->decode_s - r->read_s) / r->index_s * 100);
	tell_plain(r, "  building, and sorting segments", (1 - r->decode_s / r->index_s) * 100);
	if (r->skip_s > 0)
		tell_plain(r, "  skipping, where decoders share", r->skip_s / r->index_s * 100);
	for (unsigned n = 2; n <= 16; n *= 2) {
		char name[64];

		snprintf(name, sizeof(name), "  so %u processors, times faster at the most", n);
		tell_plain(r, name, most_gain(r, n));
	}
}

static void tell_speed(const struct result *r)
{
	double n = (double)r->n_steps;

	tell_plain(r, "file, bytes a step", (double)(r->rec.file_len - r->rec.steps_at) / n);
	tell_plain(r, "reading the file, million steps/s", n / r->read_s / 1e6);
	tell_plain(r, "decoding alone, million steps/s", n / r->decode_s / 1e6);
	tell(r, "indexing, million steps/s", n / r->index_s / 1e6,
	     r->format->index_rate > 0 ? BENCH_AT_LEAST : BENCH_NOTHING, r->format->index_rate, NULL);
	tell(r, "  speed : that of decoding", r->decode_s / r->index_s,
	     r->format->index_rate > 0 ? BENCH_AT_LEAST : BENCH_NOTHING, MIN_OF_DECODE, NULL);
	tell_plain(r, "  time : that of reading", r->index_s / r->read_s);
	tell_plain(r, "indexing by one job, clock, ns a step", r->alone_s / n * 1e9);
	tell_plain(r, "indexing by one job, processors, ns a step", r->alone_cpu_s / n * 1e9);
	tell_plain(r, "indexing by all jobs, clock, ns a step", r->ahead_s / n * 1e9);
	tell_plain(r, "indexing by all jobs, processors, ns a step", r->ahead_cpu_s / n * 1e9);
	tell_plain(r, "indexing by all jobs, times faster than by one", r->alone_s / r->ahead_s);
	tell_plain(r, "  one index a processor at once, times faster", r->alone_s / r->apart_s);
	tell_parts(r);
	if (r->library_s > 0) {
		char name[128];

		snprintf(name, sizeof(name), "%s, million steps/s", r->format->library_name);
		tell_plain(r, name, n / r->library_s / 1e6);
	}
}

static void tell_size(const struct result *r)
{
	double n = (double)r->n_steps, touched = (double)r->stats.n_pages * TS_PAGE_LEN;

	if (r->has_file) {
		tell(r, "index, bytes a step", (double)r->index_len / n, BENCH_AT_MOST,
		     MAX_INDEX + touched / n, "1.5 + memory touched");
		tell(r, "  without reads", (double)r->no_reads_len / n, BENCH_AT_MOST,
		     MAX_NO_READS + touched / n, "0.8 + memory touched");
	}
	tell_plain(r, "  decode points", (double)r->stats.points_len / n);
	tell_plain(r, "  registers", (double)r->stats.regs_len / n);
	tell_plain(r, "  calls", (double)r->calls_len / n);
	if (r->n_calls)
		tell_plain(r, "  calls, bytes each", (double)r->calls_len / (double)r->n_calls);
	tell_plain(r, "  registers, to find each one alone", (double)r->stats.single_regs_len / n);
	tell(r, "  calls and what finds single registers",
	     (double)(r->calls_len + r->stats.single_regs_len) / n, BENCH_AT_MOST, MAX_CALLS, NULL);
	tell_plain(r, "  memory written", (double)r->stats.memory_len / n);
	tell_plain(r, "  memory read", (double)r->stats.reads_len / n);
	tell_plain(r, "  executed addresses", (double)r->stats.runs_len / n);
	tell_plain(r, "memory touched, MiB", touched / MIB);
	tell(r, "peak memory, indexing, MiB", (double)(r->built_kb - r->base_kb) / 1024, BENCH_AT_MOST,
	     MAX_MEMORY + 2 * touched / MIB, "256 + 2 x touched");
	tell_plain(r, "  of it not the index file", (double)r->anon_kb / 1024);
	tell(r, "  and asking", (double)(r->peak_kb - r->base_kb) / 1024, BENCH_AT_MOST,
	     MAX_MEMORY + 2 * touched / MIB, "256 + 2 x touched");
	if (!r->has_file)
		return;
	tell(r, "opening the index again, ms", r->reopen_s * 1e3, BENCH_AT_MOST, MAX_REOPEN_MS, NULL);
	tell(r, "  and asking, peak memory, MiB", (double)r->reopened_kb / 1024, BENCH_AT_MOST,
	     MAX_MEMORY + 2 * touched / MIB, "256 + 2 x touched");
}

/* @first is the result of the shortest recording. */
static void tell_questions(const struct result *r, const struct result *first)
{
	for (enum bench_question k = 0; k < N_QUESTION_KINDS; k++) {
		char name[96];

		if (!(r->times.p50[k] > 0))
			continue;
		snprintf(name, sizeof(name), "%s, p50, us", bench_question_names[k]);
		tell_plain(r, name, r->times.p50[k] * 1e6);
		snprintf(name, sizeof(name), "%s, p99, us", bench_question_names[k]);
		tell(r, name, r->times.p99[k] * 1e6, BENCH_AT_MOST, MAX_P99_US, NULL);
		if (r == first)
			continue;
		snprintf(name, sizeof(name), "%s, p50 : shortest", bench_question_names[k]);
		tell(r, name, r->times.p50[k] / first->times.p50[k], BENCH_AT_MOST, MAX_GROWTH, NULL);
	}
	if (r->rec.mark) {
		tell(r, "bc to the only write, us", r->mark_s * 1e6, BENCH_AT_MOST, MAX_MARK_US, NULL);
		tell_plain(r, "bc to the only write, ns a step", r->mark_s / (double)r->n_steps * 1e9);
	}
}

static void tell_server(const struct result *r)
{
	tell(r, "server's first answer, no index, ms", r->stub.first_s * 1e3, BENCH_AT_MOST, MAX_FIRST_MS,
	     NULL);
	tell_plain(r, "  with an index", r->stub.again_s * 1e3);
	for (enum bench_request i = 0; i < N_REQUESTS; i++) {
		char name[96];

		snprintf(name, sizeof(name), "%s, round trips/s", bench_request_name(i));
		tell_plain(r, name, r->stub.rates[i]);
		if (!(r->live.rates[i] > 0))
			continue;
		snprintf(name, sizeof(name), "%s, gdbserver's", bench_request_name(i));
		tell_plain(r, name, r->live.rates[i]);
		snprintf(name, sizeof(name), "%s, ratio", bench_request_name(i));
		tell(r, name, r->stub.rates[i] / r->live.rates[i],
		     i == REQUEST_STEP ? BENCH_AT_LEAST : BENCH_NOTHING, MIN_OF_LIVE, NULL);
	}
	if (r->stub.back_s > 0)
		tell(r, "bc to the only write, asked of the server, us", r->stub.back_s * 1e6, BENCH_AT_MOST,
		     MAX_MARK_US, NULL);
}

static void run(const struct bench_format *format, const uint64_t *millions, size_t n_sizes)
{
	struct result *results = bench_shared(MAX_SIZES * sizeof(*results));
	char *path = bench_temp(format->name);

	bench_about(format->name, "%s", format->about);
	for (size_t i = 0; i < n_sizes; i++) {
		struct result *r = &results[i];

		*r = (struct result){ .format = format, .path = path, .n_steps = millions[i] * 1000000 };
		if (format->max_steps && r->n_steps > format->max_steps)
			continue;
		measure(r);
		tell_speed(r);
		tell_size(r);
		tell_questions(r, results);
		tell_server(r);
	}
	free(path);
}

int main(void)
{
	uint64_t millions[MAX_SIZES];
	size_t n_sizes = bench_sizes(millions, MAX_SIZES);

	for (const struct bench_format *const *f = bench_formats; *f; f++)
		if ((*f)->is_extra ? getenv("BENCH_FORMATS") && bench_is_wanted((*f)->name)
				   : bench_is_wanted((*f)->name))
			run(*f, millions, n_sizes);
	return 0;
}
