/* SPDX-License-Identifier: MIT */
/*
 * The ids of processes and threads for clients: the recorded ids if they are positive and unique, else free numbers.
 */
#ifndef TS_SYMBOLS_NAMES_H
#define TS_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"

struct ts_names {
	int64_t *pids; /* owned; by process ordinal */
	int64_t *tids; /* owned; by thread ordinal */
	uint32_t n_pids, n_tids;
};

/*
 * Assign ids to all known threads.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 * The caller must call ts_names_fini() in both cases.
 */
bool ts_names_init(struct ts_names *names, const struct ts_query *q, struct ts_error *err);

/* Assign ids to new threads; the others keep theirs.  Returns false if memory is exhausted. */
bool ts_names_grow(struct ts_names *names, const struct ts_query *q);
void ts_names_fini(struct ts_names *names);

/* The size of a thread's label, with its NUL. */
#define TS_THREAD_LABEL_LEN 96

/* Write the label of a thread for users to @label: "thread P.T", and its name in quotation marks if it has one. */
void ts_names_label(const struct ts_names *names, const struct ts_query *q, uint32_t thread,
		    char label[TS_THREAD_LABEL_LEN]);

/* The ordinal of the thread with the id @tid, TS_NO_THREAD if no thread has it. */
uint32_t ts_names_thread(const struct ts_names *names, int64_t tid);

#endif
