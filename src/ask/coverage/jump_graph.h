/* SPDX-License-Identifier: MIT */
/*
 * The executed basic blocks, and the transfers of control between them.
 *
 * A block is a run of adjacent instructions, of which only the last one transfers control (a jump, a call, a
 * return), and only the first one is the target of such a transfer.
 */
#ifndef TS_ASK_JUMP_GRAPH_H
#define TS_ASK_JUMP_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "covered.h"
#include "loops.h"
#include "src/ask/verb.h"

struct ts_block {
	uint64_t addr;
	uint64_t last;       /* the address of its last instruction */
	uint64_t len;        /* bytes; excludes a last instruction of unknown length */
	uint64_t n;          /* instructions */
	uint64_t executions; /* of its first instruction */
	uint64_t steps;
};

struct ts_jump_graph;

/*
 * The graph of the steps [@from, @to) of @process; the caller frees it.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_jump_graph *ts_jump_graph_new(struct ts_ask *ask, uint32_t process, uint64_t from, uint64_t to,
					struct ts_error *err);
void ts_jump_graph_free(struct ts_jump_graph *g);

/*
 * Continue to build the graph.
 *
 * Returns TS_END when the blocks can be used.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_jump_graph_some(struct ts_jump_graph *g, struct ts_budget *budget, struct ts_error *err);

/* Returns the blocks, ascending by address, borrowed from the graph; *n is set to their number. */
const struct ts_block *ts_jump_graph_blocks(const struct ts_jump_graph *g, size_t *n);

/*
 * The edges between blocks of one function, sorted by the source block: jumps, falls through the end of a block, and
 * calls, whose edge leads to the block after the call.  The source of a function's entry by a call, and of a thread's
 * beginning, is TS_OUTSIDE.  *n is set to the number of edges, *n_unknown to the number of omitted transfers by unknown
 * instructions.
 *
 * Returns an array that the caller frees.
 * Returns NULL if memory is exhausted.
 */
struct ts_loop_edge *ts_jump_graph_edges(struct ts_jump_graph *g, size_t *n, size_t *n_unknown);

#endif
