/* SPDX-License-Identifier: MIT */
/*
 * Helper threads.  The thread that serves clients starts them and never waits long for them.
 */
#ifndef TS_THREAD_H
#define TS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The time for which the thread that serves clients may wait for a helper before it serves its clients. */
#define TS_PATIENCE_MS 2

/* The number of processors that this process may use, at least 1. */
unsigned ts_n_processors(void);

/* Start a thread to which no signal is delivered.  Returns false if the system refuses. */
bool ts_thread_start(pthread_t *thread, void *(*run)(void *user), void *user);

/* A condition for pthread_cond_timedwait() with the deadline of ts_deadline(). */
void ts_cond_init(pthread_cond_t *cond);
struct timespec ts_deadline(int ms);

/* A function call on a thread of its own. */
struct ts_task {
	void (*run)(void *user);
	void *user;
	pthread_t thread;
	bool has_thread; /* the thread must be joined */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_done;    /* guarded by the lock */
	/* set by the caller before ts_task_start(): called after the work, on its thread; may be NULL */
	void (*tell)(void *user);
	void *tell_user;
};

void ts_task_init(struct ts_task *t);

/* Waits until the work is done. */
void ts_task_fini(struct ts_task *t);

/*
 * Call @run(@user) on a thread of its own, or at once if the system refuses one.  A task does one piece of
 * work at a time.
 */
void ts_task_start(struct ts_task *t, void (*run)(void *user), void *user);

/* Is the work done?  False if it was not started. */
bool ts_task_is_done(struct ts_task *t);

/* Wait for the work for TS_PATIENCE_MS.  Returns true if it is done. */
bool ts_task_wait(struct ts_task *t);

/*
 * Call @work(@user, i) once for each i < @n, in any order, on up to @n_threads threads including the caller's, or
 * on fewer if the system refuses to create them.  Returns when all calls are done.
 */
void ts_thread_each(unsigned n_threads, uint32_t n, void (*work)(void *user, uint32_t i), void *user);

#endif
