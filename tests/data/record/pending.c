/* SPDX-License-Identifier: MIT */
/* Three signals that wait: the handlers of the second and the third one begin as sigreturn ends the one before (e2e/call_entries.py). */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

volatile int n_handled;

__attribute__((noinline)) void handle(int sig)
{
	n_handled += sig > 0;
}

__attribute__((noinline)) void unblock(const sigset_t *set)
{
	sigprocmask(SIG_UNBLOCK, set, NULL);
	n_handled += 10;
}

int main(void)
{
	union sigval value = { .sival_int = 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 2);
	signal(SIGRTMIN + 2, handle);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 3; i++)
		sigqueue(getpid(), SIGRTMIN + 2, value);
	unblock(&set);
	return n_handled != 13;
}
