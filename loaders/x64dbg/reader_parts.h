/* SPDX-License-Identifier: MIT */
/*
 * The state of a reader: for reader.c, which makes steps of blocks, and skim.c, which passes blocks.
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
	struct x64dbg_regs *regs;   /* borrowed; those before the instruction of cur */
	uint32_t thread, window;    /* of all blocks; in which the bytes of an instruction are told once */
	const uint8_t *last;        /* no block that begins after this place belongs to the streak */
	/* of the next step: where its block is, after a step has been made; its instruction */
	const uint8_t *cur_p;
	struct x64dbg_insn *cur;
	/* the block after it; where the one after that begins */
	const uint8_t *ahead_p, *end;
	struct x64dbg_insn *ahead;
	const struct x64dbg_form *form;
	/*
	 * does cur access memory, or show it; what it accesses, and the memory slots of its block: mine, or
	 * the reader's at first
	 */
	bool has_memory;
	const struct x64dbg_accesses *accesses;
	const struct x64dbg_block *slots;
	struct x64dbg_accesses my_accesses;
	struct x64dbg_block my_slots; /* n_mem and mem only */
};

/*
 * Begin a streak: @k has all that is borrowed, thread, window, last, cur, accesses and slots, and
 * nothing is to be told between the instruction of cur and the block at @p, which is of @insn.
 *
 * Returns false if that is not usual.
 */
bool x64dbg_streak_begin(struct x64dbg_streak *k, const uint8_t *p, struct x64dbg_insn *insn);

/*
 * Append the step that leads to the block ahead.
 *
 * Returns false, having done nothing, if the block after that is not usual.
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
