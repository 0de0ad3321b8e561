/* SPDX-License-Identifier: MIT */
/*
 * What a space is made of, for the files that are one: space.c, space_file.c, which puts it into index files,
 * and space_search.c, which finds chunks.
 */
#ifndef TS_SPACE_PARTS_H
#define TS_SPACE_PARTS_H

#include "layers.h"
#include "lines.h"
#include "pages.h"
#include "space.h"
#include "versions.h"

struct ts_space_segment {
	struct ts_versions versions; /* of the lines that were changed */
	/* lines that were written with what they held, and not changed in the chunk */
	struct ts_lines silent;
	struct ts_lines reads;
};

/* What the chunk that is being read did to a page, by bytes; in words as those of ts_page.known. */
struct ts_marks {
	uint64_t changed[64]; /* also written */
	uint64_t lost[64];    /* changed to something unknown at some time in the chunk */
	uint64_t written[64];
	uint64_t read[64];
	uint64_t written_words, read_words; /* bit i: word i is not 0 */
};

struct ts_touched {
	struct ts_page *page;   /* borrowed */
	struct ts_marks *marks; /* owned, beyond n_touched too; all 0 there */
};

/* Lost bytes of a line in sealed segments that turned out to be those of data. */
struct ts_completion {
	uint64_t addr;
	uint8_t data[TS_LINE_LEN];
	uint64_t mask; /* bit i: byte i */
};

struct ts_space {
	const struct ts_image *recorded, *image; /* borrowed; may be NULL */
	uint32_t id;
	struct ts_layers layers;
	struct ts_pages base;     /* what layers are known to hold beyond their fill; keyed by layer */
	struct ts_space_segment *segments; /* owned; by number */
	size_t n_segments, cap_segments;
	size_t n_sealed;          /* of them; one more may be a copy of what was noted so far */
	struct ts_space_segment packed; /* what is to become the next of them */
	bool is_packed;

	/* building */
	struct ts_pages now;      /* current contents of the pages that steps touched */
	struct ts_touched *touched;  /* owned; the pages touched in this chunk */
	size_t n_touched, cap_touched;
	struct ts_page **fresh;   /* owned; those of now that may hold something since all was forgotten */
	size_t n_fresh, cap_fresh;
	struct ts_changes changes;
	struct ts_touches silent, reads;
	bool is_failed;
	uint64_t n_inferred, n_unexplained, n_pages;
	uint64_t resumed;         /* the first chunk that was read here and not taken from an index file */
	/* owned; ordinals of the base pages that changed since the space was saved */
	uint32_t *dirty;
	size_t n_dirty, cap_dirty;
	struct ts_completion *completions; /* owned; since the space was saved, of sealed segments */
	size_t n_completions, cap_completions;
};

/*
 * The lost bytes @mask of the line at @addr are known now in the first @n_segments segments: newest first,
 * down to where they were lost.  Returns false if that is nowhere.
 */
bool ts_space_complete(struct ts_space *sp, size_t n_segments, const struct ts_completion *c);

/* Room for segments up to @segment; those that are new are empty.  False: no memory. */
bool ts_space_room(struct ts_space *sp, uint64_t segment);

#endif
