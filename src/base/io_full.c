/* SPDX-License-Identifier: MIT */
#include "io_full.h"

#include <errno.h>
#include <unistd.h>

ssize_t ts_read_whole(int fd, void *to, size_t len, uint64_t off)
{
	uint8_t *p = to;
	int before = errno; /* stays, unless it fails: by it callers distinguish an end from a failure */
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, p + got, len - got, (off_t)(off + got));

		if (n < 0 && errno != EINTR)
			return -1;
		if (!n)
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	errno = before;
	return (ssize_t)got;
}

/* Write at the file offset of @fd if @off is -1. */
static bool write_all(int fd, const uint8_t *p, size_t len, off_t off)
{
	while (len) {
		ssize_t n = off < 0 ? write(fd, p, len) : pwrite(fd, p, len, off);

		if (!n)
			errno = ENOSPC;
		if (!n || (n < 0 && errno != EINTR))
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
		off += off >= 0 && n > 0 ? n : 0;
	}
	return true;
}

bool ts_write_whole(int fd, const void *from, size_t len)
{
	return write_all(fd, from, len, -1);
}

bool ts_write_whole_at(int fd, const void *from, size_t len, uint64_t off)
{
	if (off > INT64_MAX) {
		errno = EINVAL;
		return false;
	}
	return write_all(fd, from, len, (off_t)off);
}
