/* SPDX-License-Identifier: MIT */
/*
 * The layout of an index file.  Numbers are little-endian; hashes are XXH3 of 64 bits; signatures: signer.h.
 *
 *   header, at 0                       padded with zeros to 4,096 bytes
 *      0  16  "tracestub index\n"
 *     16   4  version of this layout and of what sections hold (LAYOUT)
 *     20   4  steps of a chunk
 *     24   4  chunks of a segment
 *     28   4  0
 *     32   8  length of the trace
 *     40   8  its time of modification, in nanoseconds since 1970
 *     48   8  hash of its first and last 64 KiB and of 16 pieces of 4 KiB between
 *     56   8  hash of the version of the program
 *     64   8  id of the signer
 *     72   8  hash of the options that decide how the trace is read
 *     80   8  hash of the 80 bytes before
 *
 *   records, each at a multiple of 4,096, one after the other
 *      0   8  "record\n" and 0
 *      8   8  its number, from 0
 *     16   8  its length; the next record begins at the multiple of 4,096 that follows
 *     24   4  number of sections
 *     28   4  1: the last record, the index is complete; else 0
 *     32  28  signature of the header (88 bytes), the 32 bytes before, and the table
 *     60   4  0
 *     64      the table, for each section:
 *                0  4  kind            (four letters, see timeline_file.c)
 *                4  4  owner           (0: registers, or the whole recording; n: the n-th process)
 *                8  8  offset in the record, a multiple of 8
 *               16  8  length
 *               24 28  signature of the section's bytes
 *               52  4  0
 *             the sections
 *
 *   a section is a sequence of arrays, each
 *      0   8  number of bytes
 *      8      the items, padded with zeros to a multiple of 8
 *
 * A record is written from its sections to its head, so that one whose writer was killed has no head.  An
 * index is valid up to its first record that is not; only the last record of a finished one (the file that is
 * not called .part) says so.  A finished index ends with that record.
 *
 * A section's signature is part of what its record's signature covers, and the header is, too: nothing can be
 * moved from one place or file to another.
 */
#include "index_file.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "src/base/atomic_file.h"
#include "src/base/log.h"
#include "src/base/whole.h"
#include "src/trace/chunk.h"

#define LAYOUT     3u
#define ALIGN      UINT64_C(4096)
#define HEADER_LEN 88
#define HEAD_LEN   64
#define ENTRY_LEN  56
#define MEANING_AT 72
#define WRITE_LEN  (256u << 10)

static const char file_magic[16] = { 't', 'r', 'a', 'c', 'e', 's', 't', 'u',
				     'b', ' ', 'i', 'n', 'd', 'e', 'x', '\n' };
static const char record_magic[8] = "record\n";

struct entry {
	uint32_t kind, owner;
	uint64_t off, len;
};

struct record {
	uint8_t *map; /* owned */
	uint64_t len;
	uint32_t n_sections;
};

struct ts_index_file {
	struct ts_index_key key;
	int fd;       /* -1: it is mapped and needed no more */
	char *path;   /* owned; where it is, or will be, when it is finished */
	char *part;   /* owned; where it is until then, NULL for a finished one */
	char *refuge; /* owned; where it goes on if the disk becomes full, NULL: nowhere */
	struct record *records; /* owned */
	size_t n_records, cap_records;
	uint64_t end; /* of the last record, aligned */
	bool is_finished; /* its last record is there */
	_Atomic bool *is_damaged; /* owned; see struct ts_index_arrays */
	bool is_removed;  /* because of it */

	/* the record that is being written */
	struct entry *table; /* owned */
	unsigned n_table, max_table;
	struct ts_buf pending; /* bytes that follow what is in the file at @at */
	uint64_t at;
	int failure;           /* errno of the first write that failed */
};

