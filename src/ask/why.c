/* SPDX-License-Identifier: MIT */
#include "why.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "inputs.h"
#include "src/query/loops.h"
#include "src/query/paging.h"
#include "question.h"
#include "state.h"
#include "verb.h"
#include "writers.h"

#define DEFAULT_DEPTH 8u

/* Answers do not grow beyond this. */
#define MAX_NODES 2000u

/* Places of a hash table of nodes: a power of two. */
#define N_SLOTS (4 * 1024u)
_Static_assert(MAX_NODES <= N_SLOTS / 2, "the table of nodes is never full");

/* Turns of one loop that are counted. */
#define MAX_TURNS 100000u

#define NO_NODE UINT32_MAX

enum column {
	COL_DEPTH,
	COL_POSITION,
	COL_THREAD,
	COL_PC,
	COL_FUNCTION,
	COL_INSTRUCTION,
	COL_KIND,
	COL_PLACE,
	COL_VALUE,
	COL_COUNT,
	N_COLUMNS,
};

static const struct ts_column columns[N_COLUMNS] = {
	[COL_DEPTH] = { .name = "depth", .type = TS_COLUMN_NUMBER },
	[COL_POSITION] = { .name = "position", .type = TS_COLUMN_NUMBER },
	[COL_THREAD] = { .name = "thread", .type = TS_COLUMN_NUMBER },
	[COL_PC] = { .name = "pc", .type = TS_COLUMN_ADDR },
	[COL_FUNCTION] = { .name = "function", .type = TS_COLUMN_TEXT },
	[COL_INSTRUCTION] = { .name = "instruction", .type = TS_COLUMN_TEXT },
	[COL_KIND] = { .name = "kind", .type = TS_COLUMN_TEXT },
	[COL_PLACE] = { .name = "place", .type = TS_COLUMN_TEXT },
	[COL_VALUE] = { .name = "value", .type = TS_COLUMN_VALUE },
	[COL_COUNT] = { .name = "count", .type = TS_COLUMN_NUMBER },
};

enum kind {
	WRITE = TS_WRITER_STEP,
	MAP = TS_WRITER_MAP,
	UNEXPLAINED = TS_WRITER_UNEXPLAINED,
	INPUT = TS_WRITER_INPUT,
	SEEN,
	START,
	CONSTANT,
	UNKNOWN,
	BRANCH,
};

static const char *const kind_names[] = {
	[WRITE] = "write",       [MAP] = "map",         [UNEXPLAINED] = "unexplained",
	[INPUT] = "input",       [SEEN] = "seen",       [START] = "start",
	[CONSTANT] = "constant", [UNKNOWN] = "unknown", [BRANCH] = "branch",
};

/* A row in the making. */
struct node {
	struct ts_what place; /* TS_WHAT_NONE: a constant, or the branch */
	uint64_t pos, pc;     /* pos: TS_NO_POS if no step wrote it */
	uint64_t before;      /* its place was looked at from here */
	uint64_t count;
	uint64_t constant;
	uint32_t parent;
	uint32_t order;                     /* among its parent's children */
	uint32_t first_child, next_sibling; /* NO_NODE: there is none */
	uint32_t depth;
	uint32_t thread; /* of the step at pos */
	uint32_t owner;  /* the thread whose register its place is */
	enum kind kind;
	uint8_t code_len; /* of its instruction; 0: not known */
	uint8_t code[TS_X86_MAX_INSN];
	char text[TS_MAX_INSN_TEXT];
};

/* A place whose writer is to be found. */
struct task {
	struct ts_what place;
	uint32_t owner; /* the thread whose register it is */
	uint64_t before;
	uint32_t parent;
	uint32_t order;
	/* of a loop that is being followed: the nodes from top down to bottom are a turn of it */
	bool is_loop;
	uint32_t top, bottom;
};

struct why {
	struct ts_rows rows;
	struct ts_ask *ask;
	const struct ts_question *qn;
	struct ts_writers *writers; /* owned */
	struct ts_loop_walk loop; /* that is being followed */
	uint32_t first;           /* the node by whose turns it is */
	struct node *nodes;       /* owned */
	uint32_t n_nodes;
	uint32_t slots[N_SLOTS]; /* by place and position: the first node that shows that, plus 1; 0: none */
	uint32_t told;           /* the node that was a row last; NO_NODE: none */
	struct task *tasks;      /* owned; a stack */
	uint32_t n_tasks, cap_tasks;
	uint32_t thread; /* that is asked about */
	uint64_t max_depth;
	bool is_begun;
	bool is_failed; /* memory ran out */
};

