/* SPDX-License-Identifier: MIT */
/*
 * The files under /proc that clients read about a process, made from the recording.
 *
 * Only what the recording knows: a file of which nothing is known does not exist, and a line that is not
 * known is left out.
 */
#ifndef RSP_PROC_H
#define RSP_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rsp_session;
struct ts_buf;

enum rsp_proc {
	RSP_PROC_NONE, /* no such file */
	RSP_PROC_FILE,
	RSP_PROC_LINK,
};

/*
 * Append to @text what the file @path ("/proc/PID/maps", "/proc/PID/task/TID/status") holds at the session's
 * position, of a link where it points.  PID and TID are those that the client knows.
 *
 * Returns what kind of file it is; RSP_PROC_NONE leaves @text alone.
 */
enum rsp_proc rsp_proc_read(const struct rsp_session *s, const char *path, struct ts_buf *text);

/*
 * Append the regions of a process (ordinal) at the session's position, a line each as in /proc/PID/maps.
 */
void rsp_proc_maps(const struct rsp_session *s, uint32_t process, struct ts_buf *text);

#endif
