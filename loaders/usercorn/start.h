/* SPDX-License-Identifier: MIT */
/*
 * What the ops before the first step say.
 */
#ifndef LOADERS_USERCORN_START_H
#define LOADERS_USERCORN_START_H

#include "trace.h"

/* Facts of a trace from the ops before the first STEP. */
struct ucir_start {
	struct ts_steps *initial; /* receives the leading keyframes' state; NULL: it is only scanned */
	bool seen[UCIR_N_REGS];   /* register numbers that occur */
	bool has_keyframe;
	bool has_jmp;
	bool has_syscall;
	uint64_t n_frames;
};

/*
 * Walk over the trace up to its first STEP; @start (zeros except for initial) receives the facts found there.
 *
 * Returns TS_ITEM at a STEP, TS_END if the trace ends without one, TS_FAIL with @err if it is truncated or
 * damaged before.
 */
enum ts_next ucir_read_start(struct usercorn *rec, struct ucir_start *start, struct ts_error *err);

#endif
