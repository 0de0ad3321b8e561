/* SPDX-License-Identifier: MIT */
/*
 * Batches stand in stretches, which are decoded in order, each by one decoder.
 *
 * The first batch of a stretch begins at a decode point.  Without a scout that is known when the stretch
 * before has been decoded.  A scout is a reader that skips: it finds the point sooner, so that two decoders
 * can be at work; what it finds is a guess.  A stretch whose decoder is done is settled when all before it
 * are: the point where it ended is compared with the guess, and what was decoded from a wrong guess is
 * dropped.  So is what was decoded without knowing a thread or a warning that the settled stretch brought.
 * Only batches of which nothing can be dropped any more are lent: those of the first stretch that is not
 * settled, and of the ones before it.
 */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/thread.h"
#include "chunk.h"
#include "ways.h"

/*
 * To skip and to resume is work that one decoder does not have: with two processors, one and the builder have
 * enough to do.  More decoders than this decode faster than any builder takes in.
 */
#define JOBS_A_DECODER 2u
#define MAX_DECODERS   4u

/*
 * Batches of a stretch: where the caller decodes, where one thread does, where several do.  With several, a
 * stretch is long beside what it takes to begin one.
 */
#define LEN_HERE   1u
#define LEN_ALONE  12u
#define LEN_SHARED 8u

/*
 * Stretches in the ring of one decoder.  What the builder read last lies in the cache of its processor, and a
 * decoder that writes there waits for each line of it: decoding can take three times as long where the two
 * processors share no cache.  In a long ring the batch that is filled next was read long ago.
 */
#define N_ALONE 6u

/*
 * While the caller seals a segment, which takes it about 10 ms, the decoder may go so far: as many stretches
 * in the ring, as long as what they hold has at most so many bytes.
 */
#define N_FAR         40u
#define MAX_FAR_BYTES (UINT64_C(48) << 20)

/*
 * Steps may have any number of effects.  So many bytes end a stretch of one decoder before it has all its
 * batches; a batch with memory for more than so many does not keep it.
 */
#define MAX_STRETCH_BYTES (UINT64_C(4) << 20)
#define MAX_KEPT_BYTES    (UINT64_C(2) << 20)
#define MAX_FAR_KEPT_BYTES (UINT64_C(512) << 10) /* of a batch that was decoded far ahead */

/* After a guess that was wrong, or none, so many stretches are begun without one; each time double. */
#define MAX_PAUSE 64u

struct stretch {
	struct ts_batch *batches; /* owned; as many as the feed's len */
	unsigned n_full, n_taken; /* batches: decoded, given back by the caller */
	uint64_t n_bytes;         /* of steps in them */
	struct decoder *owner;    /* until it is settled; NULL: the stretch may be begun */
	bool is_over;             /* no batch of it follows */
	bool is_dropped;          /* it began at a wrong point; its owner is still at work */
	bool has_learned;         /* its batches bring threads or warnings, or its owner was told such on the way there */
	struct ts_buf start, end; /* decode points; the end is the scout's guess, empty without one */
};

/* Its owner's thread alone uses the twin and the reader while it is at work; the rest is shared. */
struct decoder {
	struct ts_feed *feed;
	struct ts_recording *twin; /* owned; NULL: the feed's recording */
	struct ts_reader *reader;  /* owned; of the twin if there is one */
	uint64_t n_learned;        /* of the reader's recording; all before was passed on, or came from the feed */
	uint64_t n_lessons;        /* of the feed's, taken in */
	struct ts_ways ways;       /* to batches: its steps are decoded there, or to the draft and copied */
	struct ts_steps draft;     /* owned */
	struct ts_learned before;  /* what the twin knew before its reader was resumed last */
	struct stretch *now;       /* what it decodes, NULL: nothing */
	uint64_t next;             /* the reader stands where the stretch with this number begins; */
	bool is_elsewhere;         /* or it does not */
	bool is_spoiled;           /* its twin knows of something that was dropped: it decodes no more */
	pthread_t thread;
	bool has_thread;           /* to be joined */
};

