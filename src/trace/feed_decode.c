/* SPDX-License-Identifier: MIT */
/*
 * A decoder fills a batch.
 */
#include "chunk.h"
#include "feed_parts.h"
#include "src/base/clock.h"

/* What the twin learned goes with the batch. */
static void pack_learned(struct decoder *d, struct ts_batch *b)
{
	b->has_learned = d->twin && d->twin->n_learned != d->n_learned;
	if (!b->has_learned)
		return;
	d->n_learned = d->twin->n_learned;
	if (!ts_learned_take(&b->learned, d->twin))
		ts_batch_fail_for_memory(b);
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
		ts_batch_give_back(&d->draft, MAX_KEPT_BYTES);
	} else {
		decode_steps(d->reader, b, &b->steps);
	}
	ts_ways_note(&d->ways, ts_now_ns() - start);
}

void ts_feed_decode(struct decoder *d, struct ts_batch *b)
{
	struct ts_reader *r = d->reader;

	ts_error_reset(&b->err);
	if (d->twin)
		decode_for_other(d, b);
	else
		decode_steps(r, b, &b->steps);
	b->end = r->end;
	ts_buf_reset(&b->after);
	r->ops->save(r, &b->after);
	if (b->steps.is_failed || !ts_buf_ok(&b->after))
		ts_batch_fail_for_memory(b);
	pack_learned(d, b);
}
