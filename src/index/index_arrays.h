/* SPDX-License-Identifier: MIT */
/*
 * The arrays of a section, taken from a mapped index file one after the other.  Lengths are checked; what the
 * items mean is checked by whoever takes them.
 */
#ifndef TS_INDEX_ARRAYS_H
#define TS_INDEX_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_index_blocks;

/* An array of a record. */
struct ts_index_array {
	uint64_t at, len; /* in the memory of its record; what is packed is there when it is used */
	bool is_packed;
	const uint8_t *copy; /* borrowed: its bytes, in the file's summary; NULL: they are in the record only */
};

/* A section's arrays, in the order in which they were put. */
struct ts_index_arrays {
	const uint8_t *record;             /* borrowed from the file: where the record is */
	const struct ts_index_array *next; /* borrowed from the file */
	uint32_t left;
	bool is_bad;                    /* something has a wrong length, or is not as it was written */
	struct ts_index_blocks *blocks; /* borrowed from the file; of the arrays that were taken unread */
};

/*
 * The next array, of *n items, which was put with ts_index_put(); NULL (and *n is 0) if it is missing or
 * damaged. It is mapped read-only, and valid until the file is closed.
 */
void *ts_index_take(struct ts_index_arrays *a, size_t item_len, size_t *n);

/* The same, of exactly @n items. */
void *ts_index_take_n(struct ts_index_arrays *a, size_t item_len, size_t n);

/*
 * The same of an array that is too large to be looked at when the file is opened; it may be packed
 * (ts_index_put_packed()).  Before its bytes are read, ts_index_blocks_use() must be called for them
 * (index_blocks.h); what they hold is checked then.
 */
void *ts_index_take_unread(struct ts_index_arrays *a, size_t item_len, size_t *n);

#endif
