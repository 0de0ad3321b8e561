/* SPDX-License-Identifier: MIT */
/*
 * The segments that touch each line, for many segments together.
 *
 * Without groups, a search for a distant event would look into each segment on its way.  A group covers
 * TS_GROUP_SEGMENTS consecutive segments.  For each quarter of each line it has a bit for each segment that touches
 * it.  A group is made when its last segment is saved, and is stored in that segment's record.  Groups only repeat what
 * segments hold: where no group is stored, as for the last segments of a recording, a search looks into all of them.
 */
#ifndef TS_GROUPS_H
#define TS_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"
#include "src/timeline/runs/postings.h"

/* Segments of a group; at most 64.  Tests have fewer. */
#ifndef TS_GROUP_SEGMENTS
#define TS_GROUP_SEGMENTS 64u
#endif

/* The bits of all segments of a group. */
#define TS_GROUP_ALL (UINT64_MAX >> (64 - TS_GROUP_SEGMENTS))

/* The quarters of a line.  Bit i: segment i of the group touches it. */
struct ts_group_line {
	uint64_t segments[4];
};

/* All zero: nothing is known; each segment has to be searched. */
struct ts_group {
	struct ts_lines lines;       /* only its pages, and how many lines they have */
	struct ts_group_line *items; /* owned, if lines.file is NULL; one a line */
};

/*
 * Make the group of the @n sets, one of each segment.  A group of more than 2^21 lines is left empty.
 *
 * Returns false if memory is exhausted; @g is then empty.
 */
bool ts_group_make(struct ts_group *g, const struct ts_lines *const *sets, unsigned n);
void ts_group_fini(struct ts_group *g);

/* The segments that may touch [addr, last].  For long ranges these are all segments. */
uint64_t ts_group_segments(const struct ts_group *g, uint64_t addr, uint64_t last);

/*
 * To an index file; from there, with its arrays.  Loading returns false if their lengths contradict each
 * other.  Their contents are verified and bounded when it is read.
 */
void ts_group_save(const struct ts_group *g, struct ts_index_file *f);
bool ts_group_load(struct ts_group *g, struct ts_index_arrays *a);

/* The same for runs, by ordinal; later runs than those of the group are left out.  All zero: nothing is known. */
struct ts_run_group {
	uint64_t *segments;           /* owned, if file is NULL */
	size_t n;
	struct ts_index_blocks *file; /* borrowed; the array is mapped from it */
};

/*
 * Make the group of the @n segments whose postings are in @sets; the recording has @n_runs runs so far.
 *
 * Returns false if memory is exhausted.
 */
bool ts_run_group_make(struct ts_run_group *g, const struct ts_postings *const *sets, unsigned n,
		       size_t n_runs);
void ts_run_group_fini(struct ts_run_group *g);

/* The segments in which the run may have begun. */
uint64_t ts_run_group_segments(const struct ts_run_group *g, uint32_t run);

/*
 * To an index file; from there, with its arrays.  Loading returns false if the file lacks the array.  Its numbers are
 * verified when they are read.
 */
void ts_run_group_save(const struct ts_run_group *g, struct ts_index_file *f);
bool ts_run_group_load(struct ts_run_group *g, struct ts_index_arrays *a);

/* The bits of a group's segments that a search wants.  Bits beyond the last segment are ignored. */
typedef uint64_t ts_group_bits(const void *user, size_t group);

/*
 * The first segment >= @segment, of @n, whose bit is set; the last one below @end.
 *
 * Returns @n, or SIZE_MAX, if no such bit is set.
 */
size_t ts_groups_next(ts_group_bits *bits_of, const void *user, size_t segment, size_t n);
size_t ts_groups_prev(ts_group_bits *bits_of, const void *user, size_t end);

#endif
