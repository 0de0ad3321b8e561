/* SPDX-License-Identifier: MIT */
/*
 * A recording as lines of text that other tools read: Tenet, Tenet++, QEMU's execlog, and a table.
 *
 * Unknown values are omitted, never written as zero.  The work is done in slices.  The memory does not grow
 * with the number of positions.
 */
#ifndef TS_LISTING_H
#define TS_LISTING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/next.h"
#include "src/query/query.h"

enum ts_listing_form {
	TS_LISTING_TENET,   /* one thread, x86, ARM or AArch64: pintenet's form */
	TS_LISTING_TENETPP, /* Ghidra's Pin tool: threads, and modules with their bytes */
	TS_LISTING_EXECLOG, /* QEMU's plugin: registers after each instruction, addresses of accesses */
	TS_LISTING_CSV,     /* a row a position: all general registers, code, and accesses of its step */
};

/*
 * Set *form to the form called @name: "tenet", "tenetpp", "execlog" or "csv".  Returns false if no form has
 * this name.
 */
bool ts_listing_find(const char *name, enum ts_listing_form *form);

struct ts_listing;

/*
 * Begin to write positions [@first, @last], both inclusive, to @path.  @q is borrowed until
 * ts_listing_free().
 *
 * Returns the listing, which the caller frees with ts_listing_free().
 * Returns NULL if the form cannot express such a recording (TS_EUSAGE).
 * Returns NULL if no file can be created at @path (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_listing *ts_listing_new(struct ts_query *q, enum ts_listing_form form, const char *path, uint64_t first,
			      uint64_t last, struct ts_error *err);

/* Free the listing and discard the file unless it is complete. */
void ts_listing_free(struct ts_listing *l);

/*
 * Write about @n positions.
 *
 * Returns TS_MORE if there is more to do.
 * Returns TS_END if the file is complete.
 * Returns TS_FAIL if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if the file cannot be written (TS_EIO).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_listing_run(struct ts_listing *l, uint64_t n, struct ts_error *err);

/* Returns the next position to be written. */
uint64_t ts_listing_done(const struct ts_listing *l);

/* Counts of facts that the form cannot express. */
struct ts_listing_lost {
	uint64_t n_left_out;  /* writes that are too long */
	uint64_t n_forgotten; /* registers that were on a line and are not known any more */
	uint64_t n_unmapped;  /* times that memory was mapped, was unmapped, or became unknown otherwise */
};

/* Returns what the listing has left out so far, borrowed from it. */
const struct ts_listing_lost *ts_listing_lost(const struct ts_listing *l);

#endif
