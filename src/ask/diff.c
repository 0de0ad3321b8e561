/* SPDX-License-Identifier: MIT */
#include "diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rebase.h"
#include "resync.h"
#include "src/query/scan.h"
#include "state.h"

/* How far ahead a difference's end is looked for: at first, and at most. */
#define FIRST_WINDOW (UINT32_C(1) << 8)
#define LAST_WINDOW  (UINT32_C(1) << 20)

/* Registers of more bytes are not compared; memory is compared in pieces of so many. */
#define MAX_REG_LEN 64u

#define PAGE_LEN (1u << TS_SCAN_PAGE_BITS)

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
	.help = "Tell where two recordings of one program part.",
	.columns = columns,
	.n_columns = N_COLUMNS,
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
	bool is_over;
	bool is_begun;
};

/* Memory at position 0, a page of A after the other. */
struct start {
	uint32_t process;
	uint64_t *pages; /* owned */
	size_t n, at;
	bool has_pages;
};

/* A piece of memory that a step wrote, or both did, which may differ after it. */
struct suspect {
	uint64_t addr; /* of A */
	uint32_t len;
	uint8_t is_left_out[MAX_REG_LEN]; /* 1 or 0 a byte: it has been compared */
};

struct diff {
	struct ts_rows rows;
	struct ts_query *a, *b; /* borrowed */
	bool is_rebased;
	bool has_kernel; /* both formats show what system calls write */
	bool is_initial_sure; /* they do, or take the same for initial values */
	struct ts_rebase rebase;
	struct both *regs; /* owned */
	unsigned n_regs;
	uint32_t *touched;            /* owned; by register: the last step (its low bits) that touched it */
	unsigned *list;               /* owned; registers touched by this step */
	int16_t *reg_at_a, *reg_at_b; /* owned */
	struct start start;
	struct lane *lanes;           /* owned */
	uint32_t n_lanes;
	struct lane *lane;            /* that is compared; NULL: the next one is to be chosen */
	uint64_t limit;               /* up to this position of A it is */
	struct item *items;           /* owned; found, and not told yet: from at on */
	size_t n, cap, at;
	struct suspect *suspects;     /* owned; of this step */
	size_t n_suspects, cap_suspects;
	uint64_t clock;
	uint32_t n_looked;            /* steps, for the budget */
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
static bool make_regs(struct diff *d, struct ts_error *err)
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

/* An address of B as it is in A, and the other way round. */
static uint64_t to_a(struct diff *d, uint64_t addr)
{
	return d->is_rebased ? ts_rebase_to_a(&d->rebase, addr) : addr;
}

static uint64_t to_b(struct diff *d, uint64_t addr)
{
	return d->is_rebased ? ts_rebase_to_b(&d->rebase, addr) : addr;
}

static bool side_init(struct side *s, struct ts_query *q, uint32_t thread, const int16_t *reg_at,
		      struct ts_error *err)
{
	size_t len = ts_query_regset(q)->g_len;

