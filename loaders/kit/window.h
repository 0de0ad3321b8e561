/* SPDX-License-Identifier: MIT */
/*
 * A window over a trace: a buffer of contiguous bytes that moves over a source.
 *
 * A decoder requests the bytes at an offset and gets a pointer to them.  After a jump the window reads little, because the
 * decoder may need a few records only.  It doubles the length with each sequential read, up to a size that stays in the
 * processor's cache.  Then, if the source allows it, a thread reads the next pieces in advance (read_ahead.h).  Nothing is
 * allocated for bytes that the trace does not have.
 */
#ifndef LOADERS_KIT_WINDOW_H
#define LOADERS_KIT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read_ahead.h"
#include "src/base/cursor.h"
#include "src/base/error.h"
#include "src/source/source.h"

/* This many bytes after the bytes of a window are readable, with any contents, so that words can be loaded whole. */
#define TS_WINDOW_PAD 64u

struct ts_window {
	const struct ts_source *src; /* borrowed */
	uint64_t end;                /* file offset after the last byte of the window */
	const uint8_t *buf;          /* len bytes and the pad, in own or in a piece read ahead; NULL before the first read */
	size_t len;
	uint8_t *own;                /* owned; cap bytes and the pad */
	size_t cap;
	struct ts_read_ahead *ahead; /* owned; NULL until much has been read front to back of a source that allows it */
	bool is_alone;               /* the system refused a thread for reading ahead */
	uint64_t off;                /* file offset of buf[0] */
	size_t piece;                /* bytes of the next read */
};

/*
 * A window over the bytes of @src before file offset @end, at most the source's length.  Reads nothing yet.
 */
void ts_window_init(struct ts_window *w, const struct ts_source *src, uint64_t end);
void ts_window_fini(struct ts_window *w);

/*
 * Move to file offset @off, at most the window's end.  The buffer is empty then; the next read begins at @off.
 */
void ts_window_go(struct ts_window *w, uint64_t off);

/* The slow path of ts_window_at(): the bytes are not in the buffer.  Returns as ts_window_at() does. */
const uint8_t *ts_window_fill(struct ts_window *w, uint64_t off, uint64_t len, size_t *got,
			      struct ts_error *err);

/* The slow path of ts_window_need(): the bytes are not in the buffer.  Returns as ts_window_need() does. */
const uint8_t *ts_window_fill_all(struct ts_window *w, uint64_t off, uint64_t len, struct ts_error *err);

/*
 * The bytes at file offset @off, at least @len of them or all up to the window's end; *got is set to their number.
 * They are valid until the next call.
 *
 * Returns the bytes.
 * Returns NULL if the source cannot be read (TS_EIO).
 * Returns NULL if the bytes are damaged (TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 * After a failure, the next call tries again.
 */
static inline const uint8_t *ts_window_at(struct ts_window *w, uint64_t off, uint64_t len, size_t *got,
					  struct ts_error *err)
{
	uint64_t at = off - w->off;

	if (__builtin_expect(at > w->len || w->len - at < len || !w->buf, 0))
		return ts_window_fill(w, off, len, got, err);
	*got = w->len - (size_t)at;
	return w->buf + at;
}

/*
 * The @len bytes at file offset @off.
 *
 * Returns the bytes, valid until the next call.
 * Returns NULL if the window ends before them (TS_ETRUNC).
 * Returns NULL where ts_window_at() does.
 */
static inline const uint8_t *ts_window_need(struct ts_window *w, uint64_t off, uint64_t len,
					    struct ts_error *err)
{
	uint64_t at = off - w->off;

	if (__builtin_expect(at > w->len || w->len - at < len || !w->buf, 0))
		return ts_window_fill_all(w, off, len, err);
	return w->buf + at;
}

/* The slow path of ts_window_ahead(): the cursor has too few bytes.  Returns as ts_window_ahead() does. */
bool ts_window_refill(struct ts_window *w, struct ts_cursor *c, size_t len);

/*
 * Extend the cursor @c, whose bytes are the window's, to at least @len bytes, or to all bytes up to the
 * window's end.
 *
 * Returns false where ts_window_at() returns NULL; the cursor is then empty and has the error.
 */
static inline bool ts_window_ahead(struct ts_window *w, struct ts_cursor *c, size_t len)
{
	return __builtin_expect(c->left >= len, 1) || c->off + c->left >= w->end ||
	       ts_window_refill(w, c, len);
}

#endif
