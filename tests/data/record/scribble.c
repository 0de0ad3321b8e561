/* SPDX-License-Identifier: MIT */
/*
 * A program that writes over the memory that it shares with its recorder, from the byte of the mapping on that its argument says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	unsigned long start, end, from = strtoul(argv[1], NULL, 10);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], mode[8];

	while (fgets(line, sizeof(line), maps)) {
		unsigned seed = 1;

		if (!strstr(line, "memfd:tracestub") || sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 || mode[1] != 'w')
			continue;
		for (unsigned char *p = (unsigned char *)start + from; p < (unsigned char *)end; p++)
			*p = seed = seed * 1103515245 + 12345;
	}
	return 3;
}
