/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * How much of a plain stream is read at once: little after a jump, which is for a few steps, and twice as
 * much each time that it goes on, until the system calls are cheap; still within a processor's cache.
 */
#define FIRST_PIECE_LEN 16384u
#define MAX_PIECE_LEN 262144u

/* In a framed stream, the number of chunks kept after a jump: decoding a few steps needs no more. */
#define N_NEAR 2

uint64_t ucir_bytes_file_off(const struct ucir_bytes *bytes, uint64_t off)
{
	if (!bytes->is_framed)
		return bytes->start + off;
	if (off < bytes->frames.len)
		return bytes->frames.chunks[snappy_frames_find(&bytes->frames, off)].file_off;
	return bytes->frames.end.code == TS_OK ? ts_source_len(bytes->src) : bytes->frames.end.off;
}

bool ucir_stream_init(struct ucir_stream *s, const struct ucir_bytes *bytes, struct ts_error *err)
{
	*s = (struct ucir_stream){ .bytes = bytes, .piece = FIRST_PIECE_LEN };
	s->scratch = bytes->is_framed ? malloc(SNAPPY_MAX_BODY) : NULL;
	if (bytes->is_framed && !s->scratch)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read the trace");
	return true;
}

void ucir_stream_fini(struct ucir_stream *s)
{
	for (unsigned i = 0; i < UCIR_N_KEPT; i++)
		free(s->kept[i].bytes);
	free(s->buf);
	free(s->scratch);
	*s = (struct ucir_stream){ 0 };
}

/* Room for @len more bytes after the window. */
static bool make_room(struct ucir_stream *s, size_t len, struct ts_error *err)
{
	size_t cap = s->cap ? s->cap : 2 * SNAPPY_MAX_DECODED;
	uint8_t *buf;

	while (cap - s->end < len)
		cap *= 2;
	if (cap == s->cap)
		return true;
	buf = realloc(s->buf, cap);
	if (!buf)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for %zu bytes of the trace", cap);
	s->buf = buf;
	s->cap = cap;
	return true;
}

static bool find_kept(const struct ucir_stream *s, size_t chunk, uint8_t *out, size_t len)
{
	for (unsigned i = 0; i < UCIR_N_KEPT; i++) {
		if (s->kept[i].bytes && s->kept[i].len == len && s->kept[i].chunk == chunk) {
			memcpy(out, s->kept[i].bytes, len);
			return true;
		}
	}
	return false;
}

/* Without memory it is not kept. */
static void keep(struct ucir_stream *s, size_t chunk, const uint8_t *bytes, size_t len)
{
	struct ucir_kept *k = &s->kept[s->next_kept];

	if (!k->bytes && !(k->bytes = malloc(SNAPPY_MAX_DECODED)))
		return;
	memcpy(k->bytes, bytes, len);
	k->chunk = chunk;
	k->len = (uint32_t)len;
	s->next_kept = (s->next_kept + 1) % UCIR_N_KEPT;
}

/* Decode the next chunk of a framed stream after the window, which has room for its @len bytes. */
static bool append_chunk(struct ucir_stream *s, size_t len, struct ts_error *err)
{
	uint8_t *out = s->buf + s->end;

	if (!find_kept(s, s->chunk, out, len)) {
		if (!snappy_frames_decode(&s->bytes->frames, s->chunk, out, s->scratch, err))
			return false;
		if (s->n_near < N_NEAR)
			keep(s, s->chunk, out, len);
	}
	s->n_near++;
	s->chunk++;
	return true;
}

/* Append the bytes that follow the window. */
static bool append(struct ucir_stream *s, struct ts_error *err)
{
	const struct ucir_bytes *b = s->bytes;
	uint64_t off = s->off + s->end;
	size_t len;

	if (b->is_framed) {
		len = snappy_frames_decoded_len(&b->frames, s->chunk);
		if (!make_room(s, len, err) || !append_chunk(s, len, err))
			return false;
	} else {
		len = b->len - off < s->piece ? (size_t)(b->len - off) : s->piece;
		if (!make_room(s, len, err) ||
		    !ts_source_read_all(b->src, b->start + off, s->buf + s->end, len, err))
			return false;
		if (s->piece < MAX_PIECE_LEN)
			s->piece *= 2;
	}
	s->end += len;
	return true;
}

bool ucir_stream_seek(struct ucir_stream *s, uint64_t off, struct ts_error *err)
{
	const struct snappy_frames *frames = &s->bytes->frames;

	assert(off <= s->bytes->len);
	if (off >= s->off && off - s->off <= s->end) {
		s->at = (size_t)(off - s->off);
		return true;
	}
	s->off = off;
	s->at = s->end = 0;
	s->piece = FIRST_PIECE_LEN;
	s->n_near = 0;
	if (!s->bytes->is_framed)
		return true;
	s->chunk = off < frames->len ? snappy_frames_find(frames, off) : frames->n;
	if (s->chunk == frames->n || frames->chunks[s->chunk].off == off)
		return true;
	s->off = frames->chunks[s->chunk].off;
	if (!append(s, err))
		return false;
	s->at = (size_t)(off - s->off);
	return true;
}

/* Drop the bytes before the next one. */
static void drop_passed(struct ucir_stream *s)
{
	if (s->at == 0)
		return;
	memmove(s->buf, s->buf + s->at, s->end - s->at);
	s->off += s->at;
	s->end -= s->at;
	s->at = 0;
}

const uint8_t *ucir_stream_fill(struct ucir_stream *s, uint64_t len, struct ts_error *err)
{
	uint64_t left = ucir_stream_left(s);

	if (len > left) {
		ts_fail(err, TS_ETRUNC, ucir_bytes_file_off(s->bytes, s->bytes->len),
			"%" PRIu64 " bytes needed but %" PRIu64 " left", len, left);
		return NULL;
	}
	drop_passed(s);
	while (s->end - s->at < len) {
		if (!append(s, err))
			return NULL;
	}
	return s->buf + s->at;
}
