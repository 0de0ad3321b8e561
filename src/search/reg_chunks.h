/* SPDX-License-Identifier: MIT */
/*
 * The chunks in which instructions may write a register or flag, found by the runs of instructions that write it
 * (src/query/write_runs.h).
 */
#ifndef TS_SEARCH_REG_CHUNKS_H
#define TS_SEARCH_REG_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "location.h"
#include "src/query/write_runs.h"

/* A search for one location; all zero at first. */
struct ts_reg_chunks {
	struct ts_run_search writers; /* only its list of the runs that may write the location is used */
	uint64_t n_steps;     /* the recording's length when the runs were listed; 0: they have not been listed */
	uint64_t first, end;  /* the window [first, end) of chunks that bits describes */
	uint64_t *bits;       /* owned; one bit for each chunk of the window: may it write the location? */
	uint64_t width;       /* the number of chunks of the next window */
	uint64_t limit;       /* set by the caller: the search ends before this position; 0: no limit */
	uint64_t last, below; /* the first result of a backward search from @below: no chunk in (last, below] has a write */
	uint64_t last_start;  /* the begin of the last run that may write it; TS_NO_POS if the search ended early */
	unsigned n_asked;     /* the number of chunks that were returned without knowledge of runs */
	bool is_ready;        /* ts_query_need_write_runs() has returned TS_END */
	bool is_failed;       /* memory was exhausted: every chunk is returned */
};

void ts_reg_chunks_fini(struct ts_reg_chunks *c);

/* Should the caller call ts_query_need_write_runs() now?  Every chunk is returned until c->is_ready is set. */
bool ts_reg_chunks_want_runs(const struct ts_reg_chunks *c, const struct ts_query *q);

/*
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) in which an instruction may write @loc;
 * TS_NO_CHUNK if no chunk may have such a step.
 */
uint64_t ts_reg_chunks_find(struct ts_reg_chunks *c, struct ts_query *q, const struct ts_location *loc,
			    uint64_t chunk, bool is_reverse);

#endif
