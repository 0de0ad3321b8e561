/* SPDX-License-Identifier: MIT */
/*
 * The state of a reader: for reader.c, which makes steps of blocks, and skim.c, which passes blocks.
 */
#ifndef X64DBG_READER_PARTS_H
#define X64DBG_READER_PARTS_H

#include "access.h"
#include "blocks.h"
#include "insn.h"
#include "loaders/kit/threads.h"
#include "streak.h"
#include "x64dbg.h"

/* Maximal distance of a mark from the mark before it, in steps. */
#define X64DBG_MARK_STEPS 1024u

enum x64dbg_gap {
	X64DBG_GAP_NONE,
	X64DBG_GAP_RETRY,   /* the instruction did not complete, and is tried again */
	X64DBG_GAP_OVER,    /* a call was stepped over */
	X64DBG_GAP_BREAK,   /* the next block is not a successor */
	X64DBG_GAP_SESSION, /* the next block begins a session */
};

/* A block on its way. */
struct x64dbg_stage {
	struct x64dbg_located_block at;
	/* as of arrive() */
	bool is_alone; /* the block before is another thread's */
	uint32_t thread;
	enum x64dbg_gap gap; /* after it */
	uint64_t count; /* iterations to go */
	uint64_t count_mask; /* 0: it is not repeated */
	bool is_down; /* iterations go to lower addresses */
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
	bool has_regs; /* else the block has them */
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
	/* while it is on, the blocks in sight are its own, and the stages are those of when it began */
	struct x64dbg_streak streak;
	struct x64dbg_regs regs;
	uint64_t streak_from; /* n_steps when it began */
	uint64_t n_steps, skip; /* steps made; since the mark */
	uint32_t window;        /* changes with each mark and gap */
	struct threads threads;
	uint32_t n_threads;     /* seen so far */
	uint32_t thread, thread_tid;
	bool is_done;           /* the last block was made a step */
	struct x64dbg_mark mark;
	struct x64dbg_skim {
		bool is_on;     /* skip() passed blocks, and has kept only the mark, n_steps and skip: */
		uint64_t off; /* of the block after the one where the reader stands, which is of this thread:
			       */
		uint32_t tid;
		uint64_t session_at;
	} skim;
};

/*
 * Pass up to @n blocks of which nothing but the lengths and the threads is needed: skim, mark, n_steps and skip of @r go on.
 *
 * Returns how many it passed: 0 if the next one cannot be passed so.
 */
uint64_t x64dbg_skim(struct x64dbg_reader *r, uint64_t n);

#endif
