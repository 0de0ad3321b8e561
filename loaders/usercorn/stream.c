/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <assert.h>
#include <inttypes.h>

#include "loaders/kit/snappy.h"

uint64_t ucir_bytes_file_off(const struct ucir_bytes *bytes, uint64_t off)
{
	if (!bytes->is_framed)
		return off;
	if (off < bytes->frames.len)
		return bytes->frames.chunks[snappy_frames_find(&bytes->frames, off)].file_off;
	return bytes->frames.end.code == TS_OK ? ts_source_len(bytes->src) : bytes->frames.end.off;
}

bool ucir_stream_init(struct ucir_stream *s, const struct ucir_bytes *bytes, struct ts_error *err)
{
	*s = (struct ucir_stream){ .bytes = bytes };
	if (bytes->is_framed && !(s->decoded = snappy_source_open(&bytes->frames, err)))
		return false;
	ts_window_init(&s->w, bytes->is_framed ? s->decoded : bytes->src, bytes->end);
	ts_window_go(&s->w, bytes->start);
	return true;
}

void ucir_stream_fini(struct ucir_stream *s)
{
	ts_window_fini(&s->w);
	ts_source_close(s->decoded);
	*s = (struct ucir_stream){ 0 };
}

void ucir_stream_seek(struct ucir_stream *s, uint64_t off)
{
	assert(off <= s->bytes->end);
	if (off - s->w.off > s->w.len)
		ts_window_go(&s->w, off);
	s->at = (size_t)(off - s->w.off);
}

const uint8_t *ucir_stream_fill(struct ucir_stream *s, uint64_t len, struct ts_error *err)
{
	uint64_t left = ucir_stream_left(s), off = ucir_stream_tell(s);
	const uint8_t *p;

	if (len > left) {
		ts_fail(err, TS_ETRUNC, ucir_bytes_file_off(s->bytes, s->bytes->end),
			"%" PRIu64 " bytes needed but %" PRIu64 " left", len, left);
		return NULL;
	}
	p = ts_window_need(&s->w, off, len, err);
	s->at = (size_t)(off - s->w.off);
	return p;
}
