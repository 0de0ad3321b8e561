/* SPDX-License-Identifier: MIT */
#include "zstd_seek.h"

#include <stdlib.h>

#include "zstd_frames.h"

struct seekable {
	struct ts_source base;
	struct ts_source *src;         /* owned; the compressed file */
	struct ts_zstd_frames *frames; /* owned, with all other sources of the file */
};

static bool read_seekable(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			  struct ts_error *err)
{
	const struct seekable *s = (const struct seekable *)src;

	return ts_zstd_frames_read(s->frames, s->src, off, data, len, got, err);
}

static void close_seekable(struct ts_source *src)
{
	struct seekable *s = (struct seekable *)src;

	ts_source_close(s->src);
	ts_zstd_frames_release(s->frames);
}

static bool is_seekable_unchanged(const struct ts_source *src)
{
	return ts_source_is_unchanged(((const struct seekable *)src)->src);
}

static struct ts_source *dup_seekable(const struct ts_source *src, struct ts_error *err);

/* A source of @frames, which is taken, over @src, which is taken if this succeeds. */
static struct ts_source *new_seekable(struct ts_source *src, struct ts_zstd_frames *frames,
				      struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_seekable,
						  .dup = dup_seekable,
						  .close = close_seekable,
						  .is_unchanged = is_seekable_unchanged };
	struct seekable *s = calloc(1, sizeof(*s));

	if (!s) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: it is not opened");
		ts_zstd_frames_release(frames);
		return NULL;
	}
	s->frames = frames;
	if (!ts_source_init(&s->base, &ops, ts_zstd_frames_len(frames), ts_source_name(src), err)) {
		ts_source_close(&s->base);
		return NULL;
	}
	s->src = src;
	ts_source_take_times(&s->base, src);
	return &s->base;
}

static struct ts_source *dup_seekable(const struct ts_source *src, struct ts_error *err)
{
	const struct seekable *s = (const struct seekable *)src;
	struct ts_source *inner = ts_source_dup(s->src, err), *dup;

	if (!inner)
		return NULL;
	dup = new_seekable(inner, ts_zstd_frames_share(s->frames), err);
	if (!dup)
		ts_source_close(inner);
	return dup;
}

struct ts_source *ts_zstd_seek_open(struct ts_source *src, struct ts_error *err)
{
	struct ts_zstd_frames *frames = ts_zstd_frames_open(src, err);

	return frames ? new_seekable(src, frames, err) : NULL;
}
