/* SPDX-License-Identifier: MIT */
/*
 * What a picture of a recording shows, as data: svg.c and html.c draw it.
 *
 * Everything is bounded by struct ts_plot_bounds, not by the recording: time is divided into columns,
 * addresses into rows, and of calls the longest are kept.  A short range is decoded and shown step by step.
 * A longer one is made from the index: which code ran is exact then, which memory was touched is known by the
 * chunk (TS_CHUNK_STEPS positions).
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
#include "src/base/buf.h"
#include "timeline_marks.h"

struct ts_plot_bounds {
	uint32_t max_cols;      /* of each band */
	uint32_t max_code_rows, max_data_rows;
	size_t max_filled;      /* cells of a band that are not empty */
	size_t max_calls;       /* all threads together */
	size_t max_marks;       /* of each kind */
};

/* Threads with rows of their own in the band of threads; more of them share the last one. */
#define TS_PLOT_THREADS 16u

/* More areas are joined. */
#define TS_PLOT_AREAS 16u

struct ts_plot {
	uint64_t from, to; /* positions: the steps from ... to - 1 are shown */
	struct ts_labels labels;
	struct ts_areas code_areas, data_areas;
	struct ts_grid code;          /* steps, by row of code_areas */
	struct ts_grid writes, reads; /* accesses, or chunks that accessed a line; by row of data_areas */
	struct ts_grid threads;       /* which ran: 1 */
	uint32_t thread_labels[TS_PLOT_THREADS];
	/*
	 * owned; of each column of code the function in which most of its steps are (a run of instructions
	 * that goes on into the next function counts for the first one); where no function is known, the
	 * module in parentheses
	 */
	uint32_t *functions;
	uint64_t *pcs;                /* owned; if a column is one position, the pc of each, TS_NO_PC: unknown */
	struct ts_call_bars calls;
	struct ts_timeline_marks marks;
	bool has_reads;               /* the recording knows what was read */
	bool is_exact;                /* memory is shown step by step, not by the chunk */
};

/* Receiver of the progress of the work. */
struct ts_plot_watcher {
	/*
	 * Called now and then with the share that is done, 0 to 1, which never shrinks; false ends the work.
	 */
	bool (*go_on)(void *user, double share);
	void *user;
};

/*
 * Gather what the steps [@from, @to) did; @to is not above ts_query_end(), @from below @to.  @ask names
 * things; the recording is complete.  @watcher may be NULL.
 *
 * Returns false if the trace cannot be read (TS_EIO), if memory is exhausted (TS_ENOMEM), or if the watcher
 * ended the work (TS_OK).  Call ts_plot_fini() in both cases.
 */
bool ts_plot_init(struct ts_plot *p, struct ts_ask *ask, uint64_t from, uint64_t to,
		  const struct ts_plot_bounds *bounds, const struct ts_plot_watcher *watcher,
		  struct ts_error *err);
void ts_plot_fini(struct ts_plot *p);

/*
 * What the picture leaves out beside what its headings say, as a sentence for people; NULL if it is all
 * there.
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
