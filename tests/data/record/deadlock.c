/* SPDX-License-Identifier: MIT */
/* Two threads that lock two accounts in opposite order; the alarm ends the program (e2e/mcp_sessions.py). */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t from_lock = PTHREAD_MUTEX_INITIALIZER, to_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *deposit(void *unused)
{
	pthread_mutex_lock(&to_lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&from_lock);
	return unused;
}

static void withdraw(void)
{
	pthread_mutex_lock(&from_lock);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&to_lock);
}

int main(void)
{
	pthread_t thread;

	alarm(2);
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&thread, NULL, deposit, NULL);
	withdraw();
	return pthread_join(thread, NULL);
}
