/* SPDX-License-Identifier: MIT */
#include "source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/source_name.h"
#include "src/base/text/suffix.h"
#include "src/base/collections/vec.h"
#include "src/base/io_full.h"

struct ts_source_text {
	char *data;    /* owned */
	size_t len;
	size_t *lines; /* owned; where each begins */
	size_t n, cap;
};

/* A regular file's bytes; the descriptor is closed. */
static bool read_all(struct ts_source_text *t, int fd)
{
	struct stat st;
	ssize_t n = -1;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && (size_t)st.st_size <= TS_SOURCE_TEXT_MAX) {
		t->data = malloc((size_t)st.st_size);
		n = t->data ? ts_read_whole(fd, t->data, (size_t)st.st_size, 0) : -1;
	}
	close(fd);
	t->len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool find_lines(struct ts_source_text *t)
{
	for (size_t at = 0; at < t->len;) {
		const char *newline = memchr(t->data + at, '\n', t->len - at);

		if (!ts_vec_reserve(&t->lines, t->n, &t->cap, 1, sizeof(*t->lines)))
			return false;
		t->lines[t->n++] = at;
		at = newline ? (size_t)(newline - t->data) + 1 : t->len;
	}
	return true;
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)

/* A symbolic link is followed to a file that has the name of a source, too: in the sandbox its broker does the same. */
static int open_file(const char *path)
{
	char *real = NULL;
	int fd;

	if (!ts_is_source_name(path))
		return -1;
	fd = open(path, OPEN_FLAGS);
	if (fd < 0 && errno == ELOOP)
		real = realpath(path, NULL);
	if (real && ts_is_source_name(real))
		fd = open(real, OPEN_FLAGS);
	free(real);
	return fd;
}

static int open_any(const char *path, const char *const *folders)
{
	int fd = *path == '/' ? open_file(path) : -1;
	char other[PATH_MAX];

	for (; fd < 0 && folders && *folders; folders++) {
		if (snprintf(other, sizeof(other), "%s/%s", *folders, ts_last_name(path)) < (int)sizeof(other))
			fd = open_file(other);
	}
	return fd;
}

struct ts_source_text *ts_source_text_new(const char *path, const char *const *folders)
{
	int fd = open_any(path, folders);
	struct ts_source_text *t = fd < 0 ? NULL : calloc(1, sizeof(*t));

	if (fd >= 0 && !t)
		close(fd);
	if (t && read_all(t, fd) && find_lines(t))
		return t;
	ts_source_text_free(t);
	return NULL;
}

void ts_source_text_free(struct ts_source_text *t)
{
	if (!t)
		return;
	free(t->data);
	free(t->lines);
	free(t);
}

const char *ts_source_text_line(const struct ts_source_text *t, uint32_t line, size_t *len)
{
	size_t end;

	if (!t || !line || line > t->n)
		return NULL;
	end = line == t->n ? t->len : t->lines[line];
	while (end > t->lines[line - 1] && (t->data[end - 1] == '\n' || t->data[end - 1] == '\r'))
		end--;
	*len = end - t->lines[line - 1];
	return t->data + t->lines[line - 1];
}
