/* SPDX-License-Identifier: MIT */
/*
 * Writes x64dbg traces for tests, by the format's description: block by block as a test spells it out, or
 * from the stops of an execution as the recorders do it.
 */
#ifndef TS_TESTS_X64DBG_WRITER_H
#define TS_TESTS_X64DBG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"

/* ---------------------------------------------------------------------------------------- block by block */

#define XW_MAX_REGS 216
#define XW_MAX_MEM 32

struct xw_mem {
	uint64_t addr, old, now;
};

/* A block as a test spells it out. */
struct xw_block {
	bool has_tid;   /* the id is written */
	bool is_flagged; /* and announced */
	uint32_t tid;
	uint8_t opcode[16];
	unsigned n_opcode;
	struct {
		unsigned slot;
		uint64_t value;
	} regs[XW_MAX_REGS];
	unsigned n_regs;
	struct xw_mem mem[XW_MAX_MEM];
	unsigned n_mem;
};

/* The head; @json NULL: a usual one. */
void xw_head(struct ts_buf *file, bool is_64, const char *json);
void xw_put_block(struct ts_buf *file, bool is_64, const struct xw_block *b);
void xw_user_block(struct ts_buf *file, uint8_t type, const void *data, uint32_t len);

/* An empty block of the instruction at @pc, given as bytes in a string. */
struct xw_block xw_insn(bool is_64, uint64_t pc, const void *opcode, unsigned len);
void xw_reg(struct xw_block *b, unsigned slot, uint64_t value);
void xw_mem(struct xw_block *b, uint64_t addr, uint64_t old, uint64_t now);

/* A block with all registers, of which those of @b have its values and the others are 0; thread id @tid. */
struct xw_block xw_full(bool is_64, const struct xw_block *b, uint32_t tid);

/* -------------------------------------------------------------------------------------- from an execution */

#define XW_RECORD_LEN 1376u

/* What a recorder does that others do not. */
struct xw_era {
	/*
	 * operands that are not spelled out are recorded (since June 2024), and the old word of a push is
	 * wrong
	 */
	bool has_hidden;
	bool has_flag;   /* the thread id after a switch is announced (since July 2026) */
};

/* A stop of a thread before an instruction. */
struct xw_stop {
	uint32_t tid;
	uint8_t record[XW_RECORD_LEN]; /* the register record */
	uint8_t opcode[16];
	unsigned n_opcode;
	struct xw_mem mem[XW_MAX_MEM]; /* now: filled at the next stop */
	unsigned n_mem;
};

struct xw_writer {
	struct ts_buf file; /* owned */
	bool is_64;
	struct xw_era era;
	struct xw_stop before, pending; /* the last written, and the one that waits for the next stop */
	uint64_t n_written, n_stops;
	bool is_after_switch;
};

void xw_start(struct xw_writer *w, bool is_64, struct xw_era era);

/* The next stop: the block of the one before is written. */
void xw_stop(struct xw_writer *w, const struct xw_stop *stop);

/* A session begins: the block that waits is lost, as the recorder does it. */
void xw_new_session(struct xw_writer *w);

#endif
