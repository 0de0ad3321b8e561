/* SPDX-License-Identifier: MIT */
/* Ends in what never returns: each mode is an argument. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int ends[2], started[2];
static volatile int zero;
static char byte;

static void *wait_in_read(void *name)
{
	prctl(PR_SET_NAME, name);
	write(started[1], "x", 1);
	read(ends[0], &byte, 3);
	return NULL;
}

static void block(void)
{
	pthread_t t[2];

	pipe(ends);
	pipe(started);
	pthread_create(&t[0], NULL, wait_in_read, "reader");
	pthread_create(&t[1], NULL, wait_in_read, "other");
	read(started[0], &byte, 1);
	read(started[0], &byte, 1);
	usleep(100000); /* both threads are in read(), or on the way: either is right */
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "block")) {
		block();
		_exit(3);
	} else if (!strcmp(mode, "crash")) {
		block();
		*(volatile int *)0x414140 = 1;
	} else if (!strcmp(mode, "divide")) {
		return 1000 / zero;
	} else if (!strcmp(mode, "kill")) {
		kill(getpid(), SIGKILL);
	} else if (!strcmp(mode, "abort")) {
		raise(SIGABRT);
	} else if (!strcmp(mode, "exec")) {
		execl("/nonexistent/program", "program", NULL);
		execl("/bin/true", "true", NULL);
	} else if (!strcmp(mode, "catch")) {
		signal(SIGUSR1, SIG_IGN);
		kill(getpid(), SIGUSR1);
		alarm(1);
		pause();
	}
	return 0;
}
