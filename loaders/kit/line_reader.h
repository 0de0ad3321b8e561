/* SPDX-License-Identifier: MIT */
/*
 * Reads the lines of a text.  Each line is returned as a whole.
 *
 * A line ends with a newline or with the text; a carriage return before the newline is part of the line.
 */
#ifndef LOADERS_KIT_LINE_READER_H
#define LOADERS_KIT_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/base/error.h"
#include "src/trace/reader.h"
#include "window.h"

struct ts_text_line {
	const char *text; /* borrowed until the next line is read; without the newline, not terminated */
	size_t len;
	uint64_t off;     /* in the file */
	bool is_whole;    /* the line ends with a newline; false only for the last line of a text */
};

struct ts_line_reader {
	struct ts_window window;
	uint64_t off;   /* in the file, of the next line */
	size_t max_len; /* longer lines are refused */
};

/*
 * Begin at file offset @off of @src, which is borrowed until ts_line_reader_fini().  Nothing is read yet.
 * Lines of more than @max_len bytes are refused.
 */
void ts_line_reader_init(struct ts_line_reader *l, const struct ts_source *src, uint64_t off, size_t max_len);
void ts_line_reader_fini(struct ts_line_reader *l);

/*
 * The slow path of ts_line_reader_next(): the buffer does not contain the whole line.  Returns as ts_line_reader_next()
 * does.
 */
enum ts_next ts_line_reader_fill(struct ts_line_reader *l, struct ts_text_line *line, struct ts_error *err);

/*
 * Read the next line.  After a failure, the next call tries the same line again.
 *
 * Returns TS_ITEM with *line set.
 * Returns TS_END at the end of the text.
 * Returns TS_FAIL if the line is too long (TS_ELIMIT).
 * Returns TS_FAIL if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
static inline enum ts_next ts_line_reader_next(struct ts_line_reader *l, struct ts_text_line *line, struct ts_error *err)
{
	const struct ts_window *w = &l->window;
	const uint64_t at = l->off - w->off;
	const uint8_t *p = at < w->len ? w->buf + at : NULL;
	const uint8_t *end = p ? (const uint8_t *)memchr(p, '\n', w->len - (size_t)at) : NULL;

	if (__builtin_expect(!end || (size_t)(end - p) > l->max_len, 0))
		return ts_line_reader_fill(l, line, err);
	*line = (struct ts_text_line){ (const char *)p, (size_t)(end - p), l->off, true };
	l->off += line->len + 1;
	return TS_ITEM;
}

/*
 * Skip a line that ts_line_reader_next() refuses as too long, without storing it.  After a failure the reader
 * has not moved.
 *
 * Returns TS_ITEM if the line has been skipped.
 * Returns TS_END if the text ends before the line does.
 * Returns TS_FAIL if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_line_reader_pass(struct ts_line_reader *l, struct ts_error *err);

/* Remove @word from the beginning of the line.  Returns false if the line does not begin with @word. */
bool ts_text_line_skip(struct ts_text_line *line, const char *word);

#endif
