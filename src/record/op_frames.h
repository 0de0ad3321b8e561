/* SPDX-License-Identifier: MIT */
/*
 * Ops into frames: what one thread does goes into a frame until another thread's op comes or it is full.  Both recorders
 * use it.
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

/* Room for @len bytes of ops (at most f->cap) of thread @pid in its open frame; another thread's is closed. */
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

/* Do the ops of @p go into the open frame?  Longer ones are a frame of their own. */
static inline bool ts_op_frames_has_room(const struct ts_op_frames *f, const struct ts_op_piece *p)
{
	return p->len < f->cap / 2;
}

/* The ops of @p as a frame of @kind (FRAME, KEYFRAME), or in the open one if they fit. */
void ts_op_frames_piece(struct ts_op_frames *f, uint64_t pid, uint8_t kind, const struct ts_op_piece *p);

void ts_op_frames_note(struct ts_op_frames *f, uint8_t key, const void *bytes, uint32_t len);

#endif
