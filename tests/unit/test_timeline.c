/* SPDX-License-Identifier: MIT */
/*
 * The timeline and its queries answer like the naive twin, on random recordings of any length.
 *
 * Built twice: with the sizes of chunks and segments as they are, and with tiny ones (test_timeline_tiny),
 * so that recordings of a few hundred steps have many of both.  TWIN_SEED=n asks one seed, TWIN_ROUNDS=n so
 * many more of them.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_case.h"
#include "world_lists.h"

/* ---------------------------------------------------------------------------------------------- questions */

/* A position: anywhere, at an end, or near a border of chunks. */
static uint64_t any_pos(struct exam *x)
{
	uint64_t pos = script_below(&x->rnd, x->n_steps + 1);
	unsigned how = (unsigned)script_below(&x->rnd, 10);

	if (how == 0)
		return script_chance(&x->rnd, 50) ? 0 : x->n_steps;
	if (how == 1)
		pos = pos / TS_CHUNK_STEPS * TS_CHUNK_STEPS + script_below(&x->rnd, 3) -
		      (pos >= TS_CHUNK_STEPS);
	return pos < x->n_steps ? pos : x->n_steps;
}

static uint32_t any_thread(struct exam *x)
{
	return (uint32_t)script_below(&x->rnd, x->tl->rec->n_threads);
}

static uint32_t any_process(struct exam *x)
{
	return (uint32_t)script_below(&x->rnd, SCRIPT_MAX_PROCESSES);
}

/* An address of an instruction, or near one. */
static uint64_t any_pc(struct exam *x)
{
	const struct ts_step *st = &x->s->steps.steps[script_below(&x->rnd, x->n_steps)];

	return script_chance(&x->rnd, 80) ? st->pc : st->pc + script_below(&x->rnd, 9) - 4;
}

static void check_mem(struct exam *x, uint64_t pos, uint32_t process, uint64_t addr, size_t len)
{
	static uint8_t data[3 * 4096], known[3 * 4096];
	struct ts_error err = { 0 };

	memset(data, 0xee, len);
	memset(known, 0xee, len);
	must(x, ts_query_mem(x->q, pos, process, addr, len, data, known, &err), &err);
	for (size_t i = 0; i < len; i++) {
		bool is_past = i > UINT64_MAX - addr, is_known;
		uint8_t value = 0;

		if (!is_past && !naive_is_tracked(x->nv, addr + i))
			continue;
		is_known = !is_past && process < x->tl->n_memory &&
			   naive_mem(x->nv, pos, process, addr + i, &value);
		if (known[i] != is_known || data[i] != value)
			wrong(x, "process %u, byte 0x%" PRIx64 " (of %zu) at position %" PRIu64
				 ": known %d, 0x%02x, but it is known %d, 0x%02x",
			      process, addr + i, len, pos, known[i], data[i], is_known, value);
	}
}

static void ask_mem(struct exam *x)
{
	uint64_t addr, len;
	unsigned how = (unsigned)script_below(&x->rnd, 100);

	script_range(&x->rnd, 64, &addr, &len);
	if (how < 10 && addr > UINT64_MAX - 100)
		len += 100;
	if (how == 99)
		len = 3 * 4096;
	if (how == 99 && script_chance(&x->rnd, 50))
		addr &= ~UINT64_C(4095);
	check_mem(x, any_pos(x), any_process(x), addr, (size_t)len);
}

static void ask_regs(struct exam *x)
{
	uint64_t pos = any_pos(x);
	uint32_t thread = any_thread(x), g_len = x->tl->rec->regs.g_len;
	const struct ts_reg *pc = &x->tl->rec->regs.regs[x->tl->rec->regs.pc];
	uint8_t data[1024], known[1024];
	struct ts_error err = { 0 };
	bool is_part = script_chance(&x->rnd, 30);
	uint32_t len = is_part ? (uint32_t)script_below(&x->rnd, g_len + 1) : g_len;

	memset(data, 0xee, sizeof(data));
	memset(known, 0xee, sizeof(known));
	must(x, is_part ? ts_query_first_regs(x->q, pos, thread, len, data, known, &err)
			: ts_query_regs(x->q, pos, thread, data, known, &err), &err);
	ck_assert(data[len] == 0xee && known[len] == 0xee);
	for (uint32_t i = 0; i < len; i++) {
		uint8_t value;
		bool is_known = naive_reg(x->nv, pos, thread, i, &value);

		if (is_part && i - pc->off < pc->len)
			continue;
		if (known[i] != is_known || data[i] != value)
			wrong(x, "thread %u, register byte %u at position %" PRIu64
				 ": known %d, 0x%02x, but it is known %d, 0x%02x",
			      thread, i, pos, known[i], data[i], is_known, value);
	}
}

