/* SPDX-License-Identifier: MIT */
/*
 * The files under /proc that clients read about a process, made from the recording.
 *
 * They hold only what the recording knows: a file whose contents are entirely unknown does not exist, and
 * unknown lines are left out.
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
	RSP_PROC_NONE, /* no such file */
	RSP_PROC_FILE,
	RSP_PROC_LINK,
};

/*
 * Append to @text what the file @path ("/proc/PID/maps", "/proc/PID/task/TID/status") holds at the session's
 * position, or the target if it is a link.  PID and TID are those that the client knows.
 *
 * Returns what kind of file it is; RSP_PROC_NONE leaves @text alone.
 */
enum rsp_proc rsp_proc_read(const struct rsp_session *s, const char *path, struct ts_buf *text);

/*
 * Append @region as a line of /proc/PID/maps.  One at the end of the address space is shown one byte too
 * short: there is no address after it.
 */
void rsp_proc_put_region(const struct rsp_session *s, const struct ts_region_info *region,
			 struct ts_buf *text);

/*
 * Is it /proc/PID/smaps of the session's process, and not of a machine?  It takes long to make: see smaps.h.
 */
bool rsp_proc_is_smaps(const struct rsp_session *s, const char *path);

#endif
