/* SPDX-License-Identifier: MIT */
#include "cause.h"

#include <stdlib.h>
#include <string.h>

#include "cause_parts.h"
#include "src/base/collections/vec.h"
#include "src/query/paging.h"
#include "writes.h"

/*
 * Values of a question that are looked up before the answer is cut.  What waits then is not cut at once: each task gets a share,
 * of three times as many together.  Of a long loop the value that goes from turn to turn is followed first; so the short ways to
 * what entered in each of these turns are there, too.
 */
#ifndef TS_CAUSE_MAX_LOOKED_UP
#define TS_CAUSE_MAX_LOOKED_UP (1024 * 1024u)
#endif
#define MAX_OF_A_TASK 64u

/* ---------------------------------------------------------------------------------------------------- tasks */

/* Places are looked up in pieces whose key (ts_cause_done()) does not depend on where they begin. */
#define PIECE 32u

static void push_piece(struct ts_cause *c, const struct ts_cause_task *task)
{
	if (!ts_vec_reserve(&c->tasks, c->n_tasks, &c->cap_tasks, 1, sizeof(*c->tasks))) {
		c->is_failed = true;
		return;
	}
	c->tasks[c->n_tasks++] = *task;
}

static void push(struct ts_cause *c, const struct ts_cause_task *task)
{
	struct ts_cause_task t = *task;
	unsigned low;

	if (t.loc.kind == TS_IN_REGS && t.loc.mask) {
		uint64_t mask = ts_cause_of_one_register(c, &t.loc);
		struct ts_cause_task late = t;

		late.loc.mask &= ~mask; /* the later ones first: the earlier ones are done first then */
		push(c, &late);
		t.loc.mask = mask;
	}

	if (!t.loc.mask)
		return;
	if (t.loc.kind == TS_IN_FLAGS) {
		push_piece(c, &t);
		return;
	}
	low = (unsigned)__builtin_ctzll(t.loc.mask);
	t.loc.base += low;
	t.loc.mask >>= low;
	low = (unsigned)(t.loc.base % PIECE);
	t.loc.base -= low;
	if (t.loc.mask >> (PIECE - low)) { /* the later piece first: the earlier one is done first then */
		struct ts_cause_task late = t;

		late.loc.base += PIECE;
		late.loc.mask >>= PIECE - low;
		if (late.loc.mask >> PIECE)
			push(c, &late);
		else
			push_piece(c, &late);
	}
	t.loc.mask = t.loc.mask << low & ts_mask(0, PIECE);
	if (t.loc.mask)
		push_piece(c, &t);
}

/* ----------------------------------------------------------------------------------------------- expansion */

static enum ts_cause_kind kind_of(enum ts_source_kind kind)
{
	switch (kind) {
	case TS_FROM_CONSTANT: return TS_CAUSE_CONSTANT;
	case TS_FROM_PROCESSOR: return TS_CAUSE_PROCESSOR;
	case TS_FROM_SYSTEM: return TS_CAUSE_INPUT;
	default: return TS_CAUSE_UNKNOWN;
	}
}

/* The sources of step @pos for @loc become what is looked up next, below @node. */
static bool expand(struct ts_cause *c, uint32_t node, uint64_t pos, const struct ts_location *loc,
		   struct ts_error *err)
{
	struct ts_sources *s = &c->sources;

	if (!ts_sources_find(s, c->q, pos, loc, c->question.with_addresses, err))
		return false;
	for (unsigned i = s->n; i-- > 0;) { /* the first one is on top then */
		const struct ts_made_of *x = &s->items[i];
		struct ts_cause_task task = { .loc = x->loc, .before = pos, .parent = node, .order = x->order };

		if (x->kind == TS_FROM_PLACE)
			push(c, &task);
		else
			ts_cause_add_leaf(c, node, kind_of(x->kind), x->order, pos, x->constant);
	}
	if (s->is_truncated)
		ts_cause_cut(c, node);
	return true;
}

/* May what is below the node be shown? */
static bool is_open(const struct ts_cause *c, uint32_t node)
{
	return c->question.only_leaves || node == TS_NO_NODE || c->nodes[node].depth < c->question.max_depth;
}

/* ---------------------------------------------------------------------------------------------------- nodes */

