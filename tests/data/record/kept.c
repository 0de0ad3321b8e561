/* SPDX-License-Identifier: MIT */
/* With optimisation its variables are in registers, which printf() saves where it uses them. */
#include <stdio.h>

__attribute__((noinline)) static int add_up(int n, int step)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += (i + 3) * step;
		printf("%d\n", sum);
		fflush(stdout);
	}
	return sum;
}

int main(int argc, char **argv)
{
	return add_up(4 + argc, argc) + !argv == 0;
}
