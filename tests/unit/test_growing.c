/* SPDX-License-Identifier: MIT */
/*
 * What is asked and walked while a recording is being read, compared with the same after it has been read.
 *
 * Reading stands still while questions are asked: the test says when it goes on.  Chunks are small, so that
 * each recording is published in many snapshots.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "naive.h"
#include "script.h"
#include "src/query/search/walk.h"
#include "src/timeline/timeline.h"

/* One recording twice: read to its end, and on the way. */
struct pair {
	uint64_t seed, n_steps;
	struct script_random rnd;
	struct script *s, *twin;
	struct ts_timeline *tl, *whole_tl;
	struct ts_query *q, *whole;
};

__attribute__((format(printf, 2, 3))) static void wrong(const struct pair *p, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ck_abort_msg("seed %" PRIu64 ", published to %" PRIu64 " of %" PRIu64 ": %s", p->seed,
		     ts_query_end(p->q), p->n_steps, text);
}

/* Read on until something new is published, or to the end. */
static void publish(struct pair *p)
{
	struct ts_error err = { 0 };

	do
		ck_assert_int_ne(ts_timeline_grow(p->tl, TS_CHUNK_STEPS, &err), TS_FAIL);
	while (!ts_query_refresh(p->q) && !ts_query_is_complete(p->q));
}

/* Read on a little; what is asked about stays the snapshot. */
static void run_ahead(struct pair *p)
{
	struct ts_error err = { 0 };

	for (uint64_t n = script_below(&p->rnd, 4); n; n--)
		ck_assert_int_ne(ts_timeline_grow(p->tl, 1, &err), TS_FAIL);
}

static void pair_init(struct pair *p, uint64_t seed, uint64_t n_steps)
{
	struct ts_error err = { 0 };

	*p = (struct pair){ .seed = seed, .n_steps = n_steps, .rnd = { ~seed } };
	script_has_no_unseen = true; /* what changed unseen is learned later, from what is read then */
	p->s = script_random_new(seed, n_steps);
	p->twin = script_random_new(seed, n_steps);
	p->tl = ts_timeline_new(&p->s->rec, NULL, &err);
	p->whole_tl = ts_timeline_new(&p->twin->rec, NULL, &err);
	ck_assert(p->tl && p->whole_tl);
	ck_assert_int_eq(ts_timeline_grow(p->whole_tl, UINT64_MAX, &err), TS_END);
	p->whole = ts_query_new(p->whole_tl, &err);
	while (!p->tl->n_steps)
		ck_assert_int_ne(ts_timeline_grow(p->tl, 1, &err), TS_FAIL);
	p->q = ts_query_new(p->tl, &err);
	ck_assert(p->q && p->whole);
}

static void pair_fini(struct pair *p)
{
	ts_query_free(p->q);
	ts_query_free(p->whole);
	ts_timeline_free(p->tl);
	ts_timeline_free(p->whole_tl);
	script_free(p->s);
	script_free(p->twin);
}

/* ---------------------------------------------------------------------------------------------- questions */

static uint64_t any_pos(struct pair *p)
{
	uint64_t end = ts_query_end(p->q);

	return script_chance(&p->rnd, 20) ? end : script_below(&p->rnd, end + 1);
}

static uint64_t any_pc(struct pair *p)
{
	return p->s->steps.steps[script_below(&p->rnd, p->n_steps)].pc;
}

static uint32_t any_process(struct pair *p)
{
	return (uint32_t)script_below(&p->rnd, SCRIPT_MAX_PROCESSES);
}

/*
 * "Next" is what it is in the whole recording, or none, and then it is not published: it lies from @visible
 * on.
 */
static void check_next(struct pair *p, const char *what, uint64_t next, uint64_t whole, uint64_t visible)
{
	if (next != (whole < visible ? whole : TS_NO_POS))
		wrong(p, "next %s %" PRIu64 ", but it is %" PRIu64, what, next, whole);
}

static void check_prev(struct pair *p, const char *what, uint64_t prev, uint64_t whole)
{
	if (prev != whole)
		wrong(p, "previous %s %" PRIu64 ", but it is %" PRIu64, what, prev, whole);
}