static uint64_t align(uint64_t off)
{
	return (off + ALIGN - 1) & ~(ALIGN - 1);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* --------------------------------------------------------------------------------------------- the header */

static void make_header(const struct ts_index_key *key, uint8_t header[HEADER_LEN])
{
	memcpy(header, file_magic, sizeof(file_magic));
	put32(header + 16, LAYOUT);
	put32(header + 20, TS_CHUNK_STEPS);
	put32(header + 24, TS_SEGMENT_CHUNKS);
	put32(header + 28, 0);
	put64(header + 32, key->trace_len);
	put64(header + 40, key->trace_mtime);
	put64(header + 48, key->content);
	put64(header + 56, key->version);
	put64(header + 64, key->signer.id);
	put64(header + MEANING_AT, key->meaning);
	put64(header + 80, XXH3_64bits(header, 80));
}

/* Is this the header of an index that fits @key? */
static bool check_header(const uint8_t *header, const struct ts_index_key *key, struct ts_error *why)
{
	uint8_t want[HEADER_LEN];

	make_header(key, want);
	if (!memcmp(header, want, HEADER_LEN))
		return true;
	if (memcmp(header, file_magic, sizeof(file_magic)))
		return ts_fail(why, TS_ECORRUPT, 0, "it is not an index");
	if (memcmp(header + 16, want + 16, 4))
		return ts_fail(why, TS_EUNSUPPORTED, 16, "its layout is that of another version");
	if (get64(header + 80) != XXH3_64bits(header, 80))
		return ts_fail(why, TS_ECORRUPT, 0, "its header is damaged");
	if (memcmp(header + 20, want + 20, 12))
		return ts_fail(why, TS_EUNSUPPORTED, 20, "its layout is that of another version");
	if (memcmp(header + 64, want + 64, 8))
		return ts_fail(why, TS_EUNSUPPORTED, 64, "made by another user or machine");
	if (memcmp(header + 32, want + 32, 24))
		return ts_fail(why, TS_ECORRUPT, 32, "the trace is not the one that it was made from");
	if (memcmp(header + 56, want + 56, 8))
		return ts_fail(why, TS_EUNSUPPORTED, 56, "made by another version");
	return ts_fail(why, TS_EUNSUPPORTED, MEANING_AT, "made with other options");
}

/* ------------------------------------------------------------------------------------------------ opening */

static const uint8_t *table_entry(const struct record *r, unsigned i)
{
	return r->map + HEAD_LEN + (size_t)i * ENTRY_LEN;
}

/* Are all of its sections there and as they were written? */
static bool check_sections(const struct ts_index_file *f, const struct record *r)
{
	uint64_t table_end = HEAD_LEN + (uint64_t)r->n_sections * ENTRY_LEN;

	for (unsigned i = 0; i < r->n_sections; i++) {
		const uint8_t *e = table_entry(r, i);
		uint64_t off = get64(e + 8), len = get64(e + 16);

		if (off < table_end || off > r->len || len > r->len - off || off % 8 ||
		    !ts_signer_check(&f->key.signer, &(struct iovec){ r->map + off, len }, 1, e + 24))
			return false;
	}
	return true;
}

/* Nothing in the record's memory was changed: pages that are needed again are read from the file. */
static void let_go(const struct record *r)
{
	madvise(r->map, r->len, MADV_DONTNEED);
}

/* What the signature of a record's head covers. */
static void parts_of_head(const uint8_t *header, const uint8_t *head, uint32_t n_sections, struct iovec parts[3])
{
	parts[0] = (struct iovec){ (uint8_t *)header, HEADER_LEN };
	parts[1] = (struct iovec){ (uint8_t *)head, 32 };
	parts[2] = (struct iovec){ (uint8_t *)head + HEAD_LEN, (size_t)n_sections * ENTRY_LEN };
}

static bool check_head(const struct ts_index_file *f, const struct record *r, size_t number)
{
	uint8_t header[HEADER_LEN];
	struct iovec parts[3];

	if (memcmp(r->map, record_magic, sizeof(record_magic)) || get64(r->map + 8) != number ||
	    r->n_sections > (r->len - HEAD_LEN) / ENTRY_LEN || get32(r->map + 28) > 1)
		return false;
	make_header(&f->key, header);
	parts_of_head(header, r->map, r->n_sections, parts);
	return ts_signer_check(&f->key.signer, parts, 3, r->map + 32);
}

static bool add_record(struct ts_index_file *f, const struct record *r)
{
	if (f->n_records == f->cap_records) {
		size_t cap = f->cap_records ? f->cap_records * 2 : 16;
		struct record *p = realloc(f->records, cap * sizeof(*p));

		if (!p)
			return false;
		f->records = p;
		f->cap_records = cap;
	}
	f->records[f->n_records++] = *r;
	return true;
}

/* Map the record of @len bytes that begins at the file's end. */
static bool map_record(struct ts_index_file *f, uint64_t len)
{
	struct record r = { .len = len };

	r.map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, f->fd, (off_t)f->end);
	if (r.map == MAP_FAILED)
		return false;
	r.n_sections = get32(r.map + 24);
	if (add_record(f, &r))
		return true;
	munmap(r.map, len);
	return false;
}

