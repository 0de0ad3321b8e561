/* SPDX-License-Identifier: MIT */
/*
 * A streak of usual blocks, and the steps between them: the straight path for nearly all of a trace.
 *
 * A block is usual if it has a form of the instruction that came after the one before it when that was read
 * before, and if that instruction can follow.  It is read where it lies in the window: nothing is copied but
 * what becomes an effect.  Whatever else a block may be, the streak ends before it, and the reader goes on
 * block by block (reader.c), where the same blocks would give the same steps.
 *
 * While a streak is on, the window does not move and no instruction is decoded, so that pointers into both
 * stay.
 */
#ifndef LOADERS_X64DBG_STREAK_H
#define LOADERS_X64DBG_STREAK_H

#include <stdbool.h>
#include <stdint.h>

#include "access.h"
#include "block.h"
#include "form.h"
#include "insn.h"
#include "regs.h"
#include "src/trace/step.h"

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

#endif
