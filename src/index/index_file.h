/* SPDX-License-Identifier: MIT */
/*
 * An index file: signed records of sections, and the identity of the trace.
 *
 * This file reads and writes bytes; timeline_file.c interprets them.  A record has one segment of the
 * recording.  While an index is built, it is the file PATH.part, which is locked, and records are appended.
 * If the process is killed, its complete records remain, and the next process continues after them.  The
 * finished file is renamed to PATH and never changed again, so that any number of servers can map it.
 * Layout: FORMAT.
 */
#ifndef TS_INDEX_FILE_H
#define TS_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_arrays.h"
#include "src/index/keys/index_key.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

struct ts_index_file;

/*
 * Open the finished index @path, which must have @key.  The signature of its summary, or of its heads, is
 * checked; in a small file all signatures are.
 *
 * Returns the file, which the caller closes with ts_index_close().
 * Returns NULL with why->code TS_OK if the file does not exist.
 * Returns NULL if the path is not a regular file (TS_EUSAGE).
 * Returns NULL if the file is damaged, truncated, of another trace, or not an index (TS_ECORRUPT, TS_ETRUNC).
 * Returns NULL if it was made by another version or user, or with other options (TS_EUNSUPPORTED).
 * Returns NULL if it cannot be read (TS_EIO), or if memory is exhausted (TS_ENOMEM); it may be valid.
 */
struct ts_index_file *ts_index_open(const char *path, const struct ts_index_key *key, struct ts_error *why);

/*
 * As ts_index_open(), for an index that may have been made from another file than the one in @key: the caller
 * must determine whether the bytes of both files are equal (index_verified.h).  Returns as ts_index_open() does.
 */
struct ts_index_file *ts_index_open_any(const char *path, const struct ts_index_key *key, struct ts_error *why);

/*
 * Returns the key in the file, borrowed until it is closed.  It identifies the trace from which the index was
 * made.
 */
const struct ts_index_key *ts_index_file_key(const struct ts_index_file *f);

/* Is there an index @path, finished or not, whose key differs from @key only in its meaning? */
bool ts_index_has_other_meaning(const char *path, const struct ts_index_key *key);

/*
 * Begin the index @path, or continue an unfinished one with the same @key.
 *
 * Returns the file, which the caller closes with ts_index_close().
 * Returns NULL if the system refuses (TS_EIO).
 * Returns NULL if another process is building it (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_index_file *ts_index_create(const char *path, const struct ts_index_key *key, struct ts_error *err);

/*
 * As ts_index_open() and ts_index_create(), for a sibling of @f: a file with an optional section that @f
 * lacks.  It has the same key.  Its path is that of @f, or of the fallback of @f if it cannot be created
 * there, with ".NAME" appended.  A new sibling is empty.
 *
 * Return the file, which the caller closes with ts_index_close().
 * ts_index_open_sibling() returns NULL as ts_index_open() does, with the reason of the last path that was tried.
 * ts_index_create_sibling() returns NULL if the system refuses both paths (TS_EIO), another process builds the file
 * (TS_ELIMIT), or memory is exhausted (TS_ENOMEM).
 */
struct ts_index_file *ts_index_open_sibling(const struct ts_index_file *f, const char *name,
					    struct ts_error *why);
struct ts_index_file *ts_index_create_sibling(const struct ts_index_file *f, const char *name,
					      struct ts_error *err);

/*
 * Close the file; arrays from ts_index_take() become invalid.  An unfinished file stays on disk, up to its
 * last record.
 */
void ts_index_close(struct ts_index_file *f);

/*
 * Set the fallback of a file before it is written: the path @path (copied) of the finished file if its disk
 * becomes full.  A finished file has a fallback for its siblings.
 *
 * Returns false if memory is exhausted; the file then has no fallback.
 */
bool ts_index_set_fallback(struct ts_index_file *f, const char *path);

/* Remove the file, whose contents are wrong, from disk. */
void ts_index_remove(const struct ts_index_file *f);

/*
 * Was the file found to be damaged, or to contradict itself, when it was used?  The first call that returns true
 * removes it from disk.
 */
bool ts_index_is_damaged(struct ts_index_file *f);

/*
 * Release unpacked pieces that were not used for long.  No pointer to bytes of arrays that were taken unread may be in
 * use.  ts_index_commit() does this, too.
 */
void ts_index_give_back(struct ts_index_file *f);

/* Release the pages of a loaded record; they are read again when they are used. */
void ts_index_let_go(const struct ts_index_file *f, size_t record);

/* Has the file been published, or opened as a finished one? */
bool ts_index_is_finished(const struct ts_index_file *f);

/* Returns the path of the finished file, borrowed until it is closed. */
const char *ts_index_path(const struct ts_index_file *f);

/* Returns the bytes of the file on disk, and the number of its records. */
uint64_t ts_index_len(const struct ts_index_file *f);
size_t ts_index_n_records(const struct ts_index_file *f);

/* The number of steps of the recording up to the end of a record: n_steps of ts_index_commit(). */
uint64_t ts_index_n_steps(const struct ts_index_file *f, size_t record);

/*
 * Sync a file whose last record was committed, and rename it to its path.  This may take seconds; another
 * thread may use the contents of the file meanwhile.
 *
 * Returns false if that fails (TS_EIO).  The file keeps its temporary name, so that the next process that
 * builds the index tries again.  The caller may publish it elsewhere with ts_index_use_fallback().
 */
bool ts_index_publish(struct ts_index_file *f, struct ts_error *err);

/*
 * Move the index to its fallback, after ts_index_publish() has failed because of a full disk.
 *
 * Returns true if it has been moved, and can be published.
 * Returns false if the file has no fallback path, or if that cannot be written.
 * Returns false if publishing failed for another reason.
 * No file remains on the full disk.
 */
bool ts_index_use_fallback(struct ts_index_file *f);

/* Returns the arrays of a section of a record; is_bad is set if the section is missing. */
struct ts_index_arrays ts_index_find(const struct ts_index_file *f, size_t record, uint32_t kind,
				     uint32_t owner);

/* Does a record have a section of this kind, with any owner? */
bool ts_index_has(const struct ts_index_file *f, size_t record, uint32_t kind);

#endif
