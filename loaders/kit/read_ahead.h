/* SPDX-License-Identifier: MIT */
/*
 * A thread that reads the next pieces of a source while its owner uses the current one.
 *
 * Copying a trace out of the page cache, or unpacking it, is a tenth to a third of decoding it.  A window
 * (window.h) that is read front to back gives this part to another processor.
 */
#ifndef LOADERS_KIT_READ_AHEAD_H
#define LOADERS_KIT_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

#include "src/source/source.h"

/* Bytes of a piece; a test chooses less.  The room before it. */
#ifndef TS_READ_AHEAD_LEN
#define TS_READ_AHEAD_LEN (512u << 10)
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

/*
 * Read the bytes from @off up to @end in pieces: one piece in advance at first, later several.  Nothing changes if the
 * thread does so already and the next piece begins at @off.  Otherwise unused pieces are dropped.
 */
void ts_read_ahead_begin(struct ts_read_ahead *ra, uint64_t off, uint64_t end);

/*
 * Wait for the piece at @off, and take it: *len bytes, TS_READ_AHEAD_LEN or all up to the end.  It is valid
 * until the piece after the next is taken: the end of one can be copied before the next, into the
 * TS_READ_AHEAD_ROOM bytes there, which are the caller's to write.
 *
 * Returns NULL if the next piece does not begin at @off, if the piece has less than @least bytes and is not the last one, or
 * if it could not be read as a whole.  The owner then reads it directly and gets the error.
 */
uint8_t *ts_read_ahead_take(struct ts_read_ahead *ra, uint64_t off, uint64_t least, size_t *len);

#endif
