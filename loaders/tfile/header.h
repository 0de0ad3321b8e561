/* SPDX-License-Identifier: MIT */
/*
 * The text section of a trace file.
 */
#ifndef LOADERS_TFILE_HEADER_H
#define LOADERS_TFILE_HEADER_H

#include "trace.h"

/*
 * Read the text section.
 *
 * Returns false if it has no end (TS_ETRUNC), its register size cannot be understood (TS_ECORRUPT), it is
 * larger than any real one (TS_ELIMIT), or the file cannot be read.  Other lines that cannot be understood
 * are noted as warnings.
 */
bool tfile_read_header(struct tfile *t, struct ts_error *err);

#endif
