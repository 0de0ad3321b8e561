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
 * The nearest fork at step @from or later, or, in @is_reverse, at step @from or before.
 *
 * Returns NULL if there is none, or memory is exhausted.  The result is valid until the next such question.
 */
const struct ts_fork *ts_query_fork(struct ts_query *q, uint64_t from, bool is_reverse);

#endif
