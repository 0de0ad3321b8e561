/* SPDX-License-Identifier: MIT */
/*
 * The recordings in a folder, by the names of its files.
 */
#ifndef TS_FOLDER_LIST_H
#define TS_FOLDER_LIST_H

#include <stddef.h>

#include "src/base/error.h"

/* The maximum number of recordings in a folder. */
#define TS_MAX_LISTED 10000u

/*
 * List @trace, and then the paths of the visible regular files of @folder, ascending, without tracestub's files beside
 * recordings, and without @trace; *n is set to their number.  The array ends with NULL; the caller frees it and its
 * items.
 *
 * Returns NULL with @err if the folder cannot be read (TS_EIO).
 * Returns NULL with @err if it has no such file (TS_EUSAGE) or more than TS_MAX_LISTED (TS_ELIMIT).
 * Returns NULL with @err if memory is exhausted (TS_ENOMEM).
 */
char **ts_folder_list(const char *trace, const char *folder, size_t *n, struct ts_error *err);

/*
 * The name of the newest file NAME.ucir in the current folder, by modification time, for a command line that names no
 * recording.  The caller frees it.
 *
 * Returns NULL if the folder has no such file.
 * Returns NULL if memory is exhausted.
 */
char *ts_newest_recording(void);

#endif
