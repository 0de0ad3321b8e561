/* SPDX-License-Identifier: MIT */
#include "diff_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/base/collections/vec.h"

struct ts_diff_item *ts_diff_add_item(struct ts_diff *d)
{
	if (TS_PUSH(d->items, d->n, d->cap, (struct ts_diff_item){ 0 }))
		return &d->items[d->n - 1];
	d->is_failed = true;
	return NULL;
}

void ts_diff_put_item(struct ts_diff *d, uint64_t pos, uint64_t pos2, uint64_t n_steps,
		      const struct ts_diff_values *v, size_t at, size_t end, const struct ts_diff_reg *reg)
{
	struct ts_diff_item *x = ts_diff_add_item(d);

	if (!x)
		return;
	x->pos = pos;
	x->end = pos + n_steps;
	x->pos2 = pos2;
	x->end2 = pos2 + n_steps;
	x->is_reg = reg != NULL;
	x->at = (reg ? reg->a->off : v->addr) + at;
	x->len = (uint32_t)(end - at);
	if (reg)
		snprintf(x->what, sizeof(x->what), "$%s", reg->a->name);
	else
		snprintf(x->what, sizeof(x->what), "0x%" PRIx64 ",%zu", v->addr + at, end - at);
	memcpy(x->old, v->a + at, end - at);
	memcpy(x->old_known, v->a_known + at, end - at);
	memcpy(x->new, v->b + at, end - at);
	memcpy(x->new_known, v->b_known + at, end - at);
}

static struct ts_diff_values values_of(const struct ts_diff_lane *l, const struct ts_diff_reg *r)
{
	return (struct ts_diff_values){
		.len = r->a->len,
		.a = l->a.data + r->a->off,
		.a_known = l->a.known + r->a->off,
		.b = l->b.data + r->b->off,
		.b_known = l->b.known + r->b->off,
	};
}

bool ts_diff_read_regs(struct ts_diff_side *s, uint64_t pos, struct ts_error *err)
{
	memset(s->is_doubtful, 0, ts_query_regset(s->q)->g_len);
	return ts_query_regs(s->q, pos, s->thread, s->data, s->known, err);
}

bool ts_diff_is_same_reg(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_reg *r,
			 bool *is_sure)
{
	const struct ts_diff_values v = values_of(l, r);

	if (memchr(l->a.is_doubtful + r->a->off, 1, v.len) || memchr(l->b.is_doubtful + r->b->off, 1, v.len))
		*is_sure = false;
	return !memcmp(v.a, v.b, v.len) || ts_diff_next_difference(d, &v, 0) == v.len;
}

static bool count_moved(struct ts_diff *d, const struct ts_diff_lane *l, bool is_reg, uint64_t n_steps, struct ts_error *err)
{
	const struct ts_diff_item x = { .pos = l->a.pos, .end = l->a.pos + n_steps, .pos2 = l->b.pos, .end2 = l->b.pos + n_steps,
					.is_reg = is_reg };

	return ts_diff_count_moved(d, &x, err);
}

bool ts_diff_compare_reg(struct ts_diff *d, const struct ts_diff_lane *l, const struct ts_diff_reg *r,
			 uint64_t n_steps, struct ts_error *err)
{
	const struct ts_diff_values v = values_of(l, r);

	if (ts_diff_next_difference(d, &v, 0) < v.len)
		ts_diff_put_item(d, l->a.pos, l->b.pos, n_steps, &v, 0, v.len, r);
	else if (d->has_moves && ts_diff_next_unequal(&v, 0) < v.len)
		return count_moved(d, l, true, n_steps, err);
	return true;
}

/* ---------------------------------------------------------------------------------------------- registers */

static void learn(struct ts_diff_side *s, const struct ts_effect *e, const uint8_t *data)
{
	memcpy(s->data + e->addr, data, e->len);
	memset(s->known + e->addr, 1, e->len);
	memset(s->is_doubtful + e->addr, 0, e->len);
}

static void forget(struct ts_diff_side *s, uint64_t off, size_t len)
{
	memset(s->known + off, 0, len);
	memset(s->is_doubtful + off, 1, len);
}

