/* SPDX-License-Identifier: MIT */
/*
 * Events into steps.
 */
#ifndef LOADERS_RVNBINTRACE_READER_H
#define LOADERS_RVNBINTRACE_READER_H

#include "trace.h"

/* A reader at the first event.  Returns NULL if memory is exhausted. */
struct ts_reader *rvn_reader_new(struct rvn *rec, struct ts_error *err);

#endif
