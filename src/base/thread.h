/* SPDX-License-Identifier: MIT */
/*
 * Threads that help the one that talks to clients, which never waits for them for long.
 */
#ifndef TS_THREAD_H
#define TS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* How long whoever talks to clients may wait for a helper before it looks at them. */
#define TS_PATIENCE_MS 2

/* Start a thread to which no signal is delivered.  Returns false if the system has none for us. */
bool ts_thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

/* A condition to wait for with pthread_cond_timedwait() until what ts_deadline() says. */
void ts_cond_init(pthread_cond_t *cond);
struct timespec ts_deadline(int ms);

/* A piece of work that is done on a thread of its own. */
struct ts_task {
	void (*run)(void *user);
	void *user;
	pthread_t thread;
	bool has_thread; /* it is to be joined */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_done;    /* guarded by the lock */
};

void ts_task_init(struct ts_task *t);

/* Waits for it. */
void ts_task_fini(struct ts_task *t);

/* Have @run(@user) called, here and now if the system has no thread for us.  One at a time. */
void ts_task_start(struct ts_task *t, void (*run)(void *user), void *user);

/* Wait for it for TS_PATIENCE_MS.  Returns whether it is done. */
bool ts_task_wait(struct ts_task *t);

#endif
