/* SPDX-License-Identifier: MIT */
/*
 * Frames that do not simply nest, for e2e/stack_frames.py: recursion, callbacks, longjmp, tail calls, a signal's handler,
 * coroutines.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#define NEVER __attribute__((noinline, noclone))

static jmp_buf away;
static ucontext_t outside, inside;
static volatile int turns, n_signals;

NEVER static int leaf(int n)
{
	turns++;
	return n + turns;
}

NEVER static int recurse(int n)
{
	return n ? recurse(n - 1) + leaf(n) : leaf(0);
}

NEVER static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) < 0 ? 0 : *(const int *)a - *(const int *)b;
}

NEVER static void leave(int n)
{
	if (n)
		leave(n - 1);
	leaf(n);
	longjmp(away, 1);
}

/* A loop of jumps: each calls the other by its last instruction. */
NEVER __attribute__((optimize("O2"))) static int odd(int n);
NEVER __attribute__((optimize("O2"))) static int even(int n)
{
	turns += n;
	return n ? odd(n - 1) : leaf(1);
}

NEVER __attribute__((optimize("O2"))) static int odd(int n)
{
	turns -= n;
	return n ? even(n - 1) : leaf(2);
}

static void handler(int sig)
{
	n_signals += recurse(2) != sig;
}

static void generate(void)
{
	for (int i = 0; i < 4; i++) {
		recurse(2);
		swapcontext(&inside, &outside);
	}
}

NEVER static int resume(int n)
{
	swapcontext(&outside, &inside);
	return leaf(n);
}

NEVER static void coroutines(void)
{
	static char stack[65536];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, generate, 0);
	for (int i = 0; i < 4; i++) {
		recurse(1);
		resume(i);
	}
}

int main(int argc, char **argv)
{
	int numbers[] = { 5, 3, 9, 1, 7, 2, 8 };
	int sum = recurse(6);

	qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), compare);
	for (int i = 0; i < 3 && argc == 1; i++) { /* with an argument: no longjmp */
		if (!setjmp(away))
			leave(i + 2);
		sum += recurse(i);
	}
	sum += even(7);
	signal(SIGUSR1, handler);
	kill(getpid(), SIGUSR1);
	coroutines();
	printf("%d %d\n", sum > 0, n_signals);
	return 0;
}
