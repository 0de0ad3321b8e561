/* SPDX-License-Identifier: MIT */
#include "rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
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

int ts_rooted_open(const char *root, const char *path)
{
	struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), error;
	long fd;

	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	error = errno;
	close(dir);
	if (fd < 0 && (error == ENOSYS || error == EPERM)) /* some sandboxes answer so to calls that they do not know */
		return ts_rooted_open_by_steps(root, path);
	return fd < 0 ? fail(error) : (int)fd;
}

/* A path that is being resolved. */
struct walk {
	const char *root;
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
	char full[2 * PATH_MAX], target[PATH_MAX];
	size_t len = strlen(w->done);
	struct stat st;
	ssize_t n;

	if ((size_t)snprintf(w->done + len, sizeof(w->done) - len, "/%s", name) >= sizeof(w->done) - len)
		return fail(ENAMETOOLONG) == 0;
	if ((size_t)snprintf(full, sizeof(full), "%s%s", w->root, w->done) >= sizeof(full))
		return fail(ENAMETOOLONG) == 0;
	if (lstat(full, &st) < 0)
		return false;
	if (!S_ISLNK(st.st_mode))
		return true;
	n = readlink(full, target, sizeof(target) - 1);
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
 * Open @path, which is absolute beneath the root, or "", and had no links when it was looked at: if one has taken the
 * place of a folder since then, it is not followed.
 */
static int open_without_links(const char *root, char *path)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), inner, fd, error;
	char *slash;

	while (dir >= 0 && *path && (slash = strchr(path + 1, '/')) != NULL) {
		*slash = '\0';
		inner = openat(dir, path + 1, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		error = errno;
		close(dir);
		errno = error;
		dir = inner;
		*slash = '/';
		path = slash;
	}
	if (dir < 0)
		return -1;
	fd = openat(dir, *path ? path + 1 : ".", OPEN_FLAGS | O_NOFOLLOW);
	error = errno;
	close(dir);
	return fd < 0 ? fail(error) : fd;
}

/* In our sandbox no folder opens: the broker is given the whole name, which it opens beneath the root by itself. */
static int open_by_broker(const char *root, const char *path)
{
	char full[2 * PATH_MAX];

	if (prctl(PR_GET_SECCOMP) != SECCOMP_MODE_FILTER)
		return fail(EACCES);
	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full))
		return fail(ENAMETOOLONG);
	return open(full, OPEN_FLAGS | O_NOFOLLOW);
}

int ts_rooted_open_by_steps(const char *root, const char *path)
{
	struct walk w = { .root = root };
	int fd;

	if ((size_t)snprintf(w.rest, sizeof(w.rest), "%s", path) >= sizeof(w.rest))
		return fail(ENAMETOOLONG);
	while (w.rest[0]) {
		if (!step(&w))
			return -1;
	}
	fd = open_without_links(root, w.done);
	return fd < 0 && errno == EACCES ? open_by_broker(root, w.done) : fd;
}