/* The registers that the step touched are added to the list; their values are those after it. */
static void take_regs(struct ts_diff *d, struct ts_diff_side *s, const struct ts_steps *b,
		      const struct ts_step *st, unsigned *n)
{
	struct ts_step_effects all = ts_step_effects(b, st);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind == TS_FX_FORGET_REGS)
			forget(s, 0, (size_t)e->len);
		if (e->kind > TS_FX_REG_READ || all.thread != s->thread || (!data && e->kind == TS_FX_REG_READ))
			continue;
		if (data)
			learn(s, e, data);
		else
			forget(s, e->addr, (size_t)e->len);
		for (uint64_t k = e->addr; k < e->addr + e->len && e->kind == TS_FX_REG_WRITE; k++) {
			int reg = s->reg_at[k];

			if (reg < 0 || d->touched[reg] == (uint32_t)d->clock)
				continue;
			d->touched[reg] = (uint32_t)d->clock;
			d->list[(*n)++] = (unsigned)reg;
		}
	}
}

/*
 * The registers that a step touched, of which there are @n on the list.  Where they seem to differ, or are in
 * doubt, the sides take the whole state: other threads' steps, and what is seen later, show it as well.
 */
static bool compare_regs(struct ts_diff *d, struct ts_diff_lane *l, unsigned n, struct ts_error *err)
{
	bool is_same = true, is_sure = true;

	for (unsigned i = 0; i < n && is_same; i++)
		is_same = ts_diff_is_same_reg(d, l, &d->regs[d->list[i]], &is_sure) && is_sure;
	if (is_same && !d->has_moves)
		return true;
	if (!is_same && (!ts_diff_read_regs(&l->a, l->a.pos + 1, err) || !ts_diff_read_regs(&l->b, l->b.pos + 1, err)))
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (!ts_diff_compare_reg(d, l, &d->regs[d->list[i]], 1, err))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------- memory */

/* The next write by the step's own thread; NULL after the last one, again and again. */
static const struct ts_effect *next_write(struct ts_step_effects *x, const struct ts_diff_acting *acting)
{
	const struct ts_effect *e = ts_step_effects_next(x);

	while (e && (e->kind != TS_FX_WRITE || x->thread != acting->step->thread))
		e = ts_step_effects_next(x);
	return e;
}

static uint64_t addr_in_a(struct ts_diff *d, const struct ts_diff_acting *x, uint64_t addr)
{
	return x->is_of_b ? ts_diff_to_a(d, addr) : addr;
}

/* Which of the bytes [addr, addr + len) of A the step wrote: @wrote gets 1 or 0 a byte. */
static void find_written(struct ts_diff *d, const struct ts_diff_acting *x, uint64_t addr, size_t len,
			 uint8_t *wrote)
{
	struct ts_step_effects writes = ts_step_effects(x->batch, x->step);
	const struct ts_effect *e;

	memset(wrote, 0, len);
	while ((e = next_write(&writes, x)) != NULL) {
		uint64_t first = addr_in_a(d, x, e->addr);

		for (size_t k = 0; k < len; k++) {
			if (addr + k - first < e->len)
				wrote[k] = 1;
		}
	}
}

/* Does write @e of A write the bytes that write @f of B writes? */
static bool is_same_place(struct ts_diff *d, const struct ts_effect *e, const struct ts_effect *f)
{
	return f->len == e->len && ts_diff_to_a(d, f->addr) == e->addr;
}

/* Is it, in A, in a frame of the stack that moved? */
static bool is_in_frame(const struct ts_diff *d, uint64_t addr)
{
	return d->stack.first <= d->stack.last && addr >= d->stack.lowest && addr < d->stack.first;
}

/*
 * Do both write a place of a frame of their own?  A function that aligns its frame moves it by another distance than its
 * caller's.
 */
static bool is_moved_frame(struct ts_diff *d, const struct ts_effect *e, const struct ts_effect *f)
{
	return f->len == e->len && !e->is_hidden && !f->is_hidden && is_in_frame(d, e->addr) &&
	       is_in_frame(d, ts_diff_to_a(d, f->addr));
}

static void add_suspect(struct ts_diff *d, uint64_t addr, uint64_t addr_b, uint32_t len)
{
	d->is_failed |= !TS_PUSH(d->suspects, d->n_suspects, d->cap_suspects, (struct ts_diff_suspect){ addr, addr_b, len });
}

static bool is_same_value(const struct ts_diff_acting *x, const struct ts_effect *e,
			  const struct ts_diff_acting *y, const struct ts_effect *f)
{
	const uint8_t *data = ts_effect_data(x->batch, e), *other = ts_effect_data(y->batch, f);

	return !data || !other || !memcmp(data, other, e->len);
}

/*
 * Of what a step wrote at @addr of A, what is to be compared is suspect, in pieces.  @other is the step of the
 * other recording.  @is_rest: what it wrote as well has been examined.  What a system call wrote is compared
 * with what is there, and not with what the other one wrote, only if both formats show such writes.
 */
static void suspect_write(struct ts_diff *d, const struct ts_diff_acting *other, uint64_t addr, uint64_t len,
			  bool is_hidden, bool is_rest)
{
	bool takes_lone = !is_hidden || d->has_kernel;

	for (uint64_t at = 0; at < len; at += MAX_REG_LEN) {
		size_t n = len - at < MAX_REG_LEN ? (size_t)(len - at) : MAX_REG_LEN;
		uint8_t wrote[MAX_REG_LEN], is_taken[MAX_REG_LEN];

		find_written(d, other, addr + at, n, wrote);
		for (size_t i = 0; i < n; i++)
			is_taken[i] = wrote[i] ? !is_rest : takes_lone;
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && is_taken[end] == is_taken[i];)
				end++;
			if (is_taken[i])
				add_suspect(d, addr + at + i, ts_diff_to_b(d, addr + at + i), (uint32_t)(end - i));
		}
	}
}

