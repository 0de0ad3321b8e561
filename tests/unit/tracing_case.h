/* SPDX-License-Identifier: MIT */
/*
 * A recording for tests of tracepoints, and what its client sees.
 *
 * The recording is a loop of four instructions at 0x401000 that threads 0 and 1 run in turn.  In round i the
 * first instruction writes i to the four bytes at 0x602000, and the second sets rcx (gdb's register 2) of its
 * thread to 10 + i; rdx is never known.
 */
#ifndef TESTS_TRACING_CASE_H
#define TESTS_TRACING_CASE_H

#include "fake_session.h"

#define N_ROUNDS  8u
#define ROUND_LEN 4u
#define N_STEPS   (N_ROUNDS * ROUND_LEN)

/* "the end of the recording", as the reason why a run has stopped. */
#define END "74686520656e64206f6620746865207265636f7264696e67"

/* A session with the recording, and without a run. */
void begin(void);

/* A new run of these pieces; packets up to NULL. */
void run(const char *const *packets);
#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

/* The positions of all frames, in one line. */
const char *positions(void);

/* The status up to its figures of time. */
const char *status(void);

/* Why tracepoint 1 has ended the run, as the status says it. */
const char *run_error(void);

/* gdb's registers as it gets them; rip is register 16 of 8 bytes each. */
uint64_t reg(unsigned number);

#endif
