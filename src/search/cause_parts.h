/* SPDX-License-Identifier: MIT */
/* Shared declarations of the search for causes; private to cause*.c. */
#ifndef TS_SEARCH_CAUSE_PARTS_H
#define TS_SEARCH_CAUSE_PARTS_H

#include "cause.h"
#include "src/base/hash_table.h"

/* A place whose last writer before position @before must be found. */
struct ts_cause_task {
	struct ts_location loc;
	uint64_t before;
	uint32_t parent;
	uint8_t order;
};

/* The bytes, written by one step, whose sources have been followed. */
struct ts_cause_done {
	uint64_t pos;
	uint64_t base;
	uint64_t mask;
	uint32_t owner;
	enum ts_location_kind kind;
};

/* A cached result: the last writer of the location before @before, if it has one. */
struct ts_cause_found {
	struct ts_location loc;
	uint64_t before; /* 0: empty */
	bool has_writer;
	struct ts_writer writer;
};

#define TS_N_CAUSE_FOUND 256u /* a power of two */

struct ts_cause {
	unsigned refs;
	struct ts_query *q; /* borrowed */
	struct ts_cause_question question;
	struct ts_location *what; /* owned; the question's */
	struct ts_cause_found found[TS_N_CAUSE_FOUND]; /* by location: the locations of a loop are searched repeatedly */
	bool has_paging;
	struct ts_writer_search search;
	struct ts_cause_node *nodes; /* owned */
	uint32_t n_nodes;
	size_t cap_nodes;
	uint32_t root;               /* the first node without a parent */
	struct ts_cause_task *tasks; /* owned; a stack */
	uint32_t n_tasks;
	size_t cap_tasks;
	struct ts_cause_done *done;  /* owned */
	size_t n_done, cap_done;
	struct ts_hash_table by_place; /* of done */
	struct ts_sources sources;
	uint64_t asked_at;
	uint32_t n_looked_up;
	uint32_t share_floor; /* of the tasks: the one that waited and what came of it are not below it; 0: none waited */
	unsigned n_shared;    /* look-ups that are left of its share */
	bool is_begun, is_cut, is_failed, is_kept;
	/* the branch of the question; of a return, the return address may have been written by its call */
	struct ts_writer_search return_search;
	struct ts_writer branch;
	struct ts_location return_loc;
	uint64_t return_before;
	unsigned n_hops;
	bool has_branch;
};

/*
 * Add a node without a place.
 *
 * Returns the node, borrowed until the next one is added.
 * Returns NULL if the tree has as many nodes as are allowed; is_cut is then set.
 * Returns NULL if memory is exhausted; is_failed is then set.
 */
struct ts_cause_node *ts_cause_add_node(struct ts_cause *c, uint32_t parent, enum ts_cause_kind kind,
					unsigned order);

/* Add the bytes of memory @loc to the node. */
void ts_cause_add_range(struct ts_cause *c, struct ts_cause_node *n, const struct ts_location *loc);

/* Add a leaf below @parent: an input of step @pos that has no place. */
void ts_cause_add_leaf(struct ts_cause *c, uint32_t parent, enum ts_cause_kind kind, unsigned order,
		       uint64_t pos, uint64_t constant);

/* Add a leaf below @parent: a place that @w wrote (pos TS_NO_POS: nothing did).  Equal leaves become one. */
void ts_cause_add_place(struct ts_cause *c, uint32_t parent, enum ts_cause_kind kind, unsigned order,
			const struct ts_writer *w, const struct ts_location *loc);

/* The bytes of @loc that belong to the register of its first byte. */
uint64_t ts_cause_of_one_register(const struct ts_cause *c, const struct ts_location *loc);

/* Mark that causes below the node are omitted. */
void ts_cause_cut(struct ts_cause *c, uint32_t node);

/*
 * Returns the mask of those bytes of @loc, as written by step @pos, that have been followed.  The caller may change it; it is
 * borrowed until the next call.
 * Returns NULL if memory is exhausted; is_failed is then set.
 */
uint64_t *ts_cause_done(struct ts_cause *c, uint64_t pos, const struct ts_location *loc);

/*
 * Set *known to the mask of the bytes of @loc that are known at @pos.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_cause_known(struct ts_cause *c, const struct ts_location *loc, uint64_t pos, uint64_t *known,
		    struct ts_error *err);

/*
 * Find the last branch before the position of the question (cause_branch.c).  A return whose address was written by its own
 * call is passed over.  *at is set to the position up to which the search has come.
 *
 * Returns TS_ITEM with *w set to the branch.
 * Returns TS_END, TS_MORE or TS_FAIL as ts_writer_find_branch() does.
 */
enum ts_next ts_cause_find_branch(struct ts_cause *c, struct ts_writer *w, struct ts_budget *budget, uint64_t *at,
				  struct ts_error *err);

#endif