/* -------------------------------------------------------------------------------------------------- nodes */

static void push_task(struct why *y, const struct task *task)
{
	if (y->n_tasks == y->cap_tasks) {
		uint32_t cap = y->cap_tasks ? 2 * y->cap_tasks : 32;
		struct task *p = realloc(y->tasks, cap * sizeof(*p));

		if (!p) {
			y->is_failed = true;
			return;
		}
		y->tasks = p;
		y->cap_tasks = cap;
	}
	y->tasks[y->n_tasks++] = *task;
}

/* Put the last node among its parent's children, behind those of the same order. */
static void link_node(struct why *y)
{
	uint32_t node = y->n_nodes - 1, *at;

	if (y->nodes[node].parent == NO_NODE)
		return;
	at = &y->nodes[y->nodes[node].parent].first_child;
	while (*at != NO_NODE && y->nodes[*at].order <= y->nodes[node].order)
		at = &y->nodes[*at].next_sibling;
	y->nodes[node].next_sibling = *at;
	*at = node;
}

static struct node *add_node(struct why *y, uint32_t parent, uint32_t order, const struct ts_what *place,
			     enum kind kind)
{
	struct node *n;

	if (y->n_nodes == MAX_NODES) {
		snprintf(y->rows.note, sizeof(y->rows.note),
			 "more than %u values take part; the rest is left out", MAX_NODES);
		return NULL;
	}
	n = &y->nodes[y->n_nodes++];
	*n = (struct node){ .place = *place, .pos = TS_NO_POS, .count = 1, .kind = kind };
	n->parent = parent;
	n->order = order;
	n->owner = y->thread;
	n->first_child = n->next_sibling = NO_NODE;
	n->depth = parent == NO_NODE ? 0 : y->nodes[parent].depth + 1;
	link_node(y);
	return n;
}

/*
 * The inputs of the step @pos, which wrote the node's place, become its children, in their order.  Its
 * registers are those of the thread that made the step.
 */
static void expand(struct why *y, uint32_t node, uint64_t pos, const struct ts_inputs *in)
{
	uint32_t thread = ts_query_thread(y->ask->q, pos);

	if (y->nodes[node].depth >= y->max_depth)
		return;
	if (!in->is_known)
		add_node(y, node, 0, &(struct ts_what){ 0 }, UNKNOWN);
	for (unsigned i = in->n; i-- > 0;) { /* the first one is on top then */
		const struct task task = {
			.place = in->items[i].place, .owner = thread, .before = pos, .parent = node, .order = i
		};
		struct node *n;

		if (in->items[i].place.kind != TS_WHAT_NONE) {
			push_task(y, &task);
			continue;
		}
		n = add_node(y, node, i, &(struct ts_what){ 0 },
			     in->items[i].is_unknown ? UNKNOWN : CONSTANT);
		if (n && in->items[i].has_constant)
			n->constant = in->items[i].constant;
		else if (n)
			n->before = pos; /* its value is that of its parent */
	}
}

/* ------------------------------------------------------------------------------------------------- loops */

/* The node after @node on the way from top to bottom, and from there back to the top. */
static uint32_t next_of_loop(const struct why *y, const struct task *t, uint32_t node)
{
	uint32_t at = t->bottom;

	if (node == t->bottom)
		return t->top;
	while (y->nodes[at].parent != node)
		at = y->nodes[at].parent;
	return at;
}

static bool has_input(const struct ts_inputs *in, const struct ts_what *place)
{
	for (unsigned i = 0; i < in->n; i++) {
		if (ts_what_is_same(&in->items[i].place, place))
			return true;
	}
	return false;
}

/* The loop goes on with these inputs of @node's step: to the next node of the loop? */
static bool goes_on(const struct why *y, const struct task *t, uint32_t node, const struct ts_inputs *in)
{
	return y->nodes[node].count < MAX_TURNS && has_input(in, &y->nodes[next_of_loop(y, t, node)].place);
}

/* Is @a the one of two nodes that tells its loop apart, whichever node is the top? */
static bool is_first(const struct node *a, const struct node *b)
{
	if (a->pc != b->pc)
		return a->pc < b->pc;
	if (a->place.kind != b->place.kind)
		return a->place.kind < b->place.kind;
	return a->place.kind == TS_WHAT_MEM ? a->place.addr < b->place.addr : a->place.off < b->place.off;
}