/* The instruction of the writer, for nodes that are compared by it. */
struct insn {
	uint8_t len;
	uint8_t code[TS_MAX_INSN];
};

static bool read_insn(struct ts_cause *c, uint64_t pos, struct insn *insn, struct ts_error *err)
{
	const struct ts_decoded *d = ts_query_insn(c->q, pos, err);

	if (!d)
		return false;
	insn->len = d->is_insn ? d->ops.len : 0;
	memcpy(insn->code, d->bytes, insn->len);
	return true;
}

/* Is it the same instruction, of any thread, with the same kind of place: of registers and flags the same ones? */
static bool is_turn(const struct ts_cause_node *n, const struct ts_writer *w, const struct insn *insn,
		    const struct ts_location *loc)
{
	if ((n->kind != TS_CAUSE_WRITE && n->kind != TS_CAUSE_CUT) || n->pc != w->pc || !n->has_place ||
	    n->code_len != insn->len || memcmp(n->code, insn->code, insn->len) || n->loc.kind != loc->kind)
		return false;
	return loc->kind == TS_IN_MEMORY ||
	       (n->loc.base == loc->base && n->loc.mask & loc->mask);
}

/*
 * Returns the node of which the writer is another iteration: an ancestor, or a child of @parent; TS_NO_NODE
 * if none is found.
 */
static uint32_t find_turn(const struct ts_cause *c, uint32_t parent, const struct ts_writer *w,
			  const struct insn *insn, const struct ts_location *loc)
{
	uint32_t at;

	if (parent == TS_NO_NODE)
		return TS_NO_NODE;
	for (at = parent; at != TS_NO_NODE; at = c->nodes[at].parent) {
		if (is_turn(&c->nodes[at], w, insn, loc))
			return at;
	}
	for (at = c->nodes[parent].first_child; at != TS_NO_NODE; at = c->nodes[at].next_sibling) {
		if (is_turn(&c->nodes[at], w, insn, loc))
			return at;
	}
	return TS_NO_NODE;
}

static struct ts_cause_node *add_write(struct ts_cause *c, const struct ts_cause_task *t,
				       const struct ts_writer *w, const struct insn *insn,
				       const struct ts_location *loc, enum ts_cause_kind kind)
{
	struct ts_cause_node *n = ts_cause_add_node(c, t->parent, kind, t->order);

	if (!n)
		return NULL;
	n->pos = n->last_pos = w->pos;
	n->pc = w->pc;
	n->thread = w->thread;
	n->has_place = true;
	n->loc = *loc;
	n->code_len = insn->len;
	memcpy(n->code, insn->code, insn->len);
	ts_cause_add_range(c, n, loc);
	return n;
}

/* Is the place, as the step wrote it, a node beside others that was seen before?  An operand that is named twice is one. */
static bool joins_seen(struct ts_cause *c, uint32_t parent, const struct ts_writer *w, const struct ts_location *loc)
{
	uint32_t at = parent == TS_NO_NODE ? c->root : c->nodes[parent].first_child;

	for (; at != TS_NO_NODE; at = c->nodes[at].next_sibling) {
		struct ts_cause_node *n = &c->nodes[at];

		if (n->kind != TS_CAUSE_SEEN || n->pos != w->pos || n->loc.kind != loc->kind || n->loc.owner != loc->owner ||
		    n->loc.base != loc->base || !(n->loc.mask & loc->mask))
			continue;
		n->loc.mask |= loc->mask;
		ts_cause_add_range(c, n, loc);
		return true;
	}
	return false;
}

