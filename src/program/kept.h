/* SPDX-License-Identifier: MIT */
/*
 * The copy of a recorded program that lies beside its recording, so that the recording has its symbols when the program
 * was built again: OUT.files/NAME.
 */
#ifndef TS_KEPT_H
#define TS_KEPT_H

#include <limits.h>

/* The folder of the recording @out, with a '/' at its end.  A path that is too long is cut. */
void ts_kept_folder(const char *out, char folder[PATH_MAX]);

/*
 * Copy @program, the path of an executable, beside the recording @out; the folder and the copy are for their owner only.
 * A copy of an earlier recording is replaced.  Nothing is copied if @out is no regular file, or if the program belongs to
 * the system (/usr but /usr/local, /bin, /sbin, /lib*).
 *
 * A copy that cannot be made is a warning on stderr.
 */
void ts_kept_make(const char *out, const char *program);

/* There is no recording @out: remove the copy of @program, and the folder if it is empty. */
void ts_kept_remove(const char *out, const char *program);

#endif
