/* SPDX-License-Identifier: MIT */
#include "jump_graph.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/query/code/insns.h"
#include "src/query/search/scan.h"

/* Positions, and addresses, that take as long to examine as a chunk to decode. */
#define POSITIONS_A_CHUNK (4u * TS_CHUNK_STEPS)
#define ITEMS_A_CHUNK     (TS_CHUNK_STEPS / 4)

/* What is known of an instruction, in the mark of its address: 0 nothing yet, 1 that it is not known, else 2 + its flow. */
#define FLOW_MASK    0x0fu
#define FLOW_UNKNOWN 1u
#define FLOW_OF(flow) (2u + (flow))
#define IS_TARGET    0x40u /* control was transferred to it */
#define IS_LEFT      0x80u /* control was transferred from it */

enum stage { WALKING, DECODING, PARTS, MARKING, SORTING, JOINING, DONE };

/* A distinct run, as far as it was executed as a whole. */
struct run {
	uint64_t count, first; /* times; the position of the first one */
	uint16_t n;            /* instructions; 0: not examined yet */
	bool is_ours;          /* of the process that is asked about */
};

/* A run that begins before the range or ends after it: instructions [lo, hi) were executed, once. */
struct part {
	uint32_t run;
	uint32_t lo, hi;
	uint64_t pos;
};

/* The last run of a thread: 1 + the run if it ended, and the position where it did. */
struct thread {
	uint32_t run;
	uint64_t end;
};

struct ts_jump_graph {
	struct ts_query *q; /* borrowed */
	uint32_t process;
	uint64_t from, to, at; /* positions; up to at they have been walked over */
	enum stage stage;
	size_t next;           /* of the stage */
	uint32_t *starts;      /* owned; of the window: 1 + the run that begins there */
	uint64_t window, window_end;
	struct run *runs;      /* owned; by ordinal */
	size_t n_runs, cap_runs;
	struct part *parts;    /* owned */
	size_t n_parts, cap_parts;
	struct thread *threads; /* owned */
	size_t n_threads;
	uint32_t thread;       /* that runs up to slice_end */
	uint64_t slice_end;
	struct ts_covered_table edges;   /* by run << 32 | the run after it */
	struct ts_covered_table entered; /* by address: instructions without a predecessor */
	struct ts_covered_table addresses;
	struct ts_covered_table left;    /* by address: how often a run ended with the instruction */
	struct ts_covered *sorted;       /* owned; the addresses */
	struct ts_block *blocks;         /* owned */
	size_t n_blocks, cap_blocks;
};

struct ts_jump_graph *ts_jump_graph_new(struct ts_ask *ask, uint32_t process, uint64_t from, uint64_t to,
					struct ts_error *err)
{
	struct ts_jump_graph *g = calloc(1, sizeof(*g));
	uint64_t begin = from > TS_MAX_RUN_LEN ? from - TS_MAX_RUN_LEN : 0;

	if (!g)
		return ts_no_memory(err, "a question");
	*g = (struct ts_jump_graph){ .q = ask->q, .process = process, .from = from, .at = begin, .window_end = begin };
	g->to = to < ask->n_steps ? to : ask->n_steps;
	return g;
}

void ts_jump_graph_free(struct ts_jump_graph *g)
{
	if (!g)
		return;
	free(g->starts);
	free(g->runs);
	free(g->parts);
	free(g->threads);
	ts_covered_fini(&g->edges);
	ts_covered_fini(&g->entered);
	ts_covered_fini(&g->addresses);
	ts_covered_fini(&g->left);
	free(g->sorted);
	free(g->blocks);
	free(g);
}

static enum ts_next no_memory(struct ts_error *err)
{
	ts_no_memory(err, "the blocks that were executed");
	return TS_FAIL;
}

static bool count(struct ts_covered_table *t, uint64_t key, uint64_t n)
{
	struct ts_covered *item = ts_covered_find(t, key);

	if (item)
		item->steps += n;
	return item != NULL;
}

/* ---------------------------------------------------------------------------------------------- the walk */

/* The run with that ordinal; NULL if memory is exhausted. */
static struct run *find_run(struct ts_jump_graph *g, uint32_t ordinal)
{
	struct ts_run_facts facts;

