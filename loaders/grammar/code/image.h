/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a module that a line lists in hex.  They are read in pieces.
 */
#ifndef LOADERS_GRAMMAR_IMAGE_H
#define LOADERS_GRAMMAR_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/kit/window.h"
#include "src/base/error.h"
#include "src/trace/step.h"

/* Limit on the bytes of a module that are read. */
#define GRAMMAR_MAX_IMAGE (UINT64_C(64) << 20)

/*
 * The modules together may have 1/8 of --max-memory, because a byte of a module needs up to four bytes of
 * memory while the recording is opened.
 */
#define GRAMMAR_IMAGES_OF_MEMORY 8u

/*
 * Append the contents of a module of @len bytes at address @base.  Its digits begin at file offset @off.
 * Trailing zeros are omitted: the writer stops at a page that it cannot read and lists zeros from there on.
 * At most GRAMMAR_MAX_IMAGE bytes are read, and at most half of *left, so that bytes remain for other
 * modules; *left is reduced by the bytes that were read.  *is_cut is set to whether the module has more
 * bytes.
 *
 * Returns false if the source cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool grammar_image_append(struct ts_window *w, uint64_t off, uint64_t base, uint64_t len, uint64_t *left,
			struct ts_steps *out, bool *is_cut, struct ts_error *err);

#endif
