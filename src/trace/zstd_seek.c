/* SPDX-License-Identifier: MIT */
/*
 *      frame frame frame ...
 *      5e 2a 4d 18, u32 length of what follows
 *      for each frame: u32 compressed length, u32 decoded length, and u32 checksum if the descriptor says so
 *      u32 frames, u8 descriptor (bit 7: checksums; bits 6 to 2 are 0), b1 ea 92 8f
 *
 * The table is not trusted: the lengths must add up to the file, and each frame must decode to its length.
 */
#include "zstd_seek.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/cursor.h"

#define HEAD_LEN 8u
#define FOOT_LEN 9u
#define SKIPPABLE UINT32_C(0x184d2a5e)
#define SEEKABLE UINT32_C(0x8f92eab1)
#define HAS_CHECKSUMS 0x80u
#define RESERVED 0x7cu

/* Larger frames are not decoded for the few bytes of a question. */
#define MAX_FRAME (UINT32_C(16) << 20)

#define N_KEPT 8

struct frame {
	uint64_t off;     /* of its decoded bytes */
	uint64_t src_off; /* of its compressed ones */
	uint32_t checksum; /* of its decoded bytes, where the table has it: the low half of XXH64 */
};

struct kept {
	uint64_t frame;
	uint8_t *bytes;    /* owned; NULL: none is kept here */
	uint64_t used;     /* the largest was used last */
};

/* What changes while it is read, under the lock. */
struct decoder {
	pthread_mutex_t lock;
	ZSTD_DCtx *zstd;         /* owned */
	struct kept kept[N_KEPT];
	uint64_t n_uses;
};

struct seekable {
	struct ts_source base;
	struct ts_source *src;   /* owned; the compressed file */
	struct frame *frames;    /* owned; n_frames and one more for their end */
	uint64_t n_frames;
	bool has_checksums;
	struct decoder *decoder; /* owned */
};

/* ---------------------------------------------------------------------------------------------- the table */

struct table {
	uint64_t off;    /* of the skippable frame */
	uint64_t n;      /* entries */
	unsigned entry;  /* bytes of each */
};

/* Is there a table at the end of the file?  Returns false with *err untouched if not. */
static bool find_table(const struct ts_source *src, struct table *t, struct ts_error *err)
{
	uint64_t len = ts_source_len(src), table_len;
	uint8_t foot[FOOT_LEN], head[HEAD_LEN];
	struct ts_cursor c = ts_cursor(foot, sizeof(foot), 0, "table", err);
	uint8_t descriptor;

	if (len < HEAD_LEN + FOOT_LEN || !ts_source_read_all(src, len - FOOT_LEN, foot, sizeof(foot), err))
		return false;
	t->n = ts_u32le(&c);
	descriptor = ts_u8(&c);
	if (ts_u32le(&c) != SEEKABLE || descriptor & RESERVED)
		return false;
	t->entry = descriptor & HAS_CHECKSUMS ? 12 : 8;
	table_len = t->n * t->entry + FOOT_LEN;
	if (!t->n || table_len + HEAD_LEN > len)
		return false;
	t->off = len - table_len - HEAD_LEN;
	c = ts_cursor(head, sizeof(head), t->off, "table", err);
	return ts_source_read_all(src, t->off, head, sizeof(head), err) && ts_u32le(&c) == SKIPPABLE &&
	       ts_u32le(&c) == table_len;
}

/* Fill s->frames; false if the lengths do not add up to the file, or a frame is too large. */
static bool fill_frames(struct seekable *s, const struct table *t, const uint8_t *bytes)
{
	struct ts_error ignored = { 0 };
	struct ts_cursor c = ts_cursor(bytes, (size_t)t->n * t->entry, 0, "table", &ignored);
	struct frame at = { 0, 0, 0 };

	for (uint64_t i = 0; i < t->n; i++) {
		uint32_t src_len = ts_u32le(&c), len = ts_u32le(&c);

		at.checksum = t->entry > 8 ? ts_u32le(&c) : 0;
		if (len > MAX_FRAME || src_len > 2 * MAX_FRAME)
			return false;
		s->frames[i] = at;
		at.off += len;
		at.src_off += src_len;
	}
	s->frames[t->n] = at;
	s->n_frames = t->n;
	s->has_checksums = t->entry > 8;
	return at.src_off == t->off;
}

static bool read_table(struct seekable *s, const struct ts_source *src, const struct table *t,
		       struct ts_error *err)
{
	uint8_t *bytes = malloc((size_t)t->n * t->entry);
	bool done = false;

	s->frames = malloc(((size_t)t->n + 1) * sizeof(*s->frames));
	if (!bytes || !s->frames)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no table of %" PRIu64 " frames",
			t->n);
	else if (ts_source_read_all(src, t->off + HEAD_LEN, bytes, (size_t)t->n * t->entry, err))
		done = fill_frames(s, t, bytes);
	free(bytes);
	return done;
}

/* ----------------------------------------------------------------------------------------------- decoding */

static struct decoder *decoder_new(struct ts_error *err)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (d)
		d->zstd = ZSTD_createDCtx();
	if (!d || !d->zstd) {
		free(d);
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no zstd decoder");
		return NULL;
	}
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

