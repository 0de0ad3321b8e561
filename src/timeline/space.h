/* SPDX-License-Identifier: MIT */
/*
 * Bytes over time: an address space, or the register files of all threads, at every chunk boundary.
 *
 * A space consists of layers (what a range held when it started afresh) and of segments: a version of every
 * line that a chunk changed (the line's contents at the chunk's end, with a known-mask), and which lines a
 * chunk wrote without a change, or read.  The state at a chunk's start is, for each byte, the newest version
 * before the chunk, if the layer that governs the byte is not newer; else what the layer holds.
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

/* What a space holds, for `info` and the benchmark. */
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
 * A new space.  What @recorded has of position 0 is known from there on; @image fills what stays unknown, its
 * maps of this space have the ordinal @id in them.  Both are borrowed, and may be NULL.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_space *ts_space_new(const struct ts_image *recorded, const struct ts_image *image, uint32_t id);
void ts_space_free(struct ts_space *sp);

/*
 * Divide the lines of a new space into other parts than halves.  They repeat every @stride bytes: bit i of
 * @starts[k] (copied) is 1 if a part begins at byte i of line k; a line after the first @n of a stride is one
 * part.
 *
 * A search for writes finds no chunk that only changed another part of the line.  For that the index holds two
 * bytes more for each line of a chunk of which one part was changed, and another one written without a change.
 *
 * Returns false if memory is exhausted.
 */
bool ts_space_divide(struct ts_space *sp, uint64_t stride, const uint16_t *starts, size_t n);

/*
 * The functions that ask.  They see sealed segments only, change nothing, and cannot fail.
 */

/* The @len bytes at @addr at the first position of @chunk: known[i] is 1 or 0, data[i] is 0 where unknown. */
void ts_space_at(const struct ts_space *sp, uint64_t chunk, uint64_t addr, size_t len, uint8_t *data,
		 uint8_t *known);

/*
 * The number of times a range has got new contents up to and including position @pos: fills, and one for the
 * space itself.
 */
uint32_t ts_space_n_layers(const struct ts_space *sp, uint64_t pos);

/* Bytes as far as the first @n_layers layers say, without any write. */
void ts_space_base(const struct ts_space *sp, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known);

/*
 * Does one layer that began after position 0, and holds nothing that is known, govern all of [first, last] at
 * @pos?  What was written there since it began is not looked at.  False for long ranges.
 */
bool ts_space_is_blank(const struct ts_space *sp, uint64_t pos, uint64_t first, uint64_t last);

/*
 * The first chunk >= @chunk (the last chunk <= @chunk) in which a byte of [addr, last] was changed (written
 * and became different, or known), perhaps written (changed or not), read.
 *
 * Returns TS_NO_CHUNK if there is none.
 */
uint64_t ts_space_next_change(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);
uint64_t ts_space_prev_change(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);
uint64_t ts_space_next_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);
uint64_t ts_space_prev_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);
uint64_t ts_space_next_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);
uint64_t ts_space_prev_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);

/* The same for chunks in which a range that overlaps [addr, last] starts afresh, by a step of that chunk. */
uint64_t ts_space_next_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);
uint64_t ts_space_prev_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last);

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

/* The number of stretches of bytes that are known only since a position that is not the start of their layer. */
size_t ts_space_n_sights(const struct ts_space *sp);

/* The first chunk >= @chunk whose steps lead to such a position, TS_NO_CHUNK if there is none. */
uint64_t ts_space_next_sight(const struct ts_space *sp, uint64_t chunk);

/* Are there any of them since a position of [@from, @until]? */
bool ts_space_has_sights(const struct ts_space *sp, uint64_t from, uint64_t until);

/* Call @use with the range of each of them since a position of [@from, @until]. */
void ts_space_each_sight(const struct ts_space *sp, uint64_t from, uint64_t until,
			 void (*use)(void *user, uint64_t first, uint64_t last), void *user);

/*
 * Append those since position @pos to the open step of @b, as hidden writes that are inferred.  If memory is
 * exhausted, is_failed holds of @b.
 */
void ts_space_show_sights(const struct ts_space *sp, uint64_t pos, struct ts_steps *b);

void ts_space_stats(const struct ts_space *sp, struct ts_space_stats *stats);

#endif
