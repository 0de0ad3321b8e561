/* SPDX-License-Identifier: MIT */
/*
 * Writing a UCIR file, version 2: its header, and the stream of ops (op_write.h) in snappy framing.
 *
 * Pieces of the stream are added as they come; each 64 KiB become a chunk.
 */
#ifndef LOADERS_USERCORN_WRITE_H
#define LOADERS_USERCORN_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/snappy.h"
#include "src/base/error.h"

struct ucir_writer {
	int fd;          /* borrowed */
	uint64_t n_file; /* bytes written */
	size_t n;        /* bytes waiting in plain */
	uint8_t plain[SNAPPY_MAX_DECODED];
};

/*
 * Begin a file at descriptor @fd: its header, for architecture @arch (at most 31 characters) in that byte
 * order.
 *
 * Returns false with @err if it cannot be written (TS_EIO).
 */
bool ucir_writer_begin(struct ucir_writer *w, int fd, const char *arch, bool is_big_endian,
		       struct ts_error *err);

/* Add @len bytes of the stream.  Returns false as ucir_writer_begin(). */
bool ucir_writer_add(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err);

/* Write what waits.  Returns false as ucir_writer_begin(). */
bool ucir_writer_flush(struct ucir_writer *w, struct ts_error *err);

/* Append bytes of another stream that were written and flushed, when nothing waits.  Returns false as ucir_writer_begin(). */
bool ucir_writer_copy(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err);

#endif
