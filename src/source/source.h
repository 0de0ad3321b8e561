/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace from any origin: a file, memory, or a file that is unpacked (unpack.h, zstd_seek.h).
 * Only this code opens or reads a trace.
 *
 * Bytes are copied out with pread, never mapped: a trace that shrinks or lies on a failing disk is an error
 * message here, not a SIGBUS.  A source is constant after it is opened, its memory does not move, and several
 * threads may read it.
 */
#ifndef TS_SOURCE_H
#define TS_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/error.h"

struct ts_source;

/*
 * Keeps for later processes what a loader learnt of the layout of a source from a pass over all of it: bytes
 * that mean something to that loader only.
 */
struct ts_source_keeper {
	/* Append what was kept to @out.  Returns false if there is nothing that can be used. */
	bool (*recall)(void *user, struct ts_buf *out);
	/* Keep @bytes, if that can be done: nothing depends on it. */
	void (*keep)(void *user, const struct ts_buf *bytes);
	void *user;
};

/*
 * Gets the bytes that are read of a source: @len at the offset @off, which are valid during the call.  It is called by
 * the thread that reads.
 */
struct ts_source_listener {
	void (*take)(void *user, uint64_t off, const uint8_t *data, size_t len);
	void *user;
};

/*
 * Open the regular file @path for reading.
 *
 * Returns the source, to be closed with ts_source_close().  Returns NULL if it cannot be opened (TS_EIO), is
 * not a regular file (TS_EUSAGE), or memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_source_open(const char *path, struct ts_error *err);

/*
 * The same, but if the last part of @path is a symbolic link it cannot be opened.
 */
struct ts_source *ts_source_open_unlinked(const char *path, struct ts_error *err);

/*
 * A source over the regular file that is open as @fd, called @name in messages.  The source owns @fd, on
 * failure too.
 *
 * Returns NULL as ts_source_open() does.
 */
struct ts_source *ts_source_from_fd(int fd, const char *name, struct ts_error *err);

/*
 * The same of a file that nobody should write while it is open: once its bytes were written over, at the same
 * length, they are not read any more (TS_EIO).  ts_source_open() gives such a source.
 */
struct ts_source *ts_source_watched(int fd, const char *name, struct ts_error *err);

/*
 * A source over @len bytes at @data (borrowed until close), called @name in messages.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_source_from_memory(const void *data, size_t len, const char *name, struct ts_error *err);

void ts_source_close(struct ts_source *src);

/*
 * Another source of the same bytes, which may outlive @src.
 *
 * Returns NULL on failure (TS_EIO, TS_ENOMEM).
 */
struct ts_source *ts_source_dup(const struct ts_source *src, struct ts_error *err);

/*
 * Its length in bytes and its time of modification (nanoseconds) when it was opened, and its name as given.
 */
uint64_t ts_source_len(const struct ts_source *src);
uint64_t ts_source_mtime(const struct ts_source *src);

/*
 * The inode of the file when it was opened, and its time of the last status change (ctime, nanoseconds), which every
 * write sets to the present and nobody but the system can set back.  The ctime is 0 if a later write could leave it the
 * same, because the file was written in the same tick of the system's clock, and for memory.
 */
uint64_t ts_source_inode(const struct ts_source *src);
uint64_t ts_source_ctime(const struct ts_source *src);

/* Has the file still the inode and the ctime that it had when it was opened?  Memory has. */
bool ts_source_is_unchanged(const struct ts_source *src);
const char *ts_source_name(const struct ts_source *src);

/*
 * The progress of reading, for users: the end of the highest byte read since ts_source_restart().  May be
 * called from any thread.
 */
uint64_t ts_source_reached(const struct ts_source *src);
void ts_source_restart(struct ts_source *src);

/*
 * Allow to those who read it front to back a thread that reads the next piece meanwhile.  Holds for the
 * sources that are opened over it or beside it afterwards.
 */
void ts_source_allow_ahead(struct ts_source *src);

/*
 * From now on @keeper (borrowed until close; NULL: nobody, as at first) keeps what loaders learn from @src.
 * Not inherited by sources that are opened over it or beside it.
 */
void ts_source_set_keeper(struct ts_source *src, const struct ts_source_keeper *keeper);

/*
 * From now on @listener (borrowed until close; NULL: nobody, as at first) gets what is read of @src.  Not inherited by
 * sources that are opened over it or beside it.  Other threads may be reading; a call that has begun goes on.
 */