static void ask_executions(struct pair *p)
{
	uint64_t pos = any_pos(p), first = any_pc(p),
		 last = first + script_below(&p->rnd, 8) * script_chance(&p->rnd, 20);
	uint32_t process = script_chance(&p->rnd, 20) ? TS_ANY_PROCESS : any_process(p);

	if (last < first)
		last = first;
	check_next(p, "execution", ts_query_find_execution(p->q, process, first, last, pos, TS_FORWARDS),
		   ts_query_find_execution(p->whole, process, first, last, pos, TS_FORWARDS), ts_query_n_steps(p->q));
	check_prev(p, "execution", ts_query_find_execution(p->q, process, first, last, pos, TS_BACKWARDS),
		   ts_query_find_execution(p->whole, process, first, last, pos, TS_BACKWARDS));
	check_next(p, "arrival", ts_query_find_arrival(p->q, process, first, last, pos, TS_FORWARDS),
		   ts_query_find_arrival(p->whole, process, first, last, pos, TS_FORWARDS), ts_query_end(p->q) + 1);
	check_prev(p, "arrival", ts_query_find_arrival(p->q, process, first, last, pos, TS_BACKWARDS),
		   ts_query_find_arrival(p->whole, process, first, last, pos, TS_BACKWARDS));
}

static void ask_accesses(struct pair *p)
{
	unsigned access = 1 + (unsigned)script_below(&p->rnd, 15); /* any mask */
	uint64_t chunk = any_pos(p) / TS_CHUNK_STEPS, addr, len, next, whole;
	uint32_t process = any_process(p);

	script_range(&p->rnd, 20, &addr, &len);
	next = ts_query_find_access(p->q, access, process, addr, addr + (len - 1), chunk, TS_FORWARDS);
	whole = ts_query_find_access(p->whole, access, process, addr, addr + (len - 1), chunk, TS_FORWARDS);
	if (next != (whole != TS_NO_CHUNK && whole * TS_CHUNK_STEPS < ts_query_n_steps(p->q) ? whole : TS_NO_CHUNK))
		wrong(p, "next access in chunk %" PRIu64 ", but it is %" PRIu64, next, whole);
	next = ts_query_find_access(p->q, access, process, addr, addr + (len - 1), chunk, TS_BACKWARDS);
	whole = ts_query_find_access(p->whole, access, process, addr, addr + (len - 1), chunk, TS_BACKWARDS);
	if (next != whole)
		wrong(p, "previous access in chunk %" PRIu64 ", but it is %" PRIu64, next, whole);
}

static uint64_t step_of(const struct ts_event_at *h)
{
	return h ? h->step : TS_NO_POS;
}

static void ask_events(struct pair *p)
{
	enum ts_event_kind kind = (enum ts_event_kind)script_below(&p->rnd, TS_N_EVENT_KINDS);
	uint64_t step = any_pos(p), n = ts_query_n_events(p->q, kind);

	check_next(p, "event", step_of(ts_query_find_event(p->q, kind, step, false)),
		   step_of(ts_query_find_event(p->whole, kind, step, false)), ts_query_n_steps(p->q));
	check_prev(p, "event", step_of(ts_query_find_event(p->q, kind, step, true)),
		   step_of(ts_query_find_event(p->whole, kind, step, true)));
	check_prev(p, "last event", step_of(ts_query_find_event(p->q, kind, UINT64_MAX, true)),
		   step_of(ts_query_find_event(p->whole, kind, ts_query_n_steps(p->q) - 1, true)));
	if (n && step_of(ts_query_event(p->q, kind, n - 1)) >= ts_query_n_steps(p->q))
		wrong(p, "event %" PRIu64 " of kind %d is not published", n - 1, kind);
	if (ts_query_event(p->q, kind, n) ||
	    (n < ts_query_n_events(p->whole, kind) &&
	     ts_query_event(p->whole, kind, n)->step < ts_query_n_steps(p->q)))
		wrong(p, "%" PRIu64 " events of kind %d", n, kind);
}

