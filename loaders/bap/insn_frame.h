/* SPDX-License-Identifier: MIT */
/*
 * A std frame, of an instruction: values before it, values after it, and effects that the recorder omits.
 */
#ifndef LOADERS_BAP_INSN_FRAME_H
#define LOADERS_BAP_INSN_FRAME_H

#include "decoder.h"
#include "stream.h"

/*
 * Read the opened std frame into the open step; *t and *pc get its thread and address, *insn_len the
 * instruction's length in bytes (0: unknown).
 *
 * Returns false if it is damaged: the error that it was opened with has the reason.
 */
bool bap_read_std(struct bap_course *co, struct bap_stream *s, struct bap_thread **t, uint64_t *pc,
		  uint16_t *insn_len);

#endif
