/* SPDX-License-Identifier: MIT */
#include "kept.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/atomic_file.h"
#include "src/base/bytes.h"
#include "src/base/io_full.h"
#include "src/base/text/suffix.h"
#include "src/object/build_id.h"
#include "src/program/cli/message.h"
#include "src/query/files/local_files.h"
#include "src/source/source.h"
#include "src/source/unpack.h"

#define CHUNK (64u << 10)
#define MAX_LIBRARY (1 << 30) /* bytes */
#define MAX_OTHERS 1000u
#define SUFFIX ".files"

/* The folder of the recording @out, with a '/' at its end.  A path that is too long is truncated. */
static void find_folder(const char *out, char folder[PATH_MAX])
{
	snprintf(folder, PATH_MAX, "%s" SUFFIX "/", out);
}

/* Programs that a package brought: they change by an upgrade only. */
static bool is_of_system(const char *path)
{
	static const char *const roots[] = { "/usr/", "/bin/", "/sbin/", "/lib" };

	if (!strncmp(path, "/usr/local/", strlen("/usr/local/")))
		return false;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (!strncmp(path, roots[i], strlen(roots[i])))
			return true;
	}
	return false;
}

bool ts_kept_find(const char *trace, char folder[2 * PATH_MAX])
{
	char here[PATH_MAX], kept[PATH_MAX];

	if (ts_is_stdin(trace) || !getcwd(here, sizeof(here)))
		return false;
	find_folder(trace, kept);
	snprintf(folder, 2 * PATH_MAX, "%s%s%s", *trace == '/' ? "" : here, *trace == '/' ? "" : "/", kept);
	return true;
}

/* The path of the copy; false if nothing is to be copied. */
static bool find_place(const char *out, const char *program, char real[PATH_MAX], char place[PATH_MAX])
{
	struct stat st;

	if (lstat(out, &st) || !S_ISREG(st.st_mode) || !realpath(program, real) || is_of_system(real))
		return false;
	return snprintf(place, PATH_MAX, "%s" SUFFIX "%s", out, strrchr(real, '/')) < PATH_MAX;
}

/* The bytes of @from; shared with it, where the file system can do that. */
static bool copy_bytes(struct ts_atomic_file *to, int from, struct ts_error *err)
{
	uint8_t data[CHUNK];
	uint64_t off = 0;
	ssize_t n;

	if (!ioctl(to->fd, FICLONE, from))
		return true;
	while ((n = ts_read_whole(from, data, sizeof(data), off)) > 0) {
		if (!ts_atomic_file_write(to, data, (size_t)n, err))
			return false;
		off += (uint64_t)n;
	}
	return !n || ts_fail_errno(err, "cannot be read");
}

static bool is_same(int a, int b)
{
	uint8_t x[CHUNK], y[CHUNK];
	uint64_t off = 0;
	ssize_t n;

	while ((n = ts_read_whole(a, x, sizeof(x), off)) > 0 && ts_read_whole(b, y, sizeof(y), off) == n &&
	       !memcmp(x, y, (size_t)n))
		off += (uint64_t)n;
	return !n && !ts_read_whole(b, y, sizeof(y), off);
}

static bool is_regular(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* -------------------------------------------------------------------------------- copies of other recordings */

static bool is_copy_of(int copy, int from)
{
	struct stat st, other;

	return is_regular(copy) && !fstat(copy, &st) && !fstat(from, &other) && st.st_uid == geteuid() &&
	       st.st_size == other.st_size && is_same(copy, from);
}

/* Make @place a link to the open file @copy; what was there before is replaced. */
static bool link_to(int copy, const char *place)
{
	struct stat st, before;
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", copy); /* its name may lead to another file by now */
	if (!linkat(AT_FDCWD, self, AT_FDCWD, place, AT_SYMLINK_FOLLOW))
		return true;
	if (!fstat(copy, &st) && !lstat(place, &before) && st.st_dev == before.st_dev && st.st_ino == before.st_ino)
		return true;
	return errno == EEXIST && !unlink(place) && !linkat(AT_FDCWD, self, AT_FDCWD, place, AT_SYMLINK_FOLLOW);
}

/* Make @place a link to the copy @name of the folder @at, if that has the bytes of @from. */
static bool link_copy(int at, const char *name, int from, const char *place)
{
	int copy = openat(at, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool done = copy >= 0 && is_copy_of(copy, from) && link_to(copy, place);

	if (copy >= 0)
		close(copy);
	return done;
}

/*
 * A recording of the same folder, or this one, may have the same file, as @name: its copy gets one more name, @place.  At
 * most MAX_OTHERS folders are examined.
 */
static bool share(const char *out, int from, const char *name, const char *place)
{
	const char *slash = strrchr(out, '/');
	char folder[PATH_MAX];
	struct dirent *entry;
	bool is_shared = false;
	unsigned n = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - out) : 1, slash ? out : ".");
	dir = opendir(folder);
	while (dir && !is_shared && n < MAX_OTHERS && (entry = readdir(dir))) {
		int at;

		if (!ts_has_suffix(entry->d_name, SUFFIX))
			continue;
		n++;
		at = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		is_shared = at >= 0 && link_copy(at, name, from, place);
		if (at >= 0)
			close(at);
	}
	if (dir)
		closedir(dir);
	return is_shared;
}

