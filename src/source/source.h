/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a trace from any origin: a file, memory, or a file that is unpacked (unpack.h, zstd_frames.h).
 * Only this code opens or reads a trace.
 *
 * Bytes are copied with pread, never mapped: a trace that shrinks or is on a failing disk causes an error
 * message, not a SIGBUS.  A source is constant after it is opened, its memory does not move, and several
 * threads may read it.
 */
#ifndef TS_SOURCE_H
#define TS_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/collections/buf.h"
#include "src/base/error.h"

struct ts_source;

/*
 * Stores, for later processes, the layout of a source that a loader found in a pass over all of it.  Only that loader
 * interprets the bytes.
 */
struct ts_source_keeper {
	/* Append the stored bytes to @out.  Returns false if none can be used. */
	bool (*recall)(void *user, struct ts_buf *out);
	/* Store @bytes.  A failure is ignored. */
	void (*keep)(void *user, const struct ts_buf *bytes);
	void *user;
};

/*
 * Receives the bytes that are read from a source: @len bytes at offset @off, which are valid during the
 * call.  The reading thread calls it.
 */
struct ts_source_listener {
	void (*take)(void *user, uint64_t off, const uint8_t *data, size_t len);
	void *user;
};

/*
 * Open the regular file @path for reading.
 *
 * Returns the source, which the caller closes with ts_source_close().
 * Returns NULL if it cannot be opened (TS_EIO).
 * Returns NULL if it is not a regular file (TS_EUSAGE).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_source_open(const char *path, struct ts_error *err);

/*
 * As ts_source_open().  Returns NULL (TS_EIO) if the last component of @path is a symbolic link.
 */
struct ts_source *ts_source_open_unlinked(const char *path, struct ts_error *err);

/*
 * A source over the regular file that is open as @fd, with the name @name in messages.  Takes ownership of @fd, also on
 * failure.
 *
 * Returns the source, which the caller closes with ts_source_close().
 * Returns NULL if it is not a regular file (TS_EUSAGE).
 * Returns NULL if its facts cannot be read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_source_from_fd(int fd, const char *name, struct ts_error *err);

/*
 * As ts_source_from_fd(), for a file that must not be written while it is open: after its bytes were overwritten at the
 * same length, reads fail (TS_EIO).  ts_source_open() returns such a source.
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
 * Another source of the same bytes, which may outlive @src; the caller closes it.
 *
 * Returns NULL on failure (TS_EIO, TS_ENOMEM).
 */
struct ts_source *ts_source_dup(const struct ts_source *src, struct ts_error *err);

/*
 * Return the length in bytes, and the time of modification in nanoseconds, both when it was opened.
 */
uint64_t ts_source_len(const struct ts_source *src);
uint64_t ts_source_mtime(const struct ts_source *src);

/*
 * Return the inode of the file when it was opened, and the time of its last status change (ctime) in
 * nanoseconds.  Every write sets the ctime to the present, and no system call sets it to another time.  The
 * ctime is 0 for memory, and if a later write could leave it the same because the file was written in the
 * same tick of the system's clock.
 */
uint64_t ts_source_inode(const struct ts_source *src);
uint64_t ts_source_ctime(const struct ts_source *src);

/* Has the file still the inode and the ctime that it had when it was opened?  True for memory. */
bool ts_source_is_unchanged(const struct ts_source *src);

/* Returns the name with which it was opened, borrowed until it is closed. */
const char *ts_source_name(const struct ts_source *src);

/*
 * The progress of reading, for users: the end of the highest byte read since ts_source_restart().  Any thread may call
 * this function.
 */
uint64_t ts_source_reached(const struct ts_source *src);
void ts_source_restart(struct ts_source *src);

/*
 * Permit sequential readers to use a thread that reads the next piece ahead, also those that are reading; any thread may
 * call this function.  Inherited by sources that are opened over
 * @src or beside it afterwards.
 */
void ts_source_allow_ahead(struct ts_source *src);

/*
 * Use @keeper (borrowed until close; NULL, the default: none) to store the layout of @src.
 * Not inherited by sources that are opened over it or beside it.
 */
void ts_source_set_keeper(struct ts_source *src, const struct ts_source_keeper *keeper);

/*
 * Pass all bytes that are read from @src to @listener (borrowed until close; NULL, the default: none).  Not inherited by
 * sources that are opened over it or beside it.  Other threads may be reading: their running calls may still use the old
 * listener.
 */
