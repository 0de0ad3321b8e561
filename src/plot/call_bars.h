/* SPDX-License-Identifier: MIT */
/*
 * Calls in a picture: the longest ones as bars, by thread and depth, and how deep the calls were in each
 * column.
 */
#ifndef TS_PLOT_CALL_BARS_H
#define TS_PLOT_CALL_BARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grid.h"
#include "labels.h"
#include "owners.h"
#include "src/ask/verb.h"

/* Threads whose calls are shown: those with most of them. */
#define TS_CALL_THREADS 4u

/* Calls at greater depths have no bar. */
#define TS_CALL_DEPTHS 32u

struct ts_call_bar {
	uint64_t from, until; /* positions, of the part that lies in the range: within the call */
	uint32_t depth;       /* 1: the outermost one */
	uint32_t label;       /* the function that was called; else the module and the offset in it, or the address */
	bool is_open;         /* it goes on after the range */
};

struct ts_call_thread {
	uint32_t thread;          /* ordinal */
	uint32_t label;
	struct ts_call_bar *bars; /* owned; by position */
	size_t n, cap;
	uint64_t n_calls;         /* that the thread made or was in, in the range */
	uint32_t *depths;         /* owned; how many calls were open at most in each column */
	uint32_t max_depth;       /* the greatest of them */
};

/* All zero: empty. */
struct ts_call_bars {
	struct ts_call_thread threads[TS_CALL_THREADS];
	unsigned n_threads;
	uint32_t n_left_out; /* more threads had calls */
	uint64_t min_len;    /* calls that took fewer positions have no bar; 0: all of up to TS_CALL_DEPTHS have one */
	char why[200];       /* why the calls are not known; "" if they are */
	bool is_failed;
};

/*
 * Collect the calls that were open in [@from, @to), at most @max bars.  @grid gives the columns of depths.
 *
 * Returns false if the trace cannot be read or memory is exhausted.
 */
bool ts_call_bars_take(struct ts_call_bars *b, struct ts_labels *labels, struct ts_ask *ask,
		       const struct ts_owners *owners, uint64_t from, uint64_t to, const struct ts_grid *grid,
		       size_t max, struct ts_error *err);
void ts_call_bars_fini(struct ts_call_bars *b);

#endif
