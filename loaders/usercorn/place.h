/* SPDX-License-Identifier: MIT */
/*
 * Puts the contents of a keyframe's regions in their places.
 *
 * The tool trims zero bytes from both ends of a region's contents and still writes them at the region's
 * start, so that the contents of a region that begins with a zero byte are too low in the trace: the stack
 * always, .data often.  The shift is not recorded.  It follows from facts about the region, from the
 * program's file, or from the execution; if it cannot be found, the contents stay where they were recorded,
 * with a warning.
 */
#ifndef LOADERS_USERCORN_PLACE_H
#define LOADERS_USERCORN_PLACE_H

#include <stdbool.h>

#include "trace.h"

/*
 * Move the contents in rec->base.initial.  @exec is the path of the program's file, NULL if it is not
 * available.  @like: the same recording, opened before, whose contents are in their places; NULL: none.
 *
 * Returns false if @exec or the trace cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM): continuing
 * would leave contents in wrong places for a temporary reason.  An @exec that is not an ELF file, or another
 * program than the recorded one, is a warning.
 */
bool ucir_place(struct usercorn *rec, const struct usercorn *like, const char *exec, struct ts_error *err);

/*
 * Read the command line and the auxiliary vector from the initial stack of a Linux process into rec->base, if
 * all of it is valid.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_read_stack(struct usercorn *rec, struct ts_error *err);

#endif
