/* SPDX-License-Identifier: MIT */
/*
 *      frame frame frame ...
 *      5e 2a 4d 18, u32 length of what follows
 *      for each frame: u32 compressed length, u32 decoded length, and u32 checksum if the descriptor says so
 *      u32 frames, u8 descriptor (bit 7: checksums; bits 6 to 2 are 0), b1 ea 92 8f
 *
 * The table is not trusted: the lengths must add up to the file, and each frame must decode to its length.
 */
#include "zstd_frames.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/collections/bisect.h"
#include "src/base/cursor.h"

#define HEAD_LEN      8u
#define FOOT_LEN      9u
#define SKIPPABLE     UINT32_C(0x184d2a5e)
#define SEEKABLE      UINT32_C(0x8f92eab1)
#define HAS_CHECKSUMS 0x80u
#define RESERVED      0x7cu

/* Larger frames are not decoded for the few bytes of a question. */
#define MAX_FRAME (UINT32_C(16) << 20)

/* As many threads decode at once and find a decoder that is left; more of them make their own. */
#define MAX_IDLE 8u

struct frame {
	uint64_t off;      /* of its decoded bytes */
	uint64_t src_off;  /* of its compressed ones */
	uint32_t checksum; /* of its decoded bytes, where the table has it: the low half of XXH64 */
};

struct kept {
	uint64_t frame;
	uint8_t *bytes;     /* owned; NULL: none is kept here */
	uint64_t used;      /* the largest was used last */
	unsigned n_readers; /* that copy from it now */
};

struct ts_zstd_frames {
	struct frame *frames; /* owned; n_frames and one more for their end */
	uint64_t n_frames;
	bool has_checksums;

	pthread_mutex_t lock; /* of what follows */
	unsigned n_owners;
	struct kept kept[TS_ZSTD_MAX_KEPT];
	uint64_t kept_len; /* bytes in them */
	uint64_t n_uses;
	ZSTD_DCtx *idle[MAX_IDLE]; /* owned; decoders that no caller uses */
	unsigned n_idle;
};

/* ---------------------------------------------------------------------------------------------- the table */

struct table {
	uint64_t off;   /* of the skippable frame */
	uint64_t n;     /* entries */
	unsigned entry; /* bytes of each */
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

/* Fill f->frames; false if the lengths do not add up to the file, or a frame is too large. */
static bool fill_frames(struct ts_zstd_frames *f, const struct table *t, const uint8_t *bytes)
{
	struct ts_error ignored = { 0 };
	struct ts_cursor c = ts_cursor(bytes, (size_t)t->n * t->entry, 0, "table", &ignored);
	struct frame at = { 0, 0, 0 };

	for (uint64_t i = 0; i < t->n; i++) {
		uint32_t src_len = ts_u32le(&c), len = ts_u32le(&c);

		at.checksum = t->entry > 8 ? ts_u32le(&c) : 0;
		if (len > MAX_FRAME || src_len > 2 * MAX_FRAME)
			return false;
		f->frames[i] = at;
		at.off += len;
		at.src_off += src_len;
	}
	f->frames[t->n] = at;
	f->n_frames = t->n;
	f->has_checksums = t->entry > 8;
	return at.src_off == t->off;
}

static bool read_table(struct ts_zstd_frames *f, const struct ts_source *src, const struct table *t,
		       struct ts_error *err)
{
	uint8_t *bytes = malloc((size_t)t->n * t->entry);
	bool done = false;

	f->frames = malloc(((size_t)t->n + 1) * sizeof(*f->frames));
	if (!bytes || !f->frames)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a table of %" PRIu64 " frames",
			t->n);
	else if (ts_source_read_all(src, t->off + HEAD_LEN, bytes, (size_t)t->n * t->entry, err))
		done = fill_frames(f, t, bytes);
	free(bytes);
	return done;
}

struct ts_zstd_frames *ts_zstd_frames_open(const struct ts_source *src, struct ts_error *err)
{
	struct ts_zstd_frames *f;
	struct table t;

	if (!find_table(src, &t, err))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return ts_no_memory(err, "opening it");
	pthread_mutex_init(&f->lock, NULL);
	f->n_owners = 1;
	if (read_table(f, src, &t, err))
		return f;
	ts_zstd_frames_release(f);
	return NULL;
}

struct ts_zstd_frames *ts_zstd_frames_share(struct ts_zstd_frames *f)
{
	pthread_mutex_lock(&f->lock);
	f->n_owners++;
	pthread_mutex_unlock(&f->lock);
	return f;
}

