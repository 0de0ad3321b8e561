/* SPDX-License-Identifier: MIT */
/* Prints what errno is, in two threads, of which each has its own. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void told(int number)
{
	printf("errno %d\n", number);
	fflush(stdout);
}

static void *other(void *unused)
{
	close(-1);
	told(errno);
	return unused;
}

int main(void)
{
	pthread_t thread;

	errno = 0;
	told(errno);
	access("/nonexistent/file", F_OK);
	told(errno);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	told(errno);
	errno = 77;
	told(errno);
	return 0;
}
