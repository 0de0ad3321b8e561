/* SPDX-License-Identifier: MIT */
/*
 * A part of a recording that one machine has decoded, in a file beside the index: INDEX.segment-I.
 *
 * It has the form of an index file: signed records of batches (src/trace/batch.h).  Part 1 has the number of parts.
 * An index that is built from the parts processes the same batches as one that decodes the trace, and has the same
 * bytes.
 */
#ifndef TS_INDEX_PARTS_H
#define TS_INDEX_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "index_place.h"
#include "src/trace/batch.h"

#define TS_MAX_PARTS 10000u

/* Part i of n: i from 1 on. */
struct ts_part_number {
	uint32_t i, n;
};

struct ts_part_writer;
struct ts_parts;

/*
 * Begin part @number at the first place of its index that can be written.  @point is the decode point before chunk
 * @first.
 *
 * Returns the writer, which the caller frees with ts_part_writer_free().
 * Returns NULL if no place can be written (TS_EIO).
 * Returns NULL if another process writes this part (TS_ELIMIT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_part_writer *ts_part_writer_new(const struct ts_index_places *index, const struct ts_index_key *key,
					  const struct ts_part_number *number, uint64_t first, const struct ts_buf *point,
					  struct ts_error *err);
void ts_part_writer_free(struct ts_part_writer *w);

/*
 * Add a batch, which is copied.
 *
 * Returns false if it cannot be written (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_part_writer_add(struct ts_part_writer *w, const struct ts_batch *b, struct ts_error *err);

/*
 * Rename the complete file.
 *
 * Returns its path, which is valid until @w is freed.
 * Returns NULL if the file cannot be written or renamed (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
const char *ts_part_writer_finish(struct ts_part_writer *w, struct ts_error *err);

/* The length of the file in bytes. */
uint64_t ts_part_writer_len(const struct ts_part_writer *w);

/*
 * Open all parts of the index of @key; the caller closes them.  The first batch of ts_parts_store() is number @first of the recording.
 *
 * Returns NULL if a part is missing, damaged, of another trace, or does not begin at the end of the previous
 * one (TS_ECORRUPT); or memory is exhausted (TS_ENOMEM).
 */
struct ts_parts *ts_parts_open(const struct ts_index_places *index, const struct ts_index_key *key, uint64_t first,
			       struct ts_error *err);
void ts_parts_free(struct ts_parts *p);

/* Returns the batches of the parts, valid until @p is freed. */
const struct ts_batch_store *ts_parts_store(struct ts_parts *p);

/* Remove the files. */
void ts_parts_remove(struct ts_parts *p);

#endif
