/* SPDX-License-Identifier: MIT */
/*
 * The sources of the bytes that a step wrote: other places as they were before the step, constants, and sources without a
 * place.
 */
#ifndef TS_SEARCH_SOURCES_H
#define TS_SEARCH_SOURCES_H

#include "location.h"
#include "src/base/error.h"
#include "src/query/code/insns.h"

#define TS_MAX_SOURCES 64u

enum ts_source_kind {
	TS_FROM_PLACE,
	TS_FROM_CONSTANT,
	TS_FROM_PROCESSOR, /* clock, random number, identification, port */
	TS_FROM_SYSTEM,    /* a system call */
	TS_FROM_UNKNOWN,
};

/* One source. */
struct ts_made_of {
	enum ts_source_kind kind;
	struct ts_location loc; /* PLACE; addresses of memory are virtual */
	uint64_t constant;      /* CONSTANT */
	uint8_t order;          /* the operand's place among those of the instruction */
	bool is_copy;           /* PLACE: the bytes themselves were moved */
};

struct ts_sources {
	struct ts_made_of items[TS_MAX_SOURCES];
	unsigned n;
	bool is_truncated; /* there are more than TS_MAX_SOURCES */
};

/*
 * Find the sources of @loc, which step @pos wrote, or (TS_IN_PC) of its next address.  @with_addresses: the registers that
 * address its memory operands are sources, too.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_sources_find(struct ts_sources *s, struct ts_query *q, uint64_t pos, const struct ts_location *loc,
		     bool with_addresses, struct ts_error *err);

#endif
