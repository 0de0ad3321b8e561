/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What lies below /proc and /sys. */
static bool is_of_kernel(int fd)
{
	static const unsigned long types[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC,  DEBUGFS_MAGIC,	   TRACEFS_MAGIC,
					       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC };
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if ((unsigned long)fs.f_type == types[i])
			return true;
	}
	return false;
}

int ts_place_resolve(int base, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_PATH | O_CLOEXEC), .resolve = RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, base, path, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* an old kernel, or a container's filter */
		fd = openat(base, path, flags | O_PATH | O_CLOEXEC);
	if (fd < 0 || !is_of_kernel(fd))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

/* Open the folder, whose path ends at @end. */
static void open_folder(struct ts_place *place, int base, const char *path)
{
	struct stat st;

	place->dir = ts_place_resolve(base, path, O_DIRECTORY);
	if (place->dir < 0 || fstat(place->dir, &st)) {
		place->error = errno;
		ts_place_close(place);
		return;
	}
	place->dev = st.st_dev;
	place->ino = st.st_ino;
}

void ts_place_open(struct ts_place *place, int base, bool is_folder)
{
	char *slash = is_folder ? NULL : strrchr(place->path, '/'), folder[PATH_MAX];
	size_t len = slash ? (size_t)(slash - place->path) : 0;

	place->dir = -1;
	place->error = EACCES;
	place->name = is_folder ? "" : slash ? slash + 1 : place->path;
	if (is_folder) {
		open_folder(place, base, place->path);
		return;
	}
	if (!*place->name || !strcmp(place->name, ".") || !strcmp(place->name, ".."))
		return;
	memcpy(folder, place->path, len);
	folder[len] = '\0';
	open_folder(place, base, len ? folder : slash ? "/" : ".");
}

void ts_place_close(struct ts_place *place)
{
	if (place->dir >= 0)
		close(place->dir);
	place->dir = -1;
}
