/* SPDX-License-Identifier: MIT */
#include "stack_moves.h"

#include <stdlib.h>
#include <string.h>

#include "initial_stack.h"
#include "src/base/collections/bisect.h"

/* A stack grows no further below the first stack pointer (Linux: ulimit -s). */
#define REACH (UINT64_C(8) << 20)

/* Each address that is looked up passes over all ranges.  A recording that makes more than programs have gets its frames only. */
#define MAX_RANGES 1024u

static bool add_range(struct ts_rebase *r, uint64_t a, uint64_t b, uint64_t len, struct ts_error *err)
{
	return !len || b + len - 1 < b || ts_rebase_add(r, b, b + len - 1, a - b, err);
}

static bool add_pair(struct ts_rebase *r, const struct ts_given *a, const struct ts_given *b, struct ts_error *err)
{
	return add_range(r, a->slot, b->slot, a->slot_len, err) &&
	       add_range(r, a->text, b->text, a->text_len < b->text_len ? a->text_len : b->text_len, err);
}

/* Both are sorted by what belongs together. */
static bool add_pairs(struct ts_rebase *r, const struct ts_initial_stack *a, const struct ts_initial_stack *b, struct ts_error *err)
{
	bool done = true;

	for (size_t i = 0, k = 0; done && i < a->n && k < b->n;) {
		struct ts_given x = a->items[i], y = b->items[k];
		int order;

		x.slot = y.slot = 0; /* the order among those of one name */
		order = ts_given_compare(&x, &y);
		if (!order)
			done = add_pair(r, &a->items[i], &b->items[k], err);
		i += order <= 0;
		k += order >= 0;
	}
	return done;
}

/* Neighbours that moved by the same become one. */
static void merge(struct ts_rebase *r)
{
	size_t n = 0;

	TS_SORT_BY(r->shifts, r->n, first);
	for (size_t i = 0; i < r->n; i++) {
		struct ts_shift *last = n ? &r->shifts[n - 1] : NULL, *s = &r->shifts[i];

		if (last && last->delta == s->delta && last->last + 1 >= s->first)
			last->last = last->last > s->last ? last->last : s->last;
		else
			r->shifts[n++] = *s;
	}
	r->n = n;
}

/* The first address below @sp that may be one of its stack: above all other regions. */
static uint64_t lowest_of(const struct ts_query *q, uint64_t sp)
{
	uint64_t lowest = sp < REACH ? 0 : sp - REACH;
	struct ts_region_info own = { 0 }, m;
	bool has_own = false;

	for (size_t i = 0; !has_own && ts_query_region(q, i, &own); i++)
		has_own = own.first <= sp && sp <= own.last;
	for (size_t i = 0; has_own && ts_query_region(q, i, &m); i++) {
		bool is_stack = own.desc && m.desc && !strcmp(own.desc, m.desc);

		if (!is_stack && m.last < own.first && m.last >= lowest)
			lowest = m.last + 1;
	}
	return lowest;
}

static bool add_frames(struct ts_rebase *r, const struct ts_query *a, const struct ts_query *b, uint64_t sp_a, uint64_t sp_b,
		       struct ts_error *err)
{
	uint64_t below_a = sp_a - lowest_of(a, sp_a), below_b = sp_b - lowest_of(b, sp_b);
	uint64_t len = below_a < below_b ? below_a : below_b;

	return add_range(r, sp_a - len, sp_b - len, len, err);
}

/* The last address of what the system gave. */
static uint64_t last_of(const struct ts_initial_stack *s)
{
	uint64_t last = s->sp;

	for (size_t i = 0; i < s->n; i++) {
		const struct ts_given *g = &s->items[i];

		if (g->slot + g->slot_len - 1 > last)
			last = g->slot + g->slot_len - 1;
		if (g->text_len && g->text >= s->sp && g->text - s->sp < REACH && g->text + g->text_len - 1 > last)
			last = g->text + g->text_len - 1;
	}
	return last;
}

static bool add_stacks(struct ts_stack_moves *m, struct ts_rebase *r, struct ts_query *a, struct ts_query *b,
		       struct ts_initial_stack *of_a, struct ts_initial_stack *of_b, struct ts_error *err)
{
	qsort(of_a->items, of_a->n, sizeof(*of_a->items), ts_given_compare);
	qsort(of_b->items, of_b->n, sizeof(*of_b->items), ts_given_compare);
	if (!add_frames(r, a, b, of_a->sp, of_b->sp, err) || !add_pairs(r, of_a, of_b, err))
		return false;
	merge(r);
	if (r->n > MAX_RANGES) {
		r->n = 0;
		if (!add_frames(r, a, b, of_a->sp, of_b->sp, err))
			return false;
	}
	if (!ts_rebase_is_any(r)) {
		r->n = 0;
		return true;
	}
	*m = (struct ts_stack_moves){ of_a->sp, last_of(of_a), lowest_of(a, of_a->sp), r->n };
	return true;
}

bool ts_stack_moves_add(struct ts_stack_moves *m, struct ts_rebase *r, struct ts_query *a, struct ts_query *b, struct ts_error *err)
{
	struct ts_initial_stack of_a = { 0 }, of_b = { 0 };
	bool done = ts_initial_stack_read(&of_a, a, err) && ts_initial_stack_read(&of_b, b, err);

	*m = (struct ts_stack_moves){ .first = 1 };
	if (done && of_a.is_whole && of_b.is_whole)
		done = add_stacks(m, r, a, b, &of_a, &of_b, err);
	ts_initial_stack_fini(&of_a);
	ts_initial_stack_fini(&of_b);
	return done;
}
