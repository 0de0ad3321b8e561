/* SPDX-License-Identifier: MIT */
/*
 * Frames that are not of instructions: system calls, exceptions, modules, input, and values to resynchronize.
 */
#ifndef LOADERS_BAP_OTHERS_H
#define LOADERS_BAP_OTHERS_H

#include "course.h"
#include "stream.h"

/*
 * Read the frame that was opened, not a std frame, into the open step.
 *
 * Returns false if it is damaged: the error that it was opened with says how.
 */
bool bap_read_other(struct bap_course *co, const struct bap_stream *s);

#endif
