/* SPDX-License-Identifier: MIT */
/*
 * Parsing one op of a Usercorn trace.
 *
 * Numbers are little-endian and packed.  In version 0 the lengths of regions and the number of a system call
 * are narrower (in parentheses below).  In version 2 the op count of a system call has 32 bits, and there are
 * more kinds (from 14 on).  tracestub-ucir2(7) defines version 2.
 *
 *   0 NOP
 *   1 FRAME, 2 KEYFRAME   pid u64, op count u32; that many ops follow
 *   3 JMP                 addr u64, block length u32
 *   4 STEP                length u8
 *   5 REG                 number u16, value u64
 *   6 SPREG               number u16, length u16, bytes
 *   7 MEM_READ            addr u64, length u32
 *   8 MEM_WRITE           addr u64, length u32, bytes
 *   9 MEM_MAP             addr u64, length u64 (u32), prot u8, file offset u64, file length u64, lengths of
 *                         both strings u16, description, file
 *  10 MEM_UNMAP           addr u64, length u64 (u32)
 *  11 MEM_PROT            addr u64, length u64 (u32), prot u8
 *  12 SYSCALL             number u32 (u16), return value u64, argument count u8, op count u16 (version 2:
 *                         u32), arguments u64; ops follow
 *  13 EXIT
 *  14 SIGNAL              number u16, code i32, addr u64, flags u8, op count u32; ops follow
 *  15 THREAD_END          status u32
 *  16 FORGET              addr u64, length u64
 *  17 CHANGED             addr u64, length u32, bytes
 *  18 NOTE                key u8, length u32, bytes
 *  19 END                 how u8, value u32
 *  20 GAP                 instructions u64, op count u32; ops follow
 */
#ifndef LOADERS_USERCORN_OPS_H
#define LOADERS_USERCORN_OPS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/base/error.h"
#include "stream.h"

/* Little-endian numbers in bytes that are there. */
static inline uint16_t ucir_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

/* Returns the little-endian number at @p. */
static inline uint32_t ucir_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

/* Returns the little-endian number at @p. */
static inline uint64_t ucir_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

enum ucir_kind {
	UCIR_NOP,
	UCIR_FRAME,
	UCIR_KEYFRAME,
	UCIR_JMP,
	UCIR_STEP,
	UCIR_REG,
	UCIR_SPREG,
	UCIR_READ,
	UCIR_WRITE,
	UCIR_MAP,
	UCIR_UNMAP,
	UCIR_PROT,
	UCIR_SYSCALL,
	UCIR_EXIT,
	UCIR_SIGNAL,
	UCIR_THREAD_END,
	UCIR_FORGET,
	UCIR_CHANGED,
	UCIR_NOTE,
	UCIR_END,
	UCIR_GAP,
	UCIR_N_KINDS
};

/* Flags of a SIGNAL. */
enum ucir_signal_flag {
	UCIR_SIGNAL_HANDLER = 1,  /* a handler runs now */
	UCIR_SIGNAL_KILLED = 2,   /* the signal ended the process */
	UCIR_SIGNAL_FAULT = 4,    /* the STEP before did not complete */
	UCIR_SIGNAL_HAS_CODE = 8,
	UCIR_SIGNAL_HAS_ADDR = 16,
	UCIR_SIGNAL_AT_PC = 32,   /* its address is the thread's pc */
};

/* How a process ended: op->flags of END. */
enum ucir_end_how {
	UCIR_END_EXIT,   /* value: its status */
	UCIR_END_SIGNAL, /* value: the system's number of the signal */
	UCIR_END_EXEC,   /* the process executed another program, which is not recorded */
	UCIR_END_CUT,    /* the recording ended before the process */
	UCIR_N_ENDS
};