/* @out: the recording that the copy at @place is for; @name is its name there. */
static bool copy_to(const char *out, int from, const char *name, const char *place, struct ts_error *err)
{
	struct ts_atomic_file to;
	bool done;

	if (share(out, from, name, place))
		return true;
	done = ts_atomic_file_init(&to, place, err) && copy_bytes(&to, from, err) && ts_atomic_file_place(&to, err) &&
	       (!chmod(place, 0600) || ts_fail_errno(err, "its mode cannot be changed"));
	ts_atomic_file_fini(&to);
	return done;
}

/* A link in its place would lead the copy elsewhere. */
static bool make_folder(const char *path, struct ts_error *err)
{
	struct stat st;

	if (!mkdir(path, 0700) || (errno == EEXIST && !lstat(path, &st) && S_ISDIR(st.st_mode)))
		return true;
	if (errno == EEXIST)
		return ts_fail(err, TS_EIO, TS_NO_OFF, "%s is not a folder", path);
	return ts_fail_errno(err, "its folder cannot be created");
}

/* -------------------------------------------------------------------------------- by build-id */

#define BY_ID ".build-id/"
#define ID_NAME_LEN (sizeof(BY_ID) + 2 * TS_MAX_BUILD_ID + 1)

/* The name by which debuggers look for the file at @path: .build-id/ab/cdef.  Returns false if it has no build-id. */
static bool name_by_id(const char *path, char name[ID_NAME_LEN])
{
	char hex[2 * TS_MAX_BUILD_ID + 1];
	struct ts_build_id id;
	struct ts_source *src;
	struct ts_error err = { 0 };
	bool has_id;

	src = ts_source_open_unlinked(path, &err);
	has_id = src && ts_build_id_find(src, &id) && id.len > 1;
	ts_source_close(src);
	if (!has_id)
		return false;
	ts_build_id_text(&id, id.len, hex);
	snprintf(name, ID_NAME_LEN, BY_ID "%.2s/%s", hex, hex + 2);
	return true;
}

/* The place in @folder of a file with that name, and its folders if @makes_folders.  Returns false if none is found. */
static bool find_by_id(const char *folder, const char *name, bool makes_folders, char place[PATH_MAX])
{
	const char *const folders[] = { BY_ID, name };
	struct ts_error err;

	for (size_t i = 0; makes_folders && i < 2; i++) {
		const char *end = strrchr(folders[i], '/');

		ts_error_reset(&err);
		if (snprintf(place, PATH_MAX, "%s%.*s", folder, (int)(end - folders[i]), folders[i]) >= PATH_MAX ||
		    !make_folder(place, &err))
			return false;
	}
	return snprintf(place, PATH_MAX, "%s%s", folder, name) < PATH_MAX;
}

/* One more name for the file at @path. */
static bool link_file(const char *path, const char *place)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool done = is_regular(fd) && link_to(fd, place);

	if (fd >= 0)
		close(fd);
	return done;
}

