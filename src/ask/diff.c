/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/query/paging.h"

/* So many steps that are the same end a difference. */
#define DIFF_SAME 12u

/* How far ahead a difference's end is looked for: at first, and at most. */
#define FIRST_WINDOW (UINT32_C(1) << 8)
#define LAST_WINDOW  (UINT32_C(1) << 20)

/* Registers of more bytes are not compared. */
#define MAX_REG_LEN 64u

enum column {
	COL_POSITION,
	COL_END,
	COL_POSITION2,
	COL_END2,
	COL_KIND,
	COL_WHAT,
	COL_OLD,
	COL_NEW,
	N_COLUMNS,
};

static const struct ts_column columns[N_COLUMNS] = {
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_END] = { .name = "end", .type = TS_COLUMN_NUMBER },
	[COL_POSITION2] = { .name = "position2", .type = TS_COLUMN_NUMBER },
	[COL_END2] = { .name = "end2", .type = TS_COLUMN_NUMBER },
	[COL_KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[COL_WHAT] = { .name = "what", .type = TS_COLUMN_TEXT },
	[COL_OLD] = { .name = "old", .type = TS_COLUMN_VALUE },
	[COL_NEW] = { .name = "new", .type = TS_COLUMN_VALUE },
};

const struct ts_verb ts_verb_diff = {
	.name = "diff",
	.columns = columns,
	.n_columns = N_COLUMNS,
};

/* A range of addresses of B, and what to add to come to those of A. */
struct shift {
	uint64_t first, last;
	uint64_t delta;
};

/* A register of both. */
struct both {
	const struct ts_reg *a, *b;
};

/* A difference that was found. */
struct item {
	uint64_t pos, end, pos2, end2;
	bool is_path, is_reg;
	char what[48];
	uint32_t len;
	uint8_t old[MAX_REG_LEN], old_known[MAX_REG_LEN];
	uint8_t new[MAX_REG_LEN], new_known[MAX_REG_LEN];
};

/* A thread of one of the recordings, at one of its steps. */
struct side {
	struct ts_query *q; /* borrowed */
	uint32_t thread;
	bool has_thread;
	uint64_t pos;          /* of its next step; TS_NO_POS after the last */
	uint64_t slice_end;    /* up to there no other thread runs */
	uint64_t end;          /* after the step before it */
	uint8_t *data, *known; /* owned: one allocation; registers at pos */
	const int16_t
		*reg_at; /* borrowed; by byte of the 'g' layout: which of the registers of both, -1 none */
};

/* Threads that are compared. */
struct lane {
	struct side a, b;
	struct item *items; /* owned; found, and not told yet: from at on */
	size_t n, cap, at;
	bool is_over;
	bool is_begun;
	uint32_t n_looked;
};

struct ts_diff {
	struct ts_query *a, *b; /* borrowed */
	bool is_rebased;
	struct shift *shifts; /* owned */
	size_t n_shifts;
	uint64_t delta;    /* what no shift covers */
	struct both *regs; /* owned */
	unsigned n_regs;
	uint32_t *touched;            /* owned; by register: the last step (its low bits) that touched it */
	unsigned *list;               /* owned; registers touched by this step */
	int16_t *reg_at_a, *reg_at_b; /* owned */
	struct lane *lanes;           /* owned */
	uint32_t n_lanes;
	uint64_t clock;
	bool is_failed; /* memory ran out */
};

/* -------------------------------------------------------------------------------------------------- making
 */

static bool no_memory(struct ts_error *err)
{
	return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to compare");
}

static int16_t *make_reg_at(const struct ts_regset *set, const struct both *regs, unsigned n, bool is_b)
{
	int16_t *at = malloc((set->g_len + 1) * sizeof(*at));

	for (uint32_t i = 0; at && i < set->g_len; i++)
		at[i] = -1;
	for (unsigned i = 0; at && i < n; i++) {
		const struct ts_reg *r = is_b ? regs[i].b : regs[i].a;

		for (unsigned k = 0; k < r->len; k++)
			at[r->off + k] = (int16_t)i;
	}
	return at;
}

