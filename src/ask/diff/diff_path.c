/* SPDX-License-Identifier: MIT */
#include "diff_parts.h"

#include <stdlib.h>
#include <string.h>

/* How far ahead a difference's end is looked for: at first, and at most. */
#define FIRST_WINDOW (UINT32_C(1) << 8)
#define LAST_WINDOW  (UINT32_C(1) << 20)

uint64_t ts_diff_step_after(struct ts_diff_side *s, uint64_t pos)
{
	if (pos + 1 < s->slice_end)
		return pos + 1;
	pos = ts_query_next_step(s->q, s->thread, pos + 1);
	if (pos != TS_NO_POS && pos < ts_query_n_steps(s->q))
		s->slice_end = ts_query_slice_end(s->q, pos);
	return pos < ts_query_n_steps(s->q) ? pos : TS_NO_POS;
}

/* ---------------------------------------------------------------------------- where both execute the same */

/* The number of equal steps that end a difference. */
#define N_SAME 12u

/* Addresses of the next steps of a thread. */
struct window {
	uint64_t *pcs, *steps; /* owned; n of them */
	size_t n;
	bool is_end;           /* the thread has no more */
};

enum resync {
	FOUND,
	NOT_FOUND,    /* not within these windows */
	FAILED, /* memory is exhausted */
};

