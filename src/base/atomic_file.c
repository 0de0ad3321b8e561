/* SPDX-License-Identifier: MIT */
#include "atomic_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_full.h"

/* So much is written at once. */
#define WAIT_LEN (256u << 10)

bool ts_atomic_file_may_replace(const char *path, struct ts_error *err)
{
	struct stat st;

	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return ts_fail(err, TS_EIO, TS_NO_OFF, "%s exists and is not a regular file", path);
	return true;
}

bool ts_atomic_file_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * The mask of new files, read before there are threads: umask() returns it only by changing it, and a file that another
 * thread makes meanwhile could be written by all users.
 */
static mode_t file_mask;

__attribute__((constructor)) static void note_file_mask(void)
{
	file_mask = umask(0);
	umask(file_mask);
}

bool ts_atomic_file_init(struct ts_atomic_file *f, const char *path, struct ts_error *err)
{
	size_t len = strlen(path) + sizeof(".XXXXXX");
	*f = (struct ts_atomic_file){ .fd = -1, .path = strdup(path), .part = malloc(len) };
	ts_buf_init(&f->wait);
	if (!f->path || !f->part)
		return ts_no_memory(err, "writing a file");
	f->is_stdout = !strcmp(path, "-");
	if (f->is_stdout) {
		strcpy(f->part, "stdout");
		f->fd = STDOUT_FILENO;
		return true;
	}
	if (!ts_atomic_file_may_replace(path, err))
		return false;
	snprintf(f->part, len, "%s.XXXXXX", path);
	f->fd = mkstemp(f->part);
	if (f->fd < 0 || fchmod(f->fd, 0666 & ~file_mask) < 0)
		return ts_fail_errno(err, "cannot create a file in the folder of %s", path);
	return true;
}

void ts_atomic_file_fini(struct ts_atomic_file *f)
{
	if (f->fd >= 0 && !f->is_stdout) {
		close(f->fd);
		unlink(f->part);
	}
	free(f->path);
	free(f->part);
	ts_buf_fini(&f->wait);
	*f = (struct ts_atomic_file){ .fd = -1 };
}

static bool flush(struct ts_atomic_file *f, struct ts_error *err)
{
	if (!ts_write_whole(f->fd, f->wait.data, f->wait.len))
		return ts_fail_errno(err, "cannot write %s", f->part);
	ts_buf_reset(&f->wait);
	return true;
}

bool ts_atomic_file_write(struct ts_atomic_file *f, const void *data, size_t len, struct ts_error *err)
{
	ts_buf_put(&f->wait, data, len);
	if (!ts_buf_ok(&f->wait))
		return ts_no_memory(err, "writing a file");
	return f->wait.len < WAIT_LEN || flush(f, err);
}

void ts_sync_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = !slash ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

bool ts_atomic_file_place(struct ts_atomic_file *f, struct ts_error *err)
{
	if (!flush(f, err))
		return false;
	if (f->is_stdout)
		return true;
	if (rename(f->part, f->path) < 0)
		return ts_fail_errno(err, "cannot rename the new file to %s", f->path);
	close(f->fd);
	f->fd = -1;
	return true;
}

bool ts_atomic_file_finish(struct ts_atomic_file *f, struct ts_error *err)
{
	if (!flush(f, err))
		return false;
	if (!f->is_stdout && fsync(f->fd) < 0)
		return ts_fail_errno(err, "cannot write %s", f->part);
	if (!ts_atomic_file_place(f, err))
		return false;
	if (!f->is_stdout)
		ts_sync_folder_of(f->path);
	return true;
}
