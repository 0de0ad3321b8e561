/* SPDX-License-Identifier: MIT */
/*
 * `record --last SIZE`: the end of a run.
 *
 * The stream goes to parts, files without a name beside the output.  Each part begins with the state of the program.
 * When a part has half of the size a new one begins, and takes the place of the part before the last one.  At the end
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
 * No part has begun.
 *
 * Returns false with @err if there can be no files in the folder of @path, the output.  ts_record_last_fini() is needed
 * either way.
 */
bool ts_record_last_init(struct ts_record_last *last, uint64_t max, const char *path, struct ts_error *err);

/*
 * Begin a part after @n_steps steps of the run.
 *
 * Returns what it is to be written with, from the state of the program on; NULL with @err if the file cannot be
 * emptied.
 */
struct ucir_writer *ts_record_last_begin(struct ts_record_last *last, uint64_t n_steps, struct ts_error *err);

/* The state has been written and flushed: what follows is counted. */
void ts_record_last_end_state(struct ts_record_last *last);

/* The length of the file at which the part that was begun last has half of the size. */
uint64_t ts_record_last_bound(const struct ts_record_last *last);

/* How many steps of the run are in none of the parts that are kept. */
uint64_t ts_record_last_n_lost(const struct ts_record_last *last);

/* Append the parts that are kept to @w.  They were flushed.  Returns false with @err. */
bool ts_record_last_copy(const struct ts_record_last *last, struct ucir_writer *w, struct ts_error *err);

void ts_record_last_fini(struct ts_record_last *last);

#endif
