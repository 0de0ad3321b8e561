/* SPDX-License-Identifier: MIT */
/* Three threads that take turns: each of them adds ten times to a sum of its own. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn, sums[4];

static long __attribute__((noinline)) add(long who, long i)
{
	sums[who] += i;
	return sums[who];
}

static void *work(void *user)
{
	long who = (long)user;

	for (long i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != who)
			pthread_cond_wait(&changed, &mutex);
		add(who, i);
		turn = (turn + 1) % 3;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld\n", sums[0], sums[1], sums[2]);
	return 0;
}