	*s = (struct side){ .q = q, .thread = thread, .pos = TS_NO_POS, .reg_at = reg_at };
	s->has_thread = thread < ts_query_n_threads(q);
	s->data = malloc(2 * len + 1);
	s->known = s->data ? s->data + len : NULL;
	s->end = s->has_thread ? 0 : ts_query_end(q);
	if (s->has_thread)
		s->pos = ts_query_next_step(q, thread, 0);
	return s->data || no_memory(err);
}

static bool make_lanes(struct diff *d, struct ts_error *err)
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

/* -------------------------------------------------------------------------------------------------- values */

/* Values of both at one place, with known flags. */
struct values {
	uint64_t addr; /* of memory, in A; of registers 0 */
	size_t len;
	const uint8_t *a, *a_known, *b, *b_known;
};

/* Are the bytes from @at on an address, the same one? */
static bool is_same_address(struct diff *d, const struct values *v, size_t at, size_t word)
{
	const struct ts_arch *arch = ts_query_regset(d->a)->arch;

	if (at > v->len || v->len - at < word || memchr(v->a_known + at, 0, word) || memchr(v->b_known + at, 0, word))
		return false;
	return ts_arch_get(arch, v->a + at, word) == to_a(d, ts_arch_get(arch, v->b + at, word));
}

/* The first byte from @at on that differs, and is known in both; the length if there is none. */
static size_t next_difference(struct diff *d, const struct values *v, size_t at)
{
	size_t word = ts_query_regset(d->a)->arch->addr_bits / 8u;

	for (; at < v->len; at++) {
		size_t before = v->len == word ? at : (v->addr + at) % word;

		if (v->a[at] == v->b[at] || !v->a_known[at] || !v->b_known[at])
			continue;
		if (!d->is_rebased || before > at || !is_same_address(d, v, at - before, word))
			return at;
		at += word - before - 1;
	}
	return v->len;
}

static struct item *add_item(struct diff *d)
{
	if (d->n == d->cap) {
		size_t cap = d->cap ? 2 * d->cap : 8;
		struct item *p = realloc(d->items, cap * sizeof(*p));

		if (!p) {
			d->is_failed = true;
			return NULL;
		}
		d->items = p;
		d->cap = cap;
	}
	d->items[d->n] = (struct item){ 0 };
	return &d->items[d->n++];
}

/* Bytes [@at, @end) of the values differ at the steps where the sides stand, or (@n_steps 0) before them. */
static void put_item(struct diff *d, uint64_t pos, uint64_t pos2, uint64_t n_steps, const struct values *v, size_t at,
		     size_t end, const char *reg)
{
	struct item *x = add_item(d);

	if (!x)
		return;
	x->pos = pos;
	x->end = pos + n_steps;
	x->pos2 = pos2;
	x->end2 = pos2 + n_steps;
	x->is_reg = reg != NULL;
	x->len = (uint32_t)(end - at);
	if (reg)
		snprintf(x->what, sizeof(x->what), "$%s", reg);
	else
		snprintf(x->what, sizeof(x->what), "0x%" PRIx64 ",%zu", v->addr + at, end - at);
	memcpy(x->old, v->a + at, end - at);
	memcpy(x->old_known, v->a_known + at, end - at);
	memcpy(x->new, v->b + at, end - at);
	memcpy(x->new_known, v->b_known + at, end - at);
}

static struct values values_of(const struct lane *l, const struct both *r)
{
	return (struct values){
		.len = r->a->len,
		.a = l->a.data + r->a->off,
		.a_known = l->a.known + r->a->off,
		.b = l->b.data + r->b->off,
		.b_known = l->b.known + r->b->off,
	};
}

static void compare_reg(struct diff *d, const struct lane *l, const struct both *r, uint64_t n_steps)
{
	const struct values v = values_of(l, r);

	if (next_difference(d, &v, 0) < v.len)
		put_item(d, l->a.pos, l->b.pos, n_steps, &v, 0, v.len, r->a->name);
}

/* ---------------------------------------------------------------------------------------------- registers */

/* The registers that the step touched are added to the list; their values are those after it. */
static void take_regs(struct diff *d, struct side *s, const struct ts_steps *b, const struct ts_step *st, unsigned *n)
{
	uint32_t whose = st->thread;

	for (uint32_t i = 0; i < st->n_effects; i++) {
		const struct ts_effect *e = &b->effects[st->first + i];
		const uint8_t *data = ts_effect_data(b, e);

		if (e->kind == TS_FX_THREAD)
			whose = e->item;
		if (e->kind == TS_FX_FORGET_REGS)
			memset(s->known, 0, (size_t)e->len);
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

/*
 * The registers that a step touched, of which there are @n on the list.  Where they seem to differ the sides take the
 * whole state: other threads' steps, and what is seen later, tell of it as well.
 */
static bool compare_regs(struct diff *d, struct lane *l, unsigned n, struct ts_error *err)
{
	bool is_same = true;

	for (unsigned i = 0; i < n && is_same; i++) {
		const struct values v = values_of(l, &d->regs[d->list[i]]);

		is_same = next_difference(d, &v, 0) == v.len;
	}
	if (is_same)
		return true;
	if (!ts_query_regs(d->a, l->a.pos + 1, l->a.thread, l->a.data, l->a.known, err) ||
	    !ts_query_regs(d->b, l->b.pos + 1, l->b.thread, l->b.data, l->b.known, err))
		return false;
	for (unsigned i = 0; i < n; i++)
		compare_reg(d, l, &d->regs[d->list[i]], 1);
	return true;
}

/* ------------------------------------------------------------------------------------------------- memory */

/* A step, and the recording that it is of. */
struct acting {
	const struct ts_steps *batch;
	const struct ts_step *step;
	bool is_of_b;
};

static const struct ts_effect *effect(const struct acting *x, uint32_t i)
{
	return i < x->step->n_effects ? &x->batch->effects[x->step->first + i] : NULL;
}

static uint64_t addr_in_a(struct diff *d, const struct acting *x, uint64_t addr)
{
	return x->is_of_b ? to_a(d, addr) : addr;
}

/* Which of the bytes [addr, addr + len) of A the step wrote: @wrote gets 1 or 0 a byte.  Returns how many. */
static size_t find_written(struct diff *d, const struct acting *x, uint64_t addr, size_t len, uint8_t *wrote)
{
	const struct ts_effect *e;
	size_t n = 0;

	memset(wrote, 0, len);
	for (uint32_t i = 0; (e = effect(x, i)) != NULL && e->kind != TS_FX_THREAD; i++) {
		uint64_t first;

		if (e->kind != TS_FX_WRITE)
			continue;
		first = addr_in_a(d, x, e->addr);
		for (size_t k = 0; k < len; k++) {
			if (addr + k - first >= e->len)
				continue;
			n += !wrote[k];
			wrote[k] = 1;
		}
	}
	return n;
}

/* The other step's effect of the same ordinal, if it writes the same bytes: mostly it does. */
static const struct ts_effect *find_twin(struct diff *d, const struct acting *x, uint32_t i, const struct acting *other)
{
	const struct ts_effect *e = effect(x, i), *f = effect(other, i);

	return f && f->kind == TS_FX_WRITE && f->len == e->len &&
			       addr_in_a(d, other, f->addr) == addr_in_a(d, x, e->addr)
		       ? f
		       : NULL;
}

static void add_suspect(struct diff *d, const struct suspect *suspect)
{
	if (d->n_suspects == d->cap_suspects) {
		size_t cap = d->cap_suspects ? 2 * d->cap_suspects : 8;
		struct suspect *p = realloc(d->suspects, cap * sizeof(*p));

		if (!p) {
			d->is_failed = true;
			return;
		}
		d->suspects = p;
		d->cap_suspects = cap;
	}
	d->suspects[d->n_suspects++] = *suspect;
}

static bool is_same_value(const struct acting *x, const struct ts_effect *e, const struct acting *y,
			  const struct ts_effect *f)
{
	const uint8_t *data = ts_effect_data(x->batch, e), *other = ts_effect_data(y->batch, f);

	return !data || !other || !memcmp(data, other, e->len);
}

/*
 * What @x wrote is suspect, in pieces.  @is_rest: what the other step wrote as well has been looked at.  What a system
 * call wrote is compared with what stands there only if both formats show such writes.
 */
static void suspect_write(struct diff *d, const struct acting *other, uint64_t addr, uint64_t len, bool is_hidden,
			  bool is_rest)
{
	for (uint64_t at = 0; at < len; at += MAX_REG_LEN) {
		struct suspect x = { addr + at, len - at < MAX_REG_LEN ? (uint32_t)(len - at) : MAX_REG_LEN, { 0 } };
		uint8_t wrote[MAX_REG_LEN];
		bool is_by_both = find_written(d, other, x.addr, x.len, wrote) == x.len;

		if (is_rest)
			memcpy(x.is_left_out, wrote, x.len);
		if (is_by_both ? !is_rest : !is_hidden || d->has_kernel)
			add_suspect(d, &x);
	}
}

/* Find writes of the steps that are not the same. */
static void compare_writes(struct diff *d, const struct acting *a, const struct acting *b)
{
	const struct ts_effect *e, *f;

	for (uint32_t i = 0; (e = effect(a, i)) != NULL && e->kind != TS_FX_THREAD; i++) {
		if (e->kind == TS_FX_WRITE && ((f = find_twin(d, a, i, b)) == NULL || !is_same_value(a, e, b, f)))
			suspect_write(d, b, e->addr, e->len, e->is_hidden, false);
	}
	for (uint32_t i = 0; (e = effect(b, i)) != NULL && e->kind != TS_FX_THREAD; i++) {
		if (e->kind == TS_FX_WRITE && !find_twin(d, b, i, a))
			suspect_write(d, a, to_a(d, e->addr), e->len, e->is_hidden, true);
	}
}

/* The whole piece is an item if it differs anywhere after the step. */
static bool compare_suspect(struct diff *d, const struct lane *l, const struct suspect *x, struct ts_error *err)
{
	uint8_t bytes[4][MAX_REG_LEN];
	const struct values v = { x->addr, x->len, bytes[0], bytes[1], bytes[2], bytes[3] };
	const struct side *a = &l->a, *b = &l->b;

	if (!ts_query_mem(a->q, a->pos + 1, ts_query_process(a->q, a->thread), x->addr, x->len, bytes[0], bytes[1], err) ||
	    !ts_query_mem(b->q, b->pos + 1, ts_query_process(b->q, b->thread), to_b(d, x->addr), x->len, bytes[2],
			  bytes[3], err))
		return false;
	for (uint32_t i = 0; i < x->len; i++)
		bytes[3][i] &= !x->is_left_out[i];
	if (next_difference(d, &v, 0) < v.len)
		put_item(d, a->pos, b->pos, 1, &v, 0, v.len, NULL);
	return true;
}

/* Both take a step at the same address. */
static bool compare_step(struct diff *d, struct lane *l, const struct acting *a, const struct acting *b,
			 struct ts_error *err)
{
	unsigned n = 0;
	bool done;

	d->clock++;
	d->n_suspects = 0;
	take_regs(d, &l->a, a->batch, a->step, &n);
	take_regs(d, &l->b, b->batch, b->step, &n);
	done = compare_regs(d, l, n, err);
	compare_writes(d, a, b);
	for (size_t i = 0; i < d->n_suspects && done; i++)
		done = compare_suspect(d, l, &d->suspects[i], err);
	return done;
}

/* ------------------------------------------------------------------------------------- memory at position 0 */

/* Is the byte written at any time, or not at the end what it was at first? */
static bool find_change(struct diff *d, struct ts_query *q, uint64_t addr, uint8_t first, bool *is_changed,
			struct ts_error *err)
{
	uint8_t last, known;

	if (!ts_query_mem(q, ts_query_end(q), d->start.process, addr, 1, &last, &known, err))
		return false;
	*is_changed |= (known && last != first) ||
		       ts_query_next_access(q, TS_ACCESS_WRITE, d->start.process, addr, addr, 0) != TS_NO_CHUNK;
	return true;
}

/*
 * A format that does not show what system calls write takes the first value read for the initial one.  Bytes that
 * either recording shows changing are not sure to be different: @known, that of one of them, forgets them.
 */
static bool forget_unsure(struct diff *d, const struct values *v, uint8_t *known, uint64_t addr_b, struct ts_error *err)
{
	for (size_t at = 0; !d->is_initial_sure && (at = next_difference(d, v, at)) < v->len; at++) {
		bool changed = false;

		if (!find_change(d, d->a, v->addr + at, v->a[at], &changed, err) ||
		    !find_change(d, d->b, addr_b + at, v->b[at], &changed, err))
			return false;
		if (changed)
			known[at] = 0;
	}
	return true;
}

/* Memory of one of the recordings may lie in pieces that were moved apart. */
static bool compare_start(struct diff *d, uint64_t addr, size_t len, struct ts_error *err)
{
	uint8_t bytes[4][PAGE_LEN];
	const struct values v = { addr, len, bytes[0], bytes[1], bytes[2], bytes[3] };
	uint64_t addr_b = to_b(d, addr);
	bool done = true;

	if (len > MAX_REG_LEN && to_b(d, addr + len - 1) - addr_b != len - 1) {
		for (size_t at = 0; at < len && done; at += MAX_REG_LEN)
			done = compare_start(d, addr + at, MAX_REG_LEN, err);
		return done;
	}
	if (!ts_query_mem(d->a, 0, d->start.process, addr, len, bytes[0], bytes[1], err) ||
	    !ts_query_mem(d->b, 0, d->start.process, addr_b, len, bytes[2], bytes[3], err))
		return false;
	if (!forget_unsure(d, &v, bytes[1], addr_b, err))
		return false;
	for (size_t at = next_difference(d, &v, 0), end; at < len; at = next_difference(d, &v, end)) {
		end = at + 1;
		while (end < len && end - at < MAX_REG_LEN && next_difference(d, &v, end) == end)
			end++;
		put_item(d, 0, 0, 0, &v, at, end, NULL);
	}
	return true;
}

/* The next page of memory that A knows at position 0.  Returns TS_GOT_END after the last. */
static enum ts_got run_start(struct diff *d, struct ts_budget *budget, struct ts_error *err)
{
	struct start *s = &d->start;

	for (; s->process < ts_query_n_processes(d->a) && s->process < ts_query_n_processes(d->b); s->process++) {
		if (!s->has_pages && !ts_query_pages(d->a, s->process, 0, UINT64_MAX, &s->pages, &s->n)) {
			no_memory(err);
			return TS_GOT_FAIL;
		}
		s->has_pages = true;
		for (; s->at < s->n && !d->n; s->at++) {
			if (!ts_budget_take(budget))
				return TS_GOT_PENDING;
			if (!compare_start(d, s->pages[s->at] << TS_SCAN_PAGE_BITS, PAGE_LEN, err))
				return TS_GOT_FAIL;
		}
		if (d->n)
			return TS_GOT_ROW;
		free(s->pages);
		s->pages = NULL;
		s->has_pages = false;
		s->at = 0;
	}
	return TS_GOT_END;
}

/* ------------------------------------------------------------------------------------- steps of one only */

static bool fill(struct diff *d, const struct side *s, bool is_b, size_t max, struct ts_window *w,
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
		w->pcs[w->n] = is_b ? to_a(d, st->pc) : st->pc;
		w->steps[w->n] = at.pos;
		at.pos = step_after(&at, at.pos);
	}
	w->is_end = at.pos == TS_NO_POS;
	return true;
}

static void window_fini(struct ts_window *w)
{
	free(w->pcs);
	free(w->steps);
}

/* Go to the @i-th step of the window. */
static bool go_to(struct side *s, const struct ts_window *w, size_t i, struct ts_error *err)
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

/* Look @max steps ahead on both sides; both go to where they are the same again, if they are. */
static bool look_ahead(struct diff *d, struct lane *l, size_t max, enum ts_resync *found, bool *is_all,
		       struct ts_error *err)
{
	struct ts_window a = { 0 }, b = { 0 };
	size_t i = 0, j = 0;
	bool done = fill(d, &l->a, false, max, &a, err) && fill(d, &l->b, true, max, &b, err);

	*found = done ? ts_resync_find(&a, &b, &i, &j) : TS_RESYNC_FAILED;
	*is_all = a.is_end && b.is_end;
	if (*found == TS_RESYNC_FOUND)
		done = go_to(&l->a, &a, i, err) && go_to(&l->b, &b, j, err);
	else if (done && *found == TS_RESYNC_FAILED)
		done = no_memory(err);
	window_fini(&a);
	window_fini(&b);
	return done;
}

/* A row of what only one of them executed; nothing of one: where it stands. */
static void put_path(struct item *x, uint64_t a, uint64_t b, const struct lane *l)
{
	*x = (struct item){ .is_path = true, .pos = a, .end = l->a.end, .pos2 = b, .end2 = l->b.end };
	if (a == TS_NO_POS || x->end < a)
		x->pos = x->end = a == TS_NO_POS ? l->a.end : a;
	if (b == TS_NO_POS || x->end2 < b)
		x->pos2 = x->end2 = b == TS_NO_POS ? l->b.end : b;
}

/* The executed addresses differ: go to where they are the same again. */
static bool part(struct diff *d, struct lane *l, struct ts_error *err)
{
	uint64_t a = l->a.pos, b = l->b.pos;
	enum ts_resync found = TS_RESYNC_NOT;
	bool is_all = false;
	struct item *x;

	for (size_t max = FIRST_WINDOW; found == TS_RESYNC_NOT && !is_all && max <= LAST_WINDOW; max *= 16) {
		if (!look_ahead(d, l, max, &found, &is_all, err))
			return false;
	}
	if (found != TS_RESYNC_FOUND) {
		go_to_end(&l->a);
		go_to_end(&l->b);
	}
	x = add_item(d);
	if (x)
		put_path(x, a, b, l);
	return true;
}

/* --------------------------------------------------------------------------------------------------- lanes */

/* The state before the threads' first steps. */
static bool begin(struct diff *d, struct lane *l, struct ts_error *err)
{
	l->is_begun = true;
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

/* Where the lane stands among the positions of A. */
static uint64_t stands_at(const struct lane *l)
{
	return l->a.pos == TS_NO_POS ? l->a.end : l->a.pos;
}

/* The lane that stands lowest, and up to where it does: rows ascend so. */
static void choose_lane(struct diff *d)
{
	d->lane = NULL;
	d->limit = TS_NO_POS;
	for (uint32_t i = 0; i < d->n_lanes; i++) {
		struct lane *l = &d->lanes[i];

		if (l->is_over)
			continue;
		if (!d->lane || stands_at(l) < stands_at(d->lane)) {
			d->limit = d->lane ? stands_at(d->lane) : TS_NO_POS;
			d->lane = l;
		} else if (stands_at(l) < d->limit) {
			d->limit = stands_at(l);
		}
	}
}

/* The side's next step, in a chunk that stays where it is while the state around it is asked for. */
static bool find_step(struct diff *d, struct side *s, struct acting *x, struct ts_error *err)
{
	const struct ts_ask ask = { .q = s->q, .n_steps = ts_query_n_steps(s->q) };

	x->is_of_b = s->q == d->b;
	x->step = s->pos == TS_NO_POS ? NULL : ts_ask_step(&ask, s->pos, &x->batch, err);
	return x->step || s->pos == TS_NO_POS;
}

/* Compare the lane's next steps. */
static bool run_lane(struct diff *d, struct lane *l, struct ts_error *err)
{
	struct acting a, b;

	if (!l->is_begun)
		return begin(d, l, err);
	if (l->a.pos == TS_NO_POS && l->b.pos == TS_NO_POS) {
		l->is_over = true;
		return true;
	}
	if (!find_step(d, &l->a, &a, err) || !find_step(d, &l->b, &b, err))
		return false;
	if (!a.step || !b.step || a.step->pc != to_a(d, b.step->pc))
		return part(d, l, err);
	if (!compare_step(d, l, &a, &b, err))
		return false;
	advance(&l->a);
	advance(&l->b);
	return true;
}

/* Go on until there is a difference. */
static enum ts_got run_lanes(struct diff *d, struct ts_budget *budget, struct ts_error *err)
{
	while (!d->n) {
		if (!d->lane || d->lane->is_over || stands_at(d->lane) > d->limit)
			choose_lane(d);
		if (!d->lane)
			return TS_GOT_END;
		if (d->n_looked++ % TS_CHUNK_STEPS == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		d->rows.at = stands_at(d->lane);
		if (!run_lane(d, d->lane, err))
			return TS_GOT_FAIL;
	}
	return TS_GOT_ROW;
}

/* --------------------------------------------------------------------------------------------------- rows */

static void put_row(struct diff *d, const struct item *x, struct ts_row *row)
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

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct diff *d = (struct diff *)rows;
	enum ts_got got = TS_GOT_ROW;

	if (d->at == d->n) {
		d->at = d->n = 0;
		got = run_start(d, budget, err);
		if (got == TS_GOT_END)
			got = run_lanes(d, budget, err);
	}
	if (d->is_failed) {
		no_memory(err);
		return TS_GOT_FAIL;
	}
	if (got == TS_GOT_ROW)
		put_row(d, &d->items[d->at++], row);
	return got;
}

static void close_diff(struct ts_rows *rows)
{
	struct diff *d = (struct diff *)rows;

	for (uint32_t i = 0; d->lanes && i < d->n_lanes; i++) {
		free(d->lanes[i].a.data);
		free(d->lanes[i].b.data);
	}
	ts_rebase_fini(&d->rebase);
	free(d->lanes);
	free(d->items);
	free(d->suspects);
	free(d->start.pages);
	free(d->regs);
	free(d->touched);
	free(d->list);
	free(d->reg_at_a);
	free(d->reg_at_b);
	free(d);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_diff };

struct ts_rows *ts_diff_open(struct ts_query *a, struct ts_query *b, bool is_rebased, struct ts_error *err)
{
	const struct ts_arch *x = ts_query_regset(a)->arch, *y = ts_query_regset(b)->arch;
	struct diff *d = calloc(1, sizeof(*d));

	if (!d) {
		no_memory(err);
		return NULL;
	}
	d->rows = (struct ts_rows){ .ops = &ops, .go = TS_NO_POS };
	d->a = a;
	d->b = b;
	d->is_rebased = is_rebased;
	d->has_kernel = ts_query_facts(a)->has_syscalls && ts_query_facts(b)->has_syscalls;
	d->is_initial_sure = d->has_kernel || !strcmp(ts_query_facts(a)->format, ts_query_facts(b)->format);
	if (x != y)
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the recordings are of different processors: %s and %s",
			x->name, y->name);
	else if (make_regs(d, err) && (!is_rebased || ts_rebase_init(&d->rebase, a, b, err)) && make_lanes(d, err))
		return &d->rows;
	close_diff(&d->rows);
	return NULL;
}
