/* SPDX-License-Identifier: MIT */
/*
 * `record --last SIZE`: the end of a run.
 *
 * The stream is written to parts, unnamed files beside the output.  Each part begins with the state of the program.
 * When a part has half of the size, a new part begins, and replaces the second to last part.  At the end
 * the last two parts are copied into the recording.
 */
#ifndef TS_RECORD_LAST_H
#define TS_RECORD_LAST_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/usercorn/write.h"
#include "src/base/error.h"

struct ts_record_part {
	int fd;               /* owned; -1: there is none */
	uint64_t first;       /* steps of the run before it */
	uint64_t n_state;     /* bytes of the file that hold the state at its beginning */
	struct ucir_writer writer;
};

struct ts_record_last {
	uint64_t max;  /* bytes of both parts, without the states */
	unsigned n;    /* parts that have begun */
	struct ts_record_part parts[2];
};

/*
 * Initialize @last without parts.
 *
 * Returns false with @err if no files can be created in the folder of @path, the output.  The caller must call
 * ts_record_last_fini() in both cases.
 */
bool ts_record_last_init(struct ts_record_last *last, uint64_t max, const char *path, struct ts_error *err);

/*
 * Begin a part after @n_steps steps of the run.
 *
 * Returns the writer of the part, to which the caller first writes the state of the program; NULL with @err if the file
 * cannot be truncated.
 */
struct ucir_writer *ts_record_last_begin(struct ts_record_last *last, uint64_t n_steps, struct ts_error *err);

/* Called after the state was written and flushed: later bytes count towards the size. */
void ts_record_last_end_state(struct ts_record_last *last);

/* The file length at which the newest part has half of the size. */
uint64_t ts_record_last_bound(const struct ts_record_last *last);

/* The number of steps of the run that are in no kept part. */
uint64_t ts_record_last_n_lost(const struct ts_record_last *last);

/* Append the kept parts, which must be flushed, to @w.  Returns false with @err. */
bool ts_record_last_copy(const struct ts_record_last *last, struct ucir_writer *w, struct ts_error *err);

void ts_record_last_fini(struct ts_record_last *last);

#endif
