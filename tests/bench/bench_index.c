/* SPDX-License-Identifier: MIT */
/*
 * How fast is a recording indexed, how large is the index, how fast does it answer?
 *
 * Everything is measured in one run on recordings made here (recording.h): indexing, into a file, beside
 * reading the trace and beside decoding it without an index, each the best of three; opening the index again;
 * then 10,000 random questions of each kind.  Times are the processor's for this process, so that a busy
 * machine does not show; nothing here waits but for the disk.  Each recording has a process of its own, whose
 * peak memory is that of the first indexing.
 *
 * BENCH_SIZES="1 10 100" are the sizes in millions of steps (1 and 10 by default), BENCH_LARGE=1 adds 1,000:
 * of those beyond 10 there is one turn each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaders/loader.h"
#include "recording.h"
#include "src/query.h"
#include "src/search.h"
#include "src/timeline.h"

#define N_RUNS 3
#define MANY_STEPS UINT64_C(20000000) /* of a recording that is measured once */
#define N_QUESTIONS 10000
#define N_SAMPLES 4096

enum question {
	ASK_REGS,
	ASK_STACK,
	ASK_PREV_WRITE,
	ASK_PREV_EXEC,
	ASK_NEXT_READ,
	N_QUESTION_KINDS
};

static const char *const question_names[N_QUESTION_KINDS] = {
	"registers",
	"64 bytes of stack",
	"previous write of an address",
	"previous execution of a pc",
	"next read of an address",
};

struct result {
	struct bench_recording rec;
	double read_s, decode_s, index_s; /* best of N_RUNS */
	struct ts_timeline_stats stats;
	uint64_t n_steps;
	long base_kb, peak_kb;            /* resident memory before and after the first indexing */
	double p50[N_QUESTION_KINDS], p99[N_QUESTION_KINDS];
	double once_s;                    /* reverse-continue from the end to the write that happens once */
	double reopen_s;                  /* from a path to an index that can be asked */
	uint64_t index_len;               /* of the file */
};

/* One recording, with all that is open over it. */
struct trace {
	struct ts_source *src;
	struct ts_recording *rec;
	struct ts_timeline *tl;
	struct ts_query *q;
};

static void check(bool done, const struct ts_error *err)
{
	if (!done)
		bench_die("%s", err->text);
}

static void open_trace(struct trace *t, const char *path)
{
	static const struct ts_loader_options options;
	struct ts_error err = { 0 };
	const struct ts_loader *loader;

	*t = (struct trace){ .src = ts_source_open(path, &err) };
	check(t->src, &err);
	loader = ts_loader_probe(t->src, &err);
	check(loader, &err);
	t->rec = loader->open(t->src, &options, &err);
	check(t->rec, &err);
}

static void close_trace(struct trace *t)
{
	ts_query_free(t->q);
	ts_timeline_free(t->tl);
	ts_recording_close(t->rec);
	ts_source_close(t->src);
}

/* ----------------------------------------------------------------------------------------------- one pass */

static void pass_read(const char *path)
{
	static uint8_t piece[1 << 20];
	struct ts_error err = { 0 };
	struct ts_source *src = ts_source_open(path, &err);
	size_t got = 1;

	check(src, &err);
	for (uint64_t off = 0; got; off += got)
		check(ts_source_read(src, off, piece, sizeof(piece), &got, &err), &err);
	ts_source_close(src);
}

static void pass_decode(const char *path)
{
	struct ts_error err = { 0 };
	struct ts_reader *reader;
	enum ts_next next = TS_ITEM;
	struct ts_steps steps;
	struct trace t;

	open_trace(&t, path);
	reader = t.rec->ops->reader(t.rec, &err);
	check(reader, &err);
	ts_steps_init(&steps);
	while (next == TS_ITEM) {
		next = reader->ops->next(reader, &steps, &err);
		if (steps.n_steps == TS_CHUNK_STEPS)
			ts_steps_reset(&steps);
	}
	check(next == TS_END, &err);
	ts_steps_fini(&steps);
	ts_reader_close(reader);
	close_trace(&t);
}

static const char *index_path(const char *path)
{
	static char index[4096];

	snprintf(index, sizeof(index), "%s.tsindex", path);
	return index;
}

/* A timeline over the trace, with the index file that there is, or a new one. */
static void begin(struct trace *t, const char *path, bool is_new)
{
	struct ts_error err = { 0 };
	struct ts_index_file *f;
	struct ts_index_key key;

	open_trace(t, path);
	check(ts_index_key(t->src, "bench", &key, &err), &err);
	t->tl = ts_timeline_new(t->rec, NULL, &err);
	check(t->tl, &err);
	f = is_new ? ts_index_create(index_path(path), &key, &err)
		   : ts_index_open(index_path(path), &key, &err);
	check(f, &err);
	check(ts_timeline_use_file(t->tl, f, &err), &err);
}