static void ask_threads(struct pair *p)
{
	uint32_t thread = (uint32_t)script_below(&p->rnd, p->whole_tl->rec->n_threads);
	uint64_t pos = any_pos(p);

	check_next(p, "step of a thread", ts_query_next_step(p->q, thread, pos),
		   ts_query_next_step(p->whole, thread, pos), ts_query_n_steps(p->q));
	check_prev(p, "step of a thread", ts_query_prev_step(p->q, thread, pos),
		   ts_query_prev_step(p->whole, thread, pos));
	if (ts_query_thread(p->q, pos) != ts_query_thread(p->whole, pos))
		wrong(p, "thread at position %" PRIu64, pos);
	if (ts_query_thread(p->q, pos) >= ts_query_n_threads(p->q))
		wrong(p, "the thread at position %" PRIu64 " is not published", pos);
	if (ts_query_slice_end(p->whole, pos) <= ts_query_end(p->q) &&
	    ts_query_slice_end(p->q, pos) != ts_query_slice_end(p->whole, pos))
		wrong(p, "end of the slice of position %" PRIu64, pos);
}

/* What is known is right; what is unknown may become known. */
static void check_bytes(struct pair *p, const char *what, uint64_t pos, const uint8_t *data,
			const uint8_t *known, const uint8_t *whole, const uint8_t *whole_known, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (known[i] && (!whole_known[i] || data[i] != whole[i]))
			wrong(p, "byte %zu of %s at position %" PRIu64 " is 0x%02x, but it is %d, 0x%02x", i,
			      what, pos, data[i], whole_known[i], whole[i]);
	}
}

