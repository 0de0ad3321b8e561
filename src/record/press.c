/* SPDX-License-Identifier: MIT */
#include "press.h"

#include <string.h>

static bool is_full(const struct ts_press *p)
{
	return p->n_filled - p->n_taken == TS_PRESS_N;
}

/* The next full buffer; NULL when there will be none. */
static const uint8_t *next(struct ts_press *p, size_t *len)
{
	const uint8_t *bytes = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->n_filled == p->n_taken && !p->is_ending)
		pthread_cond_wait(&p->changed, &p->lock);
	if (p->n_filled != p->n_taken) {
		bytes = p->buffers[p->n_taken % TS_PRESS_N];
		*len = p->lens[p->n_taken % TS_PRESS_N];
	}
	pthread_mutex_unlock(&p->lock);
	return bytes;
}

static void give_back(struct ts_press *p)
{
	pthread_mutex_lock(&p->lock);
	p->n_taken++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void *run(void *user)
{
	struct ts_press *p = user;
	const uint8_t *bytes;
	size_t len;

	while ((bytes = next(p, &len))) {
		if (!atomic_load(&p->has_failed) && !ucir_writer_add(p->writer, bytes, len, &p->err))
			atomic_store(&p->has_failed, true);
		atomic_store(&p->n_file, p->writer->n_file);
		give_back(p);
	}
	return NULL;
}

bool ts_press_begin(struct ts_press *p, struct ucir_writer *writer)
{
	p->writer = writer;
	p->n_filled = p->n_taken = 0;
	p->len = 0;
	p->is_ending = false;
	p->err = (struct ts_error){ 0 };
	atomic_init(&p->has_failed, false);
	atomic_init(&p->n_file, writer->n_file);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	return pthread_create(&p->thread, NULL, run, p) == 0;
}

/* The buffer that is being filled is the thread's from now on. */
static void hand_over(struct ts_press *p)
{
	pthread_mutex_lock(&p->lock);
	p->lens[p->n_filled % TS_PRESS_N] = p->len;
	p->n_filled++;
	p->len = 0;
	pthread_cond_broadcast(&p->changed);
	while (is_full(p))
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

bool ts_press_add(struct ts_press *p, const uint8_t *bytes, size_t len)
{
	while (len) {
		size_t room = TS_PRESS_LEN - p->len, n = len < room ? len : room;

		memcpy(p->buffers[p->n_filled % TS_PRESS_N] + p->len, bytes, n);
		p->len += n;
		bytes += n;
		len -= n;
		if (p->len == TS_PRESS_LEN)
			hand_over(p);
	}
	return !atomic_load(&p->has_failed);
}

/* May the queue become this number of bytes of the file? */
static bool may_reach(const struct ts_press *p, uint64_t limit)
{
	uint64_t n_file = atomic_load(&p->n_file), n_queued = p->n_filled - p->n_taken;

	return n_queued && n_file < limit && limit - n_file <= n_queued * TS_PRESS_LEN;
}

bool ts_press_is_beyond(struct ts_press *p, uint64_t limit)
{
	pthread_mutex_lock(&p->lock);
	while (may_reach(p, limit))
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return atomic_load(&p->n_file) >= limit;
}

bool ts_press_end(struct ts_press *p, struct ts_error *err)
{
	if (p->len)
		hand_over(p);
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	if (!atomic_load(&p->has_failed))
		return true;
	*err = p->err;
	return false;
}