/* The bytes that both wrote, each at a place of its own, in pieces. */
static void suspect_pair(struct ts_diff *d, const struct ts_effect *e, const struct ts_effect *f)
{
	for (uint64_t at = 0; at < e->len; at += MAX_REG_LEN) {
		uint64_t n = e->len - at < MAX_REG_LEN ? e->len - at : MAX_REG_LEN;

		add_suspect(d, e->addr + at, f->addr + at, (uint32_t)n);
	}
}

/* Find writes of the steps that are not the same.  Those of the same ordinal mostly are. */
static void compare_writes(struct ts_diff *d, const struct ts_diff_acting *a, const struct ts_diff_acting *b)
{
	struct ts_step_effects of_a = ts_step_effects(a->batch, a->step), of_b = ts_step_effects(b->batch, b->step);
	const struct ts_effect *e, *f;

	while ((e = next_write(&of_a, a)) != NULL) {
		f = next_write(&of_b, b);
		if (f && !is_same_place(d, e, f) && is_moved_frame(d, e, f)) {
			if (!is_same_value(a, e, b, f))
				suspect_pair(d, e, f);
			continue;
		}
		if (!f || !is_same_place(d, e, f) || !is_same_value(a, e, b, f))
			suspect_write(d, b, e->addr, e->len, e->is_hidden, false);
	}
	of_a = ts_step_effects(a->batch, a->step);
	of_b = ts_step_effects(b->batch, b->step);
	while ((f = next_write(&of_b, b)) != NULL) {
		e = next_write(&of_a, a);
		if (!e || (!is_same_place(d, e, f) && !is_moved_frame(d, e, f)))
			suspect_write(d, a, ts_diff_to_a(d, f->addr), f->len, f->is_hidden, true);
	}
}

/* The whole piece is an item if it differs anywhere after the step. */
static bool compare_suspect(struct ts_diff *d, const struct ts_diff_lane *l,
			    const struct ts_diff_suspect *x, struct ts_error *err)
{
	uint8_t bytes[4][MAX_REG_LEN];
	const struct ts_diff_values v = { x->addr, x->len, bytes[0], bytes[1], bytes[2], bytes[3] };
	const struct ts_diff_side *a = &l->a, *b = &l->b;

	if (!ts_query_mem(a->q, a->pos + 1, ts_query_process(a->q, a->thread), x->addr, x->len, bytes[0],
			  bytes[1], err) ||
	    !ts_query_mem(b->q, b->pos + 1, ts_query_process(b->q, b->thread), x->addr_b, x->len, bytes[2], bytes[3], err))
		return false;
	if (ts_diff_next_difference(d, &v, 0) < v.len)
		ts_diff_put_item(d, a->pos, b->pos, 1, &v, 0, v.len, NULL);
	else if (ts_diff_next_unequal(&v, 0) < v.len)
		return count_moved(d, l, false, 1, err);
	return true;
}

bool ts_diff_compare_step(struct ts_diff *d, struct ts_diff_lane *l, const struct ts_diff_acting *a,
			  const struct ts_diff_acting *b,
			  struct ts_error *err)
{
	unsigned n = 0;
	bool done;

	/* questions about the state come after what examines the steps: these may make room for it */
	d->clock++;
	d->n_suspects = 0;
	take_regs(d, &l->a, a->batch, a->step, &n);
	take_regs(d, &l->b, b->batch, b->step, &n);
	compare_writes(d, a, b);
	done = compare_regs(d, l, n, err);
	for (size_t i = 0; i < d->n_suspects && done; i++)
		done = compare_suspect(d, l, &d->suspects[i], err);
	return done;
}
