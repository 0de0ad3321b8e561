/* SPDX-License-Identifier: MIT */
/* Where processes of the recording forked: system calls that gave the process a child which is no thread of it. */
#ifndef TS_FORKS_H
#define TS_FORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/next.h"

struct ts_query;

struct ts_fork {
	uint64_t step; /* of the call, which has returned at the next position */
	uint32_t thread;
	uint32_t child; /* the process's number */
	bool is_vfork;  /* the caller waited until the child had ended, or was another program */
};

struct ts_forks;

void ts_forks_free(struct ts_forks *f);

/*
 * List the forks among the system calls that have been read since the last call.  *@left is decremented for
 * each system call that is examined.
 *
 * Returns TS_ITEM if all were examined.  Returns TS_MORE if *@left is 0 and calls remain.  Returns TS_FAIL if
 * memory is exhausted.  After TS_MORE or TS_FAIL the next call resumes at the same system call.
 */
enum ts_next ts_query_look_for_forks(struct ts_query *q, uint64_t *left);

/*
 * The nearest fork of the list at step @from or later; with @is_reverse the nearest at step @from or before.
 *
 * Returns the fork, borrowed until the list grows.
 * Returns NULL if no fork lies in that direction.
 */
const struct ts_fork *ts_query_fork(const struct ts_query *q, uint64_t from, bool is_reverse);

#endif
