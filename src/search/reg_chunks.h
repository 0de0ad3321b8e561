/* SPDX-License-Identifier: MIT */
/*
 * In which chunks instructions may write a register or flag: from the runs of instructions that do
 * (src/query/write_runs.h).
 */
#ifndef TS_SEARCH_REG_CHUNKS_H
#define TS_SEARCH_REG_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "location.h"
#include "src/query/write_runs.h"

/* All zero: nothing has been asked. */
struct ts_reg_chunks {
	struct ts_run_search writers; /* the runs that may write it; it is not run */
	uint64_t n_steps;     /* of the recording when they were listed; 0: they were not */
	uint64_t first, end;  /* chunks of the window that bits is about */
	uint64_t *bits;       /* owned; a bit a chunk */
	uint64_t width;       /* of the next window */
	uint64_t last, below; /* the chunk that was found first, backwards from @below; none after it up to @below has a write */
	unsigned n_asked;     /* chunks that were named without a look at runs */
	bool is_ready;        /* ts_query_need_write_runs() has returned TS_END */
	bool is_failed;       /* memory was exhausted: all chunks are named */
};

void ts_reg_chunks_fini(struct ts_reg_chunks *c);

/* Is it time to find out what runs write?  Until c->is_ready all chunks are named. */
bool ts_reg_chunks_want_runs(const struct ts_reg_chunks *c, const struct ts_query *q);

/*
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) in which an instruction may write @loc;
 * TS_NO_CHUNK if there is none.
 */
uint64_t ts_reg_chunks_find(struct ts_reg_chunks *c, struct ts_query *q, const struct ts_location *loc,
			    uint64_t chunk, bool is_reverse);

#endif