struct ts_feed {
	struct ts_recording *rec;   /* borrowed */
	struct decoder decoders[MAX_DECODERS];
	unsigned n_decoders;
	struct stretch *stretches;  /* owned; a ring */
	unsigned n_stretches, len;  /* in it, and batches in each of them */
	unsigned n_near;            /* so many are used, but where the decoder goes far */
	bool is_started;            /* threads were, as far as the system has them */
	pthread_mutex_t lock;
	pthread_cond_t filled;      /* batches can be lent */
	pthread_cond_t changed;     /* a decoder may find something to do */

	/* below the lock; numbers of stretches, of which number i is stretches[i % n_stretches]: */
	uint64_t n_begun, n_settled, n_freed;
	unsigned n_allowed;         /* so many may be begun and not freed: n_near to n_stretches */
	bool has_start;             /* where stretch n_begun begins is known: */
	struct ts_buf start;
	uint64_t n_drops;
	struct ts_learned learned;  /* what was learned last in settled stretches */
	uint64_t n_lessons;         /* how often that was */
	bool is_to_rest;
	bool is_lent;               /* the first batch that was not given back is the caller's */

	bool (*look)(void *user, const struct ts_steps *steps); /* NULL: nobody looks */
	void *look_user;
	uint64_t look_at;           /* the stretch of the batch that is looked at next, and which of it that is */
	unsigned look_i;
	uint64_t n_looked, max_looked; /* batches: so far, and those at which a decoder may look */
	bool is_looking;            /* somebody is, at that batch */
	bool is_look_failed;        /* memory is exhausted */

	struct decoder scout;       /* it decodes nothing; its reader is NULL: there is none */
	bool is_scouting;           /* a decoder uses it */
	bool is_scout_there;        /* it stands where stretch n_begun begins */
	uint64_t scout_from;        /* the first stretch of which it is to guess the end */
	unsigned pause;
};

static struct stretch *stretch_at(struct ts_feed *f, uint64_t i)
{
	return &f->stretches[i % f->n_stretches];
}

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

static uint64_t bytes_of(uint32_t n_steps, uint32_t n_effects, uint32_t n_data)
{
	return n_steps * (uint64_t)sizeof(struct ts_step) + n_effects * (uint64_t)sizeof(struct ts_effect) +
	       n_data;
}

static uint64_t used_bytes(const struct ts_steps *b)
{
	return bytes_of(b->n_steps, b->n_effects, b->n_data);
}

/* It was read: a batch of extraordinary steps, with memory for more than @max bytes, gives it back. */
static void empty(struct ts_steps *b, uint64_t max)
{
	if (bytes_of(b->cap_steps, b->cap_effects, b->cap_data) > max)
		ts_steps_fini(b);
}

static void fail_for_memory(struct ts_batch *b)
{
	ts_error_reset(&b->err);
	ts_fail(&b->err, TS_ENOMEM, TS_NO_OFF, "no memory for the steps of a chunk");
	b->next = TS_FAIL;
}

/* What the twin learned goes with the batch. */
static void pack_learned(struct decoder *d, struct ts_batch *b)
{
	b->has_learned = d->twin && d->twin->n_learned != d->n_learned;
	if (!b->has_learned)
		return;
	d->n_learned = d->twin->n_learned;
	if (!ts_learned_take(&b->learned, d->twin))
		fail_for_memory(b);
}

/* The steps of a batch to @out. */
static void decode_steps(struct ts_reader *r, struct ts_batch *b, struct ts_steps *out)
{
	ts_steps_reset(out);
	do {
		b->next = ts_reader_next(r, out, &b->err);
	} while (b->next == TS_ITEM && out->n_steps < TS_CHUNK_STEPS && !out->is_failed);
}

/*
 * The same on a thread.  Where the batch was read by another processor, which shares no cache with this one,
 * to write its effects one by one takes longer than to decode them; to copy all of them is a tenth more.
 */
static void decode_for_other(struct decoder *d, struct ts_batch *b)
{
	int64_t start = ts_now_ns();

	if (ts_ways_is_second(&d->ways)) {
		decode_steps(d->reader, b, &d->draft);
		ts_steps_copy(&b->steps, &d->draft);
		empty(&d->draft, MAX_KEPT_BYTES);
	} else {
		decode_steps(d->reader, b, &b->steps);
	}
	ts_ways_note(&d->ways, ts_now_ns() - start);
}

