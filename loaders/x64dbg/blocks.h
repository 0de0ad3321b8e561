/* SPDX-License-Identifier: MIT */
/*
 * The instruction blocks of a trace in order.  Blocks of plugins and damaged parts are skipped, and thread ids that no flag
 * announces are found.
 */
#ifndef LOADERS_X64DBG_BLOCKS_H
#define LOADERS_X64DBG_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "insn.h"
#include "loaders/kit/window.h"
#include "src/trace/reader.h"
#include "x64dbg.h"

/* A block in its place. */
struct x64dbg_located_block {
	struct x64dbg_block b;
	uint32_t tid;
	bool is_shifted;     /* its thread id is not announced */
	bool is_session;     /* the first block of a session, except for the file's first */
	uint64_t session_at; /* ordinal in its session */
	uint64_t pc;         /* of its instruction; the pc of the previous block if it has none */
	struct x64dbg_insn *insn; /* NULL: it was not looked up; valid while insns->n_decoded is this: */
	uint64_t insn_until;
};

/* Its instruction; valid as x64dbg_insns_at() says. */
static inline struct x64dbg_insn *x64dbg_stop_insn(const struct x64dbg_located_block *s, struct x64dbg_insns *insns)
{
	return s->insn && s->insn_until == insns->n_decoded
		       ? s->insn
		       : x64dbg_insns_at(insns, s->pc, s->b.opcode, s->b.n_opcode);
}

/* Places that were tried and led to nothing: a power of two. */
#define X64DBG_N_FAILED 256u

struct x64dbg_blocks {
	struct x64dbg *rec;         /* borrowed */
	struct x64dbg_insns *insns; /* borrowed */
	struct ts_window window;
	struct ts_window ahead; /* for looking ahead past the window, which stays */
	uint64_t file_len;
	uint64_t off;            /* of the next block */
	uint64_t pc, session_at; /* of the one before it */
	uint32_t tid;
	struct x64dbg_insn *insn; /* NULL: it was not looked up, or a thread id may follow */
	bool follows_flag;
	bool is_first;              /* none has been read */
	uint64_t bad_off, good_off; /* offsets of damage and of the next good block; good_off 0: there is none */
	struct ts_error io;         /* the error of reading while looking ahead */
	uint64_t failed[X64DBG_N_FAILED];
	struct x64dbg_block scratch;
};

/* At the first block of the file.  Reads nothing yet. */
void x64dbg_blocks_init(struct x64dbg_blocks *bl, struct x64dbg *rec, struct x64dbg_insns *insns);
void x64dbg_blocks_fini(struct x64dbg_blocks *bl);

/*
 * The next block.
 *
 * Returns TS_END after the last one; TS_FAIL if the file ends inside it (TS_ETRUNC), if it contradicts the
 * format and no later block can be found (TS_ECORRUPT), or if the file cannot be read (TS_EIO, TS_ENOMEM).
 */
enum ts_next x64dbg_blocks_next(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, struct ts_error *err);

/* The next block is the one after @s. */
void x64dbg_blocks_pass(struct x64dbg_blocks *bl, const struct x64dbg_located_block *s);

/*
 * Read a block again: of @s its b.off, tid, is_shifted, is_session and session_at are given, and @pc is that
 * of the block before.  The next block is the one after it.
 *
 * Returns false as x64dbg_blocks_next() fails.
 */
bool x64dbg_blocks_again(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, uint64_t pc, struct ts_error *err);

#endif
