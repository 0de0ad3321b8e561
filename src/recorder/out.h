/* SPDX-License-Identifier: MIT */
/*
 * The plugin's end of the ring: it writes ops into frames.
 *
 * The ops of a step are written with ts_out_room() and ts_out_publish(); the reader sees them at once.  Longer
 * pieces (keyframes, system calls) are assembled in a struct ts_op_piece first.  Only the thread that has the turn
 * (turn.c) calls these functions.
 */
#ifndef TS_RECORDER_OUT_H
#define TS_RECORDER_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/record/op_piece.h"

/*
 * Use the shared memory at descriptor @fd, @size bytes, which process @reader reads.  Returns false if it
 * cannot be mapped.
 */
bool ts_out_open(int fd, size_t size, int reader);

/* Is the recording on? */
bool ts_out_is_on(void);

/* End the recording, for the plugin and for the reader. */
void ts_out_stop(void);

/* End the recording in this process, which was forked; its parent continues to record. */
void ts_out_leave(void);

/*
 * Returns room for @len bytes of ops (less than 60,000) in the open frame of thread @pid, valid until the next call.  A frame of
 * another thread is closed.
 */
uint8_t *ts_out_room(uint64_t pid, size_t len);

/* Let the reader see the @n_ops ops that were written into that room and end at @end. */
void ts_out_publish(const uint8_t *end, uint32_t n_ops);

/* Write the ops of @p into the open frame if they fit, else into a new frame of @kind (FRAME, KEYFRAME). */
void ts_out_piece(uint64_t pid, uint8_t kind, const struct ts_op_piece *p);

/* Write a NOTE of UCIR 2 with @key. */
void ts_out_note(uint8_t key, const void *bytes, uint32_t len);

/* Report to the reader that the file at @path is mapped as code. */
void ts_out_code_file(const char *path);

struct ts_ring;

/* Returns the memory that is shared with the process that writes the file, for its counters; borrowed. */
struct ts_ring *ts_out_ring(void);

#endif
