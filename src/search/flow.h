/* SPDX-License-Identifier: MIT */
/*
 * Where bytes went: the steps that read bytes which came from given ones, forwards from a position.
 *
 * A byte that a step writes comes from those bytes that ts_sources_find() says it is made of: the search is the reverse of
 * that for causes (cause.h).  Registers of addresses are reported, and not followed.
 */
#ifndef TS_SEARCH_FLOW_H
#define TS_SEARCH_FLOW_H

#include "budget.h"
#include "location.h"
#include "src/base/error.h"
#include "src/query/query.h"

/* In the order in which the reports of one step come. */
enum ts_flow_kind {
	TS_FLOW_ADDRESS,     /* a register took part in an address */
	TS_FLOW_CALL,        /* an argument of the function that was called */
	TS_FLOW_OUTPUT,      /* an argument of a system call, or memory that it reads */
	TS_FLOW_BRANCH,      /* the next address depended on it */
	TS_FLOW_COMPARE,     /* flags alone were made of it */
	TS_FLOW_COPY,        /* it was moved */
	TS_FLOW_COMPUTE,     /* something was made of it */
	TS_FLOW_OVERWRITTEN, /* it was overwritten by something else */
	TS_FLOW_N_KINDS,
};

#define TS_FLOW_ALL ((1u << TS_FLOW_N_KINDS) - 1)

/* The position of a hop's source that was there from the beginning. */
#define TS_FLOW_BEGIN TS_NO_POS

struct ts_flow_hop {
	uint64_t pos; /* of the step */
	enum ts_flow_kind kind;
	/* COPY, COMPUTE: what was written, after the step; else what was read or overwritten, before it.  Virtual addresses */
	struct ts_location loc;
	uint64_t from; /* the step that wrote what was read; TS_FLOW_BEGIN: the bytes that were asked about */
};

struct ts_flow_question {
	const struct ts_location *what; /* n_what of them; memory has virtual addresses */
	size_t n_what;
	uint64_t at;           /* they are followed from here on ... */
	uint64_t from, to;     /* ... and steps [from, to) are reported */
	unsigned kinds;        /* these alone: mask of 1 << enum ts_flow_kind */
	const struct ts_location *arguments; /* registers of a thread that hold arguments of a call; owners do not count */
	size_t n_arguments;
};

struct ts_flow;

/*
 * Begin the search for where the bytes of @question, which is copied, went.
 *
 * Returns the search, which the caller closes with ts_flow_close().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 * Returns NULL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
struct ts_flow *ts_flow_open(struct ts_query *q, const struct ts_flow_question *question, struct ts_error *err);
void ts_flow_close(struct ts_flow *f);

/*
 * The next hop, ascending by position.  *at is set to the position up to which the search has come.
 *
 * Returns TS_ITEM with *hop.
 * Returns TS_END after the last hop.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_flow_next(struct ts_flow *f, struct ts_flow_hop *hop, struct ts_budget *budget, uint64_t *at,
			  struct ts_error *err);

/* Was some memory not followed, because it has too many pieces? */
bool ts_flow_is_cut(const struct ts_flow *f);

/*
 * The number of steps that may have used the bytes, and whose instruction or operands are unknown: what they compare, compute, or
 * use as an address is not among the hops.
 */
uint64_t ts_flow_n_unknown(const struct ts_flow *f);

#endif
