/* SPDX-License-Identifier: MIT */
/*
 * Chunks that are the same in both recordings are passed over: their digests say so (src/query/search/scan.h),
 * nothing is decoded.
 *
 * Steps that do the same leave no difference, but where they write a part of a register of which the rest
 * differs.  Chunks with inferred writes are not passed over: steps of later chunks decide what those wrote.
 */
#include "diff_parts.h"

#include <stdlib.h>

#include "src/query/search/scan.h"

static bool has_same_layout(const struct ts_diff *d)
{
	const struct ts_regset *a = ts_query_regset(d->a), *b = ts_query_regset(d->b);

	if (a->g_len != b->g_len || d->n_regs + (a->pc >= 0) < a->n_regs)
		return false;
	for (unsigned i = 0; i < d->n_regs; i++) {
		if (d->regs[i].a->off != d->regs[i].b->off)
			return false;
	}
	return true;
}

void ts_diff_take_digests(struct ts_diff *d)
{
	struct ts_diff_digests *x = &d->digests;
	uint64_t n;

	if (d->options.is_rebased || !has_same_layout(d))
		return;
	x->a = ts_query_digests(d->a, &n);
	x->b = ts_query_digests(d->b, &n);
	if (!x->a || !x->b)
		x->a = x->b = NULL;
	x->n_a = ts_query_n_steps(d->a) / TS_CHUNK_STEPS; /* whole ones */
	x->n_b = ts_query_n_steps(d->b) / TS_CHUNK_STEPS;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Does the side's thread go on with its first step from @pos on? */
static bool goes_on_at(const struct ts_diff_side *s, uint64_t pos)
{
	return !s->has_thread || s->pos == ts_query_next_step(s->q, s->thread, pos);
}

/* Of @n chunks, those before the first that writes a register which differs in this lane. */
static bool bound_by_regs(struct ts_diff *d, struct ts_diff_lane *l, uint64_t chunk, uint64_t *n,
			  struct ts_error *err)
{
	bool is_sure = true;

	for (unsigned i = 0; i < d->n_regs && is_sure; i++)
		ts_diff_is_same_reg(d, l, &d->regs[i], &is_sure);
	if (!is_sure &&
	    (!ts_diff_read_regs(&l->a, l->a.pos, err) || !ts_diff_read_regs(&l->b, l->b.pos, err)))
		return false;
	for (unsigned i = 0; i < d->n_regs && *n; i++) {
		const struct ts_reg *r = d->regs[i].a;
		uint64_t next;

		if (ts_diff_is_same_reg(d, l, &d->regs[i], &is_sure))
			continue;
		next = ts_query_find_register(d->a, TS_ACCESS_WRITE, l->a.thread, r->off,
					      r->off + r->len - 1u, chunk, TS_FORWARDS);
		*n = next == TS_NO_CHUNK ? *n : least(*n, next - chunk);
	}
	return true;
}

/* Of @n chunks, those that this lane can go over: it begins in none of them, and has reported all before. */
static bool bound_by_lane(struct ts_diff *d, struct ts_diff_lane *l, uint64_t chunk_a, uint64_t chunk_b,
			  uint64_t *n, struct ts_error *err)
{
	uint64_t pos_a = chunk_a * TS_CHUNK_STEPS, pos_b = chunk_b * TS_CHUNK_STEPS;

	if (l->apart.is_there || !goes_on_at(&l->a, pos_a) || !goes_on_at(&l->b, pos_b))
		*n = 0;
	if (!*n || l->a.pos == TS_NO_POS || l->b.pos == TS_NO_POS)
		return true;
	if (l->is_begun)
		return bound_by_regs(d, l, chunk_a, n, err);
	*n = least(*n, least(l->a.pos - pos_a, l->b.pos - pos_b) / TS_CHUNK_STEPS);
	return true;
}

/* The side's thread goes on with its first step from @pos on, if it was not there yet. */
static bool go_to(struct ts_diff_side *s, uint64_t pos, struct ts_error *err)
{
	if (s->pos >= pos)
		return true;
	s->end = ts_query_prev_step(s->q, s->thread, pos - 1) + 1;
	s->pos = ts_diff_step_after(s, pos - 1);
	return s->pos == TS_NO_POS || ts_diff_read_regs(s, s->pos, err);
}

bool ts_diff_skip(struct ts_diff *d, const struct ts_diff_lane *l, bool *is_skipped, struct ts_error *err)
{
	const struct ts_diff_digests *x = &d->digests;
	uint64_t a = l->a.pos / TS_CHUNK_STEPS, b = l->b.pos / TS_CHUNK_STEPS, n = 0, n_plain;

	*is_skipped = false;
	if (!x->a || l->a.pos % TS_CHUNK_STEPS || l->b.pos % TS_CHUNK_STEPS)
		return true;
	n_plain = least(ts_query_next_inferred(d->a, a) - a, ts_query_next_inferred(d->b, b) - b);
	while (n < n_plain && a + n < x->n_a && b + n < x->n_b && x->a[a + n] && x->a[a + n] == x->b[b + n])
		n++;
	for (uint32_t i = 0; i < d->n_lanes && n; i++) {
		if (!bound_by_lane(d, &d->lanes[i], a, b, &n, err))
			return false;
	}
	*is_skipped = n;
	for (uint32_t i = 0; i < d->n_lanes && n; i++) {
		if (!go_to(&d->lanes[i].a, (a + n) * TS_CHUNK_STEPS, err) ||
		    !go_to(&d->lanes[i].b, (b + n) * TS_CHUNK_STEPS, err))
			return false;
	}
	return true;
}
