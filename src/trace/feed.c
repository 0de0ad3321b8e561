/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>

#include "src/base/log.h"
#include "src/base/thread.h"
#include "chunk.h"

/*
 * Batches of the ring.  Who finds it full, or empty, waits until it is half so: to wake another thread takes as
 * long as to decode a chunk.
 */
#define N_BATCHES 6
#define N_HALF    (N_BATCHES / 2)

/*
 * While the thread runs, it alone uses the twin, the reader and the batch after the full ones; what stands
 * below the lock is shared.
 */
struct ts_feed {
	struct ts_recording *rec;   /* borrowed */
	struct ts_recording *twin;  /* owned; NULL: decode when asked */
	struct ts_reader *reader;   /* owned; of the twin if there is one */
	uint64_t n_learned;         /* of the reader's recording; all before was passed on */
	struct ts_batch batches[N_BATCHES];

	pthread_t thread;
	bool has_thread;            /* to be joined */
	bool is_alone;              /* the system refused the thread */
	pthread_mutex_t lock;
	pthread_cond_t changed;     /* one of these: */
	unsigned first, n_full;     /* batches that are full, the caller's among them */
	bool is_last;               /* the newest of them ends the recording */
	bool is_to_rest;
	bool is_lent;               /* the first batch is the caller's */
};

/* ---------------------------------------------------------------------------------------------- decoding */

static void batch_init(struct ts_batch *b)
{
	ts_steps_init(&b->steps);
	ts_buf_init(&b->behind);
	ts_learned_init(&b->learned);
}

static void batch_fini(struct ts_batch *b)
{
	ts_steps_fini(&b->steps);
	ts_buf_fini(&b->behind);
	ts_learned_fini(&b->learned);
}

static void fail_for_memory(struct ts_batch *b)
{
	ts_error_reset(&b->err);
	ts_fail(&b->err, TS_ENOMEM, TS_NO_OFF, "no memory for the steps of a chunk");
	b->next = TS_FAIL;
}

/* What the twin learned goes with the batch. */
static void pack_learned(struct ts_feed *f, struct ts_batch *b)
{
	b->has_learned = f->twin && f->twin->n_learned != f->n_learned;
	if (!b->has_learned)
		return;
	f->n_learned = f->twin->n_learned;
	if (!ts_learned_take(&b->learned, f->twin))
		fail_for_memory(b);
}

static void decode(struct ts_feed *f, struct ts_batch *b)
{
	struct ts_reader *r = f->reader;

	ts_steps_reset(&b->steps);
	ts_error_reset(&b->err);
	do {
		b->next = ts_reader_next(r, &b->steps, &b->err);
	} while (b->next == TS_ITEM && b->steps.n_steps < TS_CHUNK_STEPS && !b->steps.is_failed);
	b->end = r->end;
	ts_buf_reset(&b->behind);
	r->ops->save(r, &b->behind);
	if (b->steps.is_failed || !ts_buf_ok(&b->behind))
		fail_for_memory(b);
	pack_learned(f, b);
}

/* -------------------------------------------------------------------------------------------- the thread */

/* The batch after the full ones is full. */
static void count(struct ts_feed *f, const struct ts_batch *b)
{
	f->n_full++;
	f->is_last = b->next != TS_ITEM;
}

static void wait_for_room(struct ts_feed *f)
{
	while (f->n_full > N_HALF && !f->is_to_rest)
		pthread_cond_wait(&f->changed, &f->lock);
}

