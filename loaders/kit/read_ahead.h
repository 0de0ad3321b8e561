/* SPDX-License-Identifier: MIT */
/*
 * A thread that reads the next pieces of a source while its owner uses the current one.
 *
 * Copying a trace from the page cache, or unpacking it, takes a tenth to a third of the time of decoding it.
 * A window (window.h) that is read sequentially moves this work to another processor.
 */
#ifndef LOADERS_KIT_READ_AHEAD_H
#define LOADERS_KIT_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "src/source/source.h"

/* The bytes of a piece, which tests reduce; and the bytes before a piece that the caller may write. */
#ifndef TS_READ_AHEAD_LEN
#define TS_READ_AHEAD_LEN (512u << 10)
#endif
#define TS_READ_AHEAD_ROOM (64u << 10)

struct ts_read_ahead;

/*
 * A thread for @src, which is borrowed until ts_read_ahead_free().  It reads nothing yet.  @pad bytes after a
 * piece will be readable, with any contents.
 *
 * Returns the object, which the caller frees with ts_read_ahead_free().
 * Returns NULL if memory is exhausted or the system refuses a thread; the owner then reads by itself.
 */
struct ts_read_ahead *ts_read_ahead_new(const struct ts_source *src, size_t pad);

/* Wait for the read in progress, and free the object. */
void ts_read_ahead_free(struct ts_read_ahead *ra);

/*
 * Read the bytes from @off up to @end in pieces: one piece in advance at first, later several.  Nothing changes if the
 * thread does so already and the next piece begins at @off.  Otherwise unused pieces are dropped.
 */
void ts_read_ahead_begin(struct ts_read_ahead *ra, uint64_t off, uint64_t end);

/*
 * Wait for the piece at @off.  *len is set to its length: TS_READ_AHEAD_LEN, or all bytes up to the end.  The
 * caller may write the TS_READ_AHEAD_ROOM bytes before the piece, for example to copy the end of the previous
 * piece there.
 *
 * Returns the piece, valid until the second next piece is returned.
 * Returns NULL if the next piece does not begin at @off.
 * Returns NULL if the piece has fewer than @least bytes and is not the last one.
 * Returns NULL if the piece could not be read as a whole.  The owner then reads directly, and receives the
 * error.
 */
uint8_t *ts_read_ahead_take(struct ts_read_ahead *ra, uint64_t off, uint64_t least, size_t *len);

#endif
