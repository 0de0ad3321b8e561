/* SPDX-License-Identifier: MIT */
/*
 * How much is recorded so far, on a terminal.  The recorded program writes there, too: a line that changes would be
 * drawn over its text.
 */
#ifndef TS_RECORD_PROGRESS_H
#define TS_RECORD_PROGRESS_H

#include "recorder.h"

/*
 * Say on stderr that @n_steps instructions are recorded, in @n_bytes of the file, if the last line is some seconds old
 * (10, or the environment's TRACESTUB_PROGRESS).  Nothing is said with --quiet and --follow, if stderr is no terminal, if
 * this process is in the terminal's background, or if the program has switched off echo or the editing of lines.
 */
void ts_record_progress_show(struct ts_recorder *r, uint64_t n_steps, uint64_t n_bytes);

#endif
