/* SPDX-License-Identifier: MIT */
/*
 * The choice of the engine that records a program.
 */
#ifndef TS_RECORD_CHOICE_H
#define TS_RECORD_CHOICE_H

#include "recorder.h"

/*
 * Set r->engine for r->program by the options of r->cli: Valgrind for programs of this machine's own processor, unless
 * --with qemu, --qemu, --cpu or --sysroot ask for QEMU; QEMU for programs of other processors.
 *
 * Returns 0 on success.  Otherwise returns the status to exit with, after a message.
 */
int ts_record_choose(struct ts_recorder *r);

/* After an exec: warn on stderr if the new program cannot run in a recorder. */
void ts_record_warn(const struct ts_recorder *r);

#endif
