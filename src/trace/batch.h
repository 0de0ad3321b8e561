/* SPDX-License-Identifier: MIT */
/*
 * A chunk of a recording, decoded, with what its reader said of it.
 */
#ifndef TS_BATCH_H
#define TS_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "reader.h"
#include "src/base/buf.h"
#include "src/base/error.h"
#include "src/base/next.h"
#include "step.h"

/* Up to TS_CHUNK_STEPS consecutive steps, fewer only at the end. */
struct ts_batch {
	struct ts_steps steps;
	enum ts_next next;    /* what follows them; unless it is TS_ITEM this is the last batch */
	struct ts_error err;  /* with TS_FAIL; TS_ENOMEM: the trace is not at fault */
	struct ts_end end;    /* the recording's end as given by the reader */
	struct ts_buf after; /* the decode point after the steps */
	struct ts_learned learned;
	bool has_learned;     /* else the recording knows it all */
	uint64_t max_memory;  /* that its steps may take; 0: any */
	bool is_limited;      /* the last batch, because a step would take more */
};

void ts_batch_init(struct ts_batch *b);
void ts_batch_fini(struct ts_batch *b);

/*
 * The next steps of the reader to @out, as many as a batch has: of the batch itself, or of another one.  A step that would take
 * more memory than the batch may is as the damage of a trace (TS_ELIMIT); so is the step before it, which may lack something.
 */
void ts_batch_read_steps(struct ts_batch *b, struct ts_reader *r, struct ts_steps *out);

/*
 * They are in the batch: the rest of it.  @rec is the reader's recording if what it learned is to go with the batch, NULL
 * if not; *n_learned: how much it had learned before.
 */
void ts_batch_close(struct ts_batch *b, const struct ts_reader *r, const struct ts_recording *rec, uint64_t *n_learned);

/* Batches that were decoded before, maybe by another process. */
struct ts_batch_store {
	/* Fill the next one.  Returns false if it is not there (TS_EIO, TS_ECORRUPT), or memory is exhausted. */
	bool (*next)(void *user, struct ts_batch *b, struct ts_error *err);
	void *user;
};

/* The bytes of its steps. */
uint64_t ts_batch_bytes(const struct ts_steps *steps);

/* It was read: a batch of extraordinary steps, with memory for more than @max bytes, gives it back. */
void ts_batch_give_back(struct ts_steps *steps, uint64_t max);

/* There is no memory for it. */
void ts_batch_fail_for_memory(struct ts_batch *b);

#endif
