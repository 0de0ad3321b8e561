/* SPDX-License-Identifier: MIT */
/*
 * An ordinary program that is recorded on several processors: what it does to `total` is the same story on each.
 * Of e2e/recorded.py, which names lines by their text.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

volatile int total;
int *heap;
static jmp_buf back;

void add(int by)
{
	total += by;
}

int deep(int n)
{
	if (n == 0)
		return 5; /* the bottom */
	return deep(n - 1);
}

void jump(int n)
{
	if (n == 0)
		longjmp(back, 7);
	jump(n - 1);
}

void handler(int number)
{
	add(number == SIGUSR1 ? 1000 : 1);
}

void *worker(void *by)
{
	add(*(int *)by); /* from a thread */
	return NULL;
}

int square(int n)
{
	int result = n * n;

	return result;
}

int main(void)
{
	int hundred = 100, twice = 200, i;
	pthread_t thread;

	add(1);
	add(deep(10000)); /* a deep one */
	heap = malloc(8 << 20);
	heap[1 << 20] = square(6); /* a call in a line */
	add(heap[1 << 20]);
	if (!setjmp(back))
		jump(3);
	else
		add(7); /* jumped */
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	pthread_create(&thread, NULL, worker, &hundred);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, worker, &twice);
	pthread_join(thread, NULL);
	for (i = 0; i < 3; i++)
		add(i); /* in a loop */
	printf("total %d\n", total); /* the end */
	return total & 0x3f;
}
