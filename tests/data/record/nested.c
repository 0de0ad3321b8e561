/* SPDX-License-Identifier: MIT */
/* Calls that nest and recur, and a handler of a signal that calls, too. */
#include <signal.h>

volatile int seen;

__attribute__((noinline)) int leaf(int n)
{
	seen += n;
	return n * 3 + seen;
}

__attribute__((noinline)) int middle(int n)
{
	int first = leaf(n + 1);

	seen ^= first;
	return first + leaf(n + 2);
}

__attribute__((noinline)) int deep(int n)
{
	int below = n ? deep(n - 1) : middle(4);

	seen++;
	return below + n;
}

__attribute__((noinline)) void handler(int number)
{
	seen += middle(number);
}

int main(void)
{
	int sum;

	signal(SIGUSR1, handler);
	sum = deep(3);
	raise(SIGUSR1);
	return (sum + seen) & 1;
}
