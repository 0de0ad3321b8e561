/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>

#include "feed_parts.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/thread.h"

/* -------------------------------------------------------------------------------------------- the threads */

static void *decode_ahead(void *user)
{
	struct decoder *d = user;
	struct ts_feed *f = d->feed;

	pthread_mutex_lock(&f->lock);
	while (!f->is_to_rest) {
		if (!ts_feed_work(f, d) && !ts_feed_look_ahead(f))
			pthread_cond_wait(&f->changed, &f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

/*
 * What a decoder that the system has no thread for decodes, the caller does when there is nothing else to
 * lend.
 */
static void start_threads(struct ts_feed *f)
{
	f->is_to_rest = false;
	f->is_started = true;
	for (unsigned i = 0; i < f->n_decoders; i++) {
		struct decoder *d = &f->decoders[i];

		d->has_thread = ts_thread_start(&d->thread, decode_ahead, d);
		if (!d->has_thread)
			ts_log(TS_LOG_WARN, "the system refuses a thread: one thread fewer decodes");
	}
}

void ts_feed_stop_threads(struct ts_feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->is_to_rest = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	for (unsigned i = 0; i < f->n_decoders; i++) {
		if (f->decoders[i].has_thread)
			pthread_join(f->decoders[i].thread, NULL);
		f->decoders[i].has_thread = false;
	}
	f->is_started = false;
}

/* ----------------------------------------------------------------------------------------- its callers */

/*
 * The first stretch is free.  It is used again before those that only a decoder which goes far uses: these
 * need not be in a cache.
 */
static void free_first(struct ts_feed *f)
{
	struct stretch *s = ts_feed_stretch(f, f->n_freed), *next = ts_feed_stretch(f, f->n_freed + f->n_near);

	if (f->n_begun <= f->n_freed + f->n_near && next != s) {
		struct stretch other = *next;

		*next = *s;
		*s = other;
	}
	f->n_freed++;
	/* the decoder goes back step by step: it is not to pause until the caller has taken all */
	if (f->n_allowed > f->n_near && f->n_freed % 2 == 0)
		f->n_allowed--;
	pthread_cond_broadcast(&f->changed);
}

/* The batch that was lent may be filled again. */
static void give_back(struct ts_feed *f)
{
	struct stretch *s = ts_feed_stretch(f, f->n_freed);

	if (!f->is_lent)
		return;
	f->is_lent = false;
	if (f->n_stretches > 1)
		ts_batch_give_back(&s->batches[s->n_taken].steps,
		      f->n_allowed > f->n_near ? MAX_FAR_KEPT_BYTES : MAX_KEPT_BYTES);
	s->n_taken++;
	if (s->n_taken == s->n_full && s->is_over)
		free_first(f);
}

/* Do what the decoders without a thread could do.  Returns false if that is nothing. */
static bool work_here(struct ts_feed *f)
{
	for (unsigned i = 0; i < f->n_decoders; i++)
		if (!f->decoders[i].has_thread && ts_feed_work(f, &f->decoders[i]))
			return true;
	return false;
}

/* Until there are some batches, but not long. */
static void wait_for_batches(struct ts_feed *f)
{
	const struct timespec until = ts_deadline(TS_PATIENCE_MS);
	int failed = 0;

	while (!ts_feed_n_ready(f) && work_here(f))
		;
	if (ts_feed_n_ready(f))
		return;
	f->waited -= ts_now_ns();
	while (!ts_feed_has_enough(f) && failed != ETIMEDOUT)
		failed = pthread_cond_timedwait(&f->filled, &f->lock, &until);
	f->waited += ts_now_ns();
}

#define MIN_JUDGED 256u

bool ts_feed_is_slow(const struct ts_feed *f)
{
	return f->n_lent >= MIN_JUDGED && f->waited > (ts_now_ns() - f->since) / 3;
}

static struct ts_batch *lend(struct ts_feed *f)
{
	struct stretch *s = ts_feed_stretch(f, f->n_freed);

	f->is_lent = ts_feed_n_ready(f) > 0;
	return f->is_lent ? &s->batches[s->n_taken] : NULL;
}

struct ts_batch *ts_feed_next(struct ts_feed *f)
{
	struct ts_batch *b;

	if (f->decoders[0].twin && !f->is_started)
		start_threads(f);
	pthread_mutex_lock(&f->lock);
	give_back(f);
	wait_for_batches(f);
	b = lend(f);
	if (b && !f->n_lent) {
		f->since = ts_now_ns();
		f->waited = 0;
	}
	f->n_lent += b != NULL;
	pthread_mutex_unlock(&f->lock);
	if (b && b->has_learned && !ts_learned_give(&b->learned, f->rec))
		ts_batch_fail_for_memory(b);
	return b;
}

void ts_feed_allow_lead(struct ts_feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->n_allowed = f->n_stretches;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

bool ts_feed_resume(struct ts_feed *f, const uint8_t *point, size_t len, const struct ts_end *end,
		    struct ts_error *err)
{
	struct ts_reader *r = f->decoders[0].reader;

	if (!ts_reader_resume(r, point, len, err))
		return false;
	r->end = *end;
	return true;
}

void ts_feed_take_from(struct ts_feed *f, const struct ts_batch_store *store)
{
	f->store = store;
	f->rec->is_read = true;
}

void ts_feed_start(const struct ts_feed *f, struct ts_buf *point)
{
	struct ts_reader *r = f->decoders[0].reader;

	ts_reader_save(r, point);
}

static void free_ring(struct ts_feed *f)
{
	for (unsigned i = 0; i < f->n_stretches; i++) {
		struct stretch *s = &f->stretches[i];

		for (unsigned j = 0; j < f->len; j++)
			ts_batch_fini(&s->batches[j]);
		free(s->batches);
		ts_buf_fini(&s->start);
		ts_buf_fini(&s->end);
	}
	free(f->stretches);
}

static bool init_stretch(struct stretch *s, unsigned len)
{
	*s = (struct stretch){ .batches = calloc(len, sizeof(*s->batches)) };
	ts_buf_init(&s->start);
	ts_buf_init(&s->end);
	for (unsigned i = 0; i < len && s->batches; i++)
		ts_batch_init(&s->batches[i]);
	return s->batches != NULL;
}

/*
 * A ring of @n stretches of @len batches, of which @n_near are used as a rule, in place of the one that there
 * is. Returns false if memory is exhausted.
 */
static bool make_ring(struct ts_feed *f, unsigned n, unsigned n_near, unsigned len)
{
	struct stretch *stretches = calloc(n, sizeof(*stretches));
	unsigned n_done = 0;

	while (stretches && n_done < n && init_stretch(&stretches[n_done], len))
		n_done++;
	if (n_done < n) {
		while (n_done)
			free(stretches[--n_done].batches);
		free(stretches);
		return false;
	}
	free_ring(f);
	f->stretches = stretches;
	f->n_stretches = n;
	f->n_near = f->n_allowed = n_near;
	f->len = len;
	return true;
}

/* A reader of @twin that is where the feed's does, and a twin that knows what the recording does. */
static struct ts_reader *follow(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err)
{
	struct ts_reader *r = twin->ops->reader(twin, err);
	struct ts_learned learned;
	struct ts_buf point;
	bool done;

	ts_learned_init(&learned);
	ts_buf_init(&point);
	ts_feed_start(f, &point);
	done = r &&
	       ((ts_buf_ok(&point) && ts_learned_take(&learned, f->rec) && ts_learned_give(&learned, twin)) ||
		ts_no_memory(err, "reading ahead")) &&
	       ts_reader_resume(r, point.data, point.len, err);
	ts_learned_fini(&learned);
	ts_buf_fini(&point);
	if (done)
		return r;
	ts_reader_close(r);
	return NULL;
}

static void set_decoder(struct ts_feed *f, struct decoder *d, struct ts_recording *twin, struct ts_reader *r)
{
	*d = (struct decoder){ .feed = f, .twin = twin, .reader = r, .n_learned = twin ? twin->n_learned : 0 };
	ts_steps_init(&d->draft);
	ts_learned_init(&d->before);
}

unsigned ts_feed_n_twins(const struct ts_feed *f, unsigned n_jobs)
{
	unsigned n_decoders = n_jobs / JOBS_A_DECODER < MAX_DECODERS ? n_jobs / JOBS_A_DECODER : MAX_DECODERS;

	return n_decoders > 1 && f->decoders[0].reader->ops->skip ? n_decoders + 1 : 1;
}

/* The place of one more twin: the first replaces the recording, the second is the scout. */
static struct decoder *place_for(struct ts_feed *f)
{
	if (!f->decoders[0].twin)
		return &f->decoders[0];
	return f->scout.reader ? &f->decoders[f->n_decoders] : &f->scout;
}

/* Put the reader of the twin in its place.  Returns false if memory is exhausted. */
static bool add_decoder(struct ts_feed *f, struct ts_recording *twin, struct ts_reader *r)
{
	struct decoder *d = place_for(f);
	bool is_more = d == &f->decoders[f->n_decoders];
	unsigned n = f->n_decoders + is_more;

	if (!(n > 1 ? make_ring(f, n + 2, n + 2, LEN_SHARED) : make_ring(f, N_FAR, N_ALONE, LEN_ALONE)))
		return false;
	if (d == &f->decoders[0])
		ts_reader_close(d->reader);
	set_decoder(f, d, twin, r);
	f->n_decoders = n;
	return true;
}

bool ts_feed_go_ahead(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err)
{
	struct ts_reader *r = follow(f, twin, err);

	if (r)
		r->end = f->decoders[0].reader->end;
	if (r && !add_decoder(f, twin, r)) {
		ts_reader_close(r);
		r = NULL;
		ts_no_memory(err, "reading ahead");
	}
	if (!r) {
		ts_recording_close(twin);
		return false;
	}
	ts_buf_reset(&f->start);
	ts_feed_start(f, &f->start);
	f->rec->is_read = true;
	return true;
}

static void init(struct ts_feed *f, struct ts_recording *rec)
{
	f->rec = rec;
	ts_buf_init(&f->start);
	ts_learned_init(&f->learned);
	pthread_mutex_init(&f->lock, NULL);
	ts_cond_init(&f->filled);
	pthread_cond_init(&f->changed, NULL);
	f->n_decoders = 1;
	f->has_start = true;
	f->pause = 1;
}

struct ts_feed *ts_feed_new(struct ts_recording *rec, struct ts_error *err)
{
	struct ts_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return ts_no_memory(err, "reading it");
	init(f, rec);
	if (make_ring(f, 1, 1, LEN_HERE))
		set_decoder(f, &f->decoders[0], NULL, rec->ops->reader(rec, err));
	else
		ts_no_memory(err, "reading it");
	if (f->decoders[0].reader)
		return f;
	ts_feed_free(f);
	return NULL;
}

static void close_decoder(struct decoder *d)
{
	ts_steps_fini(&d->draft);
	ts_learned_fini(&d->before);
	ts_reader_close(d->reader);
	ts_recording_close(d->twin);
}

void ts_feed_free(struct ts_feed *f)
{
	if (!f)
		return;
	ts_feed_stop_threads(f);
	pthread_cond_destroy(&f->changed);
	pthread_cond_destroy(&f->filled);
	pthread_mutex_destroy(&f->lock);
	free_ring(f);
	ts_buf_fini(&f->start);
	ts_learned_fini(&f->learned);
	for (unsigned i = 0; i < f->n_decoders; i++)
		close_decoder(&f->decoders[i]);
	close_decoder(&f->scout);
	free(f);
}
