/* SPDX-License-Identifier: MIT */
/*
 * The copies of a recorded program and of its libraries that lie beside its recording, so that the recording has its
 * symbols when they were built again: OUT.files/NAME, and OUT.files/.build-id/ab/cdef, by its build-id, where debuggers look.
 */
#ifndef TS_KEPT_H
#define TS_KEPT_H

#include <limits.h>
#include <stdbool.h>

/* The folder of the recording @out, with a '/' at its end.  A path that is too long is cut. */
void ts_kept_folder(const char *out, char folder[PATH_MAX]);

/*
 * The same folder of @trace, by a path from the root.  Returns false if @trace is the standard input, or the current
 * folder has no name.
 */
bool ts_kept_find(const char *trace, char folder[2 * PATH_MAX]);

/*
 * Copy @library, as the recording names it, beside the recording @out, as ts_kept_make() does; ts_kept_name() is the
 * copy's name.  Nothing is copied if it is no ELF program or library.
 */
void ts_kept_library(const char *out, const char *library);

/* Does @folder have a copy of a library whose original is gone or has changed? */
bool ts_kept_is_needed(const char *folder);

/*
 * Copy @program, the path of an executable, beside the recording @out; the folder and the copy are for their owner only.
 * A copy of an earlier recording is replaced.  One that another recording of the same folder has is shared with it.  Nothing is copied if @out is no regular file, or if the program belongs to
 * the system (/usr but /usr/local, /bin, /sbin, /lib*).
 *
 * A copy that cannot be made is a warning on stderr.
 */
void ts_kept_make(const char *out, const char *program);

/* There is no recording @out: remove the copy of @program, and the folder if it is empty. */
void ts_kept_remove(const char *out, const char *program);

#endif
