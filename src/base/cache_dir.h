/* SPDX-License-Identifier: MIT */
/*
 * The user's cache folder for this program: what is in it can be made again at any time.
 */
#ifndef TS_CACHE_DIR_H
#define TS_CACHE_DIR_H

#include <limits.h>
#include <stdbool.h>

/*
 * The path of the folder: $XDG_CACHE_HOME/tracestub, or ~/.cache/tracestub.  It may not exist yet.
 *
 * Returns false if neither variable names one.
 */
bool ts_cache_dir(char dir[PATH_MAX]);

/* Make the folder and those above it, as far as they are missing.  A failure shows when it is used. */
void ts_cache_dir_make(const char *dir);

#endif
