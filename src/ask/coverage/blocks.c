/* SPDX-License-Identifier: MIT */
#include "src/ask/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>

#include "jump_graph.h"
#include "loops.h"
#include "src/ask/grammar/question.h"
#include "src/ask/grammar/state.h"
#include "src/ask/verbs/cells.h"
#include "src/base/collections/heap.h"
#include "src/query/code/insns.h"

#define N_HOT 20u

/* Edges, and blocks, that take as long to examine as a chunk to decode. */
#define EDGES_A_CHUNK (4u * TS_CHUNK_STEPS)
#define ITEMS_A_CHUNK (TS_CHUNK_STEPS / 4)

enum stage { GRAPH, LINKING, LOOPS, ORDERING, LISTED };

/* A block, or a loop with its header. */
struct item {
	struct ts_block block;
	struct ts_loop loop;
	uint64_t steps;
};

struct blocks {
	struct ts_rows rows;
	enum stage stage;
	struct ts_jump_graph *graph; /* owned */
	struct ts_loop_edge *edges;  /* owned */
	uint64_t *steps;             /* owned; of each block */
	struct ts_loops loops;
	struct ts_heap order;
	size_t next;
	uint64_t n_left;             /* the maximum number of rows */
};

static bool is_about_loops(const struct blocks *b)
{
	return b->rows.qn->verb == &ts_verb_hot_loops;
}

static bool is_before(const void *user, const void *a, const void *b)
{
	const struct blocks *owner = user;
	const struct item *x = a, *y = b;

	if (x->steps != y->steps && !owner->rows.qn->by_address)
		return x->steps > y->steps;
	if (x->block.addr != y->block.addr)
		return x->block.addr < y->block.addr;
	return x->loop.n_blocks > y->loop.n_blocks; /* an outer loop before the one inside of it */
}

static enum ts_next no_memory(struct ts_error *err)
{
	ts_no_memory(err, "the blocks that were executed");
	return TS_FAIL;
}

static enum ts_next link_blocks(struct blocks *b, struct ts_error *err)
{
	size_t n, n_edges, n_unknown;
	const struct ts_block *blocks = ts_jump_graph_blocks(b->graph, &n);

	if (!is_about_loops(b))
		return TS_END;
	b->edges = ts_jump_graph_edges(b->graph, &n_edges, &n_unknown);
	b->steps = calloc(n + 1, sizeof(*b->steps));
	if (!b->edges || !b->steps || n >= TS_OUTSIDE)
		return no_memory(err);
	for (size_t i = 0; i < n; i++)
		b->steps[i] = blocks[i].steps;
	if (!ts_loops_init(&b->loops, b->edges, n_edges, b->steps, (uint32_t)n))
		return no_memory(err);
	b->rows.is_cut = n_unknown;
	if (n_unknown)
		snprintf(b->rows.note, sizeof(b->rows.note),
			 "loops by %zu jumps are left out: their instructions are not known", n_unknown);
	return TS_END;
}

static enum ts_next find_loops(struct blocks *b, struct ts_error *err)
{
	if (!is_about_loops(b))
		return TS_END;
	if (ts_loops_find_some(&b->loops, EDGES_A_CHUNK))
		return TS_MORE;
	if (b->loops.is_failed)
		return no_memory(err);
	b->rows.is_cut |= b->loops.is_cut;
	if (b->loops.is_cut)
		snprintf(b->rows.note, sizeof(b->rows.note), "loops inside of more than %u others are left out", TS_MAX_NESTING);
	return TS_END;
}

static enum ts_next order_some(struct blocks *b, struct ts_error *err)
{
	size_t n_blocks, n;
	const struct ts_block *blocks = ts_jump_graph_blocks(b->graph, &n_blocks);

	n = is_about_loops(b) ? b->loops.n : n_blocks;
	for (unsigned i = 0; i < ITEMS_A_CHUNK && b->next < n; i++, b->next++) {
		struct item x = { 0 };

		if (is_about_loops(b)) {
			x.loop = b->loops.loops[b->next];
			x.block = blocks[x.loop.header];
			x.steps = x.loop.steps;
		} else {
			x.block = blocks[b->next];
			x.steps = x.block.steps;
		}
		if (!ts_heap_put(&b->order, &x))
			return no_memory(err);
	}
	return b->next < n ? TS_MORE : TS_END;
}

static enum ts_next list(struct blocks *b, struct ts_budget *budget, struct ts_error *err)
{
	while (b->stage < LISTED) {
		enum ts_next got = TS_END;

		if (b->stage != GRAPH && !ts_budget_take(budget))
			return TS_MORE;
		switch (b->stage) {
		case GRAPH: got = ts_jump_graph_some(b->graph, budget, err); break;
		case LINKING: got = link_blocks(b, err); break;
		case LOOPS: got = find_loops(b, err); break;
		case ORDERING: got = order_some(b, err); break;
		case LISTED: break;
		}
		if (got == TS_FAIL || (got == TS_MORE && b->stage == GRAPH))
			return got;
		b->stage += got == TS_END;
	}
	return TS_END;
}

