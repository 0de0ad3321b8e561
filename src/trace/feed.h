/* SPDX-License-Identifier: MIT */
/*
 * A recording, decoded chunk by chunk, for the builder of its timeline.
 *
 * Decoding does not depend on the timeline, so that it may run ahead on a thread of its own: this uses a second
 * processor, and the builder does not wait for the disk.  That thread has its own twin of the recording (the
 * same trace, opened again), so that loaders need no locks; threads and warnings that the twin finds are passed
 * to the recording with their chunk.
 *
 * If readers can skip steps (reader.h), several threads decode different stretches of chunks.  The result is the same:
 * skipping is only trusted if the decoding reader arrives at the same decode point.
 */
#ifndef TS_FEED_H
#define TS_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "reader.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"
#include "step.h"

struct ts_feed;

/*
 * A feed from position 0 of @rec (borrowed).
 *
 * Returns the feed, which the caller frees with ts_feed_free().
 * Returns NULL if the recording cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_feed *ts_feed_new(struct ts_recording *rec, struct ts_error *err);
void ts_feed_free(struct ts_feed *f);

/*
 * Resume at a decode point of the recording, at which its reader's end was @end.  Must be called before
 * the first batch.
 *
 * Returns false if the trace cannot be read there (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_feed_resume(struct ts_feed *f, const uint8_t *point, size_t len, const struct ts_end *end,
		    struct ts_error *err);

/*
 * Take batches from @store (borrowed) instead of decoding; its first batch is the next one.  Must be called before the
 * first batch.
 */
void ts_feed_take_from(struct ts_feed *f, const struct ts_batch_store *store);

/* Append the decode point of the first batch.  Called before the first batch. */
void ts_feed_start(const struct ts_feed *f, struct ts_buf *point);

/*
 * The number of twins that the feed can use: one, or, if readers can skip, one for each of up to @n_jobs threads
 * (@n_jobs may be any number), and one that skips.
 */
unsigned ts_feed_n_twins(const struct ts_feed *f, unsigned n_jobs);

/*
 * Decode on a thread of its own, from @twin: the recording opened again.  The feed takes
 * ownership of it, also on failure.  Each further call, at most ts_feed_n_twins() in all, adds a
 * thread.  Must be called before the first batch.
 *
 * Returns false if the twin cannot be read (TS_EIO, TS_ENOMEM, ...): the feed is unchanged.
 */
bool ts_feed_go_ahead(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err);

/*
 * Return the next batch, which is valid until the next call; its new threads and warnings are added to the recording.
 * Must not be called after the last batch.
 *
 * Returns NULL if it is still being decoded, on another thread, after TS_PATIENCE_MS (thread.h).
 */
struct ts_batch *ts_feed_next(struct ts_feed *f);

/* Has the caller spent a third of its time on waiting for batches, after the first hundreds of them? */
bool ts_feed_is_slow(const struct ts_feed *f);

/*
 * Inform the feed that the caller will take no batch for some milliseconds.  Until its next call, a thread that decodes
 * alone may be further ahead than usual, within a limit on memory.
 */
void ts_feed_allow_lead(struct ts_feed *f);

/*
 * Call @look once for the steps of each batch, in order.  A decoding thread calls it while it waits for space, because
 * the batch is in its processor's cache then; otherwise ts_feed_run_pass() calls it.  @look must not change data that
 * the feed's caller uses, and returns false if memory is exhausted.  Must be called before the first batch.
 */
void ts_feed_set_pass(struct ts_feed *f, bool (*look)(void *user, const struct ts_steps *steps), void *user);

/* Permit those threads to call look() of ts_feed_set_pass() for the first @n batches only. */
void ts_feed_allow_pass(struct ts_feed *f, uint64_t n);

/*
 * Make sure that the pass has seen the batch that ts_feed_next() returned last, and all before it.
 *
 * Returns false if memory is exhausted.
 */
bool ts_feed_run_pass(struct ts_feed *f);

/* The number of batches for which look() was called. */
uint64_t ts_feed_n_passed(struct ts_feed *f);

/* Stop the thread temporarily, as before a fork; the next ts_feed_next() restarts it.  Nothing is lost. */
void ts_feed_stop_threads(struct ts_feed *f);

#endif
