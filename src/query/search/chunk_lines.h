/* SPDX-License-Identifier: MIT */
/*
 * A list of the effects of a decoded chunk by line of memory.
 *
 * It is for callers that read memory at many positions of one chunk: each read then applies only the effects on its lines.
 */
#ifndef TS_CHUNK_LINES_H
#define TS_CHUNK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/query/replay.h"
#include "src/trace/step.h"

#define TS_N_LINE_SLOTS 1024u

struct ts_line_effect {
	uint64_t line;    /* its first address */
	uint32_t effect;  /* ordinal in the batch */
	uint32_t step;    /* ordinal in the chunk */
	uint32_t process;
	uint32_t next;    /* ordinal + 1 of the next, later effect in the same slot; 0: none */
};

/* An effect on a whole range. */
struct ts_range_effect {
	uint64_t first, last;
	uint32_t process;
};

struct ts_chunk_lines {
	uint32_t n_steps; /* the number of steps of the chunk; 0: the list has not been made */
	unsigned n_asked; /* the number of questions before the list was made */
	unsigned n_partly; /* the number of questions before all steps of the chunk were decoded */
	bool is_failed;   /* memory was exhausted: the list cannot be used */
	/* the chunk has unseen changes, and writes of unknown values: both together depend on the order of all effects */
	bool has_unseen, has_unknown;
	struct ts_line_effect *items; /* owned; in order of execution */
	size_t n, cap;
	struct ts_range_effect *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	uint32_t slots[TS_N_LINE_SLOTS]; /* ordinal + 1 of the first one */
};

void ts_chunk_lines_fini(struct ts_chunk_lines *t);

/* Discard the list and its counters, before @t is used for another chunk.  Its memory is kept. */
void ts_chunk_lines_reset(struct ts_chunk_lines *t);

/*
 * Count a question about the window @v in the chunk with @steps, all of which have been decoded.  The list is made when there
 * have been enough questions.
 *
 * Returns true if ts_chunk_lines_take() can answer the question.
 */
bool ts_chunk_lines_know(struct ts_chunk_lines *t, const struct ts_steps *steps, const struct ts_replay *v);

/* Apply the first @n steps of the chunk to the window @v, which has the contents at the start of the chunk. */
void ts_chunk_lines_take(const struct ts_chunk_lines *t, const struct ts_steps *steps, uint32_t n,
			 struct ts_replay *v);

#endif
