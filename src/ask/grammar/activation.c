/* SPDX-License-Identifier: MIT */
#include "activation.h"

#include "src/query/call_list.h"

/* An activation of a function. */
struct activation {
	const struct ts_ask *ask;
	uint32_t thread, process;
	struct ts_call call; /* the innermost open one */
	bool has_call;
};

/* Positions that are looked at in the time of a chunk that is decoded. */
#define LOOKS_A_CHUNK 16u

static bool is_at(const struct activation *a, uint64_t pos)
{
	struct ts_call call;
	bool has_call;

	if (ts_query_thread(a->ask->q, pos) != a->thread)
		return false;
	has_call = ts_query_innermost_call(a->ask->q, a->thread, pos, &call);
	return has_call == a->has_call && (!has_call || call.ordinal == a->call.ordinal);
}

static uint64_t next_execution(const struct activation *a, uint64_t addr, uint64_t pos)
{
	return ts_query_find_execution(a->ask->q, a->process, addr, addr, pos, TS_FORWARDS);
}

enum ts_got ts_activation_reaches(const struct ts_ask *ask, uint64_t pos, uint32_t thread, uint64_t addr,
				  struct ts_activation_search *search, uint64_t *at, struct ts_budget *budget,
				  struct ts_error *err)
{
	struct activation a = { .ask = ask, .thread = thread, .process = ts_query_process(ask->q, thread) };
	uint64_t pc, end = ask->n_steps;
	bool has_pc;

	if (!ts_query_pc(ask->q, pos, thread, &pc, &has_pc, err))
		return TS_GOT_FAIL;
	if (!has_pc)
		return TS_GOT_END;
	a.has_call = ts_query_innermost_call(ask->q, thread, pos, &a.call);
	if (a.has_call && a.call.end < end)
		end = a.call.end;
	if (search->from < pos)
		search->from = pos;
	for (unsigned n = 1;; n++) {
		uint64_t next = next_execution(&a, pc, search->from);

		*at = next_execution(&a, addr, search->from);
		if (*at >= end)
			return TS_GOT_END;
		next = next < *at ? next : *at;
		if (is_at(&a, next)) {
			if (next == *at)
				return TS_GOT_ROW;
			if (search->has_begun)
				return TS_GOT_END;
			search->has_begun = true;
		}
		search->from = next + 1;
		if (n % LOOKS_A_CHUNK == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
	}
}
