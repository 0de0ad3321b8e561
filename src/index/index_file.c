/* SPDX-License-Identifier: MIT */
/*
 * Opening, creating and publishing index files.  FORMAT has the layout.
 *
 * A record is written from its arrays to its head, so that one whose writer was killed has no head.  An index
 * is valid up to its first record that is not; only the last record of a finished one (the file that is not
 * called .part) says so.  What follows that one is the summary and the directory, or the rest of them: where they are
 * absent or damaged the records are found one after the other, by their heads.
 *
 * A file is opened by its summary, and heads and tables are checked when the record is used; without one they are
 * checked when it is opened.  Blocks are checked when they are used.  A block's signature is part
 * of what its record's signature covers, and the header is, too: nothing can be moved from one place or file
 * to another.
 */
#include "index_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index_directory.h"
#include "index_file_parts.h"
#include "index_pack.h"
#include "src/base/atomic_file.h"
#include "src/base/log.h"
#include "src/base/collections/vec.h"
#include "src/base/io_full.h"
#include "src/trace/chunk.h"

/*
 * Up to this length a finished file is checked whole when it is opened, which takes 10 ms: damage is then
 * found before any question is asked.
 */
#ifndef TS_INDEX_WHOLE_LEN
#define TS_INDEX_WHOLE_LEN (UINT64_C(32) << 20)
#endif

/* ------------------------------------------------------------------------------------------------ opening */

/*
 * Map the record of @len bytes that begins at the file's end.  Returns false if its numbers are wrong, too.
 */
bool ts_index_file_map_record(struct ts_index_file *f, uint64_t len)
{
	struct ts_index_record r;

	if (!ts_index_record_map(&r, f->pool, f->fd, f->end, len))
		return false;
	if (TS_PUSH(f->records, f->n_records, f->cap_records, r))
		return true;
	ts_index_record_unmap(&r);
	return false;
}

/*
 * The record of @len bytes at the file's end; @is_whole: all of it is checked.  Returns false if it is not good.
 */
static bool take_record(struct ts_index_file *f, uint64_t len, bool is_whole)
{
	struct ts_index_record *r;
	size_t i = f->n_records;

	if (!ts_index_file_map_record(f, len))
		return false;
	r = &f->records[i];
	if (!ts_index_record_check(r, &f->key, i, is_whole) ||
	    (i && ts_index_record_steps(r) < ts_index_record_steps(r - 1))) {
		f->pool->is_damaged = false; /* it is not used */
		ts_index_record_unmap(r);
		f->n_records--;
		return false;
	}
	f->end = ts_index_record_end(r);
	f->is_finished = ts_index_record_is_last(r);
	return true;
}

/* Add the record at the file's end, of @file_len bytes; @is_whole: check all of it.  Returns false if it is not one. */
static bool read_record(struct ts_index_file *f, uint64_t file_len, bool is_whole)
{
	uint64_t len, left = file_len > f->end ? file_len - f->end : 0;
	uint8_t head[TS_INDEX_HEAD_LEN];

	if (left < TS_INDEX_HEAD_LEN || ts_read_whole(f->fd, head, sizeof(head), f->end) != sizeof(head))
		return false;
	len = ts_get64(head + 16);
	return !memcmp(head, ts_index_record_magic, sizeof(ts_index_record_magic)) &&
	       len >= TS_INDEX_HEAD_LEN && len <= left && take_record(f, len, is_whole);
}

/* A file without records; @path is the path of the finished file.  Returns NULL if memory is exhausted. */
static struct ts_index_file *new_file(const char *path, const struct ts_index_key *key, struct ts_error *err)
{
	struct ts_index_file *f = calloc(1, sizeof(*f));
	size_t len = strlen(path);

	if (f) {
		f->key = *key;
		f->fd = -1;
		f->n_threads = 1;
		ts_buf_init(&f->packed);
		ts_buf_init(&f->apart);
		ts_buf_init(&f->pending);
		f->path = strdup(path);
		f->part = malloc(len + sizeof(".part"));
		f->pool = calloc(1, sizeof(*f->pool));
	}
	if (f && f->path && f->part && f->pool && ts_index_pool_init(f->pool, &f->key.signer)) {
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes */
		memcpy(f->part, path, len);
		memcpy(f->part + len, ".part", sizeof(".part"));
		return f;
	}
	ts_index_close(f);
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory");
	return NULL;
}

