/* SPDX-License-Identifier: MIT */
/*
 * The op stream of a Usercorn trace, read through the kit's window.
 *
 * A plain stream is the file from the end of its header on, and its offsets are file offsets.  A framed
 * stream is the decoded contents of the snappy chunks there.
 */
#ifndef LOADERS_USERCORN_STREAM_H
#define LOADERS_USERCORN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/snappy.h"
#include "loaders/kit/window.h"
#include "src/base/error.h"
#include "src/source/source.h"

/* The location of the stream of a trace.  Constant. */
struct ucir_bytes {
	const struct ts_source *src; /* borrowed */
	bool is_framed;
	struct snappy_frames frames; /* of a framed one */
	uint64_t start, end;         /* stream offsets of the first byte, and after the last */
};

/* Returns the file offset of byte @off of the stream, for messages; of a framed stream that of its chunk. */
uint64_t ucir_bytes_file_off(const struct ucir_bytes *bytes, uint64_t off);

/* A reader at a place of the stream. */
struct ucir_stream {
	const struct ucir_bytes *bytes; /* borrowed */
	struct ts_source *decoded;      /* owned; of a framed one */
	struct ts_window w;
	size_t at; /* w.buf[at .. w.len) are the bytes that come next */
};

/*
 * Begin at the start.  @bytes is borrowed until ucir_stream_fini().  Returns false if memory is exhausted
 * (TS_ENOMEM).
 */
bool ucir_stream_init(struct ucir_stream *s, const struct ucir_bytes *bytes, struct ts_error *err);
void ucir_stream_fini(struct ucir_stream *s);

/* Stream offset of the next byte. */
static inline uint64_t ucir_stream_tell(const struct ucir_stream *s)
{
	return s->w.off + s->at;
}

/* Bytes from here to the stream's end. */
static inline uint64_t ucir_stream_left(const struct ucir_stream *s)
{
	return s->bytes->end - ucir_stream_tell(s);
}

/*
 * Returns the next bytes that are in the window, borrowed until it moves; *n is set to their number, which
 * may be 0.
 */
static inline const uint8_t *ucir_stream_at_hand(const struct ucir_stream *s, size_t *n)
{
	*n = s->w.len - s->at;
	return s->w.buf + s->at;
}

/*
 * Returns the bytes from stream offset @off up to the next one, borrowed.
 * Returns NULL if they are not in the window.
 */
static inline const uint8_t *ucir_stream_passed(const struct ucir_stream *s, uint64_t off)
{
	return off < s->w.off ? NULL : s->w.buf + (off - s->w.off);
}

/* Move to stream offset @off, at most the stream's end.  Bytes that are in the window are not read again. */
void ucir_stream_seek(struct ucir_stream *s, uint64_t off);

/* The slow path of ucir_stream_need(): too few bytes are in the window.  Returns as ucir_stream_need() does. */
const uint8_t *ucir_stream_fill(struct ucir_stream *s, uint64_t len, struct ts_error *err);

/*
 * The next @len (at least one) bytes, without skipping them; valid until the next call.
 *
 * Returns NULL if the stream has fewer bytes (TS_ETRUNC).
 * Returns NULL if its bytes are damaged (TS_ECORRUPT).
 * Returns NULL if they cannot be read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
static inline const uint8_t *ucir_stream_need(struct ucir_stream *s, uint64_t len, struct ts_error *err)
{
	if (__builtin_expect(s->w.len - s->at < len, 0))
		return ucir_stream_fill(s, len, err);
	return s->w.buf + s->at;
}

/* Skip @len of the bytes that ucir_stream_need() has returned. */
static inline void ucir_stream_skip(struct ucir_stream *s, size_t len)
{
	s->at += len;
}

#endif
