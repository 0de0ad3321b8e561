/* SPDX-License-Identifier: MIT */
/*
 * Collects ops into frames.  A frame has the ops of one thread, until an op of another thread follows or the
 * frame is full.  Both recorders use it.
 */
#ifndef TS_RECORD_OP_FRAMES_H
#define TS_RECORD_OP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op_piece.h"

#define TS_OP_FRAMES_CAP 131072u

struct ts_op_frames {
	/* Takes bytes of the stream; returns false if no more are wanted. */
	bool (*put)(void *user, const uint8_t *bytes, size_t len);
	/* Called when the output so far ends with a frame or a note, and no frame is open; may be NULL. */
	void (*sealed)(void *user);
	void *user;
	bool is_ended; /* put() returned false */
	uint64_t pid;  /* of the open frame */
	uint32_t n_ops;
	size_t len, cap;
	uint8_t *ops;  /* borrowed; cap bytes, of which the open frame has len */
};

/* Send the open frame. */
void ts_op_frames_close(struct ts_op_frames *f);

/*
 * Reserve @len bytes of ops, at most f->cap, in the open frame of thread @pid.  The open frame of another
 * thread is closed.
 *
 * Returns the address of the bytes, valid until the next call.
 */
static inline uint8_t *ts_op_frames_room(struct ts_op_frames *f, uint64_t pid, size_t len)
{
	if (f->pid != pid || f->cap - f->len < len) {
		ts_op_frames_close(f);
		f->pid = pid;
	}
	return f->ops + f->len;
}

/* End the writing: the bytes written end at @end and are @n_ops ops. */
static inline void ts_op_frames_done(struct ts_op_frames *f, const uint8_t *end, uint32_t n_ops)
{
	f->len = (size_t)(end - f->ops);
	f->n_ops += n_ops;
}

/* Are the ops of @p few enough for the open frame?  Otherwise they are a frame of their own. */
static inline bool ts_op_frames_has_room(const struct ts_op_frames *f, const struct ts_op_piece *p)
{
	return p->len < f->cap / 2;
}

/* The ops of @p as a frame of @kind (FRAME, KEYFRAME), or in the open one if they fit. */
void ts_op_frames_piece(struct ts_op_frames *f, uint64_t pid, uint8_t kind, const struct ts_op_piece *p);

/* Write a NOTE at stream level; an open frame is closed. */
void ts_op_frames_note(struct ts_op_frames *f, uint8_t key, const void *bytes, uint32_t len);

#endif
