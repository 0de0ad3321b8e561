/* SPDX-License-Identifier: MIT */
/*
 * A recording as lines of text that other tools read: Tenet, Tenet++, QEMU's execlog, and a table.
 *
 * What is unknown is left out, never written as zero.  The work is done in slices; its memory does not grow with
 * the number of positions.
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

/* The form called @name: "tenet", "tenetpp", "execlog" or "csv".  Returns false if there is none. */
bool ts_listing_find(const char *name, enum ts_listing_form *form);

struct ts_listing;

/*
 * Begin to write positions [@first, @last] to @path; @q is borrowed until ts_listing_free().
 *
 * Returns NULL if the form cannot have such a recording (TS_EUSAGE), no file can be created at @path (TS_EIO), or
 * memory is exhausted (TS_ENOMEM).
 */
struct ts_listing *ts_listing_new(struct ts_query *q, enum ts_listing_form form, const char *path, uint64_t first,
			      uint64_t last, struct ts_error *err);

/* Discard a file that is not complete. */
void ts_listing_free(struct ts_listing *l);

/*
 * Write about @n positions.
 *
 * Returns TS_ITEM when there is more to do, TS_END when the file is complete; TS_FAIL if the trace cannot be read
 * any more, the file cannot be written (TS_EIO), or memory is exhausted.
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

const struct ts_listing_lost *ts_listing_lost(const struct ts_listing *l);

#endif