static void put_key(struct ts_buf *key, const struct node *n)
{
	const struct ts_what *what = &n->place;
	const uint64_t facts[] = { what->kind,    what->addr, what->last, what->off,  what->len,
				   what->is_flag, what->bit,  n->pc,      n->code_len };

	ts_buf_put(key, facts, sizeof(facts));
	ts_buf_put(key, n->code, n->code_len);
}

/*
 * A loop is told by its places and instructions: where its turns lead depends on nothing else, for the
 * registers of a turn are those of the thread that made it.
 */
static void enter_loop(struct why *y, const struct task *t)
{
	uint32_t first = t->top, at;
	struct ts_buf key;

	for (at = t->bottom; at != t->top; at = y->nodes[at].parent)
		first = is_first(&y->nodes[at], &y->nodes[first]) ? at : first;
	ts_buf_init(&key);
	at = first;
	do {
		put_key(&key, &y->nodes[at]);
		at = next_of_loop(y, t, at);
	} while (at != first);
	ts_loop_walk_end(&y->loop, y->ask->q);
	if (ts_buf_ok(&key))
		ts_loop_walk_begin(&y->loop, key.data, key.len);
	y->first = first;
	ts_buf_fini(&key);
}

/*
 * The loop's first node has a turn at @pos: count those that were followed before.  Returns the position of
 * the last of them.
 */
static uint64_t pass_turns(struct why *y, const struct task *t, uint64_t pos)
{
	uint64_t most = 0, n;
	uint32_t at = y->first;

	do {
		most = y->nodes[at].count > most ? y->nodes[at].count : most;
		at = next_of_loop(y, t, at);
	} while (at != y->first);
	pos = ts_loop_walk_turn(&y->loop, y->ask->q, pos, MAX_TURNS - 1 - most, &n);
	do {
		y->nodes[at].count += n;
		at = next_of_loop(y, t, at);
	} while (at != y->first);
	return pos;
}

/* Follow the loop from the turn of @node at @pos. */
static void go_on(struct why *y, const struct task *t, uint32_t node, uint64_t pos)
{
	struct task next = *t;

	next.is_loop = true;
	next.parent = node;
	next.order = TS_MAX_INPUTS;
	next.place = y->nodes[next_of_loop(y, t, node)].place;
	next.before = node == y->first ? pass_turns(y, t, pos) : pos;
	next.owner = ts_query_thread(y->ask->q, next.before);
	push_task(y, &next);
}

/* The writer is another turn's of @node: count it, and follow the loop, or leave it. */
static void turn(struct why *y, const struct task *t, uint32_t node, const struct ts_writer *w,
		 const struct ts_inputs *in)
{
	y->nodes[node].count++;
	if (goes_on(y, t, node, in))
		go_on(y, t, node, w->pos);
	else
		expand(y, node, w->pos, in);
}

/*
 * Is the writer the very instruction that @node shows, which the loop goes on from by a register?  Then its
 * inputs need not be listed: registers are the same ones in each turn, only memory may be elsewhere.
 */
static bool is_turn_again(const struct why *y, const struct task *t, uint32_t node, const struct ts_writer *w,
			  bool *is_again, struct ts_error *err)
{
	const struct node *n = &y->nodes[node];
	const struct ts_decoded *d;

	*is_again = false;
	if (w->kind != TS_WRITER_STEP || n->pc != w->pc || !n->code_len || n->count + 1 >= MAX_TURNS ||
	    y->nodes[next_of_loop(y, t, node)].place.kind != TS_WHAT_REG)
		return true;
	d = ts_query_insn(y->ask->q, w->pos, err);
	*is_again = d && d->is_insn && d->insn.len == n->code_len && !memcmp(d->bytes, n->code, n->code_len);
	return d != NULL;
}

/* Is the writer the same instruction as the node's: at its address, with the same bytes? */
static bool is_same_insn(const struct node *n, const struct ts_writer *w, const struct ts_inputs *in)
{
	return n->pc == w->pc && n->code_len == in->code_len && !memcmp(n->code, in->code, in->code_len);
}

/* The node from @parent up that is the same instruction for the same place; NO_NODE if there is none. */
static uint32_t find_turn(const struct why *y, uint32_t parent, const struct ts_what *place,
			  const struct ts_writer *w, const struct ts_inputs *in)
{
	for (; parent != NO_NODE; parent = y->nodes[parent].parent) {
		const struct node *n = &y->nodes[parent];

		if (n->pos != TS_NO_POS && ts_what_is_same(&n->place, place) && is_same_insn(n, w, in))
			return parent;
	}
	return NO_NODE;
}

