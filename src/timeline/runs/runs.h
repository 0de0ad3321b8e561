/* SPDX-License-Identifier: MIT */
/*
 * Executed addresses, posted by fall-through runs.
 *
 * A run is a sequence of instructions of one thread that are consecutive in memory and in time.  No instruction of a run
 * crosses the end of the address space.  A program has few distinct runs, no matter how long it executes.  Each distinct
 * run is stored once, with the lengths of its instructions; the positions at which it began are posted for each segment.
 * Queries for the executions of an address are therefore exact without decoding.
 *
 * Queries see what has been sealed: the runs in by_pc, and the segments.
 */
#ifndef TS_RUNS_H
#define TS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/timeline/space/groups.h"
#include "postings.h"
#include "src/trace/step.h"

/* Longer runs are split. */
#define TS_MAX_RUN 128u

/* A distinct run. */
struct ts_run {
	uint64_t pc;
	uint32_t process;
	uint32_t lens; /* where the lengths of its instructions begin */
	uint32_t len;  /* bytes; the last instruction counts 0 if its length is unknown */
	uint16_t n;    /* instructions, 1 to TS_MAX_RUN */
	uint16_t zero; /* no padding: runs go to index files */
};

struct ts_runs_segment {
	uint64_t start; /* its first position; postings are relative to it */
	struct ts_postings postings;
};

/* Made by struct ts_runs_builder (runs_builder.h).  All zero: empty. */
struct ts_runs {
	struct ts_run *runs;     /* owned; by ordinal, those that are not in a sealed segment yet included */
	uint32_t n;
	uint8_t *lens;           /* owned; of instructions, in bytes, 0 if unknown */
	size_t n_lens;
	uint32_t *by_pc;         /* owned; ordinals by address, made when a segment is sealed */
	uint32_t n_by_pc;
	uint32_t max_len;        /* of any run, in bytes */
	/* owned; one more than were sealed while the last is a copy of what was noted so far */
	struct ts_runs_segment *segments;
	size_t n_segments;
	struct ts_run_group *groups; /* owned; by number, as far as an index file has them */
	size_t n_groups;
	uint64_t end;            /* the position where the segments that were sealed end */
};

void ts_runs_fini(struct ts_runs *r);

/* Set group @group to *g.  Returns false if memory is exhausted. */
bool ts_runs_set_group(struct ts_runs *r, size_t group, const struct ts_run_group *g);

/*
 * The first position >= @pos (@is_reverse: last position <= @pos) at which an instruction of @process with an address in
 * [first, last] was executed.  Sees sealed segments only.
 *
 * Returns the position.
 * Returns TS_NO_POS if no instruction was.
 */
uint64_t ts_runs_find(const struct ts_runs *r, uint32_t process, uint64_t first, uint64_t last, uint64_t pos, bool is_reverse);

/*
 * The lowest address >= @addr at which a run of @process begins, in sealed segments.  With it all executed code is
 * enumerated by address.
 *
 * Returns false if no run begins there or above.
 */
bool ts_runs_next_start(const struct ts_runs *r, uint32_t process, uint64_t addr, uint64_t *start);

/* An instruction of a run, and how often it was executed. */
struct ts_run_count {
	uint32_t process;
	uint64_t pc;
	uint8_t len; /* bytes, 0 if unknown */
	uint64_t n;
};

/* The progress of ts_runs_each(); initially zero. */
struct ts_runs_at {
	size_t segment, key;
};

/*
 * Call @use with each instruction of each distinct run that was executed at positions [@from, @to).  An address may
 * come more than once.  Sees sealed segments only.
 *
 * Returns true if it stopped at *at, after about @max executions of runs.  Another call continues there, provided that
 * no segment was sealed in between.  Returns false at the end.
 */
bool ts_runs_each(const struct ts_runs *r, uint64_t from, uint64_t to, struct ts_runs_at *at, uint64_t max,
		  void (*use)(void *user, const struct ts_run_count *c), void *user);

/*
 * Call @use with each position at which run @run began, from @from - TS_MAX_RUN or a later one up to @to - 1,
 * in order.  Sees sealed segments only.
 */
void ts_runs_each_start(const struct ts_runs *r, uint32_t run, uint64_t from, uint64_t to,
			void (*use)(void *user, uint64_t pos), void *user);

/*
 * For each position P in [@from, @to) at which a run began, set starts[P - from] to 1 + its ordinal.  Sees sealed
 * segments only.
 */
void ts_runs_fill(const struct ts_runs *r, uint64_t from, uint64_t to, uint32_t *starts);

/*
 * The last position <= @pos at which run @run began.  A position <= @from may be missed.  Sees sealed segments only.
 *
 * Returns the position.
 * Returns TS_NO_POS if the run did not begin there.
 */
uint64_t ts_runs_prev_start(const struct ts_runs *r, uint32_t run, uint64_t pos, uint64_t from);

/* Bytes of the sealed part, for `info` and the benchmark. */
uint64_t ts_runs_mem(const struct ts_runs *r);

/* The bytes of the sealed part that are in memory, not in an index file. */
uint64_t ts_runs_own_mem(const struct ts_runs *r);

#endif
