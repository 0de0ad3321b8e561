/* SPDX-License-Identifier: MIT */
/*
 * The progress of a recording on a terminal.  Lines are not updated in place, because the recorded program may write to
 * the same terminal.
 */
#ifndef TS_RECORD_PROGRESS_H
#define TS_RECORD_PROGRESS_H

#include "recorder.h"

/*
 * Print on stderr that @n_steps instructions are recorded, in @n_bytes of the file, if the last line is older than 10
 * seconds (or TRACESTUB_PROGRESS of the environment).  Nothing is printed with --quiet and --follow, if stderr is no
 * terminal, if this process is in the terminal's background, or if the program has switched off echo or line editing.
 */
void ts_record_progress_show(struct ts_recorder *r, uint64_t n_steps, uint64_t n_bytes);

#endif
