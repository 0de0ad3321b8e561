/* SPDX-License-Identifier: MIT */
/*
 * The index after the frames.
 */
#ifndef LOADERS_BAP_TOC_H
#define LOADERS_BAP_TOC_H

#include "trace.h"

/*
 * Look at the index at file offset rec->end.  It is sane if the examined entries ascend and each points at
 * the beginning of a frame; anything else gets a warning.
 *
 * Returns false if the trace cannot be read.
 */
bool bap_toc_open(struct bap *rec, struct ts_error *err);

/*
 * While the trace is read for the first time: frame number rec->toc.due begins at @off.  Is that what the
 * index says?  Returns false if the trace cannot be read.
 */
bool bap_toc_compare(struct bap *rec, uint64_t off, struct ts_error *err);

/*
 * The first frame after file offset @off that a sane index knows: its number, and where it begins.  Returns
 * false if there is none, with *err untouched, or if the trace cannot be read.
 */
bool bap_toc_after(const struct bap *rec, uint64_t off, uint64_t *frame, uint64_t *frame_off,
		   struct ts_error *err);

#endif
