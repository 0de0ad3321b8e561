/* SPDX-License-Identifier: MIT */
/* Sentences about an answer that several verbs have. */
#ifndef TS_ASK_NOTES_H
#define TS_ASK_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/ask/grammar/what.h"
#include "src/ask/verb.h"
#include "src/query/query.h"

/*
 * If no byte of @what, of @process, was mapped at any position, write a sentence about it to @note (@size bytes,
 * terminated), and return true.
 *
 * Returns false, with @note unchanged, if @what is a register, if a byte of it was mapped, if the recording lists no
 * regions of memory or holds a byte of it, or if the recording has not been read to its end.
 */
bool ts_note_unmapped(struct ts_query *q, const struct ts_what *what, uint32_t process, char *note, size_t size);

/*
 * If instructions of the recording's processor are not decoded, set the note to that fact and @consequence, and return true.
 *
 * Returns false, with the note unchanged, if they are decoded.
 */
bool ts_note_undecoded(struct ts_rows *rows, const char *consequence);

#endif