/* An instruction wrote @loc. */
static bool take_step(struct ts_cause *c, const struct ts_cause_task *t, const struct ts_writer *w,
		      const struct ts_location *loc, struct ts_error *err)
{
	uint64_t *done = ts_cause_done(c, w->pos, loc), rest;
	struct ts_location left = *loc;
	struct ts_cause_node *n;
	struct insn insn;
	uint32_t at;

	if (!done || !read_insn(c, w->pos, &insn, err))
		return done != NULL;
	rest = loc->mask & ~*done;
	left.mask = rest;
	if (c->question.only_leaves) {
		*done |= loc->mask;
		return !rest || expand(c, TS_NO_NODE, w->pos, &left, err);
	}
	at = find_turn(c, t->parent, w, &insn, loc);
	if (!rest && (at != TS_NO_NODE || joins_seen(c, t->parent, w, loc)))
		return true;
	if (at == TS_NO_NODE) {
		n = add_write(c, t, w, &insn, loc, rest ? TS_CAUSE_WRITE : TS_CAUSE_SEEN);
		if (!n || !rest)
			return true;
		at = (uint32_t)(n - c->nodes);
	} else {
		c->nodes[at].count++;
		if (w->pos > c->nodes[at].last_pos)
			c->nodes[at].last_pos = w->pos;
		c->nodes[at].loc.mask |= loc->kind == TS_IN_MEMORY ? 0 : loc->mask;
		ts_cause_add_range(c, &c->nodes[at], loc);
	}
	if (!is_open(c, at)) {
		c->nodes[at].kind = TS_CAUSE_CUT;
		c->is_cut = true;
		return true;
	}
	*done |= loc->mask;
	return expand(c, at, w->pos, &left, err);
}

/* Take a leaf: something other than an instruction wrote it. */
static void take_leaf(struct ts_cause *c, const struct ts_cause_task *t, const struct ts_writer *w,
		      const struct ts_location *loc)
{
	static const enum ts_cause_kind kinds[] = {
		[TS_WRITER_MAP] = TS_CAUSE_MAP,
		[TS_WRITER_UNEXPLAINED] = TS_CAUSE_UNKNOWN,
		[TS_WRITER_INPUT] = TS_CAUSE_INPUT,
	};

	ts_cause_add_place(c, t->parent, kinds[w->kind], t->order, w, loc);
}

/* Nothing wrote it: it was there at the start, where it is known. */
static bool take_start(struct ts_cause *c, const struct ts_cause_task *t, struct ts_error *err)
{
	const struct ts_writer none = { .pos = TS_NO_POS, .pc = TS_NO_PC };
	struct ts_location loc = t->loc;
	uint64_t known;

	if (!ts_cause_known(c, &t->loc, t->before, &known, err))
		return false;
	loc.mask = t->loc.mask & known;
	if (loc.mask)
		ts_cause_add_place(c, t->parent, TS_CAUSE_START, t->order, &none, &loc);
	loc.mask = t->loc.mask & ~known;
	if (loc.mask)
		ts_cause_add_place(c, t->parent, TS_CAUSE_UNKNOWN, t->order, &none, &loc);
	return true;
}

/* ---------------------------------------------------------------------------------------------------- search */

/* Bytes that the system wrote or mapped: those that mremap(2) moved come from where they were. */
static bool take_system(struct ts_cause *c, const struct ts_cause_task *t, const struct ts_writer *w,
		       const struct ts_location *loc, struct ts_error *err)
{
	struct ts_location moved = *loc, rest = *loc;
	struct ts_moved m;

	moved.mask = loc->kind == TS_IN_MEMORY && ts_step_moves(c->q, w->pos, &m) ? ts_location_overlap(loc, m.to, m.len) : 0;
	rest.mask &= ~moved.mask;
	if (rest.mask)
		take_leaf(c, t, w, &rest);
	return !moved.mask || take_step(c, t, w, &moved, err);
}

static bool take_writer(struct ts_cause *c, const struct ts_cause_task *t, const struct ts_writer *w,
			struct ts_error *err)
{
	struct ts_cause_task rest = *t;
	struct ts_location loc = t->loc;

	loc.mask &= w->mask;
	rest.loc.mask &= ~w->mask;
	rest.before = w->pos;
	push(c, &rest);
	if (w->kind == TS_WRITER_STEP)
		return take_step(c, t, w, &loc, err);
	if (w->kind == TS_WRITER_INPUT || w->kind == TS_WRITER_MAP)
		return take_system(c, t, w, &loc, err);
	take_leaf(c, t, w, &loc);
	return true;
}

static struct ts_cause_found *found_slot(struct ts_cause *c, const struct ts_location *loc)
{
	uint64_t h = (loc->base * 31 + loc->mask + loc->kind) * UINT64_C(0x9e3779b97f4a7c15) + loc->owner;

	return &c->found[(h >> 40) % TS_N_CAUSE_FOUND];
}

static bool is_found(const struct ts_cause_found *f, const struct ts_location *loc)
{
	return f->before && f->loc.kind == loc->kind && f->loc.owner == loc->owner && f->loc.base == loc->base &&
	       f->loc.mask == loc->mask;
}

