/* SPDX-License-Identifier: MIT */
/*
 * A bound on the memory that a recorded program and its recorder take together, so that a program which reserves and
 * fills more than the machine has does not end other programs.
 */
#ifndef TS_MEMORY_CAP_H
#define TS_MEMORY_CAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ts_memory_cap {
	uint64_t max; /* resident bytes of both processes */
	pid_t pid;    /* of the program */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_ending;
	_Atomic bool is_reached;
};

/* Three quarters of the memory that is available now (MemAvailable of proc(5)); UINT64_MAX if that is unknown. */
uint64_t ts_memory_cap_default(void);

/*
 * Begin to watch process @pid and this one; when they have more than @max resident bytes, @pid is killed.
 *
 * Returns true on success: @cap then needs ts_memory_cap_end().  Returns false if no thread can be started.
 */
bool ts_memory_cap_begin(struct ts_memory_cap *cap, pid_t pid, uint64_t max);

/* To be called when the process has ended, before its id can be another's.  Returns whether it was killed here. */
bool ts_memory_cap_end(struct ts_memory_cap *cap);

#endif