void ts_source_set_listener(struct ts_source *src, const struct ts_source_listener *listener);

/*
 * Append to @out what a loader kept of @src before.  Returns false if nothing usable was kept; the caller then
 * scans @src.  The bytes must be checked like those of @src itself.
 */
bool ts_source_recall(const struct ts_source *src, struct ts_buf *out);

/* Have @bytes kept; nothing, if memory was exhausted when they were made. */
void ts_source_keep(const struct ts_source *src, const struct ts_buf *bytes);

/* Is it lost when it is closed, like data from a pipe?  Then an index file is of no use. */
bool ts_source_is_fleeting(const struct ts_source *src);

/* The archive of the packed recording (pack.h) whose trace it is, borrowed; NULL if it is not packed. */
const struct ts_source *ts_source_archive(const struct ts_source *src);

/* The reason if the bytes end too early: a compressed file is truncated or damaged.  TS_OK otherwise. */
const struct ts_error *ts_source_damage(const struct ts_source *src);

/*
 * Copy up to @len bytes from offset @off to @data; *got gets their number, less than @len only where the file
 * ended when it was opened.
 *
 * Returns true on success.  Returns false if the operating system refuses or the file has become shorter
 * (TS_EIO; *got bytes are good), or the bytes cannot be unpacked (TS_ECORRUPT, TS_ENOMEM).
 */
bool ts_source_read(const struct ts_source *src, uint64_t off, void *data, size_t len, size_t *got,
		    struct ts_error *err);

/*
 * Copy exactly @len bytes.
 *
 * Returns true on success.  Returns false as ts_source_read() does, or if the file never had them (TS_ETRUNC).
 */
bool ts_source_read_all(const struct ts_source *src, uint64_t off, void *data, size_t len,
			struct ts_error *err);

/*
 * The next part that may hold other bytes than zeros, without reading it: *first gets the offset >= @off where
 * it begins, *end the one after it, more than *first.  Where the file system, or the kind of source, does not
 * tell which parts were never written it is all that is left.
 *
 * Returns false if there is none from @off on.
 */
bool ts_source_next_data(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end);

/* ----------------------------------------------------------------------------------- for kinds of sources */

struct ts_source_ops {
	/* Copy up to @len bytes, more than 0 and all before the end; *got, 0 before, gets their number. */
	bool (*read)(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		     struct ts_error *err);

	/* As ts_source_dup(); the name and what ts_source_init() does not set are copied afterwards. */
	struct ts_source *(*dup)(const struct ts_source *src, struct ts_error *err);

	/* Close and free it, except for the common part. */
	void (*close)(struct ts_source *src);

	/*
	 * As ts_source_next_data(), of an @off before the end; what it gives may be too much, but not too little,
	 * and reach beyond the end.  NULL: nobody knows.
	 */
	bool (*next_data)(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end);

	/* As ts_source_is_unchanged().  NULL: it is. */
	bool (*is_unchanged)(const struct ts_source *src);
};

/* Embedded as first member in the struct of a kind. */
struct ts_source {
	const struct ts_source_ops *ops;
	uint64_t len;
	uint64_t mtime;         /* nanoseconds; 0 for memory */
	uint64_t inode, ctime;  /* as ts_source_ctime() says */
	atomic_uint_least64_t reached; /* the end of the highest byte that was read */
	char *name;             /* owned */
	bool is_fleeting;
	bool is_read_ahead;     /* who reads it front to back may have a thread read the next piece meanwhile */
	struct ts_error damage;
	const struct ts_source_keeper *keeper; /* borrowed; NULL: nobody */
	const struct ts_source_listener *_Atomic listener; /* borrowed; NULL: nobody */
	struct ts_source *archive; /* owned; the archive of the packed recording that it comes from (pack.h), or NULL */
};

/*
 * Fill the common part of @src.
 *
 * Returns false if memory is exhausted (TS_ENOMEM); ts_source_close() must be called either way.
 */
bool ts_source_init(struct ts_source *src, const struct ts_source_ops *ops, uint64_t len, const char *name,
		    struct ts_error *err);

/* @src has the bytes of the file of @file: it gets its times and its inode. */
void ts_source_take_times(struct ts_source *src, const struct ts_source *file);

#endif
