/* SPDX-License-Identifier: MIT */
/*
 * A library for LD_PRELOAD: the program runs main() once for each line that it reads, in a process of its own, after one
 * run that the parent makes itself.  The words of a line are separated by tabs.  Standard input is a socket, on which each
 * line is answered with the process and its status: main() closes descriptors that it does not know.
 *
 * Under valgrind the translations of the first run are those of all children, and the start of a process is
 * paid once: tests/e2e/_count.py.
 */
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_fn(int, char **, char **);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

enum { MAX_WORDS = 64 };

static main_fn *real_main;

static int split(char *line, char **words)
{
	int n = 1;

	line[strcspn(line, "\n")] = 0;
	for (char *word = strtok(line, "\t"); word && n < MAX_WORDS; word = strtok(NULL, "\t"))
		words[n++] = word;
	words[n] = NULL;
	return n;
}

static void run(char *line, char *name, char **env)
{
	char *words[MAX_WORDS + 1] = { name };
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		optind = 0;
		exit(real_main(split(line, words), words, env));
	}
	if (child > 0)
		waitpid(child, &status, 0);
	dprintf(STDIN_FILENO, "%d %d\n", child, status);
}

static int run_each(int argc, char **argv, char **env)
{
	char *line = NULL;
	size_t room = 0;

	real_main(argc, argv, env);
	while (getline(&line, &room, stdin) > 0)
		run(line, argv[0], env);
	free(line);
	return 0;
}

int __libc_start_main(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
int __libc_start_main(main_fn *program_main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	start_fn *start = (start_fn *)dlsym(RTLD_NEXT, "__libc_start_main");

	real_main = program_main;
	return start(run_each, argc, argv, init, fini, rtld_fini, stack_end);
}
