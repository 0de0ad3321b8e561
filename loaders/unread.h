/* SPDX-License-Identifier: MIT */
/*
 * Files that are known, but are no recordings that can be read: what they are, and what to do instead.
 */
#ifndef LOADERS_UNREAD_H
#define LOADERS_UNREAD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Examines the first @len bytes of the file called @name.
 *
 * Returns one sentence, a literal.
 * Returns NULL if the file is not known.
 */
const char *loaders_unread(const uint8_t *head, size_t len, const char *name);

/* Returns a sentence, a literal, about the folder @path, which is given as a trace: by the names of files in it. */
const char *loaders_unread_folder(const char *path);

#endif
