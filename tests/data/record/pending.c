/* SPDX-License-Identifier: MIT */
/*
 * Three signals that wait: the handlers of the second and the third one begin as sigreturn ends the one before; then handlers that
 * longjmp leaves (e2e/call_entries.py).
 */
#define _GNU_SOURCE
#include <setjmp.h>
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

static sigjmp_buf before;
static char other_stack[65536];

__attribute__((noinline)) void leave(int sig)
{
	siglongjmp(before, sig);
}

__attribute__((noinline)) void fail(volatile int *nowhere)
{
	*nowhere = 1;
}

/* A handler on a stack of its own, which never returns. */
__attribute__((noinline)) void leaves(void)
{
	struct sigaction act = { .sa_handler = leave, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &act, NULL);
	for (volatile int i = 0; i < 2; i++) {
		if (!sigsetjmp(before, 1))
			fail((int *)8);
	}
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
	leaves();
	return n_handled != 13;
}