static void ask_state(struct pair *p)
{
	uint8_t data[1024], known[1024], whole[1024], whole_known[1024];
	uint64_t pos = any_pos(p), addr, len, pc, whole_pc;
	uint32_t process = any_process(p), thread = ts_query_thread(p->q, pos);
	struct ts_error err = { 0 };
	bool has_pc, whole_has_pc;

	script_range(&p->rnd, 64, &addr, &len);
	ck_assert(ts_query_mem(p->q, pos, process, addr, (size_t)len, data, known, &err) &&
		  ts_query_mem(p->whole, pos, process, addr, (size_t)len, whole, whole_known, &err));
	check_bytes(p, "memory", pos, data, known, whole, whole_known, (size_t)len);
	ck_assert(ts_query_regs(p->q, pos, thread, data, known, &err) &&
		  ts_query_regs(p->whole, pos, thread, whole, whole_known, &err));
	check_bytes(p, "registers", pos, data, known, whole, whole_known, ts_query_regset(p->q)->g_len);
	ck_assert(ts_query_pc(p->q, pos, thread, &pc, &has_pc, &err) &&
		  ts_query_pc(p->whole, pos, thread, &whole_pc, &whole_has_pc, &err));
	if (has_pc != (pc != TS_NO_PC) || pc != whole_pc)
		wrong(p, "pc at position %" PRIu64 " is %d, 0x%" PRIx64, pos, has_pc, pc);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void ask_regions(struct pair *p)
{
	struct ts_region_info regions[512], whole[512];
	uint64_t pos = any_pos(p);
	uint32_t process = any_process(p);
	size_t n = ts_query_regions(p->q, process, pos, regions, 512);

	if (n != ts_query_regions(p->whole, process, pos, whole, 512))
		wrong(p, "%zu regions at position %" PRIu64, n, pos);
	for (size_t i = 0; i < n && i < 512; i++) {
		const struct ts_region_info *a = &regions[i], *b = &whole[i];

		if (a->from != b->from || a->first != b->first || a->last != b->last || a->prot != b->prot ||
		    a->until != (b->until <= ts_query_end(p->q) ? b->until : TS_NO_POS) ||
		    !is_same_text(a->file, b->file) || !is_same_text(a->desc, b->desc))
			wrong(p, "region %zu at position %" PRIu64, i, pos);
	}
	for (n = 0; ts_query_region(p->q, n, &regions[0]); n++) {
		if (regions[0].from > ts_query_end(p->q))
			wrong(p, "region %zu is not published", n);
	}
}

static void ask_modules(struct pair *p)
{
	struct ts_module_info m, whole;
	size_t at = 0, whole_at = 0, n = 0;
	uint64_t pos = any_pos(p);
	uint32_t process = any_process(p);

	while (ts_query_next_module(p->q, process, pos, &at, &m)) {
		if (!ts_query_next_module(p->whole, process, pos, &whole_at, &whole) ||
		    m.from != whole.from || m.first != whole.first || !is_same_text(m.file, whole.file) ||
		    m.until != (whole.until <= ts_query_end(p->q) ? whole.until : TS_NO_POS))
			wrong(p, "module %zu at position %" PRIu64, at, pos);
	}
	if (ts_query_next_module(p->whole, process, pos, &whole_at, &whole))
		wrong(p, "a module is missing at position %" PRIu64, pos);
	while (ts_query_module(p->q, n, &m))
		n++;
	if (n && m.from > ts_query_end(p->q))
		wrong(p, "module %zu is not published", n - 1);
	if (ts_query_module(p->whole, n, &whole) && whole.from <= ts_query_end(p->q))
		wrong(p, "module %zu is published", n);
}

static void ask(struct pair *p, unsigned n)
{
	static void (*const questions[])(struct pair *) = {
		ask_executions, ask_accesses, ask_events, ask_threads, ask_state, ask_regions, ask_modules,
	};

	for (; n; n--)
		questions[script_below(&p->rnd, sizeof(questions) / sizeof(questions[0]))](p);
}

START_TEST(no_answer_differs_from_the_one_after_reading)
{
	unsigned n_snapshots = 0;

	for (uint64_t seed = 1; seed <= 120; seed++) {
		struct pair p;

		pair_init(&p, seed, 1 + seed * 13 % 400);
		ask(&p, 40);
		while (!ts_query_is_complete(p.q)) {
			publish(&p);
			ask(&p, 40);
			run_ahead(&p);
			ask(&p, 40);
			n_snapshots++;
		}
		ck_assert_uint_eq(ts_query_end(p.q), p.n_steps);
		pair_fini(&p);
	}
	ck_assert_uint_ge(n_snapshots, 500);
}
END_TEST

/* ---------------------------------------------------------------------------------------------- walks */

#define MAX_STOPS 4

struct some_stops {
	struct ts_stops stops;
	struct ts_break breaks[MAX_STOPS];
	struct ts_watch watches[MAX_STOPS];
	uint64_t syscalls[MAX_STOPS];
};

static void any_stops(struct pair *p, struct some_stops *some)
{
	*some = (struct some_stops){ .stops = { .breaks = some->breaks,
						.watches = some->watches,
						.syscalls = some->syscalls } };
	some->stops.n_breaks = script_below(&p->rnd, 3) * script_below(&p->rnd, 3);
	some->stops.n_watches = script_below(&p->rnd, 3) * script_below(&p->rnd, 3);
	some->stops.has_syscalls = script_chance(&p->rnd, 30);
	some->stops.n_syscalls = script_below(&p->rnd, 3);
	some->stops.has_signals = script_chance(&p->rnd, 20);
	for (unsigned i = 0; i < MAX_STOPS; i++) {
		struct ts_watch *w = &some->watches[i];

		some->breaks[i] = (struct ts_break){ any_process(p), any_pc(p) };
		*w = (struct ts_watch){ .process = any_process(p),
					.kind = (enum ts_watch_kind)script_below(&p->rnd, 3) };
		script_range(&p->rnd, 20, &w->addr, &w->len);
		some->syscalls[i] = script_below(&p->rnd, 5);
	}
}

/* How a walk goes: the same for both recordings. */
struct way {
	unsigned how;       /* continue, step, range */
	bool is_reverse;
	uint32_t thread;
	uint64_t start, end;
	uint64_t n_passed;  /* so many breakpoints do not hold */
};

static void begin(struct ts_walk *w, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		  const struct way *way)
{
	if (way->how == 0)
		ts_walk_continue(w, q, stops, pos, way->is_reverse);
	else if (way->how == 1)
		ts_walk_step(w, q, stops, pos, way->thread, way->is_reverse);
	else
		ts_walk_range(w, q, stops, pos, way->thread, way->start, way->end);
}

/* Walk to the stop; where it waits, reading goes on. */
static void walk(struct pair *p, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		 const struct way *way, struct ts_found *found)
{
	struct ts_walk w = { 0 };
	struct ts_error err = { 0 };
	uint64_t n_passed = 0;
	enum ts_walked walked;

	begin(&w, q, stops, pos, way);
	for (;;) {
		walked = ts_walk_run(&w, found, &err);
		ck_assert_msg(walked != TS_WALK_FAIL, "%s", err.text);
		if (walked == TS_WALK_WAIT) {
			ck_assert(q == p->q && !ts_query_is_complete(q));
			publish(p);
		}
		if (walked != TS_WALK_STOP)
			continue;
		if (found->kind != TS_STOP_BREAK || n_passed++ >= way->n_passed)
			break;
		ts_walk_pass(&w, found);
	}
	ck_assert(!ts_walk_is_under_way(&w));
	ck_assert_uint_le(found->pos, ts_query_end(q));
}

static void check_same(struct pair *p, const struct way *way, uint64_t pos, const struct ts_found *a,
		       const struct ts_found *b)
{
	if (a->pos != b->pos || a->kind != b->kind || a->thread != b->thread || a->number != b->number ||
	    (a->kind == TS_STOP_WATCH && (a->watch != b->watch || a->addr != b->addr)))
		wrong(p,
		      "walk %u from %" PRIu64 ": stop %d at %" PRIu64 ", thread %u, but it is %d at %" PRIu64
		      ", thread %u",
		      way->how, pos, a->kind, a->pos, a->thread, b->kind, b->pos, b->thread);
}

static struct way any_way(struct pair *p)
{
	struct way way = {
		.how = (unsigned)script_below(&p->rnd, 3),
		.thread = (uint32_t)script_below(&p->rnd, ts_query_n_threads(p->q)),
		.start = any_pc(p),
		.n_passed = script_below(&p->rnd, 3),
	};

	way.is_reverse = way.how < 2 && script_chance(&p->rnd, 30);
	way.end = way.start + script_below(&p->rnd, 200);
	return way;
}

/* One client: it walks on from where it stands, while the recording is read only as far as it makes it. */
static void walk_session(uint64_t seed)
{
	uint64_t pos = 0;
	struct pair p;

	pair_init(&p, seed, 50 + seed * 7 % 500);
	for (unsigned i = 0; i < 12; i++) {
		struct ts_found found, whole, naive;
		struct some_stops some;
		struct way way = any_way(&p);

		any_stops(&p, &some);
		walk(&p, p.q, &some.stops, pos, &way, &found);
		walk(&p, p.whole, &some.stops, pos, &way, &whole);
		check_same(&p, &way, pos, &found, &whole);
		if (way.how == 0 && !way.n_passed && !some.stops.has_signals) { /* of which the twin knows nothing */
			struct naive *nv = naive_new(p.twin, false, false);

			naive_search(nv, &some.stops, pos, way.is_reverse ? 0 : p.n_steps, &naive);
			check_same(&p, &way, pos, &found, &naive);
			naive_free(nv);
		}
		pos = script_chance(&p.rnd, 20) ? any_pos(&p) : found.pos;
	}
	pair_fini(&p);
}

START_TEST(two_hundred_sessions_walk_in_a_growing_recording_as_in_a_whole_one)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		walk_session(seed);
}
END_TEST

