/* SPDX-License-Identifier: MIT */
/*
 * A file that is written beside its place, and is there complete or not at all.
 */
#ifndef TS_ATOMIC_FILE_H
#define TS_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "error.h"

struct ts_atomic_file {
	char *path;         /* owned; where it will be */
	char *part;         /* owned; where it is written */
	int fd;             /* -1: not open */
	struct ts_buf wait; /* not written yet */
};

/*
 * May a file be put at @path: is nothing there, or a regular file?  A device, a folder, a link or a socket is
 * not to be replaced.
 *
 * Returns false if it must not (TS_EIO).
 */
bool ts_atomic_file_may_replace(const char *path, struct ts_error *err);

/* Do both paths lead to one file that is there? */
bool ts_atomic_file_is_same(const char *a, const char *b);

/*
 * Begin to write what will be @path.
 *
 * Returns false if it must not be replaced or no file can be made in its folder (TS_EIO), or memory is
 * exhausted.  @f needs ts_atomic_file_fini() either way.
 */
bool ts_atomic_file_init(struct ts_atomic_file *f, const char *path, struct ts_error *err);

/* Give up what was not finished, and its file. */
void ts_atomic_file_fini(struct ts_atomic_file *f);

/* Append.  Returns false if it cannot be written (TS_EIO), or memory is exhausted. */
bool ts_atomic_file_write(struct ts_atomic_file *f, const void *data, size_t len, struct ts_error *err);

/* All is written: sync it, and put it in its place. */
bool ts_atomic_file_finish(struct ts_atomic_file *f, struct ts_error *err);

#endif
