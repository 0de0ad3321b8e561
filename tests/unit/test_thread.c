/* SPDX-License-Identifier: MIT */
/*
 * Pieces of work are each done once, on however many threads there are.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "src/base/thread.h"

#define N_PIECES 1000u

/* How many threads the system starts before it refuses one. */
static unsigned n_allowed, n_started;
static atomic_uint n_done[N_PIECES];

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *user)
{
	if (n_started == n_allowed)
		return EAGAIN;
	n_started++;
	return __real_pthread_create(thread, attr, run, user);
}

static void count(void *user, uint32_t i)
{
	ck_assert_ptr_eq(user, n_done);
	atomic_fetch_add(&n_done[i], 1);
}

static void check_each(unsigned n_threads, uint32_t n, unsigned want_started)
{
	n_started = 0;
	for (uint32_t i = 0; i < N_PIECES; i++)
		atomic_store(&n_done[i], 0);
	ts_thread_each(n_threads, n, count, n_done);
	for (uint32_t i = 0; i < N_PIECES; i++)
		ck_assert_uint_eq(atomic_load(&n_done[i]), i < n);
	ck_assert_uint_eq(n_started, want_started);
}

START_TEST(each_piece_is_done_once)
{
	n_allowed = 1000;
	check_each(1, N_PIECES, 0);
	check_each(2, N_PIECES, 1);
	check_each(7, N_PIECES, 6);
	check_each(256, N_PIECES, 63);
}
END_TEST

START_TEST(no_thread_is_started_without_a_piece_for_it)
{
	n_allowed = 1000;
	check_each(7, 0, 0);
	check_each(7, 1, 0);
	check_each(7, 3, 2);
}
END_TEST

START_TEST(refused_threads_are_done_without)
{
	n_allowed = 0;
	check_each(7, N_PIECES, 0);
	n_allowed = 2;
	check_each(7, N_PIECES, 2);
}
END_TEST

START_TEST(there_is_a_processor)
{
	ck_assert_uint_ge(ts_n_processors(), 1);
}
END_TEST

UNIT_SUITE("thread", each_piece_is_done_once, no_thread_is_started_without_a_piece_for_it,
	   refused_threads_are_done_without, there_is_a_processor)
