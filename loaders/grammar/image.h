/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a module that a line shows in hex: as many as the file has, never in one piece.
 */
#ifndef LOADERS_GRAMMAR_IMAGE_H
#define LOADERS_GRAMMAR_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/kit/window.h"
#include "src/base/error.h"
#include "src/trace/step.h"

/* More bytes of a module are not read. */
#define GRAMMAR_MAX_IMAGE (UINT64_C(64) << 20)

/* A byte of a module takes up to four while the recording is opened: so little of --max-memory is for all of them. */
#define GRAMMAR_IMAGES_OF_MEMORY 8u

/*
 * Append the bytes whose digits begin at file offset @off as memory from address @base on, of which @len bytes
 * belong to the module.  Zeros at the end are left out: the writer stops at a page that it cannot read, and shows
 * zeros from there on.  At most GRAMMAR_MAX_IMAGE bytes are read, and at most half of *left, which gets what is
 * left then: a module leaves something for those after it.  *is_cut gets whether there are more.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC) or memory is exhausted (TS_ENOMEM).
 */
bool grammar_image_tell(struct ts_window *w, uint64_t off, uint64_t base, uint64_t len, uint64_t *left,
			struct ts_steps *out, bool *is_cut, struct ts_error *err);

#endif
