/* SPDX-License-Identifier: MIT */
#include "call_bars.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/ask/verbs/cells.h"
#include "src/base/collections/vec.h"
#include "src/symbols/names.h"
#include "src/query/search/call_list.h"

#define STEPS_A_TURN 1000000u

/* Lengths of calls are counted in classes, four for each power of two. */
#define N_CLASSES 256u

struct taking {
	struct ts_call_bars *bars;
	struct ts_labels *labels;
	struct ts_ask *ask;
	const struct ts_owners *owners;
	uint64_t from, to;
	uint64_t classes[N_CLASSES]; /* how many calls are that long */
	const struct ts_grid *grid;
};

void ts_call_bars_fini(struct ts_call_bars *b)
{
	for (unsigned i = 0; i < TS_CALL_THREADS; i++) {
		free(b->threads[i].bars);
		free(b->threads[i].depths);
	}
	*b = (struct ts_call_bars){ 0 };
}

/* The part of a call that lies in the range; false if none is found. */
static bool clip(const struct taking *t, const struct ts_call *c, struct ts_call_bar *bar)
{
	if (c->kind == TS_CALL_SWITCH || c->pos + 1 >= t->to || c->end <= t->from)
		return false;
	*bar = (struct ts_call_bar){ .from = c->pos + 1 > t->from ? c->pos + 1 : t->from,
				     .until = c->end < t->to ? c->end : t->to,
				     .depth = c->depth,
				     .is_open = c->end > t->to };
	return bar->until > bar->from;
}

/* Call @use with each call of the thread that was open in the range. */
static void each(struct taking *t, uint32_t thread,
		 void (*use)(struct taking *t, struct ts_call_thread *x, const struct ts_call *c,
		 const struct ts_call_bar *bar),
		 struct ts_call_thread *x)
{
	uint32_t n = ts_query_n_calls_before(t->ask->q, thread, t->to);
	struct ts_call calls[TS_CALL_BLOCK];
	struct ts_call_bar bar;

	for (uint32_t at = 0, got; at < n; at = calls[0].ordinal + got) {
		got = ts_query_call_block(t->ask->q, thread, at, calls);
		if (!got)
			return;
		for (uint32_t i = 0; i < got; i++) {
			if (clip(t, &calls[i], &bar))
				use(t, x, &calls[i], &bar);
		}
	}
}

static unsigned class_of(uint64_t len)
{
	unsigned whole = 63u - (unsigned)__builtin_clzll(len);

	return whole * 4 + (unsigned)(whole >= 2 ? (len >> (whole - 2)) & 3 : (len << (2 - whole)) & 3);
}

/* The least length of a class. */
static uint64_t class_len(unsigned c)
{
	unsigned whole = c / 4;
	uint64_t quarters = 4 + c % 4;

	return whole >= 2 ? quarters << (whole - 2) : (quarters + (1u << (2 - whole)) - 1) >> (2 - whole);
}

static void count(struct taking *t, struct ts_call_thread *x, const struct ts_call *c,
		  const struct ts_call_bar *bar)
{
	(void)c;
	x->n_calls++;
	if (bar->depth <= TS_CALL_DEPTHS)
		t->classes[class_of(bar->until - bar->from)]++;
}

static void note_depth(struct ts_call_thread *x, uint32_t col, uint32_t depth)
{
	if (depth > x->depths[col])
		x->depths[col] = depth;
	if (depth > x->max_depth)
		x->max_depth = depth;
}

/* The function at @addr; else the module and the offset in it; else the address. */
static uint32_t name_callee(const struct taking *t, uint32_t thread, uint64_t addr)
{
	const char *function = ts_ask_function(t->ask, addr);
	const struct ts_owner *owner;
	uint64_t until;
	char text[TS_MAX_LABEL_LEN];

	if (function)
		return ts_labels_add(t->labels, function);
	owner = ts_owners_find(t->owners, ts_query_process(t->ask->q, thread), addr, &until);
	if (owner)
		snprintf(text, sizeof(text), "%.60s+0x%" PRIx64, ts_owner_name(owner), addr - owner->first);
	else
		snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	return ts_labels_add(t->labels, text);
}

