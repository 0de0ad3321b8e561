/* SPDX-License-Identifier: MIT */
/*
 * A damaged index file: the segments in which damage was found are built again, while the questions that need
 * them wait.
 *
 * They are built on a thread of its own if others are served.  The thread that asks lets them ask meanwhile
 * (src/query/aside.h).  If such a question needs a damaged segment, too, it waits in the same way; all of
 * them go on when no damage is left.
 */
#ifndef TS_MEND_H
#define TS_MEND_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "src/base/thread.h"
#include "src/index/index_file.h"
#include "src/trace/source.h"

struct ts_timeline;

struct ts_mender {
	const struct ts_model_options *opt; /* borrowed, as all that follows */
	const struct ts_source *src;
	struct ts_index_file *file;
	struct ts_query *q; /* whoever asks; NULL: nobody is served meanwhile */

	unsigned n_waiting;  /* questions that wait, each within the one before */
	bool is_at_work;     /* a segment is being built */
	bool is_hopeless;    /* one cannot be */
	size_t max_segments; /* how many segments of the file may be used to build another one */

	/* of the thread, while it is at work */
	struct ts_task task;
	bool is_compared;         /* the file has digests */
	size_t segment;           /* that is built */
	struct ts_recording *rec; /* owned */
	struct ts_timeline *tl;   /* owned; it has built it, if err.code is TS_OK */
	struct ts_error err;
};

void ts_mender_init(struct ts_mender *x, const struct ts_model_options *opt, const struct ts_source *src,
		    struct ts_index_file *file);

/*
 * Build again what is damaged; @user is the mender.  For ts_index_set_mender().
 *
 * Returns false if that cannot be; the log says why.
 */
bool ts_mender_run(void *user);

#endif
