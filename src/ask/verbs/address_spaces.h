/* SPDX-License-Identifier: MIT */
/*
 * The processes of a whole machine: the page tables (cr3) that were in use, with first positions and numbers of steps.
 *
 * Only chunks that write cr3 are decoded.
 */
#ifndef TS_ASK_ADDRESS_SPACES_H
#define TS_ASK_ADDRESS_SPACES_H

#include <stddef.h>
#include <stdint.h>

#include "src/ask/coverage/covered.h"
#include "src/ask/verb.h"

/* Callers read steps, begins, n_unknown and unknown_begin; the other members are private. */
struct ts_address_spaces {
	struct ts_query *q;              /* borrowed */
	uint64_t n_steps;
	struct ts_covered_table steps;   /* by cr3, in the form of `process C`: the number of steps */
	struct ts_covered_table begins;  /* by cr3: the first position */
	uint64_t n_unknown;              /* the number of steps at which cr3 is unknown ... */
	uint64_t unknown_begin;          /* ... and the first of these positions */
	uint32_t thread;                 /* the current processor */
	bool is_inside;                  /* a span of it is open: */
	uint64_t from;                   /* its first position */
	uint64_t value;
	bool has_value;
	uint64_t chunk;                  /* the next chunk to decode */
};

/* The recording must be one of a machine (ts_machine_is_known()). */
void ts_address_spaces_init(struct ts_address_spaces *a, const struct ts_ask *ask);
void ts_address_spaces_fini(struct ts_address_spaces *a);

/*
 * Continue.  Returns TS_GOT_END when all processes are listed, TS_GOT_PENDING if the budget is used up, TS_GOT_FAIL if the
 * trace cannot be read, or memory is exhausted.
 */
enum ts_got ts_address_spaces_some(struct ts_address_spaces *a, struct ts_budget *budget, struct ts_error *err);

#endif
