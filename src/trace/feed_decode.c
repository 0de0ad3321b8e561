/* SPDX-License-Identifier: MIT */
/*
 * A decoder fills a batch.
 */
#include "feed_parts.h"
#include "src/base/clock.h"

/*
 * The same on a thread.  Where the batch was read by another processor, which shares no cache with this one,
 * to write its effects one by one takes longer than to decode them; to copy all of them is a tenth more.
 */
static void decode_for_other(struct decoder *d, struct ts_batch *b)
{
	int64_t start = ts_now_ns();

	if (ts_ways_is_second(&d->ways)) {
		ts_batch_read_steps(b, d->reader, &d->draft);
		ts_steps_copy(&b->steps, &d->draft);
		ts_batch_give_back(&d->draft, MAX_KEPT_BYTES);
	} else {
		ts_batch_read_steps(b, d->reader, &b->steps);
	}
	ts_ways_note(&d->ways, ts_now_ns() - start);
}

/* Does the recording have the threads that run in the batch? */
static bool has_threads(const struct ts_recording *rec, const struct ts_batch *b)
{
	uint32_t n = b->has_learned ? b->learned.n_threads : rec->n_threads;
	const struct ts_steps *s = &b->steps;

	for (uint32_t i = 0; i < s->n_steps; i++) {
		if (s->steps[i].thread >= n)
			return false;
	}
	for (uint32_t i = 0; i < s->n_effects; i++) {
		if (s->effects[i].kind == TS_FX_THREAD && s->effects[i].item >= n)
			return false;
	}
	return true;
}

/* The store's own trouble is none of the trace: TS_EIO says so. */
static void take_stored(const struct ts_feed *f, struct ts_batch *b)
{
	bool done = f->store->next(f->store->user, b, &b->err);

	if (done && has_threads(f->rec, b))
		return;
	if (done)
		ts_error_reset(&b->err);
	if (done)
		ts_fail(&b->err, TS_EIO, TS_NO_OFF, "a segment names a thread that is not there");
	ts_steps_reset(&b->steps);
	b->has_learned = false;
	b->next = TS_FAIL;
	if (b->err.code != TS_ENOMEM)
		b->err.code = TS_EIO;
}

void ts_feed_decode(struct decoder *d, struct ts_batch *b)
{
	ts_error_reset(&b->err);
	b->max_memory = d->feed->rec->max_memory;
	b->is_limited = false;
	if (d->feed->store) {
		take_stored(d->feed, b);
		return;
	}
	if (d->twin)
		decode_for_other(d, b);
	else
		ts_batch_read_steps(b, d->reader, &b->steps);
	ts_batch_close(b, d->reader, d->twin, &d->n_learned);
}
