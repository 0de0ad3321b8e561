/* SPDX-License-Identifier: MIT */
/* Makes something of a variable of the environment, and something of its input, in frames that are aligned to 64 bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

unsigned of_variable, of_input;
const char *kept;

__attribute__((noinline)) static unsigned sum(const char *text, size_t n)
{
	_Alignas(64) char copy[64];
	unsigned made = 0;

	memcpy(copy, text, n);
	for (size_t i = 0; i < n; i++)
		made = made * 31 + (unsigned char)copy[i];
	return made;
}

int main(void)
{
	char line[32];
	ssize_t n = read(0, line, sizeof(line));

	of_input = sum(line, n > 0 ? (size_t)n : 0);
	kept = getenv("EXTRA");
	if (kept)
		of_variable = sum(kept, strlen(kept));
	printf("%u\n", of_input);
	return 0;
}
