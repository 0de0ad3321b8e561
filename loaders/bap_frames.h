/* SPDX-License-Identifier: MIT */
/*
 * The messages of frames, each into the open step.
 */
#ifndef LOADERS_BAP_FRAMES_H
#define LOADERS_BAP_FRAMES_H

#include "bap_state.h"

/*
 * Read a std frame's message into the open step; *t and *pc get whose it is and where, *insn_len the
 * instruction's bytes (0: unknown).  False if it is damaged: @c's error says how.
 */
bool bap_read_std(struct bap_reader *r, struct ts_cursor *c, struct bap_thread **t, uint64_t *pc,
		  uint16_t *insn_len);

/*
 * Read a frame of another @kind (FRAME_SYSCALL, ...; 0: none that is known) into the open step.  False if it
 * is damaged.
 */
bool bap_read_other(struct bap_reader *r, unsigned kind, struct ts_cursor *body);

#endif
