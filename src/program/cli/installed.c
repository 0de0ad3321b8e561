/* SPDX-License-Identifier: MIT */
#include "installed.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The program's directory, without a '/' at its end. */
static bool find_directory(char directory[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", directory, PATH_MAX);
	char *slash;

	if (n <= 0 || n >= PATH_MAX)
		return false;
	directory[n] = '\0';
	slash = strrchr(directory, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool is_there(int printed, const char *path, size_t len)
{
	return printed >= 0 && (size_t)printed < len && !access(path, R_OK);
}

/* In a tree that was built for PREFIX, and lies elsewhere. */
static bool find_in_tree(const char *directory, const char *fixed, char *path, size_t len)
{
	const size_t prefix_len = strlen(PREFIX), dir_len = strlen(directory);
	const char *bin = BINDIR + prefix_len;

	if (strncmp(BINDIR, PREFIX, prefix_len) || strncmp(fixed, PREFIX, prefix_len) || dir_len < strlen(bin) ||
	    strcmp(directory + dir_len - strlen(bin), bin))
		return false;
	return is_there(snprintf(path, len, "%.*s%s", (int)(dir_len - strlen(bin)), directory, fixed + prefix_len), path,
			len);
}

bool ts_installed_find(const char *beside, const char *fixed, char *path, size_t len)
{
	char directory[PATH_MAX];

	if (find_directory(directory) && (is_there(snprintf(path, len, "%s/%s", directory, beside), path, len) ||
					  find_in_tree(directory, fixed, path, len)))
		return true;
	return is_there(snprintf(path, len, "%s", fixed), path, len);
}
