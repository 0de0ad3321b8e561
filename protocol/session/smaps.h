/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/smaps: the ranges of memory that are known at the session's position.
 *
 * gdb reads this file only to write a core (gcore), and writes the listed ranges.  Therefore the file lists the known
 * ranges, which may be less than the mapped memory (a core would have zeros for the rest), or more
 * (many recordings have no map, and /proc/PID/maps does not exist then).  A range has the protection and the file
 * of its region; without a region it is readable.  There are no counters: gdb then writes all ranges.
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
