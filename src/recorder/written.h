/* SPDX-License-Identifier: MIT */
/*
 * What system calls write where a comparison with the shadow does not show it: bytes of a buffer that have the
 * same value as before, and files that are mapped.
 */
#ifndef TS_RECORDER_WRITTEN_H
#define TS_RECORDER_WRITTEN_H

#include "thread.h"

/* Find the numbers of the calls of the processor ts_guest. */
void ts_written_begin(void);

/* The call has returned: add what it wrote to its ops. */
void ts_written_add(struct ts_call *c);

#endif
