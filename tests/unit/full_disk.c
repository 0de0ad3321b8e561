/* SPDX-License-Identifier: MIT */
#include "full_disk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *full; /* NULL: there is room */
static enum full_disk full_how;
static uint64_t full_room;

void full_disk_start(const char *path, enum full_disk how, uint64_t room)
{
	full = path;
	full_how = how;
	full_room = room;
}

void full_disk_end(void)
{
	full = NULL;
}

static bool is_refused(int fd, enum full_disk how)
{
	struct stat a, b;

	return full && full_how == how && !fstat(fd, &a) && !stat(full, &b) && a.st_ino == b.st_ino;
}

ssize_t __real_pwrite(int fd, const void *from, size_t len, off_t off);
ssize_t __wrap_pwrite(int fd, const void *from, size_t len, off_t off);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

ssize_t __wrap_pwrite(int fd, const void *from, size_t len, off_t off)
{
	if ((uint64_t)off + len <= full_room || !is_refused(fd, FULL_DISK_WRITES))
		return __real_pwrite(fd, from, len, off);
	errno = ENOSPC;
	return -1;
}

int __wrap_fsync(int fd)
{
	if (!is_refused(fd, FULL_DISK_SYNCS))
		return __real_fsync(fd);
	errno = EDQUOT;
	return -1;
}

int __wrap_rename(const char *from, const char *to)
{
	if (!full || full_how != FULL_DISK_NAMES || strcmp(from, full))
		return __real_rename(from, to);
	errno = ENOSPC;
	return -1;
}
