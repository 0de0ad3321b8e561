/* SPDX-License-Identifier: MIT */
/*
 * The internals of a tracker, private to this room.
 */
#ifndef TS_CALL_TRACKER_PARTS_H
#define TS_CALL_TRACKER_PARTS_H

#include "calls.h"
#include "linkage.h"
#include "src/arch/arch.h"
#include "src/trace/step.h"
#include "stacks.h"

/* Decisions that wait for the thread's next step. */
enum ts_call_todo {
	TS_TODO_MOVE = 1, /* the stack pointer changed */
	TS_TODO_CALL = 2, /* it may have been a call */
	TS_TODO_LATE = 4, /* it may have been a call if the stack pointer, once it is known, is at the site's slot */
	TS_TODO_HELD = 8, /* the innermost call ended, unless its stack is only being resumed */
};

/* A step that may have been a call. */
struct ts_call_site {
	uint64_t pos, pc;
	uint64_t ret;    /* the return address if it is a call */
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
	uint8_t top_len;       /* bytes of top_val; 0: unknown */
	uint64_t top, top_val; /* the address and the value of the last write at the stack pointer */
	uint64_t pos;          /* of its last step */
	struct ts_call_site site;
	uint64_t held_pos; /* TS_TODO_HELD: the position of the end, if the call ended */
	uint32_t n_held;   /* and the number of steps since */
	struct ts_stacks stacks;
};

struct ts_reg_range {
	uint32_t off, len; /* in the 'g' layout; len 0: not in the layout */
};

struct ts_call_tracker {
	struct ts_calls *out; /* borrowed */
	struct ts_linkage linkage;
	struct ts_reg_range sp, lr, root;
	uint32_t low, high; /* the range [low, high) of the 'g' layout that contains sp, lr and root */
	uint64_t top_mask; /* the address bits that are compared for a write at the stack pointer */
	unsigned below_top; /* the largest distance below the stack pointer of the write of a call */
	bool is_physical;               /* as of ts_call_tracker_new() */
	bool is_before;                 /* as of ts_call_tracker_new() */
	bool is_failed;                 /* memory is exhausted */
	uint64_t space;                 /* the root of the page tables */
	struct ts_call_thread *threads; /* owned; by ordinal */
	uint32_t n_threads;
	uint32_t last; /* the thread that ran last */
};

/*
 * Returns thread @id, which is added if it is new, borrowed until the next call.
 * Returns NULL if memory is exhausted.
 */
struct ts_call_thread *ts_call_tracker_thread(struct ts_call_tracker *tr, uint32_t id);

/* Remove all threads. */
void ts_call_tracker_reset(struct ts_call_tracker *tr);

#endif