static void build(struct trace *t, const char *path)
{
	struct ts_error err = { 0 };
	enum ts_grow grown;

	unlink(index_path(path));
	begin(t, path, true);
	do {
		grown = ts_timeline_grow(t->tl, 1 << 20, &err);
	} while (grown == TS_GROW_MORE);
	check(grown == TS_GROW_DONE, &err);
	check(t->tl->damage.code == TS_OK, &t->tl->damage);
	check(t->tl->file_error.code == TS_OK, &t->tl->file_error);
}

static void pass_reopen(const char *path)
{
	struct trace t;

	begin(&t, path, false);
	if (t.tl->builder)
		bench_die("the index is not complete");
	close_trace(&t);
}

static void pass_index(const char *path)
{
	struct trace t;

	build(&t, path);
	close_trace(&t);
}

static double best_of(unsigned n_runs, void (*pass)(const char *path), const char *path)
{
	double best = 0;

	for (unsigned i = 0; i < n_runs; i++) {
		double start = bench_cpu(), s;

		pass(path);
		s = bench_cpu() - start;
		if (!i || s < best)
			best = s;
	}
	return best;
}

/* ---------------------------------------------------------------------------------------------- questions */

/* What to ask about: addresses that the recording really uses, taken at random positions. */
struct samples {
	uint64_t sp[N_SAMPLES], pc[N_SAMPLES], written[N_SAMPLES], read[N_SAMPLES];
};

static uint64_t random_below(uint64_t n)
{
	static uint64_t x = UINT64_C(0x853c49e6748fea9b);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (x >> 11) % n;
}

static uint64_t stack_pointer(const struct trace *t, uint64_t pos)
{
	const struct ts_regset *set = &t->rec->regs;
	const struct ts_reg *sp = &set->regs[set->sp];
	uint8_t data[65536], known[65536];
	struct ts_error err = { 0 };

	check(set->g_len <= sizeof(data) &&
		      ts_query_regs(t->q, pos, ts_query_thread(t->q, pos), data, known, &err),
	      &err);
	return ts_arch_get(set->arch, data + sp->off, sp->len);
}

/* The address of the first effect of this kind at or after step @i of the batch; false if there is none. */
static bool find_access(const struct ts_steps *b, uint32_t i, enum ts_effect_kind kind, uint64_t *addr)
{
	for (uint32_t e = b->steps[i].first; e < b->n_effects; e++) {
		if (b->effects[e].kind == kind && b->effects[e].len <= 8) {
			*addr = b->effects[e].addr;
			return true;
		}
	}
	return false;
}

static void take_samples(const struct trace *t, struct samples *s)
{
	for (unsigned i = 0; i < N_SAMPLES;) {
		uint64_t pos = random_below(t->tl->n_steps);
		struct ts_error err = { 0 };
		const struct ts_steps *b = ts_query_chunk(t->q, pos / TS_CHUNK_STEPS, TS_CHUNK_STEPS, &err);
		uint32_t at = pos % TS_CHUNK_STEPS;

		check(b, &err);
		s->sp[i] = stack_pointer(t, pos);
		s->pc[i] = b->steps[at].pc;
		i += find_access(b, at, TS_FX_WRITE, &s->written[i]) &&
		     find_access(b, at, TS_FX_READ, &s->read[i]);
	}
}

static void search(const struct trace *t, const struct ts_stops *stops, uint64_t pos, bool is_reverse,
		   struct ts_found *found)
{
	struct ts_error err = { 0 };
	struct ts_search s;
	enum ts_next next;

	check(ts_search_init(&s, t->q, stops, pos, is_reverse, &err), &err);
	do {
		next = ts_search_run(&s, 64, found, &err);
	} while (next == TS_END);
	check(next == TS_ITEM, &err);
	ts_search_fini(&s);
}

static void search_watch(const struct trace *t, uint64_t addr, enum ts_watch_kind kind, uint64_t pos,
			 bool is_reverse, struct ts_found *found)
{
	struct ts_watch w = { .addr = addr, .len = 1, .kind = kind };

	search(t, &(struct ts_stops){ .watches = &w, .n_watches = 1 }, pos, is_reverse, found);
}