static void decode(struct decoder *d, struct ts_batch *b)
{
	struct ts_reader *r = d->reader;

	ts_error_reset(&b->err);
	if (d->twin)
		decode_for_other(d, b);
	else
		decode_steps(r, b, &b->steps);
	b->end = r->end;
	ts_buf_reset(&b->behind);
	r->ops->save(r, &b->behind);
	if (b->steps.is_failed || !ts_buf_ok(&b->behind))
		fail_for_memory(b);
	pack_learned(d, b);
}

/* ----------------------------------------------------------------------------------------------- settling */

/* The stretch, which was dropped, may be begun anew. */
static void release(struct stretch *s)
{
	if (s->has_learned)
		s->owner->is_spoiled = true;
	s->owner = NULL;
	s->is_dropped = false;
}

/* Whatever was begun after the settled stretches is not what follows them. */
static void drop_rest(struct ts_feed *f)
{
	for (; f->n_begun > f->n_settled; f->n_begun--) {
		struct stretch *s = stretch_at(f, f->n_begun - 1);

		s->owner->is_elsewhere = true;
		s->is_dropped = true;
		if (s->is_over)
			release(s);
	}
	f->n_drops++;
	f->is_scout_there = false;
	f->has_start = false;
}

/* Where there is one decoder only nobody resumes. */
static void copy_point(const struct ts_feed *f, struct ts_buf *to, const struct ts_buf *from)
{
	if (f->n_decoders == 1)
		return;
	ts_buf_reset(to);
	ts_buf_put(to, from->data, from->len);
}

