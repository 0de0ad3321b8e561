/* SPDX-License-Identifier: MIT */
/*
 * The state of a reader, for reader.c, streak.c (steps of usual blocks) and skim.c (skips blocks).
 */
#ifndef X64DBG_READER_PARTS_H
#define X64DBG_READER_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "block.h"
#include "blocks.h"
#include "form.h"
#include "insn.h"
#include "loaders/kit/threads.h"
#include "regs.h"
#include "src/trace/step.h"
#include "x64dbg.h"

struct x64dbg_streak {
	bool is_on;
	struct x64dbg_insns *insns; /* borrowed */
	struct x64dbg_regs *regs;   /* borrowed; the registers before the instruction of cur */
	uint32_t thread;            /* of all blocks */
	uint32_t window;            /* as of struct x64dbg_reader */
	const uint8_t *last;        /* blocks that begin after this place do not belong to the streak */
	const uint8_t *cur_p;       /* the block of the next step; valid after the first step of the streak */
	struct x64dbg_insn *cur;    /* the instruction of the next step */
	const uint8_t *ahead_p, *end; /* the block after it, and the end of that block */
	struct x64dbg_insn *ahead;
	const struct x64dbg_form *form;
	bool has_memory; /* cur accesses memory, or its block has memory slots */
	/*
	 * the accesses of cur, and the block with its memory slots: my_accesses and my_slots, or the reader's
	 * at first
	 */
	const struct x64dbg_accesses *accesses;
	const struct x64dbg_block *slots;
	struct x64dbg_accesses my_accesses;
	struct x64dbg_block my_slots; /* n_mem and mem only */
};

/*
 * Begin a streak.  The caller has set the borrowed members, thread, window, last, cur, accesses and slots of
 * @k.  The block at @p has the instruction @insn.  There must be no effect to append between cur and that
 * block.
 *
 * Returns false if the block at @p is not usual.
 */
bool x64dbg_streak_begin(struct x64dbg_streak *k, const uint8_t *p, struct x64dbg_insn *insn);

/*
 * Append the step that leads to the block ahead.
 *
 * Returns false, with nothing changed, if the block after that is not usual.
 */
bool x64dbg_streak_step(struct x64dbg_streak *k, struct ts_steps *out);

/* Maximal distance of a mark from the mark before it, in steps. */
#define X64DBG_MARK_STEPS 1024u

enum x64dbg_gap {
	X64DBG_GAP_NONE,
	X64DBG_GAP_RETRY,   /* the instruction did not complete, and is tried again */
	X64DBG_GAP_OVER,    /* a call was stepped over */
	X64DBG_GAP_BREAK,   /* the next block is not a successor */
	X64DBG_GAP_SESSION, /* the next block begins a session */
};

/* A block that has been read and is not yet a step. */
struct x64dbg_stage {
	struct x64dbg_located_block at;
	/* set by arrive() */
	bool is_alone; /* the previous block belongs to another thread */
	uint32_t thread;
	enum x64dbg_gap gap; /* after the block */
	uint64_t count; /* remaining iterations of a repeated instruction */
	uint64_t count_mask; /* 0: the instruction is not repeated */
	bool is_down; /* the addresses of iterations descend */
	struct x64dbg_insn *insn; /* in the cache, until the next block is read */
	struct x64dbg_accesses accesses;
};

struct x64dbg_mark {
	uint64_t off;
	uint64_t n_steps;
	uint64_t session_at;
	uint32_t tid;
	uint32_t n_threads;
	bool is_shifted;
	bool is_session;
	bool is_alone;
	bool has_regs; /* regs is valid; false: the block at off has all registers */
	struct x64dbg_regs regs;
};

struct x64dbg_reader {
	struct ts_reader base;
	struct x64dbg *rec; /* borrowed */
	struct x64dbg_insns insns;
	struct x64dbg_blocks blocks;
	struct x64dbg_stage stages[3];
	struct x64dbg_stage *cur, *ahead, *after; /* the instruction of the next step; the two blocks after it */
	enum ts_next ahead_state;
	struct ts_error ahead_err; /* of TS_FAIL, else empty */
	/* while streak.is_on, it has the current blocks, and the stages are those at its beginning */
	struct x64dbg_streak streak;
	struct x64dbg_regs regs;
	uint64_t streak_from; /* n_steps at the beginning of the streak */
	uint64_t n_steps, skip; /* steps made; steps made since the mark */
	uint32_t window;        /* changes with each mark and gap */
	struct threads threads;
	uint32_t n_threads;     /* threads found so far */
	uint32_t thread, thread_tid;
	bool is_done;           /* the last block has become a step */
	struct x64dbg_mark mark;
	struct x64dbg_skim {
		bool is_on;     /* skip() has skipped blocks: only mark, n_steps, skip and the members below are valid */
		uint64_t off;   /* of the block after the current one */
		uint32_t tid;   /* of the block at off */
		uint64_t session_at;
	} skim;
};

/*
 * Skip up to @n blocks of which only the lengths and the threads are needed.  Updates skim, mark, n_steps and
 * skip of @r.
 *
 * Returns the number of blocks that were skipped; 0 if the next one must be read.
 */
uint64_t x64dbg_skim(struct x64dbg_reader *r, uint64_t n);

#endif
