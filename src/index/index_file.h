/* SPDX-License-Identifier: MIT */
/*
 * An index file: signed records of sections, and the identity of the trace.
 *
 * This file reads and writes bytes without their meaning, which timeline_file.c knows.  A record
 * holds one segment of the recording.  While an index is built it is in PATH.part, locked; records are
 * appended, and a process that is killed leaves its complete records, after which the next process continues.
 * The finished file is renamed to PATH and never changed again, so that any number of servers can map it.
 * Layout: FORMAT.
 */
#ifndef TS_INDEX_FILE_H
#define TS_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index_arrays.h"
#include "index_key.h"
#include "src/base/buf.h"
#include "src/base/error.h"

struct ts_index_file;

/*
 * Open the finished index @path, which must have @key.  The signature of its summary, or of its heads, is checked, and
 * of a small file all signatures.
 *
 * Returns NULL with @why->code TS_OK if there is no file.  Returns NULL with the reason if the file cannot be
 * used: it is damaged, truncated, of another trace or version, made with other options or by another user, or
 * not an index; or it cannot be read now (TS_ENOMEM, TS_EIO), and may be valid.
 */
struct ts_index_file *ts_index_open(const char *path, const struct ts_index_key *key, struct ts_error *why);

/*
 * As ts_index_open(), for an index that may have been made from another file than the one in @key: the caller
 * must determine whether the bytes of both files are equal (index_verified.h).
 */
struct ts_index_file *ts_index_open_any(const char *path, const struct ts_index_key *key, struct ts_error *why);

/* The key in the file, with the file of the trace from which it was made. */
const struct ts_index_key *ts_index_file_key(const struct ts_index_file *f);

/* Is there an index @path, finished or not, whose key differs from @key only in its meaning? */
bool ts_index_has_other_meaning(const char *path, const struct ts_index_key *key);

/*
 * Begin the index @path, or continue an unfinished one with the same @key.
 *
 * Returns NULL if the system refuses (TS_EIO).
 * Returns NULL if another process is building it (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_index_file *ts_index_create(const char *path, const struct ts_index_key *key, struct ts_error *err);

/*
 * The same for a sibling of @f, a file with an optional section that @f lacks: with the same
 * key, at the path of @f with ".NAME" appended, or at the path of its refuge, if it cannot be beside
 * @f.  A new sibling is empty.
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
 * Before the file is written: set its refuge, to which it is moved if its disk becomes full; @path
 * (copied) is the path of the finished file.  A finished file has a refuge for its siblings.  Returns false if
 * memory is exhausted: the file then has no refuge.
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

bool ts_index_is_finished(const struct ts_index_file *f);
const char *ts_index_path(const struct ts_index_file *f);
uint64_t ts_index_len(const struct ts_index_file *f); /* bytes on disk */
size_t ts_index_n_records(const struct ts_index_file *f);

/* The number of steps of the recording up to the end of a record: n_steps of ts_index_commit(). */
uint64_t ts_index_n_steps(const struct ts_index_file *f, size_t record);

/*
 * Sync a file whose last record was committed, and give it its name.  This may take seconds; another thread
 * may use the contents of the file meanwhile.
 *
 * Returns false if that fails (TS_EIO): the file keeps its temporary name, and the next process that wants to
 * build it tries again; ts_index_use_fallback() says whether it can be published elsewhere.
 */
bool ts_index_publish(struct ts_index_file *f, struct ts_error *err);

/*
 * After ts_index_publish() has failed because of a full disk: move the index to the refuge.
 *
 * Returns true if it is there, and can be published.  Returns false if there is no refuge, it cannot be
 * written, or publishing failed for another reason; no file is left on a full disk.
 */
bool ts_index_use_fallback(struct ts_index_file *f);

/* Find a section of a record; a missing one is bad. */
struct ts_index_arrays ts_index_find(const struct ts_index_file *f, size_t record, uint32_t kind,
				     uint32_t owner);

/* Does a record have a section of this kind, with any owner? */
bool ts_index_has(const struct ts_index_file *f, size_t record, uint32_t kind);

#endif
