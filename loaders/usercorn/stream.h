/* SPDX-License-Identifier: MIT */
/*
 * The op stream of a Usercorn trace as a window of contiguous bytes that moves over it.
 *
 * The stream is either the file itself from the end of its header on (plain) or what the snappy chunks there
 * decode to (framed).  The decoder of an op requests as many bytes as it has; an op that straddles chunks
 * makes the window longer while it is needed.  Nothing is allocated for bytes that the stream does not have.
 */
#ifndef LOADERS_USERCORN_STREAM_H
#define LOADERS_USERCORN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/snappy.h"
#include "src/base/error.h"
#include "src/trace/source.h"

/* The location of the stream of a trace.  Constant. */
struct ucir_bytes {
	const struct ts_source *src; /* borrowed */
	bool is_framed;
	struct snappy_frames frames; /* of a framed one */
	uint64_t start;              /* of a plain one: file offset of its first byte */
	uint64_t len;                /* bytes of the whole stream */
};

/* File offset to name for byte @off of the stream: the byte itself, or the chunk that holds it. */
uint64_t ucir_bytes_file_off(const struct ucir_bytes *bytes, uint64_t off);

/* A chunk that was decoded for a jump: the next jump may be to it, or a little before. */
struct ucir_kept {
	size_t chunk;
	uint32_t len;   /* 0: there is none */
	uint8_t *bytes; /* owned */
};

#define UCIR_N_KEPT 8

/* A window over it. */
struct ucir_stream {
	const struct ucir_bytes *bytes; /* borrowed */
	uint8_t *buf;                   /* owned */
	size_t at, end, cap;            /* buf[at .. end) are the bytes that come next */
	uint64_t off;                   /* stream offset of buf[0] */
	uint8_t *scratch;               /* owned; a chunk as it is in the file */
	size_t chunk;                   /* framed: the chunk that follows after buf[end) */
	size_t piece;                   /* plain: how much is read next */
	unsigned n_near;                /* framed: chunks that were appended since the last jump */
	struct ucir_kept kept[UCIR_N_KEPT];
	unsigned next_kept; /* the one to replace */
};

/* A window at the start.  Returns false if memory is exhausted (TS_ENOMEM). */
bool ucir_stream_init(struct ucir_stream *s, const struct ucir_bytes *bytes, struct ts_error *err);
void ucir_stream_fini(struct ucir_stream *s);

/* Stream offset of the next byte. */
static inline uint64_t ucir_stream_tell(const struct ucir_stream *s)
{
	return s->off + s->at;
}

/* Bytes from here to the stream's end. */
static inline uint64_t ucir_stream_left(const struct ucir_stream *s)
{
	return s->bytes->len - ucir_stream_tell(s);
}

/*
 * Go to stream offset @off, at most the stream's length.  Bytes that the window holds are not read again.
 *
 * Returns false as ucir_stream_need() fails.
 */
bool ucir_stream_seek(struct ucir_stream *s, uint64_t off, struct ts_error *err);

/* As ucir_stream_need(), when the window is too short. */
const uint8_t *ucir_stream_fill(struct ucir_stream *s, uint64_t len, struct ts_error *err);

/*
 * The next @len (at least one) bytes, without skipping them; valid until the next call.
 *
 * Returns NULL if the stream has fewer (TS_ETRUNC), if its bytes are damaged (TS_ECORRUPT) or cannot be read
 * (TS_EIO), or if memory is exhausted (TS_ENOMEM).
 */
static inline const uint8_t *ucir_stream_need(struct ucir_stream *s, uint64_t len, struct ts_error *err)
{
	if (__builtin_expect(s->end - s->at < len, 0))
		return ucir_stream_fill(s, len, err);
	return s->buf + s->at;
}

/* Pass @len bytes that a call of ucir_stream_need() gave. */
static inline void ucir_stream_skip(struct ucir_stream *s, size_t len)
{
	s->at += len;
}

#endif
