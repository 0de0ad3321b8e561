/* SPDX-License-Identifier: MIT */
#include "questions.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bench.h"
#include "src/query/chunks.h"
#include "src/query/search/search.h"
#include "src/timeline/timeline.h"

#define N_SAMPLES 4096

const char *const bench_question_names[N_QUESTION_KINDS] = {
	[ASK_REGS] = "registers",
	[ASK_STACK] = "64 bytes of stack",
	[ASK_PREV_WRITE] = "previous write of an address",
	[ASK_PREV_EXEC] = "previous execution of a pc",
	[ASK_NEXT_READ] = "next read of an address",
};

/* Addresses that the recording uses, found at random positions. */
struct samples {
	uint64_t addrs[N_QUESTION_KINDS][N_SAMPLES];
	unsigned n[N_QUESTION_KINDS];
};

static uint64_t random_below(uint64_t n)
{
	static uint64_t x = UINT64_C(0x853c49e6748fea9b);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (x >> 11) % n;
}

/* The process of the thread that runs at the position. */
static uint32_t process_at(const struct bench_trace *t, uint64_t pos)
{
	return ts_timeline_process(t->tl, ts_query_thread(t->q, pos));
}

static void ask_regs(const struct bench_trace *t, uint64_t pos, uint8_t *data, uint8_t *known)
{
	struct ts_error err = { 0 };

	bench_check(ts_query_regs(t->q, pos, ts_query_thread(t->q, pos), data, known, &err), &err);
}

/* ---------------------------------------------------------------------------------------- what to ask for */

static void add_sample(struct samples *s, enum bench_question kind, uint64_t addr)
{
	if (s->n[kind] < N_SAMPLES)
		s->addrs[kind][s->n[kind]++] = addr;
}

static uint64_t stack_pointer(const struct bench_trace *t, uint64_t pos)
{
	const struct ts_regset *set = &t->rec->regs;
	const struct ts_reg *sp = &set->regs[set->sp];
	static uint8_t data[65536], known[65536];

	if (set->g_len > sizeof(data))
		bench_die("too many registers");
	ask_regs(t, pos, data, known);
	return ts_arch_get(set->arch, data + sp->off, sp->len);
}

/* The first access of a kind at or after step @i of the batch. */
static void sample_access(struct samples *s, enum bench_question ask, const struct ts_steps *b, uint32_t i,
			  enum ts_effect_kind kind)
{
	for (uint32_t e = b->steps[i].first; e < b->n_effects; e++) {
		const struct ts_effect *fx = &b->effects[e];

		if (fx->kind == kind && fx->len <= 8 && !fx->is_hidden) {
			add_sample(s, ask, fx->addr);
			return;
		}
	}
}

static void take_samples(const struct bench_trace *t, struct samples *s)
{
	for (unsigned i = 0; i < N_SAMPLES; i++) {
		uint64_t pos = random_below(t->tl->n_steps);
		uint32_t at = pos % TS_CHUNK_STEPS;
		struct ts_error err = { 0 };
		const struct ts_steps *b;

		add_sample(s, ASK_STACK, stack_pointer(t, pos));
		b = ts_query_chunk(t->q, pos / TS_CHUNK_STEPS, TS_CHUNK_STEPS, &err);
		bench_check(b, &err);
		add_sample(s, ASK_PREV_EXEC, b->steps[at].pc);
		sample_access(s, ASK_PREV_WRITE, b, at, TS_FX_WRITE);
		if (t->rec->has_reads)
			sample_access(s, ASK_NEXT_READ, b, at, TS_FX_READ);
	}
	s->n[ASK_REGS] = 1; /* they need no address */
}

/* ---------------------------------------------------------------------------------------------- to ask it */

static void search(const struct bench_trace *t, const struct ts_stops *stops, uint64_t pos, uint64_t limit,
		   struct ts_found *found)
{
	struct ts_error err = { 0 };
	struct ts_search s;
	enum ts_next next;

