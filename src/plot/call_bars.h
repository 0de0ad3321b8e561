/* SPDX-License-Identifier: MIT */
/*
 * Calls in a picture.  The longest calls are bars, by thread and depth.  For each column there is also the
 * largest depth of the calls in it.
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

/* The number of threads whose calls are shown: the threads with the most calls. */
#define TS_CALL_THREADS 4u

/* Calls at greater depths have no bar. */
#define TS_CALL_DEPTHS 32u

struct ts_call_bar {
	uint64_t from, until; /* positions [from, until): the call, clipped to the picture's range */
	uint32_t depth;       /* 1: the outermost one */
	uint32_t label;       /* the called function; if unknown, its module and offset, or its address */
	bool is_open;         /* the call ends after the range */
};

struct ts_call_thread {
	uint32_t thread;          /* ordinal */
	uint32_t label;
	struct ts_call_bar *bars; /* owned; by position */
	size_t n, cap;
	uint64_t n_calls;         /* the number of calls that were open anywhere in the range */
	uint32_t *depths;         /* owned; for each column the largest number of open calls */
	uint32_t max_depth;       /* the maximum of depths */
};

/* All zero: empty. */
struct ts_call_bars {
	struct ts_call_thread threads[TS_CALL_THREADS];
	unsigned n_threads;
	uint32_t n_left_out; /* threads that had calls and are not shown */
	uint64_t min_len;    /* calls that took fewer positions have no bar; 0: all calls have one */
	char why[200];       /* the reason for which the calls are not known; "" if they are known */
	bool is_failed;      /* memory was exhausted */
};

/*
 * Collect the calls that were open at positions [@from, @to), at most @max bars.  The columns of depths are
 * those of @grid.
 *
 * Returns true on success, also if the recording's calls cannot be found; @b->why is then set.
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The caller calls ts_call_bars_fini() in all cases.
 */
bool ts_call_bars_take(struct ts_call_bars *b, struct ts_labels *labels, struct ts_ask *ask,
		       const struct ts_owners *owners, uint64_t from, uint64_t to, const struct ts_grid *grid,
		       size_t max, struct ts_error *err);
void ts_call_bars_fini(struct ts_call_bars *b);

#endif
