/* SPDX-License-Identifier: MIT */
/*
 * Two modules of one source: with -DLIBRARY the library, else the program.  What the library does is to be recorded, while
 * memory changes by the program and by the C library, also in other threads, by system calls and by a handler.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned look(const unsigned char *bytes, int n);
int sort(int *items, int n);
void *apart_start(void *bytes);
void apart_handle(int number);
extern volatile int apart_seen;

#define LEN 512
#define PAGE 4096

#ifdef LIBRARY
volatile int apart_seen;

/* All that is there now: the reader of the recording adds it up, too. */
unsigned look(const unsigned char *bytes, int n)
{
	unsigned sum = 0;

	for (int i = 0; i < n; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int sort(int *items, int n)
{
	size_t len = (size_t)n * sizeof(*items);
	int *copy = malloc(len);

	memcpy(copy, items, len);
	qsort(copy, (size_t)n, sizeof(*items), compare);
	memcpy(items, copy, len);
	free(copy);
	return items[0];
}

void *apart_start(void *bytes)
{
	return (void *)(unsigned long)look(bytes, LEN);
}

void apart_handle(int number)
{
	apart_seen += number;
}
#else
static void put(const char *what, const void *bytes, unsigned sum)
{
	printf("%s %p %u\n", what, bytes, sum);
}

static void *fill(void *bytes)
{
	for (int i = 1; i < 6; i++) {
		memset(bytes, i, LEN / i);
		put("fill", bytes, look(bytes, LEN));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static unsigned char bytes[LEN], other[LEN];
	int items[200];
	pthread_t thread;
	unsigned char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	setvbuf(stdout, NULL, _IONBF, 0);
	fill(bytes);
	for (int i = 0; i < 200; i++)
		items[i] = i * 7919 % 200;
	sort(items, 200);
	put("sorted", items, look((unsigned char *)items, sizeof(items)));
	memcpy(page, bytes, LEN);
	put("page", page, look(page, LEN));
	madvise(page, PAGE, MADV_DONTNEED);
	put("dropped", page, look(page, LEN));
	signal(SIGUSR1, apart_handle);
	raise(SIGUSR1);
	put("handled", (void *)&apart_seen, look((void *)&apart_seen, sizeof(apart_seen)));
	if (argc > 1) {
		pthread_create(&thread, NULL, fill, other);
		fill(page);
		pthread_join(thread, NULL);
		pthread_create(&thread, NULL, apart_start, other);
		pthread_join(thread, NULL);
	}
	if (argc > 2)
		return (int)strlen((char *)(unsigned long)look(bytes, 0));
	return 0;
}
#endif