/* ------------------------------------------------------------------------------------------------- tasks */

/* Where the table has a node that shows what step @pos wrote to the task's place, or room for it. */
static uint32_t *find_slot(struct why *y, const struct task *t, uint64_t pos)
{
	const struct ts_what *place = &t->place;
	uint64_t key = (pos * 31 + (place->kind == TS_WHAT_MEM ? place->addr : place->off)) *
		       UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(key >> 32) % N_SLOTS;

	for (;; i = (i + 1) % N_SLOTS) {
		const struct node *n = y->slots[i] ? &y->nodes[y->slots[i] - 1] : NULL;

		if (!n || (n->pos == pos && ts_what_is_same(&n->place, place) &&
			   (place->kind == TS_WHAT_MEM || n->owner == t->owner)))
			return &y->slots[i];
	}
}

static bool is_known(struct why *y, const struct ts_what *place, uint32_t owner, uint64_t pos,
		     struct ts_row *row, bool *known, struct ts_error *err);

/* The writer becomes a node, whose inputs are the next tasks, or is one more turn of a loop. */
static bool take_writer(struct why *y, const struct task *t, struct ts_writer *w, struct ts_error *err)
{
	uint32_t at = t->is_loop ? next_of_loop(y, t, t->parent) : NO_NODE, *slot;
	bool is_write, seen, is_again = false;
	struct task loop = *t;
	struct ts_inputs in;
	struct node *n;

	if (at != NO_NODE && !is_turn_again(y, t, at, w, &is_again, err))
		return false;
	if (is_again) {
		y->nodes[at].count++;
		go_on(y, t, at, w->pos);
		return true;
	}
	if (!ts_inputs_find(&in, y->ask->q, w->pos, &t->place, err))
		return false;
	if (in.is_syscall && w->kind == TS_WRITER_STEP)
		w->kind = TS_WRITER_INPUT;
	is_write = w->kind == TS_WRITER_STEP;
	if (at != NO_NODE && is_write && is_same_insn(&y->nodes[at], w, &in)) {
		turn(y, t, at, w, &in);
		return true;
	}
	slot = find_slot(y, t, w->pos);
	seen = *slot;
	loop.top = seen || !is_write ? NO_NODE : find_turn(y, t->parent, &t->place, w, &in);
	loop.bottom = t->parent;
	if (loop.top != NO_NODE && goes_on(y, &loop, loop.top, &in)) {
		enter_loop(y, &loop);
		turn(y, &loop, loop.top, w, &in);
		return true;
	}
	n = add_node(y, t->parent, t->order, &t->place, seen ? SEEN : (enum kind)w->kind);
	if (!n)
		return true;
	n->pos = w->pos;
	n->pc = w->pc;
	n->thread = w->thread;
	n->owner = t->owner;
	n->code_len = in.code_len;
	memcpy(n->code, in.code, in.code_len);
	snprintf(n->text, sizeof(n->text), "%s", in.text);
	if (!seen)
		*slot = (uint32_t)(n - y->nodes) + 1;
	if (!seen && is_write)
		expand(y, (uint32_t)(n - y->nodes), w->pos, &in);
	return true;
}

/* Nothing wrote it: it was there at the start, if it is known. */
static bool take_start(struct why *y, const struct task *t, struct ts_error *err)
{
	bool known;
	struct node *n;

	if (!is_known(y, &t->place, t->owner, t->before, NULL, &known, err))
		return false;
	n = add_node(y, t->parent, t->order, &t->place, known ? START : UNKNOWN);
	if (n) {
		n->before = t->before;
		n->owner = t->owner;
	}
	return true;
}

static enum ts_got run_task(struct why *y, struct ts_budget *budget, struct ts_error *err)
{
	struct task t = y->tasks[y->n_tasks - 1];
	struct ts_writer w = { .pos = TS_NO_POS };
	enum ts_got got =
		ts_writers_find(y->writers, &t.place, t.owner, t.before, &w, &y->rows.at, budget, err);
	bool done;

	if (got == TS_GOT_PENDING || got == TS_GOT_FAIL)
		return got;
	y->n_tasks--;
	y->rows.at = got == TS_GOT_ROW ? w.pos : t.before;
	done = got == TS_GOT_ROW ? take_writer(y, &t, &w, err) : take_start(y, &t, err);
	if (y->is_failed)
		done = ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
	return done ? TS_GOT_ROW : TS_GOT_FAIL;
}

