/* SPDX-License-Identifier: MIT */
/*
 * A decoded chunk of a recording, with its reader's results.
 */
#ifndef TS_BATCH_H
#define TS_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reader.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "step.h"

/* Up to TS_CHUNK_STEPS consecutive steps, fewer only at the end. */
struct ts_batch {
	struct ts_steps steps;
	enum ts_next next;    /* the reader's result after them; unless it is TS_ITEM this is the last batch */
	struct ts_error err;  /* with TS_FAIL; TS_ENOMEM: the trace is not at fault */
	struct ts_end end;    /* the recording's end as given by the reader */
	struct ts_buf after; /* the decode point after the steps */
	struct ts_learned learned;
	bool has_learned;     /* learned is set; else nothing new was learned */
	uint64_t max_memory;  /* the limit on the memory of its steps; 0: none */
	bool is_limited;      /* the last batch, because a step would exceed the limit */
};

void ts_batch_init(struct ts_batch *b);
void ts_batch_fini(struct ts_batch *b);

/*
 * Read the next steps of the reader to @out, as many as a batch has.  @out is the batch's own steps, or others.  A step
 * that would exceed the memory limit of the batch ends the trace like damage (TS_ELIMIT), together with the step before
 * it, which may be incomplete.
 */
void ts_batch_read_steps(struct ts_batch *b, struct ts_reader *r, struct ts_steps *out);

/*
 * Complete the batch after its steps were read.  If the batch must have the facts that the reader learned, @rec is the
 * reader's recording, else NULL; *n_learned is its n_learned before the batch.
 */
void ts_batch_close(struct ts_batch *b, struct ts_reader *r, const struct ts_recording *rec, uint64_t *n_learned);

/* Batches that were decoded before, possibly by another process. */
struct ts_batch_store {
	/*
	 * Fill @b with the next batch.
	 *
	 * Returns false if it cannot be read (TS_EIO, TS_ECORRUPT).
	 * Returns false if memory is exhausted (TS_ENOMEM).
	 */
	bool (*next)(void *user, struct ts_batch *b, struct ts_error *err);
	void *user;
};

/* The memory of the steps in bytes. */
uint64_t ts_batch_bytes(const struct ts_steps *steps);

/* After the steps were used: free their memory if it is more than @max bytes, because of extraordinary steps. */
void ts_batch_give_back(struct ts_steps *steps, uint64_t max);

/* Make the batch fail with TS_ENOMEM. */
void ts_batch_fail_for_memory(struct ts_batch *b);

#endif
