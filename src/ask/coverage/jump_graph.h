/* SPDX-License-Identifier: MIT */
/*
 * The basic blocks that were executed, and how control went from one to another.
 *
 * A block is instructions that follow each other in memory, of which only the last one transfers control (a jump, a call, a
 * return), and only the first one is reached by such a transfer.
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
	uint64_t len;        /* bytes; of a last instruction of unknown length none */
	uint64_t n;          /* instructions */
	uint64_t executions; /* of its first instruction */
	uint64_t steps;
};

struct ts_jump_graph;

/*
 * The graph of the steps [@from, @to) of @process.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_jump_graph *ts_jump_graph_new(struct ts_ask *ask, uint32_t process, uint64_t from, uint64_t to,
					struct ts_error *err);
void ts_jump_graph_free(struct ts_jump_graph *g);

/*
 * Go on.  Returns TS_GOT_END when the blocks are there, TS_GOT_PENDING if the budget is used up, TS_GOT_FAIL if the trace
 * cannot be read, or memory is exhausted.
 */
enum ts_got ts_jump_graph_some(struct ts_jump_graph *g, struct ts_budget *budget, struct ts_error *err);

/* The blocks, ascending by address; *n gets how many. */
const struct ts_block *ts_jump_graph_blocks(const struct ts_jump_graph *g, size_t *n);

/*
 * How control went between blocks of one function, sorted by where it came from: by jumps, over the end of a block, and
 * over calls, which come back to the block after them; what came by a call, or begins a thread, comes from TS_OUTSIDE.  To be
 * freed; *n gets how many, *n_unknown the number of transfers by instructions that are not known, which are not among them.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_loop_edge *ts_jump_graph_edges(struct ts_jump_graph *g, size_t *n, size_t *n_unknown);

#endif
