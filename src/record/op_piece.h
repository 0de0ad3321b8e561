/* SPDX-License-Identifier: MIT */
/*
 * Ops that are assembled before they are written: keyframes, system calls, signals.  Both recorders use it.
 *
 * The functions that append an op return false if memory is exhausted.  The piece is then unchanged.
 */
#ifndef TS_RECORD_OP_PIECE_H
#define TS_RECORD_OP_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "regions.h"

struct ts_op_piece {
	uint8_t *bytes; /* owned */
	size_t len, cap;
	uint32_t n_ops; /* direct children */
};

/*
 * Reserve @len bytes at the end.
 *
 * Returns their address, valid until the next call; NULL if memory is exhausted.
 */
uint8_t *ts_op_piece_room(struct ts_op_piece *p, size_t len);

/*
 * Add the bytes that were written to the reserved space: they end at @end and are @n_ops ops.  Returns true.
 */
bool ts_op_piece_done(struct ts_op_piece *p, const uint8_t *end, uint32_t n_ops);

/* Append the @len bytes of @n_ops ops.  Returns false if memory is exhausted. */
bool ts_op_piece_bytes(struct ts_op_piece *p, const uint8_t *bytes, size_t len, uint32_t n_ops);

/* Append all ops of @more.  Returns false if memory is exhausted. */
bool ts_op_piece_append(struct ts_op_piece *p, const struct ts_op_piece *more);

/* Append a JMP to @pc.  Returns false if memory is exhausted. */
bool ts_op_piece_jmp(struct ts_op_piece *p, uint64_t pc);

/* Append an EXIT: the system call around it does not return.  Returns false if memory is exhausted. */
bool ts_op_piece_exit(struct ts_op_piece *p);

/* Append an UNMAP or FORGET of [@start, @end).  Returns false if memory is exhausted. */
bool ts_op_piece_range(struct ts_op_piece *p, uint8_t kind, uint64_t start, uint64_t end);

/* Append a PROT of [@start, @end).  Returns false if memory is exhausted. */
bool ts_op_piece_prot(struct ts_op_piece *p, uint64_t start, uint64_t end, uint8_t prot);

/* Append a MAP of @r, whose file is @file (NULL or "": none).  Returns false if memory is exhausted. */
bool ts_op_piece_map(struct ts_op_piece *p, const struct ts_region *r, const char *file);

/* Append a WRITE of @len bytes.  Returns false if memory is exhausted. */
bool ts_op_piece_contents(struct ts_op_piece *p, uint64_t addr, const uint8_t *bytes, uint32_t len);

/* Append a WRITE and change the shadow.  The shadow is changed even if memory for the op is exhausted. */
void ts_op_piece_write(struct ts_op_piece *p, uint64_t addr, const uint8_t *bytes, uint32_t len);

/* As ts_op_piece_write(), for those parts of the @len bytes that differ from the shadow. */
void ts_op_piece_differences(struct ts_op_piece *p, uint64_t addr, const uint8_t *bytes, uint64_t len);

#define TS_OP_N_ARGS 6u

/*
 * Append a SYSCALL with the ops of @inner; @args has TS_OP_N_ARGS elements.  Returns false if memory is
 * exhausted.
 */
bool ts_op_piece_syscall(struct ts_op_piece *p, uint32_t num, uint64_t ret, const uint64_t *args,
			 const struct ts_op_piece *inner);

/* Append a SIGNAL with the ops of @inner.  Returns false if memory is exhausted. */
bool ts_op_piece_signal(struct ts_op_piece *p, uint16_t num, int32_t code, uint64_t addr, uint8_t flags,
			const struct ts_op_piece *inner);

/* Append a GAP of @n_insns instructions with the ops of @inner.  Returns false if memory is exhausted. */
bool ts_op_piece_gap(struct ts_op_piece *p, uint64_t n_insns, const struct ts_op_piece *inner);

void ts_op_piece_reset(struct ts_op_piece *p);
void ts_op_piece_fini(struct ts_op_piece *p);

#endif
