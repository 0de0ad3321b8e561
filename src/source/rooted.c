/* SPDX-License-Identifier: MIT */
#include "rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* As many as Linux follows. */
#define MAX_LINKS 40

static int fail(int error)
{
	errno = error;
	return -1;
}

static int close_and_fail(int fd, int error)
{
	close(fd);
	return fail(error);
}

/* A path that is being resolved. */
struct walk {
	int dir;	     /* the root */
	char done[PATH_MAX]; /* relative to the root, without links: "/usr/lib"; "" is the root */
	char rest[PATH_MAX]; /* what is left to do */
	unsigned n_links;
};

/* Put @target in place of the last component: the components after it follow. */
static bool follow(struct walk *w, const char *target)
{
	char rest[PATH_MAX];

	if (++w->n_links > MAX_LINKS)
		return fail(ELOOP) == 0;
	if ((size_t)snprintf(rest, sizeof(rest), "%s/%s", target, w->rest) >= sizeof(rest))
		return fail(ENAMETOOLONG) == 0;
	memcpy(w->rest, rest, sizeof(rest));
	if (*target == '/')
		w->done[0] = '\0';
	return true;
}

static void leave(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash)
		*slash = '\0';
}

/* Take the component @name, which is not "." or "..". */
static bool enter(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	size_t len = strlen(w->done);
	struct stat st;
	ssize_t n;

	if ((size_t)snprintf(w->done + len, sizeof(w->done) - len, "/%s", name) >= sizeof(w->done) - len)
		return fail(ENAMETOOLONG) == 0;
	if (fstatat(w->dir, w->done + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (!S_ISLNK(st.st_mode))
		return true;
	n = readlinkat(w->dir, w->done + 1, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	w->done[len] = '\0';
	return follow(w, target);
}

static bool step(struct walk *w)
{
	char name[PATH_MAX];
	size_t len;

	memmove(w->rest, w->rest + strspn(w->rest, "/"), strlen(w->rest + strspn(w->rest, "/")) + 1);
	len = strcspn(w->rest, "/");
	memcpy(name, w->rest, len);
	name[len] = '\0';
	memmove(w->rest, w->rest + len, strlen(w->rest + len) + 1);
	if (!len || !strcmp(name, "."))
		return true;
	if (strcmp(name, ".."))
		return enter(w, name);
	leave(w);
	return true;
}

/*
 * Open @path, which is absolute beneath the root, or "", and had no links when it was examined: if one has taken the
 * place of a folder since then, it is not followed.
 */
static int open_without_links(int root, char *path)
{
	int dir = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), inner, fd;
	char *slash;

	while (dir >= 0 && *path && (slash = strchr(path + 1, '/')) != NULL) {
		*slash = '\0';
		inner = openat(dir, path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close_and_fail(dir, errno);
		dir = inner;
		*slash = '/';
		path = slash;
	}
	if (dir < 0)
		return -1;
	fd = openat(dir, *path ? path + 1 : ".", OPEN_FLAGS | O_NOFOLLOW);
	close_and_fail(dir, errno);
	return fd;
}

static int open_by_steps(int dir, const char *path)
{
	struct walk w = { .dir = dir };

	if ((size_t)snprintf(w.rest, sizeof(w.rest), "%s", path) >= sizeof(w.rest))
		return fail(ENAMETOOLONG);
	while (w.rest[0]) {
		if (!step(&w))
			return -1;
	}
	return open_without_links(dir, w.done);
}

int ts_rooted_open_at(int root, const char *path)
{
	struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	long fd;

	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* some sandboxes answer so to calls that they do not know */
		return open_by_steps(root, path);
	return (int)fd;
}

static int open_in(const char *root, const char *path, int (*open_at)(int dir, const char *path))
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (dir < 0)
		return -1;
	fd = open_at(dir, path);
	close_and_fail(dir, errno);
	return fd;
}

int ts_rooted_open(const char *root, const char *path)
{
	return open_in(root, path, ts_rooted_open_at);
}

int ts_rooted_open_by_steps(const char *root, const char *path)
{
	return open_in(root, path, open_by_steps);
}
