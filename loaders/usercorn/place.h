/* SPDX-License-Identifier: MIT */
/*
 * Putting a keyframe's contents back in their places.
 *
 * The tool cuts zero bytes off both ends of a region's contents and still writes them at the region's start,
 * so that a region which begins with a zero byte lies too low in the trace: the stack always, .data often.
 * By how much is not recorded.  What is known of the regions, the program's file and the execution tell it;
 * where nothing does, the contents stay where they were recorded and a warning says so.
 */
#ifndef LOADERS_USERCORN_PLACE_H
#define LOADERS_USERCORN_PLACE_H

#include <stdbool.h>

#include "usercorn.h"

/*
 * Move the contents in rec->base.initial.  @exec is the path of the program's file, NULL if there is none at
 * hand.
 *
 * Returns false if @exec cannot be opened or is no ELF file (TS_EIO, TS_EUSAGE, TS_EUNSUPPORTED, ...), or if
 * memory is exhausted (TS_ENOMEM).
 */
bool ucir_place(struct usercorn *rec, const char *exec, struct ts_error *err);

/*
 * What the initial stack of a Linux process says: command line and auxiliary vector, into rec->base, if all
 * of it is sane.
 */
void ucir_read_stack(struct usercorn *rec);

#endif
