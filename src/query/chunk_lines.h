/* SPDX-License-Identifier: MIT */
/*
 * What the steps of a decoded chunk did to each line of memory: for many questions about memory in one chunk,
 * each of which then takes only the effects on the lines that it is about.
 */
#ifndef TS_CHUNK_LINES_H
#define TS_CHUNK_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay.h"
#include "src/trace/step.h"

#define TS_N_LINE_SLOTS 1024u

struct ts_line_effect {
	uint64_t line;    /* its first address */
	uint32_t effect;  /* ordinal in the batch */
	uint32_t step;    /* ordinal in the chunk */
	uint32_t process;
	uint32_t next;    /* ordinal + 1 of the next one in its slot, which came later; 0: none */
};

/* An effect on a whole range. */
struct ts_range_effect {
	uint64_t first, last;
	uint32_t process;
};

struct ts_chunk_lines {
	uint32_t n_steps; /* of the chunk that it is about; 0: nothing has been listed */
	unsigned n_asked; /* questions about a chunk of which nothing has been listed */
	unsigned n_partly; /* questions about a chunk of which not all steps had been decoded */
	bool is_failed;   /* memory was exhausted: nothing may be asked */
	/* unseen changes, and writes of unknown values: both together need the order of all effects */
	bool has_unseen, has_unknown;
	struct ts_line_effect *items; /* owned; in the order in which they came */
	size_t n, cap;
	struct ts_range_effect *ranges; /* owned */
	size_t n_ranges, cap_ranges;
	uint32_t slots[TS_N_LINE_SLOTS]; /* ordinal + 1 of the first one */
};

void ts_chunk_lines_fini(struct ts_chunk_lines *t);

/* Discard the list and its counters, before @t is used for another chunk.  Its memory is kept. */
void ts_chunk_lines_reset(struct ts_chunk_lines *t);

/*
 * A question about the window comes, in the chunk with @steps.  All of them are there.
 *
 * Returns true if ts_chunk_lines_take() may answer it; else it is not worth it yet, or cannot.
 */
bool ts_chunk_lines_know(struct ts_chunk_lines *t, const struct ts_steps *steps, const struct ts_replay *v);

/* Carry the window from the chunk's start through its first @n steps. */
void ts_chunk_lines_take(const struct ts_chunk_lines *t, const struct ts_steps *steps, uint32_t n,
			 struct ts_replay *v);

#endif
