/* SPDX-License-Identifier: MIT */
/*
 * Stretches are begun, decoded, and settled.
 */
#include <string.h>

#include "chunk.h"
#include "feed_parts.h"

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
		struct stretch *s = ts_feed_stretch(f, f->n_begun - 1);

		s->owner->is_elsewhere = true;
		s->is_dropped = true;
		if (s->is_over)
			release(s);
	}
	f->n_drops++;
	f->is_scout_there = false;
	f->has_start = false;
}

/* With one decoder no thread resumes. */
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
	if (!s->has_learned && is_same_point(&s->end, &last->after)) {
		f->pause = 1;
		s->owner = NULL;
		return;
	}
	if (s->has_learned && s->owner->twin)
		note_learned(f, s);
	else if (s->end.len)
		pause_scout(f);
	s->owner = NULL;
	drop_rest(f);
	copy_point(f, &f->start, &last->after);
	f->has_start = last->next == TS_ITEM;
}

static void settle_all(struct ts_feed *f)
{
	while (f->n_settled < f->n_begun && ts_feed_stretch(f, f->n_settled)->is_over)
		settle(f, ts_feed_stretch(f, f->n_settled));
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
 * Returns false as ts_reader_resume() does, or if memory is exhausted.
 */
static bool go_to(struct decoder *d, const struct ts_buf *point, bool *is_odd, struct ts_error *err)
{
	uint64_t n_learned = d->twin->n_learned;
	bool done = ts_learned_take(&d->before, d->twin) || ts_no_memory(err, "reading ahead");

	done = done && ts_reader_resume(d->reader, point->data, point->len, err);
	*is_odd = d->twin->n_learned != n_learned;
	if (*is_odd)
		ts_learned_give(&d->before, d->twin); /* there is room: it had as much */
	d->n_learned = d->twin->n_learned;
	return done;
}

/* @is_there: the scout is where the stretch begins. */
static bool has_guess(struct ts_feed *f, struct stretch *s, bool is_there)
{
	struct ts_reader *r = f->scout.reader;
	struct ts_error err = { 0 };
	bool is_odd;

	if ((!is_there && !go_to(&f->scout, &s->start, &is_odd, &err)) ||
	    !r->ops->skip(r, (uint64_t)f->len * TS_CHUNK_STEPS))
		return false;
	ts_reader_save(r, &s->end);
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
		n += ts_feed_stretch(f, i)->n_bytes;
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
	struct stretch *s = ts_feed_stretch(f, f->n_begun);
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
	s->n_bytes += ts_batch_bytes(&b->steps);
	s->is_over = s->n_full == f->len || b->next != TS_ITEM ||
		     (f->n_decoders == 1 && s->n_bytes > MAX_STRETCH_BYTES);
	if (!s->is_over)
		return;
	d->now = NULL;
	settle_all(f);
}

unsigned ts_feed_n_ready(struct ts_feed *f)
{
	const struct stretch *s = ts_feed_stretch(f, f->n_freed);

	return f->n_freed < f->n_begun ? s->n_full - s->n_taken : 0;
}

/* Nothing follows what was decoded. */
static bool is_ended(const struct ts_feed *f)
{
	return f->n_settled == f->n_begun && !f->has_start;
}

bool ts_feed_has_enough(struct ts_feed *f)
{
	const struct stretch *s = ts_feed_stretch(f, f->n_freed);
	unsigned n = ts_feed_n_ready(f);

	if (!n)
		return false;
	if (f->n_decoders == 1)
		return f->n_settled - f->n_freed >= f->n_near / 2 || is_ended(f);
	return s->is_over || n > f->len / 2;
}

/*
 * The stretch at which @d is at work; *is_there determines whether its reader is there too.  Returns NULL if there
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
		ts_feed_decode(d, b);
		return;
	}
	ts_steps_reset(&b->steps);
	ts_buf_reset(&b->after);
	b->has_learned = false;
	b->next = TS_FAIL;
	b->end = d->reader->end;
}

bool ts_feed_work(struct ts_feed *f, struct decoder *d)
{
	bool is_there;
	struct stretch *s = take(f, d, &is_there);

	if (!s)
		return false;
	pthread_mutex_unlock(&f->lock);
	decode_next(d, s, is_there);
	pthread_mutex_lock(&f->lock);
	count(f, d, s);
	if (ts_feed_has_enough(f))
		pthread_cond_signal(&f->filled);
	if (!d->now && f->n_decoders > 1)
		pthread_cond_broadcast(&f->changed);
	return true;
}