/*
 * Find the writer of the task's location.  A result found from another position is used, if no write lies
 * between the two.
 */
static enum ts_next find_writer(struct ts_cause *c, const struct ts_cause_task *t, struct ts_writer *w,
				struct ts_budget *budget, struct ts_error *err)
{
	struct ts_cause_found *f = found_slot(c, &t->loc);
	bool is_known = is_found(f, &t->loc) && (!f->has_writer || f->writer.pos < t->before);
	enum ts_next got = TS_END;

	if (!is_known || t->before > f->before)
		got = ts_writer_find(&c->search, c->q, &t->loc, t->before, is_known ? f->before : 0, w, budget,
				     err);
	if (got == TS_MORE || got == TS_FAIL)
		return got;
	if (got == TS_END && is_known) {
		f->before = f->before < t->before ? t->before : f->before;
		*w = f->writer;
		return f->has_writer ? TS_ITEM : TS_END;
	}
	if (!c->has_paging || t->loc.kind != TS_IN_MEMORY)
		*f = (struct ts_cause_found){ t->loc, t->before, got == TS_ITEM, *w };
	return got;
}

/* Is the task on top followed no further? */
static bool is_over(struct ts_cause *c)
{
	if (c->n_looked_up < TS_CAUSE_MAX_LOOKED_UP)
		return false;
	if (!c->share_floor || c->n_tasks < c->share_floor) { /* it is one of those that waited */
		c->share_floor = c->n_tasks;
		c->n_shared = MAX_OF_A_TASK;
	}
	return !c->n_shared || c->n_looked_up >= 4 * TS_CAUSE_MAX_LOOKED_UP;
}

static enum ts_next run_task(struct ts_cause *c, struct ts_budget *budget, uint64_t *at, struct ts_error *err)
{
	struct ts_cause_task t = c->tasks[c->n_tasks - 1];
	struct ts_writer w = { 0 };
	enum ts_next got;
	bool done;

	if (is_over(c)) {
		c->n_tasks--;
		ts_cause_cut(c, t.parent);
		return TS_ITEM;
	}
	got = find_writer(c, &t, &w, budget, err);
	if (got == TS_MORE || got == TS_FAIL) {
		*at = c->search.pos;
		return got;
	}
	c->n_tasks--;
	c->asked_at = t.before;
	c->n_looked_up++;
	c->n_shared -= c->n_shared != 0;
	done = got == TS_ITEM ? take_writer(c, &t, &w, err) : take_start(c, &t, err);
	if (done && c->is_failed)
		done = ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for causes");
	return done ? TS_ITEM : TS_FAIL;
}

/* The branch becomes the first node; its target, or the flags that decide, are looked up. */
static bool take_branch(struct ts_cause *c, const struct ts_writer *w, struct ts_error *err)
{
	const struct ts_location pc = { .kind = TS_IN_PC, .owner = w->thread, .mask = 1 };
	struct ts_cause_node *n;

	if (c->question.only_leaves)
		return expand(c, TS_NO_NODE, w->pos, &pc, err);
	n = ts_cause_add_node(c, TS_NO_NODE, TS_CAUSE_BRANCH, 0);
	if (!n)
		return true;
	n->pos = w->pos;
	n->pc = w->pc;
	n->thread = w->thread;
	if (c->question.max_depth)
		return expand(c, 0, w->pos, &pc, err);
	c->is_cut = true;
	return true;
}

static enum ts_next begin(struct ts_cause *c, struct ts_budget *budget, uint64_t *at, struct ts_error *err)
{
	enum ts_next got = TS_END;
	struct ts_writer w;

	if (c->question.n_what) {
		for (size_t i = c->question.n_what; i-- > 0;) {
			const struct ts_cause_task task = {
				.loc = c->question.what[i], .before = c->question.at, .parent = TS_NO_NODE
			};

			push(c, &task);
		}
		return TS_END;
	}
	got = ts_cause_find_branch(c, &w, budget, at, err);
	if (got == TS_ITEM)
		return take_branch(c, &w, err) ? TS_END : TS_FAIL;
	return got;
}

/* Free what only the search needs: the answer may be kept for long. */
static void free_work(struct ts_cause *c)
{
	free(c->tasks);
	free(c->done);
	c->tasks = NULL;
	c->done = NULL;
	c->cap_tasks = c->cap_done = c->n_done = 0;
	ts_hash_table_fini(&c->by_place);
}

