/* SPDX-License-Identifier: MIT */
/*
 * The threads of a recording by their ids.
 *
 * A reader looks up each thread id, and adds a new one to the recording's threads.  The table is hashed, so that a trace
 * with a new thread in each record is not slower than others.  The number of threads is bounded, because each needs some
 * kilobytes in the model.
 */
#ifndef LOADERS_KIT_THREADS_H
#define LOADERS_KIT_THREADS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/base/collections/hash_table.h"
#include "src/trace/reader.h"

#define THREADS_MAX 16384u

/* All zeros is an empty table. */
struct threads {
	struct ts_hash_table by_id;
	uint32_t n; /* threads of the recording that are in the table: the first ones */
};

void threads_fini(struct threads *t);

/*
 * Find the thread @tid of @process (an ordinal) in @rec.  If it is new, it is added with process id
 * @pid.  Threads that other readers have added to the recording are added to the table first.  @off is the
 * file offset of the id, for messages.
 *
 * Returns the ordinal of the thread.
 * Returns TS_NO_THREAD if there would be more than THREADS_MAX threads (TS_ELIMIT).
 * Returns TS_NO_THREAD if memory is exhausted (TS_ENOMEM).
 */
uint32_t threads_find(struct threads *t, struct ts_recording *rec, uint32_t process, uint64_t pid,
		      uint64_t tid, uint64_t off, struct ts_error *err);

/*
 * The same, but no thread is added to the recording.
 *
 * Returns the ordinal of the thread.
 * Returns TS_NO_THREAD, with *err unchanged, if the recording has no such thread.
 * Returns TS_NO_THREAD if memory is exhausted (TS_ENOMEM).
 */
uint32_t threads_known(struct threads *t, const struct ts_recording *rec, uint32_t process, uint64_t tid,
		       struct ts_error *err);

#endif
