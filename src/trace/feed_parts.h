/* SPDX-License-Identifier: MIT */
/*
 * The internals of a feed, private to feed.c, feed_stretches.c, feed_decode.c and feed_look.c.
 *
 * Batches are grouped in stretches, which are decoded in order, each by one decoder.
 *
 * The first batch of a stretch begins at a decode point.  Without a scout, the point is known when the previous stretch
 * has been decoded.  A scout is a reader that skips: it finds the point sooner, so that two decoders
 * can work; its result is a guess.  A decoded stretch is settled when all stretches before it
 * are: the decode point at its end is compared with the guess, and batches that were decoded from a wrong guess are
 * dropped.  Batches that were decoded without a thread or a warning that the settled stretch found are dropped, too.
 * Only batches that cannot be dropped any more are lent: those of the first stretch that is not
 * settled, and of the stretches before it.
 */
#ifndef TS_FEED_PARTS_H
#define TS_FEED_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "batch.h"
#include "reader.h"
#include "ways.h"

/*
 * Skipping and resuming is additional work: with two processors, one decoder and the builder keep both busy.  More
 * decoders than MAX_DECODERS would decode faster than any builder can process.
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
 * Stretches in the ring of one decoder.  The batch that the builder read last is in the cache of its processor, and a
 * decoder that writes to it waits for each line: decoding can take three times as long if the two
 * processors share no cache.  In a long ring the batch that is filled next was read long ago.
 */
#define N_ALONE 6u

/*
 * The lead of the decoder while the caller seals a segment, which takes about 10 ms: the number of stretches
 * in the ring, and the limit on their bytes.
 */
#define N_FAR         40u
#define MAX_FAR_BYTES (UINT64_C(48) << 20)

/*
 * Limits for steps with many effects: the bytes after which a stretch of one decoder ends before it has all its
 * batches, and the memory that a batch keeps.
 */
#define MAX_STRETCH_BYTES (UINT64_C(4) << 20)
#define MAX_KEPT_BYTES    (UINT64_C(2) << 20)
#define MAX_FAR_KEPT_BYTES (UINT64_C(512) << 10) /* of a batch that was decoded far ahead */

/* The maximum number of stretches without a guess after a wrong or missing guess; the number doubles each time. */
#define MAX_PAUSE 64u

struct stretch {
	struct ts_batch *batches; /* owned; as many as the feed's len */
	unsigned n_full, n_taken; /* batches: decoded, returned by the caller */
	uint64_t n_bytes;         /* of steps in them */
	struct decoder *owner;    /* until it is settled; NULL: the stretch may be begun */
	bool is_over;             /* it has no further batches */
	bool is_dropped;          /* it began at a wrong point; its owner is still working */
	bool has_learned;         /* its batches add threads or warnings, or its owner received some before it */
	struct ts_buf start, end; /* decode points; the end is the scout's guess, empty without one */
};

/* Only the decoder's thread uses the twin and the reader while it works; the other members are shared. */
struct decoder {
	struct ts_feed *feed;
	struct ts_recording *twin; /* owned; NULL: the feed's recording */
	struct ts_reader *reader;  /* owned; of the twin if there is one */
	uint64_t n_learned;        /* of the reader's recording, up to which facts were passed on, or came from the feed */
	uint64_t n_lessons;        /* of the feed, up to which facts were added to the twin */
	struct ts_ways ways;       /* steps are decoded to the batch, or to the draft and copied */
	struct ts_steps draft;     /* owned */
	struct ts_learned before;  /* the twin's facts before its reader was resumed last */
	struct stretch *now;       /* the stretch that it decodes, NULL: none */
	uint64_t next;             /* the reader is at the beginning of the stretch with this number; */
	bool is_elsewhere;         /* or it is not */
	bool is_spoiled;           /* its twin has facts that were dropped: it decodes no more */
	pthread_t thread;
	bool has_thread;           /* the thread must be joined */
};

struct ts_feed {
	struct ts_recording *rec;   /* borrowed */
	const struct ts_batch_store *store; /* borrowed; the source of batches, NULL: they are decoded */
	struct decoder decoders[MAX_DECODERS];
	unsigned n_decoders;
	struct stretch *stretches;  /* owned; a ring */
	unsigned n_stretches, len;  /* in it, and batches in each of them */
	unsigned n_near;            /* of the stretches those that are used, unless the decoder may go far ahead */
	bool is_started;            /* threads were, as far as the system has them */
	pthread_mutex_t lock;
	pthread_cond_t filled;      /* batches can be lent */
	pthread_cond_t changed;     /* a decoder may find something to do */

	/* below the lock; numbers of stretches, of which number i is stretches[i % n_stretches]: */
	uint64_t n_begun, n_settled, n_freed;
	unsigned n_allowed;         /* the number that may be begun and not freed: n_near to n_stretches */
	bool has_start;             /* where stretch n_begun begins is known: */
	struct ts_buf start;
	uint64_t n_drops;
	struct ts_learned learned;  /* what was learned last in settled stretches */
	uint64_t n_lessons;         /* how often that was */
	bool is_to_rest;
	bool is_lent;               /* the first batch that was not given back is the caller's */

	/* only the caller uses these: */
	uint64_t n_lent;            /* batches so far */
	int64_t since, waited;      /* ns: when it took the first one, and how long it has waited */

	bool (*look)(void *user, const struct ts_steps *steps); /* NULL: no pass */
	void *look_user;
	uint64_t look_at;           /* the stretch of the next batch of the pass, and the batch's number in it */
	unsigned look_i;
	uint64_t n_looked, max_looked; /* batches: so far, and those at which a decoder may look */
	bool is_looking;            /* a thread passes over that batch */
	bool is_look_failed;        /* memory is exhausted */

	struct decoder scout;       /* it decodes nothing; reader NULL: not used */
	bool is_scouting;           /* a decoder uses it */
	bool is_scout_there;        /* it is at the beginning of stretch n_begun */
	uint64_t scout_from;        /* the first stretch of which it is to guess the end */
	unsigned pause;
};

/* Returns stretch @i of the recording, borrowed from the feed: one of few, which are used in turn. */
static inline struct stretch *ts_feed_stretch(struct ts_feed *f, uint64_t i)
{
	return &f->stretches[i % f->n_stretches];
}

/* Decode the next batch of the recording to @b, on the decoder's thread (feed_decode.c). */
void ts_feed_decode(struct decoder *d, struct ts_batch *b);

/*
 * Decode one batch.  The caller holds the lock, which is released during decoding.  Returns false if no batch can be
 * decoded now (feed_stretches.c).
 */
bool ts_feed_work(struct ts_feed *f, struct decoder *d);

/* The number of batches that can be lent. */
unsigned ts_feed_n_ready(struct ts_feed *f);

/*
 * Can enough batches be lent to wake the waiting builder?  Waking a thread takes as long as decoding a chunk.
 * With one decoder, half of its stretches are enough, which leaves it space for the other half.
 */
bool ts_feed_has_enough(struct ts_feed *f);

/* Call look() for the next batch on a decoding thread.  Returns false if no batch is ready (feed_look.c). */
bool ts_feed_look_ahead(struct ts_feed *f);

#endif
