/* SPDX-License-Identifier: MIT */
/*
 * Steps of a trace of BAP's frames.
 */
#ifndef LOADERS_BAP_READER_H
#define LOADERS_BAP_READER_H

#include "trace.h"

/*
 * A reader at the first instruction.
 *
 * Returns NULL if there is no instruction (TS_EUNSUPPORTED), the trace is damaged before the first one, or
 * memory is exhausted.
 */
struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err);

/* Number of frames that this reader has read by a plan (frame_template.h), for tests. */
uint64_t bap_reader_n_followed(const struct ts_reader *base);

/* Fill the initial state with what comes before the first instruction.  Fails as bap_reader_new() does. */
bool bap_read_initial(struct bap *rec, struct ts_error *err);

#endif
