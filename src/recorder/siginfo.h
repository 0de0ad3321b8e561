/* SPDX-License-Identifier: MIT */
/*
 * The siginfo of the signal that ends the program.  QEMU calls no callback when that happens, so the handlers
 * that it has for the host's signals are called through one here, which keeps what came last in the ring.
 */
#ifndef TS_RECORDER_SIGINFO_H
#define TS_RECORDER_SIGINFO_H

#include <stdbool.h>
#include <stdint.h>

/* Put the handler before those of QEMU, wherever it is not there yet: after each change of a handler. */
void ts_siginfo_watch(void);

/* The calling thread is in the recording: a signal that it takes is told of it. */
void ts_siginfo_begin_thread(void);

/*
 * The code and the address of the failed access that the host told this thread of, if that was the last signal from the host
 * and is guest signal @num.  Told once.
 */
bool ts_siginfo_last(int num, int32_t *code, uint64_t *addr);

#endif
