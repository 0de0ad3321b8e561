/* SPDX-License-Identifier: MIT */
/*
 * Frames other than instructions: system calls, exceptions, modules, input, and values to resynchronize.
 */
#ifndef LOADERS_BAP_OTHER_FRAMES_H
#define LOADERS_BAP_OTHER_FRAMES_H

#include "decoder.h"
#include "stream.h"

/*
 * Read the opened frame, not a std frame, into the open step.
 *
 * Returns false if it is damaged: the error that it was opened with has the reason.
 */
bool bap_read_other(struct bap_course *co, const struct bap_stream *s);

#endif
