/* SPDX-License-Identifier: MIT */
/*
 * The lines of a text, each in one piece.
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
	const char *text; /* borrowed from the reader until the next one; without the newline, not terminated */
	size_t len;
	uint64_t off;     /* in the file */
	bool is_whole;    /* it ends with a newline; only the last line of a text may not */
};

struct ts_line_reader {
	struct ts_window window;
	uint64_t off;   /* in the file, of the next line */
	size_t max_len; /* longer lines are refused */
};

/* The lines of @src from file offset @off on.  Reads nothing yet. */
void ts_line_reader_init(struct ts_line_reader *l, const struct ts_source *src, uint64_t off, size_t max_len);
void ts_line_reader_fini(struct ts_line_reader *l);

/* As ts_line_reader_next(), if the bytes in the buffer do not contain the whole line. */
enum ts_next ts_line_reader_fill(struct ts_line_reader *l, struct ts_text_line *line, struct ts_error *err);

/*
 * The next line.
 *
 * Returns TS_END at the end of the text.  Returns TS_FAIL if the line is too long (TS_ELIMIT), the source
 * cannot be read (TS_EIO, TS_ETRUNC) or memory is exhausted (TS_ENOMEM); the next call tries again.
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
 * Pass over a line that ts_line_reader_next() refuses as too long, without holding it.
 *
 * Returns TS_END if the text ends before the line does.  Returns TS_FAIL if the source cannot be read
 * (TS_EIO, TS_ETRUNC) or memory is exhausted (TS_ENOMEM); the reader does not move then.
 */
enum ts_next ts_line_reader_pass(struct ts_line_reader *l, struct ts_error *err);

/* Does the line begin with @word?  If so, @word is removed from it. */
bool ts_text_line_skip(struct ts_text_line *line, const char *word);

#endif
