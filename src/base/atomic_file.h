/* SPDX-License-Identifier: MIT */
/*
 * A file that is written under another name and renamed, so that it is complete or does not exist.
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
	bool is_stdout;     /* it is written there, as it comes */
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
 * Begin to write the file that will be @path; "-" is the standard output.
 *
 * Returns false if @path must not be replaced or no file can be created in its directory (TS_EIO), or memory
 * is exhausted.  @f needs ts_atomic_file_fini() either way.
 */
bool ts_atomic_file_init(struct ts_atomic_file *f, const char *path, struct ts_error *err);

/* Discard a file that was not finished. */
void ts_atomic_file_fini(struct ts_atomic_file *f);

/* Append.  Returns false if it cannot be written (TS_EIO), or memory is exhausted. */
bool ts_atomic_file_write(struct ts_atomic_file *f, const void *data, size_t len, struct ts_error *err);

/*
 * Sync the directory of @path: then the name, too, is on the disk.  File systems that cannot do it are no
 * reason to fail.
 */
void ts_sync_folder_of(const char *path);

/*
 * Everything is written: rename the file to its path, without waiting for the disk.  It is for a file that
 * can be made again: if the machine fails it may be there without its data.
 */
bool ts_atomic_file_place(struct ts_atomic_file *f, struct ts_error *err);

/* Everything is written: sync the file and rename it to its path. */
bool ts_atomic_file_finish(struct ts_atomic_file *f, struct ts_error *err);

#endif
