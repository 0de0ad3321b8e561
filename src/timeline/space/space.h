/* SPDX-License-Identifier: MIT */
/*
 * Bytes over time: an address space, or the register files of all threads, at every chunk boundary.
 *
 * A space consists of layers (the new contents that ranges got) and of segments.  A segment has a version of every line
 * that a chunk changed (its contents at the chunk's end, with a mask of known bytes), and the lines that a chunk read,
 * or wrote without a change.  The state of a byte at a chunk's start is the newest version before the chunk, unless the
 * layer that governs the byte is newer; then it is what the layer holds.
 */
#ifndef TS_SPACE_H
#define TS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/object/image.h"
#include "src/trace/step.h"

/* Made by struct ts_space_builder (space_builder.h). */
struct ts_space;

/* Statistics of a space, for `info` and the benchmark. */
struct ts_space_stats {
	uint64_t n_versions;    /* (line, chunk) pairs that were changed */
	uint64_t n_silent;      /* (line, chunk) pairs of which a part was written, but not changed */
	uint64_t n_reads;       /* (line, chunk) pairs that were read */
	uint64_t n_inferred;    /* bytes whose past was inferred from their first sight */
	uint64_t n_unexplained; /* reads that contradict what was known */
	uint64_t n_pages;       /* pages touched by steps that were read here, not taken from an index file */
	/*
	 * of n_silent, those of lines of which another part was changed, in two bytes each; counted while it
	 * is built
	 */
	uint64_t n_divided;
	uint64_t index_len;     /* bytes of the sealed part, reads left out */
	uint64_t reads_len;     /* bytes of the sealed part that say what was read */
};

/*
 * Make a space.  The bytes of @recorded are known from position 0 on.  @image supplies bytes that remain unknown; its
 * maps of this space have the ordinal @id.  Both are borrowed, and may be NULL.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_space *ts_space_new(const struct ts_image *recorded, const struct ts_image *image, uint32_t id);
void ts_space_free(struct ts_space *sp);

/*
 * Divide the lines of a new space into parts that are not halves.  The division repeats every @stride bytes: bit i of
 * @starts[k] (copied) is 1 if a part begins at byte i of line k.  A line after the first @n of a stride is one part.
 *
 * A search for writes does not find chunks that only changed another part of the line.  For this the index has two more
 * bytes for each line of a chunk of which one part was changed and another part was written without a change.
 *
 * Returns false if memory is exhausted.
 */
bool ts_space_divide(struct ts_space *sp, uint64_t stride, const uint16_t *starts, size_t n);

/*
 * Queries.  They see sealed segments only, change nothing, and cannot fail.
 */

/* The @len bytes at @addr at the first position of @chunk: known[i] is 1 or 0, data[i] is 0 where unknown. */
void ts_space_at(const struct ts_space *sp, uint64_t chunk, uint64_t addr, size_t len, uint8_t *data,
		 uint8_t *known);

/*
 * The number of layers up to and including position @pos: one for the space itself, and one for each fill.
 */
uint32_t ts_space_n_layers(const struct ts_space *sp, uint64_t pos);

/* The bytes that the first @n_layers layers hold, without any write. */
void ts_space_base(const struct ts_space *sp, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known);

/*
 * Is all of [first, last] governed at @pos by one layer that began after position 0 and has no known byte?  Writes since
 * it began are ignored.  Returns false for long ranges.
 */
bool ts_space_is_blank(const struct ts_space *sp, uint64_t pos, uint64_t first, uint64_t last);

/* The kinds of accesses of the steps of a chunk. */
enum ts_space_deed {
	TS_SPACE_CHANGED, /* written with another value, or became known */
	TS_SPACE_WRITTEN, /* perhaps written, with any value */
	TS_SPACE_READ,
	TS_SPACE_FILLED,  /* a range that overlaps them got new contents */
};

/*
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk) that did so to a byte of [addr, last].
 *
 * Returns TS_NO_CHUNK if no chunk did.
 */
uint64_t ts_space_find(const struct ts_space *sp, enum ts_space_deed deed, uint64_t chunk, uint64_t addr, uint64_t last,
		       bool is_reverse);

/*
 * Call @use with the numbers (address >> TS_PAGE_BITS) of the pages of [addr, last] of which a byte may be
 * known at some position, or (@is_nonzero) known not to be 0; in no order, and perhaps several times.
 */
void ts_space_each_page(const struct ts_space *sp, bool is_nonzero, uint64_t addr, uint64_t last,
			void (*use)(void *user, uint64_t page), void *user);

/*
 * Call @use with each line (the address of its first byte) that chunks [@chunk, @end) wrote, or (@is_read)
 * read, and the chunk; segment by segment, there by address.  A line that a chunk wrote may come twice.
 */
void ts_space_each_touch(const struct ts_space *sp, bool is_read, uint64_t chunk, uint64_t end,
			 void (*use)(void *user, uint64_t addr, uint64_t chunk), void *user);

/* The number of ranges of bytes that are known only since a position after the start of their layer: inferred ranges. */
size_t ts_space_n_inferred(const struct ts_space *sp);

/* The first chunk >= @chunk with a step that leads to the position of an inferred range; TS_NO_CHUNK if no later chunk has one. */
uint64_t ts_space_next_inferred(const struct ts_space *sp, uint64_t chunk);

/* Is there an inferred range with a position in [@from, @until]? */
bool ts_space_has_inferred(const struct ts_space *sp, uint64_t from, uint64_t until);

/* Call @use with the range of each inferred range that has a position in [@from, @until]. */
void ts_space_each_inferred(const struct ts_space *sp, uint64_t from, uint64_t until,
			 void (*use)(void *user, uint64_t first, uint64_t last), void *user);

/*
 * Append the inferred ranges of position @pos to the open step of @b, as hidden, inferred writes.  If memory is exhausted,
 * is_failed of @b is set.
 */
void ts_space_append_inferred(const struct ts_space *sp, uint64_t pos, struct ts_steps *b);

/* Set *stats, which the function computes from all segments. */
void ts_space_stats(const struct ts_space *sp, struct ts_space_stats *stats);

#endif