/* Registers and memory going on in small steps, as clients do. */
static void ask_neighbours(struct exam *x)
{
	uint64_t pos = any_pos(x), addr, len;
	uint32_t process = any_process(x);

	script_range(&x->rnd, 24, &addr, &len);
	for (unsigned i = 0; i < 6; i++) {
		check_mem(x, pos, process, addr, (size_t)len);
		if (script_chance(&x->rnd, 50) && pos < x->n_steps)
			pos++;
		else if (pos)
			pos--;
	}
}

static void ask_pc(struct exam *x)
{
	uint64_t pos = any_pos(x), pc, naive;
	uint32_t thread = any_thread(x);
	struct ts_error err = { 0 };
	bool has_pc;

	must(x, ts_query_pc(x->q, pos, thread, &pc, &has_pc, &err), &err);
	if (has_pc != naive_pc(x->nv, pos, thread, &naive) || (has_pc && pc != naive))
		wrong(x, "pc of thread %u at position %" PRIu64 ": %d 0x%" PRIx64 ", not 0x%" PRIx64, thread,
		      pos, has_pc, pc, naive);
}

static void ask_threads(struct exam *x)
{
	uint64_t pos = any_pos(x), next, prev, n = 0;
	uint32_t thread = any_thread(x);

	next = ts_world_next_step(&x->tl->world, thread, pos, x->n_steps);
	prev = ts_world_prev_step(&x->tl->world, thread, pos, x->n_steps);
	if (ts_query_thread(x->q, pos) != naive_thread(x->nv, pos))
		wrong(x, "thread %u runs at position %" PRIu64, ts_query_thread(x->q, pos), pos);
	if (ts_world_is_alive(&x->tl->world, thread, pos) != naive_is_alive(x->nv, pos, thread))
		wrong(x, "life of thread %u at position %" PRIu64, thread, pos);
	if (next != naive_next_step(x->nv, thread, pos))
		wrong(x, "thread %u runs next after %" PRIu64 " at %" PRIu64, thread, pos, next);
	if (prev != naive_prev_step(x->nv, thread, pos))
		wrong(x, "thread %u ran before %" PRIu64 " at %" PRIu64, thread, pos, prev);
	for (uint64_t i = 0; i < pos && i < x->n_steps; i++)
		n += x->s->steps.steps[i].thread == thread;
	if (ts_query_n_steps_of(x->q, thread, pos) != n)
		wrong(x, "thread %u ran %" PRIu64 " of %" PRIu64 " steps, not %" PRIu64, thread,
		      ts_query_n_steps_of(x->q, thread, pos), pos, n);
}

static void ask_exec(struct exam *x)
{
	uint64_t first = any_pc(x), last = first, pos = any_pos(x), next, prev;
	unsigned how = (unsigned)script_below(&x->rnd, 20);
	uint32_t process = any_process(x);

	if (how < 4)
		last = first > UINT64_MAX - 40 ? UINT64_MAX : first + script_below(&x->rnd, 40);
	else if (how == 4)
		last = UINT64_MAX;
	else if (how == 5)
		first = 0;
	next = ts_runs_find(&x->tl->runs, process, first, last, pos, TS_FORWARDS);
	if (next != naive_next_exec(x->nv, process, first, last, pos))
		wrong(x, "0x%" PRIx64 "..0x%" PRIx64 " runs next after %" PRIu64 " at %" PRIu64, first, last,
		      pos, next);
	prev = ts_runs_find(&x->tl->runs, process, first, last, pos, TS_BACKWARDS);
	if (prev != naive_prev_exec(x->nv, process, first, last, pos))
		wrong(x, "0x%" PRIx64 "..0x%" PRIx64 " ran before %" PRIu64 " at %" PRIu64, first, last, pos,
		      prev);
}

