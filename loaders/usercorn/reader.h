/* SPDX-License-Identifier: MIT */
/*
 * What the start of a trace (start.c) needs of the reader.
 */
#ifndef LOADERS_USERCORN_READER_H
#define LOADERS_USERCORN_READER_H

#include "group.h"

/* A reader at position 0; see ucir_reader_new(). */
struct ucir_reader *ucir_reader_open(struct usercorn *rec, struct ts_error *err);

/* An op at stream level.  Returns false if it may not be there, or as what it begins fails. */
bool ucir_stream_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err);

/* Is the stream over, and at a frame's end? */
bool ucir_is_at_end(const struct ucir_reader *r);

#endif
