/* SPDX-License-Identifier: MIT */
/*
 * A file that is written under another name and renamed, so that it is complete or does not exist.
 */
#ifndef TS_ATOMIC_FILE_H
#define TS_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/collections/buf.h"
#include "error.h"

struct ts_atomic_file {
	char *path;         /* owned; the final path */
	char *part;         /* owned; the path of the temporary file */
	int fd;             /* -1: not open */
	bool is_stdout;     /* output goes to the standard output, without a temporary file */
	struct ts_buf wait; /* not written yet */
};

/*
 * May a file be created at @path: does nothing or a regular file exist there?  A device, a directory, a link
 * or a socket is not replaced.
 *
 * Returns false if it must not (TS_EIO).
 */
bool ts_atomic_file_may_replace(const char *path, struct ts_error *err);

/* Do both paths name the same existing file? */
bool ts_atomic_file_is_same(const char *a, const char *b);

/*
 * Begin to write the file @path; "-" is the standard output.
 *
 * Returns false if @path must not be replaced or no file can be created in its directory (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The caller must call ts_atomic_file_fini() in both cases.
 */
bool ts_atomic_file_init(struct ts_atomic_file *f, const char *path, struct ts_error *err);

/* Discard a file that was not finished. */
void ts_atomic_file_fini(struct ts_atomic_file *f);

/*
 * Append.
 *
 * Returns false if it cannot be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_atomic_file_write(struct ts_atomic_file *f, const void *data, size_t len, struct ts_error *err);

/*
 * Sync the directory of @path, so that the name is on the disk, too.  An error of a file system that cannot do it is
 * ignored.
 */
void ts_sync_folder_of(const char *path);

/*
 * Rename the complete file to its path, without a sync.  For files that can be made again: after a crash of
 * the machine the file may exist without its data.
 *
 * Returns false if the file cannot be written or renamed (TS_EIO).
 */
bool ts_atomic_file_place(struct ts_atomic_file *f, struct ts_error *err);

/* Sync the complete file and rename it to its path.  Returns false if a system call fails (TS_EIO). */
bool ts_atomic_file_finish(struct ts_atomic_file *f, struct ts_error *err);

#endif
