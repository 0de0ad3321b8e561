/* SPDX-License-Identifier: MIT */
/*
 * The ends of file names: ".gz", ".log"; the last names of paths.
 */
#ifndef TS_BASE_SUFFIX_H
#define TS_BASE_SUFFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The length of @suffix if the @len bytes of @name are longer and end with it, else 0. */
static inline size_t ts_suffix_len(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(name + len - n, suffix, n) ? n : 0;
}

/* Is @name longer than @suffix, and does it end with it? */
static inline bool ts_has_suffix(const char *name, const char *suffix)
{
	return ts_suffix_len(name, strlen(name), suffix) != 0;
}

/* Returns the name after the last '/' of @path, a part of @path: borrowed. */
static inline const char *ts_last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#endif
