/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

unsigned ts_n_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

bool ts_thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
	sigset_t all, old;
	bool done;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	done = !pthread_create(thread, NULL, run, user);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return done;
}

void ts_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

struct timespec ts_deadline(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ms % 1000 * 1000000L;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000L;
	t.tv_nsec %= 1000000000L;
	return t;
}

/* ------------------------------------------------------------------------------------------------- tasks */

void ts_task_init(struct ts_task *t)
{
	*t = (struct ts_task){ 0 };
	pthread_mutex_init(&t->lock, NULL);
	ts_cond_init(&t->changed);
}

static void join(struct ts_task *t)
{
	if (t->has_thread)
		pthread_join(t->thread, NULL);
	t->has_thread = false;
}

void ts_task_fini(struct ts_task *t)
{
	join(t);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

static void *run(void *user)
{
	struct ts_task *t = user;

	t->run(t->user);
	pthread_mutex_lock(&t->lock);
	t->is_done = true;
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
	if (t->tell)
		t->tell(t->tell_user);
	return NULL;
}

void ts_task_start(struct ts_task *t, void (*run_it)(void *user), void *user)
{
	t->run = run_it;
	t->user = user;
	t->is_done = false;
	t->has_thread = ts_thread_start(&t->thread, run, t);
	if (!t->has_thread)
		run(t);
}

bool ts_task_is_done(struct ts_task *t)
{
	bool is_done;

	pthread_mutex_lock(&t->lock);
	is_done = t->is_done;
	pthread_mutex_unlock(&t->lock);
	return is_done;
}

bool ts_task_wait(struct ts_task *t)
{
	const struct timespec until = ts_deadline(TS_PATIENCE_MS);
	int failed = 0;
	bool is_done;

	pthread_mutex_lock(&t->lock);
	while (!t->is_done && failed != ETIMEDOUT)
		failed = pthread_cond_timedwait(&t->changed, &t->lock, &until);
	is_done = t->is_done;
	pthread_mutex_unlock(&t->lock);
	if (is_done)
		join(t);
	return is_done;
}

/* ---------------------------------------------------------------------------------------- pieces of work */

#define MAX_HELPERS 63

struct pieces {
	void (*work)(void *user, uint32_t i);
	void *user;
	uint32_t n;
	_Atomic uint32_t next;
};

static void *work_on(void *user)
{
	struct pieces *p = user;
	uint32_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->n)
		p->work(p->user, i);
	return NULL;
}

void ts_thread_each(unsigned n_threads, uint32_t n, void (*work)(void *user, uint32_t i), void *user)
{
	struct pieces p = { .work = work, .user = user, .n = n };
	pthread_t helpers[MAX_HELPERS];
	unsigned n_helpers = 0;

	while (n_helpers < MAX_HELPERS && n_helpers + 1 < n_threads && n_helpers + 1 < n &&
	       ts_thread_start(&helpers[n_helpers], work_on, &p))
		n_helpers++;
	work_on(&p);
	while (n_helpers)
		pthread_join(helpers[--n_helpers], NULL);
}
