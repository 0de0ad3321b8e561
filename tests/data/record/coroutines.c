/* SPDX-License-Identifier: MIT */
/* Two coroutines on stacks of their own that swapcontext() switches between: each call of it returns. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t outer, first, second;
static volatile int n;

__attribute__((noinline)) int leaf(int x)
{
	n++;
	return x + 1;
}

__attribute__((noinline)) void turn(int x)
{
	leaf(x);
	swapcontext(&first, &second);
	leaf(x + 1);
	n++;
}

static void run_first(void)
{
	for (int i = 0; i < 3; i++)
		turn(10 * i);
}

static void run_second(void)
{
	for (;;) {
		leaf(100 + n);
		swapcontext(&second, &first);
	}
}

int main(void)
{
	getcontext(&first);
	first.uc_stack.ss_sp = malloc(65536);
	first.uc_stack.ss_size = 65536;
	first.uc_link = &outer;
	makecontext(&first, run_first, 0);
	getcontext(&second);
	second.uc_stack.ss_sp = malloc(65536);
	second.uc_stack.ss_size = 65536;
	second.uc_link = &outer;
	makecontext(&second, run_second, 0);
	swapcontext(&outer, &first);
	printf("%d\n", n);
	return 0;
}
