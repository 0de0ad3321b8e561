/* SPDX-License-Identifier: MIT */
/*
 * The frames of a run of tracepoints, as they are collected: each is a position and ranges, some tens of
 * bytes.
 *
 * Frames are added in order of their positions.  The frames of each instruction and of each tracepoint are
 * indexed, so that the search for the next one takes constant time.  A store may be limited, like a
 * trace buffer, by the bytes that its frames would take in a trace file; a circular store then drops its oldest
 * frames.
 */
#ifndef RSP_FRAME_STORE_H
#define RSP_FRAME_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/frames/frames.h"

/* Limits on the range that one action collects, and on all ranges of a frame, in bytes. */
#define RSP_MAX_RANGE    (UINT32_C(1) << 20)
#define RSP_MAX_IN_FRAME (UINT64_C(16) << 20)

struct stored_frame;
struct stored_item;

/* The frames with one key: a pc, or a tracepoint's number. */
struct rsp_frame_set {
	uint64_t key;
	uint32_t *ids; /* owned; ascending, frames counted from the first ever made */
	uint32_t n;
	size_t cap;
};

struct rsp_frame_sets {
	struct rsp_frame_set *items; /* owned; by key */
	size_t n, cap, last;         /* last: the item of the last look-up */
};

/* The memory of the frames of several stores, in bytes. */
struct rsp_frame_budget {
	uint64_t max;  /* UINT64_MAX: any */
	uint64_t used; /* kept by the stores */
};

struct rsp_frame_store {
	struct ts_frames frames; /* first member: the public part; n_frames of them */
	struct stored_frame *stored; /* owned; the oldest ones may have been dropped */
	size_t n_stored, cap_stored, n_dropped;
	uint64_t first_id;           /* of stored[0] */
	struct stored_item *items;   /* owned */
	size_t n_items, cap_items;
	uint64_t first_item;         /* the number of items[0] in frames */
	struct rsp_frame_sets by_pc, by_number;
	uint64_t max_bytes, n_bytes; /* TS_NO_COUNT: any number */
	bool is_circular;
	struct rsp_frame_budget *budget; /* borrowed; NULL: none; kept by a reset */
	uint64_t counted;            /* bytes that are charged to the budget */
	uint64_t in_frame;           /* bytes in ranges of the open frame */
};

void rsp_frame_store_init(struct rsp_frame_store *st);
void rsp_frame_store_fini(struct rsp_frame_store *st);

/* Share @budget (borrowed, outlives the store) with other stores.  The store is empty. */
void rsp_frame_store_bound(struct rsp_frame_store *st, struct rsp_frame_budget *budget);

/* The maximum size in bytes: the limit of each run, or half of the budget, because arrays double. */
uint64_t rsp_frame_store_limit(const struct rsp_frame_store *st);

/* Is the limit of the store or of the budget reached?  Then open, range and var fail. */
bool rsp_frame_store_is_full(const struct rsp_frame_store *st);

/* Empty the store, and limit it to @max_bytes (TS_NO_COUNT: no limit). */
void rsp_frame_store_reset(struct rsp_frame_store *st, uint64_t max_bytes, bool is_circular);

/* The number of frames ever made. */
uint64_t rsp_frame_store_created(const struct rsp_frame_store *st);

/*
 * Open a frame of tracepoint @number at @pos, which must not be before the last one; then add its contents.
 * Return false if memory is exhausted or the frame gets too large.
 */
bool rsp_frame_store_open(struct rsp_frame_store *st, uint64_t pos, uint64_t pc, uint32_t number,
			  bool is_step);
void rsp_frame_store_regs(struct rsp_frame_store *st, uint32_t g_len);
bool rsp_frame_store_range(struct rsp_frame_store *st, uint64_t addr, uint64_t len);
bool rsp_frame_store_var(struct rsp_frame_store *st, uint32_t number, int64_t value);

/*
 * Close the open frame; *bytes is set to its size in a trace file.
 *
 * Returns false, and drops the frame, if it does not fit.
 */
bool rsp_frame_store_close(struct rsp_frame_store *st, uint64_t *bytes);

/*
 * The first frame >= @from with a pc in [first, last], or with @is_outside one that is not; TS_NO_FRAME if
 * no frame is so.
 */
uint64_t rsp_frame_store_next_pc(const struct rsp_frame_store *st, uint64_t first, uint64_t last,
				 bool is_outside, uint64_t from);

#endif
