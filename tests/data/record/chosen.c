/* SPDX-License-Identifier: MIT */
/* Functions of which libc has several, one of them chosen when the program starts: prints where each of them is, and calls it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

static size_t (*volatile length)(const char *) = strlen;
static int (*volatile order)(const char *, const char *) = strcasecmp;

int main(int argc, char **argv)
{
	char text[64] = "a text of some length";
	size_t sum = 0;

	for (int i = 0; i < 30 + argc; i++)
		sum += length(text + i % 7);
	for (int i = 0; i < 11; i++)
		sum += order(text, argv[0]) > 0;
	printf("%p %p %zu\n", (void *)length, (void *)order, sum);
	return 0;
}
