/* SPDX-License-Identifier: MIT */
/*
 * What Valgrind starts when a program that is followed becomes another one: the tool beside it for that program's
 * processor, which refuses to run without a variable that Valgrind's own launcher sets.
 */
#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/record/log.h"

#define TOOL "tracestub-record-vg-"
#ifdef __aarch64__
#define OWN "arm64"
#else
#define OWN "amd64"
#endif
#define MAX_SCRIPTS 5
#define MAX_LINE 256
#define FOLLOW "--follow="

/* The first bytes of a file, with zeros after them. */
static void read_head(const char *path, char head[MAX_LINE + 1])
{
	FILE *file = fopen(path, "r");

	memset(head, 0, MAX_LINE + 1);
	if (!file)
		return;
	(void)!fread(head, 1, MAX_LINE, file);
	(void)fclose(file);
}

/* Is it a program for i386, or a script for such an interpreter? */
static bool is_i386(const char *program)
{
	char head[MAX_LINE + 1], line[MAX_LINE + 1];

	read_head(program, head);
	for (int i = 0; i < MAX_SCRIPTS && strncmp(head, "#!", 2) == 0; i++) {
		const char *path = head + 2 + strspn(head + 2, " \t");

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(path, " \t\r\n"), path);
		read_head(line, head);
	}
	return memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS32 && head[EI_DATA] == ELFDATA2LSB &&
	       head[18] == EM_386;
}

/* After the engine's options; NULL if none is found. */
static char **program_of(char **argv)
{
	for (argv++; *argv; argv++) {
		if (**argv != '-')
			return argv;
	}
	return NULL;
}

/* The file of the program that this process was, if that left its name here before it executed itself (follow.c). */
static bool find_own_program(char **argv, char *own, size_t len)
{
	char link[PATH_MAX + 64];
	const char *fifo = NULL;
	ssize_t n;

	for (argv++; *argv && **argv == '-'; argv++) {
		if (strncmp(*argv, FOLLOW, strlen(FOLLOW)) == 0)
			fifo = strchr(*argv, '/');
	}
	if (!fifo)
		return false;
	snprintf(link, sizeof(link), "%s" TS_LOG_OWN_PROGRAM "%d", fifo, (int)getpid());
	n = readlink(link, own, len - 1);
	unlink(link);
	own[n > 0 ? n : 0] = '\0';
	return n > 0;
}

int main(int argc, char **argv)
{
	char self[PATH_MAX], tool[PATH_MAX + sizeof(TOOL OWN)], own[PATH_MAX];
	char **program = program_of(argv);
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0 || argc < 1 || !program)
		return 127;
	self[n] = '\0';
	if (find_own_program(argv, own, sizeof(own)))
		*program = own;
	slash = strrchr(self, '/');
	snprintf(tool, sizeof(tool), "%.*s/" TOOL "%s", (int)(slash - self), self, is_i386(*program) ? "x86" : OWN);
	setenv("VALGRIND_LAUNCHER", self, 1);
	execv(tool, argv);
	perror(tool);
	return 127;
}
