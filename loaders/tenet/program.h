/* SPDX-License-Identifier: MIT */
/*
 * The program's code, which no log has: from the file that the user names.
 */
#ifndef LOADERS_TENET_PROGRAM_H
#define LOADERS_TENET_PROGRAM_H

#include <stdbool.h>

#include "loaders/loader.h"
#include "src/trace/image.h"

/*
 * The segments of the ELF file opt->exec that a program cannot write are memory at position 0, added to @memory: where
 * they are linked, or moved to opt->exec_base.  A position-independent file without a base, and a file that is no ELF
 * file, add nothing.
 *
 * Returns false if the file cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM).
 */
bool tenet_add_program(struct ts_image *memory, const struct ts_loader_options *opt, struct ts_error *err);

#endif
