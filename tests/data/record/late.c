// SPDX-License-Identifier: MIT
/*
 * read() waits while another thread runs for more steps than a chunk has.  It returns 0, which is its number on x86-64: the result
 * changes no register.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static int ends[2];
static volatile int counter, is_near;

static void *work(void *unused)
{
	while (!is_near)
		sched_yield();
	for (int i = 0; i < 3000; i++)
		counter++;
	close(ends[1]);
	return unused;
}

int main(void)
{
	pthread_t thread;
	char byte;
	long n;

	if (pipe(ends) || pthread_create(&thread, NULL, work, NULL))
		return 1;
	is_near = 1;
	n = read(ends[0], &byte, 1);
	pthread_join(thread, NULL);
	return (int)n;
}
