/* SPDX-License-Identifier: MIT */
/*
 * A recording, decoded chunk by chunk, for the one who builds its timeline.
 *
 * Decoding needs nothing of what is built, so it may go ahead on a thread of its own: then a second processor
 * is used, and who builds does not wait for the disk.  That thread has a twin of the recording (the same trace,
 * opened again) to itself, so that loaders need no locks; what the twin learns while it is read goes to the
 * recording with the chunk that taught it.
 */
#ifndef TS_FEED_H
#define TS_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader.h"
#include "src/base/buf.h"
#include "src/base/error.h"
#include "step.h"

/* Up to TS_CHUNK_STEPS steps that follow each other, fewer only at the end. */
struct ts_batch {
	struct ts_steps steps;
	enum ts_next next;    /* what came behind them; unless it is TS_ITEM this is the last batch */
	struct ts_error err;  /* with TS_FAIL; TS_ENOMEM: it says nothing about the trace */
	struct ts_end end;    /* what the reader said of the recording's end */
	struct ts_buf behind; /* the decode point behind the steps */
	struct ts_learned learned;
	bool has_learned;     /* else the recording knows it all */
};

struct ts_feed;

/*
 * From position 0 of @rec (borrowed).
 *
 * Returns NULL on failure: the recording cannot be read, or memory is exhausted.
 */
struct ts_feed *ts_feed_new(struct ts_recording *rec, struct ts_error *err);
void ts_feed_free(struct ts_feed *f);

/*
 * Go on from a decode point of the recording, at which its reader said @end of its end.  Nothing was taken
 * before.
 *
 * Returns false if the trace cannot be read there (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_feed_resume(struct ts_feed *f, const uint8_t *point, size_t len, const struct ts_end *end,
		    struct ts_error *err);

/* Append the decode point where the first batch will begin, before it is taken. */
void ts_feed_start(const struct ts_feed *f, struct ts_buf *point);

/*
 * From now on decode on a thread of its own, from @twin: the recording opened once more.  It belongs to the
 * feed, on failure too.  Nothing was taken before.
 *
 * Returns false if the twin cannot be read (TS_EIO, TS_ENOMEM, ...): the feed is as it was.
 */
bool ts_feed_go_ahead(struct ts_feed *f, struct ts_recording *twin, struct ts_error *err);

/*
 * Take the next batch, which is the caller's until the next call; what it learned is told to the recording.
 * Not to be called after the last.
 *
 * Returns NULL if it is still being decoded, on another thread, after TS_PATIENCE_MS (thread.h).
 */
struct ts_batch *ts_feed_next(struct ts_feed *f);

/* End the thread for now, as before a fork; the next ts_feed_next() starts it again.  Nothing is lost. */
void ts_feed_rest(struct ts_feed *f);

#endif
