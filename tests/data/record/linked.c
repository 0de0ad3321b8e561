/* SPDX-License-Identifier: MIT */
/* Calls functions of libc, some of which are chosen when the program starts, four times each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char text[64];
	volatile int sum = 0;

	(void)argv;
	for (int i = 0; i < 4; i++) {
		char *p = malloc(10 + i);

		p[0] = '0' + i;
		p[1] = 0;
		strcpy(text, p);
		sum += strlen(text) + memcmp(text, p, argc);
		free(p);
	}
	printf("%d %g\n", sum, sqrt(argc + 1.5));
	return 0;
}
