/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/io_full.h"

bool ts_source_init(struct ts_source *src, const struct ts_source_ops *ops, uint64_t len, const char *name,
		    struct ts_error *err)
{
	src->ops = ops;
	src->len = len;
	src->mtime = src->inode = src->ctime = 0;
	atomic_init(&src->reached, 0);
	src->is_fleeting = false;
	src->is_read_ahead = false;
	ts_error_reset(&src->damage);
	src->keeper = NULL;
	atomic_init(&src->listener, NULL);
	src->name = malloc(strlen(name) + 1); /* not strdup(): tests let allocations fail */
	if (src->name)
		strcpy(src->name, name);
	return src->name || ts_no_memory(err, "opening it");
}

void ts_source_close(struct ts_source *src)
{
	if (!src)
		return;
	src->ops->close(src);
	ts_source_close(src->archive);
	free(src->name);
	free(src);
}

void ts_source_set_keeper(struct ts_source *src, const struct ts_source_keeper *keeper)
{
	src->keeper = keeper;
}

void ts_source_set_listener(struct ts_source *src, const struct ts_source_listener *listener)
{
	atomic_store(&src->listener, listener);
}

bool ts_source_recall(const struct ts_source *src, struct ts_buf *out)
{
	return src->keeper && src->keeper->recall(src->keeper->user, out) && ts_buf_ok(out);
}

void ts_source_keep(const struct ts_source *src, const struct ts_buf *bytes)
{
	if (src->keeper && ts_buf_ok(bytes))
		src->keeper->keep(src->keeper->user, bytes);
}

/* ------------------------------------------------------------------------------------------------ memory */

struct memory {
	struct ts_source base;
	const uint8_t *data; /* borrowed */
};

static bool read_memory(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
			struct ts_error *)
{
	memcpy(data, ((const struct memory *)src)->data + off, len);
	*got = len;
	return true;
}

static struct ts_source *dup_memory(const struct ts_source *src, struct ts_error *err)
{
	return ts_source_from_memory(((const struct memory *)src)->data, (size_t)src->len, src->name, err);
}

static void close_memory(struct ts_source *)
{
}

struct ts_source *ts_source_from_memory(const void *data, size_t len, const char *name, struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_memory, .dup = dup_memory, .close = close_memory };
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return ts_no_memory(err, "opening it");
	m->data = data;
	if (!ts_source_init(&m->base, &ops, len, name, err)) {
		ts_source_close(&m->base);
		return NULL;
	}
	return &m->base;
}

/* ------------------------------------------------------------------------------------------------- files */

struct file {
	struct ts_source base;
	int fd; /* owned */
	uint64_t watched_mtime; /* 0: it may be written */
	uint64_t inode, ctime;	/* when it was opened */
};

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * UINT64_C(1000000000) + (uint64_t)t->tv_nsec;
}

/* A file that grows is a recording under way; ts_source_read() reports one that shrinks. */
static bool is_overwritten(const struct file *f)
{
	struct stat st;

	return f->watched_mtime && !fstat(f->fd, &st) && ns_of(&st.st_mtim) != f->watched_mtime &&
	       (uint64_t)st.st_size == f->base.len;
}

static bool read_file(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		      struct ts_error *err)
{
	const struct file *f = (const struct file *)src;
	ssize_t n = ts_read_whole(f->fd, data, len, off);

	if (n < 0)
		return ts_fail(err, TS_EIO, off, "cannot read it: %s", strerror(errno));
	if (is_overwritten(f))
		return ts_fail(err, TS_EIO, off, "it was changed after it was opened");
	*got = (size_t)n;
	return true;
}

static bool is_file_unchanged(const struct ts_source *src)
{
	const struct file *f = (const struct file *)src;
	struct stat st;

	return !fstat(f->fd, &st) && st.st_ino == f->inode && ns_of(&st.st_ctim) == f->ctime;
}

static struct ts_source *dup_file(const struct ts_source *src, struct ts_error *err)
{
	const struct file *f = (const struct file *)src;
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	struct ts_source *dup;

	if (fd < 0) {
		ts_fail_errno(err, "cannot open it again");
		return NULL;
	}
	dup = ts_source_from_fd(fd, src->name, err);
	if (!dup)
		return NULL;
	((struct file *)dup)->watched_mtime = f->watched_mtime;
	((struct file *)dup)->inode = f->inode;
	((struct file *)dup)->ctime = f->ctime;
	return dup;
}