/* Registers that both have, the pc left out. */
static bool make_regs(struct ts_diff *d, struct ts_error *err)
{
	const struct ts_regset *a = ts_query_regset(d->a), *b = ts_query_regset(d->b);

	d->regs = malloc((a->n_regs + 1) * sizeof(*d->regs));
	d->touched = calloc(a->n_regs + 1, sizeof(*d->touched));
	d->list = malloc((a->n_regs + 1) * sizeof(*d->list));
	if (!d->regs || !d->touched || !d->list)
		return no_memory(err);
	for (unsigned i = 0; i < a->n_regs && i < INT16_MAX; i++) {
		int k = (int)i == a->pc ? -1 : ts_regset_find(b, a->regs[i].name);

		if (k >= 0 && b->regs[k].len == a->regs[i].len && b->regs[k].len <= MAX_REG_LEN)
			d->regs[d->n_regs++] = (struct both){ &a->regs[i], &b->regs[k] };
	}
	d->reg_at_a = make_reg_at(a, d->regs, d->n_regs, false);
	d->reg_at_b = make_reg_at(b, d->regs, d->n_regs, true);
	return (d->reg_at_a && d->reg_at_b) || no_memory(err);
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Where the module of B lies in A: that of the same name. */
static bool add_shift(struct ts_diff *d, const struct ts_module_info *m, struct ts_error *err)
{
	struct ts_module_info other;
	struct shift *p;

	for (size_t i = 0; m->file && ts_query_module(d->a, i, &other); i++) {
		if (!other.file || strcmp(base_name(other.file), base_name(m->file)))
			continue;
		p = realloc(d->shifts, (d->n_shifts + 1) * sizeof(*p));
		if (!p)
			return no_memory(err);
		d->shifts = p;
		p[d->n_shifts++] = (struct shift){ m->first, m->last, other.first - m->first };
		return true;
	}
	return true;
}

static bool make_shifts(struct ts_diff *d, struct ts_error *err)
{
	struct ts_module_info m;
	uint64_t a = 0, b = 0;
	bool has_a, has_b;

	for (size_t i = 0; ts_query_module(d->b, i, &m); i++) {
		if (!add_shift(d, &m, err))
			return false;
	}
	if (!ts_query_pc(d->a, 0, ts_query_thread(d->a, 0), &a, &has_a, err) ||
	    !ts_query_pc(d->b, 0, ts_query_thread(d->b, 0), &b, &has_b, err))
		return false;
	d->delta = a - b;
	return true;
}

/* An address of B as it is in A. */
static uint64_t shifted(const struct ts_diff *d, uint64_t addr)
{
	if (!d->is_rebased)
		return addr;
	for (size_t i = 0; i < d->n_shifts; i++) {
		if (addr >= d->shifts[i].first && addr <= d->shifts[i].last)
			return addr + d->shifts[i].delta;
	}
	return addr + d->delta;
}

static bool side_init(struct side *s, struct ts_query *q, uint32_t thread, const int16_t *reg_at,
		      struct ts_error *err)
{
	size_t len = ts_query_regset(q)->g_len;

	*s = (struct side){ .q = q, .thread = thread, .pos = TS_NO_POS, .reg_at = reg_at };
	s->has_thread = thread < ts_query_n_threads(q);
	s->data = malloc(2 * len + 1);
	s->known = s->data ? s->data + len : NULL;
	if (s->has_thread)
		s->pos = ts_query_next_step(q, thread, 0);
	return s->data || no_memory(err);
}

static bool make_lanes(struct ts_diff *d, struct ts_error *err)
{
	uint32_t a = ts_query_n_threads(d->a), b = ts_query_n_threads(d->b);

	d->n_lanes = a > b ? a : b;
	d->lanes = calloc(d->n_lanes + 1, sizeof(*d->lanes));
	if (!d->lanes)
		return no_memory(err);
	for (uint32_t i = 0; i < d->n_lanes; i++) {
		if (!side_init(&d->lanes[i].a, d->a, i, d->reg_at_a, err) ||
		    !side_init(&d->lanes[i].b, d->b, i, d->reg_at_b, err))
			return false;
	}
	return true;
}

struct ts_diff *ts_diff_new(struct ts_query *a, struct ts_query *b, bool is_rebased, struct ts_error *err)
{
	const struct ts_arch *x = ts_query_regset(a)->arch, *y = ts_query_regset(b)->arch;
	struct ts_diff *d = calloc(1, sizeof(*d));

	if (!d) {
		no_memory(err);
		return NULL;
	}
	d->a = a;
	d->b = b;
	d->is_rebased = is_rebased;
	if (x != y)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the recordings are of different processors: %s and %s",
			x->name, y->name);
	else if (make_regs(d, err) && (!is_rebased || make_shifts(d, err)) && make_lanes(d, err))
		return d;
	ts_diff_free(d);
	return NULL;
}