/* An op without the ops in it.  Only the members of its kind are set. */
struct ucir_op {
	uint64_t off;  /* in the stream */
	uint64_t addr; /* JMP and memory ops */
	uint64_t len;  /* STEP, SPREG and memory ops: bytes; JMP: a hint */
	uint64_t val;  /* REG, END: the value; SYSCALL: the result; frames: the pid; THREAD_END: the status;
			  GAP: the number of instructions */
	const uint8_t
		*bytes; /* SPREG, WRITE, CHANGED, NOTE: len of them; REG: 8; SYSCALL: n_args u64; valid until the
			   next op */
	uint32_t num;   /* REG, SPREG: register; SYSCALL, SIGNAL: its number; NOTE: key */
	uint32_t n_ops; /* FRAME, KEYFRAME, SYSCALL, SIGNAL, GAP: ops in it */
	int32_t code;   /* SIGNAL */
	uint8_t kind;   /* enum ucir_kind */
	uint8_t prot;   /* MAP, PROT, as recorded */
	uint8_t n_args; /* SYSCALL */
	uint8_t flags;  /* SIGNAL: enum ucir_signal_flag; END: how */
	/* MAP */
	uint64_t file_off, file_len;
	const char *desc, *file; /* not terminated; valid until the next op */
	uint16_t n_desc, n_file;
};

/* Returns the name of a kind, a literal, for messages. */
const char *ucir_kind_name(unsigned kind);

/* Does an op of this kind contain other ops, which follow it: SYSCALL, SIGNAL, GAP, and frames? */
static inline bool ucir_is_holder(unsigned kind)
{
	return kind == UCIR_SYSCALL || kind == UCIR_SIGNAL || kind == UCIR_GAP || kind == UCIR_FRAME ||
	       kind == UCIR_KEYFRAME;
}

/*
 * Read an op of @version (0, 1 or 2) from @s, without the ops in it.
 *
 * Returns true with *op set; @s is then after the op.
 * Returns false if the op is malformed (TS_ECORRUPT).
 * Returns false if the stream ends inside it (TS_ETRUNC).
 * Returns false where ucir_stream_need() returns NULL.
 * After a failure @s is at the op, op->off is set, and op->kind is set if there is a byte.
 */
static inline bool ucir_op_read(struct ucir_stream *s, unsigned version, struct ucir_op *op,
				struct ts_error *err);

/* The slow path of ucir_op_read(), for ops of any kind.  Returns as ucir_op_read() does. */
bool ucir_op_read_any(struct ucir_stream *s, unsigned version, struct ucir_op *op, struct ts_error *err);

/* Length of a STEP, of a REG, of a FRAME, of a JMP, of a READ or WRITE without bytes, and of a WRITE of a word. */
#define UCIR_STEP_LEN 2u
#define UCIR_REG_LEN 11u
#define UCIR_FRAME_LEN 13u
#define UCIR_JMP_LEN 13u
#define UCIR_ACCESS_LEN 13u
#define UCIR_WORD_LEN (13u + 8u)

/*
 * Skip the next WRITEs of a word, each after the @head_len bytes @head, as far as they are in the window and
 * continue in memory from @addr: @max at the most.  Their words go to @data, which has room for them.
 *
 * Returns their number.
 */
uint32_t ucir_ops_write_on(struct ucir_stream *s, const uint8_t *head, size_t head_len, uint64_t addr,
			   uint32_t max, uint8_t *data);

/* Set *op to the REG at @p, all of whose bytes are readable. */
static inline void ucir_op_take_reg(const uint8_t *p, struct ucir_op *op)
{
	op->num = ucir_u16(p + 1);
	op->bytes = p + 3;
	op->val = ucir_u64(p + 3);
}

/* The fast path is for STEP and REG: nearly all ops. */
static inline bool ucir_op_read(struct ucir_stream *s, unsigned version, struct ucir_op *op,
				struct ts_error *err)
{
	size_t left;
	const uint8_t *p = ucir_stream_at_hand(s, &left);

	if (left < UCIR_REG_LEN || (*p != UCIR_STEP && *p != UCIR_REG))
		return ucir_op_read_any(s, version, op, err);
	op->off = ucir_stream_tell(s);
	op->kind = *p;
	if (*p == UCIR_STEP) {
		op->len = p[1];
		ucir_stream_skip(s, UCIR_STEP_LEN);
	} else {
		ucir_op_take_reg(p, op);
		ucir_stream_skip(s, UCIR_REG_LEN);
	}
	return true;
}

#endif
