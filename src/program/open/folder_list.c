/* SPDX-License-Identifier: MIT */
#include "folder_list.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"

/* @own: of the recording that the others are compared with. */
static bool is_recording(const char *path, const char *name, const struct stat *own)
{
	static const char *const beside[] = { ".tsindex", ".tsmarks", ".part" };
	struct stat st;

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		if (ts_has_suffix(name, beside[i]))
			return false;
	}
	return *name != '.' && !stat(path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_dev != own->st_dev || st.st_ino != own->st_ino);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

/* Append @path, which is owned from now on, and the NULL that ends the list. */
static bool append(char ***list, size_t *n, size_t *cap, char *path)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	if (!ts_vec_reserve(list, *n, cap, 2, sizeof(**list))) {
		free(path);
		return false;
	}
	(*list)[(*n)++] = path;
	(*list)[*n] = NULL;
	return true;
}

static bool list_folder(DIR *dir, const char *trace, const char *folder, char ***list, size_t *n, struct ts_error *err)
{
	struct stat own = { 0 };
	struct dirent *e;
	size_t cap = 0;
	char *path = strdup(trace);

	stat(trace, &own);
	if (!path || !append(list, n, &cap, path))
		return ts_no_memory(err, "the recordings of a folder");
	while ((e = readdir(dir))) {
		if (asprintf(&path, "%s/%s", folder, e->d_name) < 0)
			return ts_no_memory(err, "the recordings of a folder");
		if (!is_recording(path, e->d_name, &own)) {
			free(path);
			continue;
		}
		if (!append(list, n, &cap, path))
			return ts_no_memory(err, "the recordings of a folder");
		if (*n > TS_MAX_LISTED + 1)
			return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "the folder has more than %u files", TS_MAX_LISTED);
	}
	return *n > 1 || ts_fail(err, TS_EUSAGE, TS_NO_OFF, "the folder has no other recording");
}

char **ts_folder_list(const char *trace, const char *folder, size_t *n, struct ts_error *err)
{
	DIR *dir = opendir(folder);
	char **list = NULL;
	bool done;

	*n = 0;
	if (!dir) {
		ts_fail_errno(err, "the folder cannot be read");
		return NULL;
	}
	done = list_folder(dir, trace, folder, &list, n, err);
	closedir(dir);
	if (done) {
		qsort(list + 1, *n - 1, sizeof(*list), by_name);
		return list;
	}
	free_list(list, *n);
	return NULL;
}

/* ------------------------------------------------------------------------------------------- the newest */

/* Is it a visible regular file of that name? */
static bool is_ucir(const char *name, struct stat *st)
{
	return *name != '.' && ts_has_suffix(name, ".ucir") && !stat(name, st) && S_ISREG(st->st_mode);
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
		if (!is_ucir(e->d_name, &st) || (name && !is_newer(&st, &newest)))
			continue;
		free(name);
		name = strdup(e->d_name);
		newest = st;
	}
	if (dir)
		closedir(dir);
	return name;
}