static void drop_records(struct ts_index_file *f)
{
	for (size_t i = 0; i < f->n_records; i++)
		ts_index_record_unmap(&f->records[i]);
	ts_index_summary_close(&f->summary);
	f->n_records = 0;
	f->end = TS_INDEX_ALIGN;
	f->is_finished = false;
}

void ts_index_close(struct ts_index_file *f)
{
	if (!f)
		return;
	drop_records(f);
	free(f->records);
	if (f->fd >= 0)
		close(f->fd);
	ts_buf_fini(&f->packed);
	ts_buf_fini(&f->apart);
	ts_buf_fini(&f->pending);
	ts_index_packer_free(f->packer);
	free(f->sections);
	free(f->arrays);
	free(f->path);
	free(f->part);
	free(f->refuge);
	if (f->pool)
		ts_index_pool_fini(f->pool);
	free(f->pool);
	free(f);
}

/* Get its length, if it is a regular file.  Returns false if it is not, or fstat() fails. */
static bool look_at(int fd, uint64_t *len, struct ts_error *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ts_fail_errno(why, "cannot stat it");
	if (!S_ISREG(st.st_mode))
		return ts_fail(why, TS_EUSAGE, TS_NO_OFF, "it is not a regular file");
	*len = (uint64_t)st.st_size;
	return true;
}

/* The records, by the summary.  Returns false if it is of no use. */
static bool read_by_summary(struct ts_index_file *f, uint64_t file_len)
{
	struct ts_index_record *records;
	uint64_t from, to;
	size_t n;

	if (!ts_index_directory_find(f->fd, file_len, &n, &from, &to))
		return false;
	records = calloc(n, sizeof(*records));
	if (!records || !ts_index_summary_open(&f->summary, f->fd, &f->key, f->pool, n, from, to, records)) {
		free(records);
		return false;
	}
	free(f->records);
	f->records = records;
	f->n_records = f->cap_records = n;
	f->end = ts_index_record_end(&records[n - 1]);
	f->is_finished = true;
	return true;
}

static void read_records(struct ts_index_file *f, uint64_t file_len, bool is_whole)
{
	if (!is_whole && read_by_summary(f, file_len))
		return;
	while (!f->is_finished && read_record(f, file_len, is_whole))
		ts_index_let_go(f, f->n_records - 1);
}

/* The requirement on a file. */
enum need {
	OF_ANY_FILE, /* of the trace, whichever file that was in */
	OF_THIS_FILE,
	TO_GO_ON, /* likewise; it is checked whole, because it is good up to its first record that is not */
};

/*
 * Read header and records; false and a sentence if the header does not fit.
 */
static bool read_file(struct ts_index_file *f, const struct ts_index_key *key, enum need need, uint64_t *len,
		      struct ts_error *why)
{
	uint8_t header[TS_INDEX_HEADER_LEN];

	f->end = TS_INDEX_ALIGN;
	if (!look_at(f->fd, len, why))
		return false;
	errno = 0; /* of what follows: memory and the disk may fail, which says nothing about the file */
	if (ts_read_whole(f->fd, header, sizeof(header), 0) != sizeof(header)) {
		if (errno)
			return ts_fail_errno(why, "cannot read it");
		return ts_fail(why, TS_ETRUNC, 0, "it ends within its header");
	}
	if (!ts_index_header_check(header, key, why))
		return false;
	ts_index_header_take_file(header, &f->key);
	if (need != OF_ANY_FILE &&
	    (f->key.trace_inode != key->trace_inode || f->key.trace_ctime != key->trace_ctime))
		return ts_fail(why, TS_ECORRUPT, 80, "the file of the trace is not the one that it was made from");
	read_records(f, *len, need == TO_GO_ON || *len <= TS_INDEX_WHOLE_LEN);
	if (!f->is_finished && (errno == ENOMEM || errno == EIO))
		return ts_fail_errno(why, "cannot read it");
	return true;
}

