/* SPDX-License-Identifier: MIT */
/*
 * A thread of the program as the plugin knows it: the instruction that it executes, and the system call it is
 * in.
 */
#ifndef TS_RECORDER_THREAD_H
#define TS_RECORDER_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "guest.h"
#include "out.h"
#include "regs.h"
#include "ring.h"

struct ts_turn_taker {
	_Atomic unsigned n_used; /* instructions of this turn */
	_Atomic bool is_inside;  /* of a callback */
};

/*
 * A callback of @t begins, and ends.  QEMU 9 does not let a thread that waits leave its callback, though QEMU
 * may want all threads to stop, among them the one that has the turn: whoever waits takes the turn from a
 * thread that does nothing and is in no callback.  Returns whether @t has the turn.
 */
bool ts_turn_enter(struct ts_turn_taker *t);
void ts_turn_leave(struct ts_turn_taker *t);

/* Does @t have the turn? */
bool ts_turn_is_of(const struct ts_turn_taker *t);

/* Wait for the turn: as long as it takes, or at most two milliseconds.  Returns whether @t has it. */
void ts_turn_take(struct ts_turn_taker *t);
bool ts_turn_try(struct ts_turn_taker *t);

/* Give it to whoever waits. */
void ts_turn_give(struct ts_turn_taker *t);

/* Has @t run for long enough, while another thread waits?  Counts an instruction. */
bool ts_turn_is_over(struct ts_turn_taker *t);

#define TS_MAX_ACCESSES 512u
#define TS_N_ARGS 6u

struct ts_access {
	uint64_t addr;
	uint32_t len;
	uint8_t kind;      /* UCIR_READ, _WRITE, _CHANGED */
	uint8_t bytes[16]; /* CHANGED */
};

struct ts_call {
	int num;
	uint64_t args[TS_N_ARGS];
	int64_t ret;
	struct ts_op_piece ops; /* what it changed in memory */
	bool is_over;        /* it has returned, but is not written yet: its registers change until the next instruction */
};

struct ts_task {
	struct ts_turn_taker turn;
	void *cpu;    /* QEMU's; borrowed */
	uint64_t pid; /* process << 32 | thread */
	struct ts_values values;
	bool is_new;  /* its keyframe is not written yet */

	/* The instruction that has begun. */
	bool has_step;
	uint64_t pc;
	uint8_t len, flags; /* TS_INSN_... */
	unsigned n_accesses;
	struct ts_access accesses[TS_MAX_ACCESSES];

	uint64_t at;   /* its pc according to the ops written so far */
	bool is_stale; /* all registers must be compared */
	bool is_exiting;
	struct ts_call call;
	struct ts_ring_call *in_flight; /* the call's entry in the ring; NULL: none */
};

#endif
