/* SPDX-License-Identifier: MIT */
#include "cache_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"

bool ts_cache_dir(char dir[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return snprintf(dir, PATH_MAX, "%s/tracestub", cache) < PATH_MAX;
	return home && *home == '/' && snprintf(dir, PATH_MAX, "%s/.cache/tracestub", home) < PATH_MAX;
}

/* FNV-1a: distinguishes traces of the same name. */
static uint64_t hash_path(const char *path)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		h = (h ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
	return h;
}

bool ts_cache_dir_name(const char *trace, bool is_real, char path[PATH_MAX])
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *slash;

	if (!realpath(trace, real) || !ts_cache_dir(dir))
		return false;
	slash = strrchr(is_real ? real : trace, '/');
	return snprintf(path, PATH_MAX, "%s/%s-%016" PRIx64, dir, slash ? slash + 1 : trace, hash_path(real)) < PATH_MAX;
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

/* --------------------------------------------------------------------------------------------- its bound */

struct kept {
	char name[NAME_MAX + 1];
	uint64_t len;
	struct timespec used;
};

static int compare_used(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* The files whose names end in @suffix; the caller frees them.  *n gets how many. */
static struct kept *list_kept(int dir_fd, const char *suffix, size_t *n)
{
	DIR *dir = fdopendir(dir_fd);
	struct kept *list = NULL;
	size_t cap = 0;
	struct dirent *e;
	struct stat st;

	*n = 0;
	while (dir && (e = readdir(dir))) {
		if (!ts_has_suffix(e->d_name, suffix) || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (!ts_vec_reserve(&list, *n, &cap, 1, sizeof(*list)))
			break;
		memcpy(list[*n].name, e->d_name, strlen(e->d_name) + 1);
		list[*n].len = (uint64_t)st.st_size;
		list[(*n)++].used = st.st_mtim;
	}
	if (dir)
		closedir(dir);
	else
		close(dir_fd);
	return list;
}

void ts_cache_dir_bound(const char *dir, const char *suffix, uint64_t max)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int list_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct kept *list;
	uint64_t total = 0;
	size_t n;

	if (list_fd >= 0) {
		list = list_kept(list_fd, suffix, &n);
		for (size_t i = 0; i < n; i++)
			total += list[i].len;
		if (n)
			qsort(list, n, sizeof(*list), compare_used);
		for (size_t i = 0; i + 1 < n && total > max; i++) { /* the newest stays */
			unlinkat(fd, list[i].name, 0);
			total -= list[i].len;
		}
		free(list);
	}
	if (fd >= 0)
		close(fd);
}
