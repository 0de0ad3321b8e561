/* SPDX-License-Identifier: MIT */
/*
 * The plugin's end of the ring: ops into frames.
 *
 * What belongs to a step is written with ts_out_room() and ts_out_publish(), and becomes visible at once.
 * Longer pieces (keyframes, system calls) are put together in a struct ts_op_piece first.  The caller has the
 * turn.
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

/* Is there somebody to write for? */
bool ts_out_is_on(void);

/* Stop: for good, and for both sides; a process that was forked only leaves. */
void ts_out_stop(void);
void ts_out_leave(void);

/*
 * Room for @len bytes of ops (less than 60,000) of thread @pid in its open frame; another thread's is closed.
 */
uint8_t *ts_out_room(uint64_t pid, size_t len);

/* What was written there ends at @end and is @n_ops ops: it can be read from now on. */
void ts_out_publish(const uint8_t *end, uint32_t n_ops);

/* The ops of @p as a frame of @kind (FRAME, KEYFRAME), or in the open one if they fit. */
void ts_out_piece(uint64_t pid, uint8_t kind, const struct ts_op_piece *p);

void ts_out_note(uint8_t key, const void *bytes, uint32_t len);

/* The file at @path is mapped as code. */
void ts_out_code_file(const char *path);

/* The shared memory, for its counters. */
struct ts_ring;
struct ts_ring *ts_out_ring(void);

#endif