static bool is_same_event(const struct ts_event_at *h, const struct ts_event *ev, uint64_t step,
			  uint32_t thread)
{
	if (!h || !ev)
		return !h && !ev;
	return h->step == step && h->thread == thread && h->event.number == ev->number &&
	       h->event.ret == ev->ret && h->event.n_args == ev->n_args &&
	       !memcmp(h->event.args, ev->args, sizeof(ev->args));
}

static void ask_event(struct exam *x)
{
	enum ts_event_kind kind = (enum ts_event_kind)script_below(&x->rnd, TS_N_EVENT_KINDS);
	uint64_t pos = any_pos(x), step = 0;
	const struct ts_event *ev;
	uint32_t thread = 0;

	ev = naive_next_event(x->nv, kind, pos, &step, &thread);
	if (!is_same_event(ts_world_find_event(&x->tl->world, kind, pos, false), ev, step, thread))
		wrong(x, "next event of kind %d after %" PRIu64, kind, pos);
	ev = naive_prev_event(x->nv, kind, pos, &step, &thread);
	if (!is_same_event(ts_world_find_event(&x->tl->world, kind, pos, true), ev, step, thread))
		wrong(x, "event of kind %d before %" PRIu64, kind, pos);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void check_mapping(struct exam *x, const struct ts_region *const *regions, size_t n, uint64_t pos,
			  uint32_t process, uint64_t addr)
{
	const struct naive_mapping *m = naive_mapping(x->nv, pos, process, addr);
	const struct ts_world *w = &x->tl->world;
	const struct ts_region *r = NULL;

	for (size_t i = 0; i < n; i++) {
		if (addr >= regions[i]->first && addr <= regions[i]->last)
			r = regions[i];
	}
	if (!r != !m)
		wrong(x, "0x%" PRIx64 " at position %" PRIu64 ": mapped %d", addr, pos, r != NULL);
	if (m && (r->prot != m->prot || r->file_off + (addr - r->first) != m->file_off ||
		  !is_same_text(ts_world_text(w, r->desc), m->desc) ||
		  !is_same_text(ts_world_text(w, r->file), m->file)))
		wrong(x, "0x%" PRIx64 " at position %" PRIu64 ": prot %u, file offset 0x%" PRIx64, addr, pos,
		      r->prot, r->file_off + (addr - r->first));
}

static void ask_regions(struct exam *x)
{
	const struct ts_region *regions[512];
	uint64_t pos = any_pos(x), addr, len;
	uint32_t process = any_process(x);
	size_t n = world_regions(&x->tl->world, process, pos, regions, 512);

	if (n > 512)
		wrong(x, "%zu regions at %" PRIu64, n, pos);
	for (size_t i = 1; i < n; i++) {
		if (regions[i]->first <= regions[i - 1]->last)
			wrong(x, "regions %zu and %zu overlap at %" PRIu64, i - 1, i, pos);
	}
	for (unsigned i = 0; i < 20; i++) {
		script_range(&x->rnd, 1, &addr, &len);
		check_mapping(x, regions, n, pos, process, addr);
	}
}

static void ask_modules(struct exam *x)
{
	uint64_t pos = any_pos(x);
	uint32_t process = any_process(x), naive_at = 0;
	const struct naive_module *n;
	const struct ts_module_span *m;
	size_t at = 0;

	do {
		m = world_next_module(&x->tl->world, process, pos, &at);
		n = naive_next_module(x->nv, pos, process, &naive_at);
		if (!m != !n || (m && (m->first != n->first || m->last != n->last ||
				       !is_same_text(ts_world_text(&x->tl->world, m->file), n->file))))
			wrong(x, "module %zu at position %" PRIu64, at, pos);
	} while (m);
}

/* The step itself, as the loader gave it. */
static void ask_step(struct exam *x)
{
	uint64_t pos = script_below(&x->rnd, x->n_steps);
	const struct ts_step *naive = &x->s->steps.steps[pos], *st;
	const struct ts_steps *b;
	struct ts_error err = { 0 };

	st = ts_query_step(x->q, pos, &b, &err);
	must(x, st != NULL, &err);
	if (st->pc != naive->pc || st->thread != naive->thread || st->insn_len != naive->insn_len ||
	    st->n_effects < naive->n_effects) /* what is inferred comes after them */
		wrong(x, "step %" PRIu64 " has pc 0x%" PRIx64, pos, st->pc);
}

/* What was lent of a chunk whose last step was asked for stays while the epoch does. */
static void ask_epoch(struct exam *x)
{
	uint64_t pos = script_below(&x->rnd, x->n_steps), last = pos | (TS_CHUNK_STEPS - 1), epoch;
	const struct ts_steps *lent, *other;
	struct ts_error err = { 0 };

	if (last >= x->n_steps)
		last = x->n_steps - 1;
	must(x, ts_query_step(x->q, last, &lent, &err) != NULL, &err);
	epoch = ts_query_epoch(x->q);
	for (unsigned i = 0; i < 40 && ts_query_epoch(x->q) == epoch; i++) {
		if (lent->steps[pos % TS_CHUNK_STEPS].pc != x->s->steps.steps[pos].pc)
			wrong(x, "step %" PRIu64 " was lent, and is another one", pos);
		must(x, ts_query_step(x->q, script_below(&x->rnd, x->n_steps), &other, &err) != NULL, &err);
	}
}

#define MAX_STOPS 4

struct some_stops {
	struct ts_stops stops;
	struct ts_break breaks[MAX_STOPS];
	struct ts_watch watches[MAX_STOPS];
	uint64_t syscalls[MAX_STOPS];
};

static struct ts_watch any_watch(struct exam *x)
{
	struct ts_watch w = { .process = any_process(x),
			      .kind = (enum ts_watch_kind)script_below(&x->rnd, 3) };

	script_range(&x->rnd, 20, &w.addr, &w.len);
	if (script_chance(&x->rnd, 3)) {
		w.len = 1 + script_below(&x->rnd, TS_MAX_WATCH_LEN);
		if (w.len - 1 > UINT64_MAX - w.addr)
			w.len = UINT64_MAX - w.addr + 1;
	}
	return w;
}

static void any_stops(struct exam *x, struct some_stops *some)
{
	*some = (struct some_stops){ .stops = { .breaks = some->breaks,
						.watches = some->watches,
						.syscalls = some->syscalls } };
	some->stops.n_breaks = script_below(&x->rnd, 3) * script_below(&x->rnd, 3);
	some->stops.n_watches = script_below(&x->rnd, 3) * script_below(&x->rnd, 3);
	some->stops.has_syscalls = script_chance(&x->rnd, 30);
	some->stops.n_syscalls = script_below(&x->rnd, 3);
	for (unsigned i = 0; i < MAX_STOPS; i++) {
		some->breaks[i] = (struct ts_break){ any_process(x), any_pc(x) };
		some->watches[i] = any_watch(x);
		some->syscalls[i] = script_below(&x->rnd, 5);
	}
}

static void search(struct exam *x, const struct ts_stops *stops, uint64_t from, uint64_t limit,
		   struct ts_found *found)
{
	struct ts_error err = { 0 };
	struct ts_search s;
	enum ts_next next;

	must(x, ts_search_init(&s, x->q, stops, from, limit, &err), &err);
	do
		next = ts_search_run(&s, 1 + (unsigned)script_below(&x->rnd, 3), found, &err);
	while (next == TS_MORE);
	must(x, next == TS_ITEM, &err);
	ts_search_fini(&s);
}

static void ask_search(struct exam *x)
{
	uint64_t from = any_pos(x), limit = script_chance(&x->rnd, 50) ? 0 : x->n_steps;
	struct ts_found found, naive;
	struct some_stops some;

	if (script_chance(&x->rnd, 20))
		limit = any_pos(x);
	any_stops(x, &some);
	search(x, &some.stops, from, limit, &found);
	naive_search(x->nv, &some.stops, from, limit, &naive);
	if (found.pos != naive.pos || found.kind != naive.kind || found.thread != naive.thread ||
	    found.number != naive.number ||
	    (found.kind == TS_STOP_WATCH && (found.watch != naive.watch || found.addr != naive.addr)))
		wrong(x,
		      "from %" PRIu64 " to %" PRIu64
		      " with %zu breaks, %zu watches, syscalls %d: stop %d at %" PRIu64
		      " (thread %u, watch %zu, 0x%" PRIx64 ", number %" PRIu64 "), but it is %d at %" PRIu64
		      " (%u, %zu, 0x%" PRIx64 ", %" PRIu64 ")",
		      from, limit, some.stops.n_breaks, some.stops.n_watches, some.stops.has_syscalls,
		      found.kind, found.pos, found.thread, found.watch, found.addr, found.number, naive.kind,
		      naive.pos, naive.thread, naive.watch, naive.addr, naive.number);
}

/* Another query object knows nothing of what was asked before. */
static void start_afresh(struct exam *x)
{
	struct ts_error err = { 0 };

	ts_query_free(x->q);
	x->q = ts_query_new(x->tl, &err);
	must(x, x->q != NULL, &err);
}

static void ask(struct exam *x, uint64_t n)
{
	static const struct {
		void (*ask)(struct exam *x);
		unsigned weight;
	} questions[] = {
		{ ask_mem, 34 },    { ask_neighbours, 4 }, { ask_regs, 15 },  { ask_pc, 8 },
		{ ask_threads, 8 }, { ask_exec, 12 },      { ask_event, 5 },  { ask_regions, 3 },
		{ ask_modules, 1 }, { ask_step, 3 },       { ask_search, 5 },
		{ ask_epoch, 2 },
	};

	for (; n; n--, x->n_asked++) {
		unsigned which = 0, dice = (unsigned)script_below(&x->rnd, 100);

		if (dice == 0 && script_chance(&x->rnd, 10))
			start_afresh(x);
		while (dice >= questions[which].weight)
			dice -= questions[which++].weight;
		questions[which].ask(x);
	}
}

static void check_counts(struct exam *x)
{
	struct ts_timeline_stats stats;

	ts_timeline_stats(x->tl, &stats);
	if (stats.n_inferred != x->nv->n_inferred || stats.n_unexplained != x->nv->n_unexplained)
		wrong(x, "%" PRIu64 " inferred, %" PRIu64 " unexplained, but they are %" PRIu64 ", %" PRIu64,
		      stats.n_inferred, stats.n_unexplained, x->nv->n_inferred, x->nv->n_unexplained);
}

static void examine(uint64_t seed, uint64_t n_steps, uint64_t n_questions)
{
	struct exam x;

	exam_init(&x, seed, n_steps, seed % 3 ? TS_END : TS_FAIL);
	check_counts(&x);
	ask(&x, n_questions);
	exam_fini(&x);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Lengths of recordings by seed: few steps, around borders of chunks and segments, many. */
static uint64_t n_steps_of(uint64_t seed)
{
	struct script_random r = { seed * 77 };
	uint64_t segment = (uint64_t)TS_CHUNK_STEPS * TS_SEGMENT_CHUNKS;

	switch (seed % 8) {
	case 0:
		return 1 + script_below(&r, 12);
	case 1:
		return (1 + script_below(&r, 3)) * TS_CHUNK_STEPS + script_below(&r, 3) - 1;
	case 2:
		return segment < 4096 ? (1 + script_below(&r, 4)) * segment + script_below(&r, 3) - 1
				      : 2 * TS_CHUNK_STEPS;
	case 3:
		return 100 + script_below(&r, seed % 5 ? 3000 : 20000);
	default:
		return 1 + script_below(&r, 600);
	}
}

START_TEST(any_question_at_any_position_is_answered_like_the_twin_does)
{
	uint64_t first = from_environment("TWIN_SEED", 1);
	uint64_t n = getenv("TWIN_SEED") ? 1 : from_environment("TWIN_ROUNDS", 80);

	write_mapped_file();
	for (uint64_t seed = first; seed < first + n; seed++)
		examine(seed, n_steps_of(seed), 3200);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ ends */

START_TEST(a_recording_may_end_or_break_anywhere_around_a_border)
{
	static const uint64_t chunks[] = { 1, 2, 4, 8 };

	write_mapped_file();
	for (unsigned i = 0; i < 4; i++) {
		for (uint64_t n = chunks[i] * TS_CHUNK_STEPS - 1; n <= chunks[i] * TS_CHUNK_STEPS + 1; n++) {
			struct exam x;

			for (unsigned is_damaged = 0; is_damaged < 2; is_damaged++) {
				exam_init(&x, 1000 + n, n, is_damaged ? TS_FAIL : TS_END);
				ck_assert_uint_eq(x.tl->n_chunks, (n + TS_CHUNK_STEPS - 1) / TS_CHUNK_STEPS);
				check_counts(&x);
				ask(&x, 1000);
				exam_fini(&x);
			}
		}
	}
}
END_TEST

UNIT_SUITE("timeline", any_question_at_any_position_is_answered_like_the_twin_does,
	   a_recording_may_end_or_break_anywhere_around_a_border)
