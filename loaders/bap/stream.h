/* SPDX-License-Identifier: MIT */
/*
 * The frames of a trace in order.  A frame is a length (8 bytes) and a message.
 */
#ifndef LOADERS_BAP_STREAM_H
#define LOADERS_BAP_STREAM_H

#include "loaders/kit/pbwire.h"
#include "loaders/kit/window.h"
#include "trace.h"

struct bap_stream {
	struct bap *rec; /* borrowed */
	struct bap_look look;
	struct ts_window window;
	uint64_t off;            /* file offset of the next frame */
	uint64_t n_frames;       /* the number of frames before it */
	struct ts_error failure; /* the index cannot be read; no further frame is opened */
	struct bap_opened {
		uint64_t off;
		size_t len;            /* 0: none */
		unsigned kind;         /* FRAME_STD, ...; 0: unknown */
		struct ts_cursor body; /* its message, for copies of this cursor to read */
		struct pb_message std; /* of a std frame, if has_std */
		bool has_std;
	} opened; /* the frame opened last; it lies in the window */
};

/* Begin at the first frame.  @rec is borrowed until bap_stream_fini(). */
void bap_stream_init(struct bap_stream *s, struct bap *rec);
void bap_stream_fini(struct bap_stream *s);

/* Move to frame number @frame, at file offset @off. */
void bap_stream_seek(struct bap_stream *s, uint64_t off, uint64_t frame);

/* The slow path of bap_stream_open(): the frame is not open yet.  Returns as bap_stream_open() does. */
enum ts_next bap_stream_open_next(struct bap_stream *s, struct ts_error *err);

/*
 * Open the next frame as s->opened, without consuming it.
 *
 * Returns TS_ITEM if the frame is open.
 * Returns TS_END after the last frame.
 * Returns TS_FAIL if the file ends within the frame (TS_ETRUNC).
 * Returns TS_FAIL if the bytes are not a frame (TS_ECORRUPT).
 * Returns TS_FAIL if the trace cannot be read (TS_EIO).
 */
static inline enum ts_next bap_stream_open(struct bap_stream *s, struct ts_error *err)
{
	struct bap_opened *o = &s->opened;

	if (!o->len || o->off != s->off)
		return bap_stream_open_next(s, err);
	o->body.err = err;
	return TS_ITEM;
}

/*
 * The message of the opened std frame, which is parsed once.  Offsets in it are relative to the frame's body.
 *
 * Returns the message, valid until the next frame is opened.
 * Returns NULL if it is damaged (TS_ECORRUPT, in the error that the frame was opened with).
 */
const struct pb_message *bap_stream_std(struct bap_stream *s);

/* Consume the opened frame. */
static inline void bap_stream_take(struct bap_stream *s)
{
	struct bap *rec = s->rec;

	if (s->n_frames == rec->toc.due && s->off >= rec->read_until)
		bap_toc_compare(rec, s->off, &s->failure);
	s->off += BAP_LEN_LEN + s->opened.len;
	s->n_frames++;
	if (s->off > rec->read_until) {
		rec->read_until = s->off;
		rec->n_walked = s->n_frames;
	}
}

#endif
