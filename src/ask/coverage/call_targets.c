/* SPDX-License-Identifier: MIT */
#include "call_targets.h"

#include <stdlib.h>

#include "src/ask/grammar/state.h"
#include "src/base/bisect.h"
#include "src/query/call_list.h"

void ts_call_targets_fini(struct ts_call_targets *t)
{
	ts_covered_fini(&t->found);
}

static int by_address(const void *a, const void *b)
{
	const struct ts_covered *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The targets of a block of calls.  Returns false if memory is exhausted. */
static bool take_block(struct ts_call_targets *t, const struct ts_query *q, uint32_t n_calls)
{
	struct ts_call calls[TS_CALL_BLOCK];
	uint32_t n = ts_query_call_block(q, t->thread, t->ordinal, calls);

	for (uint32_t i = 0; i < n && calls[i].ordinal < n_calls; i++) {
		if (calls[i].kind != TS_CALL_SWITCH && !ts_covered_find(&t->found, calls[i].target))
			return false;
	}
	t->ordinal += TS_CALL_BLOCK - t->ordinal % TS_CALL_BLOCK;
	return true;
}

/* A thread's first instruction: what called the function is not recorded. */
static bool take_first(struct ts_call_targets *t, struct ts_query *q, struct ts_error *err)
{
	uint64_t pos = ts_query_next_step(q, t->thread, 0);
	const struct ts_steps *b;
	const struct ts_step *s;

	if (pos == TS_NO_POS)
		return true;
	s = ts_query_step(q, pos, &b, err);
	return s && (s->pc == TS_NO_PC || ts_covered_find(&t->found, s->pc));
}

/* The blocks of one thread after the other.  Returns TS_ITEM if there may be more. */
static enum ts_next take_next(struct ts_call_targets *t, struct ts_query *q, uint32_t process, struct ts_error *err)
{
	uint32_t n_calls;

	if (t->thread == ts_query_n_threads(q)) {
		if (t->found.n)
			qsort(t->found.items, t->found.n, sizeof(*t->found.items), by_address);
		return TS_END;
	}
	n_calls = ts_query_process(q, t->thread) == process ? ts_query_n_calls(q, t->thread) : 0;
	if (!t->ordinal && ts_query_process(q, t->thread) == process && !take_first(t, q, err)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for targets of calls");
		return TS_FAIL;
	}
	if (t->ordinal >= n_calls) {
		t->thread++;
		t->ordinal = 0;
		return TS_ITEM;
	}
	if (take_block(t, q, n_calls))
		return TS_ITEM;
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for targets of calls");
	return TS_FAIL;
}

enum ts_next ts_call_targets_collect(struct ts_call_targets *t, struct ts_ask *ask, uint32_t process, size_t max,
				    struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = ts_ask_need_calls(ask, budget, err);

	if (got == TS_ITEM && !t->is_begun && !ts_covered_make_slots(&t->found, max)) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for targets of calls");
		return TS_FAIL;
	}
	t->is_begun |= got == TS_ITEM;
	while (got == TS_ITEM) {
		if (!ts_budget_take(budget))
			return TS_MORE;
		got = take_next(t, ask->q, process, err);
	}
	return got;
}

uint64_t ts_call_targets_before(const struct ts_call_targets *t, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, t->found.n, i, t->found.items[i].addr <= addr);
	return at ? t->found.items[at - 1].addr : 0;
}
