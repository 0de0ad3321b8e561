/* SPDX-License-Identifier: MIT */
/*
 * Which engine records a program.
 */
#ifndef TS_RECORD_CHOICE_H
#define TS_RECORD_CHOICE_H

#include "recorder.h"

/*
 * Set r->engine for r->program by the options of r->cli: Valgrind for programs of this machine's own processor, unless
 * --with qemu, --qemu, --cpu or --sysroot ask for QEMU; QEMU for programs of other processors.
 *
 * Returns 0 on success.  Otherwise why was said on stderr, and this is the status to exit with.
 */
int ts_record_choose(struct ts_recorder *r);

/* A program that another one has become: say on stderr if it is one that cannot run in a recorder. */
void ts_record_warn(const struct ts_recorder *r);

#endif