	if (ordinal >= g->n_runs) {
		size_t more = (size_t)ordinal + 1 - g->n_runs;

		if (!ts_vec_reserve(&g->runs, g->n_runs, &g->cap_runs, more, sizeof(*g->runs)))
			return NULL;
		memset(g->runs + g->n_runs, 0, more * sizeof(*g->runs));
		g->n_runs += more;
	}
	if (!g->runs[ordinal].n && ts_query_run(g->q, ordinal, &facts)) {
		g->runs[ordinal].n = (uint16_t)facts.n;
		g->runs[ordinal].is_ours = facts.process == g->process;
	}
	return &g->runs[ordinal];
}

/* The state of the thread that runs at position @pos.  Returns NULL if memory is exhausted. */
static struct thread *find_thread(struct ts_jump_graph *g, uint64_t pos)
{
	if (pos >= g->slice_end) {
		g->thread = ts_query_thread(g->q, pos);
		g->slice_end = ts_query_slice_end(g->q, pos);
	}
	return ts_vec_extend(&g->threads, &g->n_threads, g->thread, sizeof(*g->threads)) ? &g->threads[g->thread] : NULL;
}

static bool follows(const struct ts_jump_graph *g, const struct thread *t, uint64_t pos)
{
	return t->run && pos && (t->end == pos || ts_query_prev_step(g->q, g->thread, pos - 1) == t->end - 1);
}

/* The address of the run's instruction @i. */
static uint64_t address_in(const struct ts_run_facts *facts, uint32_t i)
{
	uint64_t pc = facts->first;

	for (uint32_t k = 0; k < i; k++)
		pc += facts->lens[k];
	return pc;
}

/* How control came to the run at @pos, whose first instruction in the range is @lo. */
static bool take_arrival(struct ts_jump_graph *g, uint32_t ordinal, uint64_t pos, uint32_t lo, const struct thread *t)
{
	struct ts_run_facts facts;

	if (!lo && follows(g, t, pos))
		return count(&g->edges, (uint64_t)(t->run - 1) << 32 | ordinal, 1);
	return !ts_query_run(g->q, ordinal, &facts) || count(&g->entered, address_in(&facts, lo), 1);
}

/* Returns false if memory is exhausted. */
static bool take_run(struct ts_jump_graph *g, uint32_t ordinal, uint64_t pos)
{
	struct run *r = find_run(g, ordinal);
	struct thread *t = r ? find_thread(g, pos) : NULL;
	uint32_t lo, hi;

	if (!t || !r->is_ours)
		return t != NULL;
	lo = pos < g->from ? (uint32_t)(g->from - pos) : 0;
	hi = g->to - pos < r->n ? (uint32_t)(g->to - pos) : r->n;
	if (lo >= hi)
		return true;
	if (!take_arrival(g, ordinal, pos, lo, t))
		return false;
	*t = (struct thread){ hi == r->n ? ordinal + 1 : 0, pos + hi };
	if (lo || hi < r->n)
		return TS_PUSH(g->parts, g->n_parts, g->cap_parts, (struct part){ ordinal, lo, hi, pos });
	r->first = r->count++ ? r->first : pos;
	return true;
}

static bool open_window(struct ts_jump_graph *g)
{
	g->window = g->window_end;
	g->window_end = (g->window / TS_FILLED_AT_ONCE + 1) * TS_FILLED_AT_ONCE;
	if (g->window_end > g->to)
		g->window_end = g->to;
	free(g->starts);
	g->starts = calloc((size_t)(g->window_end - g->window), sizeof(*g->starts));
	if (g->starts)
		ts_query_fill_starts(g->q, g->window, g->window_end, g->starts);
	return g->starts != NULL;
}

static enum ts_next walk_some(struct ts_jump_graph *g, struct ts_error *err)
{
	uint64_t end = g->at + POSITIONS_A_CHUNK;

	if (g->at >= g->to)
		return TS_END;
	if (g->at >= g->window_end && !open_window(g))
		return no_memory(err);
	end = end < g->window_end ? end : g->window_end;
	while (g->at < end) {
		uint32_t run = g->starts[g->at - g->window];

		if (run && !take_run(g, run - 1, g->at))
			return no_memory(err);
		g->at++;
	}
	return TS_MORE;
}

/* --------------------------------------------------------------------------------------------- addresses */

