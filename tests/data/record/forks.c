/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int sum;

static void note(int status)
{
	sum += WEXITSTATUS(status);
}

int main(void)
{
	for (int i = 1; i < 3; i++) {
		int status;
		pid_t child = fork();

		if (!child)
			_exit(i);
		waitpid(child, &status, 0);
		note(status);
	}
	return sum != 3;
}