void ts_diff_free(struct ts_diff *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; d->lanes && i < d->n_lanes; i++) {
		free(d->lanes[i].a.data);
		free(d->lanes[i].b.data);
		free(d->lanes[i].items);
	}
	free(d->lanes);
	free(d->shifts);
	free(d->regs);
	free(d->touched);
	free(d->list);
	free(d->reg_at_a);
	free(d->reg_at_b);
	free(d);
}

/* --------------------------------------------------------------------------------------------------- steps
 */

/* The thread's step after @pos; TS_NO_POS if there is none. */
static uint64_t step_after(struct side *s, uint64_t pos)
{
	if (pos + 1 < s->slice_end)
		return pos + 1;
	pos = ts_query_next_step(s->q, s->thread, pos + 1);
	if (pos != TS_NO_POS && pos < ts_query_n_steps(s->q))
		s->slice_end = ts_query_slice_end(s->q, pos);
	return pos < ts_query_n_steps(s->q) ? pos : TS_NO_POS;
}

static struct item *add_item(struct ts_diff *d, struct lane *l)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 8;
		struct item *p = realloc(l->items, cap * sizeof(*p));

		if (!p) {
			d->is_failed = true;
			return NULL;
		}
		l->items = p;
		l->cap = cap;
	}
	l->items[l->n] = (struct item){ 0 };
	return &l->items[l->n++];
}

/* The registers that the step touched are added to the list; their values are those after it. */
static void take_regs(struct ts_diff *d, struct side *s, const struct ts_steps *b, const struct ts_step *st,
		      unsigned *n)
{
	uint32_t whose = st->thread;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind == TS_FX_THREAD)
			whose = e->item;
		if (e->kind > TS_FX_REG_READ || whose != s->thread || (!data && e->kind == TS_FX_REG_READ))
			continue;
		if (data)
			memcpy(s->data + e->addr, data, e->len);
		memset(s->known + e->addr, data != NULL, e->len);
		for (uint64_t k = e->addr; k < e->addr + e->len && e->kind == TS_FX_REG_WRITE; k++) {
			int reg = s->reg_at[k];

			if (reg < 0 || d->touched[reg] == (uint32_t)d->clock)
				continue;
			d->touched[reg] = (uint32_t)d->clock;
			d->list[(*n)++] = (unsigned)reg;
		}
	}
}

/* Are values of @len bytes the same where both are known? */
static bool is_same(const struct ts_diff *d, const uint8_t *a, const uint8_t *a_known, const uint8_t *b,
		    const uint8_t *b_known, uint64_t len)
{
	const struct ts_arch *arch = ts_query_regset(d->a)->arch;
	bool is_known = true;

	for (uint64_t i = 0; i < len; i++) {
		if (a_known[i] && b_known[i] && a[i] != b[i]) {
			for (uint64_t k = 0; k < len; k++)
				is_known &= a_known[k] && b_known[k];
			return d->is_rebased && is_known && len == arch->addr_bits / 8u &&
			       ts_arch_get(arch, a, len) == shifted(d, ts_arch_get(arch, b, len));
		}
	}
	return true;
}

static void put_item(struct ts_diff *d, struct lane *l, uint64_t n_steps, const uint8_t *a,
		     const uint8_t *a_known, const uint8_t *b, const uint8_t *b_known, uint32_t len,
		     bool is_reg, const char *what)
{
	struct item *x = add_item(d, l);

	if (!x)
		return;
	x->pos = l->a.pos;
	x->end = l->a.pos + n_steps;
	x->pos2 = l->b.pos;
	x->end2 = l->b.pos + n_steps;
	x->is_reg = is_reg;
	x->len = len;
	snprintf(x->what, sizeof(x->what), "%s", what);
	memcpy(x->old, a, len);
	memcpy(x->old_known, a_known, len);
	memcpy(x->new, b, len);
	memcpy(x->new_known, b_known, len);
}

static void compare_reg(struct ts_diff *d, struct lane *l, const struct both *r, uint64_t n_steps)
{
	const struct side *a = &l->a, *b = &l->b;
	char what[48];

	if (is_same(d, a->data + r->a->off, a->known + r->a->off, b->data + r->b->off, b->known + r->b->off,
		    r->a->len))
		return;
	snprintf(what, sizeof(what), "$%s", r->a->name);
	put_item(d, l, n_steps, a->data + r->a->off, a->known + r->a->off, b->data + r->b->off,
		 b->known + r->b->off, r->a->len, true, what);
}

/* ------------------------------------------------------------------------------------------------- memory */

