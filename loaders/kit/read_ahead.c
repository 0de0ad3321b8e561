/* SPDX-License-Identifier: MIT */
#include "read_ahead.h"

#include <assert.h>
#include <stdlib.h>

#include "src/base/thread.h"

/* The thread alone uses the piece that it reads, while is_asked holds. */
struct ts_read_ahead {
	const struct ts_source *src; /* borrowed */
	uint8_t *pieces[2];          /* owned; pieces[next] is read or was, the owner has the other one */
	unsigned next;
	uint64_t off;                /* of pieces[next] */
	size_t len;
	bool has_piece;              /* it was begun, and not taken */

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;      /* one of these: */
	bool is_asked;               /* until it has been read */
	bool is_read;                /* as a whole */
	bool is_to_end;
};

static bool read_piece(struct ts_read_ahead *ra)
{
	struct ts_error err = { 0 };
	size_t got;

	return ts_source_read(ra->src, ra->off, ra->pieces[ra->next] + TS_READ_AHEAD_ROOM, ra->len, &got,
			      &err) &&
	       got == ra->len;
}

static void *read_pieces(void *user)
{
	struct ts_read_ahead *ra = user;

	pthread_mutex_lock(&ra->lock);
	while (!ra->is_to_end) {
		bool is_read;

		if (!ra->is_asked) {
			pthread_cond_wait(&ra->changed, &ra->lock);
			continue;
		}
		pthread_mutex_unlock(&ra->lock);
		is_read = read_piece(ra);
		pthread_mutex_lock(&ra->lock);
		ra->is_read = is_read;
		ra->is_asked = false;
		pthread_cond_signal(&ra->changed);
	}
	pthread_mutex_unlock(&ra->lock);
	return NULL;
}

static void wait_until_read(struct ts_read_ahead *ra)
{
	while (ra->is_asked)
		pthread_cond_wait(&ra->changed, &ra->lock);
}

void ts_read_ahead_begin(struct ts_read_ahead *ra, uint64_t off, size_t len)
{
	assert(len <= TS_READ_AHEAD_LEN);
	pthread_mutex_lock(&ra->lock);
	wait_until_read(ra);
	ra->off = off;
	ra->len = len;
	ra->has_piece = ra->is_asked = true;
	pthread_cond_signal(&ra->changed);
	pthread_mutex_unlock(&ra->lock);
}

uint8_t *ts_read_ahead_take(struct ts_read_ahead *ra, uint64_t off, size_t *len)
{
	uint8_t *piece;

	if (!ra->has_piece || ra->off != off)
		return NULL;
	pthread_mutex_lock(&ra->lock);
	wait_until_read(ra);
	pthread_mutex_unlock(&ra->lock);
	ra->has_piece = false;
	if (!ra->is_read)
		return NULL;
	piece = ra->pieces[ra->next];
	ra->next ^= 1;
	*len = ra->len;
	return piece + TS_READ_AHEAD_ROOM;
}

static void free_memory(struct ts_read_ahead *ra)
{
	pthread_cond_destroy(&ra->changed);
	pthread_mutex_destroy(&ra->lock);
	free(ra->pieces[0]);
	free(ra->pieces[1]);
	free(ra);
}

struct ts_read_ahead *ts_read_ahead_new(const struct ts_source *src, size_t pad)
{
	struct ts_read_ahead *ra = calloc(1, sizeof(*ra));

	if (!ra)
		return NULL;
	ra->src = src;
	pthread_mutex_init(&ra->lock, NULL);
	pthread_cond_init(&ra->changed, NULL);
	for (unsigned i = 0; i < 2; i++)
		ra->pieces[i] = calloc(1, TS_READ_AHEAD_ROOM + TS_READ_AHEAD_LEN + pad);
	if (ra->pieces[0] && ra->pieces[1] && ts_thread_start(&ra->thread, read_pieces, ra))
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
