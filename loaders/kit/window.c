/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * How much is read at once after a jump, and at the most.  A test chooses less, so that short traces have
 * many pieces.
 */
#ifndef TS_WINDOW_PIECE
#define TS_WINDOW_PIECE (16u << 10)
#endif
#define FIRST_PIECE TS_WINDOW_PIECE
#define MAX_PIECE   (16u * TS_WINDOW_PIECE)

void ts_window_init(struct ts_window *w, const struct ts_source *src, uint64_t end)
{
	assert(end <= ts_source_len(src));
	*w = (struct ts_window){ .src = src, .end = end, .piece = FIRST_PIECE };
}

void ts_window_fini(struct ts_window *w)
{
	ts_read_ahead_free(w->ahead);
	free(w->own);
	*w = (struct ts_window){ 0 };
}

void ts_window_go(struct ts_window *w, uint64_t off)
{
	assert(off <= w->end);
	w->off = off;
	w->len = 0;
}

/* Have a buffer of @len bytes or more, with what it holds. */
static bool make_room(struct ts_window *w, size_t len, uint64_t off, struct ts_error *err)
{
	size_t cap = len < MAX_PIECE ? len : len + FIRST_PIECE; /* how much is kept varies */
	uint8_t *own;

	if (w->own && len <= w->cap)
		return true;
	own = realloc(w->own, cap + TS_WINDOW_PAD);
	if (!own)
		return ts_fail(err, TS_ENOMEM, off, "no memory for a buffer of %zu bytes", cap);
	memset(own + w->cap, 0, cap + TS_WINDOW_PAD - w->cap);
	if (w->buf == w->own)
		w->buf = own;
	w->own = own;
	w->cap = cap;
	return true;
}

/*
 * Read after the first @kept bytes of the buffer up to @want.  What cannot be read is a failure only if it is
 * among the first @len: the bytes before it are good.
 */
static bool append(struct ts_window *w, size_t kept, size_t want, uint64_t len, struct ts_error *err)
{
	struct ts_error failed = { 0 };
	size_t got;
	bool done = ts_source_read(w->src, w->off + kept, w->own + kept, want - kept, &got, &failed);

	w->len = kept + got;
	if (done || w->len >= len)
		return true;
	*err = failed;
	return false;
}

/*
 * The piece after the window was read ahead: the @kept bytes go before it.
 *
 * Returns false if none was, or it is not enough: nothing has changed then.
 */
static bool take_ahead(struct ts_window *w, uint64_t off, size_t kept, uint64_t len)
{
	uint64_t least = len > kept ? len - kept : 0;
	size_t got;
	uint8_t *piece;

	if (!w->ahead || kept > TS_READ_AHEAD_ROOM)
		return false;
	piece = ts_read_ahead_take(w->ahead, off + kept, least, &got);
	if (!piece)
		return false;
	if (kept)
		memcpy(piece - kept, w->buf + (off - w->off), kept);
	w->buf = piece - kept;
	w->off = off;
	w->len = kept + got;
	return true;
}

/* Reading goes on: let the pieces after the window be read meanwhile. */
static void begin_ahead(struct ts_window *w)
{
	uint64_t off = w->off + w->len;

	if (!w->src->is_read_ahead || w->is_alone || off == w->end)
		return;
	if (!w->ahead)
		w->ahead = ts_read_ahead_new(w->src, TS_WINDOW_PAD);
	w->is_alone = !w->ahead;
	if (w->ahead)
		ts_read_ahead_begin(w->ahead, off, w->end);
}

/* Read on after the last @kept bytes, or elsewhere: enough for @len, and as many as are read at once. */
static bool read_here(struct ts_window *w, uint64_t off, bool goes_on, size_t kept, uint64_t len,
		      struct ts_error *err)
{
	uint64_t left = off < w->end ? w->end - off : 0, want = kept + w->piece;

	if (goes_on) /* up to a round offset: a compressed source decodes whole chunks in place */
		want -= (off + want) % w->piece;
	if (want < len)
		want = len;
	if (want > left)
		want = left;
	if (!make_room(w, (size_t)want, off, err))
		return false;
	if (kept)
		memmove(w->own, w->buf + (off - w->off), kept);
	w->buf = w->own;
	w->off = off;
	return append(w, kept, (size_t)want, len, err);
}

const uint8_t *ts_window_fill(struct ts_window *w, uint64_t off, uint64_t len, size_t *got,
			      struct ts_error *err)
{
	uint64_t at = off - w->off;
	bool goes_on = w->len && at <= w->len;
	size_t kept = goes_on ? w->len - (size_t)at : 0;

	w->piece = goes_on ? (w->piece < MAX_PIECE ? w->piece * 2 : MAX_PIECE) : FIRST_PIECE;
	if (!take_ahead(w, off, kept, len) && !read_here(w, off, goes_on, kept, len, err))
		return NULL;
	if (w->piece == MAX_PIECE)
		begin_ahead(w);
	*got = w->len;
	return w->buf;
}

const uint8_t *ts_window_fill_all(struct ts_window *w, uint64_t off, uint64_t len, struct ts_error *err)
{
	uint64_t left = off < w->end ? w->end - off : 0;
	size_t got;

	if (len > left) {
		ts_fail(err, TS_ETRUNC, off, "%" PRIu64 " bytes needed but %" PRIu64 " are left", len, left);
		return NULL;
	}
	return ts_window_fill(w, off, len, &got, err);
}

bool ts_window_refill(struct ts_window *w, struct ts_cursor *c, size_t len)
{
	size_t got = 0;
	const uint8_t *p = ts_window_at(w, c->off, len, &got, c->err);

	if (p)
		c->p = p;
	c->left = got;
	return p != NULL;
}