/* Add the record at the file's end.  Returns false if there is no good one. */
static bool read_record(struct ts_index_file *f, uint64_t file_len)
{
	uint8_t head[HEAD_LEN];
	const struct record *r;
	uint64_t len;

	if (file_len < f->end || file_len - f->end < HEAD_LEN ||
	    ts_read_whole(f->fd, head, sizeof(head), f->end) != sizeof(head))
		return false;
	len = get64(head + 16);
	if (memcmp(head, record_magic, sizeof(record_magic)) || len < HEAD_LEN || len > file_len - f->end ||
	    !map_record(f, len))
		return false;
	r = &f->records[f->n_records - 1];
	if (!check_head(f, r, f->n_records - 1) || !check_sections(f, r)) {
		munmap(r->map, r->len);
		f->n_records--;
		return false;
	}
	f->end += align(len);
	f->is_finished = get32(r->map + 28);
	let_go(r); /* checking an index of gigabytes does not keep it in memory */
	return true;
}

static struct ts_index_file *file_new(const char *path, const struct ts_index_key *key, struct ts_error *err)
{
	struct ts_index_file *f = calloc(1, sizeof(*f));
	size_t len = strlen(path);

	if (f) {
		f->key = *key;
		f->fd = -1;
		ts_buf_init(&f->pending);
		f->path = strdup(path);
		f->part = malloc(len + sizeof(".part"));
		f->is_damaged = calloc(1, sizeof(*f->is_damaged));
	}
	if (f && f->path && f->part && f->is_damaged) {
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
		munmap(f->records[i].map, f->records[i].len);
	f->n_records = 0;
	f->end = ALIGN;
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
	ts_buf_fini(&f->pending);
	free(f->table);
	free(f->path);
	free(f->part);
	free(f->refuge);
	free(f->is_damaged);
	free(f);
}

/* The file's length, if it is one. */
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

/* Read header and records; false and a sentence if the header does not fit. */
static bool read_file(struct ts_index_file *f, const struct ts_index_key *key, uint64_t *len,
		      struct ts_error *why)
{
	uint8_t header[HEADER_LEN];

	f->end = ALIGN;
	if (!look_at(f->fd, len, why))
		return false;
	errno = 0; /* of what follows: memory and the disk may fail, which says nothing about the file */
	if (ts_read_whole(f->fd, header, sizeof(header), 0) != sizeof(header)) {
		if (errno)
			return ts_fail_errno(why, "cannot read it");
		return ts_fail(why, TS_ETRUNC, 0, "it ends within its header");
	}
	if (!check_header(header, key, why))
		return false;
	while (!f->is_finished && read_record(f, *len))
		continue;
	if (!f->is_finished && (errno == ENOMEM || errno == EIO))
		return ts_fail_errno(why, "cannot read it");
	return true;
}

struct ts_index_file *ts_index_open(const char *path, const struct ts_index_key *key, struct ts_error *why)
{
	struct ts_index_file *f = file_new(path, key, why);
	uint64_t len;

	if (!f)
		return NULL;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f->fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			ts_fail_errno(why, "cannot open it");
	} else if (read_file(f, key, &len, why)) {
		if (f->is_finished && len == f->end) {
			close(f->fd);
			f->fd = -1;
			free(f->part);
			f->part = NULL;
			return f;
		}
		ts_fail(why, TS_ECORRUPT, f->end, "it is damaged or truncated");
	}
	ts_index_close(f);
	return NULL;
}

bool ts_index_has_other_meaning(const char *path, const struct ts_index_key *key)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct ts_error why = { 0 };
	uint8_t header[HEADER_LEN];
	bool is_other = fd >= 0 && ts_read_whole(fd, header, sizeof(header), 0) == sizeof(header) &&
			!check_header(header, key, &why) && why.off == MEANING_AT;

	if (fd >= 0)
		close(fd);
	return is_other;
}

/* ------------------------------------------------------------------------------------------------ writing */

