/* SPDX-License-Identifier: MIT */
/*
 * The loops of a graph of blocks, inner ones within outer ones.
 *
 * A loop is a largest set of blocks each of which leads to each (Tarjan's strongly connected components).  Its header is
 * the block by which it was entered most often.  Without the edges that lead to the blocks by which it was entered, what
 * is still connected are the loops inside of it (Steensgaard's loop nesting forest).
 */
#ifndef TS_ASK_LOOPS_H
#define TS_ASK_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An edge that comes from nowhere in the graph: a call, or the beginning of a thread. */
#define TS_OUTSIDE UINT32_MAX

struct ts_loop_edge {
	uint32_t from, to; /* ordinals of blocks */
	uint64_t n;        /* how often it was taken; an edge that connects only has 0 */
};

struct ts_loop {
	uint32_t header;
	uint32_t n_blocks;
	uint64_t executions; /* how often it was entered from outside of it */
	uint64_t steps;      /* of its blocks */
};

/* Members are its own, but for loops, n and is_cut. */
struct ts_loops {
	const struct ts_loop_edge *edges; /* borrowed; sorted by from */
	const uint64_t *steps;            /* borrowed; of each block */
	size_t n_edges;
	uint32_t n_blocks;
	size_t *first;           /* owned; of each block, and one more: where its edges begin */
	bool *is_off;            /* owned; edges that lead to the entries of loops that were found */
	uint32_t *number, *low;  /* owned; of Tarjan's search: numbers in its order, 0: not seen */
	uint32_t *component;     /* owned; 0: none yet */
	uint32_t *stack, *path;  /* owned; blocks without a component yet; the blocks of the search's path */
	size_t *edge;            /* owned; of the blocks of the path: the edge that is next */
	uint64_t *entries;       /* owned; how often each block was entered from outside of its component */
	bool *is_entry;          /* owned */
	uint32_t *loop_of;       /* owned; of each component: 1 + its loop, 0: it is none */
	uint32_t n_stack, n_path, n_numbers, n_components, next, level;
	struct ts_loop *loops;   /* owned; what was found, outer loops before inner ones */
	size_t n, cap;
	bool is_cut;             /* there are loops inside of more than TS_MAX_NESTING others, which were not found */
	bool is_failed;          /* memory was exhausted */
};

#define TS_MAX_NESTING 64u

/* Returns false if memory is exhausted; the loops are to be given back either way. */
bool ts_loops_init(struct ts_loops *l, const struct ts_loop_edge *edges, size_t n_edges, const uint64_t *steps,
		   uint32_t n_blocks);
void ts_loops_fini(struct ts_loops *l);

/* Look for loops, about as long as @max edges take, or one look at all of them.  Returns false when it is done. */
bool ts_loops_find_some(struct ts_loops *l, size_t max);

#endif
