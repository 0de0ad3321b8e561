/* SPDX-License-Identifier: MIT */
#include "memory_cap.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "src/base/thread.h"

#define PERIOD_MS 50 /* a program that fills memory as fast as it can gets 100 MB meanwhile */

/* Resident bytes of a process; 0 if it is gone. */
static uint64_t resident(pid_t pid)
{
	uint64_t size = 0, n_pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%" SCNu64 " %" SCNu64, &size, &n_pages) != 2)
		n_pages = 0;
	(void)fclose(f);
	return n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t ts_memory_cap_default(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	}
	if (f)
		(void)fclose(f);
	return kib ? kib * 1024 / 4 * 3 : UINT64_MAX;
}

/* Returns true when the watch is to end. */
static bool wait_period(struct ts_memory_cap *cap)
{
	struct timespec until = ts_deadline(PERIOD_MS);
	bool is_ending;

	pthread_mutex_lock(&cap->lock);
	if (!cap->is_ending)
		pthread_cond_timedwait(&cap->changed, &cap->lock, &until);
	is_ending = cap->is_ending;
	pthread_mutex_unlock(&cap->lock);
	return is_ending;
}

static void *watch(void *user)
{
	struct ts_memory_cap *cap = user;

	while (!wait_period(cap)) {
		if (resident(cap->pid) + resident(getpid()) <= cap->max)
			continue;
		atomic_store(&cap->is_reached, true);
		kill(cap->pid, SIGKILL);
		break;
	}
	return NULL;
}

bool ts_memory_cap_begin(struct ts_memory_cap *cap, pid_t pid, uint64_t max)
{
	*cap = (struct ts_memory_cap){ .max = max, .pid = pid };
	pthread_mutex_init(&cap->lock, NULL);
	ts_cond_init(&cap->changed);
	return ts_thread_start(&cap->thread, watch, cap);
}

bool ts_memory_cap_end(struct ts_memory_cap *cap)
{
	pthread_mutex_lock(&cap->lock);
	cap->is_ending = true;
	pthread_cond_broadcast(&cap->changed);
	pthread_mutex_unlock(&cap->lock);
	pthread_join(cap->thread, NULL);
	pthread_mutex_destroy(&cap->lock);
	pthread_cond_destroy(&cap->changed);
	return atomic_load(&cap->is_reached);
}
