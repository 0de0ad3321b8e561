/* SPDX-License-Identifier: MIT */
/*
 * What a feed is made of, for the files that are one: feed.c, feed_stretches.c, feed_decode.c, feed_look.c.
 *
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
#ifndef TS_FEED_PARTS_H
#define TS_FEED_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "batch.h"
#include "reader.h"
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
	const struct ts_batch_store *store; /* borrowed; batches come from there, NULL: are decoded */
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

static inline struct stretch *ts_feed_stretch(struct ts_feed *f, uint64_t i)
{
	return &f->stretches[i % f->n_stretches];
}

/* The next batch of the recording, to @b; on the decoder's thread (feed_decode.c). */
void ts_feed_decode(struct decoder *d, struct ts_batch *b);

/*
 * Decode one batch.  The lock, which is held, is not meanwhile.  Returns false if there is nothing to do now
 * (feed_stretches.c).
 */
bool ts_feed_work(struct ts_feed *f, struct decoder *d);

/* The batches that can be lent. */
unsigned ts_feed_n_ready(struct ts_feed *f);

/*
 * So many that it is worth to wake who waits for them: to wake a thread takes as long as to decode a chunk.
 * Where one thread decodes that is half of what it may begin, so that it has room for as long.
 */
bool ts_feed_has_enough(struct ts_feed *f);

/* Look at the next batch on a thread that decodes.  Returns false if there is none now (feed_look.c). */
bool ts_feed_look_ahead(struct ts_feed *f);

#endif