void ts_zstd_frames_release(struct ts_zstd_frames *f)
{
	unsigned n_left;

	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	n_left = --f->n_owners;
	pthread_mutex_unlock(&f->lock);
	if (n_left)
		return;
	for (unsigned i = 0; i < TS_ZSTD_MAX_KEPT; i++)
		free(f->kept[i].bytes);
	while (f->n_idle)
		ZSTD_freeDCtx(f->idle[--f->n_idle]);
	pthread_mutex_destroy(&f->lock);
	free(f->frames);
	free(f);
}

uint64_t ts_zstd_frames_len(const struct ts_zstd_frames *f)
{
	return f->frames[f->n_frames].off;
}

static size_t len_of(const struct ts_zstd_frames *f, uint64_t frame)
{
	return (size_t)(f->frames[frame + 1].off - f->frames[frame].off);
}

/* ----------------------------------------------------------------------------------------------- decoding */

/* A decoder that no other caller uses; NULL if memory is exhausted. */
static ZSTD_DCtx *take_decoder(struct ts_zstd_frames *f)
{
	ZSTD_DCtx *zstd = NULL;

	pthread_mutex_lock(&f->lock);
	if (f->n_idle)
		zstd = f->idle[--f->n_idle];
	pthread_mutex_unlock(&f->lock);
	return zstd ? zstd : ZSTD_createDCtx();
}

static void give_decoder(struct ts_zstd_frames *f, ZSTD_DCtx *zstd)
{
	pthread_mutex_lock(&f->lock);
	if (f->n_idle < MAX_IDLE) {
		f->idle[f->n_idle++] = zstd;
		zstd = NULL;
	}
	pthread_mutex_unlock(&f->lock);
	ZSTD_freeDCtx(zstd);
}

/* Decode the @src_len bytes at @packed into the @len bytes at @out. */
static bool decode(struct ts_zstd_frames *f, uint64_t frame, const uint8_t *packed, size_t src_len,
		   uint8_t *out, size_t len, struct ts_error *err)
{
	const struct frame *at = &f->frames[frame];
	ZSTD_DCtx *zstd = take_decoder(f);
	size_t got;

	if (!zstd)
		return ts_no_memory(err, "a zstd decoder");
	got = ZSTD_decompressDCtx(zstd, out, len, packed, src_len);
	give_decoder(f, zstd);
	if (ZSTD_isError(got))
		return ts_fail(err, TS_ECORRUPT, at->off,
			       "the zstd data is damaged: frame %" PRIu64 " at 0x%" PRIx64 " of the "
			       "compressed file: %s",
			       frame, at->src_off, ZSTD_getErrorName(got));
	if (got != len)
		return ts_fail(err, TS_ECORRUPT, at->off,
			       "the zstd data is damaged: frame %" PRIu64 " at 0x%" PRIx64 " of the "
			       "compressed file has %zu bytes, its table says %zu",
			       frame, at->src_off, got, len);
	if (f->has_checksums && (uint32_t)XXH64(out, len, 0) != at->checksum)
		return ts_fail(err, TS_ECORRUPT, at->off,
			       "the zstd data is damaged: frame %" PRIu64 " at 0x%" PRIx64
			       " of the compressed file has another checksum",
			       frame, at->src_off);
	return true;
}

/* The decoded bytes of a frame, owned by the caller; NULL on failure. */
static uint8_t *decode_frame(struct ts_zstd_frames *f, const struct ts_source *src, uint64_t frame,
			     struct ts_error *err)
{
	const struct frame *at = &f->frames[frame];
	size_t src_len = (size_t)(at[1].src_off - at->src_off), len = len_of(f, frame);
	uint8_t *packed = malloc(src_len + 1), *bytes = malloc(len + 1);
	bool done = packed && bytes;

	if (!done)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a frame of %zu bytes", len);
	done = done && ts_source_read_all(src, at->src_off, packed, src_len, err) &&
	       decode(f, frame, packed, src_len, bytes, len, err);
	free(packed);
	if (done)
		return bytes;
	free(bytes);
	return NULL;
}

/* ------------------------------------------------------------------------------------- what is kept, locked
 */

static struct kept *find_kept(struct ts_zstd_frames *f, uint64_t frame)
{
	for (unsigned i = 0; i < TS_ZSTD_MAX_KEPT; i++) {
		if (f->kept[i].bytes && f->kept[i].frame == frame)
			return &f->kept[i];
	}
	return NULL;
}

static void drop(struct ts_zstd_frames *f, struct kept *k)
{
	f->kept_len -= len_of(f, k->frame);
	free(k->bytes);
	k->bytes = NULL;
}

/* The least recently used frame that no reader is copying from; NULL if none is found. */
static struct kept *find_oldest(struct ts_zstd_frames *f)
{
	struct kept *oldest = NULL;

