/* SPDX-License-Identifier: MIT */
/*
 * What clients call processes and threads: their recorded ids where these are positive and no other has them,
 * else free numbers.
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

/* Name all that have appeared.  Returns false if memory is exhausted; @names needs its fini either way. */
bool ts_names_init(struct ts_names *names, const struct ts_query *q, struct ts_error *err);

/* Name those that have appeared since; the others keep their names.  Returns false if memory is exhausted. */
bool ts_names_grow(struct ts_names *names, const struct ts_query *q);
void ts_names_fini(struct ts_names *names);

/* Bytes of a thread's label, with its NUL. */
#define TS_THREAD_LABEL_LEN 96

/* What people read of a thread: "thread P.T", and its name in quotation marks if it has one, to @label. */
void ts_names_label(const struct ts_names *names, const struct ts_query *q, uint32_t thread,
		    char label[TS_THREAD_LABEL_LEN]);

/* The ordinal of the thread called @tid, TS_NO_THREAD if there is none. */
uint32_t ts_names_thread(const struct ts_names *names, int64_t tid);

#endif