enum ts_next ts_cause_run(struct ts_cause *c, struct ts_budget *budget, uint64_t *at, struct ts_error *err)
{
	if (!c->is_begun) {
		enum ts_next got = begin(c, budget, at, err);

		if (got != TS_END)
			return got;
		c->is_begun = true;
	}
	while (c->n_tasks) {
		enum ts_next got = ts_budget_take(budget) ? run_task(c, budget, at, err) : TS_MORE;

		if (got != TS_ITEM)
			return got;
	}
	free_work(c);
	if (c->is_failed) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for causes");
		return TS_FAIL;
	}
	return TS_END;
}

bool ts_cause_is_cut(const struct ts_cause *c)
{
	return c->is_cut;
}

/* ------------------------------------------------------------------------------------------ a search as a whole */

/* The number of look-ups from which on the result of a search is cached, and the size of the cache. */
#define KEEP_FROM 1000u
#define N_KEPT    8u

struct kept {
	struct ts_cause *causes[N_KEPT]; /* owned; the one that was kept last first */
};

static void free_cause(struct ts_cause *c)
{
	if (--c->refs)
		return;
	for (uint32_t i = 0; i < c->n_nodes; i++)
		free(c->nodes[i].ranges);
	ts_writer_search_fini(&c->search);
	ts_writer_search_fini(&c->return_search);
	free(c->what);
	free(c->nodes);
	free_work(c);
	free(c);
}

static void free_kept(void *data)
{
	struct kept *k = data;

	for (unsigned i = 0; i < N_KEPT; i++) {
		if (k->causes[i])
			free_cause(k->causes[i]);
	}
	free(k);
}

static bool is_same(const struct ts_cause_question *a, const struct ts_cause_question *b)
{
	if (a->n_what != b->n_what || a->thread != b->thread || a->at != b->at || a->max_depth != b->max_depth ||
	    a->with_addresses != b->with_addresses || a->only_leaves != b->only_leaves)
		return false;
	for (size_t i = 0; i < a->n_what; i++) {
		const struct ts_location *x = &a->what[i], *y = &b->what[i];

		if (x->kind != y->kind || x->owner != y->owner || x->base != y->base || x->mask != y->mask)
			return false;
	}
	return true;
}

static struct ts_cause *find_kept(struct ts_query *q, const struct ts_cause_question *question)
{
	const struct kept *k = ts_query_kept(q);

	for (unsigned i = 0; k && i < N_KEPT; i++) {
		if (k->causes[i] && is_same(&k->causes[i]->question, question)) {
			k->causes[i]->refs++;
			return k->causes[i];
		}
	}
	return NULL;
}

static struct kept *make_kept(struct ts_query *q)
{
	struct kept *k = ts_query_kept(q);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (k)
		ts_query_keep(q, k, free_kept);
	return k;
}

static void keep(struct ts_cause *c)
{
	struct kept *k = ts_query_is_complete(c->q) ? make_kept(c->q) : NULL;

	if (!k)
		return;
	if (k->causes[N_KEPT - 1])
		free_cause(k->causes[N_KEPT - 1]);
	memmove(k->causes + 1, k->causes, (N_KEPT - 1) * sizeof(k->causes[0]));
	k->causes[0] = c;
	c->refs++;
	c->is_kept = true;
}

struct ts_cause *ts_cause_open(struct ts_query *q, const struct ts_cause_question *question)
{
	struct ts_cause *c = find_kept(q, question);

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->refs = 1;
	c->q = q;
	c->question = *question;
	c->root = TS_NO_NODE;
	c->has_paging = ts_paging_is_known(q);
	c->what = malloc((question->n_what + 1) * sizeof(*c->what));
	if (!c->what) {
		free_cause(c);
		return NULL;
	}
	if (question->n_what)
		memcpy(c->what, question->what, question->n_what * sizeof(*c->what));
	c->question.what = c->what;
	return c;
}

void ts_cause_close(struct ts_cause *c)
{
	if (!c)
		return;
	if (c->is_begun && !c->n_tasks && !c->is_kept && !c->is_failed && c->n_looked_up >= KEEP_FROM)
		keep(c);
	free_cause(c);
}