/* The instruction at @pc was executed @n times, also at position @pos.  Returns false with @err set. */
static bool take_insn(struct ts_jump_graph *g, uint64_t pc, uint8_t len, uint64_t pos, uint64_t n, struct ts_error *err)
{
	struct ts_covered *item = ts_covered_find(&g->addresses, pc);
	const struct ts_decoded *d;

	if (!item)
		return no_memory(err) != TS_FAIL;
	item->steps += n;
	if (item->mark & FLOW_MASK) {
		if (!ts_query_facts(g->q)->guesses_lengths && len && (!item->len || len < item->len))
			item->len = len;
		return true;
	}
	item->mark |= FLOW_UNKNOWN;
	item->len = len;
	if (!ts_query_has_operands(g->q))
		return true;
	d = ts_query_code(g->q, pos, err);
	if (!d)
		return false;
	if (d->is_insn)
		item->mark = (uint8_t)((item->mark & ~FLOW_MASK) | FLOW_OF(d->ops.flow));
	if (!len || ts_query_facts(g->q)->guesses_lengths)
		item->len = d->is_insn ? d->ops.len : 0;
	return true;
}

/* Instructions [lo, hi) of a run that began at @pos, executed @n times. */
static bool take_insns(struct ts_jump_graph *g, uint32_t ordinal, uint32_t lo, uint32_t hi, uint64_t pos, uint64_t n,
		       struct ts_error *err)
{
	struct ts_run_facts facts;
	uint64_t pc;

	if (!ts_query_run(g->q, ordinal, &facts))
		return true;
	pc = facts.first;
	for (uint32_t i = 0; i < hi; pc += facts.lens[i++]) {
		if (i >= lo && !take_insn(g, pc, facts.lens[i], pos + i, n, err))
			return false;
		if (i + 1 == hi && !count(&g->left, pc, n))
			return no_memory(err) != TS_FAIL;
	}
	return true;
}

static enum ts_next decode_some(struct ts_jump_graph *g, struct ts_error *err)
{
	const struct run *r;

	if (g->next == g->n_runs)
		return TS_END;
	r = &g->runs[g->next];
	if (r->count && !take_insns(g, (uint32_t)g->next, 0, r->n, r->first, r->count, err))
		return TS_FAIL;
	g->next++;
	return TS_MORE;
}

static enum ts_next decode_parts(struct ts_jump_graph *g, struct ts_error *err)
{
	const struct part *p;

	if (g->next == g->n_parts)
		return TS_END;
	p = &g->parts[g->next++];
	return take_insns(g, p->run, p->lo, p->hi, p->pos, 1, err) ? TS_MORE : TS_FAIL;
}

static bool is_transfer_flow(unsigned flow)
{
	switch (flow) {
	case FLOW_OF(TS_OP_BRANCH):
	case FLOW_OF(TS_OP_JUMP):
	case FLOW_OF(TS_OP_JUMP_INDIRECT):
	case FLOW_OF(TS_OP_CALL):
	case FLOW_OF(TS_OP_CALL_INDIRECT):
	case FLOW_OF(TS_OP_RETURN):
		return true;
	default:
		return false;
	}
}

/* How control leaves the instruction; of one in a delay slot, how the branch before it does that. */
static unsigned flow_at(const struct ts_jump_graph *g, uint64_t pc)
{
	const struct ts_covered *item = ts_covered_look_up(&g->addresses, pc), *before = NULL;

	if (ts_query_regset(g->q)->arch->has_delay_slots)
		before = ts_covered_look_up(&g->addresses, pc - 4);
	if (before && is_transfer_flow(before->mark & FLOW_MASK))
		return before->mark & FLOW_MASK;
	return item ? item->mark & FLOW_MASK : FLOW_UNKNOWN;
}

/* An edge between two runs: from the last instruction of one to the first of the other. */
struct passage {
	uint64_t from, to, n;
	unsigned flow;
	bool is_next; /* to is behind from in memory */
};

static bool find_passage(const struct ts_jump_graph *g, const struct ts_covered *edge, struct passage *p)
{
	struct ts_run_facts a, b;
	const struct ts_covered *item;

	if (!ts_query_run(g->q, (uint32_t)(edge->addr >> 32), &a) || !ts_query_run(g->q, (uint32_t)edge->addr, &b))
		return false;
	item = ts_covered_look_up(&g->addresses, a.last);
	*p = (struct passage){ .from = a.last, .to = b.first, .n = edge->steps, .flow = flow_at(g, a.last) };
	p->is_next = item && item->len && b.first == a.last + item->len;
	return true;
}