static void put_row(const struct blocks *b, const struct item *x, struct ts_row *row)
{
	bool is_loop = is_about_loops(b);
	unsigned i = is_loop ? 1 : 3;

	ts_row_addr(row, 0, x->block.addr);
	if (!is_loop) {
		if (x->block.len)
			ts_row_number(row, 1, x->block.len);
		ts_row_number(row, 2, x->block.n);
	}
	ts_cell_function(row, i, b->rows.ask, x->block.addr);
	ts_cell_line(row, i + 1, b->rows.ask, x->block.addr);
	ts_row_number(row, i + 3, is_loop ? x->loop.executions : x->block.executions);
	if (is_loop) {
		ts_row_number(row, 5, x->block.executions);
		ts_row_number(row, 6, x->loop.n_blocks);
	}
	ts_row_number(row, 7, x->steps);
	ts_row_share(row, 8, (double)x->steps / (double)b->rows.ask->n_steps);
}

static enum ts_next next(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget, struct ts_error *err)
{
	struct blocks *b = (struct blocks *)rows;
	enum ts_next got = list(b, budget, err);
	struct item x;

	if (got != TS_END)
		return got;
	if (!b->n_left || !ts_heap_take(&b->order, &x))
		return TS_END;
	b->n_left--;
	if (!rows->is_counting)
		put_row(b, &x, row);
	return TS_ITEM;
}

static void close_blocks(struct ts_rows *rows)
{
	struct blocks *b = (struct blocks *)rows;

	ts_heap_fini(&b->order);
	ts_loops_fini(&b->loops);
	ts_jump_graph_free(b->graph);
	free(b->edges);
	free(b->steps);
}

static bool begin(struct ts_rows *rows, struct ts_error *err)
{
	struct blocks *b = (struct blocks *)rows;
	const struct ts_question *qn = rows->qn;

	if (qn->verb == &ts_verb_hot_loops && !ts_query_has_operands(rows->ask->q))
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "'loops' needs to know jumps from calls, and instructions of this processor are not decoded; example: hot blocks");
	rows->at = qn->at;
	b->n_left = qn->count == TS_NO_LIMIT ? N_HOT : qn->count;
	ts_heap_init(&b->order, sizeof(struct item), is_before, b);
	b->graph = ts_jump_graph_new(rows->ask, ts_ask_process(rows->ask, qn), qn->from, qn->to, err);
	return b->graph;
}

static const struct ts_rows_ops ops = { sizeof(struct blocks), begin, next, close_blocks };

static const struct ts_column block_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR },      { .name = "length", .type = TS_COLUMN_NUMBER },
	{ .name = "instructions", .type = TS_COLUMN_NUMBER }, { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "file", .type = TS_COLUMN_TEXT },         { .name = "line", .type = TS_COLUMN_NUMBER },
	{ .name = "executions", .type = TS_COLUMN_NUMBER }, { .name = "steps", .type = TS_COLUMN_NUMBER },
	{ .name = "share", .type = TS_COLUMN_SHARE },
};

static const struct ts_column loop_columns[] = {
	{ .name = "address", .type = TS_COLUMN_ADDR },      { .name = "function", .type = TS_COLUMN_TEXT },
	{ .name = "file", .type = TS_COLUMN_TEXT },         { .name = "line", .type = TS_COLUMN_NUMBER },
	{ .name = "executions", .type = TS_COLUMN_NUMBER }, { .name = "iterations", .type = TS_COLUMN_NUMBER },
	{ .name = "blocks", .type = TS_COLUMN_NUMBER },     { .name = "steps", .type = TS_COLUMN_NUMBER },
	{ .name = "share", .type = TS_COLUMN_SHARE },
};

#define TAKEN (TS_TAKES_RANGE | TS_TAKES_BOUND | TS_TAKES_AT | TS_TAKES_COUNT | TS_TAKES_BY)

const struct ts_verb ts_verb_hot_blocks = {
	.name = "hot",
	.synopsis = "[N] blocks [by address]",
	.help = "List the basic blocks with most steps.",
	.example = "hot 10 blocks",
	TS_COLUMNS(block_columns),
	.takes = TAKEN,
	.rows = &ops,
};

const struct ts_verb ts_verb_hot_loops = {
	.name = "hot",
	.synopsis = "[N] loops [by address]",
	.help = "List the loops with most steps.",
	.example = "hot 10 loops",
	TS_COLUMNS(loop_columns),
	.takes = TAKEN,
	.rows = &ops,
};
