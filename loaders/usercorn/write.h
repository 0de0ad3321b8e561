/* SPDX-License-Identifier: MIT */
/*
 * Writes a UCIR file of version 2: its header, and the stream of ops (op_write.h) in snappy framing.
 *
 * The stream is added in pieces of any length.  Each 64 KiB of it become a chunk.
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
	size_t n;        /* bytes in plain that have not been written */
	uint8_t plain[SNAPPY_MAX_DECODED];
};

/*
 * Write the header of a file to descriptor @fd, which is borrowed as long as @w is used.  @arch is the name
 * of the architecture, at most 31 characters.
 *
 * Returns false if the file cannot be written (TS_EIO).
 */
bool ucir_writer_begin(struct ucir_writer *w, int fd, const char *arch, bool is_big_endian,
		       struct ts_error *err);

/* Add @len bytes to the stream.  Returns false if the file cannot be written (TS_EIO). */
bool ucir_writer_add(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err);

/* Write the pending bytes.  Returns false if the file cannot be written (TS_EIO). */
bool ucir_writer_flush(struct ucir_writer *w, struct ts_error *err);

/*
 * Append @len bytes of another file that another writer has written and flushed.  No bytes may be pending.
 *
 * Returns false if the file cannot be written (TS_EIO).
 */
bool ucir_writer_copy(struct ucir_writer *w, const uint8_t *bytes, size_t len, struct ts_error *err);

#endif
