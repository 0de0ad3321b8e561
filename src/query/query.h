/* SPDX-License-Identifier: MIT */
/*
 * The questions to a timeline: registers, memory and steps at a position.  The only door for protocol and
 * exporter.
 *
 * A query object owns a reader and a small cache of decoded chunks, shared by all who ask through it; it is
 * used by one thread at a time.  Nothing costs more the longer the recording is: a look-up in the index and
 * the decode of a chunk.
 */
#ifndef TS_QUERY_H
#define TS_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/timeline/timeline.h"

struct ts_query;

/*
 * Questions to @tl (borrowed; must outlive it), of which at least a part has been read.
 *
 * Returns NULL if the recording cannot be read (TS_EIO) or memory is exhausted.
 */
struct ts_query *ts_query_new(const struct ts_timeline *tl, struct ts_error *err);
void ts_query_free(struct ts_query *q);

/* More has been read: what was unknown may be known. */
void ts_query_forget(struct ts_query *q);

const struct ts_timeline *ts_query_timeline(const struct ts_query *q);

/*
 * The first @n_steps steps of a chunk, decoded, or all if it has fewer: step i is step chunk * TS_CHUNK_STEPS
 * + i of the recording.
 *
 * Returns the batch, which may hold more of them, borrowed until the next question; NULL if the trace cannot
 * be read any more.
 */
const struct ts_steps *ts_query_chunk(struct ts_query *q, uint64_t chunk, uint32_t n_steps,
				      struct ts_error *err);

/*
 * Step @pos, which must be below N: *batch gets the chunk that holds its effects (borrowed as above).
 *
 * Returns it, NULL if the trace cannot be read any more.
 */
const struct ts_step *ts_query_step(struct ts_query *q, uint64_t pos, const struct ts_steps **batch,
				    struct ts_error *err);

/* The thread that runs at position @pos: that of step @pos; at N that of the last step. */
uint32_t ts_query_thread(const struct ts_query *q, uint64_t pos);

/*
 * The address of the instruction that @thread executes next at position @pos; *has_pc is false where no step
 * tells.
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_query_pc(struct ts_query *q, uint64_t pos, uint32_t thread, uint64_t *pc, bool *has_pc,
		 struct ts_error *err);

/*
 * The registers of @thread at @pos in the 'g' layout: regs.g_len bytes to @data and to @known (1 or 0 a
 * byte).
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_query_regs(struct ts_query *q, uint64_t pos, uint32_t thread, uint8_t *data, uint8_t *known,
		   struct ts_error *err);

/*
 * Memory of @process at @pos: @len bytes at @addr to @data and @known (1 or 0 a byte; data is 0 where
 * unknown).  What passes the end of the address space is unknown.
 *
 * Returns false if the trace cannot be read any more.
 */
bool ts_query_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		  uint8_t *data, uint8_t *known, struct ts_error *err);

/*
 * Of a byte in a window: something unknown was written in this chunk; if what comes next is a read, it shows
 * what.
 */
#define TS_LOST 2

/*
 * A window on memory that is carried through the effects of a chunk, for those that look inside steps
 * (search.c).  addr + len does not pass the end of the address space, len is not 0, the process has run.
 */
struct ts_view {
	const struct ts_timeline *tl;
	uint32_t process;
	uint64_t addr;
	size_t len;
	uint8_t *data, *known; /* borrowed; the bytes before the next effect, each 0, 1, or TS_LOST */
	uint32_t n_layers;     /* of the process's space, before the next effect */
};

/*
 * Where a memory effect overlaps the window: *lo to *hi, both inclusive.  False: nowhere, or it is no memory
 * effect.
 */
static inline bool ts_view_overlap(const struct ts_view *v, const struct ts_effect *e, uint64_t *lo,
				   uint64_t *hi)
{
	uint64_t last = v->addr + (v->len - 1), e_last = e->addr + (e->len - 1);

	if (e->kind < TS_FX_WRITE || e->kind > TS_FX_FORGET || !e->len)
		return false;
	*lo = v->addr > e->addr ? v->addr : e->addr;
	*hi = last < e_last ? last : e_last;
	return *lo <= *hi;
}

/* Go to the first position of a chunk. */
void ts_view_start(struct ts_view *v, uint64_t chunk);

/* Take the next effect in.  All effects of the window's process come here, in order, in the window or not. */
void ts_view_replay(struct ts_view *v, const struct ts_steps *b, const struct ts_effect *e);

#endif
