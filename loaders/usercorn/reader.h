/* SPDX-License-Identifier: MIT */
/*
 * Ops into steps.
 */
#ifndef LOADERS_USERCORN_READER_H
#define LOADERS_USERCORN_READER_H

#include "group.h"

/* A reader at position 0; see struct ts_recording_ops. */
struct ts_reader *ucir_reader_new(struct usercorn *rec, struct ts_error *err);

/* The same, for a walk over the start of a trace (start.h). */
struct ucir_reader *ucir_reader_open(struct usercorn *rec, struct ts_error *err);

/* An op at stream level.  Returns false if it may not be there, or as what it begins fails. */
bool ucir_stream_op(struct ucir_reader *r, const struct ucir_op *op, struct ts_steps *out,
		    struct ts_error *err);

#endif
