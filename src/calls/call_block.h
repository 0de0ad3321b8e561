/* SPDX-License-Identifier: MIT */
/*
 * The calls of a segment, packed into blocks that are unpacked independently.
 *
 * A block has up to TS_CALL_BLOCK calls and switches of one thread, as events in order of time: a call begins,
 * the innermost call ends, the thread moves to another stack.  Callers and depths follow from this order; where they do
 * not, an event names the innermost call.  A block holds the ends of its own calls, also those after its last call, and
 * no ends of calls of other blocks.
 *
 * An event is a symbol: its kind, the edge of the call graph and the number of steps since the previous event.  A
 * segment has two prefix codes for symbols: one for symbols after the end of a call, and one for the others.  The
 * numbers of a rare event follow its symbol, which is then the same for all events of its kind.
 */
#ifndef TS_CALL_BLOCK_H
#define TS_CALL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "edges.h"
#include "prefix_code.h"
#include "src/base/collections/buf.h"

struct ts_index_file;
struct ts_index_arrays;
struct ts_index_blocks;

struct ts_call_block {
	uint64_t pos;     /* of its first call */
	uint32_t ordinal; /* of its first call */
	uint32_t thread;
	uint32_t off;       /* of its first byte in the bytes of its segment */
	uint16_t n;         /* the number of its calls and switches */
	uint16_t n_ends;    /* the number of its calls that end in the segment */
};

struct ts_call_symbol {
	uint32_t edge; /* of a call */
	uint32_t what; /* the kind of event, with the steps in the higher bits (call_block.c) */
};

#define TS_CALL_CODES 2u

/* A packed segment. */
struct ts_call_pack {
	const struct ts_call_block *blocks; /* by thread, then ordinal */
	const uint8_t *bytes;
	const struct ts_call_symbol *symbols[TS_CALL_CODES]; /* by code */
	size_t n_blocks, n_bytes, n_symbols[TS_CALL_CODES];
	struct ts_prefix_code codes[TS_CALL_CODES];
	struct ts_index_blocks *file; /* borrowed; bytes are mapped from it; NULL: they are in memory */
	struct ts_call_block *own_blocks; /* owned; NULL: an index file owns all arrays */
	struct ts_call_symbol *own_symbols[TS_CALL_CODES]; /* owned */
	struct ts_buf own_bytes;
};

/* Packs a segment. */
struct ts_call_packer;

/*
 * A packer that adds the edges of calls to @edges (borrowed until ts_call_packer_free()).
 *
 * Returns the packer, which the caller frees with ts_call_packer_free().
 * Returns NULL if memory is exhausted.
 */
struct ts_call_packer *ts_call_packer_new(struct ts_call_edges *edges);
void ts_call_packer_free(struct ts_call_packer *p);

/* Add a block of @n calls, 1 to TS_CALL_BLOCK.  Failures are reported by ts_call_packer_finish(). */
void ts_call_packer_add(struct ts_call_packer *p, const struct ts_call *calls, unsigned n);

/*
 * Set *pack to all blocks that were added.
 *
 * Returns false if memory is exhausted.
 * Returns false if the blocks have 4 GiB or more.
 * The caller calls ts_call_pack_fini() in both cases.
 */
bool ts_call_packer_finish(struct ts_call_packer *p, struct ts_call_pack *pack);

void ts_call_pack_fini(struct ts_call_pack *pack);

/*
 * Unpack the calls of block @at to @calls, with pc and target from @edges.  If its bytes are invalid, the
 * index file is marked as damaged.
 *
 * Returns the number of calls and switches.
 */
unsigned ts_call_unpack(const struct ts_call_pack *pack, const struct ts_call_edges *edges, size_t at,
			struct ts_call calls[TS_CALL_BLOCK]);

/*
 * Save a packed segment to an index file, or load it from the file's arrays.
 *
 * ts_call_pack_load() returns false if the arrays contradict each other.  It does not check the threads,
 * ordinals and positions of the blocks: the caller does.
 */
void ts_call_pack_save(const struct ts_call_pack *pack, struct ts_index_file *f);
bool ts_call_pack_load(struct ts_call_pack *pack, struct ts_index_arrays *a);

/* Returns the size of the segment in an index file in bytes, without its constant parts. */
uint64_t ts_call_pack_saved_len(const struct ts_call_pack *pack);

#endif
