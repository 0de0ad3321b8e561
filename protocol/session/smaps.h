/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/smaps: the ranges of memory that are known at the session's position.
 *
 * gdb reads this file only to write a core (gcore), and writes what it lists.  So it lists what the recording
 * knows, which may be less than what was mapped (a core would have zeros in the place of the rest), and more
 * (many recordings have no map, and /proc/PID/maps does not exist then).  A range has the rights and the file
 * of the region in which it lies; without a region it is readable.  There are no counters: gdb writes all
 * ranges then.
 */
#ifndef RSP_SMAPS_H
#define RSP_SMAPS_H

#include <stdbool.h>

struct rsp_session;

/*
 * Begin to open the file of the session's process, as the session's job: it becomes the text of @fd, an
 * ordinal of s->files that is not open, and the reply is @reply_fd, its number for the client.  The reply is
 * an error if nothing is known, and after ^C.
 *
 * Returns false if memory is exhausted.
 */
bool rsp_smaps_start(struct rsp_session *s, unsigned fd, unsigned reply_fd);

#endif
