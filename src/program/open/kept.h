/* SPDX-License-Identifier: MIT */
/*
 * Copies of a recorded program and its libraries beside the recording, so that the recording has symbols after a
 * rebuild: OUT.files/NAME, and OUT.files/.build-id/ab/cdef, where debuggers search by build-id.
 */
#ifndef TS_KEPT_H
#define TS_KEPT_H

#include <limits.h>
#include <stdbool.h>

/*
 * The folder of @trace as an absolute path.  Returns false if @trace is the standard input, or the current folder has
 * no name.
 */
bool ts_kept_find(const char *trace, char folder[2 * PATH_MAX]);

/*
 * Copy @library, as the recording names it, beside the recording @out, as ts_kept_make() does; ts_kept_name() is the
 * copy's name.  Nothing is copied if it is no ELF program or library.
 */
void ts_kept_library(const char *out, const char *library);

/* Does @folder have a copy of a library whose original is missing or has changed? */
bool ts_kept_is_needed(const char *folder);

/*
 * Copy @program, the path of an executable, beside the recording @out; only the owner can use the folder and the copy.
 * A copy of an earlier recording is replaced.  An equal copy of another recording in the same folder is shared.
 * Nothing is copied if @out is no regular file, or if the program belongs to the system (/usr but /usr/local, /bin,
 * /sbin, /lib*).
 *
 * If the copy fails, a warning is printed on stderr.
 */
void ts_kept_make(const char *out, const char *program);

/* Without a recording @out: remove the copy of @program, and the folder if it is empty. */
void ts_kept_remove(const char *out, const char *program);

#endif
