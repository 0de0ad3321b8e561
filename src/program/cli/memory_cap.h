/* SPDX-License-Identifier: MIT */
/*
 * A limit on the memory of a recorded program and its recorder together, so that a program which fills more memory than
 * the machine has does not cause the end of other programs.
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
 * Begin to watch process @pid and this process; when they have more than @max resident bytes, @pid is killed.
 *
 * Returns true on success; the caller must then call ts_memory_cap_end().  Returns false if no thread can be started.
 */
bool ts_memory_cap_begin(struct ts_memory_cap *cap, pid_t pid, uint64_t max);

/* Called when the process has ended, before its id can be reused.  Returns whether the limit killed it. */
bool ts_memory_cap_end(struct ts_memory_cap *cap);

#endif