/* What the step wrote at [addr, addr + len), as far as it did: the last writes count. */
static void find_written(const struct ts_diff *d, const struct ts_steps *b, const struct ts_step *st,
			 bool is_b, uint64_t addr, size_t len, uint8_t *data, uint8_t *known)
{
	memset(known, 0, len);
	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		const uint8_t *value = ts_effect_data(b, e);
		uint64_t first = is_b ? shifted(d, e->addr) : e->addr;

		if (e->kind == TS_FX_THREAD)
			return;
		if (e->kind != TS_FX_WRITE)
			continue;
		for (size_t k = 0; k < len; k++) {
			if (addr + k - first >= e->len)
				continue;
			known[k] = value != NULL;
			data[k] = value ? value[addr + k - first] : 0;
		}
	}
}

/* Does the step of B have the same write?  Mostly it is its effect of the same ordinal. */
static bool has_write(const struct ts_diff *d, const struct ts_steps *ba, const struct ts_effect *e,
		      uint32_t i, const struct ts_steps *bb, const struct ts_step *sb)
{
	const uint8_t *data = ts_effect_data(ba, e), *other;
	const struct ts_effect *f = i < sb->n_effects ? &bb->effects[sb->first + i] : NULL;

	if (!f || f->kind != TS_FX_WRITE || shifted(d, f->addr) != e->addr || f->len != e->len)
		return false;
	other = ts_effect_data(bb, f);
	return !data || !other || !memcmp(data, other, e->len);
}

/* Writes of both that overlap and leave different bytes. */
static void compare_writes(struct ts_diff *d, struct lane *l, const struct ts_steps *ba,
			   const struct ts_step *sa, const struct ts_steps *bb, const struct ts_step *sb)
{
	for (uint32_t i = 0; i < sa->n_effects; i++) {
		const struct ts_effect *e = &ba->effects[sa->first + i];

		if (e->kind == TS_FX_THREAD)
			return;
		if (e->kind != TS_FX_WRITE || has_write(d, ba, e, i, bb, sb))
			continue;
		for (uint64_t at = 0, n; at < e->len; at += n) {
			uint8_t x[MAX_REG_LEN], x_known[MAX_REG_LEN], y[MAX_REG_LEN], y_known[MAX_REG_LEN];
			char what[48];

			n = e->len - at < MAX_REG_LEN ? e->len - at : MAX_REG_LEN;
			find_written(d, ba, sa, false, e->addr + at, n, x, x_known);
			find_written(d, bb, sb, true, e->addr + at, n, y, y_known);
			if (is_same(d, x, x_known, y, y_known, n))
				continue;
			snprintf(what, sizeof(what), "0x%" PRIx64 ",%" PRIu64, e->addr + at, n);
			put_item(d, l, 1, x, x_known, y, y_known, (uint32_t)n, false, what);
		}
	}
}

/* Both take a step at the same address. */
static void compare_step(struct ts_diff *d, struct lane *l, const struct ts_steps *ba,
			 const struct ts_step *sa, const struct ts_steps *bb, const struct ts_step *sb)
{
	unsigned n = 0;

	d->clock++;
	take_regs(d, &l->a, ba, sa, &n);
	take_regs(d, &l->b, bb, sb, &n);
	for (unsigned i = 0; i < n; i++)
		compare_reg(d, l, &d->regs[d->list[i]], 1);
	compare_writes(d, l, ba, sa, bb, sb);
}

/* ------------------------------------------------------------------------------------- steps of one only */

/* Addresses of the next steps of a thread. */
struct window {
	uint64_t *pcs, *steps; /* owned; n of them */
	size_t n;
	bool is_end; /* the thread has no more */
};

static bool fill(struct ts_diff *d, struct side *s, bool is_b, size_t max, struct window *w,
		 struct ts_error *err)
{
	struct side at = *s;

	w->pcs = malloc(max * sizeof(*w->pcs));
	w->steps = malloc(max * sizeof(*w->steps));
	if (!w->pcs || !w->steps)
		return no_memory(err);
	for (w->n = 0; w->n < max && at.pos != TS_NO_POS; w->n++) {
		const struct ts_steps *b;
		const struct ts_step *st = ts_query_step(s->q, at.pos, &b, err);

		if (!st)
			return false;
		w->pcs[w->n] = is_b ? shifted(d, st->pc) : st->pc;
		w->steps[w->n] = at.pos;
		at.pos = step_after(&at, at.pos);
	}
	w->is_end = at.pos == TS_NO_POS;
	return true;
}

