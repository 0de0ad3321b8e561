/* SPDX-License-Identifier: MIT */
/* Functions that are entered in other ways than by call: tail calls, signals, libc's callbacks, entries of linkage tables. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

static volatile int sink;
static char other_stack[1 << 16];

KEPT int leaf(int a)
{
	sink += a;
	return a * 3;
}

KEPT int middle(int a)
{
	return leaf(a + 1);
}

KEPT int outer(int a)
{
	sink++;
	return a & 1 ? middle(a) : leaf(a);
}

KEPT int odd(int n);
KEPT int even(int n)
{
	sink++;
	return n ? odd(n - 1) : 1;
}

KEPT int odd(int n)
{
	sink++;
	return n ? even(n - 1) : 0;
}

KEPT int (*const table[])(int) = { leaf, middle, even };
KEPT int by_pointer(int i)
{
	return table[i](i);
}

KEPT int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

KEPT void inner_handler(int sig)
{
	sink += leaf(sig);
}

KEPT void handler(int sig)
{
	raise(SIGUSR2);
	sink += sig;
}

KEPT void other_handler(int sig)
{
	sink += outer(sig);
}

KEPT void say(const char *text)
{
	puts(text); /* a tail call of a linkage table's entry */
}

KEPT void signals(void)
{
	struct sigaction act = { .sa_handler = other_handler, .sa_flags = SA_ONSTACK | SA_SIGINFO };
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	signal(SIGUSR1, handler);
	signal(SIGUSR2, inner_handler);
	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &act, NULL);
	raise(SIGUSR1);
	raise(SIGALRM);
	raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	int numbers[] = { 5, 3, 9, 1, 7, argc };

	for (int i = 0; i < 6; i++)
		sink += outer(i);
	sink += even(7);
	for (int i = 0; i < 3; i++)
		sink += by_pointer(i);
	qsort(numbers, 6, sizeof(*numbers), compare);
	signals();
	say(argv[0][0] ? "done" : "");
	free(strdup("text"));
	return 0;
}
