/* SPDX-License-Identifier: MIT */
/*
 * A recording, decoded chunk by chunk, for the builder of its timeline.
 *
 * Decoding does not depend on what is built, so it may run ahead on a thread of its own: this uses a second
 * processor, and the builder does not wait for the disk.  That thread has its own twin of the recording (the
 * same trace, opened again), so that loaders need no locks; what the twin learns while it is read is passed
 * to the recording with the chunk in which it was found.
 *
 * Where readers can skip steps (reader.h), several threads decode, each another stretch of chunks.  What they
 * give is the same: skipping is only believed if the reader that decodes arrives at the same decode point.
 */
#ifndef TS_FEED_H
#define TS_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "reader.h"
#include "src/base/buf.h"
#include "src/base/error.h"
#include "step.h"

struct ts_feed;

/*
 * From position 0 of @rec (borrowed).
 *
 * Returns NULL on failure: the recording cannot be read, or memory is exhausted.
 */
struct ts_feed *ts_feed_new(struct ts_recording *rec, struct ts_error *err);
void ts_feed_free(struct ts_feed *f);

/*
 * Resume at a decode point of the recording, where its reader gave @end as its end.  Must be called before
 * the first batch.
 *
 * Returns false if the trace cannot be read there (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_feed_resume(struct ts_feed *f, const uint8_t *point, size_t len, const struct ts_end *end,
		    struct ts_error *err);

/*
 * Nothing is decoded: batches come from @store (borrowed), the first one that of the next position.  Must be called before the
 * first batch.
 */
void ts_feed_take_from(struct ts_feed *f, const struct ts_batch_store *store);

/* Append the decode point where the first batch will begin, before it is taken. */
void ts_feed_start(const struct ts_feed *f, struct ts_buf *point);

/*
 * How many twins it can use: one, or where readers can skip one for each of up to @n_jobs threads (@n_jobs
 * may be any number), and one that skips.
 */
unsigned ts_feed_n_twins(const struct ts_feed *f, unsigned n_jobs);

/*
 * From now on decode on a thread of its own, from @twin: the recording opened again.  The feed takes
 * ownership of it, on failure too.  Called again, at most ts_feed_n_twins() times, it decodes on more
 * threads. Must be called before the first batch.
 *
 * Returns false if the twin cannot be read (TS_EIO, TS_ENOMEM, ...): the feed is unchanged.
 */
bool ts_feed_go_ahead(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err);

/*
 * Take the next batch, which is valid until the next call; what it learned is added to the recording.  Must
 * not be called after the last.
 *
 * Returns NULL if it is still being decoded, on another thread, after TS_PATIENCE_MS (thread.h).
 */
struct ts_batch *ts_feed_next(struct ts_feed *f);

/*
 * The caller will take no batch for some milliseconds.  Until its next call, a thread that decodes alone may be further
 * ahead than usual, within a limit on memory.
 */
void ts_feed_allow_lead(struct ts_feed *f);

/*
 * Call @look once for the steps of each batch, in order.  A thread that decodes calls it while it waits for room, because
 * the batch is in its processor's cache then; else ts_feed_run_pass() does.  @look must not change anything that the caller of
 * this module uses, and returns false if memory is exhausted.  Must be called before the first batch.
 */
void ts_feed_set_pass(struct ts_feed *f, bool (*look)(void *user, const struct ts_steps *steps), void *user);

/* Those threads may look at the first @n batches; at no others. */
void ts_feed_allow_pass(struct ts_feed *f, uint64_t n);

/*
 * Make sure that the pass has seen the batch that ts_feed_next() returned last, and all before it.
 *
 * Returns false if memory is exhausted.
 */
bool ts_feed_run_pass(struct ts_feed *f);

/* How many batches were looked at so far. */
uint64_t ts_feed_n_passed(struct ts_feed *f);

/* Stop the thread temporarily, as before a fork; the next ts_feed_next() restarts it.  Nothing is lost. */
void ts_feed_stop_threads(struct ts_feed *f);

#endif