static void decoder_free(struct decoder *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < N_KEPT; i++)
		free(d->kept[i].bytes);
	ZSTD_freeDCtx(d->zstd);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static size_t len_of(const struct seekable *s, uint64_t frame)
{
	return (size_t)(s->frames[frame + 1].off - s->frames[frame].off);
}

/* Decode a frame into the @len bytes at @out. */
static bool decode(const struct seekable *s, uint64_t frame, uint8_t *out, size_t len, struct ts_error *err)
{
	const struct frame *f = &s->frames[frame];
	size_t src_len = (size_t)(f[1].src_off - f->src_off), got;
	uint8_t *bytes = malloc(src_len + 1);
	bool done = bytes && ts_source_read_all(s->src, f->src_off, bytes, src_len, err);

	if (!bytes)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no frame of %zu bytes", src_len);
	if (done) {
		got = ZSTD_decompressDCtx(s->decoder->zstd, out, len, bytes, src_len);
		if (ZSTD_isError(got))
			done = ts_fail(err, TS_ECORRUPT, f->off,
				       "the zstd data is damaged: frame %" PRIu64 " at 0x%" PRIx64 " of the "
				       "compressed file: %s", frame, f->src_off, ZSTD_getErrorName(got));
		else if (got != len)
			done = ts_fail(err, TS_ECORRUPT, f->off,
				       "the zstd data is damaged: frame %" PRIu64 " at 0x%" PRIx64 " of the "
				       "compressed file has %zu bytes, its table says %zu",
				       frame, f->src_off, got, len);
	}
	free(bytes);
	if (done && s->has_checksums && (uint32_t)XXH64(out, len, 0) != f->checksum)
		return ts_fail(err, TS_ECORRUPT, f->off,
			       "the zstd data is damaged: frame %" PRIu64 " at 0x%" PRIx64
			       " of the compressed file has another checksum",
			       frame, f->src_off);
	return done;
}

/* The place where a frame is kept, or the one that was not used for longest. */
static struct kept *choose_kept(struct decoder *d, uint64_t frame)
{
	struct kept *oldest = d->kept;

	for (unsigned i = 0; i < N_KEPT; i++) {
		struct kept *k = &d->kept[i];

		if (k->bytes && k->frame == frame)
			return k;
		if (k->used < oldest->used)
			oldest = k;
	}
	free(oldest->bytes);
	oldest->bytes = NULL;
	return oldest;
}

/* The decoded bytes of a frame, borrowed until the next call; NULL on failure. */
static const uint8_t *frame_bytes(const struct seekable *s, uint64_t frame, struct ts_error *err)
{
	struct decoder *d = s->decoder;
	struct kept *k = choose_kept(d, frame);
	size_t len = len_of(s, frame);
	uint8_t *bytes;

	k->used = ++d->n_uses;
	if (k->bytes)
		return k->bytes;
	bytes = malloc(len + 1);
	if (!bytes)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no frame of %zu bytes", len);
	if (!bytes || !decode(s, frame, bytes, len, err)) {
		free(bytes);
		return NULL;
	}
	k->bytes = bytes;
	k->frame = frame;
	return bytes;
}

/* ------------------------------------------------------------------------------------------- as a source */

/* The frame that has the byte at @off, which is before the end. */
static uint64_t find_frame(const struct seekable *s, uint64_t off)
{
	uint64_t lo = 0, hi = s->n_frames;

	while (hi - lo > 1) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (s->frames[mid].off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static bool read_seekable(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			  struct ts_error *err)
{
	const struct seekable *s = (const struct seekable *)src;
	bool done = true;

	pthread_mutex_lock(&s->decoder->lock);
	for (uint64_t frame = find_frame(s, off); *got < len; frame++) {
		const uint8_t *bytes = frame_bytes(s, frame, err);
		size_t at = (size_t)(off + *got - s->frames[frame].off), n = len_of(s, frame) - at;

		done = bytes != NULL;
		if (!done)
			break;
		if (n > len - *got)
			n = len - *got;
		memcpy(data + *got, bytes + at, n);
		*got += n;
	}
	pthread_mutex_unlock(&s->decoder->lock);
	return done;
}

static struct ts_source *dup_seekable(const struct ts_source *src, struct ts_error *err)
{
	struct ts_source *inner = ts_source_dup(((const struct seekable *)src)->src, err), *dup;

	if (!inner)
		return NULL;
	dup = ts_zstd_seek_open(inner, err);
	if (dup)
		return dup;
	ts_source_close(inner);
	ts_fail(err, TS_EIO, TS_NO_OFF, "cannot open it again: it has changed");
	return NULL;
}

static void close_seekable(struct ts_source *src)
{
	struct seekable *s = (struct seekable *)src;

	ts_source_close(s->src);
	free(s->frames);
	decoder_free(s->decoder);
}

struct ts_source *ts_zstd_seek_open(struct ts_source *src, struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_seekable, .dup = dup_seekable, .close = close_seekable };
	struct seekable *s;
	struct table t;

	if (!find_table(src, &t, err))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: it is not opened");
		return NULL;
	}
	if (ts_source_init(&s->base, &ops, 0, ts_source_name(src), err) && read_table(s, src, &t, err))
		s->decoder = decoder_new(err);
	if (!s->decoder) {
		ts_source_close(&s->base);
		return NULL;
	}
	s->src = src;
	s->base.len = s->frames[s->n_frames].off;
	s->base.mtime = ts_source_mtime(src);
	return &s->base;
}
