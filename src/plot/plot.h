/* SPDX-License-Identifier: MIT */
/*
 * The data of a picture of a recording.  svg.c and html.c draw it.
 *
 * The size of the data is bounded by struct ts_plot_bounds and does not depend on the recording.  Time is
 * divided into columns and addresses into rows; only the longest calls are kept.  A short range is decoded
 * and shown step by step.  A longer range is shown from the index: the executed code is still exact, but
 * memory accesses have the resolution of a chunk (TS_CHUNK_STEPS positions).
 */
#ifndef TS_PLOT_H
#define TS_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "areas.h"
#include "call_bars.h"
#include "grid.h"
#include "labels.h"
#include "src/ask/verb.h"
#include "src/base/collections/buf.h"
#include "timeline_marks.h"

struct ts_plot_bounds {
	uint32_t max_cols;      /* of each band */
	uint32_t max_code_rows, max_data_rows;
	size_t max_filled;      /* cells of a band that are not empty */
	size_t max_calls;       /* all threads together */
	size_t max_marks;       /* of each kind */
};

/* The number of rows in the band of threads.  Further threads share the last row. */
#define TS_PLOT_THREADS 16u

/* The largest number of areas of a band.  If there are more, neighbours are joined. */
#define TS_PLOT_AREAS 16u

struct ts_plot {
	uint64_t from, to; /* steps [from, to) are shown */
	struct ts_labels labels;
	struct ts_areas code_areas, data_areas;
	struct ts_grid code;          /* steps, by row of code_areas */
	struct ts_grid writes, reads; /* accesses, or chunks that accessed a line; by row of data_areas */
	struct ts_grid threads;       /* 1 in the columns in which the thread ran */
	uint32_t thread_labels[TS_PLOT_THREADS];
	/*
	 * owned; for each column of code the label of the function with the most steps.  A run of consecutive
	 * instructions counts for the function in which it begins.  If no function is known, the label is the
	 * module in parentheses.
	 */
	uint32_t *functions;
	/* owned; the pc of each column if a column is one position, else NULL; TS_NO_PC: unknown */
	uint64_t *pcs;
	struct ts_call_bars calls;
	struct ts_timeline_marks marks;
	bool has_reads;               /* the recording has memory reads */
	bool is_exact;                /* memory is shown step by step, not by the chunk */
};

/* Receives the progress of the work. */
struct ts_plot_watcher {
	/*
	 * Called repeatedly with the fraction that is done, 0 to 1, in ascending order.  Returns false to
	 * cancel.
	 */
	bool (*go_on)(void *user, double share);
	void *user;
};

/*
 * Collect the data of steps [@from, @to); @from < @to <= ts_query_end().  The recording must be complete.
 * @ask is the source of names.  @watcher may be NULL.
 *
 * Returns true on success.
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Returns false if the watcher cancelled the work (TS_OK).
 * The caller calls ts_plot_fini() in all cases.
 */
bool ts_plot_init(struct ts_plot *p, struct ts_ask *ask, uint64_t from, uint64_t to,
		  const struct ts_plot_bounds *bounds, const struct ts_plot_watcher *watcher,
		  struct ts_error *err);
void ts_plot_fini(struct ts_plot *p);

/*
 * Returns a sentence for people, a literal, that says what the picture omits and its headings do not mention.
 * Returns NULL if it omits nothing else.
 */
const char *ts_plot_left_out(const struct ts_plot *p);

/*
 * Append the picture as SVG (still, for documents) or as a page that zooms: one file that has its data and program, and loads
 * nothing.  @title is the trace's name.
 */
void ts_svg_put(struct ts_buf *out, const struct ts_plot *p, const char *title);
void ts_html_put(struct ts_buf *out, const struct ts_plot *p, const char *title);

/* Bounds that suit the picture's width; bounds that keep the page below 2 MB. */
extern const struct ts_plot_bounds ts_svg_bounds, ts_html_bounds;

#endif
