/* SPDX-License-Identifier: MIT */
/*
 * Instructions into ops.  The thread has the turn.
 */
#ifndef TS_RECORDER_STEP_H
#define TS_RECORDER_STEP_H

#include "thread.h"

/* The thread's instruction at @pc of @len bytes begins. */
void ts_step_begin(struct ts_task *t, uint64_t pc, uint8_t len, uint8_t flags);

/* It has accessed @len bytes; @found is what it read. */
void ts_step_read(struct ts_task *t, uint64_t addr, const uint8_t *found, uint32_t len);
void ts_step_wrote(struct ts_task *t, uint64_t addr, uint32_t len);

/*
 * The thread's instruction is over: write it, without registers if they belong to a signal that came then.
 * The next one is at @next.
 */
void ts_step_end(struct ts_task *t, bool has_regs, uint64_t next);

/* Only say that the thread's next instruction is at @next. */
void ts_step_jump(struct ts_task *t, uint64_t next);

#endif
