/* SPDX-License-Identifier: MIT */
/* Where processes of the recording forked: system calls that gave the process a child with memory of its own. */
#ifndef TS_FORKS_H
#define TS_FORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_query;

struct ts_fork {
	uint64_t step; /* of the call, which has returned at the next position */
	uint32_t thread;
	uint32_t child; /* the process's number */
};

struct ts_forks;

void ts_forks_free(struct ts_forks *f);

/*
 * List the forks among the system calls that have been read since the last call; each call that is looked at takes one off
 * *@left.
 *
 * Returns true if all have been looked at, or memory is exhausted: forks are missing from the list then.
 * Returns false if *@left is 0: call again.
 */
bool ts_query_look_for_forks(struct ts_query *q, uint64_t *left);

/*
 * The nearest fork of the list at step @from or later; with @is_reverse the nearest at step @from or before.
 *
 * Returns NULL if there is none.  The result is valid until the list grows.
 */
const struct ts_fork *ts_query_fork(const struct ts_query *q, uint64_t from, bool is_reverse);

#endif
