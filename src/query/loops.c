/* SPDX-License-Identifier: MIT */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

/* Loops that are kept; the one that was not used for the longest time makes room. */
#define N_LOOPS 32u

/*
 * Turns of a loop that are kept: one a chunk.  What has fewer is followed again; the most are more than `why`
 * counts for a row.
 */
#define MIN_TURNS 4u
#define MAX_TURNS 131072u

struct loop {
	uint64_t serial; /* 0: there is none */
	uint64_t used;   /* when */
	uint8_t *key;    /* owned */
	size_t key_len;
	struct ts_turns turns;
};

struct ts_loops {
	struct loop items[N_LOOPS];
	uint64_t n_made, n_used;
};

static void drop(struct loop *l)
{
	free(l->key);
	free(l->turns.items);
	*l = (struct loop){ 0 };
}

void ts_loops_free(struct ts_loops *l)
{
	for (unsigned i = 0; l && i < N_LOOPS; i++)
		drop(&l->items[i]);
	free(l);
}

/* Make room for @n more turns.  Returns false if there is none: they are not kept then. */
static bool make_room(struct ts_turns *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 64;
	struct ts_turn *items;

	if (n > MAX_TURNS - t->n)
		return false;
	while (cap < t->n + n)
		cap *= 2;
	if (cap == t->cap)
		return true;
	items = realloc(t->items, cap * sizeof(*items));
	if (!items)
		return false;
	t->items = items;
	t->cap = cap;
	return true;
}

/* ------------------------------------------------------------------------------------------------- a walk */

static void free_walk(struct ts_loop_walk *w)
{
	free(w->key);
	free(w->turns.items);
	*w = (struct ts_loop_walk){ 0 };
}

void ts_loop_walk_begin(struct ts_loop_walk *w, const void *key, size_t len)
{
	free_walk(w);
	w->key = malloc(len);
	w->key_len = w->key ? len : 0;
	if (w->key)
		memcpy(w->key, key, len);
}

/* The first turn that does not lie after @pos; turns->n if there is none. */
static size_t find_turn(const struct ts_turns *turns, uint64_t pos)
{
	size_t lo = 0, n = turns->n;

	while (n) {
		size_t half = n / 2;

		if (turns->items[lo + half].pos > pos) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return lo;
}

/* Does @pos lie among the loop's turns?  A program may execute one loop many times. */
static bool may_have(const struct loop *l, uint64_t pos)
{
	return l->turns.n && pos <= l->turns.items[0].pos && pos >= l->turns.items[l->turns.n - 1].pos;
}

/* The loop that has a turn at @pos, and which one that is; NULL if none has. */
static struct loop *find_loop(struct ts_loops *all, const struct ts_loop_walk *w, uint64_t pos, size_t *turn)
{
	for (unsigned i = 0; all && i < N_LOOPS; i++) {
		struct loop *l = &all->items[i];

		if (!may_have(l, pos) || l->key_len != w->key_len || memcmp(l->key, w->key, w->key_len))
			continue;
		*turn = find_turn(&l->turns, pos);
		if (*turn < l->turns.n && l->turns.items[*turn].pos == pos)
			return l;
	}
	return NULL;
}

static void keep_turn(struct ts_loop_walk *w, const struct ts_turn *t)
{
	w->is_full = w->is_full || !make_room(&w->turns, 1);
	if (!w->is_full)
		w->turns.items[w->turns.n++] = *t;
}

/* The walk has come to the loop's first turn: its own ones go before that. */
static void put_before(struct loop *l, const struct ts_loop_walk *w)
{
	struct ts_turns *t = &l->turns;
	size_t n = w->turns.n;

	if (!n || !make_room(t, n))
		return;
	memmove(t->items + n, t->items, t->n * sizeof(*t->items));
	t->n += n;
	for (size_t i = 0; i < n; i++) {
		t->items[i] = w->turns.items[i];
		t->items[i].n += t->items[n].n - w->last.n;
	}
}

/* The loop's last turn that is at most @max turns after turn @first. */
static size_t last_turn(const struct loop *l, size_t first, uint64_t max)
{
	const struct ts_turn *items = l->turns.items;
	size_t lo = first, end = l->turns.n;

	while (end - lo > 1) {
		size_t half = lo + (end - lo) / 2;

		if ((uint64_t)(items[half].n - items[first].n) <= max)
			lo = half;
		else
			end = half;
	}
	return lo;
}

/* The walk is at turn @turn, and goes on from a later one.  Returns how many turns lie between. */
static uint64_t join(struct ts_loop_walk *w, struct loop *l, size_t turn, uint64_t max)
{
	size_t to = last_turn(l, turn, max);
	const struct ts_turn first = l->turns.items[turn], last = l->turns.items[to];

	if (!turn && !w->is_full)
		put_before(l, w);
	w->joined = l->serial;
	w->last = last;
	w->turns.n = 0;
	w->is_full = false;
	return (uint64_t)(last.n - first.n);
}

uint64_t ts_loop_walk_turn(struct ts_loop_walk *w, struct ts_query *q, uint64_t pos, uint64_t max,
			   uint64_t *n)
{
	struct loop *l;
	size_t turn;

	*n = 0;
	if (!w->key || !q->snap.is_complete)
		return pos;
	w->last = (struct ts_turn){ pos, w->has_last ? w->last.n + 1 : 0 };
	w->has_last = true;
	l = w->joined ? NULL : find_loop(q->loops, w, pos, &turn);
	if (l) {
		l->used = ++q->loops->n_used;
		*n = join(w, l, turn, max);
	} else if (!w->turns.n ||
		   w->turns.items[w->turns.n - 1].pos / TS_CHUNK_STEPS != pos / TS_CHUNK_STEPS) {
		keep_turn(w, &w->last);
	}
	return w->last.pos;
}

/* What follows the loop's last turn, if the walk went on from that, and no other has put it there. */
static void put_behind(struct loop *l, const struct ts_loop_walk *w)
{
	struct ts_turns *t = &l->turns;

	if (!w->turns.n || w->turns.items[0].n != t->items[t->n - 1].n + 1 || !make_room(t, w->turns.n))
		return;
	memcpy(t->items + t->n, w->turns.items, w->turns.n * sizeof(*t->items));
	t->n += w->turns.n;
}

/* What the walk went through becomes a loop, in place of another one. */
static void add_loop(struct ts_loops *all, struct ts_loop_walk *w)
{
	struct loop *to = all->items;

	for (unsigned i = 1; i < N_LOOPS; i++) {
		if (all->items[i].used < to->used)
			to = &all->items[i];
	}
	drop(to);
	*to = (struct loop){ ++all->n_made, ++all->n_used, w->key, w->key_len, w->turns };
	w->key = NULL;
	w->turns = (struct ts_turns){ 0 };
}

static struct loop *joined_loop(struct ts_loops *all, uint64_t serial)
{
	for (unsigned i = 0; all && i < N_LOOPS; i++) {
		if (all->items[i].serial == serial)
			return &all->items[i];
	}
	return NULL;
}

void ts_loop_walk_end(struct ts_loop_walk *w, struct ts_query *q)
{
	struct loop *l = w->joined ? joined_loop(q->loops, w->joined) : NULL;

	if (w->turns.n && w->turns.items[w->turns.n - 1].pos != w->last.pos)
		keep_turn(w, &w->last);
	if (l)
		put_behind(l, w);
	if (!w->joined && w->turns.n >= MIN_TURNS) {
		if (!q->loops)
			q->loops = calloc(1, sizeof(*q->loops));
		if (q->loops)
			add_loop(q->loops, w);
	}
	free_walk(w);
}