void ts_source_set_listener(struct ts_source *src, const struct ts_source_listener *listener);

/*
 * Append the stored layout of @src to @out.  Returns false if none can be used; the caller then scans @src.  The caller
 * must check the bytes like those of @src itself.
 */
bool ts_source_recall(const struct ts_source *src, struct ts_buf *out);

/* Store the layout @bytes; nothing is stored if the buffer has failed. */
void ts_source_keep(const struct ts_source *src, const struct ts_buf *bytes);

/* Are its bytes those of a file, which nothing unpacks when they are read? */
bool ts_source_is_file(const struct ts_source *src);

/* Is the data lost when the source is closed, like data from a pipe?  Then an index file is useless. */
bool ts_source_is_fleeting(const struct ts_source *src);

/* The archive of the packed recording (pack.h) that contains the trace @src, borrowed; NULL if it is not packed. */
const struct ts_source *ts_source_archive(const struct ts_source *src);

/*
 * Returns the error, borrowed until @src is closed, if a compressed file is truncated or damaged and the
 * bytes therefore end too early; its code is TS_OK otherwise.  Never NULL.
 */
const struct ts_error *ts_source_damage(const struct ts_source *src);

/*
 * Copy up to @len bytes from offset @off to @data; *got is set to their number, which is less than @len only at the end
 * that the file had when it was opened.
 *
 * Returns true on success.
 * Returns false if a system call fails or the file has become shorter (TS_EIO; *got bytes are valid).
 * Returns false if the bytes cannot be unpacked (TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_source_read(const struct ts_source *src, uint64_t off, void *data, size_t len, size_t *got,
		    struct ts_error *err);

/*
 * Copy exactly @len bytes.
 *
 * Returns true on success.  Returns false as ts_source_read() does, or if the file is too short (TS_ETRUNC).
 */
bool ts_source_read_all(const struct ts_source *src, uint64_t off, void *data, size_t len,
			struct ts_error *err);

/*
 * Find the next part at or after @off that may hold bytes other than zero, without reading it.  *first is set to its
 * first offset, *end to the offset after it.  If the file system or the kind of source cannot list unwritten parts,
 * this is the whole rest.
 *
 * Returns false if the rest of the source holds only zeros.
 */
bool ts_source_next_data(const struct ts_source *src, uint64_t off, uint64_t *first, uint64_t *end);

/* ----------------------------------------------------------------------------------- for kinds of sources */

struct ts_source_ops {
	/* Copy up to @len (> 0) bytes, all before the end; *got, which is 0, is set to their number. */
	bool (*read)(const struct ts_source *src, uint64_t off, uint8_t *data, size_t len, size_t *got,
		     struct ts_error *err);

	/* As ts_source_dup(); the caller then copies the name and the members that ts_source_init() does not set. */
	struct ts_source *(*dup)(const struct ts_source *src, struct ts_error *err);

	/* Close and free it, except for the common part. */
	void (*close)(struct ts_source *src);

	/*
	 * As ts_source_next_data(), for an @off before the end.  The part may be too large, and may extend beyond the
	 * end, but must not be too small.  NULL: unwritten parts are unknown.
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
	uint64_t inode, ctime;  /* see ts_source_ctime() */
	atomic_uint_least64_t reached; /* the end of the highest byte that was read */
	char *name;             /* owned */
	bool is_fleeting;
	atomic_bool is_read_ahead; /* see ts_source_allow_ahead() */
	struct ts_error damage;
	const struct ts_source_keeper *keeper; /* borrowed; NULL: none */
	const struct ts_source_listener *_Atomic listener; /* borrowed; NULL: none */
	struct ts_source *archive; /* owned; the archive of the packed recording that it comes from (pack.h), or NULL */
};

/*
 * Fill the common part of @src.
 *
 * Returns false if memory is exhausted (TS_ENOMEM); ts_source_close() must be called either way.
 */
bool ts_source_init(struct ts_source *src, const struct ts_source_ops *ops, uint64_t len, const char *name,
		    struct ts_error *err);

/* Copy the times and the inode of @file to @src, which has the bytes of the same file. */
void ts_source_take_times(struct ts_source *src, const struct ts_source *file);

/*
 * The @len bytes from @off of @src, all before its end.  Takes ownership of @src, also on failure.  @name is the name
 * of the new source; its time is that of @src.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_part_open(struct ts_source *src, uint64_t off, uint64_t len, const char *name,
			       struct ts_error *err);

#endif
