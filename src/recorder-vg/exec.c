/* SPDX-License-Identifier: MIT */
/*
 * What Valgrind starts when a program that is followed becomes another one: the tool beside it, which refuses to run
 * without a variable that Valgrind's own launcher sets.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOOL "tracestub-record-vg-amd64"

int main(int argc, char **argv)
{
	char self[PATH_MAX], tool[PATH_MAX + sizeof(TOOL)];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	(void)argc;
	if (n <= 0)
		return 127;
	self[n] = '\0';
	slash = strrchr(self, '/');
	snprintf(tool, sizeof(tool), "%.*s/%s", (int)(slash - self), self, TOOL);
	setenv("VALGRIND_LAUNCHER", self, 1);
	execv(tool, argv);
	perror(tool);
	return 127;
}
