/* SPDX-License-Identifier: MIT */
/*
 * Which steps may have set a flag, or been a conditional branch: by the distinct runs of x86 instructions
 * (scan.h), of which a program has few, however long it executes.
 *
 * What the instructions of each run do is found out once for a query object, when it is first asked for, and
 * again when the recording has grown.  Nothing is decoded for a search after that.
 */
#ifndef TS_FLAG_RUNS_H
#define TS_FLAG_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns.h"

/* What is searched for: bits of eflags that an instruction writes, or that it is a conditional branch. */
#define TS_FLAG_BRANCH (UINT32_C(1) << 31)

/* Which of that an instruction does; 0 if it is not known. */
uint32_t ts_flags_of(const struct ts_decoded *d);

/*
 * Find out what @n_runs more runs do.  Only the recording of a program on x86 has an answer
 * (ts_query_has_flag_runs()).
 */
enum ts_need ts_query_need_flag_runs(struct ts_query *q, unsigned n_runs, struct ts_error *err);

/*
 * Can there be one?  Of a machine only if its mode never changes: else the same addresses have other code
 * again and again.
 */
bool ts_query_has_flag_runs(const struct ts_query *q);

/* A run that may do it, and where it began last. */
struct ts_flag_run {
	uint32_t run;
	bool is_exact;  /* it began at start, and not after that */
	uint64_t start; /* else it did not begin after start, as far as has been looked */
};

/* A search backwards, from one run to the one before. */
struct ts_flag_search {
	struct ts_flag_run *runs; /* owned */
	size_t n, at;
	uint64_t best;     /* the last start that was found so far; TS_NO_POS: none */
	uint32_t best_run; /* whose start it is */
};

/*
 * Begin a search for @does, a mask of flags or TS_FLAG_BRANCH; ts_query_need_flag_runs() has returned
 * TS_NEED_DONE.
 *
 * Returns false if memory is exhausted; @s needs its fini either way.
 */
bool ts_flag_search_init(struct ts_flag_search *s, const struct ts_query *q, uint32_t does,
			 struct ts_error *err);
void ts_flag_search_fini(struct ts_flag_search *s);

/*
 * The last run that may do it of those that began at @pos or before: its steps are [*first, *end), of which
 * those after @pos need not be there.  *first is TS_NO_POS if there is none.  @pos must not be greater than
 * the last time.  At most @n_looks runs are looked up.
 *
 * Returns false if there is more to do: ask again with the same @pos.
 */
bool ts_flag_search_prev(struct ts_flag_search *s, const struct ts_query *q, uint64_t pos, unsigned n_looks,
			 uint64_t *first, uint64_t *end);

/* What a query object keeps; it frees it. */
struct ts_flag_runs;

void ts_flag_runs_free(struct ts_flag_runs *f);

/* The recording has grown.  What is being found out now is gone on with: else it would never be done. */
void ts_flag_runs_refresh(struct ts_query *q);

#endif
