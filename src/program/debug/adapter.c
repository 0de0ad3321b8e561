/* SPDX-License-Identifier: MIT */
#include "adapter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Printed by a gdb whose Python has the adapter's package. */
#define ANSWER "tracestub-has-dap"

static _Noreturn void be_gdb(const char *gdb, int out)
{
	const char *args[] = { gdb,   "-nx", "-nh", "-batch", "-ex", "python import gdb.dap; print('" ANSWER "')",
			       NULL };
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(out, STDOUT_FILENO);
	execvp(gdb, (char *const *)args);
	_exit(127);
}

/* Does the text that comes from @fd contain the answer?  It is read to its end. */
static bool is_answered(int fd)
{
	char text[1024];
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0 || (n < 0 && errno == EINTR)) {
		len += n > 0 ? (size_t)n : 0;
		if (len == sizeof(text) - 1) { /* of a long text, the end */
			memmove(text, text + len / 2, len - len / 2);
			len -= len / 2;
		}
	}
	text[len] = '\0';
	return strstr(text, ANSWER) != NULL;
}

bool ts_adapter_is_in(const char *gdb)
{
	bool is_in;
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return false;
	pid = fork();
	if (!pid) {
		close(ends[0]);
		be_gdb(gdb, ends[1]);
	}
	close(ends[1]);
	is_in = pid > 0 && is_answered(ends[0]);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return is_in;
}
