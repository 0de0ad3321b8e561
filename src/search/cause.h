/* SPDX-License-Identifier: MIT */
/*
 * The origin of bytes as a tree: the steps that wrote them, the steps that wrote what those read, and so on backwards.
 *
 * A node is an instruction and the place that it wrote.  The iterations of a loop share one node, which has the inputs of all
 * of them as children.  The children of a write are listed once: further nodes of the same write are of the kind SEEN.
 */
#ifndef TS_SEARCH_CAUSE_H
#define TS_SEARCH_CAUSE_H

#include "budget.h"
#include "sources.h"
#include "writer.h"

enum ts_cause_kind {
	TS_CAUSE_WRITE,
	TS_CAUSE_BRANCH,
	TS_CAUSE_SEEN,      /* a write that another node has already */
	TS_CAUSE_CUT,       /* further causes are omitted */
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
	uint64_t pos, pc;       /* of the step; TS_NO_POS, TS_NO_PC: the node has no step */
	uint64_t last_pos;      /* of a loop: its last iteration, after which all of its memory is written */
	uint64_t before;        /* if no step wrote the place: the position at which it was read */
	uint32_t thread;        /* of the step */
	uint32_t depth;
	uint64_t count;         /* the number of iterations of a loop; 1 for a leaf */
	bool has_place;
	struct ts_location loc; /* registers and flags: all that belong to the node; memory: the part that was found first */
	struct ts_cause_range *ranges; /* owned; memory: all of it, ascending, with gaps between the ranges */
	unsigned n_ranges;
	uint64_t constant;
	uint32_t parent, first_child, next_sibling; /* TS_NO_NODE: the node has no such node */
	uint8_t order;
	uint8_t code_len;       /* the instruction's bytes; 0: not known */
	uint8_t code[TS_MAX_INSN];
};

#define TS_NO_NODE UINT32_MAX

struct ts_cause_question {
	const struct ts_location *what; /* n_what items; with none, the question is about the last branch */
	size_t n_what;
	uint32_t thread;
	uint64_t at;
	uint64_t max_depth;
	bool with_addresses; /* registers of addresses count as inputs */
	bool only_leaves;    /* return the leaves only, merged */
};

struct ts_cause;

/*
 * Begin to search for the causes of @question, which is copied.  The query object caches the result of a long search, for
 * the same question.
 *
 * Returns the search, which the caller closes with ts_cause_close().
 * Returns NULL if memory is exhausted.
 */
struct ts_cause *ts_cause_open(struct ts_query *q, const struct ts_cause_question *question);
void ts_cause_close(struct ts_cause *c);

/*
 * Continue the search.  *at is set to the position up to which the search has come.
 *
 * Returns TS_END if the search is over.
 * Returns TS_MORE if the budget is used up.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ts_cause_run(struct ts_cause *c, struct ts_budget *budget, uint64_t *at, struct ts_error *err);

/*
 * Returns the node after @node (NULL: the first one) in pre-order, borrowed until ts_cause_close().
 * Returns NULL after the last one.
 */
const struct ts_cause_node *ts_cause_next(const struct ts_cause *c, const struct ts_cause_node *node);

/* Were causes omitted from the tree? */
bool ts_cause_is_cut(const struct ts_cause *c);

#endif