static void keep(struct taking *t, struct ts_call_thread *x, const struct ts_call *c,
		 const struct ts_call_bar *bar)
{
	note_depth(x, ts_grid_col(t->grid, bar->from), bar->depth);
	if (bar->depth > TS_CALL_DEPTHS || bar->until - bar->from < t->bars->min_len)
		return;
	if (TS_PUSH(x->bars, x->n, x->cap, *bar))
		x->bars[x->n - 1].label = name_callee(t, x->thread, c->target);
	else
		t->bars->is_failed = true;
}

/* A call that is open at a column's begin was made before it. */
static void note_depths_at_columns(struct taking *t, struct ts_call_thread *x)
{
	struct ts_call call;

	for (uint32_t col = 0; col < t->grid->n_cols; col++) {
		uint64_t pos = ts_grid_pos(t->grid, col);

		pos = pos > t->from ? pos : t->from;
		if (ts_query_innermost_call(t->ask->q, x->thread, pos, &call))
			note_depth(x, col, call.depth);
	}
}

/* Those of the threads that have most calls, in the order of threads. */
static void choose_threads(struct taking *t)
{
	struct ts_call_bars *b = t->bars;

	for (uint32_t i = 0; i < ts_query_n_threads(t->ask->q); i++) {
		struct ts_call_thread one = { .thread = i }, *least = &b->threads[0];

		one.n_calls = ts_query_n_calls_before(t->ask->q, i, t->to) -
			      ts_query_n_calls_before(t->ask->q, i, t->from);
		if (!one.n_calls && !ts_query_innermost_call(t->ask->q, i, t->from, &(struct ts_call){ 0 }))
			continue;
		if (b->n_threads < TS_CALL_THREADS) {
			b->threads[b->n_threads++] = one;
			continue;
		}
		b->n_left_out++;
		for (unsigned k = 1; k < TS_CALL_THREADS; k++)
			least = b->threads[k].n_calls < least->n_calls ? &b->threads[k] : least;
		if (one.n_calls > least->n_calls) {
			memmove(least, least + 1,
				(size_t)(b->threads + TS_CALL_THREADS - 1 - least) * sizeof(*least));
			b->threads[TS_CALL_THREADS - 1] = one;
		}
	}
}

/* The shortest calls that are kept, so that at most @max are. */
static uint64_t least_length(const struct taking *t, size_t max)
{
	uint64_t n = 0;

	for (unsigned c = N_CLASSES; c-- > 0;) {
		n += t->classes[c];
		if (n > max)
			return class_len(c + 1);
	}
	return 0;
}

static bool take_thread(struct taking *t, struct ts_call_thread *x)
{
	char name[TS_THREAD_LABEL_LEN];

	ts_names_label(t->ask->names, t->ask->q, x->thread, name);
	x->label = ts_labels_add(t->labels, name);
	x->depths = calloc(t->grid->n_cols, sizeof(*x->depths));
	if (!x->depths)
		return false;
	note_depths_at_columns(t, x);
	each(t, x->thread, keep, x);
	return !t->bars->is_failed;
}

bool ts_call_bars_take(struct ts_call_bars *b, struct ts_labels *labels, struct ts_ask *ask,
		       const struct ts_owners *owners, uint64_t from, uint64_t to, const struct ts_grid *grid,
		       size_t max, struct ts_error *err)
{
	struct taking t = { .bars = b, .labels = labels, .ask = ask, .owners = owners, .from = from, .to = to, .grid = grid };
	enum ts_next need;

	do {
		need = ts_query_need_calls(ask->q, STEPS_A_TURN, err);
	} while (need == TS_MORE);
	if (need == TS_FAIL && err->code == TS_EUNSUPPORTED) {
		snprintf(b->why, sizeof(b->why), "%.199s", err->text);
		ts_error_reset(err);
		return true;
	}
	if (need == TS_FAIL)
		return false;
	choose_threads(&t);
	for (unsigned i = 0; i < b->n_threads; i++) {
		b->threads[i].n_calls = 0;
		each(&t, b->threads[i].thread, count, &b->threads[i]);
	}
	b->min_len = least_length(&t, max);
	for (unsigned i = 0; i < b->n_threads; i++) {
		if (!take_thread(&t, &b->threads[i]))
			return ts_no_memory(err, "the calls of a picture");
	}
	return true;
}
