/* SPDX-License-Identifier: MIT */
/* Stops its parent, and continues it after more than any buffer between the two holds. */
#include <signal.h>
#include <unistd.h>

static volatile unsigned sink[1024];

int main(void)
{
	kill(getppid(), SIGSTOP);
	for (unsigned i = 0; i < 600000; i++)
		sink[i % 1024] += i * i;
	kill(getppid(), SIGCONT);
	return 42;
}