static bool is_same_point(const struct ts_buf *a, const struct ts_buf *b)
{
	return a->len && a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static void pause_scout(struct ts_feed *f)
{
	f->scout_from = f->n_begun + f->pause;
	if (f->pause < MAX_PAUSE)
		f->pause *= 2;
}

/* The other decoders are to learn what the stretch brings. */
static void note_learned(struct ts_feed *f, struct stretch *s)
{
	bool done = ts_learned_take(&f->learned, s->owner->twin); /* which its owner has not used since */

	f->n_lessons++;
	s->owner->n_lessons = f->n_lessons;
	for (unsigned i = 0; i < f->n_decoders && !done; i++)
		f->decoders[i].is_spoiled |= &f->decoders[i] != s->owner;
}

/* The first stretch that is not settled has been decoded. */
static void settle(struct ts_feed *f, struct stretch *s)
{
	const struct ts_batch *last = &s->batches[s->n_full - 1];

	f->n_settled++;
	if (!s->has_learned && is_same_point(&s->end, &last->behind)) {
		f->pause = 1;
		s->owner = NULL;
		return;
	}
	if (s->has_learned)
		note_learned(f, s);
	else if (s->end.len)
		pause_scout(f);
	s->owner = NULL;
	drop_rest(f);
	copy_point(f, &f->start, &last->behind);
	f->has_start = last->next == TS_ITEM;
}

static void settle_all(struct ts_feed *f)
{
	while (f->n_settled < f->n_begun && stretch_at(f, f->n_settled)->is_over)
		settle(f, stretch_at(f, f->n_settled));
}

/* ---------------------------------------------------------------------------------------------- stretches */

/* Give its twin what others learned.  Returns false if memory is exhausted. */
static bool teach(struct ts_feed *f, struct decoder *d)
{
	if (d->n_lessons == f->n_lessons || !d->twin)
		return !d->is_spoiled;
	d->is_spoiled = !ts_learned_give(&f->learned, d->twin);
	d->n_learned = d->twin->n_learned;
	d->n_lessons = f->n_lessons;
	return !d->is_spoiled;
}

/*
 * Resume its reader where another one was.  What is odd on the way to there was found by that one; *is_odd:
 * there was something, or the point is a wrong one.
 *
 * Returns false as the reader's resume() does, or if memory is exhausted.
 */
static bool go_to(struct decoder *d, const struct ts_buf *point, bool *is_odd, struct ts_error *err)
{
	uint64_t n_learned = d->twin->n_learned;
	bool done = ts_learned_take(&d->before, d->twin) ||
		    ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read ahead");

	done = done && d->reader->ops->resume(d->reader, point->data, point->len, err);
	*is_odd = d->twin->n_learned != n_learned;
	if (*is_odd)
		ts_learned_give(&d->before, d->twin); /* there is room: it had as much */
	d->n_learned = d->twin->n_learned;
	return done;
}

/* @is_there: the scout stands where the stretch begins. */
static bool has_guess(struct ts_feed *f, struct stretch *s, bool is_there)
{
	struct ts_reader *r = f->scout.reader;
	struct ts_error err = { 0 };
	bool is_odd;

	if ((!is_there && !go_to(&f->scout, &s->start, &is_odd, &err)) ||
	    !r->ops->skip(r, (uint64_t)f->len * TS_CHUNK_STEPS))
		return false;
	r->ops->save(r, &s->end);
	return ts_buf_ok(&s->end);
}

/* Guess where the stretch ends, which is the last one that was begun. */
static void look_ahead(struct ts_feed *f, struct stretch *s)
{
	uint64_t n_drops = f->n_drops;
	bool is_there = f->is_scout_there, found;

	if (f->n_decoders == 1 || f->n_begun <= f->scout_from || !teach(f, &f->scout))
		return;
	f->is_scouting = true;
	pthread_mutex_unlock(&f->lock);
	found = has_guess(f, s, is_there);
	pthread_mutex_lock(&f->lock);
	f->is_scouting = false;
	if (n_drops != f->n_drops)
		return;
	f->is_scout_there = f->has_start = found;
	if (found)
		copy_point(f, &f->start, &s->end);
	else
		pause_scout(f);
}

/* The bytes of all that was decoded ahead. */
static uint64_t bytes_ahead(struct ts_feed *f)
{
	uint64_t n = 0;

	for (uint64_t i = f->n_freed; i < f->n_begun; i++)
		n += stretch_at(f, i)->n_bytes;
	return n;
}

/* Is there room for one more stretch? */
static bool has_room(struct ts_feed *f)
{
	uint64_t n = f->n_begun - f->n_freed;

	return n < f->n_near || (n < f->n_allowed && bytes_ahead(f) <= MAX_FAR_BYTES);
}

/* Begin the next stretch, if that is possible, and @d may. */
static struct stretch *begin(struct ts_feed *f, struct decoder *d)
{
	struct stretch *s = stretch_at(f, f->n_begun);
	bool stands = !d->is_elsewhere && d->next == f->n_begun;

	if (d->is_spoiled || (!d->is_elsewhere && d->next > f->n_settled) || !has_room(f) || s->owner ||
	    !f->has_start || f->is_scouting || (!stands && !ts_buf_ok(&f->start)) || !teach(f, d))
		return NULL;
	s->n_full = s->n_taken = 0;
	s->n_bytes = 0;
	s->is_over = s->has_learned = false;
	s->owner = d;
	copy_point(f, &s->start, &f->start);
	ts_buf_reset(&s->end);
	d->now = s;
	d->next = ++f->n_begun;
	d->is_elsewhere = !stands;
	f->has_start = false;
	return s;
}

/* The stretch has one more batch. */
static void count(struct ts_feed *f, struct decoder *d, struct stretch *s)
{
	const struct ts_batch *b = &s->batches[s->n_full];

	s->has_learned |= b->has_learned;
	if (s->is_dropped) {
		release(s);
		d->now = NULL;
		d->is_elsewhere = true;
		return;
	}
	s->n_full++;
	s->n_bytes += used_bytes(&b->steps);
	s->is_over = s->n_full == f->len || b->next != TS_ITEM ||
		     (f->n_decoders == 1 && s->n_bytes > MAX_STRETCH_BYTES);
	if (!s->is_over)
		return;
	d->now = NULL;
	settle_all(f);
}

/* The batches that can be lent. */
static unsigned n_ready(struct ts_feed *f)
{
	const struct stretch *s = stretch_at(f, f->n_freed);

	return f->n_freed < f->n_begun ? s->n_full - s->n_taken : 0;
}

/* Nothing follows what was decoded. */
static bool is_ended(const struct ts_feed *f)
{
	return f->n_settled == f->n_begun && !f->has_start;
}

/*
 * So many that it is worth to wake who waits for them: to wake a thread takes as long as to decode a chunk.
 * Where one thread decodes that is half of what it may begin, so that it has room for as long.
 */
static bool has_enough(struct ts_feed *f)
{
	const struct stretch *s = stretch_at(f, f->n_freed);
	unsigned n = n_ready(f);

	if (!n)
		return false;
	if (f->n_decoders == 1)
		return f->n_settled - f->n_freed >= f->n_near / 2 || is_ended(f);
	return s->is_over || n > f->len / 2;
}

/*
 * The stretch at which @d is at work; *is_there tells whether its reader is there too.  Returns NULL if there
 * is nothing to do now.
 */
static struct stretch *take(struct ts_feed *f, struct decoder *d, bool *is_there)
{
	struct stretch *s = d->now;

	*is_there = true;
	if (s)
		return s;
	s = begin(f, d);
	if (!s)
		return NULL;
	*is_there = !d->is_elsewhere;
	d->is_elsewhere = false;
	look_ahead(f, s);
	if (f->n_decoders > 1)
		pthread_cond_broadcast(&f->changed);
	return s;
}

/* The next batch of the stretch. */
static void decode_next(struct decoder *d, struct stretch *s, bool is_there)
{
	struct ts_batch *b = &s->batches[s->n_full];

	ts_error_reset(&b->err);
	if (is_there || go_to(d, &s->start, &s->has_learned, &b->err)) {
		decode(d, b);
		return;
	}
	ts_steps_reset(&b->steps);
	ts_buf_reset(&b->behind);
	b->has_learned = false;
	b->next = TS_FAIL;
	b->end = d->reader->end;
}

/*
 * Decode one batch.  The lock, which is held, is not meanwhile.  Returns false if there is nothing to do now.
 */
static bool work(struct ts_feed *f, struct decoder *d)
{
	bool is_there;
	struct stretch *s = take(f, d, &is_there);

	if (!s)
		return false;
	pthread_mutex_unlock(&f->lock);
	decode_next(d, s, is_there);
	pthread_mutex_lock(&f->lock);
	count(f, d, s);
	if (has_enough(f))
		pthread_cond_signal(&f->filled);
	if (!d->now && f->n_decoders > 1)
		pthread_cond_broadcast(&f->changed);
	return true;
}

/* ------------------------------------------------------------------------------------------------ looking */

/*
 * Is the next batch there?  It cannot be dropped: looks pass on from a stretch that is over, so that they are never
 * beyond the first one that is not settled.
 */
static bool has_look(struct ts_feed *f)
{
	return f->look_at < f->n_begun && f->look_i < stretch_at(f, f->look_at)->n_full;
}

/* Look at the next batch, which is there.  The lock, which is held, is not meanwhile. */
static void look(struct ts_feed *f)
{
	const struct stretch *s = stretch_at(f, f->look_at);
	const struct ts_batch *b = &s->batches[f->look_i];
	bool done;

	f->is_looking = true;
	pthread_mutex_unlock(&f->lock);
	done = !b->steps.n_steps || f->look(f->look_user, &b->steps);
	pthread_mutex_lock(&f->lock);
	f->is_looking = false;
	f->is_look_failed |= !done;
	f->n_looked++;
	f->look_i++;
	if (s->is_over && f->look_i == s->n_full) {
		f->look_at++;
		f->look_i = 0;
	}
}

/* The same on a thread that decodes.  Returns false if there is nothing that it may look at now. */
static bool look_ahead_of_caller(struct ts_feed *f)
{
	if (f->is_looking || f->n_looked >= f->max_looked || !has_look(f))
		return false;
	look(f);
	pthread_cond_signal(&f->filled); /* the caller may wait for this one */
	return true;
}

void ts_feed_set_look(struct ts_feed *f, bool (*do_look)(void *user, const struct ts_steps *steps), void *user)
{
	f->look = do_look;
	f->look_user = user;
}

void ts_feed_let_look(struct ts_feed *f, uint64_t n)
{
	pthread_mutex_lock(&f->lock);
	f->max_looked = n;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* Was the batch looked at that the caller has? */
static bool is_seen(const struct ts_feed *f)
{
	return f->look_at > f->n_freed ||
	       f->look_i > f->stretches[f->n_freed % f->n_stretches].n_taken;
}

bool ts_feed_look(struct ts_feed *f)
{
	bool done;

	pthread_mutex_lock(&f->lock);
	while (!is_seen(f)) {
		if (f->is_looking)
			pthread_cond_wait(&f->filled, &f->lock);
		else
			look(f);
	}
	done = !f->is_look_failed;
	pthread_mutex_unlock(&f->lock);
	return done;
}

uint64_t ts_feed_n_looked(struct ts_feed *f)
{
	uint64_t n;

	pthread_mutex_lock(&f->lock);
	n = f->n_looked;
	pthread_mutex_unlock(&f->lock);
	return n;
}

/* -------------------------------------------------------------------------------------------- the threads */

static void *decode_ahead(void *user)
{
	struct decoder *d = user;
	struct ts_feed *f = d->feed;

	pthread_mutex_lock(&f->lock);
	while (!f->is_to_rest) {
		if (!work(f, d) && !look_ahead_of_caller(f))
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
			ts_log(TS_LOG_WARN, "the system refuses a thread: one that decodes is missing");
	}
}

void ts_feed_rest(struct ts_feed *f)
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

/* ----------------------------------------------------------------------------------------- who calls it */

/*
 * The first stretch is free.  It is used again before those that only a decoder which goes far uses: these
 * need not be in a cache.
 */
static void free_first(struct ts_feed *f)
{
	struct stretch *s = stretch_at(f, f->n_freed), *next = stretch_at(f, f->n_freed + f->n_near);

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
	struct stretch *s = stretch_at(f, f->n_freed);

	if (!f->is_lent)
		return;
	f->is_lent = false;
	if (f->n_stretches > 1)
		empty(&s->batches[s->n_taken].steps,
		      f->n_allowed > f->n_near ? MAX_FAR_KEPT_BYTES : MAX_KEPT_BYTES);
	s->n_taken++;
	if (s->n_taken == s->n_full && s->is_over)
		free_first(f);
}

/* Do what the decoders without a thread could do.  Returns false if that is nothing. */
static bool work_here(struct ts_feed *f)
{
	for (unsigned i = 0; i < f->n_decoders; i++)
		if (!f->decoders[i].has_thread && work(f, &f->decoders[i]))
			return true;
	return false;
}

/* Until there are some batches, but not long. */
static void wait_for_batches(struct ts_feed *f)
{
	const struct timespec until = ts_deadline(TS_PATIENCE_MS);
	int failed = 0;

	while (!n_ready(f) && work_here(f))
		;
	if (n_ready(f))
		return;
	while (!has_enough(f) && failed != ETIMEDOUT)
		failed = pthread_cond_timedwait(&f->filled, &f->lock, &until);
}

static struct ts_batch *lend(struct ts_feed *f)
{
	struct stretch *s = stretch_at(f, f->n_freed);

	f->is_lent = n_ready(f) > 0;
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
	pthread_mutex_unlock(&f->lock);
	if (b && b->has_learned && !ts_learned_give(&b->learned, f->rec))
		fail_for_memory(b);
	return b;
}

void ts_feed_let_far(struct ts_feed *f)
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

	if (!r->ops->resume(r, point, len, err))
		return false;
	r->end = *end;
	return true;
}

void ts_feed_start(const struct ts_feed *f, struct ts_buf *point)
{
	const struct ts_reader *r = f->decoders[0].reader;

	r->ops->save(r, point);
}

static void free_ring(struct ts_feed *f)
{
	for (unsigned i = 0; i < f->n_stretches; i++) {
		struct stretch *s = &f->stretches[i];

		for (unsigned j = 0; j < f->len; j++)
			batch_fini(&s->batches[j]);
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
		batch_init(&s->batches[i]);
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
	done = r &&
	       ((ts_buf_ok(&point) && ts_learned_take(&learned, f->rec) && ts_learned_give(&learned, twin)) ||
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read ahead")) &&
	       r->ops->resume(r, point.data, point.len, err);
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
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read ahead");
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

	if (!f) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read it");
		return NULL;
	}
	init(f, rec);
	if (make_ring(f, 1, 1, LEN_HERE))
		set_decoder(f, &f->decoders[0], NULL, rec->ops->reader(rec, err));
	else
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to read it");
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
	ts_feed_rest(f);
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