START_TEST(an_interrupted_walk_stops_where_nothing_was_passed_over)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct ts_found found, whole;
		struct some_stops some;
		struct ts_walk w = { 0 };
		struct ts_error err = { 0 };
		struct way way;
		struct pair p;
		enum ts_walked walked = TS_WALK_ON;
		unsigned n_slices = (unsigned)seed % 5, n_waits = 0;

		pair_init(&p, seed, 300);
		way = any_way(&p);
		way.is_reverse = false;
		way.n_passed = 0;
		any_stops(&p, &some);
		walk(&p, p.whole, &some.stops, 0, &way, &whole);
		begin(&w, p.q, &some.stops, 0, &way);
		while (n_slices-- && walked == TS_WALK_ON)
			walked = ts_walk_run(&w, &found, &err);
		if (walked != TS_WALK_STOP)
			ts_walk_interrupt(&w);
		while (walked != TS_WALK_STOP) {
			walked = ts_walk_run(&w, &found, &err);
			ck_assert(walked == TS_WALK_STOP || walked == TS_WALK_ON || !n_waits++);
		}
		ck_assert_uint_le(found.pos, ts_query_end(p.q));
		if (found.kind == TS_STOP_INTERRUPT)
			ck_assert_uint_le(found.pos, whole.pos);
		else
			check_same(&p, &way, 0, &found, &whole);
		pair_fini(&p);
	}
}
END_TEST

/* -------------------------------------------------------------------------------------------- edges */

static struct script *events_late(void)
{
	struct script *s = script_new("x86_64", 1, NULL);

