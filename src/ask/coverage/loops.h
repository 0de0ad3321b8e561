/* SPDX-License-Identifier: MIT */
/*
 * The nested loops of a graph of blocks.
 *
 * A loop is a strongly connected component of the graph (Tarjan).  Its header is the block through which it was entered
 * most often.  The strongly connected components that remain without the edges to its entry blocks are the inner loops
 * (Steensgaard's loop nesting forest).
 */
#ifndef TS_ASK_LOOPS_H
#define TS_ASK_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The source of an edge from outside the graph: a call, or the beginning of a thread. */
#define TS_OUTSIDE UINT32_MAX

struct ts_loop_edge {
	uint32_t from, to; /* ordinals of blocks */
	uint64_t n;        /* the number of transfers; 0: the edge only connects */
};

struct ts_loop {
	uint32_t header;
	uint32_t n_blocks;
	uint64_t executions; /* the number of entries from outside */
	uint64_t steps;      /* of its blocks */
};

/* Callers use loops, n and is_cut only. */
struct ts_loops {
	const struct ts_loop_edge *edges; /* borrowed; sorted by from */
	const uint64_t *steps;            /* borrowed; of each block */
	size_t n_edges;
	uint32_t n_blocks;
	size_t *first;           /* owned; of each block, and one more: the index of its first edge */
	bool *is_off;            /* owned; removed edges: those to the entries of loops that were found */
	uint32_t *number, *low;  /* owned; of Tarjan's search: numbers in its order, 0: not visited */
	uint32_t *component;     /* owned; 0: none yet */
	uint32_t *stack, *path;  /* owned; blocks without a component yet; the blocks of the search's path */
	size_t *edge;            /* owned; of the blocks of the path: the edge that is next */
	uint64_t *entries;       /* owned; the number of entries to each block from outside its component */
	bool *is_entry;          /* owned */
	uint32_t *loop_of;       /* owned; of each component: 1 + its loop, 0: it is not one */
	uint32_t n_stack, n_path, n_numbers, n_components, next, level;
	struct ts_loop *loops;   /* owned; outer loops before inner ones */
	size_t n, cap;
	bool is_cut;             /* loops that are nested deeper than TS_MAX_NESTING were omitted */
	bool is_failed;          /* memory was exhausted */
};

#define TS_MAX_NESTING 64u

/* Returns false if memory is exhausted.  The caller must call ts_loops_fini() in both cases. */
bool ts_loops_init(struct ts_loops *l, const struct ts_loop_edge *edges, size_t n_edges, const uint64_t *steps,
		   uint32_t n_blocks);
void ts_loops_fini(struct ts_loops *l);

/* Continue the search for about the time of @max edges, but at least one pass over all edges.  Returns false at its end. */
bool ts_loops_find_some(struct ts_loops *l, size_t max);

#endif
