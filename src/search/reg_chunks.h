/* SPDX-License-Identifier: MIT */
/*
 * The chunks in which instructions may write a register or flag, found by the runs of instructions that write it
 * (src/query/search/write_runs.h).
 */
#ifndef TS_SEARCH_REG_CHUNKS_H
#define TS_SEARCH_REG_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "location.h"
#include "src/query/search/write_runs.h"

/* A search for one location; all zero at first.  It owns nothing. */
struct ts_reg_chunks {
	struct ts_does does;  /* the writes of the location */
	uint64_t n_steps;     /* the recording's length when the search began; 0: it has not begun */
	uint64_t n_groups;    /* the number of groups of chunks (src/query/search/run_chunks.h) that are examined together next */
	uint64_t limit;       /* set by the caller: a backward search ends before this position; 0: no limit */
	bool is_for_one;      /* set by the caller: the search ends at the first hit */
	bool is_enough;       /* set by the caller: the chunk that is asked for is returned if nothing is known of its group yet */
	uint64_t found;       /* the chunk that a backward search returned last; TS_NO_CHUNK: none, or runs are not known */
	uint64_t found_start; /* where in that chunk the last steps begin that may write it; TS_NO_POS: unknown */
	uint64_t last, below; /* no chunk in (last, below] has a write */
	uint64_t last_start;  /* as found_start, of last */
	unsigned n_asked;     /* the number of chunks that were returned without knowledge of runs */
	bool is_ready;        /* ts_query_need_write_runs() has returned TS_END */
};

/* Should the caller call ts_query_need_write_runs() now?  Every chunk is returned until c->is_ready is set. */
bool ts_reg_chunks_want_runs(const struct ts_reg_chunks *c, const struct ts_query *q);

/*
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) in which an instruction may write @loc;
 * TS_NO_CHUNK if no chunk may have such a step.
 */
uint64_t ts_reg_chunks_find(struct ts_reg_chunks *c, struct ts_query *q, const struct ts_location *loc,
			    uint64_t chunk, bool is_reverse);

/* The parts of @chunk (src/query/search/run_chunks.h) in which an instruction may write the location: all of them if that is not known. */
uint16_t ts_reg_chunks_parts(const struct ts_reg_chunks *c, struct ts_query *q, uint64_t chunk);

#endif
