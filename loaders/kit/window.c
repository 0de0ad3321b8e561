/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * How much is read at once after a jump, and at the most.  A test chooses less, so that short traces have many
 * pieces.
 */
#ifndef TS_WINDOW_PIECE
#define TS_WINDOW_PIECE (16u << 10)
#endif
#define FIRST_PIECE TS_WINDOW_PIECE
#define MAX_PIECE (16u * TS_WINDOW_PIECE)

void ts_window_init(struct ts_window *w, const struct ts_source *src, uint64_t end)
{
	assert(end <= ts_source_len(src));
	*w = (struct ts_window){ .src = src, .end = end, .piece = FIRST_PIECE };
}

void ts_window_fini(struct ts_window *w)
{
	free(w->buf);
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
	uint8_t *buf;

	if (w->buf && len <= w->cap)
		return true;
	buf = realloc(w->buf, cap + TS_WINDOW_PAD);
	if (!buf)
		return ts_fail(err, TS_ENOMEM, off, "memory is exhausted: no buffer of %zu bytes", cap);
	if (!w->buf)
		memset(buf, 0, cap + TS_WINDOW_PAD);
	else
		memset(buf + w->cap, 0, cap + TS_WINDOW_PAD - w->cap);
	w->buf = buf;
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
	bool done = ts_source_read(w->src, w->off + kept, w->buf + kept, want - kept, &got, &failed);

	w->len = kept + got;
	if (w->len == want || w->len >= len)
		return true;
	if (!done) {
		*err = failed;
		return false;
	}
	return ts_fail(err, TS_ETRUNC, w->off + w->len,
		       "the file has become shorter: it ends here, it had %" PRIu64 " bytes when it was opened",
		       ts_source_len(w->src));
}

const uint8_t *ts_window_fill(struct ts_window *w, uint64_t off, uint64_t len, size_t *got,
			      struct ts_error *err)
{
	uint64_t left = off < w->end ? w->end - off : 0, at = off - w->off, want;
	bool goes_on = w->len && at <= w->len;
	size_t kept = goes_on ? w->len - (size_t)at : 0;

	w->piece = goes_on ? (w->piece < MAX_PIECE ? w->piece * 2 : MAX_PIECE) : FIRST_PIECE;
	want = kept + w->piece;
	if (goes_on) /* up to a round offset: a compressed source decodes whole chunks in place */
		want -= (off + want) % w->piece;
	if (want < len)
		want = len;
	if (want > left)
		want = left;
	if (!make_room(w, (size_t)want, off, err))
		return NULL;
	if (kept)
		memmove(w->buf, w->buf + at, kept);
	w->off = off;
	if (!append(w, kept, (size_t)want, len, err))
		return NULL;
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
