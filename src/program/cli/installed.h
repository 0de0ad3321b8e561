/* SPDX-License-Identifier: MIT */
/*
 * Files that are installed with the program.  They are searched relative to the program, so that a build directory and
 * a moved installation use their own files.
 */
#ifndef TS_INSTALLED_H
#define TS_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Find a file: at @beside ("src/gdbinit"), relative to the program's directory; else in the installed tree that
 * contains the program; else at @fixed, the path for which the program was built, which begins with the prefix.
 *
 * Returns true with its path in @path, of @len bytes.  Returns false, with @fixed in @path, if it can be read at none
 * of these places.
 */
bool ts_installed_find(const char *beside, const char *fixed, char *path, size_t len);

#endif
