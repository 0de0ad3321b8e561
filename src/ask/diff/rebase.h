/* SPDX-License-Identifier: MIT */
/*
 * Translate addresses between two recordings of one program that was loaded at different addresses.
 *
 * The program's file, where the user names it, corresponds to itself.
 * Modules of the same name and regions of the same file or description correspond, in order of appearance.
 * If a recording lists none, memory around the first pc is the program and memory around the first sp is the
 * stack.  Addresses outside all ranges are the same in both.
 */
#ifndef TS_ASK_REBASE_H
#define TS_ASK_REBASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/query.h"

/* A range of addresses of B, both ends inclusive, and the delta that translates them to A. */
struct ts_shift {
	uint64_t first, last, delta;
};

#define TS_REBASE_SLOTS 256u

/* A page that one range covers completely, and its delta. */
struct ts_shifted_page {
	uint64_t page; /* its number + 1; 0: none */
	uint64_t delta;
};

struct ts_rebase {
	struct ts_shift *shifts; /* owned; the first one that covers an address counts */
	size_t n, cap;
	bool has_names; /* the program, or modules or regions of the same name, are in both recordings */
	struct ts_shifted_page of_a[TS_REBASE_SLOTS], of_b[TS_REBASE_SLOTS]; /* looked up last */
};

/*
 * Add the range [@first, @last] of B, both inclusive, to @r, which the caller has zeroed at first.  Its
 * address in A is @delta higher.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Call ts_rebase_fini() in both cases.
 */
bool ts_rebase_add(struct ts_rebase *r, uint64_t first, uint64_t last, uint64_t delta, struct ts_error *err);

/*
 * Add the range of the program's file @path, if it is found in both recordings.  @base is where its lowest page lies in
 * @a; NULL: unknown.  The range has priority over those that are added later.
 *
 * Returns false if the file cannot be opened (the errors of ts_source_open()).
 * Returns false if it is neither an ELF nor a PE file, or damaged (the errors of ts_object_init()).
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Call ts_rebase_fini() in both cases.
 */
bool ts_rebase_add_program(struct ts_rebase *r, struct ts_query *a, struct ts_query *b, const char *path, const uint64_t *base,
			   struct ts_error *err);

/*
 * Add the ranges of @b that correspond to memory of @a to @r.
 *
 * Returns false if a trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Call ts_rebase_fini() in both cases.
 */
bool ts_rebase_init(struct ts_rebase *r, struct ts_query *a, struct ts_query *b, struct ts_error *err);
void ts_rebase_fini(struct ts_rebase *r);

/* Does any range have a different address? */
bool ts_rebase_is_any(const struct ts_rebase *r);

/* Translate an address of B to A. */
uint64_t ts_rebase_to_a(struct ts_rebase *r, uint64_t addr);

/* Translate an address of A to B. */
uint64_t ts_rebase_to_b(struct ts_rebase *r, uint64_t addr);

#endif
