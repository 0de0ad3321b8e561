/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ts_source {
	int fd;              /* -1 for memory */
	const uint8_t *data; /* borrowed; NULL for a file */
	uint64_t len;
	uint64_t mtime;      /* nanoseconds; 0 for memory */
	atomic_uint_least64_t reached; /* the end of the highest byte that was read */
	char name[];
};

static struct ts_source *source_new(int fd, const void *data, uint64_t len, const char *name,
				    struct ts_error *err)
{
	size_t n = strlen(name) + 1;
	struct ts_source *src = malloc(sizeof(*src) + n);

	if (!src) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory to open it");
		return NULL;
	}
	src->fd = fd;
	src->data = data;
	src->len = len;
	src->mtime = 0;
	atomic_init(&src->reached, 0);
	memcpy(src->name, name, n);
	return src;
}

struct ts_source *ts_source_open(const char *path, struct ts_error *err)
{
	struct ts_source *src = NULL;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		ts_fail_errno(err, "cannot open it");
		return NULL;
	}
	if (fstat(fd, &st) < 0)
		ts_fail_errno(err, "cannot stat it");
	else if (!S_ISREG(st.st_mode))
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "not a regular file");
	else
		src = source_new(fd, NULL, (uint64_t)st.st_size, path, err);
	if (!src)
		close(fd);
	else
		src->mtime =
			(uint64_t)st.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)st.st_mtim.tv_nsec;
	return src;
}

struct ts_source *ts_source_from_memory(const void *data, size_t len, const char *name, struct ts_error *err)
{
	return source_new(-1, data, len, name, err);
}

struct ts_source *ts_source_dup(const struct ts_source *src, struct ts_error *err)
{
	int fd = src->fd < 0 ? -1 : fcntl(src->fd, F_DUPFD_CLOEXEC, 0);
	struct ts_source *dup = NULL;

	if (src->fd >= 0 && fd < 0)
		ts_fail_errno(err, "cannot open it once more");
	else
		dup = source_new(fd, src->data, src->len, src->name, err);
	if (!dup && fd >= 0)
		close(fd);
	return dup;
}

void ts_source_close(struct ts_source *src)
{
	if (!src)
		return;
	if (src->fd >= 0)
		close(src->fd);
	free(src);
}

uint64_t ts_source_len(const struct ts_source *src)
{
	return src->len;
}

uint64_t ts_source_mtime(const struct ts_source *src)
{
	return src->mtime;
}

const char *ts_source_name(const struct ts_source *src)
{
	return src->name;
}

static bool read_file(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		      struct ts_error *err)
{
	while (*got < len) {
		ssize_t n = pread(src->fd, data + *got, len - *got, (off_t)(off + *got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ts_fail(err, TS_EIO, off + *got, "cannot read it: %s", strerror(errno));
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return true;
}

/* It is only for people: of two threads that read at once either may be forgotten. */
static void reach(const struct ts_source *src, uint64_t end)
{
	atomic_uint_least64_t *reached = (atomic_uint_least64_t *)&src->reached;

	if (atomic_load_explicit(reached, memory_order_relaxed) < end)
		atomic_store_explicit(reached, end, memory_order_relaxed);
}

uint64_t ts_source_reached(const struct ts_source *src)
{
	return atomic_load_explicit((atomic_uint_least64_t *)&src->reached, memory_order_relaxed);
}

void ts_source_restart(struct ts_source *src)
{
	atomic_store_explicit(&src->reached, 0, memory_order_relaxed);
}

bool ts_source_read(const struct ts_source *src, uint64_t off, void *data, size_t len, size_t *got,
		    struct ts_error *err)
{
	*got = 0;
	if (off >= src->len)
		return true;
	if (len > src->len - off)
		len = (size_t)(src->len - off);
	reach(src, off + len);
	if (!src->data)
		return read_file(src, off, data, len, got, err);
	memcpy(data, src->data + off, len);
	*got = len;
	return true;
}

bool ts_source_read_all(const struct ts_source *src, uint64_t off, void *data, size_t len,
			struct ts_error *err)
{
	size_t got;

	if (!ts_source_read(src, off, data, len, &got, err))
		return false;
	if (got < len)
		return ts_fail(err, TS_ETRUNC, off, "%zu bytes needed but the file ends after %zu", len, got);
	return true;
}
