/* SPDX-License-Identifier: MIT */
/*
 * A segment of a space: which lines its chunks changed, wrote and read.
 */
#ifndef TS_SPACE_SEGMENT_H
#define TS_SPACE_SEGMENT_H

#include <stdint.h>

#include "lines.h"
#include "versions.h"

/* The changes, the writes without a change, the reads. */
enum ts_space_part {
	TS_SPACE_CHANGES,
	TS_SPACE_SILENT,
	TS_SPACE_READS,
};
#define TS_SPACE_PARTS 3

struct ts_space_segment {
	struct ts_versions versions; /* of the lines that were changed */
	struct ts_lines silent;      /* of the lines of which a part was written, and not changed in the chunk */
	struct ts_lines reads;
};

/* Free the arrays of a segment; it is empty then. */
void ts_space_drop_segment(struct ts_space_segment *seg);

/* Lost bytes of a line in sealed segments whose values were found later. */
struct ts_completion {
	uint64_t addr;
	uint8_t data[TS_LINE_LEN];
	uint64_t mask; /* bit i: byte i */
};

#endif
