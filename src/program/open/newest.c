/* SPDX-License-Identifier: MIT */
#include "newest.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".ucir"

/* A visible regular file of that name? */
static bool is_recording(const char *name, struct stat *st)
{
	size_t len = strlen(name);

	return *name != '.' && len > strlen(SUFFIX) && !strcmp(name + len - strlen(SUFFIX), SUFFIX) &&
	       !stat(name, st) && S_ISREG(st->st_mode);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
						      : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

char *ts_newest_recording(void)
{
	DIR *dir = opendir(".");
	struct stat newest = { 0 }, st;
	char *name = NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!is_recording(e->d_name, &st) || (name && !is_newer(&st, &newest)))
			continue;
		free(name);
		name = strdup(e->d_name);
		newest = st;
	}
	if (dir)
		closedir(dir);
	return name;
}
