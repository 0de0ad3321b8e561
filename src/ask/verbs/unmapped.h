/* SPDX-License-Identifier: MIT */
/* Detection of memory that was never mapped. */
#ifndef TS_ASK_UNMAPPED_H
#define TS_ASK_UNMAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/grammar/what.h"
#include "src/query/query.h"

/*
 * If no byte of @what, of @process, was mapped at any position, write a sentence about it to @note (@size bytes,
 * terminated), and return true.
 *
 * Returns false, with @note unchanged, if @what is a register, if a byte of it was mapped, if the recording lists no
 * regions of memory or holds a byte of it, or if the recording has not been read to its end.
 */
bool ts_note_unmapped(struct ts_query *q, const struct ts_what *what, uint32_t process, char *note, size_t size);

#endif
