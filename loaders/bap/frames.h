/* SPDX-License-Identifier: MIT */
/*
 * The messages of frames, each into the open step.
 */
#ifndef LOADERS_BAP_FRAMES_H
#define LOADERS_BAP_FRAMES_H

#include "state.h"

/*
 * Read the std frame that was opened into the open step; *t and *pc get whose it is and where, *insn_len the
 * instruction's bytes (0: unknown).  False if it is damaged: the error that it was opened with says how.
 */
bool bap_read_std(struct bap_reader *r, struct bap_thread **t, uint64_t *pc, uint16_t *insn_len);

/* The same of a frame of another kind. */
bool bap_read_other(struct bap_reader *r);

#endif
