/* SPDX-License-Identifier: MIT */
/*
 * What an address space that is being built tells its sketcher (sketch.h): traits of what effects left, and bytes that
 * were found out after others near them had been changed.
 */
#ifndef TS_SPACE_SKETCH_H
#define TS_SPACE_SKETCH_H

#include "space_builder.h"

/*
 * An effect has changed bytes of the page, the first and the last at @s and @e or between them; what it left is in the
 * page.
 */
void ts_space_note_change(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e);

/* The same of bytes [first, last], of touched pages. */
void ts_space_note_changes(struct ts_space_builder *sb, uint64_t first, uint64_t last);

/* Bytes [first, last], of touched pages, are lost now. */
void ts_space_note_lost(struct ts_space_builder *sb, uint64_t first, uint64_t last);

/* The bytes @bits of a word of the page's bits, which were unknown, @lost of them lost, have been seen and are in the page. */
void ts_space_note_seen(struct ts_space_builder *sb, struct ts_page *pg, unsigned word, uint64_t bits, uint64_t lost);

/* Bytes [first, last] start afresh. */
void ts_space_note_fill(struct ts_space_builder *sb, uint64_t first, uint64_t last);

/* The segment is over. */
void ts_space_end_sketch(struct ts_space_builder *sb);

#endif
