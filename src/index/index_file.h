/* SPDX-License-Identifier: MIT */
/*
 * An index file: records of sections, each signed, and the trace that they belong to.
 *
 * This file moves bytes to disk and back and does not know their meaning (timeline_file.c does).  A record
 * holds one segment of the recording.  While an index is built it is in PATH.part, locked; records are
 * appended, and a process that is killed leaves those that it finished, from which the next one continues.
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
 * Open the finished index @path, which must be that of @key.  The signature of its summary is checked, or those of
 * its heads, and, if it is not large, of all of it.
 *
 * Returns NULL with @why->code TS_OK if there is none; NULL with the reason if there is one that cannot be
 * used: it is damaged, truncated, of another trace or version, made with other options or by another user, or
 * not an index; or it cannot be read now (TS_ENOMEM, TS_EIO), and may be valid.
 */
struct ts_index_file *ts_index_open(const char *path, const struct ts_index_key *key, struct ts_error *why);

/*
 * The same for an index that may have been made from another file of the trace than the one that @key has: the caller
 * must find out whether the bytes are the same (index_verified.h).
 */
struct ts_index_file *ts_index_open_any(const char *path, const struct ts_index_key *key, struct ts_error *why);

/* Its key, with the file of the trace that it was made from. */
const struct ts_index_key *ts_index_file_key(const struct ts_index_file *f);

/* Is there an index @path, finished or not, that differs from that of @key only in its meaning? */
bool ts_index_has_other_meaning(const char *path, const struct ts_index_key *key);

/*
 * Begin the index that will be @path, or continue the rest of one of the same @key that was not finished.
 *
 * Returns NULL if the system refuses (TS_EIO), another process is building it (TS_ELIMIT), or memory is
 * exhausted.
 */
struct ts_index_file *ts_index_create(const char *path, const struct ts_index_key *key, struct ts_error *err);

/*
 * The same for a file that belongs to @f and holds an optional section that is missing there: of the same
 * key, at the path of @f with ".NAME" appended, or at that of its refuge, where it goes if it cannot be beside
 * @f.  A new one starts empty.
 */
struct ts_index_file *ts_index_open_sibling(const struct ts_index_file *f, const char *name,
					    struct ts_error *why);
struct ts_index_file *ts_index_create_sibling(const struct ts_index_file *f, const char *name,
					      struct ts_error *err);

/*
 * Close it; arrays from ts_index_take() are no longer valid.  An unfinished file stays on disk, up to its
 * last record.
 */
void ts_index_close(struct ts_index_file *f);

/*
 * Before the file is written: where it goes on, with all that it holds, if its disk becomes full; @path
 * (copied) is the path of the finished file.  A finished file has a refuge for its siblings.  Returns false if
 * memory is exhausted: the file then has no refuge.
 */
bool ts_index_set_fallback(struct ts_index_file *f, const char *path);

/* Remove it from disk: its contents are wrong. */
void ts_index_remove(const struct ts_index_file *f);

/*
 * Did something in it turn out to be wrong when it was used: not as it was written, or contradicting itself?
 * The first call that returns true removes it from disk.
 */
bool ts_index_is_damaged(struct ts_index_file *f);

/*
 * What was unpacked and not used for long may be given back: nobody holds a pointer to bytes of arrays that
 * were taken unread.  ts_index_commit() does this, too.
 */
void ts_index_give_back(struct ts_index_file *f);

/* Of a record that was loaded nothing needs to stay in memory; what is used is read again. */
void ts_index_let_go(const struct ts_index_file *f, size_t record);

bool ts_index_is_finished(const struct ts_index_file *f);
const char *ts_index_path(const struct ts_index_file *f);
uint64_t ts_index_len(const struct ts_index_file *f); /* bytes on disk */
size_t ts_index_n_records(const struct ts_index_file *f);

/* The steps of the recording up to the end of a record, as ts_index_commit() was told. */
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
 * After ts_index_publish() has failed: the same index in the refuge, if the reason was a full disk.
 *
 * Returns true if it is there, and can be published.  Returns false if there is no refuge, it cannot be
 * written, or the disk was not the reason; nothing is left on a full disk.
 */
bool ts_index_use_fallback(struct ts_index_file *f);

/* Find a section of a record; a missing one is bad. */
struct ts_index_arrays ts_index_find(const struct ts_index_file *f, size_t record, uint32_t kind,
				     uint32_t owner);

/* Does a record have a section of this kind, with any owner? */
bool ts_index_has(const struct ts_index_file *f, size_t record, uint32_t kind);

#endif
