/* SPDX-License-Identifier: MIT */
/*
 * The files under /proc that clients read about a process, generated from the recording.
 *
 * Unknown lines are omitted, and a file whose contents are entirely unknown does not exist.
 */
#ifndef RSP_PROC_H
#define RSP_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rsp_session;
struct ts_buf;
struct ts_region_info;

enum rsp_proc {
	RSP_PROC_NONE, /* the file does not exist */
	RSP_PROC_FILE,
	RSP_PROC_LINK,
};

/*
 * Append the contents at the session's position of the file @path ("/proc/PID/maps", "/proc/PID/task/TID/status") to
 * @text, or the target of a link.  PID and TID are the client's ids.
 *
 * Returns the kind of the file; for RSP_PROC_NONE @text is unchanged.
 */
enum rsp_proc rsp_proc_read(const struct rsp_session *s, const char *path, struct ts_buf *text);

/*
 * Append @region as a line of /proc/PID/maps.  A region at the end of the address space is shown one byte too
 * short, because no address follows it.
 */
void rsp_proc_put_region(const struct rsp_session *s, const struct ts_region_info *region,
			 struct ts_buf *text);

/*
 * Is @path /proc/PID/smaps of the session's process, and the recording not of a machine?  See rsp_smaps_start(), because the file
 * takes long to generate.
 */
bool rsp_proc_is_smaps(const struct rsp_session *s, const char *path);

/* ---------------------------------------------------------------------------------------- smaps.c */

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
