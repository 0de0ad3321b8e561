/* SPDX-License-Identifier: MIT */
/*
 * Trace frames: what a run of tracepoints collected, each frame a position and what of it was collected.
 *
 * A frame holds no copies of registers and memory: they are those of its position (query.h), as far as they
 * were collected.  struct ts_frames_ops is implemented by a recording that tracepoints made, by a run over a
 * recording (protocol/), and for any recording, whose frame k is position k.
 */
#ifndef TS_FRAMES_H
#define TS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/base/error.h"

struct ts_query;

#define TS_NO_FRAME UINT64_MAX

/* Collected memory; addr + len <= 2^64. */
struct ts_range {
	uint64_t addr, len;
};

struct ts_frame_var {
	uint32_t number;
	int64_t value;
};

/* One frame; caller-owned and refilled. */
struct ts_frame {
	uint64_t pos;
	uint32_t tracepoint; /* its number */
	bool is_whole;       /* the frame has all that is known at the position; it has no ranges then */
	bool has_regs;       /* the registers are in the frame, as far as they are known */
	bool has_pc;         /* the position's pc may be shown, also without registers */
	bool is_step;        /* of while-stepping: not at the tracepoint but after it */
	struct ts_range *ranges;   /* owned; memory in the frame, in the order of collection; may overlap */
	size_t n_ranges, cap_ranges;
	struct ts_frame_var *vars; /* owned; in the order of collection: the last value of a number counts */
	size_t n_vars, cap_vars;
	bool is_failed;      /* memory ran out while it was filled */
};

struct ts_frames;

struct ts_frames_ops {
	/*
	 * Fill @out, which was reset, with frame @n (below n_frames).
	 *
	 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
	 * Returns false if memory is exhausted (the caller checks out->is_failed).
	 */
	bool (*get)(struct ts_frames *f, uint64_t n, struct ts_frame *out, struct ts_error *err);

	/*
	 * The position of frame @n.  Frames are sorted by position; several may have the same position.
	 */
	uint64_t (*pos)(const struct ts_frames *f, uint64_t n);

	/* The first frame >= @from of tracepoint @number, TS_NO_FRAME if the tracepoint has no later frame. */
	uint64_t (*next_of)(const struct ts_frames *f, uint32_t number, uint64_t from);
};

/* Embedded as the first member in the struct of an implementation. */
struct ts_frames {
	const struct ts_frames_ops *ops;
	uint64_t n_frames;
};

void ts_frame_init(struct ts_frame *f);
void ts_frame_fini(struct ts_frame *f);

/* Empty it, keep the memory. */
void ts_frame_reset(struct ts_frame *f);

/* Append; is_failed is set if memory is exhausted. */
void ts_frame_add_range(struct ts_frame *f, uint64_t addr, uint64_t len);
void ts_frame_add_var(struct ts_frame *f, uint32_t number, int64_t value);

/*
 * Frame @n of @f into @out, which is reset before.
 *
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_frames_get(struct ts_frames *f, uint64_t n, struct ts_frame *out, struct ts_error *err);

/*
 * Sort @n ranges by address and join those that overlap or touch; empty ones are removed.  Returns how many
 * are left.
 */
size_t ts_ranges_merge(struct ts_range *ranges, size_t n);

/* Clear @known (1 or 0 a byte, set by a query of @addr) for the bytes that are not in the frame. */
void ts_frame_mask(const struct ts_frame *f, uint64_t addr, size_t len, uint8_t *known);

/* The last value of variable @number in the frame.  Returns false if it was not collected. */
bool ts_frame_value(const struct ts_frame *f, uint32_t number, int64_t *value);

/*
 * Frames of a recording of @n_steps instructions that tracepoint 1 made by stepping: frame k is position k,
 * 0..N.
 */
void ts_frames_of_steps(struct ts_frames *f, uint64_t n_steps);

#endif
