/* SPDX-License-Identifier: MIT */
/*
 * The state of the program at its end: system calls that did not return, and the signal that killed it.
 */
#ifndef TS_UNFINISHED_H
#define TS_UNFINISHED_H

#include <stdbool.h>

#include "emulator.h"
#include "loaders/usercorn/write.h"
#include "src/base/error.h"
#include "src/recorder/ring.h"

/*
 * After the program has ended with @status of waitpid() and its last frame was written: write a frame for each call
 * that has not returned, then one for the signal, if it is in the ring.
 *
 * Returns false if the file cannot be written (TS_EIO).
 */
bool ts_unfinished_add(struct ucir_writer *w, const struct ts_ring *ring, const struct ts_emulated *e, int status,
		       struct ts_error *err);

#endif
