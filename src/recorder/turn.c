/* SPDX-License-Identifier: MIT */
/*
 * The threads of the program take turns: one of them runs at a time, so that the order of the recording is
 * the order of what happened in memory.
 */
#include "thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define INSNS_A_TURN 20000u
#define PATIENCE_NS 2000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static struct ts_turn_taker *_Atomic owner;
static struct ts_turn_taker *last; /* the last owner; it lets others go first */
static _Atomic unsigned n_waiting;

bool ts_turn_is_of(const struct ts_turn_taker *t)
{
	return atomic_load_explicit(&owner, memory_order_relaxed) == t;
}

bool ts_turn_enter(struct ts_turn_taker *t)
{
	if (TS_QEMU_API > 1)
		atomic_store(&t->is_inside, true);
	return atomic_load(&owner) == t;
}

void ts_turn_leave(struct ts_turn_taker *t)
{
	if (TS_QEMU_API > 1)
		atomic_store_explicit(&t->is_inside, false, memory_order_release);
}

static bool may_take(const struct ts_turn_taker *t)
{
	return owner == t || (!owner && (last != t || n_waiting == 1));
}

/* An owner that enters a callback now either finds that it no longer has the turn, or is noticed here. */
static bool take_from(struct ts_turn_taker *idle, struct ts_turn_taker *t)
{
	if (atomic_load(&idle->is_inside))
		return false;
	atomic_store(&owner, t);
	if (!atomic_load(&idle->is_inside))
		return true;
	atomic_store(&owner, idle);
	return false;
}

static void own(struct ts_turn_taker *t)
{
	n_waiting--;
	owner = last = t;
	t->n_used = 0;
	pthread_mutex_unlock(&lock);
}

void ts_turn_take(struct ts_turn_taker *t)
{
	pthread_mutex_lock(&lock);
	n_waiting++;
	while (!may_take(t))
		pthread_cond_wait(&given, &lock);
	own(t);
}

bool ts_turn_try(struct ts_turn_taker *t)
{
	struct ts_turn_taker *other;
	struct timespec limit;
	unsigned n_used;
	int failed = 0;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec += PATIENCE_NS;
	limit.tv_sec += limit.tv_nsec / 1000000000;
	limit.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	n_waiting++;
	other = owner;
	n_used = other ? other->n_used : 0;
	while (!may_take(t) && !failed)
		failed = pthread_cond_timedwait(&given, &lock, &limit);
	if (may_take(t) ||
	    (TS_QEMU_API > 1 && other && owner == other && other->n_used == n_used && take_from(other, t))) {
		own(t);
		return true;
	}
	n_waiting--;
	pthread_cond_broadcast(&given);
	pthread_mutex_unlock(&lock);
	return false;
}

void ts_turn_give(struct ts_turn_taker *t)
{
	pthread_mutex_lock(&lock);
	if (owner == t)
		owner = NULL;
	pthread_cond_broadcast(&given);
	pthread_mutex_unlock(&lock);
}

bool ts_turn_is_over(struct ts_turn_taker *t)
{
	return ++t->n_used >= INSNS_A_TURN && atomic_load_explicit(&n_waiting, memory_order_relaxed);
}
