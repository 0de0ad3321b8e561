/* SPDX-License-Identifier: MIT */
/*
 * The processes of a whole machine: the page tables (cr3) that were in use, since when, and for how many steps.
 *
 * Only chunks that write cr3 are decoded.
 */
#ifndef TS_ASK_ADDRESS_SPACES_H
#define TS_ASK_ADDRESS_SPACES_H

#include <stddef.h>
#include <stdint.h>

#include "src/ask/coverage/covered.h"
#include "src/ask/verb.h"

/* Members are its own, but for what is told of them. */
struct ts_address_spaces {
	struct ts_query *q;              /* borrowed */
	uint64_t n_steps;
	struct ts_covered_table steps;   /* by cr3, as `process C` takes it: how many steps there were */
	struct ts_covered_table begins;  /* by cr3: the first position */
	uint64_t n_unknown;              /* steps at which cr3 is not known ... */
	uint64_t unknown_begin;          /* ... and the first one of them */
	uint32_t thread;                 /* the processor that is looked at */
	bool is_inside;                  /* a span of it is open: */
	uint64_t from;                   /* it began here */
	uint64_t value;
	bool has_value;
	uint64_t chunk;                  /* the next one to look into */
};

/* The recording must be one of a machine (ts_machine_is_known()). */
void ts_address_spaces_init(struct ts_address_spaces *a, const struct ts_ask *ask);
void ts_address_spaces_fini(struct ts_address_spaces *a);

/*
 * Go on.  Returns TS_GOT_END when all are there, TS_GOT_PENDING if the budget is used up, TS_GOT_FAIL if the trace cannot be
 * read, or memory is exhausted.
 */
enum ts_got ts_address_spaces_some(struct ts_address_spaces *a, struct ts_budget *budget, struct ts_error *err);

#endif