/* Set @why for an open() that failed.  ENXIO is a socket, ELOOP a loop of links: neither is a regular file. */
static void fail_open(struct ts_error *why)
{
	if (errno == ELOOP || errno == ENXIO)
		ts_fail(why, TS_EUSAGE, TS_NO_OFF, "it is not a regular file");
	else if (errno != ENOENT && errno != ENOTDIR)
		ts_fail_errno(why, "cannot open it");
}

static struct ts_index_file *open_file(const char *path, const struct ts_index_key *key, enum need need,
				       struct ts_error *why)
{
	struct ts_index_file *f = new_file(path, key, why);
	uint64_t len;

	if (!f)
		return NULL;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0) {
		fail_open(why);
	} else if (read_file(f, key, need, &len, why)) {
		if (f->is_finished && len <= ts_index_len(f)) {
			free(f->part);
			f->part = NULL;
			return f;
		}
		ts_fail(why, TS_ECORRUPT, f->end, "it is damaged or truncated");
	}
	ts_index_close(f);
	return NULL;
}

struct ts_index_file *ts_index_open(const char *path, const struct ts_index_key *key, struct ts_error *why)
{
	return open_file(path, key, OF_THIS_FILE, why);
}

struct ts_index_file *ts_index_open_any(const char *path, const struct ts_index_key *key, struct ts_error *why)
{
	return open_file(path, key, OF_ANY_FILE, why);
}

bool ts_index_has_other_meaning(const char *path, const struct ts_index_key *key)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct ts_error why = { 0 };
	uint8_t header[TS_INDEX_HEADER_LEN];
	bool is_other = fd >= 0 && ts_read_whole(fd, header, sizeof(header), 0) == sizeof(header) &&
			!ts_index_header_check(header, key, &why) && why.off == TS_INDEX_MEANING_AT;

	if (fd >= 0)
		close(fd);
	return is_other;
}

/* ------------------------------------------------------------------------------------------------ writing */

bool ts_index_is_disk_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

static bool take_refuge(struct ts_index_file *f);

/* On a full disk: in the refuge. */
bool ts_index_file_write(struct ts_index_file *f, const void *data, size_t len, uint64_t off)
{
	while (!ts_write_whole_at(f->fd, data, len, off)) {
		f->failure = errno;
		if (!ts_index_is_disk_full(f->failure) || !take_refuge(f))
			return false;
		f->failure = 0;
	}
	return true;
}

/*
 * Is the locked file still the one that the path names?  Another may have finished and renamed it meanwhile.
 */
