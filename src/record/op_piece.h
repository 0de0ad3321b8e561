/* SPDX-License-Identifier: MIT */
/*
 * Ops that are put together before they are written: keyframes, system calls, signals.  Both recorders use it.
 */
#ifndef TS_RECORD_OP_PIECE_H
#define TS_RECORD_OP_PIECE_H

#include <stddef.h>
#include <stdint.h>

struct ts_op_piece {
	uint8_t *bytes; /* owned */
	size_t len, cap;
	uint32_t n_ops; /* direct children */
};

/* Room for @len more bytes at the end.  Returns NULL if memory is exhausted; the piece is then as before. */
uint8_t *ts_op_piece_room(struct ts_op_piece *p, size_t len);

/* End the writing: the bytes written end at @end and are one more op. */
void ts_op_piece_done(struct ts_op_piece *p, const uint8_t *end);
void ts_op_piece_reset(struct ts_op_piece *p);
void ts_op_piece_fini(struct ts_op_piece *p);

#endif
