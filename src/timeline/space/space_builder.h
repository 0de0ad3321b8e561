/* SPDX-License-Identifier: MIT */
/*
 * Fills a space while a recording is read, or from an index file.
 *
 * The timeline gives a builder the effects of the steps, chunk by chunk.  The builder holds the current contents of the
 * pages that steps touched.  At the end of a chunk it notes a version of every line that the chunk changed, and the
 * lines that the chunk read, or wrote without a change.  The notes of a segment are packed, which sorts them and takes
 * most of the time, and then sealed.  A value that is inferred for the past is written to the pages of the space's
 * layers when it is first seen; queries need no special case for it.  Only where an unknown value was written, the
 * versions since that write are completed, each of them once.
 */
#ifndef TS_SPACE_BUILDER_H
#define TS_SPACE_BUILDER_H

#include "lines.h"
#include "pages.h"
#include "space.h"
#include "space_segment.h"
#include "src/base/collections/ordered.h"
#include "versions.h"

struct ts_index_file;
struct ts_world_builder;
struct ts_index_arrays;

/* The effects of the chunk that is being read on the bytes of a page, in words as in ts_page.known. */
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

/* Bytes of a word of 64 that were lost since the last gap. */
struct ts_lost_word {
	uint64_t addr;  /* a multiple of 64 */
	uint64_t bytes; /* bit i: byte i */
};

struct ts_space_builder {
	struct ts_space *space;   /* borrowed; what is built */
	struct ts_pages now;      /* current contents of the pages that steps touched */
	struct ts_ordered ordered; /* the numbers of these that are not stale, and not loose either */
	struct ts_page **loose;   /* owned; those that became so since the last long range */
	size_t n_loose, cap_loose;
	struct ts_touched *touched; /* owned; the pages touched in this chunk */
	size_t n_touched, cap_touched;
	struct ts_changes changes;
	struct ts_touches silent, reads;
	bool is_failed;           /* memory ran out */
	uint64_t long_left;       /* bytes of long reads that may still be noted (ts_space_note_read()), */
	uint64_t fresh_left;      /* and pages that they may be the first to touch */
	uint64_t skipped_left;    /* pages that they may pass over, since nothing has touched them */
	uint64_t n_left_out;      /* bytes of long reads that were not noted */
	uint64_t gap;             /* position of the last ts_space_gap(), 0: none */
	struct ts_page **holed;   /* owned; those of now that may have lost bytes since then */
	size_t n_holed, cap_holed;
	struct ts_lost_word *lost; /* owned; what an index file says of those, by address from ts_space_resume() on */
	size_t n_lost, cap_lost;
	const struct ts_world_builder *world; /* borrowed; the regions of the space; NULL: it has none */
	uint64_t resumed;         /* the first chunk that was read here and not taken from an index file */
	/* owned; ordinals of the space's base pages that changed since it was saved */
	uint32_t *dirty;
	size_t n_dirty, cap_dirty;
	size_t n_saved_inferred;  /* of the space */
	struct ts_completion *completions; /* owned; since the space was saved, of sealed segments */
	size_t n_completions, cap_completions;
	size_t cap_segments;      /* of the space */
	size_t n_sealed;          /* of its segments; one more may be a copy of what was noted so far */
	struct ts_space_segment packed; /* what is to become the next of them */
	bool is_packed[TS_SPACE_PARTS]; /* by part, see ts_space_pack() */
};

/* Begin to build @sp, which is new. */
void ts_space_builder_init(struct ts_space_builder *sb, struct ts_space *sp);
void ts_space_builder_fini(struct ts_space_builder *sb);

/*
 * Effects of steps.  Addresses are those of struct ts_effect: addr + len may be 2^64; a len of 0 has no effect.  A
 * function that exhausts memory sets is_failed, which ts_space_end_chunk() reports.
 */

/* Set bytes at position 0, before all other effects. */
void ts_space_initial(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len);

/* A write of a known value. */
void ts_space_write(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len);

/* A write of a value that is not known. */
void ts_space_lose(struct ts_space_builder *sb, uint64_t addr, uint64_t len);

/* A range gets new contents at position @pos, without having been written. */
void ts_space_fill(struct ts_space_builder *sb, uint64_t pos, uint64_t addr, uint64_t len, enum ts_fill fill);

