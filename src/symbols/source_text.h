/* SPDX-License-Identifier: MIT */
/*
 * The text of a source file, line by line, if it is on this machine.
 *
 * Its name comes from a program's debugging information, which is untrusted: only a regular file with the
 * name of a source file (src/base/source_name.h) is read.
 */
#ifndef TS_SYMBOLS_SOURCE_TEXT_H
#define TS_SYMBOLS_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limit on the length of a file. */
#define TS_SOURCE_TEXT_MAX ((size_t)4 << 20)

struct ts_source_text;

/*
 * Read the file @path, or, if it does not exist, the file with its last component in one of the @folders (paths,
 * terminated by NULL; NULL: none).  The caller frees the text.
 *
 * Returns NULL if the file cannot be read, or if it is longer than TS_SOURCE_TEXT_MAX.
 * Returns NULL if memory is exhausted.
 */
struct ts_source_text *ts_source_text_new(const char *path, const char *const *folders);
void ts_source_text_free(struct ts_source_text *t);

/*
 * Returns line @line, from 1 on, of *len bytes without its end, borrowed from @t.
 * Returns NULL after the last one, and if @t is NULL.
 */
const char *ts_source_text_line(const struct ts_source_text *t, uint32_t line, size_t *len);

#endif