	for (unsigned i = 0; i < 6 * TS_CHUNK_STEPS; i++) {
		if (i == 5 * TS_CHUNK_STEPS)
			ts_steps_event(&s->steps, TS_EV_SIGNAL);
		if (i == 5 * TS_CHUNK_STEPS)
			ts_steps_load(&s->steps, 0x7000, 0x1000, "lib/late.so", 11);
		ts_steps_close(&s->steps, 16 * (uint64_t)i, 16, 0);
	}
	return s;
}

START_TEST(what_is_read_but_not_published_is_not_visible)
{
	struct script *s = events_late();
	struct ts_module_info m;
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	struct ts_query *q;

	while (!tl->n_steps)
		ck_assert_int_eq(ts_timeline_grow(tl, 1, &err), TS_MORE);
	q = ts_query_new(tl, &err);
	/* take steps in up to the event, and ask before the next snapshot is there */
	while (!tl->world.n_modules)
		ck_assert_int_eq(ts_timeline_grow(tl, 1, &err), TS_MORE);
	ck_assert_uint_lt(ts_query_end(q), 5 * TS_CHUNK_STEPS);
	ck_assert_ptr_null(ts_query_find_event(q, TS_EV_SIGNAL, 0, false));
	ck_assert_ptr_null(ts_query_find_event(q, TS_EV_SIGNAL, UINT64_MAX, true));
	ck_assert_uint_eq(ts_query_n_events(q, TS_EV_SIGNAL), 0);
	ck_assert(!ts_query_module(q, 0, &m));
	while (ts_timeline_grow(tl, UINT64_MAX, &err) == TS_MORE)
		continue;
	ck_assert(ts_query_refresh(q) && ts_query_is_complete(q));
	ck_assert_uint_eq(ts_query_find_event(q, TS_EV_SIGNAL, 0, false)->step, 5 * TS_CHUNK_STEPS);
	ck_assert(ts_query_module(q, 0, &m));
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

/* -------------------------------------------------------------------------------------------- memory */

START_TEST(a_recording_that_ends_for_want_of_memory_ends_where_the_pc_is_known)
{
	struct script *s = events_late();
	struct ts_error err = { 0 };
	struct ts_timeline *tl = ts_timeline_new(&s->rec, NULL, &err);
	struct ts_ending ending;
	struct ts_query *q;
	uint64_t pc, n;
	bool has_pc;

	s->end.has_exit = true;
	s->ending = TS_FAIL;
	s->damage = TS_ENOMEM;
	ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_END);
	ck_assert_int_eq(tl->damage.code, TS_ENOMEM);
	q = ts_query_new(tl, &err);
	n = ts_query_end(q);
	ck_assert(ts_query_is_complete(q) && ts_query_ending(q, &ending));
	ck_assert(!ending.has_exit && !ending.is_fault);
	ck_assert_uint_lt(n, s->steps.n_steps);
	ck_assert_uint_eq(ts_query_n_steps(q), n);
	ck_assert(ts_query_pc(q, n, 0, &pc, &has_pc, &err) && has_pc);
	ck_assert_uint_eq(pc, 16 * n);
	ck_assert_uint_eq(ts_query_find_arrival(q, 0, 16 * n, 16 * n, 0, TS_FORWARDS), n);
	ck_assert_uint_eq(ts_query_find_execution(q, 0, 16 * n, 16 * n, 0, TS_FORWARDS), TS_NO_POS);
	ck_assert_uint_eq(ts_query_n_events(q, TS_EV_SIGNAL), n > 5 * TS_CHUNK_STEPS);
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}
END_TEST

Suite *unit_suite(void)
{
	Suite *s = suite_create("growing");
	TCase *c = tcase_create("growing");

	tcase_set_timeout(c, 300);
	tcase_add_test(c, no_answer_differs_from_the_one_after_reading);
	tcase_add_test(c, two_hundred_sessions_walk_in_a_growing_recording_as_in_a_whole_one);
	tcase_add_test(c, an_interrupted_walk_stops_where_nothing_was_passed_over);
	tcase_add_test(c, what_is_read_but_not_published_is_not_visible);
	tcase_add_test(c, a_recording_that_ends_for_want_of_memory_ends_where_the_pc_is_known);
	suite_add_tcase(s, c);
	return s;
}