static void ask(const struct trace *t, enum question kind, const struct samples *s, uint64_t pos)
{
	static uint8_t data[65536], known[65536];
	uint64_t i = random_below(N_SAMPLES);
	struct ts_error err = { 0 };
	struct ts_found found;
	struct ts_break br;

	switch (kind) {
	case ASK_REGS:
		check(ts_query_regs(t->q, pos, 0, data, known, &err), &err);
		break;
	case ASK_STACK:
		check(ts_query_mem(t->q, pos, 0, s->sp[i], 64, data, known, &err), &err);
		break;
	case ASK_PREV_WRITE:
		search_watch(t, s->written[i], TS_WATCH_WRITE, pos, true, &found);
		break;
	case ASK_PREV_EXEC:
		br = (struct ts_break){ .addr = s->pc[i] };
		search(t, &(struct ts_stops){ .breaks = &br, .n_breaks = 1 }, pos, true, &found);
		break;
	case ASK_NEXT_READ:
		search_watch(t, s->read[i], TS_WATCH_READ, pos, false, &found);
		break;
	case N_QUESTION_KINDS:
		break;
	}
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void ask_many(const struct trace *t, enum question kind, const struct samples *s, struct result *r)
{
	static double times[N_QUESTIONS];

	for (unsigned i = 0; i < N_QUESTIONS; i++) {
		uint64_t pos = random_below(t->tl->n_steps);
		double start = bench_cpu();

		ask(t, kind, s, pos);
		times[i] = bench_cpu() - start;
	}
	qsort(times, N_QUESTIONS, sizeof(times[0]), compare_times);
	r->p50[kind] = times[N_QUESTIONS / 2];
	r->p99[kind] = times[N_QUESTIONS * 99 / 100];
}

static double ask_once(const struct trace *t, uint64_t mark)
{
	struct ts_found found;
	double start = bench_cpu();

	search_watch(t, mark, TS_WATCH_WRITE, t->tl->n_steps, true, &found);
	if (found.kind != TS_STOP_WATCH || found.pos > 1000)
		bench_die("the one write to 0x%" PRIx64 " was not found", mark);
	return bench_cpu() - start;
}

/* --------------------------------------------------------------------------------------- a recording each */

static long peak_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void measure(const char *path, struct result *r)
{
	static struct samples samples;
	struct ts_error err = { 0 };
	struct trace t;
	unsigned n_runs;

	r->base_kb = peak_kb();
	build(&t, path);
	r->peak_kb = peak_kb();
	ts_timeline_stats(t.tl, &r->stats);
	r->n_steps = t.tl->n_steps;
	if (r->n_steps != r->rec.n_steps)
		bench_die("%" PRIu64 " steps indexed where %" PRIu64 " were written", r->n_steps,
			  r->rec.n_steps);
	t.q = ts_query_new(t.tl, &err);
	check(t.q, &err);
	take_samples(&t, &samples);
	for (enum question kind = 0; kind < N_QUESTION_KINDS; kind++)
		ask_many(&t, kind, &samples, r);
	r->once_s = ask_once(&t, r->rec.mark);
	r->index_len = ts_index_len(t.tl->file);
	close_trace(&t);
	r->reopen_s = best_of(N_RUNS, pass_reopen, path);
	n_runs = r->n_steps > MANY_STEPS ? 1 : N_RUNS;
	r->read_s = best_of(n_runs, pass_read, path);
	r->decode_s = best_of(n_runs, pass_decode, path);
	r->index_s = best_of(n_runs, pass_index, path);
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bench_die("a recording could not be measured");
}

static void run(const char *source, enum bench_layout layout, uint64_t n_steps, struct result *r)
{
	char *path = bench_temp("index");
	pid_t pid = fork();

	if (!pid) {
		bench_record(source, path, layout, n_steps, &r->rec);
		_exit(0);
	}
	wait_for(pid);
	pid = fork();
	if (!pid) {
		measure(path, r);
		_exit(0);
	}
	wait_for(pid);
	unlink(index_path(path));
	unlink(path);
	free(path);
}

/* ---------------------------------------------------------------------------------------------- the table */

#define MAX_COLUMNS 16

static unsigned n_columns;
static enum bench_layout layouts[MAX_COLUMNS];

static void row(const char *name, const struct result *results, double (*value)(const struct result *r),
		const char *format)
{
	printf("  %-34s", name);
	for (unsigned i = 0; i < n_columns; i++) {
		char text[32];

		snprintf(text, sizeof(text), format, value(&results[i]));
		printf("%16s", text);
	}
	putchar('\n');
}

#define VALUE(name, expression)                     \
	static double name(const struct result *r)  \
	{                                           \
		return (double)(expression);        \
	}

VALUE(steps, r->n_steps)
VALUE(file_per_step, (double)r->rec.file_len / (double)r->n_steps)
VALUE(read_ns, r->read_s * 1e9 / (double)r->n_steps)
VALUE(decode_ns, r->decode_s * 1e9 / (double)r->n_steps)
VALUE(index_ns, r->index_s * 1e9 / (double)r->n_steps)
VALUE(decode_rate, (double)r->n_steps / r->decode_s / 1e6)
VALUE(index_rate, (double)r->n_steps / r->index_s / 1e6)
VALUE(index_to_decode, r->index_s / r->decode_s)
VALUE(index_to_read, r->index_s / r->read_s)
VALUE(index_share, 100 * r->decode_s / r->index_s)
VALUE(points_per_step, (double)r->stats.points_len / (double)r->n_steps)
VALUE(regs_per_step, (double)r->stats.regs_len / (double)r->n_steps)
VALUE(memory_per_step, (double)r->stats.memory_len / (double)r->n_steps)
VALUE(reads_per_step, (double)r->stats.reads_len / (double)r->n_steps)
VALUE(runs_per_step, (double)r->stats.runs_len / (double)r->n_steps)
VALUE(all_per_step,
      points_per_step(r) + regs_per_step(r) + memory_per_step(r) + reads_per_step(r) + runs_per_step(r))
VALUE(peak_mib, (double)(r->peak_kb - r->base_kb) / 1024)
VALUE(once_us, r->once_s * 1e6)
VALUE(reopen_ms, r->reopen_s * 1e3)
VALUE(index_file, (double)r->index_len / (double)r->n_steps)

static void print(const char *source, const struct result *results)
{
	printf("index: \"%s\", recorded by Usercorn, its frames repeated; best of %d runs, processor time, "
	       "file in the page cache\n",
	       source, N_RUNS);
	printf("  %-34s", "");
	for (unsigned i = 0; i < n_columns; i++)
		printf("%16s", layouts[i] == BENCH_PLAIN ? "v0" : "v1 snappy");
	putchar('\n');
	row("steps", results, steps, "%.0f");
	row("file, bytes a step", results, file_per_step, "%.2f");
	row("reading the file, ns a step", results, read_ns, "%.1f");
	row("decoding alone, ns a step", results, decode_ns, "%.1f");
	row("indexing (decodes too), ns a step", results, index_ns, "%.1f");
	row("decoding, million steps a second", results, decode_rate, "%.2f");
	row("indexing, million steps a second", results, index_rate, "%.2f");
	row("indexing : decoding, time", results, index_to_decode, "%.2f");
	row("indexing's speed, % of decoding's", results, index_share, "%.0f");
	row("indexing : reading, time", results, index_to_read, "%.1f");
	row("index, bytes a step", results, all_per_step, "%.3f");
	row("  decode points", results, points_per_step, "%.3f");
	row("  registers", results, regs_per_step, "%.3f");
	row("  memory written", results, memory_per_step, "%.3f");
	row("  memory read", results, reads_per_step, "%.3f");
	row("  executed addresses", results, runs_per_step, "%.3f");
	row("index file, bytes a step", results, index_file, "%.3f");
	row("peak memory of indexing, MiB", results, peak_mib, "%.1f");
	row("opening it again, ms", results, reopen_ms, "%.1f");
	printf("  %d random questions, p50 / p99 in microseconds\n", N_QUESTIONS);
	for (unsigned k = 0; k < N_QUESTION_KINDS; k++) {
		printf("    %-32s", question_names[k]);
		for (unsigned i = 0; i < n_columns; i++) {
			char text[32];

			snprintf(text, sizeof(text), "%.1f / %.1f", results[i].p50[k] * 1e6,
				 results[i].p99[k] * 1e6);
			printf("%16s", text);
		}
		putchar('\n');
	}
	row("bc from end to a single hit, us", results, once_us, "%.1f");
}

/* The sizes that are asked for, each in both layouts.  Returns how many columns they make. */
static unsigned choose_sizes(uint64_t *n_steps)
{
	const char *sizes = getenv("BENCH_SIZES"), *large = getenv("BENCH_LARGE");
	char text[256], *at = text, *end;
	unsigned n = 0;

	snprintf(text, sizeof(text), "%s%s", sizes ? sizes : "1 10", large && *large == '1' ? " 1000" : "");
	for (uint64_t millions; (millions = strtoull(at, &end, 10)) && end > at && n + 2 <= MAX_COLUMNS;
	     at = end) {
		for (enum bench_layout layout = BENCH_PLAIN; layout <= BENCH_FRAMED; layout++) {
			n_steps[n] = millions * 1000000;
			layouts[n++] = layout;
		}
	}
	return n;
}

int main(void)
{
	uint64_t n_steps[MAX_COLUMNS];
	size_t len = MAX_COLUMNS * sizeof(struct result);
	struct result *results = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *name, *source = bench_source(&name);

	if (results == MAP_FAILED)
		bench_die("no memory");
	n_columns = choose_sizes(n_steps);
	for (unsigned i = 0; i < n_columns; i++)
		run(source, layouts[i], n_steps[i], &results[i]);
	print(name, results);
	return 0;
}
