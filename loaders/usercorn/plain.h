/* SPDX-License-Identifier: MIT */
/*
 * Plain steps, which nearly all are, many at a time.
 *
 * The ops of a plain step are REG, JMP, READ and WRITE, frames of the thread that runs, and one STEP; all of them are
 * in the window, and so is the first byte of what follows, which does not belong to the step.  Its effects and the
 * reader's state are those that next() makes of the same ops.
 */
#ifndef LOADERS_USERCORN_PLAIN_H
#define LOADERS_USERCORN_PLAIN_H

#include "group.h"

/* Append plain steps to @out, at most @max, up to the first step that is not plain. */
void ucir_plain_steps(struct ucir_reader *r, uint32_t max, struct ts_steps *out);

#endif