	bench_check(ts_search_init(&s, t->q, stops, pos, limit, &err), &err);
	do {
		next = ts_search_run(&s, 64, found, &err);
	} while (next == TS_END);
	bench_check(next == TS_ITEM, &err);
	ts_search_fini(&s);
}

static void search_watch(const struct bench_trace *t, uint64_t addr, enum ts_watch_kind kind, uint64_t pos,
			 uint64_t limit, struct ts_found *found)
{
	struct ts_watch w = { .process = process_at(t, pos), .addr = addr, .len = 1, .kind = kind };

	search(t, &(struct ts_stops){ .watches = &w, .n_watches = 1 }, pos, limit, found);
}

static void search_break(const struct bench_trace *t, uint64_t addr, uint64_t pos, struct ts_found *found)
{
	struct ts_break br = { .process = process_at(t, pos), .addr = addr };

	search(t, &(struct ts_stops){ .breaks = &br, .n_breaks = 1 }, pos, 0, found);
}

static void ask(const struct bench_trace *t, enum bench_question kind, uint64_t addr, uint64_t pos)
{
	static uint8_t data[65536], known[65536];
	struct ts_error err = { 0 };
	struct ts_found found;

	switch (kind) {
	case ASK_REGS: ask_regs(t, pos, data, known); break;
	case ASK_STACK:
		bench_check(ts_query_mem(t->q, pos, process_at(t, pos), addr, 64, data, known, &err), &err);
		break;
	case ASK_PREV_WRITE: search_watch(t, addr, TS_WATCH_WRITE, pos, 0, &found); break;
	case ASK_PREV_EXEC: search_break(t, addr, pos, &found); break;
	case ASK_NEXT_READ: search_watch(t, addr, TS_WATCH_READ, pos, t->tl->n_steps, &found); break;
	case N_QUESTION_KINDS: break;
	}
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The same questions some times: the least percentiles count, as of all else. */
#define N_ROUNDS 2
static void ask_many(const struct bench_trace *t, enum bench_question kind, const struct samples *s,
		     struct bench_times *r)
{
	static double times[BENCH_N_QUESTIONS];
	static uint64_t where[BENCH_N_QUESTIONS], addrs[BENCH_N_QUESTIONS];

	for (unsigned i = 0; i < BENCH_N_QUESTIONS; i++) {
		where[i] = random_below(t->tl->n_steps);
		addrs[i] = s->addrs[kind][random_below(s->n[kind])];
	}
	for (unsigned round = 0; round < N_ROUNDS; round++) {
		for (unsigned i = 0; i < BENCH_N_QUESTIONS; i++) {
			double start = bench_cpu();

			ask(t, kind, addrs[i], where[i]);
			times[i] = bench_cpu() - start;
		}
		qsort(times, BENCH_N_QUESTIONS, sizeof(times[0]), compare_times);
		bench_keep_least(&r->p50[kind], times[BENCH_N_QUESTIONS / 2]);
		bench_keep_least(&r->p99[kind], times[BENCH_N_QUESTIONS * 99 / 100]);
	}
}

void bench_questions(const struct bench_trace *t, struct bench_times *times)
{
	static struct samples samples;

	*times = (struct bench_times){ 0 };
	take_samples(t, &samples);
	for (enum bench_question kind = 0; kind < N_QUESTION_KINDS; kind++)
		if (samples.n[kind])
			ask_many(t, kind, &samples, times);
}

double bench_find_mark(const struct bench_trace *t, uint64_t mark)
{
	struct ts_found found;
	double start = bench_cpu();

	search_watch(t, mark, TS_WATCH_WRITE, t->tl->n_steps, 0, &found);
	if (found.kind != TS_STOP_WATCH || found.pos > 2000)
		bench_die("the one write to 0x%" PRIx64 " was not found", mark);
	return bench_cpu() - start;
}
