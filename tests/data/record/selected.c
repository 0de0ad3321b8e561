/* SPDX-License-Identifier: MIT */
/*
 * Functions with arguments that a condition selects by.  It prints a line for each of their activations: the
 * function's name, and the numbers by which the test selects.
 */
#include <stdio.h>

#define OUT_OF_LINE __attribute__((noipa))
#define RECURSIVE   __attribute__((optimize("no-optimize-sibling-calls"))) /* gcc would make a loop of it */

struct node {
	struct node *next;
	int value;
};

static struct {
	const char *function;
	int a, b;
} log_of[400];
static int n_logged;
static int counter;

/* Were it inlined, the first instruction of its caller might be its, where gdb knows no variable of the caller. */
OUT_OF_LINE static void note(const char *function, int a, int b)
{
	log_of[n_logged].function = function;
	log_of[n_logged].a = a;
	log_of[n_logged++].b = b;
}

/* Two functions that call each other: with -O2 by jumps. */
OUT_OF_LINE int is_odd(int n);

OUT_OF_LINE int is_even(int n)
{
	note("is_even", n, 0);
	return n ? is_odd(n - 1) : 1;
}

OUT_OF_LINE int is_odd(int n)
{
	note("is_odd", n, 0);
	return n ? is_even(n - 1) : 0;
}

OUT_OF_LINE RECURSIVE int fib(int n)
{
	int sum;

	note("fib", n, 0);
	if (n < 2)
		return n;
	sum = fib(n - 1);
	return sum + fib(n - 2);
}

/* The last call has no node. */
OUT_OF_LINE RECURSIVE int length(struct node *p)
{
	note("length", p ? p->value : -1, p && !p->next);
	return p ? 1 + length(p->next) : 0;
}

OUT_OF_LINE int ratio(int value, int by)
{
	counter++;
	note("ratio", value, by);
	return by ? value / by : 0;
}

int main(void)
{
	struct node nodes[4];
	int sum = 0;

	for (int i = 0; i < 4; i++) {
		nodes[i].value = 10 * i;
		nodes[i].next = i < 3 ? &nodes[i + 1] : NULL;
	}
	for (int i = -3; i < 4; i++)
		sum += ratio(10 * i, i % 3) + ratio(i, i - 1);
	sum += is_even(9) + is_odd(6) + fib(6) + length(nodes) + length(nodes + 2);
	for (int i = 0; i < n_logged; i++)
		printf("%s %d %d\n", log_of[i].function, log_of[i].a, log_of[i].b);
	return sum == 0;
}