/*
 * Memory may have changed unseen up to position @pos.  Known bytes stay known until another value is seen.  A value that
 * is later seen in an unknown byte holds since @pos, or since a later fill of its range.  In a byte that was lost
 * before, it holds only since it is seen.
 */
void ts_space_gap(struct ts_space_builder *sb, uint64_t pos);

/* Fill a stale page from its layers.  Returns false if memory is exhausted. */
bool ts_space_refresh(struct ts_space_builder *sb, struct ts_page *pg);

/* The number that the image will have for the range of the next ts_space_fill(), which a file may have mapped. */
uint64_t ts_space_next_map(const struct ts_space_builder *sb);

/* A value was seen: infer the past of unknown bytes; treat a contradiction as an unexplained change. */
void ts_space_see(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len);

/* The same for bytes that were executed as code, which gaps are assumed not to change. */
void ts_space_see_code(struct ts_space_builder *sb, uint64_t addr, const uint8_t *data, uint64_t len);

/*
 * An instruction or a system call read the range.  A few bytes of a trace can list a read of gigabytes.  Reads of more
 * than a page are therefore limited: in their bytes, in the pages that nothing else has touched, and in the pages that
 * do not exist.  The limits grow with the number of chunks.  Reads beyond them are not noted; n_left_out counts their
 * bytes.
 */
#define TS_LONG_READS         (UINT64_C(1) << 30)
#define TS_LONG_READS_MORE    (UINT64_C(16) << 20) /* for each chunk */
#define TS_FRESH_READS        4096u
#define TS_FRESH_READS_MORE   64u
#define TS_SKIPPED_READS      (1u << 20)
#define TS_SKIPPED_READS_MORE 1024u
void ts_space_note_read(struct ts_space_builder *sb, uint64_t addr, uint64_t len);

/*
 * End the chunk with this number.  Chunks end in order.
 *
 * Returns false if memory ran out since the last call.
 */
bool ts_space_end_chunk(struct ts_space_builder *sb, uint64_t chunk);

/*
 * Sort one part (enum ts_space_part) of the notes.  The next call of ts_space_seal() then takes
 * little time; without this call it sorts them itself.  Other threads may do it, each for a different part, while this
 * one queries the space and builds nothing.
 *
 * Returns false if memory is exhausted.
 */
bool ts_space_pack(struct ts_space_builder *sb, unsigned part);

/*
 * Seal the notes, which makes them visible to queries.  The next chunk belongs to segment @segment + 1.
 *
 * @is_copy: only make them visible until the segment is sealed or copied again.  Lost values of it that are found later
 * become visible only then.
 *
 * Returns false if memory is exhausted.
 */
bool ts_space_seal(struct ts_space_builder *sb, uint64_t segment, bool is_copy);

/* Make room for segments up to @segment; the new ones are empty.  Returns false if memory is exhausted. */
bool ts_space_room(struct ts_space_builder *sb, uint64_t segment);

/*
 * ts_space_save() saves segment @segment, which has been sealed, and the state that changed since the last call.
 *
 * ts_space_load_segment() loads the segment, of @n_chunks chunks; it replaces the one in memory, if there is one.
 * ts_space_load_state(), which must follow, loads the state.
 *
 * Loading returns false if memory is exhausted, or the arrays contradict each other.
 */
void ts_space_save(struct ts_space_builder *sb, uint64_t segment, struct ts_index_file *f);
bool ts_space_load_segment(struct ts_space_builder *sb, uint64_t segment, struct ts_index_arrays *a,
			   uint32_t n_chunks);
bool ts_space_load_state(struct ts_space_builder *sb, uint64_t segment, struct ts_index_arrays *a);

/* The present state need not be saved: it is the recording's initial state, which its loader supplies. */
void ts_space_set_clean(struct ts_space_builder *sb);

/* The segments before chunk @chunk were loaded.  Continue building there. */
void ts_space_resume(struct ts_space_builder *sb, uint64_t chunk);

/* Bytes of memory that the space and the builder use, without mapped parts of index files. */
uint64_t ts_space_mem(const struct ts_space_builder *sb);

/* The part of them that belongs to no segment yet, computed without examining the segments. */
uint64_t ts_space_open_mem(const struct ts_space_builder *sb);

#endif
