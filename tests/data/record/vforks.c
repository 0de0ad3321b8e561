/* SPDX-License-Identifier: MIT */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static int sum;

static void note(int status)
{
	sum += WEXITSTATUS(status);
}

int main(void)
{
	char *argv[] = { "false", NULL };
	int status;
	pid_t child = vfork();

	if (!child)
		_exit(1);
	waitpid(child, &status, 0);
	note(status);
	if (posix_spawn(&child, "/bin/false", NULL, NULL, argv, environ))
		return 9;
	waitpid(child, &status, 0);
	note(status);
	execl("/bin/true", "true", NULL);
	return 8;
}
