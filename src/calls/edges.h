/* SPDX-License-Identifier: MIT */
/*
 * The edges of the call graph: from a call instruction to its target.  Each edge has a number.  Even a
 * recording with many calls has few edges.
 */
#ifndef TS_CALL_EDGES_H
#define TS_CALL_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/hash_table.h"

#define TS_NO_EDGE UINT32_MAX

struct ts_index_file;
struct ts_index_arrays;

struct ts_call_edge {
	uint64_t pc, target;
};

/* All zero: empty. */
struct ts_call_edges {
	struct ts_call_edge *items; /* owned; by number */
	uint32_t n;
	size_t cap;
	struct ts_hash_table by_edge;
	uint32_t n_saved; /* edges that ts_call_edges_save() has saved, or ts_call_edges_load() has loaded */
};

void ts_call_edges_fini(struct ts_call_edges *s);

/*
 * Returns the number of an edge, which is added if it is new.
 * Returns TS_NO_EDGE if memory is exhausted.
 */
uint32_t ts_call_edges_number(struct ts_call_edges *s, uint64_t pc, uint64_t target);

/* Save the edges that were added since the last call. */
void ts_call_edges_save(struct ts_call_edges *s, struct ts_index_file *f);

/* The size of all edges in an index file, in bytes. */
uint64_t ts_call_edges_saved_len(const struct ts_call_edges *s);

/*
 * Load the edges that one ts_call_edges_save() has saved.  With @is_known they were loaded before.
 *
 * Returns false if memory is exhausted, or the arrays contradict each other.
 */
bool ts_call_edges_load(struct ts_call_edges *s, struct ts_index_arrays *a, bool is_known);

#endif