static bool is_at(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Open and lock the unfinished file.  Returns false if the system refuses (TS_EIO), or another process builds it (TS_ELIMIT). */
static bool lock(struct ts_index_file *f, struct ts_error *err)
{
	for (unsigned i = 0; i < 8; i++) {
		f->fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
		if (f->fd < 0)
			return ts_fail_errno(err, "cannot write it");
		if (flock(f->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
			return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "another tracestub is building it");
		if (is_at(f->fd, f->part))
			return true;
		close(f->fd);
		f->fd = -1;
	}
	return ts_fail(err, TS_EIO, TS_NO_OFF, "cannot lock it");
}

static bool start_file(struct ts_index_file *f, const struct ts_index_key *key, struct ts_error *err)
{
	uint8_t header[TS_INDEX_ALIGN] = { 0 };

	ts_index_header_make(key, header);
	drop_records(f);
	if (ftruncate(f->fd, 0) < 0 || !ts_index_file_write(f, header, sizeof(header), 0)) {
		ts_fail_errno(err, "cannot write it");
		unlink(f->part);
		return false;
	}
	return true;
}

bool ts_index_set_fallback(struct ts_index_file *f, const char *path)
{
	free(f->refuge);
	f->refuge = strdup(path);
	return f->refuge;
}

/*
 * All that is in the file, to that of @to, where its records must be good: a write that failed may have lost
 * some.
 */
static bool copy_file(const struct ts_index_file *f, struct ts_index_file *to)
{
	struct ts_error ignored = { 0 };
	uint8_t bytes[65536];
	uint64_t len;
	ssize_t n;

	for (uint64_t off = 0; (n = ts_read_whole(f->fd, bytes, sizeof(bytes), off)) > 0;
	     off += (uint64_t)n) {
		if (!ts_index_file_write(to, bytes, (size_t)n, off))
			return false;
	}
	return n == 0 && read_file(to, &f->key, TO_GO_ON, &len, &ignored) && to->n_records == f->n_records;
}

static void swap_files(struct ts_index_file *a, struct ts_index_file *b)
{
	struct ts_index_file old = *a;

	a->fd = b->fd;
	a->path = b->path;
	a->part = b->part;
	b->fd = old.fd;
	b->path = old.path;
	b->part = old.part;
}

/*
 * Go on in the refuge.  Records that are mapped stay so, from the file that has no name any more.  Returns
 * false if the refuge cannot be written, if none is found, or if it was taken before.
 */
static bool take_refuge(struct ts_index_file *f)
{
	struct ts_error ignored = { 0 };
	struct ts_index_file *to = f->refuge ? new_file(f->refuge, &f->key, &ignored) : NULL;
	bool is_locked = to && ts_atomic_file_may_replace(f->refuge, &ignored) &&
			 lock(to, &ignored);
	bool done = is_locked && ftruncate(to->fd, 0) == 0 && copy_file(f, to);

	if (done)
		swap_files(f, to);
	if (is_locked)
		unlink(to->part); /* what was begun there, or the one that is left */
	if (done)
		ts_log(TS_LOG_WARN, "%s: no space left; the index is written to %s", to->path, f->path);
	ts_index_close(to);
	free(f->refuge);
	f->refuge = NULL;
	return done;
}

/* With what a complete file ends.  Returns false if it cannot be written, and leaves the reason. */
bool ts_index_file_write_directory(struct ts_index_file *f)
{
	uint64_t at = ts_index_record_end(&f->records[f->n_records - 1]);
	struct ts_buf b;
	bool done;

	ts_buf_init(&b);
	ts_index_summary_put(&b, &f->key, f->records, f->n_records);
	ts_index_directory_put(&b, &f->key, f->records, f->n_records, at + b.len);
	if (!ts_buf_ok(&b))
		f->failure = ENOMEM;
	done = ts_buf_ok(&b) && ts_index_file_write(f, b.data, b.len, at);
	ts_buf_fini(&b);
	return done;
}

bool ts_index_publish(struct ts_index_file *f, struct ts_error *err)
{
	assert(f->is_finished);
	if (fsync(f->fd) < 0 || rename(f->part, f->path) < 0) {
		f->failure = errno;
		return ts_fail_errno(err, "cannot finish it");
	}
	ts_sync_folder_of(f->path);
	close(f->fd); /* with the lock */
	f->fd = -1;
	free(f->part);
	f->part = NULL;
	return true;
}

bool ts_index_use_fallback(struct ts_index_file *f)
{
	if (!ts_index_is_disk_full(f->failure))
		return false;
	if (take_refuge(f)) {
		f->failure = 0;
		if (ts_index_file_write_directory(f)) /* what was copied may lack it */
			return true;
	}
	unlink(f->part);
	return false;
}

/* Read what an unfinished file of the same key has, or start it. */
static bool go_on(struct ts_index_file *f, struct ts_error *err)
{
	const struct ts_index_key key = f->key;
	struct ts_error why = { 0 };
	uint64_t len;

	if (!look_at(f->fd, &len, err))
		return false;
	if (!read_file(f, &key, TO_GO_ON, &len, &why) && (why.code == TS_ENOMEM || why.code == TS_EIO)) {
		*err = why;
		return false;
	}
	f->key = key;
	if (!f->n_records)
		return start_file(f, &f->key, err);
	if (ftruncate(f->fd, (off_t)f->end) < 0)
		return ts_fail_errno(err, "cannot truncate it after its last good record");
	if (!f->is_finished)
		return true;
	/* its writer was killed before it got its name; it has no refuge yet */
	if (!ts_index_file_write_directory(f)) {
		errno = f->failure;
		return ts_fail_errno(err, "cannot write it");
	}
	return ts_index_publish(f, err) || ts_index_use_fallback(f);
}

struct ts_index_file *ts_index_create(const char *path, const struct ts_index_key *key, struct ts_error *err)
{
	struct ts_index_file *f = new_file(path, key, err);

	if (!f || (lock(f, err) && go_on(f, err)))
		return f;
	ts_index_close(f);
	return NULL;
}

/* ----------------------------------------------------------------------------------------------- siblings */

/* Of the file at @path, that of an index or its refuge; NULL if memory is exhausted. */
static char *sibling_path(const char *path, const char *name, struct ts_error *err)
{
	char *sibling;

	if (asprintf(&sibling, "%s.%s", path, name) >= 0)
		return sibling;
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory");
	return NULL;
}

static struct ts_index_file *open_beside(const struct ts_index_file *f, const char *path, const char *name,
					 struct ts_error *why)
{
	char *sibling = sibling_path(path, name, why);
	struct ts_index_file *s = sibling ? ts_index_open(sibling, &f->key, why) : NULL;

	free(sibling);
	return s;
}

struct ts_index_file *ts_index_open_sibling(const struct ts_index_file *f, const char *name,
					    struct ts_error *why)
{
	struct ts_index_file *s = open_beside(f, f->path, name, why);
	struct ts_error other = { 0 };

	if (s || !f->refuge)
		return s;
	s = open_beside(f, f->refuge, name, &other);
	if (s || why->code == TS_OK)
		*why = other;
	return s;
}

static struct ts_index_file *create_beside(const struct ts_index_file *f, const char *path, const char *name,
					   struct ts_error *err)
{
	char *sibling = sibling_path(path, name, err);
	struct ts_index_file *s = NULL;

	if (sibling && ts_atomic_file_may_replace(sibling, err))
		s = new_file(sibling, &f->key, err);
	free(sibling);
	if (!s || (lock(s, err) && start_file(s, &s->key, err)))
		return s;
	ts_index_close(s);
	return NULL;
}

struct ts_index_file *ts_index_create_sibling(const struct ts_index_file *f, const char *name,
					      struct ts_error *err)
{
	struct ts_index_file *s = create_beside(f, f->path, name, err);
	struct ts_error why = *err;

	if (s && f->refuge)
		s->refuge = sibling_path(f->refuge, name, &why); /* if memory is exhausted, it has no refuge */
	if (s || !f->refuge || why.code == TS_ELIMIT)
		return s;
	ts_error_reset(err);
	s = create_beside(f, f->refuge, name, err);
	if (s)
		ts_log(TS_LOG_WARN, "%s.%s: %s; it goes to %s", f->path, name, why.text, s->path);
	return s;
}

/* ------------------------------------------------------------------------------------------------ reading */

void ts_index_remove(const struct ts_index_file *f)
{
	unlink(f->part ? f->part : f->path);
}

bool ts_index_is_damaged(struct ts_index_file *f)
{
	if (f->pool->is_damaged && !f->is_removed) {
		f->is_removed = true;
		if (!f->pool->is_exhausted)
			ts_index_remove(f);
	}
	return f->is_removed;
}

void ts_index_give_back(struct ts_index_file *f)
{
	ts_index_pool_give_back(f->pool);
}

void ts_index_let_go(const struct ts_index_file *f, size_t record)
{
	ts_index_record_let_go(&f->records[record]);
	if (record + 1 == f->n_records)
		ts_index_summary_let_go(&f->summary);
}

const struct ts_index_key *ts_index_file_key(const struct ts_index_file *f)
{
	return &f->key;
}

bool ts_index_is_finished(const struct ts_index_file *f)
{
	return f->is_finished && !f->part;
}

const char *ts_index_path(const struct ts_index_file *f)
{
	return f->path;
}

uint64_t ts_index_len(const struct ts_index_file *f)
{
	if (!f->is_finished)
		return f->end;
	return f->end + ts_index_summary_len(f->records, f->n_records) + ts_index_directory_len(f->n_records);
}

size_t ts_index_n_records(const struct ts_index_file *f)
{
	return f->n_records;
}

uint64_t ts_index_n_steps(const struct ts_index_file *f, size_t record)
{
	return ts_index_record_steps(&f->records[record]);
}

bool ts_index_has(const struct ts_index_file *f, size_t record, uint32_t kind)
{
	return ts_index_record_has(&f->records[record], kind);
}

struct ts_index_arrays ts_index_find(const struct ts_index_file *f, size_t record, uint32_t kind,
				     uint32_t owner)
{
	return ts_index_record_find(&f->records[record], kind, owner);
}
