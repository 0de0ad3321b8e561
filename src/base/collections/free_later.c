/* SPDX-License-Identifier: MIT */
#include "free_later.h"

#include <stdlib.h>

#include "src/base/thread.h"

static void *run(void *memory)
{
	pthread_detach(pthread_self());
	free(memory);
	return NULL;
}

void ts_free_later(void *memory, size_t len)
{
	pthread_t thread;

	if (!memory || len < TS_FREE_LATER_LEN || !ts_thread_start(&thread, run, memory))
		free(memory);
}
