/* SPDX-License-Identifier: MIT */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "src/base/io_full.h"

/* So much of a file system is left free for others. */
#define RESERVE (UINT64_C(64) << 20)

/* The memory of all spools that became sources.  It is not given back: a process opens few recordings. */
static atomic_uint_least64_t all_in_memory;

static bool write_all(int fd, const uint8_t *data, size_t len, struct ts_error *err)
{
	return ts_write_whole(fd, data, len) || ts_fail_errno(err, "cannot write its unpacked bytes");
}

bool ts_spool_init(struct ts_spool *s, const char *dir, uint64_t max_len, struct ts_error *err)
{
	*s = (struct ts_spool){ .dir = dir, .max_len = max_len, .is_in_memory = true };
	s->fd = memfd_create("trace", MFD_CLOEXEC);
	return s->fd >= 0 || ts_fail_errno(err, "cannot unpack it into memory");
}

void ts_spool_fini(struct ts_spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int ts_spool_open(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) ||
	    snprintf(path, sizeof(path), "%s/unpacking-XXXXXX", dir) >= PATH_MAX)
		return fd;
	fd = mkostemp(path, O_CLOEXEC); /* a file system without such files: it cannot be kept then */
	if (fd >= 0)
		unlink(path);
	return fd;
}

static const char *temporary_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir == '/' ? dir : "/tmp";
}

/* Bound it by the room that there is. */
static void limit_by_room(struct ts_spool *s, int fd)
{
	struct statvfs fs;
	uint64_t room;

	if (fstatvfs(fd, &fs))
		return;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	room = room > RESERVE ? room - RESERVE : 0;
	s->is_limit_room = room < s->max_len;
	if (s->is_limit_room)
		s->max_len = room;
}

static bool copy(int to, int from, uint64_t len, struct ts_error *err)
{
	uint8_t piece[65536];

	for (uint64_t off = 0; off < len;) {
		ssize_t n = ts_read_whole(from, piece, sizeof(piece), off);

		if (n <= 0)
			return ts_fail_errno(err, "cannot read its unpacked bytes");
		if (!write_all(to, piece, (size_t)n, err))
			return false;
		off += (uint64_t)n;
	}
	return true;
}

/* It has become too long for memory. */
static bool move_to_folder(struct ts_spool *s, struct ts_error *err)
{
	int fd = s->dir ? ts_spool_open(s->dir) : -1;

	if (fd < 0) {
		s->dir = temporary_folder();
		fd = ts_spool_open(s->dir);
	}
	if (fd < 0)
		return ts_fail_errno(err, "cannot create a file in %s for its unpacked bytes", s->dir);
	limit_by_room(s, fd);
	if (!copy(fd, s->fd, s->len, err)) {
		close(fd);
		return false;
	}
	close(s->fd);
	s->fd = fd;
	s->is_in_memory = false;
	return true;
}

static bool fits_in_memory(uint64_t len)
{
	return len <= TS_SPOOL_IN_MEMORY && atomic_load(&all_in_memory) + len <= TS_SPOOLS_IN_MEMORY;
}

bool ts_spool_write(struct ts_spool *s, const void *data, size_t len, struct ts_error *err)
{
	if (s->is_in_memory && !fits_in_memory(s->len + len) && !move_to_folder(s, err))
		return false;
	if (len > s->max_len || s->len > s->max_len - len)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "it has more than %" PRIu64 " bytes unpacked%s%s",
			       s->max_len, s->is_limit_room ? ": no space is left in " : ", the limit",
			       s->is_limit_room ? s->dir : "");
	if (!write_all(s->fd, data, len, err))
		return false;
	s->len += len;
	return true;
}

bool ts_spool_keep(struct ts_spool *s, const char *path)
{
	char self[64], part[PATH_MAX];

	if (s->is_in_memory || snprintf(part, sizeof(part), "%s.%ld", path, (long)getpid()) >= PATH_MAX)
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", s->fd);
	unlink(part);
	if (linkat(AT_FDCWD, self, AT_FDCWD, part, AT_SYMLINK_FOLLOW))
		return false;
	if (!rename(part, path))
		return true;
	unlink(part);
	return false;
}

struct ts_source *ts_spool_take(struct ts_spool *s, const char *name, struct ts_error *err)
{
	int fd = s->fd;

	if (s->is_in_memory)
		atomic_fetch_add(&all_in_memory, s->len);
	s->fd = -1;
	return ts_source_from_fd(fd, name, err);
}