static uint64_t hash_steps(const uint64_t *pcs)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < N_SAME; i++)
		h = (h ^ pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static bool find_same(const struct window *a, const struct window *b, const uint32_t *table,
		      size_t mask, size_t *i, size_t *j)
{
	size_t best = SIZE_MAX;

	for (size_t k = 0; k + N_SAME <= a->n && k < best; k++) {
		uint32_t at = table[hash_steps(a->pcs + k) & mask];

		if (at && k + at - 1 < best &&
		    !memcmp(a->pcs + k, b->pcs + at - 1, N_SAME * sizeof(*a->pcs))) {
			best = k + at - 1;
			*i = k;
			*j = at - 1;
		}
	}
	return best != SIZE_MAX;
}

/* Both windows reach the end: the steps that are the same there. */
static void find_end(const struct window *a, const struct window *b, size_t *i, size_t *j)
{
	size_t n = 0;

	while (n < a->n && n < b->n && a->pcs[a->n - 1 - n] == b->pcs[b->n - 1 - n])
		n++;
	*i = a->n - n;
	*j = b->n - n;
}

/*
 * Find the shortest way (steps of A and B together) to N_SAME equal steps, which begin at step *i of
 * A's window and *j of B's.  If both windows reach the threads' ends, fewer equal steps at the ends are
 * accepted, or the ends themselves.
 */
static enum resync find_meeting(const struct window *a, const struct window *b, size_t *i, size_t *j)
{
	size_t n_table = 1;
	bool is_found = false;
	uint32_t *table;

	while (n_table < 2 * b->n)
		n_table *= 2;
	table = calloc(n_table, sizeof(*table)); /* hash -> first place in B + 1 */
	if (!table)
		return FAILED;
	for (size_t k = b->n < N_SAME ? 0 : b->n - N_SAME + 1; k-- > 0;)
		table[hash_steps(b->pcs + k) & (n_table - 1)] = (uint32_t)k + 1;
	is_found = find_same(a, b, table, n_table - 1, i, j);
	free(table);
	while (is_found && *i && *j && a->pcs[*i - 1] == b->pcs[*j - 1]) { /* a place of the table was taken */
		--*i;
		--*j;
	}
	if (is_found)
		return FOUND;
	if (!a->is_end || !b->is_end)
		return NOT_FOUND;
	find_end(a, b, i, j);
	return FOUND;
}

static bool fill(struct ts_diff *d, const struct ts_diff_side *s, bool is_b, size_t max, struct window *w,
		 struct ts_error *err)
{
	struct ts_diff_side at = *s;

	w->pcs = malloc(max * sizeof(*w->pcs));
	w->steps = malloc(max * sizeof(*w->steps));
	if (!w->pcs || !w->steps)
		return ts_diff_no_memory(err);
	for (w->n = 0; w->n < max && at.pos != TS_NO_POS; w->n++) {
		const struct ts_steps *b;
		const struct ts_step *st = ts_query_step(s->q, at.pos, &b, err);

		if (!st)
			return false;
		w->pcs[w->n] = is_b ? ts_diff_to_a(d, st->pc) : st->pc;
		w->steps[w->n] = at.pos;
		at.pos = ts_diff_step_after(&at, at.pos);
	}
	w->is_end = at.pos == TS_NO_POS;
	return true;
}

static void window_fini(struct window *w)
{
	free(w->pcs);
	free(w->steps);
}

/* Go to the @i-th step of the window. */
static bool go_to(struct ts_diff_side *s, const struct window *w, size_t i, struct ts_error *err)
{
	if (i)
		s->end = w->steps[i - 1] + 1;
	s->pos = i < w->n ? w->steps[i] : TS_NO_POS;
	if (s->pos == TS_NO_POS)
		return true;
	s->slice_end = ts_query_slice_end(s->q, s->pos);
	return ts_diff_read_regs(s, s->pos, err);
}

/* The rest of a thread is of one only. */
static void go_to_end(struct ts_diff_side *s)
{
	uint64_t last = ts_query_prev_step(s->q, s->thread, ts_query_n_steps(s->q));

	if (s->has_thread && last != TS_NO_POS && s->pos != TS_NO_POS)
		s->end = last + 1;
	s->pos = TS_NO_POS;
}

/* Look @max steps ahead on both sides; both go to where they are the same again, if they are. */
static bool look_ahead(struct ts_diff *d, struct ts_diff_lane *l, size_t max, enum resync *found,
		       bool *is_all, struct ts_error *err)
{
	struct window a = { 0 }, b = { 0 };
	size_t i = 0, j = 0;
	bool done = fill(d, &l->a, false, max, &a, err) && fill(d, &l->b, true, max, &b, err);

	*found = done ? find_meeting(&a, &b, &i, &j) : FAILED;
	*is_all = a.is_end && b.is_end;
	if (*found == FOUND)
		done = go_to(&l->a, &a, i, err) && go_to(&l->b, &b, j, err);
	else if (done && *found == FAILED)
		done = ts_diff_no_memory(err);
	window_fini(&a);
	window_fini(&b);
	return done;
}

/* What only one of them executed, from @a and @b on; if one executed nothing: its position. */
static void put_apart(struct ts_diff_lane *l, uint64_t a, uint64_t b)
{
	struct ts_diff_apart *x = &l->apart;

	*x = (struct ts_diff_apart){ .is_there = true, a, l->a.end, b, l->b.end };
	if (a == TS_NO_POS || x->end_a < a)
		x->a = x->end_a = a == TS_NO_POS ? l->a.end : a;
	if (b == TS_NO_POS || x->end_b < b)
		x->b = x->end_b = b == TS_NO_POS ? l->b.end : b;
}

/* The end of the piece at @from, of those up to @end. */
static uint64_t piece_end(const struct ts_diff_side *s, uint64_t from, uint64_t end)
{
	uint64_t slice_end = from < end ? ts_query_slice_end(s->q, from) : end;

	return slice_end < end ? slice_end : end;
}

/* Where the thread's next piece begins; @end if none is found. */
static uint64_t next_piece(const struct ts_diff_side *s, uint64_t from, uint64_t end)
{
	uint64_t next = from < end ? ts_query_next_step(s->q, s->thread, from) : end;

	return next < end ? next : end;
}

void ts_diff_distinguish(struct ts_diff *d, struct ts_diff_lane *l)
{
	struct ts_diff_apart *x = &l->apart;
	uint64_t end_a = piece_end(&l->a, x->a, x->end_a), end_b = piece_end(&l->b, x->b, x->end_b);
	struct ts_diff_item *item = ts_diff_add_item(d);

	if (item)
		*item = (struct ts_diff_item){
			.is_path = true, .pos = x->a, .end = end_a, .pos2 = x->b, .end2 = end_b
		};
	x->a = next_piece(&l->a, end_a, x->end_a);
	x->b = next_piece(&l->b, end_b, x->end_b);
	x->is_there = x->a < x->end_a || x->b < x->end_b;
}

bool ts_diff_part(struct ts_diff *d, struct ts_diff_lane *l, struct ts_error *err)
{
	uint64_t a = l->a.pos, b = l->b.pos;
	enum resync found = NOT_FOUND;
	bool is_all = false;

	for (size_t max = FIRST_WINDOW; found == NOT_FOUND && !is_all && max <= LAST_WINDOW; max *= 16) {
		if (!look_ahead(d, l, max, &found, &is_all, err))
			return false;
	}
	if (found != FOUND) {
		go_to_end(&l->a);
		go_to_end(&l->b);
	}
	put_apart(l, a, b);
	if (!ts_diff_noise_pass(d, l, err))
		return false;
	ts_diff_distinguish(d, l);
	return true;
}