static void close_file(struct ts_source *src)
{
	close(((struct file *)src)->fd);
}

/* By the holes of the file.  No code uses the file offset that this moves. */
static bool next_data_of_file(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end)
{
	const struct file *f = (const struct file *)src;
	off_t data = lseek(f->fd, (off_t)off, SEEK_DATA), hole;

	*first = off;
	*end = src->len;
	if (data < 0)
		return errno != ENXIO; /* only zeros follow; or the file system does not know */
	hole = lseek(f->fd, data, SEEK_HOLE);
	*first = (uint64_t)data;
	if (hole > data)
		*end = (uint64_t)hole;
	return true;
}

/* @now: from before @st was taken.  A write after that has a ctime of @now or later. */
static struct ts_source *file_new(int fd, const struct stat *st, uint64_t now, const char *name, struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_file, .dup = dup_file, .close = close_file,
						  .next_data = next_data_of_file,
						  .is_unchanged = is_file_unchanged };
	struct file *f = calloc(1, sizeof(*f));

	if (!f) {
		close(fd);
		return ts_no_memory(err, "opening it");
	}
	f->fd = fd;
	if (!ts_source_init(&f->base, &ops, (uint64_t)st->st_size, name, err)) {
		ts_source_close(&f->base);
		return NULL;
	}
	f->base.mtime = ns_of(&st->st_mtim);
	f->inode = f->base.inode = st->st_ino;
	f->ctime = ns_of(&st->st_ctim);
	f->base.ctime = f->ctime < now ? f->ctime : 0;
	return &f->base;
}

struct ts_source *ts_source_from_fd(int fd, const char *name, struct ts_error *err)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock of the times of files */
	if (fstat(fd, &st) < 0)
		ts_fail_errno(err, "cannot stat it");
	else if (!S_ISREG(st.st_mode))
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "not a regular file");
	else
		return file_new(fd, &st, ns_of(&now), name, err);
	close(fd);
	return NULL;
}

#define MAX_TICK_NS UINT64_C(10000000)

/*
 * Wait until a write to the file @fd gets another ctime than it has: until the next tick of the clock, at most 10 ms, if
 * it was written in this one.  It does not wait for a ctime in the future.
 */
static void wait_for_tick(int fd)
{
	struct timespec now, end;
	struct stat st;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	end = now;
	if (fstat(fd, &st) || ns_of(&st.st_ctim) < ns_of(&now) || ns_of(&st.st_ctim) > ns_of(&now) + MAX_TICK_NS)
		return;
	while (ns_of(&now) <= ns_of(&st.st_ctim) && ns_of(&now) <= ns_of(&end) + MAX_TICK_NS)
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
}

struct ts_source *ts_source_watched(int fd, const char *name, struct ts_error *err)
{
	struct ts_source *src;

	wait_for_tick(fd);
	src = ts_source_from_fd(fd, name, err);

	if (src)
		((struct file *)src)->watched_mtime = src->mtime;
	return src;
}

/*
 * The name may come from a trace.  The type is checked before open(): opening a pipe wakes its writer, and opening a
 * device may have any effect.
 */
static struct ts_source *open_file(const char *path, int flags, struct ts_error *err)
{
	struct stat st;
	int fd;

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "not a regular file");
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0) {
		ts_fail_errno(err, "cannot open it");
		return NULL;
	}
	return ts_source_watched(fd, path, err);
}

struct ts_source *ts_source_open(const char *path, struct ts_error *err)
{
	return open_file(path, 0, err);
}

struct ts_source *ts_source_open_unlinked(const char *path, struct ts_error *err)
{
	return open_file(path, O_NOFOLLOW, err);
}

/* ----------------------------------------------------------------------------------------------- any kind */

struct ts_source *ts_source_dup(const struct ts_source *src, struct ts_error *err)
{
	struct ts_source *dup = src->ops->dup(src, err);

	if (!dup)
		return NULL;
	dup->len = src->len;
	ts_source_take_times(dup, src);
	dup->is_fleeting = src->is_fleeting;
	dup->is_read_ahead = src->is_read_ahead;
	dup->damage = src->damage;
	return dup;
}

