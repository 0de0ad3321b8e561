/* SPDX-License-Identifier: MIT */
/*
 * Others examine batches before the caller has them (ts_feed_set_pass()).
 */
#include "feed.h"
#include "feed_parts.h"

/*
 * Is the next batch there?  It cannot be dropped: looks pass on from a stretch that is over, so that they are never
 * beyond the first one that is not settled.
 */
static bool has_look(struct ts_feed *f)
{
	return f->look_at < f->n_begun && f->look_i < ts_feed_stretch(f, f->look_at)->n_full;
}

/* Examine the next batch, which is there.  The lock, which is held, is not meanwhile. */
static void look(struct ts_feed *f)
{
	const struct stretch *s = ts_feed_stretch(f, f->look_at);
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

bool ts_feed_look_ahead(struct ts_feed *f)
{
	if (f->is_looking || f->n_looked >= f->max_looked || !has_look(f))
		return false;
	look(f);
	pthread_cond_signal(&f->filled); /* the caller may wait for this one */
	return true;
}

void ts_feed_set_pass(struct ts_feed *f, bool (*do_look)(void *user, const struct ts_steps *steps), void *user)
{
	f->look = do_look;
	f->look_user = user;
}

void ts_feed_allow_pass(struct ts_feed *f, uint64_t n)
{
	pthread_mutex_lock(&f->lock);
	f->max_looked = n;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* Was the batch examined that the caller has? */
static bool is_seen(const struct ts_feed *f)
{
	return f->look_at > f->n_freed ||
	       f->look_i > f->stretches[f->n_freed % f->n_stretches].n_taken;
}

bool ts_feed_run_pass(struct ts_feed *f)
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

uint64_t ts_feed_n_passed(struct ts_feed *f)
{
	uint64_t n;

	pthread_mutex_lock(&f->lock);
	n = f->n_looked;
	pthread_mutex_unlock(&f->lock);
	return n;
}
