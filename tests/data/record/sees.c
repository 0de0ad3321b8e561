/* SPDX-License-Identifier: MIT */
/* Prints what a program finds of its surroundings: arguments, environment, auxiliary vector, descriptors, limits. */
#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	char path[64], target[256], **end = environ;
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	struct rlimit r;

	for (int i = 0; i <= argc; i++)
		printf("argument %s\n", argv[i] ? argv[i] : "-");
	for (; *end; end++)
		printf("variable %s\n", *end);
	for (Elf64_auxv_t *a = (Elf64_auxv_t *)(end + 1); a->a_type; a++)
		printf("auxv %lu %lx\n", (unsigned long)a->a_type, (unsigned long)a->a_un.a_val);
	while ((e = readdir(dir))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		if (n > 0 && atoi(e->d_name) != dirfd(dir))
			printf("descriptor %s %.*s\n", e->d_name, (int)n, target);
	}
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		getrlimit(i, &r);
		printf("limit %d %lx %lx\n", i, (unsigned long)r.rlim_cur, (unsigned long)r.rlim_max);
	}
	return 0;
}
