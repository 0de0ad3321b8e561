/* SPDX-License-Identifier: MIT */
/*
 * Compression in a thread of its own.  Bytes of the stream are put into a queue; the thread writes them to the file.
 */
#ifndef TS_RECORD_PRESS_H
#define TS_RECORD_PRESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/usercorn/write.h"

#define TS_PRESS_LEN 262144u
#define TS_PRESS_N 8u

struct ts_press {
	struct ucir_writer *writer;  /* borrowed; the thread's while it runs */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned n_filled, n_taken;  /* buffers, since the start */
	bool is_ending;              /* no more bytes will be added */
	_Atomic bool has_failed;     /* err says why */
	_Atomic uint64_t n_file;     /* bytes of the file */
	struct ts_error err;         /* valid when the thread has ended */
	size_t len;                  /* bytes in the buffer that is being filled */
	size_t lens[TS_PRESS_N];
	uint8_t buffers[TS_PRESS_N][TS_PRESS_LEN];
};

/* Start the thread.  Returns false if the system refuses a thread.  @p, a large struct, is owned by the caller. */
bool ts_press_begin(struct ts_press *p, struct ucir_writer *writer);

/* Add bytes; waits while the queue is full.  Returns false if the file could not be written. */
bool ts_press_add(struct ts_press *p, const uint8_t *bytes, size_t len);

/*
 * Has the file at least @limit bytes?  If the bytes in the queue could decide this, the function waits until they are
 * written, so that the answer does not depend on the speed of the thread.
 */
bool ts_press_is_beyond(struct ts_press *p, uint64_t limit);

/*
 * Write what is in the queue and end the thread.
 *
 * Returns false if the file could not be written (TS_EIO), now or earlier.
 */
bool ts_press_end(struct ts_press *p, struct ts_error *err);

#endif
