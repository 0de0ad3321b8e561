/* SPDX-License-Identifier: MIT */
/*
 * Ranges that get new contents: the value of a byte that has not been written since.
 *
 * A layer states that [first, last] holds zeros, or unknown bytes, from position pos on.  Layer 0 is the whole space at
 * position 0.  Maps, unmaps and gaps add layers.  The newest layer over a byte governs it: writes before the layer have
 * no effect on it, and values inferred for the byte's past reach back to the layer's position only.
 */
#ifndef TS_LAYERS_H
#define TS_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/step.h"

struct ts_index_arrays;
struct ts_index_blocks;
struct ts_index_file;

#define TS_NO_LAYER UINT32_MAX

struct ts_layer {
	uint64_t pos;
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t fill;        /* enum ts_fill */
	uint32_t zero;        /* no padding: it goes to index files */
};

/* Addresses first to last, both inclusive. */
struct ts_extent {
	uint64_t first, last;
};

/*
 * The addresses of the layers of a block, for blocks of TS_LAYER_FAN^(level + 1) layers each: disjoint
 * extents.
 */
#define TS_LAYER_FAN 8u
#define TS_LAYER_LEVELS 11u

struct ts_layer_level {
	struct ts_extent *extents; /* ascending within a block */
	size_t n_extents, cap_extents;
	uint64_t *ends; /* where each block's extents end */
	size_t n_blocks, cap_blocks;
};

/* Arrays are owned, or lie in an index file, where any number may be wrong. */
struct ts_layers {
	struct ts_layer *items; /* pos does not descend */
	uint32_t n;
	size_t cap;
	struct ts_layer_level levels[TS_LAYER_LEVELS];
	struct ts_index_blocks *file; /* borrowed; where the arrays lie; NULL: in memory, owned */
	uint64_t end;                 /* of those in a file: no layer has a greater position */
};

/* Append a layer.  Returns false if memory is exhausted; nothing has changed then. */
bool ts_layers_add(struct ts_layers *l, uint64_t pos, uint64_t first, uint64_t last, enum ts_fill fill);
void ts_layers_fini(struct ts_layers *l);

/* Layer @i; the whole space at position 0 if the index file is damaged there. */
struct ts_layer ts_layers_at(const struct ts_layers *l, uint32_t i);

/* The number of layers up to and including position @pos. */
uint32_t ts_layers_until(const struct ts_layers *l, uint64_t pos);

/*
 * Find the newest of the first @n layers that overlaps [first, last], and store it in *layer.
 *
 * Returns its ordinal.
 * Returns TS_NO_LAYER if no layer overlaps it.
 * Returns 0, with the whole space, if the index file is damaged.
 */
uint32_t ts_layers_newest(const struct ts_layers *l, uint32_t n, uint64_t first, uint64_t last,
			  struct ts_layer *layer);

/* The layers as arrays of a section of an index file. */
void ts_layers_save(const struct ts_layers *l, struct ts_index_file *f);

/*
 * Replace the layers by those of the arrays, which stay in the file, of a recording of @n_steps steps.  Items are
 * checked when they are used.
 *
 * Returns false if the arrays contradict each other.
 */
bool ts_layers_load(struct ts_layers *l, struct ts_index_arrays *a, uint64_t n_steps);

#endif
