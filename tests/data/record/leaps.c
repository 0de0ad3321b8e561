/* SPDX-License-Identifier: MIT */
/*
 * Calls that do not simply return: longjmp over several frames, coroutines, a handler on a stack of its own.  The
 * program keeps a list of its calls, CALLEE CALLER KIND a line, and prints it at the end.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define STACK_LEN 65536
#define MAX_CALLS 256

static struct {
	const char *callee, *caller, *kind;
} calls[MAX_CALLS];
static int n_calls;

static jmp_buf back;
static ucontext_t outside, inside[2];
static char stacks[3][STACK_LEN];

#define NOINLINE __attribute__((noipa))

static inline __attribute__((always_inline)) int enter(const char *callee, const char *caller)
{
	calls[n_calls].callee = callee;
	calls[n_calls].caller = caller;
	calls[n_calls].kind = "open";
	return n_calls++;
}

static inline __attribute__((always_inline)) void leave(int call)
{
	calls[call].kind = "return";
}

NOINLINE void f_leaf(const char *caller)
{
	leave(enter("f_leaf", caller));
}

NOINLINE void f_third(void)
{
	enter("f_third", "f_second");
	f_leaf("f_third");
	longjmp(back, 1);
}

NOINLINE void f_second(void)
{
	volatile char room[500];

	enter("f_second", "f_first");
	room[1] = 0;
	f_third();
	f_leaf("f_second");
}

NOINLINE void f_first(void)
{
	enter("f_first", "f_jumper");
	f_second();
	f_leaf("f_first");
}

NOINLINE void f_jumper(void)
{
	int call = enter("f_jumper", "main");

	if (!setjmp(back)) {
		f_first();
		abort();
	}
	for (int i = call + 1; i < n_calls; i++) {
		if (*calls[i].kind == 'o')
			calls[i].kind = "unwound";
	}
	f_leaf("f_jumper");
	leave(call);
}

NOINLINE void f_turn(int which)
{
	int call = enter("f_turn", "coroutine");

	f_leaf("f_turn");
	swapcontext(&inside[which], &outside);
	f_leaf("f_turn");
	leave(call);
}

/* The second one is left in the midst of its third turn, and never continued. */
static void coroutine(int which)
{
	for (;;)
		f_turn(which);
}

NOINLINE void f_switcher(void)
{
	int call = enter("f_switcher", "main");

	for (int i = 0; i < 2; i++) {
		getcontext(&inside[i]);
		inside[i].uc_stack.ss_sp = stacks[i];
		inside[i].uc_stack.ss_size = STACK_LEN;
		makecontext(&inside[i], (void (*)(void))coroutine, 1, i);
	}
	for (int i = 0; i < 6; i++) {
		f_leaf("f_switcher");
		swapcontext(&outside, &inside[i % 2]);
	}
	f_leaf("f_switcher");
	leave(call);
}

static void on_signal(int sig)
{
	(void)sig;
	f_leaf("on_signal");
}

NOINLINE void f_raiser(void)
{
	stack_t st = { .ss_sp = stacks[2], .ss_size = STACK_LEN };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	int call = enter("f_raiser", "main");

	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &act, NULL);
	f_leaf("f_raiser");
	raise(SIGUSR1);
	f_leaf("f_raiser");
	leave(call);
}

NOINLINE void f_last(void)
{
	int call = enter("f_last", "main");

	f_leaf("f_last");
	leave(call);
}

int main(void)
{
	f_jumper();
	f_switcher();
	f_jumper();
	f_raiser();
	f_last();
	for (int i = 0; i < n_calls; i++)
		printf("%s %s %s\n", calls[i].callee, calls[i].caller, calls[i].kind);
	return 0;
}
