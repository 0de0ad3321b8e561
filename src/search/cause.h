/* SPDX-License-Identifier: MIT */
/*
 * Where bytes came from: the steps that wrote them, the steps that wrote what these read, and so on back, as
 * a tree.
 *
 * Each node is an instruction and what it wrote.  Instructions that come again on the way back are turns of a
 * loop: one node has all of them, and below it stands what entered in any turn.  What is below a node that was
 * met before is not repeated.
 */
#ifndef TS_SEARCH_CAUSE_H
#define TS_SEARCH_CAUSE_H

#include "budget.h"
#include "sources.h"
#include "writer.h"

enum ts_cause_kind {
	TS_CAUSE_WRITE,
	TS_CAUSE_BRANCH,
	TS_CAUSE_SEEN,      /* a write that another node shows */
	TS_CAUSE_CUT,       /* there is more than the answer shows */
	TS_CAUSE_INPUT,     /* the system wrote it */
	TS_CAUSE_MAP,
	TS_CAUSE_START,     /* there at position 0 */
	TS_CAUSE_CONSTANT,
	TS_CAUSE_PROCESSOR,
	TS_CAUSE_UNKNOWN,
};

struct ts_cause_range {
	uint64_t first, last; /* addresses, or bytes of the layout; both inclusive */
};

struct ts_cause_node {
	enum ts_cause_kind kind;
	uint64_t pos, pc;       /* of the step; TS_NO_POS, TS_NO_PC: there is none */
	uint64_t last_pos;      /* of the last of a loop's turns: all of them have written memory then */
	uint64_t before;        /* where its place was looked at, if no step wrote it */
	uint32_t thread;        /* of the step */
	uint32_t depth;
	uint64_t count;         /* turns of a loop; 1 of what goes no further */
	bool has_place;
	struct ts_location loc; /* that was found first; of registers and flags all that belong to the node */
	struct ts_cause_range *ranges; /* owned; of memory, all of it, ascending and apart */
	unsigned n_ranges;
	uint64_t constant;
	uint32_t parent, first_child, next_sibling; /* TS_NO_NODE: there is none */
	uint8_t order;
	uint8_t code_len;       /* the instruction's bytes; 0: not known */
	uint8_t code[TS_MAX_INSN];
};

#define TS_NO_NODE UINT32_MAX

struct ts_cause_question {
	const struct ts_location *what; /* n_what of them; none: the last branch */
	size_t n_what;
	uint32_t thread;
	uint64_t at;
	uint64_t max_depth;
	bool with_addresses; /* registers of addresses count as inputs */
	bool only_leaves;    /* what goes no further, merged, without the way to it */
};

struct ts_cause;

/*
 * The search for the causes of @question, which is copied.  One that took long is kept with the query object
 * when it is over: the same question is answered by it again.
 *
 * Returns NULL if memory is exhausted.
 */
struct ts_cause *ts_cause_open(struct ts_query *q, const struct ts_cause_question *question);
void ts_cause_close(struct ts_cause *c);

/*
 * Continue the search.  *at is set to the position up to which the search has come.
 *
 * Returns TS_END if the search is over.  Returns TS_MORE if the budget is used up.  Returns
 * TS_FAIL if the trace cannot be read, or memory is exhausted.
 */
enum ts_next ts_cause_run(struct ts_cause *c, struct ts_budget *budget, uint64_t *at, struct ts_error *err);

/* The node after @node in pre-order, NULL for the first one; NULL after the last. */
const struct ts_cause_node *ts_cause_next(const struct ts_cause *c, const struct ts_cause_node *node);

/* Is more known than the tree shows? */
bool ts_cause_is_cut(const struct ts_cause *c);

#endif