uint64_t ts_source_len(const struct ts_source *src)
{
	return src->len;
}

uint64_t ts_source_mtime(const struct ts_source *src)
{
	return src->mtime;
}

uint64_t ts_source_inode(const struct ts_source *src)
{
	return src->inode;
}

uint64_t ts_source_ctime(const struct ts_source *src)
{
	return src->ctime;
}

void ts_source_take_times(struct ts_source *src, const struct ts_source *file)
{
	src->mtime = file->mtime;
	src->inode = file->inode;
	src->ctime = file->ctime;
}

bool ts_source_is_unchanged(const struct ts_source *src)
{
	return !src->ops->is_unchanged || src->ops->is_unchanged(src);
}

const char *ts_source_name(const struct ts_source *src)
{
	return src->name;
}

bool ts_source_is_file(const struct ts_source *src)
{
	return src->ops->read == read_file;
}

bool ts_source_is_fleeting(const struct ts_source *src)
{
	return src->is_fleeting;
}

void ts_source_allow_ahead(struct ts_source *src)
{
	src->is_read_ahead = true;
}

const struct ts_source *ts_source_archive(const struct ts_source *src)
{
	return src->archive;
}

const struct ts_error *ts_source_damage(const struct ts_source *src)
{
	return &src->damage;
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

bool ts_source_next_data(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end)
{
	*first = off;
	*end = src->len;
	if (off >= src->len || (src->ops->next_data && !src->ops->next_data(src, off, first, end)))
		return false;
	*end = *end < src->len ? *end : src->len;
	return *first < *end;
}

bool ts_source_read(const struct ts_source *src, uint64_t off, void *data, size_t len, size_t *got,
		    struct ts_error *err)
{
	const struct ts_source_listener *listener = atomic_load_explicit(&src->listener, memory_order_acquire);

	*got = 0;
	if (off >= src->len || !len)
		return true;
	if (len > src->len - off)
		len = (size_t)(src->len - off);
	reach(src, off + len);
	if (!src->ops->read(src, off, data, len, got, err))
		return false;
	if (*got < len)
		return ts_fail(err, TS_EIO, off + *got,
			       "the file has become shorter: it ends before this offset, and had %" PRIu64
			       " bytes when it was opened",
			       src->len);
	if (listener)
		listener->take(listener->user, off, data, len);
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

/* ----------------------------------------------------------------------- a part of another source */

struct part {
	struct ts_source base;
	struct ts_source *src; /* owned */
	uint64_t off;
};

static bool read_part(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		      struct ts_error *err)
{
	const struct part *p = (const struct part *)src;

	return ts_source_read(p->src, p->off + off, data, len, got, err);
}

static struct ts_source *dup_part(const struct ts_source *src, struct ts_error *err)
{
	const struct part *p = (const struct part *)src;
	struct ts_source *inner = ts_source_dup(p->src, err);

	return inner ? ts_part_open(inner, p->off, src->len, src->name, err) : NULL;
}

static bool next_data_of_part(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end)
{
	const struct part *p = (const struct part *)src;

	if (!ts_source_next_data(p->src, p->off + off, first, end))
		return false;
	*first -= p->off;
	*end -= p->off;
	return true;
}

static bool is_part_unchanged(const struct ts_source *src)
{
	return ts_source_is_unchanged(((const struct part *)src)->src);
}

static void close_part(struct ts_source *src)
{
	ts_source_close(((struct part *)src)->src);
}

struct ts_source *ts_part_open(struct ts_source *src, uint64_t off, uint64_t len, const char *name,
			       struct ts_error *err)
{
	static const struct ts_source_ops ops = { .read = read_part, .dup = dup_part, .close = close_part,
						  .next_data = next_data_of_part,
						  .is_unchanged = is_part_unchanged };
	struct part *p = calloc(1, sizeof(*p));

	if (!p) {
		ts_source_close(src);
		return ts_no_memory(err, "opening it");
	}
	p->src = src;
	p->off = off;
	if (!ts_source_init(&p->base, &ops, len, name, err)) {
		ts_source_close(&p->base);
		return NULL;
	}
	ts_source_take_times(&p->base, src);
	p->base.is_fleeting = src->is_fleeting;
	return &p->base;
}
