/* SPDX-License-Identifier: MIT */
/*
 * The sections of an index file's records, as a table: how each is saved and loaded.
 *
 * Every record of a segment has each section once for each of its owners.  Sections that are not in the table are
 * skipped.  A file that lacks a section is unusable, unless the section is optional.  The absence of an optional section
 * is reported (ts_timeline_has()), and the section can be built alone (backfill.h).  src/index/README says how to add a
 * section.
 */
#ifndef TS_SECTION_H
#define TS_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "src/index/index_file.h"
#include "src/trace/step.h"

struct ts_timeline;

#define TS_SECTION_KIND(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

#define TS_MAX_SECTIONS 32

/* The segment and the owner whose arrays are saved or loaded. */
struct ts_section_at {
	struct ts_timeline *tl;
	uint64_t segment;
	uint32_t owner;
	bool is_in_memory; /* load() follows save(): the arrays in memory are replaced by those in the file */
};

struct ts_section {
	uint32_t kind; /* TS_SECTION_KIND() */
	/* of an optional section: in messages and in the name of its own file; else NULL */
	const char *name;
	/*
	 * of an optional section: it is never built with the rest, but over a complete timeline, which it may
	 * use
	 */
	bool is_on_demand;

	/* The number of its owners, 0 if this recording has none.  NULL: one, as each optional section has. */
	uint32_t (*n_owners)(const struct ts_timeline *tl);

	/*
	 * Save the arrays of the segment, which was sealed last, in @f, and the state from which building continues
	 * after it.
	 */
	void (*save)(const struct ts_section_at *at, struct ts_index_file *f);

	/*
	 * Load them, in the order of segments.  Returns false if memory is exhausted or the arrays contradict
	 * each other or the rest of the timeline: nothing in them may be used unchecked.
	 */
	bool (*load)(const struct ts_section_at *at, struct ts_index_arrays *a);
	bool stays_in_memory; /* load() is not called after save(): the arrays in memory are kept */

	/*
	 * The rest is for optional sections.  They are built from whole chunks alone, without the other
	 * sections, unless they are built on demand.
	 */

	/*
	 * Add the chunk whose first step is @pos; chunks are added in order.  Returns false if memory is
	 * exhausted.
	 */
	bool (*take)(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *chunk);

	/*
	 * All chunks of segment @segment were added: make it visible to queries.  @is_copy: only its first
	 * chunks were; it will be sealed again.  Returns false if memory is exhausted.  NULL: it is visible at once.
	 */
	bool (*seal)(struct ts_timeline *tl, uint64_t segment, bool is_copy);
};

/* The calls, the sketches of what changed, and what chunks are compared by; optional. */
extern const struct ts_section ts_calls_section, ts_sketch_section, ts_digests_section;

/*
 * All sections except the head, in the order in which they are loaded; terminated by NULL.  The second table also has
 * the digests, which take 6 % of the time of indexing and which only comparisons need.
 */
extern const struct ts_section *const ts_sections[], *const ts_sections_digested[];

/* Is it a section that an index file may lack?  These have names. */
static inline bool ts_section_is_optional(const struct ts_section *s)
{
	return s->name;
}

#endif