static uint64_t hash_steps(const uint64_t *pcs)
{
	uint64_t h = 0;

	for (unsigned i = 0; i < DIFF_SAME; i++)
		h = (h ^ pcs[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/*
 * The shortest way (steps of A and B together) to DIFF_SAME steps that are the same.  Returns false if there
 * is none.
 */
static bool find_same(const struct window *a, const struct window *b, size_t *i, size_t *j, bool *is_failed)
{
	size_t n_table = 1, best = SIZE_MAX;
	uint32_t *table;

	if (a->n < DIFF_SAME || b->n < DIFF_SAME)
		return false;
	while (n_table < 2 * b->n)
		n_table *= 2;
	table = calloc(n_table, sizeof(*table)); /* hash -> first place in B + 1 */
	*is_failed = !table;
	for (size_t k = b->n - DIFF_SAME + 1; table && k-- > 0;)
		table[hash_steps(b->pcs + k) & (n_table - 1)] = (uint32_t)k + 1;
	for (size_t k = 0; table && k + DIFF_SAME <= a->n && k < best; k++) {
		uint32_t at = table[hash_steps(a->pcs + k) & (n_table - 1)];

		if (at && k + at - 1 < best &&
		    !memcmp(a->pcs + k, b->pcs + at - 1, DIFF_SAME * sizeof(*a->pcs))) {
			best = k + at - 1;
			*i = k;
			*j = at - 1;
		}
	}
	free(table);
	return best != SIZE_MAX;
}

/* If both windows reach the end: the steps that are the same there. */
static void find_end(const struct window *a, const struct window *b, size_t *i, size_t *j)
{
	size_t n = 0;

	while (a->is_end && b->is_end && n < a->n && n < b->n && a->pcs[a->n - 1 - n] == b->pcs[b->n - 1 - n])
		n++;
	*i = a->n - n;
	*j = b->n - n;
}

/* Go to the @i-th step of the window. */
static bool go_to(struct side *s, const struct window *w, size_t i, struct ts_error *err)
{
	if (i)
		s->end = w->steps[i - 1] + 1;
	s->pos = i < w->n ? w->steps[i] : TS_NO_POS;
	if (s->pos == TS_NO_POS)
		return true;
	s->slice_end = ts_query_slice_end(s->q, s->pos);
	return ts_query_regs(s->q, s->pos, s->thread, s->data, s->known, err);
}

/* The rest of a thread is of one only. */
static void go_to_end(struct side *s)
{
	uint64_t last = ts_query_prev_step(s->q, s->thread, ts_query_n_steps(s->q));

	if (s->has_thread && last != TS_NO_POS && s->pos != TS_NO_POS)
		s->end = last + 1;
	s->pos = TS_NO_POS;
}

static bool part(struct ts_diff *d, struct lane *l, struct ts_error *err)
{
	uint64_t a = l->a.pos, b = l->b.pos;
	size_t max = FIRST_WINDOW, i = 0, j = 0;
	bool is_found = false, is_done = true, is_last = false, is_failed = false;
	struct item *x;

	for (; is_done && !is_found && !is_last && !is_failed; max *= 16) {
		struct window wa = { 0 }, wb = { 0 };

		is_done = fill(d, &l->a, false, max, &wa, err) && fill(d, &l->b, true, max, &wb, err);
		is_found = is_done && find_same(&wa, &wb, &i, &j, &is_failed);
		is_last = (wa.is_end && wb.is_end) || max >= LAST_WINDOW;
		if (is_done && !is_found && wa.is_end && wb.is_end) {
			find_end(&wa, &wb, &i, &j);
			is_found = true;
		}
		if (is_found)
			is_done = go_to(&l->a, &wa, i, err) && go_to(&l->b, &wb, j, err);
		free(wa.pcs);
		free(wa.steps);
		free(wb.pcs);
		free(wb.steps);
	}
	if (is_failed)
		return no_memory(err);
	if (is_done && !is_found) {
		go_to_end(&l->a);
		go_to_end(&l->b);
	}
	x = is_done ? add_item(d, l) : NULL;
	if (!x)
		return is_done ? no_memory(err) : false;
	*x = (struct item){ .is_path = true, .pos = a, .end = l->a.end, .pos2 = b, .end2 = l->b.end };
	if (a == TS_NO_POS || x->end < a) /* nothing of A: where it stands */
		x->pos = x->end = a == TS_NO_POS ? l->a.end : a;
	if (b == TS_NO_POS || x->end2 < b)
		x->pos2 = x->end2 = b == TS_NO_POS ? l->b.end : b;
	return true;
}

/* --------------------------------------------------------------------------------------------------- lanes
 */

/* The state before the threads' first steps. */
static bool begin(struct ts_diff *d, struct lane *l, struct ts_error *err)
{
	l->is_begun = true;
	l->a.end = l->a.has_thread ? 0 : ts_query_end(d->a);
	l->b.end = l->b.has_thread ? 0 : ts_query_end(d->b);
	if (l->a.pos == TS_NO_POS || l->b.pos == TS_NO_POS)
		return true;
	l->a.slice_end = ts_query_slice_end(d->a, l->a.pos);
	l->b.slice_end = ts_query_slice_end(d->b, l->b.pos);
	if (!ts_query_regs(d->a, l->a.pos, l->a.thread, l->a.data, l->a.known, err) ||
	    !ts_query_regs(d->b, l->b.pos, l->b.thread, l->b.data, l->b.known, err))
		return false;
	for (unsigned i = 0; i < d->n_regs; i++)
		compare_reg(d, l, &d->regs[i], 0);
	return true;
}

static void advance(struct side *s)
{
	s->end = s->pos + 1;
	s->pos = step_after(s, s->pos);
}

/* Go on until there is a difference, or the lane is over. */
static enum ts_got run_lane(struct ts_diff *d, struct lane *l, struct ts_budget *budget, struct ts_error *err)
{
	if (!l->is_begun && !begin(d, l, err))
		return TS_GOT_FAIL;
	l->n = l->n == l->at ? 0 : l->n;
	l->at = l->n ? l->at : 0;
	while (!l->n) {
		const struct ts_steps *ba, *bb;
		const struct ts_step *sa, *sb;

		if (l->a.pos == TS_NO_POS && l->b.pos == TS_NO_POS) {
			l->is_over = true;
			return TS_GOT_END;
		}
		if (l->n_looked++ % TS_CHUNK_STEPS == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		sa = l->a.pos == TS_NO_POS ? NULL : ts_query_step(d->a, l->a.pos, &ba, err);
		sb = l->b.pos == TS_NO_POS ? NULL : ts_query_step(d->b, l->b.pos, &bb, err);
		if ((!sa && l->a.pos != TS_NO_POS) || (!sb && l->b.pos != TS_NO_POS))
			return TS_GOT_FAIL;
		if (sa && sb && sa->pc == shifted(d, sb->pc)) {
			compare_step(d, l, ba, sa, bb, sb);
			advance(&l->a);
			advance(&l->b);
		} else if (!part(d, l, err)) {
			return TS_GOT_FAIL;
		}
		if (d->is_failed) {
			no_memory(err);
			return TS_GOT_FAIL;
		}
	}
	return TS_GOT_ROW;
}

static void put_row(const struct ts_diff *d, const struct item *x, struct ts_row *row)
{
	bool is_big = ts_query_regset(d->a)->arch->is_big_endian;
	bool is_number = x->is_reg || x->len == 1 || x->len == 2 || x->len == 4 || x->len == 8;

	ts_row_number(row, COL_POSITION, x->pos);
	ts_row_number(row, COL_END, x->end);
	ts_row_number(row, COL_POSITION2, x->pos2);
	ts_row_number(row, COL_END2, x->end2);
	ts_row_text(row, COL_KIND, x->is_path ? "path" : x->is_reg ? "register" : "memory");
	if (x->is_path)
		return;
	ts_row_text(row, COL_WHAT, x->what);
	ts_row_value(row, COL_OLD, x->old, x->old_known, x->len, is_number, is_big);
	ts_row_value(row, COL_NEW, x->new, x->new_known, x->len, is_number, is_big);
}

enum ts_got ts_diff_next(struct ts_diff *d, struct ts_row *row, struct ts_budget *budget,
			 struct ts_error *err)
{
	struct lane *best = NULL;

	for (uint32_t i = 0; i < d->n_lanes; i++) {
		struct lane *l = &d->lanes[i];
		enum ts_got got = l->is_over || l->at < l->n ? TS_GOT_ROW : run_lane(d, l, budget, err);

		if (got == TS_GOT_PENDING || got == TS_GOT_FAIL)
			return got;
		if (l->at < l->n && (!best || l->items[l->at].pos < best->items[best->at].pos))
			best = l;
	}
	if (!best)
		return TS_GOT_END;
	put_row(d, &best->items[best->at++], row);
	return TS_GOT_ROW;
}