static void mark(struct ts_jump_graph *g, uint64_t pc, unsigned what)
{
	struct ts_covered *item = ts_covered_look_up(&g->addresses, pc);

	if (item)
		item->mark |= (uint8_t)what;
}

static enum ts_next mark_some(struct ts_jump_graph *g)
{
	struct passage p;

	for (unsigned i = 0; i < ITEMS_A_CHUNK && g->next < g->edges.n; i++) {
		if (!find_passage(g, &g->edges.items[g->next++], &p))
			continue;
		if (is_transfer_flow(p.flow) || (p.flow == FLOW_UNKNOWN && !p.is_next)) {
			mark(g, p.from, IS_LEFT);
			mark(g, p.to, IS_TARGET);
		}
	}
	return g->next < g->edges.n ? TS_MORE : TS_END;
}

/* ------------------------------------------------------------------------------------------------ blocks */

static enum ts_next sort_all(struct ts_jump_graph *g, struct ts_error *err)
{
	g->sorted = calloc(g->addresses.n + 1, sizeof(*g->sorted));
	if (!g->sorted)
		return no_memory(err);
	if (g->addresses.n)
		memcpy(g->sorted, g->addresses.items, g->addresses.n * sizeof(*g->sorted));
	TS_SORT_BY(g->sorted, g->addresses.n, addr);
	return TS_END;
}

/* Is the instruction the next one of the last block? */
static bool goes_on(const struct ts_jump_graph *g, const struct ts_covered *x)
{
	const struct ts_block *b = g->n_blocks ? &g->blocks[g->n_blocks - 1] : NULL;
	const struct ts_covered *last;

	if (!b || x->mark & IS_TARGET || b->addr + b->len != x->addr || b->last == x->addr)
		return false;
	last = ts_covered_look_up(&g->addresses, b->last);
	if (!last || !last->len || last->mark & IS_LEFT)
		return false;
	/* of a branch with a delay slot the slot is the last one */
	if (ts_query_regset(g->q)->arch->has_delay_slots && is_transfer_flow(last->mark & FLOW_MASK))
		return true;
	return !is_transfer_flow(flow_at(g, b->last));
}

static enum ts_next join_some(struct ts_jump_graph *g, struct ts_error *err)
{
	for (unsigned i = 0; i < ITEMS_A_CHUNK && g->next < g->addresses.n; i++, g->next++) {
		const struct ts_covered *x = &g->sorted[g->next];
		struct ts_block *b;

		if (!goes_on(g, x)) {
			if (!TS_PUSH(g->blocks, g->n_blocks, g->cap_blocks,
				     (struct ts_block){ .addr = x->addr, .executions = x->steps }))
				return no_memory(err);
		}
		b = &g->blocks[g->n_blocks - 1];
		b->last = x->addr;
		b->len += x->len;
		b->n++;
		b->steps += x->steps;
	}
	return g->next < g->addresses.n ? TS_MORE : TS_END;
}

enum ts_next ts_jump_graph_some(struct ts_jump_graph *g, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = TS_END;

	while (g->stage < DONE) {
		if (!ts_budget_take(budget))
			return TS_MORE;
		switch (g->stage) {
		case WALKING: got = walk_some(g, err); break;
		case DECODING: got = decode_some(g, err); break;
		case PARTS: got = decode_parts(g, err); break;
		case MARKING: got = mark_some(g); break;
		case SORTING: got = sort_all(g, err); break;
		case JOINING: got = join_some(g, err); break;
		case DONE: break;
		}
		if (got == TS_FAIL)
			return got;
		if (got == TS_END) {
			g->stage++;
			g->next = 0;
		}
	}
	return TS_END;
}

const struct ts_block *ts_jump_graph_blocks(const struct ts_jump_graph *g, size_t *n)
{
	*n = g->n_blocks;
	return g->blocks;
}

/* ------------------------------------------------------------------------------------------------- edges */

