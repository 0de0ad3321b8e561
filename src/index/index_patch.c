/* SPDX-License-Identifier: MIT */
#include "index_patch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index_file_parts.h"
#include "src/base/log.h"
#include "src/base/whole.h"

/* Map at most @max records of the damaged file @f, those before the first one in which damage was found. */
static bool take_good_records(struct ts_index_file *patch, const struct ts_index_file *f, size_t max,
			      struct ts_error *err)
{
	int part = patch->fd;
	uint64_t len;
	bool done;

	patch->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	done = (patch->fd >= 0 || ts_fail_errno(err, "cannot open it")) &&
	       ts_index_file_look_at(patch->fd, &len, err);
	for (size_t i = 0; done && i < max && !f->records[i].blocks->is_damaged; i++) {
		if (!ts_index_file_read_record(patch, len, false))
			break;
	}
	if (patch->fd >= 0)
		close(patch->fd);
	patch->fd = part;
	patch->is_finished = false;
	patch->n_taken = patch->n_records;
	return done;
}

struct ts_index_file *ts_index_create_patch(const struct ts_index_file *f, size_t max, struct ts_error *err)
{
	struct ts_index_file *patch = ts_index_file_new(f->path, &f->key, err);

	if (!patch)
		return NULL;
	patch->end = TS_INDEX_ALIGN;
	if (ts_index_file_lock(patch, err)) {
		patch->is_patch = true;
		if ((ftruncate(patch->fd, 0) == 0 || ts_fail_errno(err, "cannot write it")) &&
		    take_good_records(patch, f, max < f->n_records ? max : f->n_records, err))
			return patch;
	}
	ts_index_close(patch);
	return NULL;
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * Write a record that was built again to the file, in place of the same bytes as they were meant to be: who
 * has mapped the file sees no others, and a part of them is damaged no more than before.  Nothing is written
 * to another file that has taken its place.
 */
static void write_back(const struct ts_index_file *f, const struct ts_index_record *r)
{
	int fd = open(f->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	bool done = fd >= 0 && is_same_file(fd, f->fd) && ts_write_whole_at(fd, r->map, r->len, r->off);

	if (!done)
		ts_log(TS_LOG_INFO, "%s: what was built again cannot be written to it", f->path);
	if (fd >= 0)
		close(fd);
}

void ts_index_write_back(const struct ts_index_file *f, const struct ts_index_file *patch)
{
	for (size_t i = patch->n_taken; i < patch->n_records && i < f->n_records; i++) {
		if (f->records[i].blocks->is_damaged &&
		    ts_index_record_is_same(&f->records[i], &patch->records[i]))
			write_back(f, &patch->records[i]);
	}
}

bool ts_index_mend(struct ts_index_file *f, const struct ts_index_file *patch)
{
	for (size_t i = patch->n_taken; i < patch->n_records && i < f->n_records; i++) {
		if (!f->records[i].blocks->is_damaged)
			continue;
		if (!ts_index_record_replace(&f->records[i], &patch->records[i], patch->fd))
			return false;
	}
	return ts_index_next_damaged(f, 0) == f->n_records;
}

size_t ts_index_next_damaged(const struct ts_index_file *f, size_t i)
{
	while (i < f->n_records && !f->records[i].blocks->is_damaged)
		i++;
	return i;
}
