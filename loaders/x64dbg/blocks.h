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

/* A block with its context. */
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

/* Returns the instruction of a block, borrowed from @insns until another one is decoded. */
static inline struct x64dbg_insn *x64dbg_stop_insn(const struct x64dbg_located_block *s, struct x64dbg_insns *insns)
{
	return s->insn && s->insn_until == insns->n_decoded
		       ? s->insn
		       : x64dbg_insns_at(insns, s->pc, s->b.opcode, s->b.n_opcode);
}

/* The size of the cache of offsets at which no block was found: a power of two. */
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
	uint64_t bad_off, good_off; /* offsets of damage and of the next good block; good_off 0: no good block follows */
	struct ts_error io;         /* the error of reading while looking ahead */
	uint64_t failed[X64DBG_N_FAILED];
	struct x64dbg_block scratch;
};

/*
 * Begin at the first block of the file.  @rec and @insns are borrowed until x64dbg_blocks_fini().  Nothing is
 * read yet.
 */
void x64dbg_blocks_init(struct x64dbg_blocks *bl, struct x64dbg *rec, struct x64dbg_insns *insns);
void x64dbg_blocks_fini(struct x64dbg_blocks *bl);

/*
 * Read the next block.
 *
 * Returns TS_ITEM with *s set.
 * Returns TS_END after the last block.
 * Returns TS_FAIL if the file ends inside the block (TS_ETRUNC).
 * Returns TS_FAIL if the block is malformed and no later block is found (TS_ECORRUPT).
 * Returns TS_FAIL if the file cannot be read (TS_EIO).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next x64dbg_blocks_next(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, struct ts_error *err);

/* Continue with the block after @s. */
void x64dbg_blocks_pass(struct x64dbg_blocks *bl, const struct x64dbg_located_block *s);

/*
 * Read a block again and continue after it.  The caller has set b.off, tid, is_shifted, is_session and
 * session_at of *s.  @pc is the pc of the previous block.
 *
 * Returns false where x64dbg_blocks_next() returns TS_FAIL.
 */
bool x64dbg_blocks_again(struct x64dbg_blocks *bl, struct x64dbg_located_block *s, uint64_t pc, struct ts_error *err);

#endif
