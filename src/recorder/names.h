/* SPDX-License-Identifier: MIT */
/*
 * The names of threads: that of prctl, and of /proc/self/task/N/comm, which a thread gives another one.
 */
#ifndef TS_RECORDER_NAMES_H
#define TS_RECORDER_NAMES_H

#include "thread.h"

/* A thread begins: it has the name of the one that made it, if the program has given that one. */
void ts_names_begin(const struct ts_task *t);

/* The call has returned: write a note of each name that it gave. */
void ts_names_returned(const struct ts_task *t);

#endif