/* The ordinal of the block with the instruction at @pc; TS_OUTSIDE: none. */
static uint32_t block_at(const struct ts_jump_graph *g, uint64_t pc)
{
	size_t at = 0;

	TS_BISECT(at, g->n_blocks, i, g->blocks[i].addr <= pc);
	return at && pc <= g->blocks[at - 1].last ? (uint32_t)(at - 1) : TS_OUTSIDE;
}

struct edges {
	struct ts_loop_edge *items; /* owned */
	size_t n, cap, n_unknown;
};

static bool add_edge(struct edges *e, uint32_t from, uint32_t to, uint64_t n)
{
	if (to == TS_OUTSIDE || !n)
		return true;
	return TS_PUSH(e->items, e->n, e->cap, (struct ts_loop_edge){ from, to, n });
}

/* The block that ends with the call which returns to the beginning of block @to. */
static uint32_t caller_of(const struct ts_jump_graph *g, uint32_t to)
{
	const struct ts_block *b = to && to != TS_OUTSIDE ? &g->blocks[to - 1] : NULL;
	unsigned flow = b && b->addr + b->len == g->blocks[to].addr ? flow_at(g, b->last) : FLOW_UNKNOWN;

	return flow == FLOW_OF(TS_OP_CALL) || flow == FLOW_OF(TS_OP_CALL_INDIRECT) ? to - 1 : TS_OUTSIDE;
}

static bool add_passage(const struct ts_jump_graph *g, struct edges *e, const struct passage *p)
{
	uint32_t from = block_at(g, p->from), to = block_at(g, p->to);

	switch (p->flow) {
	case FLOW_UNKNOWN:
		e->n_unknown += !p->is_next;
		return !p->is_next || from == to || add_edge(e, from, to, p->n);
	case FLOW_OF(TS_OP_BRANCH):
	case FLOW_OF(TS_OP_JUMP):
	case FLOW_OF(TS_OP_JUMP_INDIRECT):
		return add_edge(e, from, to, p->n);
	case FLOW_OF(TS_OP_CALL):
	case FLOW_OF(TS_OP_CALL_INDIRECT):
		return add_edge(e, p->is_next ? from : TS_OUTSIDE, to, p->n);
	case FLOW_OF(TS_OP_RETURN):
		return add_edge(e, caller_of(g, to), to, p->n);
	default:
		if (!p->is_next)
			return to == TS_OUTSIDE || g->blocks[to].addr != p->to || add_edge(e, TS_OUTSIDE, to, p->n);
		return from == to || add_edge(e, from, to, p->n);
	}
}

/* Over the end of a block within a run: what did not leave it there. */
static bool add_falls(const struct ts_jump_graph *g, struct edges *e)
{
	for (size_t i = 0; i + 1 < g->n_blocks; i++) {
		const struct ts_block *b = &g->blocks[i];
		const struct ts_covered *last = ts_covered_look_up(&g->addresses, b->last),
					*left = ts_covered_look_up(&g->left, b->last);
		uint64_t n_left = left ? left->steps : 0;

		if (b->addr + b->len == g->blocks[i + 1].addr && last && last->steps > n_left &&
		    !add_edge(e, (uint32_t)i, (uint32_t)i + 1, last->steps - n_left))
			return false;
	}
	return true;
}

static int by_from(const void *a, const void *b)
{
	const struct ts_loop_edge *x = a, *y = b;

	return TS_ORDER(x->from, y->from) ?: TS_ORDER(x->to, y->to);
}

struct ts_loop_edge *ts_jump_graph_edges(struct ts_jump_graph *g, size_t *n, size_t *n_unknown)
{
	struct edges e = { .items = calloc(1, sizeof(*e.items)), .cap = 1 };
	bool done = e.items && add_falls(g, &e);
	struct passage p;

	for (size_t i = 0; i < g->edges.n && done; i++)
		done = !find_passage(g, &g->edges.items[i], &p) || add_passage(g, &e, &p);
	for (size_t i = 0; i < g->entered.n && done; i++)
		done = add_edge(&e, TS_OUTSIDE, block_at(g, g->entered.items[i].addr), g->entered.items[i].steps);
	if (!done) {
		free(e.items);
		return NULL;
	}
	qsort(e.items, e.n, sizeof(*e.items), by_from);
	*n = e.n;
	*n_unknown = e.n_unknown;
	return e.items;
}
