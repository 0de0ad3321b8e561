/* SPDX-License-Identifier: MIT */
/* Reads a line, and uses what differs in each run: the clock, process numbers, the processor's counter, random bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <unistd.h>

unsigned sum, mixed, noise;
char line[32];

int main(void)
{
	struct timeval now;
	unsigned low, high;
	ssize_t n = read(0, line, sizeof(line));

	for (ssize_t i = 0; i < n; i++)
		sum = sum * 31 + (unsigned char)line[i];
	gettimeofday(&now, NULL);
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	noise = (unsigned)now.tv_usec ^ low ^ high ^ (unsigned)getpid() ^ *(unsigned char *)getauxval(AT_RANDOM);
	mixed = sum ^ noise;
	printf("%u\n", sum);
	return 0;
}
