/* SPDX-License-Identifier: MIT */
/*
 * The frames of a run of tracepoints, as they are collected: a position and ranges each, some tens of bytes.
 *
 * Frames come in order of their positions.  Which frames an instruction or a tracepoint has is kept beside
 * them, so that the next one is a look-up however many there are.  A store may be limited, as a trace buffer
 * is, by the bytes that its frames would take in a trace file; one that is circular then drops its oldest
 * frames.
 */
#ifndef RSP_FRAME_STORE_H
#define RSP_FRAME_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/frames/frames.h"

/* The longest range that one action may collect, and all ranges of a frame. */
#define RSP_MAX_RANGE    (UINT32_C(1) << 20)
#define RSP_MAX_IN_FRAME (UINT64_C(16) << 20)

struct stored_frame;
struct stored_item;

/* Frames by a number: those of one pc, or of one tracepoint. */
struct rsp_frame_set {
	uint64_t key;
	uint32_t *ids; /* owned; ascending, frames counted from the first ever made */
	uint32_t n, cap;
};

struct rsp_frame_sets {
	struct rsp_frame_set *items; /* owned; by key */
	size_t n, cap, last;         /* last: where one was found */
};

struct rsp_frame_store {
	struct ts_frames frames; /* first: what the others see; n_frames of them */
	struct stored_frame *stored; /* owned; the oldest ones may have been dropped */
	size_t n_stored, cap_stored, n_dropped;
	uint64_t first_id;           /* of stored[0] */
	struct stored_item *items;   /* owned */
	size_t n_items, cap_items;
	uint64_t first_item;         /* what items[0] is called in a frame */
	struct rsp_frame_sets by_pc, by_number;
	uint64_t max_bytes, n_bytes; /* TS_NO_COUNT: any number */
	bool is_circular;
	size_t max_mem;              /* bytes of memory that it may take; stays over a reset */
	uint64_t in_frame;           /* bytes in ranges of the frame that is open */
};

void rsp_frame_store_init(struct rsp_frame_store *st);
void rsp_frame_store_fini(struct rsp_frame_store *st);

/* Use at most @max_mem bytes of memory, or the limit of every run if that is less. */
void rsp_frame_store_bound(struct rsp_frame_store *st, uint64_t max_mem);

/* Is the memory limit reached?  Then open, range and var fail. */
bool rsp_frame_store_is_full(const struct rsp_frame_store *st);

/* Empty, with a limit of @max_bytes (TS_NO_COUNT: none). */
void rsp_frame_store_reset(struct rsp_frame_store *st, uint64_t max_bytes, bool is_circular);

/* Frames ever made. */
uint64_t rsp_frame_store_created(const struct rsp_frame_store *st);

/*
 * Open a frame of tracepoint @number at @pos, at or behind that of the last one; then say what is in it.
 * False: no memory, or too much in one frame.
 */
bool rsp_frame_store_open(struct rsp_frame_store *st, uint64_t pos, uint64_t pc, uint32_t number,
			  bool is_step);
void rsp_frame_store_regs(struct rsp_frame_store *st, uint32_t g_len);
bool rsp_frame_store_range(struct rsp_frame_store *st, uint64_t addr, uint64_t len);
bool rsp_frame_store_var(struct rsp_frame_store *st, uint32_t number, int64_t value);

/*
 * Close it; *bytes gets what it takes in a trace file.
 *
 * Returns false, and it is gone, if it does not fit.
 */
bool rsp_frame_store_close(struct rsp_frame_store *st, uint64_t *bytes);

/*
 * The first frame >= @from with a pc in [first, last], or with @is_outside one that is not; TS_NO_FRAME if
 * there is none.
 */
uint64_t rsp_frame_store_next_pc(const struct rsp_frame_store *st, uint64_t first, uint64_t last,
				 bool is_outside, uint64_t from);

#endif
