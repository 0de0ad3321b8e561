/* SPDX-License-Identifier: MIT */
/*
 * The place of a file: an open folder, and a name in it.
 *
 * A path is resolved once, because its meaning may change at any time; the folder of a descriptor does not change.
 */
#ifndef TS_SANDBOX_PLACE_H
#define TS_SANDBOX_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct ts_place {
	char path[PATH_MAX]; /* the caller's path */
	const char *name;    /* in path: the last component; "" if the path is that of a folder */
	bool is_relative;    /* the path is relative to a descriptor */
	int dir;	     /* owned; the folder, opened with O_PATH; -1: there is none */
	int error;	     /* errno if dir is -1 */
	dev_t dev;	     /* the folder's identity, with ino */
	ino_t ino;
};

/*
 * Open @path with O_PATH, relative to @base (AT_FDCWD or a folder) if it is not absolute.  Links that the kernel makes
 * up (/proc/PID/fd/N, /proc/PID/root) are not followed, and files below /proc and /sys are refused.
 *
 * Returns the descriptor, to be closed by the caller; -1 with errno.
 */
int ts_place_resolve(int base, const char *path, int flags);

/*
 * Look up the folder of place->path, which is filled, relative to @base; with @is_folder the path is the folder's.
 * AT_FDCWD is the working directory.
 *
 * The place is always filled: dir is -1 if the folder cannot be opened, or if the name is not valid for a file.
 */
void ts_place_open(struct ts_place *place, int base, bool is_folder);

void ts_place_close(struct ts_place *place);

#endif
