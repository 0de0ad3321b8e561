/* SPDX-License-Identifier: MIT */
/*
 * The last writer of a location before a position, and the last branch.
 *
 * Registers and flags: the steps before the position are decoded one by one, and from some distance on only
 * runs of instructions that write them (src/query/search/write_runs.h), or chunks in which the recording shows a
 * change.  Memory: the chunks that the index names.
 */
#ifndef TS_SEARCH_WRITER_H
#define TS_SEARCH_WRITER_H

#include "budget.h"
#include "src/query/search/write_runs.h"
#include "writes.h"

struct ts_writer {
	uint64_t pos, pc; /* pc: TS_NO_PC if it is not known */
	uint32_t thread;
	enum ts_writer_kind kind;
	uint64_t mask; /* which bytes of the location it wrote */
};

/* A search among runs that write something; later searches for it go on from where it is, if they begin before. */
struct ts_writer_runs {
	bool is_used;
	struct ts_does does;
	uint64_t pos;  /* from which it was asked last */
	uint64_t used; /* when */
	uint64_t n_steps; /* of the recording */
	struct ts_run_search search;
};

#define TS_N_WRITER_RUNS 8u

/* The kinds of writers of a location of registers or flags. */
struct ts_writer_does {
	bool is_used;
	enum ts_location_kind kind;
	uint64_t base, mask;
	struct ts_does does;
};

#define TS_N_WRITER_DOES 32u

/* One search after the other; all zero: none has begun. */
struct ts_writer_search {
	uint64_t pos;      /* how far it has come: steps from here on have been examined */
	uint64_t before;   /* where it began */
	bool is_begun;
	bool may_contradict;
	uint64_t n_steps;  /* of the recording when that was found out */
	struct ts_location loc; /* as the effects of steps have it */
	struct ts_does does;
	uint64_t stop;     /* steps before it are not examined */
	uint64_t first;    /* registers: steps from here on are examined one by one */
	uint64_t chunk;    /* memory: the next one to look into; TS_NO_CHUNK: no chunk is left */
	uint32_t n_looked;
	struct ts_writer_runs *among; /* the searches that s->does goes on with; NULL: none yet */
	struct ts_writer_runs runs[TS_N_WRITER_RUNS];
	uint64_t clock;
	struct ts_writer_does known[TS_N_WRITER_DOES]; /* by location */
};

/*
 * Find the last step before @before, and not before @stop, that wrote a byte of @loc.  Of a machine, memory has virtual
 * addresses, and must lie in one page.
 *
 * Returns TS_ITEM with *w set.
 * Returns TS_END if no step in [@stop, @before) wrote it.
 * Returns TS_MORE if the budget is used up: call again with the same arguments.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_writer_find(struct ts_writer_search *s, struct ts_query *q, const struct ts_location *loc,
			    uint64_t before, uint64_t stop, struct ts_writer *w, struct ts_budget *budget,
			    struct ts_error *err);

/*
 * Find the last step of @thread before @before whose next address depended on data: a conditional branch, an
 * indirect jump or call, or a return.
 *
 * Returns TS_ITEM with *w set; w->kind and w->mask have no meaning.
 * Returns TS_END if no such step precedes @before.
 * Returns TS_MORE if the budget is used up: call again with the same arguments.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_writer_find_branch(struct ts_writer_search *s, struct ts_query *q, uint32_t thread,
				   uint64_t before, struct ts_writer *w, struct ts_budget *budget,
				   struct ts_error *err);

void ts_writer_search_fini(struct ts_writer_search *s);

#endif
