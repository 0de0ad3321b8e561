/* SPDX-License-Identifier: MIT */
/*
 * A thread that reads the piece of a source which comes next, while its owner uses the one before.
 *
 * Copying a trace out of the page cache, or unpacking it, is a tenth to a third of decoding it.  A window
 * (window.h) that is read front to back gives this part to another processor.
 */
#ifndef LOADERS_KIT_READ_AHEAD_H
#define LOADERS_KIT_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "src/trace/source.h"

/* Bytes of a piece; a test chooses less.  The room before it. */
#ifndef TS_READ_AHEAD_LEN
#define TS_READ_AHEAD_LEN (1u << 20)
#endif
#define TS_READ_AHEAD_ROOM (64u << 10)

struct ts_read_ahead;

/*
 * A thread for @src (borrowed) that has nothing to read yet; @pad bytes after a piece can be read too,
 * whatever they hold.
 *
 * Returns NULL if memory is exhausted or the system refuses a thread: the owner reads by itself.
 */
struct ts_read_ahead *ts_read_ahead_new(const struct ts_source *src, size_t pad);

/* Waits for the read that is under way. */
void ts_read_ahead_free(struct ts_read_ahead *ra);

/* Begin to read the @len bytes at @off, at most TS_READ_AHEAD_LEN.  A piece that was not taken is dropped. */
void ts_read_ahead_begin(struct ts_read_ahead *ra, uint64_t off, size_t len);

/*
 * Wait for the piece at @off, and take it: *len bytes, valid until the next one is taken.  The
 * TS_READ_AHEAD_ROOM bytes before them are the caller's to write.
 *
 * Returns NULL if another piece or none was begun, or if it could not be read as a whole: the owner, who
 * reads it by itself, finds out why.
 */
uint8_t *ts_read_ahead_take(struct ts_read_ahead *ra, uint64_t off, size_t *len);

#endif
