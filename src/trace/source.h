/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a file or of memory; the only code that opens or reads a trace.
 *
 * Bytes are copied out with pread, never mapped: a trace that shrinks or lies on a failing disk is an error
 * message here, not a SIGBUS.  A source is constant after it is open and may be read from several places;
 * nothing in it moves.
 */
#ifndef TS_SOURCE_H
#define TS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct ts_source;

/*
 * Open the regular file @path for reading.
 *
 * Returns the source, to be closed with ts_source_close().  Returns NULL if it cannot be opened (TS_EIO), is
 * no regular file (TS_EUSAGE), or memory is exhausted (TS_ENOMEM).
 */
struct ts_source *ts_source_open(const char *path, struct ts_error *err);

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
const char *ts_source_name(const struct ts_source *src);

/*
 * How far reading is, for people: the end of the highest byte that was read since ts_source_restart().  Any
 * thread may ask.
 */
uint64_t ts_source_reached(const struct ts_source *src);
void ts_source_restart(struct ts_source *src);

/*
 * Copy up to @len bytes from offset @off to @data; *got gets how many, less than @len only at the end of the
 * file.
 *
 * Returns true on success.  Returns false if the operating system refuses (TS_EIO).
 */
bool ts_source_read(const struct ts_source *src, uint64_t off, void *data, size_t len, size_t *got,
		    struct ts_error *err);

/*
 * Copy exactly @len bytes.
 *
 * Returns true on success.  Returns false as ts_source_read() does, or if the file ends before (TS_ETRUNC).
 */
bool ts_source_read_all(const struct ts_source *src, uint64_t off, void *data, size_t len,
			struct ts_error *err);

#endif