/* Why there is no branch: where no code is known, none is. */
static bool note_no_branch(struct why *y, struct ts_error *err)
{
	uint64_t pos = y->qn->at ? ts_query_prev_step(y->ask->q, y->thread, y->qn->at - 1) : TS_NO_POS;
	const struct ts_decoded *d = pos == TS_NO_POS ? NULL : ts_query_insn(y->ask->q, pos, err);

	if (d && !d->is_insn)
		snprintf(y->rows.note, sizeof(y->rows.note),
			 "the bytes of the instruction at 0x%" PRIx64
			 " are not known: --exec or --image may have them",
			 d->pc);
	return d || pos == TS_NO_POS;
}

/*
 * The last conditional branch before the position becomes the first node.  Returns TS_GOT_END when that is
 * done.
 */
static enum ts_got begin_branch(struct why *y, struct ts_budget *budget, struct ts_error *err)
{
	const struct ts_what none = { 0 };
	struct ts_inputs in;
	struct ts_writer w;
	struct node *n;
	enum ts_got got;

	if (!ts_query_is_x86(y->ask->q)) {
		snprintf(y->rows.note, sizeof(y->rows.note), "branches of %s are not known",
			 ts_query_regset(y->ask->q)->arch->name);
		return TS_GOT_END;
	}
	got = ts_writers_find_branch(y->writers, y->thread, y->qn->at, &w, &y->rows.at, budget, err);
	if (got == TS_GOT_END && !note_no_branch(y, err))
		return TS_GOT_FAIL;
	if (got != TS_GOT_ROW)
		return got;
	if (!ts_inputs_find(&in, y->ask->q, w.pos, &none, err))
		return TS_GOT_FAIL;
	n = add_node(y, NO_NODE, 0, &none, BRANCH);
	assert(n); /* the first one */
	n->pos = w.pos;
	n->pc = w.pc;
	n->thread = w.thread;
	snprintf(n->text, sizeof(n->text), "%s", in.text);
	expand(y, 0, w.pos, &in);
	return TS_GOT_END;
}

static enum ts_got begin(struct why *y, struct ts_budget *budget, struct ts_error *err)
{
	const struct task task = {
		.place = y->qn->what, .owner = y->thread, .before = y->qn->at, .parent = NO_NODE
	};
	enum ts_got got = TS_GOT_END;

	if (y->qn->is_branch)
		got = begin_branch(y, budget, err);
	else
		push_task(y, &task);
	y->is_begun = got == TS_GOT_END;
	return got;
}

/* --------------------------------------------------------------------------------------------------- rows */

/* A place's value at @pos: is any of it known?  With @row it goes there. */
static bool is_known(struct why *y, const struct ts_what *place, uint32_t owner, uint64_t pos,
		     struct ts_row *row, bool *known, struct ts_error *err)
{
	const struct ts_regset *set = ts_query_regset(y->ask->q);
	uint8_t *g = malloc(2 * (size_t)set->g_len + 1), data[65], mask[65];
	bool is_mem = place->kind == TS_WHAT_MEM, done;
	uint64_t len = is_mem ? place->last - place->addr + 1 : place->len;

	if (!g)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the registers");
	if (len > sizeof(data))
		len = sizeof(data);
	if (is_mem)
		done = ts_virtual_mem(y->ask->q, pos, ts_query_process(y->ask->q, owner), place->addr,
				      (size_t)len, data, mask, err);
	else
		done = ts_query_regs(y->ask->q, pos, owner, g, g + set->g_len, err);
	if (done && !is_mem) {
		memcpy(data, g + place->off, (size_t)len);
		memcpy(mask, g + set->g_len + place->off, (size_t)len);
		if (place->is_flag)
			data[0] = data[0] >> place->bit & 1;
	}
	*known = done && memchr(mask, 1, (size_t)len);
	if (done && row)
		ts_row_value(row, COL_VALUE, data, mask, (size_t)len,
			     !is_mem || len == 1 || len == 2 || len == 4 || len == 8,
			     set->arch->is_big_endian);
	free(g);
	return done;
}