static void *decode_ahead(void *user)
{
	struct ts_feed *f = user;

	pthread_mutex_lock(&f->lock);
	while (!f->is_last && !f->is_to_rest) {
		struct ts_batch *b = &f->batches[(f->first + f->n_full) % N_BATCHES];

		if (f->n_full == N_BATCHES) {
			wait_for_room(f);
			continue;
		}
		pthread_mutex_unlock(&f->lock);
		decode(f, b);
		pthread_mutex_lock(&f->lock);
		count(f, b);
		if (f->n_full == N_HALF || f->is_last)
			pthread_cond_signal(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/* Where the system has no thread for us, each batch is decoded when it is asked for. */
static void start_thread(struct ts_feed *f)
{
	f->is_to_rest = false;
	f->has_thread = ts_thread_start(&f->thread, decode_ahead, f);
	f->is_alone = !f->has_thread;
	if (f->is_alone)
		ts_log(TS_LOG_WARN, "the system refuses a thread: one thread decodes and indexes");
}

void ts_feed_rest(struct ts_feed *f)
{
	if (!f->has_thread)
		return;
	pthread_mutex_lock(&f->lock);
	f->is_to_rest = true;
	pthread_cond_signal(&f->changed);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	f->has_thread = false;
}

/* If no batch is full, wait until some are, but not long. */
static void wait_for_batches(struct ts_feed *f)
{
	const struct timespec until = ts_deadline(TS_PATIENCE_MS);
	int failed = f->n_full ? ETIMEDOUT : 0;

	while (f->n_full < N_HALF && !f->is_last && failed != ETIMEDOUT)
		failed = pthread_cond_timedwait(&f->changed, &f->lock, &until);
}

/* ----------------------------------------------------------------------------------------- who calls it */

/* The batch that was lent may be filled again. */
static void give_back(struct ts_feed *f)
{
	if (!f->is_lent)
		return;
	f->first = (f->first + 1) % N_BATCHES;
	f->n_full--;
	f->is_lent = false;
	if (f->n_full == N_HALF)
		pthread_cond_signal(&f->changed);
}

static struct ts_batch *lend(struct ts_feed *f)
{
	if (!f->n_full)
		return NULL;
	f->is_lent = true;
	return &f->batches[f->first];
}

struct ts_batch *ts_feed_next(struct ts_feed *f)
{
	struct ts_batch *b;

	if (f->twin && !f->has_thread && !f->is_alone && !f->is_last)
		start_thread(f);
	pthread_mutex_lock(&f->lock);
	give_back(f);
	if (f->has_thread) {
		wait_for_batches(f);
	} else if (!f->n_full) {
		decode(f, &f->batches[f->first]);
		count(f, &f->batches[f->first]);
	}
	b = lend(f);
	pthread_mutex_unlock(&f->lock);
	if (b && b->has_learned && !ts_learned_give(&b->learned, f->rec))
		fail_for_memory(b);
	return b;
}

bool ts_feed_resume(struct ts_feed *f, const uint8_t *point, size_t len, const struct ts_end *end,
		    struct ts_error *err)
{
	if (!f->reader->ops->resume(f->reader, point, len, err))
		return false;
	f->reader->end = *end;
	return true;
}

void ts_feed_start(const struct ts_feed *f, struct ts_buf *point)
{
	f->reader->ops->save(f->reader, point);
}

/* A reader of @twin that stands where the feed's does, and a twin that knows what the recording does. */
static struct ts_reader *follow(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err)
{
	struct ts_reader *r = twin->ops->reader(twin, err);
	struct ts_learned learned;
	struct ts_buf point;
	bool done;

	ts_learned_init(&learned);
	ts_buf_init(&point);
	ts_feed_start(f, &point);
	done = r && ((ts_buf_ok(&point) && ts_learned_take(&learned, f->rec) && ts_learned_give(&learned, twin)) ||
		     ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read ahead")) &&
	       r->ops->resume(r, point.data, point.len, err);
	ts_learned_fini(&learned);
	ts_buf_fini(&point);
	if (done)
		return r;
	ts_reader_close(r);
	return NULL;
}

bool ts_feed_go_ahead(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err)
{
	struct ts_reader *r = follow(f, twin, err);

	if (!r) {
		ts_recording_close(twin);
		return false;
	}
	r->end = f->reader->end;
	ts_reader_close(f->reader);
	f->reader = r;
	f->twin = twin;
	f->n_learned = twin->n_learned;
	f->rec->is_read = true;
	return true;
}

struct ts_feed *ts_feed_new(struct ts_recording *rec, struct ts_error *err)
{
	struct ts_feed *f = calloc(1, sizeof(*f));

	if (!f) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read it");
		return NULL;
	}
	f->rec = rec;
	for (unsigned i = 0; i < N_BATCHES; i++)
		batch_init(&f->batches[i]);
	pthread_mutex_init(&f->lock, NULL);
	ts_cond_init(&f->changed);
	f->reader = rec->ops->reader(rec, err);
	if (f->reader)
		return f;
	ts_feed_free(f);
	return NULL;
}

void ts_feed_free(struct ts_feed *f)
{
	if (!f)
		return;
	ts_feed_rest(f);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	for (unsigned i = 0; i < N_BATCHES; i++)
		batch_fini(&f->batches[i]);
	ts_reader_close(f->reader);
	ts_recording_close(f->twin);
	free(f);
}
