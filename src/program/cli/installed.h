/* SPDX-License-Identifier: MIT */
/*
 * Files that are installed with the program: found from where the program lies, so that a build directory and an
 * installed tree that was moved have their own.
 */
#ifndef TS_INSTALLED_H
#define TS_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Find a file: @beside the program ("src/gdbinit", relative to its directory); else where it lies in the
 * installed tree that the program is in; else at @fixed, the path for which the program was built, which begins
 * with the prefix.
 *
 * Returns true and its path in @path, of @len bytes.  Returns false if it can be read at none of these: @path is
 * @fixed.
 */
bool ts_installed_find(const char *beside, const char *fixed, char *path, size_t len);

#endif