/* Where the value of a row is looked at. */
static bool put_value(struct why *y, const struct node *n, struct ts_row *row, struct ts_error *err)
{
	const struct node *of = n;
	char text[32];
	bool known;

	if (n->kind == CONSTANT && !n->before) {
		snprintf(text, sizeof(text), "0x%" PRIx64, n->constant);
		ts_row_text(row, COL_VALUE, text);
		return true;
	}
	if (n->kind == CONSTANT && n->parent != NO_NODE)
		of = &y->nodes[n->parent];
	if (of->place.kind == TS_WHAT_NONE)
		return true;
	return is_known(y, &of->place, of->owner, of->pos == TS_NO_POS ? of->before : of->pos + 1, row,
			&known, err);
}

static bool put_row(struct why *y, const struct node *n, struct ts_row *row, struct ts_error *err)
{
	char text[64];

	ts_row_number(row, COL_DEPTH, n->depth);
	if (n->pos != TS_NO_POS) {
		ts_row_number(row, COL_POSITION, n->pos);
		ts_cell_thread(row, COL_THREAD, y->ask, n->thread);
		ts_row_pc(row, COL_PC, n->pc);
		ts_cell_function(row, COL_FUNCTION, y->ask, n->pc);
		ts_row_text(row, COL_INSTRUCTION, *n->text ? n->text : NULL);
	}
	ts_row_text(row, COL_KIND, kind_names[n->kind]);
	if (n->place.kind != TS_WHAT_NONE) {
		ts_place_text(&n->place, ts_query_regset(y->ask->q), text, sizeof(text));
		ts_row_text(row, COL_PLACE, text);
	}
	ts_row_number(row, COL_COUNT, n->count);
	return put_value(y, n, row, err);
}

/* The node after the last row in pre-order; NULL at the end. */
static struct node *next_node(struct why *y)
{
	uint32_t at = y->told;

	if (at == NO_NODE)
		return y->n_nodes ? y->nodes : NULL;
	if (y->nodes[at].first_child != NO_NODE)
		return &y->nodes[y->nodes[at].first_child];
	while (at != NO_NODE && y->nodes[at].next_sibling == NO_NODE)
		at = y->nodes[at].parent;
	return at == NO_NODE ? NULL : &y->nodes[y->nodes[at].next_sibling];
}

static enum ts_got next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			struct ts_error *err)
{
	struct why *y = (struct why *)rows;
	struct node *n;

	if (!y->is_begun) {
		enum ts_got got = begin(y, budget, err);

		if (got != TS_GOT_END)
			return got;
	}
	while (y->n_tasks) {
		enum ts_got got = ts_budget_take(budget) ? run_task(y, budget, err) : TS_GOT_PENDING;

		if (got != TS_GOT_ROW)
			return got;
	}
	n = next_node(y);
	if (!n)
		return TS_GOT_END;
	y->told = (uint32_t)(n - y->nodes);
	return put_row(y, n, row, err) ? TS_GOT_ROW : TS_GOT_FAIL;
}

static void close_why(struct ts_rows *rows)
{
	struct why *y = (struct why *)rows;

	ts_loop_walk_end(&y->loop, y->ask->q);
	ts_writers_free(y->writers);
	free(y->nodes);
	free(y->tasks);
	free(y);
}

static const struct ts_rows_ops ops = { .next = next, .close = close_why };

static struct ts_rows *open_why(struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
				struct ts_error *err)
{
	struct why *y = calloc(1, sizeof(*y));

	(void)is_reverse;
	if (y) {
		y->ask = ask;
		y->thread = ts_ask_thread(ask, qn);
		y->nodes = calloc(MAX_NODES, sizeof(*y->nodes));
		y->writers = ts_writers_new(ask);
	}
	if (!y || !y->nodes || !y->writers) {
		if (y)
			close_why(&y->rows);
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a question");
		return NULL;
	}
	y->rows = (struct ts_rows){ .ops = &ops, .go = TS_NO_POS };
	y->told = NO_NODE;
	y->qn = qn;
	y->max_depth = qn->depth == TS_NO_LIMIT ? DEFAULT_DEPTH : qn->depth;
	if (!ts_query_is_x86(ask->q))
		snprintf(y->rows.note, sizeof(y->rows.note),
			 "the operands of %s are not known: inputs are what the recording says was read",
			 ts_query_regset(ask->q)->arch->name);
	return &y->rows;
}

const struct ts_verb ts_verb_why = {
	.name = "why",
	.synopsis = "WHAT|branch [depth N]",
	.help = "Tell where a value came from, or why the last branch went where it went.",
	.example = "why $sp",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.operand = TS_OPERAND_WHAT,
	.takes = TS_TAKES_THREAD | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_DEPTH | TS_TAKES_BRANCH,
	.open = open_why,
};
