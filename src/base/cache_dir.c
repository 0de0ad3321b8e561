/* SPDX-License-Identifier: MIT */
#include "cache_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool ts_cache_dir(char dir[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return snprintf(dir, PATH_MAX, "%s/tracestub", cache) < PATH_MAX;
	return home && *home == '/' && snprintf(dir, PATH_MAX, "%s/.cache/tracestub", home) < PATH_MAX;
}

void ts_cache_dir_make(const char *dir)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", dir) >= PATH_MAX)
		return;
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	mkdir(path, 0700);
}
