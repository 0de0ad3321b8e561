/* SPDX-License-Identifier: MIT */
/*
 * What the first lines of a log show of its writer.
 */
#ifndef LOADERS_TENET_TRACER_H
#define LOADERS_TENET_TRACER_H

#include "log.h"

/*
 * Fill rec->writer from the first lines of the first part.
 *
 * Returns false if there are fewer than two positions (TS_EUNSUPPORTED), the file cannot be read (TS_EIO,
 * TS_ETRUNC), or memory is exhausted (TS_ENOMEM).
 */
bool tenet_writer_find(struct tenet *rec, struct ts_error *err);

#endif
