/* SPDX-License-Identifier: MIT */
#include "ifunc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi.h"
#include "src/ask/grammar/state.h"
#include "src/query/search/call_list.h"
#include "src/symbols/symbols.h"

/* Executions of a resolver that are examined: each module that uses the function calls it once. */
#define MAX_LOOKS 64u

/* Versions of a symbol that are examined: memcpy of glibc has two. */
#define MAX_VERSIONS 16u

/* The call of the resolver that begins at @pos, if it returned. */
static bool find_call(struct ts_ask *ask, uint64_t pos, uint64_t resolver, struct ts_call *call)
{
	return ts_query_innermost_call(ask->q, ts_query_thread(ask->q, pos), pos, call) && call->target == resolver &&
	       call->kind == TS_CALL_RETURN;
}

/* The address that a call of a resolver returned.  *has_target is false if that is unknown, or nothing ran there. */
static bool get_target(struct ts_ask *ask, const struct ts_call *call, uint64_t *target, bool *has_target,
		       struct ts_error *err)
{
	struct ts_abi abi;
	bool is_done;

	if (!ts_abi_init(&abi, ask))
		return ts_no_memory(err, "a question");
	is_done = ts_abi_result_value(&abi, ask, call->end, call->thread, target, has_target, err);
	ts_abi_fini(&abi);
	return is_done;
}

/* The address that the resolver chose, by the first of its calls that returned. */
static bool look_at_resolver(struct ts_ask *ask, uint32_t process, uint64_t resolver, uint64_t *target, bool *has_target,
			     struct ts_error *err)
{
	struct ts_call call;
	uint64_t pos = 0;

	for (unsigned n = 0; n < MAX_LOOKS && !*has_target; n++) {
		pos = ts_query_find_execution(ask->q, process, resolver, resolver, pos, TS_FORWARDS);
		if (pos == TS_NO_POS)
			break;
		if (find_call(ask, pos++, resolver, &call) && !get_target(ask, &call, target, has_target, err))
			return false;
	}
	return true;
}

enum ts_next ts_ifunc_resolve(struct ts_rows *rows, struct ts_what *what, struct ts_budget *budget, struct ts_error *err)
{
	struct ts_ask *ask = rows->ask;
	uint32_t process = ts_query_process(ask->q, ts_query_thread(ask->q, ask->n_steps ? ask->n_steps - 1 : 0));
	enum ts_next got = what->is_indirect ? ts_ask_need_calls(ask, budget, err) : TS_ITEM;
	uint64_t resolver = what->addr, target = 0;
	bool has_target = false;

	if (got != TS_ITEM || !what->is_indirect)
		return got;
	if (!look_at_resolver(ask, process, resolver, &target, &has_target, err))
		return TS_FAIL;
	for (unsigned i = 0; !has_target && i < MAX_VERSIONS &&
			     ts_symbols_get_version(ask->symbols, what->addr, i, &resolver); i++) {
		if (!look_at_resolver(ask, process, resolver, &target, &has_target, err))
			return TS_FAIL;
	}
	what->is_indirect = false;
	if (!has_target) {
		rows->is_cut = true;
		snprintf(rows->note, sizeof(rows->note), "the function is indirect (IFUNC); the recording does not show which code its resolver at "
			 "0x%" PRIx64 " chose, so this is about the resolver", what->addr);
		return TS_ITEM;
	}
	snprintf(rows->note, sizeof(rows->note), "the function is indirect (IFUNC): its resolver at 0x%" PRIx64 " chose the code at 0x%" PRIx64,
		 resolver, target);
	what->addr = target;
	what->last = ts_symbols_function_last(ask->symbols, target);
	return TS_ITEM;
}
