/* SPDX-License-Identifier: MIT */
#include "bad_calls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static bool is_armed;
static uint64_t n_calls;
static struct {
	uint64_t at;
	int error;
} failures[2];

static bool is_refused(void)
{
	uint64_t n = n_calls;

	if (!is_armed)
		return false;
	n_calls++;
	for (unsigned i = 0; i < 2; i++) {
		if (n != failures[i].at)
			continue;
		errno = failures[i].error;
		return true;
	}
	return false;
}

/* A wrapper of a function that fails with @failure. */
#define WRAP(type, failure, name, params, args)           \
	type __real_##name params;                        \
	type __wrap_##name params;                        \
	type __wrap_##name params                         \
	{                                                 \
		return is_refused() ? (failure) : __real_##name args; \
	}

WRAP(int, -1, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(int, -1, bind, (int fd, const struct sockaddr *addr, socklen_t len), (fd, addr, len))
WRAP(int, -1, listen, (int fd, int n), (fd, n))
WRAP(int, -1, accept4, (int fd, struct sockaddr *addr, socklen_t *len, int flags), (fd, addr, len, flags))
WRAP(int, -1, dup, (int fd), (fd))
WRAP(int, -1, getsockname, (int fd, struct sockaddr *addr, socklen_t *len), (fd, addr, len))
WRAP(int, -1, stat, (const char *path, struct stat *st), (path, st))
WRAP(int, -1, fstat, (int fd, struct stat *st), (fd, st))
WRAP(int, -1, ftruncate, (int fd, off_t len), (fd, len))
WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, flock, (int fd, int how), (fd, how))
WRAP(int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, link, (const char *from, const char *to), (from, to))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, mkstemp, (char *path), (path))
WRAP(ssize_t, -1, getrandom, (void *bytes, size_t len, unsigned flags), (bytes, len, flags))
WRAP(ssize_t, -1, read, (int fd, void *bytes, size_t len), (fd, bytes, len))
WRAP(ssize_t, -1, write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
WRAP(ssize_t, -1, pread, (int fd, void *bytes, size_t len, off_t off), (fd, bytes, len, off))
WRAP(ssize_t, -1, pwrite, (int fd, const void *bytes, size_t len, off_t off), (fd, bytes, len, off))
WRAP(void *, MAP_FAILED, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t off),
     (at, len, prot, flags, fd, off))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t); /* not looked at if there is none */
	va_end(ap);
	return is_refused() ? -1 : __real_open(path, flags, mode);
}

void bad_calls_start(uint64_t n, int error)
{
	bad_calls_start_two(n, error, UINT64_MAX, 0);
}

void bad_calls_start_two(uint64_t n, int error, uint64_t then, int then_error)
{
	failures[0].at = n;
	failures[0].error = error;
	failures[1].at = then;
	failures[1].error = then_error;
	n_calls = 0;
	is_armed = true;
}

uint64_t bad_calls_end(void)
{
	is_armed = false;
	return n_calls;
}
