/* SPDX-License-Identifier: MIT */
/* Finds the last branch.  A return to the instruction after its call is not a branch. */
#include "cause_parts.h"

/* Copies through which a return address is followed. */
#define MAX_HOPS 8u

/* The address of the return is at c->return_loc: a copy of what wrote it, or (is_call) a call left it. */
static bool take_hop(struct ts_cause *c, const struct ts_writer *w, bool *is_call, bool *is_copy,
		     struct ts_error *err)
{
	struct ts_location loc = c->return_loc;
	const struct ts_decoded *d;

	*is_call = *is_copy = false;
	if (w->kind != TS_WRITER_STEP)
		return true;
	d = ts_query_insn(c->q, w->pos, err);
	if (!d)
		return false;
	*is_call = d->is_insn && (d->ops.flow == TS_OP_CALL || d->ops.flow == TS_OP_CALL_INDIRECT);
	if (*is_call)
		return true;
	loc.mask &= w->mask;
	if (!ts_sources_find(&c->sources, c->q, w->pos, &loc, false, err))
		return false;
	if (c->sources.n != 1 || c->sources.items[0].kind != TS_FROM_PLACE || !c->sources.items[0].is_copy)
		return true;
	*is_copy = true;
	c->return_loc = c->sources.items[0].loc;
	c->return_before = w->pos;
	return true;
}

/* Is the return at c->branch one to its call?  TS_ITEM: *is_own has the answer. */
static enum ts_next judge_return(struct ts_cause *c, bool *is_own, struct ts_budget *budget, struct ts_error *err)
{
	bool is_copy = true;

	*is_own = false;
	while (is_copy && c->n_hops < MAX_HOPS) {
		struct ts_writer w;
		enum ts_next got = ts_writer_find(&c->return_search, c->q, &c->return_loc, c->return_before, 0,
						 &w, budget, err);

		if (got == TS_MORE || got == TS_FAIL)
			return got;
		*is_own = true; /* what was called before the recording began */
		if (got == TS_END)
			return TS_ITEM;
		c->n_hops++;
		if (!take_hop(c, &w, is_own, &is_copy, err))
			return TS_FAIL;
		if (*is_own)
			return TS_ITEM;
	}
	return TS_ITEM;
}

/* Where the return takes its address from.  *has_one is false if that is not known. */
static bool find_return_address(struct ts_cause *c, bool *has_one, struct ts_error *err)
{
	const struct ts_location pc = { .kind = TS_IN_PC, .owner = c->branch.thread, .mask = 1 };
	const struct ts_decoded *d = ts_query_insn(c->q, c->branch.pos, err);

	*has_one = false;
	if (!d)
		return false;
	if (d->ops.flow != TS_OP_RETURN)
		return true;
	if (!ts_sources_find(&c->sources, c->q, c->branch.pos, &pc, false, err))
		return false;
	if (!c->sources.n || c->sources.items[0].kind != TS_FROM_PLACE)
		return true;
	*has_one = true;
	c->return_loc = c->sources.items[0].loc;
	c->return_before = c->branch.pos;
	c->n_hops = 0;
	return true;
}

enum ts_next ts_cause_find_branch(struct ts_cause *c, struct ts_writer *w, struct ts_budget *budget, uint64_t *at,
				  struct ts_error *err)
{
	uint64_t before = c->has_branch ? c->branch.pos : c->question.at;

	for (;;) {
		bool is_own = false, is_return = true;
		enum ts_next got;

		if (!c->has_branch) {
			got = ts_writer_find_branch(&c->search, c->q, c->question.thread, before, &c->branch,
						    budget, err);
			*at = c->search.pos;
			if (got != TS_ITEM)
				return got;
			if (!find_return_address(c, &is_return, err))
				return TS_FAIL;
		}
		if (is_return) {
			c->has_branch = true;
			got = judge_return(c, &is_own, budget, err);
			if (got != TS_ITEM)
				return got;
		}
		c->has_branch = false;
		if (!is_own) {
			*w = c->branch;
			return TS_ITEM;
		}
		before = c->branch.pos;
	}
}
