/* SPDX-License-Identifier: MIT */
/*
 * `record --follow`: record a program, its children and the programs that they execute, each in a recording of its own,
 * in one folder with a manifest (processes.h).
 *
 * Each process of the engine announces its log through a FIFO in the folder.  This process starts a process for
 * each log, which records it, because a process can have only one decoder.
 */
#ifndef TS_FOLLOW_H
#define TS_FOLLOW_H

#include "recorder.h"

#define TS_FOLLOW_FIFO ".logs"
#define TS_FOLLOW_TEXT ".engine." /* what the engine says; the process id follows */

/*
 * Record the program of @r and all its descendants, until all of them have ended.
 *
 * Returns the status to exit with, as ts_run_record() does.
 */
int ts_run_follow(struct ts_recorder *r);

#endif
