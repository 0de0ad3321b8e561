/* SPDX-License-Identifier: MIT */
/*
 * Writing the records of an index file that is being built.
 */
#ifndef TS_INDEX_WRITE_H
#define TS_INDEX_WRITE_H

#include "index_file.h"

/*
 * Pack arrays with up to @n (> 0) threads, including the caller's; the default is 1.  Must be called
 * before the first record.
 */
void ts_index_use_threads(struct ts_index_file *f, unsigned n);

/*
 * Write a record: ts_index_begin() with the number of its sections, then each section and its arrays, then
 * ts_index_commit(), which also reports earlier failures.
 */
void ts_index_begin(struct ts_index_file *f, unsigned n_sections);
void ts_index_section(struct ts_index_file *f, uint32_t kind, uint32_t owner);
void ts_index_put(struct ts_index_file *f, const void *items, size_t n, size_t item_len);

/*
 * As ts_index_put(), for an array that grows with the recording, and is taken with ts_index_take_unread().  Pointers to
 * it stay valid as long as the file is open.
 */
void ts_index_put_unread(struct ts_index_file *f, const void *items, size_t n, size_t item_len);

/* As ts_index_put_unread(), but packed if that is shorter: unpacked bytes are released (ts_index_give_back()). */
void ts_index_put_packed(struct ts_index_file *f, const void *items, size_t n, size_t item_len);

/* Record that memory was exhausted while arrays were made: ts_index_commit() will fail. */
void ts_index_fail(struct ts_index_file *f);

/* ts_index_put() of the bytes of @b.  If @b has failed, ts_index_commit() will fail. */
void ts_index_put_buf(struct ts_index_file *f, const struct ts_buf *b);

/*
 * Complete the record, up to whose end the recording has @n_steps steps; @is_last: the file is also complete,
 * except for ts_index_publish().
 *
 * Returns false if the record could not be written (TS_EIO); the file is then unchanged.
 */
bool ts_index_commit(struct ts_index_file *f, uint64_t n_steps, bool is_last, struct ts_error *err);

/* Discard the unfinished record. */
void ts_index_abort(struct ts_index_file *f);

#endif
