/* SPDX-License-Identifier: MIT */
/*
 * Lines into steps.
 */
#ifndef LOADERS_TENET_READER_H
#define LOADERS_TENET_READER_H

#include "log.h"

/* A reader of @rec at position 0.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_reader *tenet_reader_new(struct tenet *rec, struct ts_error *err);

/*
 * Read what comes before position 0 of part @i, and that position's line: its place becomes the part's start,
 * what it says is appended to @initial.
 *
 * Returns false if no line has a program counter (TS_EUNSUPPORTED), or the file cannot be read.
 */
bool tenet_read_start(struct tenet *rec, uint32_t i, struct ts_steps *initial, struct ts_error *err);

#endif
