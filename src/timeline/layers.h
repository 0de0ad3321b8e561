/* SPDX-License-Identifier: MIT */
/*
 * Ranges that get new contents: the value of a byte that has not been written since.
 *
 * A layer means: from position pos on, [first, last] holds zeros, or unknown bytes.  Layer 0 is the whole
 * space at position 0; maps, unmaps and gaps add more.  The newest layer over a byte governs it: only later
 * writes count, and values inferred for the byte's past reach back only to the layer's position.
 */
#ifndef TS_LAYERS_H
#define TS_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/step.h"

#define TS_NO_LAYER UINT32_MAX

struct ts_layer {
	uint64_t pos;
	uint64_t first, last; /* addresses, both inclusive */
	enum ts_fill fill;
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
	struct ts_extent *extents; /* owned; ascending within a block */
	size_t cap_extents;
	size_t *ends;              /* owned; where each block's extents end */
	size_t n_blocks, cap_blocks;
};

struct ts_layers {
	struct ts_layer *items; /* owned; pos does not descend */
	uint32_t n, cap;
	struct ts_layer_level levels[TS_LAYER_LEVELS];
};

/* Append a layer.  Returns false if memory is exhausted; nothing has changed then. */
bool ts_layers_add(struct ts_layers *l, uint64_t pos, uint64_t first, uint64_t last, enum ts_fill fill);
void ts_layers_fini(struct ts_layers *l);

/* The number of layers up to and including position @pos. */
uint32_t ts_layers_until(const struct ts_layers *l, uint64_t pos);

/*
 * The newest of the first @n layers that overlaps [first, last].  Returns its ordinal, TS_NO_LAYER if none
 * does.
 */
uint32_t ts_layers_newest(const struct ts_layers *l, uint32_t n, uint64_t first, uint64_t last);

#endif
