/* SPDX-License-Identifier: MIT */
/* A mean that takes in one value too many; to be built with -O2 (e2e/mcp_sessions.py). */
#include <unistd.h>

static int values[6] = { 10, 20, 30, 40, 50, 9000 }; /* the last one is no measurement */
static int n_values = 5;

__attribute__((noinline)) int mean(const int *v, int n)
{
	int sum = 0;

	for (int i = 0; i <= n; i++)
		sum += v[i];
	return sum / n;
}

int result;

int main(void)
{
	result = mean(values, n_values);
	return write(1, result > 100 ? "high\n" : "fine\n", 5) != 5;
}
