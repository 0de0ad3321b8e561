/* SPDX-License-Identifier: MIT */
/*
 * The arrays of a section of a mapped index file, in order.  Lengths are checked here; the caller must check the items.
 */
#ifndef TS_INDEX_ARRAYS_H
#define TS_INDEX_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ts_index_blocks;

/* An array of a record. */
struct ts_index_array {
	uint64_t at, len; /* in the memory of its record; a packed array is there after its first use */
	bool is_packed;
	const uint8_t *copy; /* borrowed: its bytes in the file's summary; NULL: they are in the record only */
};

/* A section's arrays, in the order of ts_index_put(). */
struct ts_index_arrays {
	const uint8_t *record;             /* borrowed from the file: the record's memory */
	const struct ts_index_array *next; /* borrowed from the file */
	uint32_t left;
	bool is_bad;                    /* an array has a wrong length, or is damaged */
	struct ts_index_blocks *blocks; /* borrowed from the file; of the arrays that were taken unread */
};

/*
 * The next array of the section, which ts_index_put() has written.  *n is set to the number of its items.
 *
 * Returns the array, which is mapped read-only and valid until the file is closed.
 * Returns NULL, with *n 0 and is_bad set, if it is missing or damaged.
 */
void *ts_index_take(struct ts_index_arrays *a, size_t item_len, size_t *n);

/*
 * As ts_index_take(), for exactly @n items.
 *
 * Returns the items, owned or borrowed as those of ts_index_take().
 * Returns NULL, with is_bad set, as ts_index_take() does, and if the array has another length.
 */
void *ts_index_take_n(struct ts_index_arrays *a, size_t item_len, size_t n);

/*
 * As ts_index_take(), for an array that is too large to be verified when the file is opened.  It may be
 * packed (ts_index_put_packed()).  Before the caller reads bytes of it, it must call ts_index_blocks_use()
 * for them (index_blocks.h), and it must check their contents.
 *
 * Returns the array, valid until the file is closed.
 * Returns NULL, with *n 0 and is_bad set, if it is missing or has a wrong length.
 */
void *ts_index_take_unread(struct ts_index_arrays *a, size_t item_len, size_t *n);

#endif
