/* SPDX-License-Identifier: MIT */
/*
 * The calls of a segment, packed into blocks that are unpacked alone.
 *
 * A block has up to TS_CALL_BLOCK calls and switches of one thread, as events in order of time: a call is
 * made, the innermost call ends, the thread moves to another stack.  Who called whom and how deep follows
 * from that order; where it does not, an event says which call is the innermost one.  The ends of the block's
 * own calls are in it, those after its last call too; calls of other blocks end there.
 *
 * An event is a symbol: what it is, the edge of the call graph and the steps since the event before it.  A
 * segment has two prefix codes for symbols: for those after the end of a call, and for the others.  The
 * numbers of a rare event follow its symbol, which is then the same for all of its kind.
 */
#ifndef TS_CALL_BLOCK_H
#define TS_CALL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "edges.h"
#include "prefix_code.h"
#include "src/base/buf.h"

struct ts_index_file;
struct ts_index_arrays;
struct ts_index_blocks;

struct ts_call_block {
	uint64_t pos;     /* of its first call */
	uint32_t ordinal; /* of its first call */
	uint32_t thread;
	uint32_t off;       /* in the bytes of its segment */
	uint16_t n, n_ends; /* calls and switches; those of them that end in the segment */
};

struct ts_call_symbol {
	uint32_t edge; /* of a call */
	uint32_t what; /* the kind of event, and above it the steps (call_block.c) */
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
	struct ts_call_block *own_blocks; /* owned; NULL: all belongs to an index file */
	struct ts_call_symbol *own_symbols[TS_CALL_CODES]; /* owned */
	struct ts_buf own_bytes;
};

/* Packs a segment. */
struct ts_call_packer;

/* @edges (borrowed) gets the edges of the calls.  Returns NULL if memory is exhausted. */
struct ts_call_packer *ts_call_packer_new(struct ts_call_edges *edges);
void ts_call_packer_free(struct ts_call_packer *p);

/* Add a block of @n calls, 1 to TS_CALL_BLOCK.  Failures are reported by ts_call_packer_finish(). */
void ts_call_packer_add(struct ts_call_packer *p, const struct ts_call *calls, unsigned n);

/*
 * All blocks were added: *pack gets them.
 *
 * Returns false if memory is exhausted or they have 4 GiB; *pack is then to be freed all the same.
 */
bool ts_call_packer_finish(struct ts_call_packer *p, struct ts_call_pack *pack);

void ts_call_pack_fini(struct ts_call_pack *pack);

/*
 * The calls of block @at, whose pc and target @edges has, to @calls.  If its bytes turn out to be wrong, the
 * index file is marked as damaged.
 *
 * Returns how many they are.
 */
unsigned ts_call_unpack(const struct ts_call_pack *pack, const struct ts_call_edges *edges, size_t at,
			struct ts_call calls[TS_CALL_BLOCK]);

/*
 * To an index file; from there, with its arrays.  Loading returns false if the arrays contradict each other;
 * the blocks' threads, ordinals and positions are the caller's to check.
 */
void ts_call_pack_save(const struct ts_call_pack *pack, struct ts_index_file *f);
bool ts_call_pack_load(struct ts_call_pack *pack, struct ts_index_arrays *a);

/* Bytes of it in an index file, without what does not grow with it. */
uint64_t ts_call_pack_saved_len(const struct ts_call_pack *pack);

#endif
