/* SPDX-License-Identifier: MIT */
/*
 * Bytes over time: an address space, or the register files of all threads, at every chunk boundary.
 *
 * The timeline feeds a space with what the steps do, chunk by chunk; each chunk leaves a version of every
 * line that it wrote (the line's contents at the chunk's end, with a known-mask) and a note of every line
 * that it read.  Versions are sealed a segment at a time.  The state at a chunk's start is then: for each
 * byte, the newest version before the chunk, if the layer that governs the byte is not newer; else what the
 * layer holds.  What is inferred backwards goes into the layers' own pages, so that one write at first sight
 * completes the past and no query knows of it.  Only a byte that something unknown was written to is
 * completed in the versions since that write, in each of them once.
 */
#ifndef TS_SPACE_H
#define TS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/image.h"
#include "src/trace/step.h"

struct ts_space;
struct ts_index_file;
struct ts_index_arrays;

/* What a space holds, for `info` and the benchmark. */
struct ts_space_stats {
	uint64_t n_versions;    /* (line, chunk) pairs that were changed */
	uint64_t n_silent;      /* (line, chunk) pairs that were written, but not changed */
	uint64_t n_reads;       /* (line, chunk) pairs that were read */
	uint64_t n_inferred;    /* bytes whose past was inferred from their first sight */
	uint64_t n_unexplained; /* reads that contradict what was known */
	uint64_t n_pages;       /* pages touched by steps */
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
 * The functions that build.  Addresses are those of struct ts_effect: addr + len may end at 2^64, len 0 does
 * nothing.  One that finds no memory makes the space failed; ts_space_end_chunk() reports it.
 */

/* Bytes at position 0, before anything else. */
void ts_space_initial(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len);

/* A write of a known value. */
void ts_space_write(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len);

/* A write of a value that is not known. */
void ts_space_lose(struct ts_space *sp, uint64_t addr, uint64_t len);

/* A range starts afresh at position @pos; nobody wrote it. */
void ts_space_fill(struct ts_space *sp, uint64_t pos, uint64_t addr, uint64_t len, enum ts_fill fill);

/* What the image calls the range that the next ts_space_fill() will start afresh: files may lie under it. */
uint64_t ts_space_next_map(const struct ts_space *sp);

/* A value was seen: infer the past of unknown bytes, take a contradiction as an unexplained change. */
void ts_space_see(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len);

/* An instruction read the range. */
void ts_space_note_read(struct ts_space *sp, uint64_t addr, uint64_t len);

/* Has a function that builds found no memory since the last ts_space_end_chunk()? */
bool ts_space_is_failed(const struct ts_space *sp);

/*
 * The chunk with this number is over (they come in order).
 *
 * Returns false if memory ran out since the last call.
 */
bool ts_space_end_chunk(struct ts_space *sp, uint64_t chunk);

/*
 * Sort what was noted so far, for the call of ts_space_seal() or ts_space_seal_copy() that follows, which is
 * quick then (else it does this itself).  Takes long; another thread may do it while this one asks, and builds
 * nothing.  False: no memory.
 */
bool ts_space_pack(struct ts_space *sp);

/*
 * Seal what was noted: queries then see it.  The next chunk belongs to segment @segment + 1.  False: no
 * memory.
 */
bool ts_space_seal(struct ts_space *sp, uint64_t segment);

/*
 * The same for now: queries see what was noted so far, until segment @segment is sealed or copied again.
 * Values lost in it that are found later show then.
 */
bool ts_space_seal_copy(struct ts_space *sp, uint64_t segment);

/*
 * To an index file: segment @segment, which has been sealed, and what else was learned since the last call.
 *
 * From there: ts_space_load_segment() takes the segment, of @n_chunks chunks, with its arrays, in place of the
 * one in memory if there is one; ts_space_load_state() then what was learned.  Return false if memory is exhausted, or the
 * arrays contradict each other.
 */
void ts_space_save(struct ts_space *sp, uint64_t segment, struct ts_index_file *f);
bool ts_space_load_segment(struct ts_space *sp, uint64_t segment, struct ts_index_arrays *a,
			   uint32_t n_chunks);
bool ts_space_load_state(struct ts_space *sp, uint64_t segment, struct ts_index_arrays *a);

/* What was learned so far need not be saved: the initial state of the recording, which its loader tells. */
void ts_space_set_clean(struct ts_space *sp);

/* Segments up to chunk @chunk were loaded; building goes on there. */
void ts_space_resume(struct ts_space *sp, uint64_t chunk);

/* Give back what only building needs. */
void ts_space_end_build(struct ts_space *sp);

/*
 * The functions that ask.  They see sealed segments only, change nothing, and cannot fail.
 */

/* The @len bytes at @addr at the first position of @chunk: known[i] is 1 or 0, data[i] is 0 where unknown. */
void ts_space_at(const struct ts_space *sp, uint64_t chunk, uint64_t addr, size_t len, uint8_t *data,
		 uint8_t *known);

/*
 * How many times a range has started afresh up to and including position @pos: fills, and one for the space
 * itself.
 */
uint32_t ts_space_n_layers(const struct ts_space *sp, uint64_t pos);

/* Bytes as far as the first @n_layers layers say, without any write. */
void ts_space_base(const struct ts_space *sp, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known);

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
 * Call @use with the numbers (address >> TS_PAGE_BITS) of the pages of [addr, last] of which a byte may be known at
 * some position; in no order, and perhaps several times.
 */
void ts_space_each_page(const struct ts_space *sp, uint64_t addr, uint64_t last,
			void (*use)(void *user, uint64_t page), void *user);

/* Bytes of memory that building needs, what is in index files left out. */
uint64_t ts_space_mem(const struct ts_space *sp);

void ts_space_stats(const struct ts_space *sp, struct ts_space_stats *stats);

#endif