	for (unsigned i = 0; i < TS_ZSTD_MAX_KEPT; i++) {
		struct kept *k = &f->kept[i];

		if (k->bytes && !k->n_readers && (!oldest || k->used < oldest->used))
			oldest = k;
	}
	return oldest;
}

static struct kept *find_free(struct ts_zstd_frames *f)
{
	struct kept *k = f->kept;

	while (k < f->kept + TS_ZSTD_MAX_KEPT && k->bytes)
		k++;
	return k < f->kept + TS_ZSTD_MAX_KEPT ? k : NULL;
}

/* A free slot for a frame of @len bytes, after dropping old frames; NULL if all are being read. */
static struct kept *make_room(struct ts_zstd_frames *f, size_t len)
{
	struct kept *to = find_free(f), *oldest;

	while ((!to || f->kept_len + len > TS_ZSTD_MAX_KEPT_LEN) && (oldest = find_oldest(f))) {
		drop(f, oldest);
		to = oldest;
	}
	return to && f->kept_len + len <= TS_ZSTD_MAX_KEPT_LEN ? to : NULL;
}

static struct kept *begin_reading(struct ts_zstd_frames *f, struct kept *k)
{
	k->used = ++f->n_uses;
	k->n_readers++;
	return k;
}

/* -------------------------------------------------------------------------------------- what is kept, shared
 */

/* Begin to copy from the frame, if it is kept; else NULL. */
static struct kept *open_kept(struct ts_zstd_frames *f, uint64_t frame)
{
	struct kept *k;

	pthread_mutex_lock(&f->lock);
	k = find_kept(f, frame);
	if (k)
		begin_reading(f, k);
	pthread_mutex_unlock(&f->lock);
	return k;
}

static void close_kept(struct ts_zstd_frames *f, struct kept *k)
{
	pthread_mutex_lock(&f->lock);
	k->n_readers--;
	pthread_mutex_unlock(&f->lock);
}

/*
 * Keep the decoded bytes of a frame, and begin to copy from it.  Takes @bytes on success; if another thread has
 * decoded the frame meanwhile, its bytes are used.  Returns NULL, and @bytes stay the caller's, if no space is left.
 */
static struct kept *keep(struct ts_zstd_frames *f, uint64_t frame, uint8_t *bytes)
{
	size_t len = len_of(f, frame);
	struct kept *k;

	pthread_mutex_lock(&f->lock);
	k = find_kept(f, frame);
	if (k) {
		free(bytes);
		begin_reading(f, k);
	} else if ((k = make_room(f, len))) {
		*k = (struct kept){ .frame = frame, .bytes = bytes };
		f->kept_len += len;
		begin_reading(f, k);
	}
	pthread_mutex_unlock(&f->lock);
	return k;
}

uint64_t ts_zstd_frames_kept(struct ts_zstd_frames *f)
{
	uint64_t len;

	pthread_mutex_lock(&f->lock);
	len = f->kept_len;
	pthread_mutex_unlock(&f->lock);
	return len;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* Copy @n bytes from byte @at of the frame on. */
static bool copy(struct ts_zstd_frames *f, const struct ts_source *src, uint64_t frame, size_t at,
		 uint8_t *out, size_t n, struct ts_error *err)
{
	struct kept *k = open_kept(f, frame);
	uint8_t *bytes = NULL;

	if (!k) {
		bytes = decode_frame(f, src, frame, err);
		if (!bytes)
			return false;
		k = keep(f, frame, bytes);
	}
	memcpy(out, (k ? k->bytes : bytes) + at, n);
	if (k)
		close_kept(f, k);
	else
		free(bytes);
	return true;
}

/* The frame that has the byte at @off, which is before the end. */
static uint64_t find_frame(const struct ts_zstd_frames *f, uint64_t off)
{
	uint64_t at = 1;

	TS_BISECT(at, f->n_frames, i, f->frames[i].off <= off);
	return at - 1;
}

bool ts_zstd_frames_read(struct ts_zstd_frames *f, const struct ts_source *src, uint64_t off, uint8_t *out,
			 size_t len, size_t *n, struct ts_error *err)
{
	*n = 0;
	for (uint64_t frame = find_frame(f, off); *n < len; frame++) {
		size_t at = (size_t)(off + *n - f->frames[frame].off), part = len_of(f, frame) - at;

		if (part > len - *n)
			part = len - *n;
		if (!copy(f, src, frame, at, out + *n, part, err))
			return false;
		*n += part;
	}
	return true;
}

/* --------------------------------------------------------------------------- a source of the file */

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
		ts_no_memory(err, "opening it");
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
