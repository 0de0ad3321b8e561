/* SPDX-License-Identifier: MIT */
/*
 * What a tracker is made of, for the files of this room.  No other room includes this.
 */
#ifndef TS_CALL_TRACKER_PARTS_H
#define TS_CALL_TRACKER_PARTS_H

#include "calls.h"
#include "linkage.h"
#include "src/arch/arch.h"
#include "src/trace/step.h"
#include "stacks.h"

/* What the thread's next step has to settle. */
enum ts_call_todo {
	TS_TODO_MOVE = 1, /* the stack pointer changed */
	TS_TODO_CALL = 2, /* it may have been a call */
	TS_TODO_LATE = 4, /* it may have been one if the stack pointer, once it shows, is at the site's slot */
	TS_TODO_HELD = 8, /* the innermost call ended, unless its stack is only being resumed */
};

/* A step that may have been a call. */
struct ts_call_site {
	uint64_t pos, pc;
	uint64_t ret;    /* where it would return */
	uint64_t slot;   /* as in ts_open_call */
	uint64_t fall;   /* the next instruction's address */
	bool is_in_slot; /* its delay slot has been executed */
};

struct ts_call_thread {
	unsigned todo; /* enum ts_call_todo bits */
	uint32_t id;
	uint64_t sp, lr;
	bool has_sp, has_lr;
	bool is_loaded; /* the stack pointer's new value was read from memory, or an interrupt of a machine set it */
	bool is_signal; /* the system set it, for the handler of a signal */
	uint8_t top_len;       /* bytes of top_val; 0: nothing is known */
	uint64_t top, top_val; /* where something was last written at the stack pointer, and what */
	uint64_t pos;          /* of its last step */
	struct ts_call_site site;
	uint64_t held_pos; /* TS_TODO_HELD: where the call ended, if it did */
	uint32_t n_held;   /* and how many steps ago */
	struct ts_stacks stacks;
};

struct ts_reg_range {
	uint32_t off, len; /* in the 'g' layout; len 0: there is none */
};

struct ts_call_tracker {
	struct ts_calls *out; /* borrowed */
	struct ts_linkage linkage;
	struct ts_reg_range sp, lr, root;
	uint32_t low, high; /* all of them are in these bytes */
	uint64_t top_mask; /* the bits by which a write is at the stack pointer */
	unsigned below_top; /* as close below it a write may be the one of a call */
	bool is_physical;
	bool is_before;                 /* the last step before another thread's shows its registers later */
	bool is_failed;                 /* memory is exhausted */
	uint64_t space;                 /* the root of the page tables */
	struct ts_call_thread *threads; /* owned; by ordinal */
	uint32_t n_threads;
	uint32_t last; /* that ran */
};

/* The thread, which is added if it is new; NULL if memory is exhausted. */
struct ts_call_thread *ts_call_tracker_thread(struct ts_call_tracker *tr, uint32_t id);

/* No thread is known any more. */
void ts_call_tracker_reset(struct ts_call_tracker *tr);

#endif
