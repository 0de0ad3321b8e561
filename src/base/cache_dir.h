/* SPDX-License-Identifier: MIT */
/*
 * The user's cache directory for this program: everything in it can be rebuilt at any time.
 */
#ifndef TS_CACHE_DIR_H
#define TS_CACHE_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The path of the directory: $XDG_CACHE_HOME/tracestub, or ~/.cache/tracestub.  It may not exist yet.
 *
 * Returns false if neither variable names one.
 */
bool ts_cache_dir(char dir[PATH_MAX]);

/*
 * The path, without a suffix, of a file in the cache directory that belongs to the trace @trace.  Its name is the name of
 * the trace (if @is_real, of the target of a symbolic link) and a hash of the file's whole path.
 *
 * Returns false if the trace does not exist.
 * Returns false if the cache directory is unknown or cannot be made.
 * Returns false if the path is too long.
 */
bool ts_cache_dir_name(const char *trace, bool is_real, char path[PATH_MAX]);

/* Create the directory and its parents if they do not exist.  A failure is reported when the directory is used. */
void ts_cache_dir_make(const char *dir);

/*
 * Remove the least recently used files in @dir whose names end in @suffix, until the others take at most @max bytes
 * together.  The most recently used file is never removed.
 */
void ts_cache_dir_bound(const char *dir, const char *suffix, uint64_t max);

#endif