/* The copy at @place is to be another file: it loses its name by build-id. */
static void remove_by_id(const char *folder, const char *place)
{
	char name[ID_NAME_LEN], path[PATH_MAX];

	if (!name_by_id(place, name) || !find_by_id(folder, name, false, path))
		return;
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

/* One file by its build-id, where it has one and the file system has links, and by its name. */
static bool copy_file(const char *out, const char *folder, const char *from, const char *place, struct ts_error *err)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	char name[ID_NAME_LEN], by_id[PATH_MAX];
	bool done;

	if (fd < 0)
		return ts_fail_errno(err, "cannot be read");
	remove_by_id(folder, place);
	done = name_by_id(from, name) && find_by_id(folder, name, true, by_id) && copy_to(out, fd, name, by_id, err) &&
	       link_file(by_id, place);
	if (!done) {
		ts_error_reset(err);
		done = copy_to(out, fd, strrchr(place, '/') + 1, place, err);
	}
	close(fd);
	return done;
}

static void keep(const char *out, const char *real, const char *place, const char *what)
{
	char folder[PATH_MAX];
	struct ts_error err = { 0 };

	find_folder(out, folder);
	folder[strlen(folder) - 1] = '\0';
	if (make_folder(folder, &err))
		strcat(folder, "/");
	if (err.code != TS_OK || !copy_file(out, folder, real, place, &err))
		ts_message(stderr, "tracestub: warn: %s: %s; the recording has no copy of the %s", real, err.text, what);
}

void ts_kept_make(const char *out, const char *program)
{
	char real[PATH_MAX], place[PATH_MAX];

	if (find_place(out, program, real, place))
		keep(out, real, place, "program");
}

/* A program may map any file of its user as code; what is neither a program nor a library is not copied. */
static bool is_image(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	uint8_t head[EI_NIDENT + 2];
	bool is = fd >= 0 && ts_read_whole(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
		  !memcmp(head, ELFMAG, SELFMAG);
	uint64_t type = is ? ts_number(head + EI_NIDENT, 2, head[EI_DATA] == ELFDATA2MSB) : ET_NONE;

	if (fd >= 0)
		close(fd);
	return type == ET_EXEC || type == ET_DYN;
}

void ts_kept_library(const char *out, const char *library)
{
	char real[PATH_MAX], place[PATH_MAX], folder[PATH_MAX], name[NAME_MAX + 1];
	struct stat st;

	find_folder(out, folder);
	/* the recorded program could have forged the path */
	if (!find_place(out, library, real, place) || stat(real, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size > MAX_LIBRARY || !is_image(real) || !ts_kept_name(library, name) ||
	    snprintf(place, PATH_MAX, "%s%s", folder, name) >= PATH_MAX)
		return;
	keep(out, real, place, "library");
}

/* -------------------------------------------------------------------------------- copies and originals */

/* The path of the original, from the name of its copy.  Returns false if no copy has such a name. */
static bool original_of(const char *name, char path[NAME_MAX + 1])
{
	char *to = path;

	for (; *name; name++) {
		bool is_slash = !strncmp(name, "%2F", 3), is_percent = !strncmp(name, "%25", 3);

		*to++ = is_slash ? '/' : is_percent ? '%' : *name;
		name += is_slash || is_percent ? 2 : 0;
	}
	*to = '\0';
	return *path == '/';
}

/* The folder may come from another machine: its names may refer to a device, or to a pipe without a writer. */
static bool is_as_copied(int folder, const char *name, const char *path)
{
	int copy = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int original = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = !is_regular(copy) || (is_regular(original) && is_same(copy, original));

	if (copy >= 0)
		close(copy);
	if (original >= 0)
		close(original);
	return is;
}

bool ts_kept_is_needed(const char *folder)
{
	DIR *dir = opendir(folder);
	char path[NAME_MAX + 1];
	struct dirent *entry;
	bool is_needed = false;

	while (dir && !is_needed && (entry = readdir(dir)))
		is_needed = original_of(entry->d_name, path) && !is_as_copied(dirfd(dir), entry->d_name, path);
	if (dir)
		closedir(dir);
	return is_needed;
}

void ts_kept_remove(const char *out, const char *program)
{
	char real[PATH_MAX], place[PATH_MAX], folder[PATH_MAX];

	if (!find_place(out, program, real, place))
		return;
	find_folder(out, folder);
	remove_by_id(folder, place);
	unlink(place);
	folder[strlen(folder) - 1] = '\0';
	rmdir(folder);
}
