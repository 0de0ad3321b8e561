/* SPDX-License-Identifier: MIT */
#include "read_ahead.h"

#include <stdlib.h>

#include "src/base/thread.h"

/*
 * Pieces: the owner has two, the others are read or were.  When all processors are busy, the thread may wait
 * for one for some milliseconds, in which a loader decodes a few MiB.
 */
#define N_PIECES  8u
#define MAX_AHEAD (N_PIECES - 2)

struct piece {
	uint8_t *bytes; /* owned */
	size_t len;
	bool is_read; /* as a whole */
};

struct ts_read_ahead {
	const struct ts_source *src;   /* borrowed */
	struct piece pieces[N_PIECES]; /* a ring; the two before the first are the owner's */

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* one of these: */
	uint64_t off;           /* of the first piece, which is taken next */
	unsigned first, n_full; /* pieces: the first, and how many have been read from there on */
	uint64_t next, end;     /* what the thread reads: from next, up to end */
	unsigned n_wanted;      /* the number of pieces to read before one is taken; it grows with sequential reading */
	bool is_reading;        /* the thread alone uses the piece after the full ones */
	bool is_to_end;
};

static bool has_work(const struct ts_read_ahead *ra)
{
	return ra->n_full < ra->n_wanted && ra->next < ra->end;
}

static void read_piece(struct ts_read_ahead *ra)
{
	struct piece *p = &ra->pieces[(ra->first + ra->n_full) % N_PIECES];
	uint64_t off = ra->next, left = ra->end - off;
	struct ts_error err = { 0 };
	size_t got;

	p->len = left < TS_READ_AHEAD_LEN ? (size_t)left : TS_READ_AHEAD_LEN;
	ra->is_reading = true;
	pthread_mutex_unlock(&ra->lock);
	p->is_read = ts_source_read(ra->src, off, p->bytes + TS_READ_AHEAD_ROOM, p->len, &got, &err) &&
		     got == p->len;
	pthread_mutex_lock(&ra->lock);
	ra->is_reading = false;
	ra->next = p->is_read ? off + p->len : ra->end; /* the consumer reads the piece again and reports the error */
	ra->n_full++;
	pthread_cond_signal(&ra->changed);
}

static void *read_pieces(void *user)
{
	struct ts_read_ahead *ra = user;

	pthread_mutex_lock(&ra->lock);
	while (!ra->is_to_end) {
		if (has_work(ra))
			read_piece(ra);
		else
			pthread_cond_wait(&ra->changed, &ra->lock);
	}
	pthread_mutex_unlock(&ra->lock);
	return NULL;
}

/* Is what was asked for what follows the pieces that were taken? */
static bool goes_on(const struct ts_read_ahead *ra, uint64_t off, uint64_t end)
{
	return ra->off == off && ra->end == end && (!ra->n_full || ra->pieces[ra->first].is_read);
}

void ts_read_ahead_begin(struct ts_read_ahead *ra, uint64_t off, uint64_t end)
{
	pthread_mutex_lock(&ra->lock);
	if (!goes_on(ra, off, end)) {
		while (ra->is_reading)
			pthread_cond_wait(&ra->changed, &ra->lock);
		ra->off = ra->next = off;
		ra->end = end;
		ra->n_full = 0;
		ra->n_wanted = 1;
		pthread_cond_signal(&ra->changed);
	}
	pthread_mutex_unlock(&ra->lock);
}

/* The first piece becomes the owner's: there is room for another one, often for two. */
static uint8_t *pop(struct ts_read_ahead *ra, size_t *len)
{
	const struct piece *p = &ra->pieces[ra->first];

	*len = p->len;
	ra->off += p->len;
	ra->first = (ra->first + 1) % N_PIECES;
	ra->n_full--;
	if (ra->n_wanted < MAX_AHEAD)
		ra->n_wanted++;
	if (ra->n_full <= ra->n_wanted / 2)
		pthread_cond_signal(&ra->changed);
	return p->bytes + TS_READ_AHEAD_ROOM;
}

/* Was the first piece read, and is it long enough? */
static bool is_good(const struct ts_read_ahead *ra, uint64_t least)
{
	const struct piece *p = &ra->pieces[ra->first];

	return ra->n_full && p->is_read && (p->len >= least || ra->off + p->len == ra->end);
}

uint8_t *ts_read_ahead_take(struct ts_read_ahead *ra, uint64_t off, uint64_t least, size_t *len)
{
	uint8_t *bytes = NULL;

	pthread_mutex_lock(&ra->lock);
	while (ra->off == off && !ra->n_full && (ra->is_reading || has_work(ra)))
		pthread_cond_wait(&ra->changed, &ra->lock);
	if (ra->off == off && is_good(ra, least))
		bytes = pop(ra, len);
	pthread_mutex_unlock(&ra->lock);
	return bytes;
}

static void free_memory(struct ts_read_ahead *ra)
{
	pthread_cond_destroy(&ra->changed);
	pthread_mutex_destroy(&ra->lock);
	for (unsigned i = 0; i < N_PIECES; i++)
		free(ra->pieces[i].bytes);
	free(ra);
}

/* Returns false if memory is exhausted. */
static bool make_pieces(struct ts_read_ahead *ra, size_t pad)
{
	for (unsigned i = 0; i < N_PIECES; i++) {
		ra->pieces[i].bytes = calloc(1, TS_READ_AHEAD_ROOM + TS_READ_AHEAD_LEN + pad);
		if (!ra->pieces[i].bytes)
			return false;
	}
	return true;
}

struct ts_read_ahead *ts_read_ahead_new(const struct ts_source *src, size_t pad)
{
	struct ts_read_ahead *ra = calloc(1, sizeof(*ra));

	if (!ra)
		return NULL;
	ra->src = src;
	pthread_mutex_init(&ra->lock, NULL);
	pthread_cond_init(&ra->changed, NULL);
	if (make_pieces(ra, pad) && ts_thread_start(&ra->thread, read_pieces, ra))
		return ra;
	free_memory(ra);
	return NULL;
}

void ts_read_ahead_free(struct ts_read_ahead *ra)
{
	if (!ra)
		return;
	pthread_mutex_lock(&ra->lock);
	ra->is_to_end = true;
	pthread_cond_signal(&ra->changed);
	pthread_mutex_unlock(&ra->lock);
	pthread_join(ra->thread, NULL);
	free_memory(ra);
}