static bool is_disk_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

static bool take_refuge(struct ts_index_file *f);

/* On a full disk: in the refuge. */
static bool write_all(struct ts_index_file *f, const void *data, size_t len, uint64_t off)
{
	while (!ts_write_whole_at(f->fd, data, len, off)) {
		f->failure = errno;
		if (!is_disk_full(f->failure) || !take_refuge(f))
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

static bool lock_part(struct ts_index_file *f, struct ts_error *err)
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
	uint8_t header[ALIGN] = { 0 };

	make_header(key, header);
	drop_records(f);
	if (ftruncate(f->fd, 0) < 0 || !write_all(f, header, sizeof(header), 0)) {
		ts_fail_errno(err, "cannot write it");
		unlink(f->part);
		return false;
	}
	return true;
}

bool ts_index_set_refuge(struct ts_index_file *f, const char *path)
{
	free(f->refuge);
	f->refuge = strdup(path);
	return f->refuge;
}

/* All that is in the file, to that of @to, where its records must be good: a write that failed may have lost some. */
static bool copy_file(const struct ts_index_file *f, struct ts_index_file *to)
{
	struct ts_error ignored = { 0 };
	uint8_t bytes[65536];
	uint64_t len;
	ssize_t n;

	for (uint64_t off = 0; (n = ts_read_whole(f->fd, bytes, sizeof(bytes), off)) > 0; off += (uint64_t)n) {
		if (!write_all(to, bytes, (size_t)n, off))
			return false;
	}
	return n == 0 && read_file(to, &f->key, &len, &ignored) && to->n_records == f->n_records;
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
 * Go on in the refuge.  Records that are mapped stay so, from the file that has no name any more.  Returns false if the
 * refuge cannot be written, if there is none, or if it was taken before.
 */
static bool take_refuge(struct ts_index_file *f)
{
	struct ts_error ignored = { 0 };
	struct ts_index_file *to = f->refuge ? file_new(f->refuge, &f->key, &ignored) : NULL;
	bool is_locked = to && ts_atomic_file_may_replace(f->refuge, &ignored) && lock_part(to, &ignored);
	bool done = is_locked && ftruncate(to->fd, 0) == 0 && copy_file(f, to);

	if (done)
		swap_files(f, to);
	if (is_locked)
		unlink(to->part); /* what was begun there, or the one that is left */
	if (done)
		ts_log(TS_LOG_WARN, "%s: no space left; the index goes to %s", to->path, f->path);
	ts_index_close(to);
	free(f->refuge);
	f->refuge = NULL;
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

bool ts_index_take_refuge(struct ts_index_file *f)
{
	if (!is_disk_full(f->failure))
		return false;
	if (!take_refuge(f)) {
		unlink(f->part);
		return false;
	}
	f->failure = 0;
	return true;
}

/* Read what an unfinished file of the same key has, or start it. */
static bool go_on(struct ts_index_file *f, struct ts_error *err)
{
	struct ts_error why = { 0 };
	uint64_t len;

	if (!look_at(f->fd, &len, err))
		return false;
	if (!read_file(f, &f->key, &len, &why) && (why.code == TS_ENOMEM || why.code == TS_EIO)) {
		*err = why;
		return false;
	}
	if (!f->n_records)
		return start_file(f, &f->key, err);
	if (ftruncate(f->fd, (off_t)f->end) < 0)
		return ts_fail_errno(err, "cannot truncate it after its last good record");
	/* if it is finished its writer was killed before it got its name; it has no refuge yet */
	return !f->is_finished || ts_index_publish(f, err) || ts_index_take_refuge(f);
}

struct ts_index_file *ts_index_create(const char *path, const struct ts_index_key *key, struct ts_error *err)
{
	struct ts_index_file *f = file_new(path, key, err);

	if (!f || (lock_part(f, err) && go_on(f, err)))
		return f;
	ts_index_close(f);
	return NULL;
}

/* ----------------------------------------------------------------------------------------------- siblings */

static char *sibling_path(const struct ts_index_file *f, const char *name, struct ts_error *err)
{
	char *path;

	if (asprintf(&path, "%s.%s", f->path, name) >= 0)
		return path;
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory");
	return NULL;
}

struct ts_index_file *ts_index_open_sibling(const struct ts_index_file *f, const char *name,
					    struct ts_error *why)
{
	char *path = sibling_path(f, name, why);
	struct ts_index_file *s = path ? ts_index_open(path, &f->key, why) : NULL;

	free(path);
	return s;
}

struct ts_index_file *ts_index_create_sibling(const struct ts_index_file *f, const char *name,
					      struct ts_error *err)
{
	char *path = sibling_path(f, name, err);
	struct ts_index_file *s = NULL;

	if (path && ts_atomic_file_may_replace(path, err))
		s = file_new(path, &f->key, err);
	free(path);
	if (!s || (lock_part(s, err) && start_file(s, &s->key, err)))
		return s;
	ts_index_close(s);
	return NULL;
}

/* ---------------------------------------------------------------------------------------- writing records */

void ts_index_begin(struct ts_index_file *f, unsigned n_sections)
{
	assert(f->part && !f->is_finished);
	f->table = calloc(n_sections + 1u, sizeof(*f->table));
	f->failure = f->table ? 0 : ENOMEM;
	f->n_table = 0;
	f->max_table = n_sections;
	ts_buf_reset(&f->pending);
	f->at = f->end + HEAD_LEN + (uint64_t)n_sections * ENTRY_LEN;
}

static void flush(struct ts_index_file *f)
{
	if (!f->failure && !ts_buf_ok(&f->pending))
		f->failure = ENOMEM;
	if (!f->failure)
		write_all(f, f->pending.data, f->pending.len, f->at);
	f->at += f->pending.len;
	ts_buf_reset(&f->pending);
}

static void end_section(struct ts_index_file *f)
{
	struct entry *e;

	if (f->failure || !f->n_table)
		return;
	e = &f->table[f->n_table - 1];
	e->len = f->at + f->pending.len - f->end - e->off;
}

void ts_index_section(struct ts_index_file *f, uint32_t kind, uint32_t owner)
{
	end_section(f);
	if (f->failure)
		return;
	assert(f->n_table < f->max_table);
	f->table[f->n_table++] = (struct entry){ kind, owner, f->at + f->pending.len - f->end, 0 };
}

static void put_bytes(struct ts_index_file *f, const void *data, size_t len)
{
	if (!len)
		return;
	if (len >= WRITE_LEN) {
		flush(f);
		if (!f->failure)
			write_all(f, data, len, f->at);
		f->at += len;
		return;
	}
	ts_buf_put(&f->pending, data, len);
	if (f->pending.len >= WRITE_LEN)
		flush(f);
}

void ts_index_put(struct ts_index_file *f, const void *items, size_t n, size_t item_len)
{
	static const uint8_t zeros[8];
	uint8_t len[8];

	if (f->failure)
		return;
	put64(len, n * item_len);
	put_bytes(f, len, sizeof(len));
	put_bytes(f, items, n * item_len);
	put_bytes(f, zeros, -(n * item_len) & 7);
}

void ts_index_put_buf(struct ts_index_file *f, const struct ts_buf *b)
{
	if (!f->failure && !ts_buf_ok(b))
		f->failure = ENOMEM;
	ts_index_put(f, b->data, b->len, 1);
}

/* Sign a section, whose bytes are in the file.  Returns false if they cannot be read back. */
static bool sign_section(struct ts_index_file *f, const struct entry *e, uint8_t *signature)
{
	uint64_t start = (f->end + e->off) & ~(ALIGN - 1), before = f->end + e->off - start;
	struct iovec bytes;
	uint8_t *map;

	if (!e->len) {
		ts_signer_sign(&f->key.signer, NULL, 0, signature);
		return true;
	}
	map = mmap(NULL, before + e->len, PROT_READ, MAP_SHARED, f->fd, (off_t)start);
	if (map == MAP_FAILED)
		return false;
	bytes = (struct iovec){ map + before, e->len };
	ts_signer_sign(&f->key.signer, &bytes, 1, signature);
	munmap(map, before + e->len);
	return true;
}

static bool make_table(struct ts_index_file *f, uint8_t *table)
{
	for (unsigned i = 0; i < f->n_table; i++, table += ENTRY_LEN) {
		const struct entry *e = &f->table[i];

		put32(table, e->kind);
		put32(table + 4, e->owner);
		put64(table + 8, e->off);
		put64(table + 16, e->len);
		if (!sign_section(f, e, table + 24))
			return false;
	}
	return true;
}

static void sign_head(const struct ts_index_file *f, uint8_t *head)
{
	uint8_t header[HEADER_LEN];
	struct iovec parts[3];

	make_header(&f->key, header);
	parts_of_head(header, head, f->n_table, parts);
	ts_signer_sign(&f->key.signer, parts, 3, head + 32);
}

/* The record's head and table; all of its sections are in the file, which ends with it. */
static void write_head(struct ts_index_file *f, bool is_last, uint64_t record_len)
{
	size_t len = HEAD_LEN + (size_t)f->n_table * ENTRY_LEN;
	uint8_t *head = calloc(1, len);

	if (!head) {
		f->failure = ENOMEM;
		return;
	}
	memcpy(head, record_magic, sizeof(record_magic));
	put64(head + 8, f->n_records);
	put64(head + 16, record_len);
	put32(head + 24, f->n_table);
	put32(head + 28, is_last);
	if (make_table(f, head + HEAD_LEN)) {
		sign_head(f, head);
		write_all(f, head, len, f->end);
	} else {
		f->failure = EIO;
	}
	free(head);
}

/* The record goes to the file and is mapped. */
static void write_record(struct ts_index_file *f, bool is_last)
{
	uint64_t len;

	end_section(f);
	assert(f->failure || f->n_table == f->max_table); /* as many sections as were announced */
	flush(f);
	len = f->at - f->end;
	if (!f->failure && ftruncate(f->fd, (off_t)(f->end + align(len))) < 0)
		f->failure = errno;
	if (!f->failure)
		write_head(f, is_last, len);
	if (!f->failure && !map_record(f, len))
		f->failure = errno;
	free(f->table);
	f->table = NULL;
}

/* The file is as it was before the record; on a full disk, and if that is nothing, it goes. */
static void take_back(struct ts_index_file *f)
{
	if (!f->n_records || is_disk_full(f->failure) || ftruncate(f->fd, (off_t)f->end) < 0)
		unlink(f->part);
}

void ts_index_abort(struct ts_index_file *f)
{
	free(f->table);
	f->table = NULL;
	ts_buf_reset(&f->pending);
	take_back(f);
}

bool ts_index_commit(struct ts_index_file *f, bool is_last, struct ts_error *err)
{
	write_record(f, is_last);
	if (!f->failure) {
		uint64_t len = f->at - f->end;

		/* Begin to write it now, so that the final sync waits for little more than the last record. */
		if (len >= WRITE_LEN)
			sync_file_range(f->fd, (off_t)f->end, (off_t)len, SYNC_FILE_RANGE_WRITE);
		f->end += align(len);
		f->is_finished = is_last;
		return true;
	}
	take_back(f);
	errno = f->failure;
	return ts_fail_errno(err, "cannot write it");
}

/* ------------------------------------------------------------------------------------------------ reading */

void ts_index_remove(const struct ts_index_file *f)
{
	unlink(f->part ? f->part : f->path);
}

bool ts_index_is_damaged(struct ts_index_file *f)
{
	if (*f->is_damaged && !f->is_removed) {
		f->is_removed = true;
		ts_index_remove(f);
	}
	return f->is_removed;
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
	return f->end;
}

size_t ts_index_n_records(const struct ts_index_file *f)
{
	return f->n_records;
}

void ts_index_let_go(const struct ts_index_file *f, size_t record)
{
	let_go(&f->records[record]);
}

bool ts_index_has(const struct ts_index_file *f, size_t record, uint32_t kind)
{
	const struct record *r = &f->records[record];

	for (unsigned i = 0; i < r->n_sections; i++) {
		if (get32(table_entry(r, i)) == kind)
			return true;
	}
	return false;
}

struct ts_index_arrays ts_index_find(const struct ts_index_file *f, size_t record, uint32_t kind,
				     uint32_t owner)
{
	const struct record *r = &f->records[record];

	for (unsigned i = 0; i < r->n_sections; i++) {
		const uint8_t *e = table_entry(r, i);

		if (get32(e) == kind && get32(e + 4) == owner)
			return (struct ts_index_arrays){ r->map + get64(e + 8), get64(e + 16), false,
							 f->is_damaged };
	}
	return (struct ts_index_arrays){ .is_bad = true };
}
