/* SPDX-License-Identifier: MIT */
#include "condition.h"

#include "breaks.h"
#include "session.h"
#include "sight.h"

static bool holds(const struct rsp_break *br, struct rsp_ax_env *env)
{
	if (!br)
		return false;
	if (br->n_conditions)
		env->budget = (uint32_t)(RSP_SIGHT_BUDGET / br->n_conditions);
	for (size_t i = 0; i < br->n_conditions; i++) {
		uint64_t value;

		if (rsp_ax_eval(br->conditions[i], env, &value) != RSP_AX_OK || value)
			return true;
	}
	return !br->n_conditions;
}

bool rsp_condition_holds(const struct rsp_session *s, const struct ts_found *found)
{
	struct ts_break at = { ts_timeline_process(rsp_timeline(s), found->thread), 0 };
	struct rsp_sight sight;
	struct rsp_ax_env env;
	struct ts_error err = { 0 };
	bool has_pc;

	if (!ts_query_pc(s->sh->q, found->pos, found->thread, &at.addr, &has_pc, &err))
		return true;
	rsp_sight_init(&sight, s->sh->q, found->pos, found->thread, s->scratch);
	sight.is_physical = s->is_physical;
	rsp_sight_env(&sight, &env);
	return holds(rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, at), &env) ||
	       holds(rsp_breaks_at(&s->breaks, RSP_BREAK_HARD, at), &env);
}
