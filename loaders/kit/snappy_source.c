/* SPDX-License-Identifier: MIT */
#include "snappy.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A jump goes to one chunk or a few, and the next one often to the same. */
#define N_KEPT 8

struct kept {
	size_t chunk;
	uint8_t *bytes; /* owned; NULL: none is kept here */
	uint64_t used;  /* the largest was used last */
};

struct snappy_source {
	struct ts_source base;
	const struct snappy_frames *frames; /* borrowed */
	pthread_mutex_t lock;               /* of what follows */
	uint8_t *scratch;                   /* owned; a chunk as it is in the file */
	struct kept kept[N_KEPT];
	uint64_t n_uses;
};

/* The place where a chunk is kept, or else the one that was not used for longest. */
static struct kept *choose_kept(struct snappy_source *s, size_t chunk)
{
	struct kept *oldest = s->kept;

	for (unsigned i = 0; i < N_KEPT; i++) {
		struct kept *k = &s->kept[i];

		if (k->used && k->chunk == chunk)
			return k;
		if (k->used < oldest->used)
			oldest = k;
	}
	oldest->used = 0;
	return oldest;
}

/* The decoded bytes of a chunk, borrowed until the next call; NULL on failure. */
static const uint8_t *chunk_bytes(struct snappy_source *s, struct kept *k, size_t chunk, struct ts_error *err)
{
	if (!k->used) {
		if (!k->bytes && !(k->bytes = malloc(SNAPPY_MAX_DECODED))) {
			ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a snappy chunk");
			return NULL;
		}
		if (!snappy_frames_decode(s->frames, chunk, k->bytes, s->scratch, err))
			return NULL;
		k->chunk = chunk;
	}
	k->used = ++s->n_uses;
	return k->bytes;
}

/* Copy the bytes of a chunk from @at on, at most @len; *n gets how many. */
static bool read_chunk(struct snappy_source *s, size_t chunk, size_t at, uint8_t *data, size_t len, size_t *n,
		       struct ts_error *err)
{
	size_t chunk_len = snappy_frames_decoded_len(s->frames, chunk);
	struct kept *k = choose_kept(s, chunk);
	const uint8_t *bytes;

	*n = len < chunk_len - at ? len : chunk_len - at;
	if (*n == chunk_len && !k->used)
		return snappy_frames_decode(s->frames, chunk, data, s->scratch, err);
	bytes = chunk_bytes(s, k, chunk, err);
	if (bytes)
		memcpy(data, bytes + at, *n);
	return bytes != NULL;
}

static bool read_snappy(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			struct ts_error *err)
{
	struct snappy_source *s = (struct snappy_source *)src;
	bool done = true;

	pthread_mutex_lock(&s->lock);
	for (size_t chunk = snappy_frames_find(s->frames, off); *got < len; chunk++) {
		size_t at = (size_t)(off + *got - s->frames->chunks[chunk].off), n;

		done = read_chunk(s, chunk, at, data + *got, len - *got, &n, err);
		if (!done)
			break;
		*got += n;
	}
	pthread_mutex_unlock(&s->lock);
	return done;
}

static struct ts_source *dup_snappy(const struct ts_source *src, struct ts_error *err)
{
	return snappy_source_open(((const struct snappy_source *)src)->frames, err);
}

static void close_snappy(struct ts_source *src)
{
	struct snappy_source *s = (struct snappy_source *)src;

	for (unsigned i = 0; i < N_KEPT; i++)
		free(s->kept[i].bytes);
	free(s->scratch);
	pthread_mutex_destroy(&s->lock);
}

struct ts_source *snappy_source_open(const struct snappy_frames *frames, struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_snappy, .dup = dup_snappy, .close = close_snappy };
	struct snappy_source *s = calloc(1, sizeof(*s));

	if (!s) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a source of snappy chunks");
		return NULL;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->frames = frames;
	s->scratch = malloc(SNAPPY_MAX_BODY);
	if (!s->scratch)
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for a source of snappy chunks");
	if (ts_source_init(&s->base, &ops, frames->len, ts_source_name(frames->src), err) && s->scratch) {
		s->base.is_read_ahead = frames->src->is_read_ahead;
		return &s->base;
	}
	ts_source_close(&s->base);
	return NULL;
}
