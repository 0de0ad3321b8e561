/* SPDX-License-Identifier: MIT */
#include "condition.h"

#include "breaks.h"
#include "protocol/tracing/ax_state.h"
#include "session.h"

static bool holds(const struct rsp_break *br, struct rsp_ax_env *env)
{
	if (!br)
		return false;
	if (br->n_conditions)
		env->budget = (uint32_t)(RSP_AX_STATE_BUDGET / br->n_conditions);
	for (size_t i = 0; i < br->n_conditions; i++) {
		uint64_t value;

		if (rsp_ax_eval(br->conditions[i], env, &value) != RSP_AX_OK || value)
			return true;
	}
	return !br->n_conditions;
}

/* A look at the state that also prints. */
struct look {
	struct rsp_ax_state state; /* first: what the state's own functions get */
	struct ts_buf *console;
};

static void print(void *user, const char *text, size_t len)
{
	const struct look *look = user;

	ts_buf_put(look->console, text, len);
}

/* What cannot be evaluated prints nothing. */
static void run_commands(const struct rsp_break *br, struct rsp_ax_env *env)
{
	env->budget = (uint32_t)(RSP_AX_STATE_BUDGET / br->n_commands);
	env->print = print;
	for (size_t i = 0; i < br->n_commands; i++)
		rsp_ax_eval(br->commands[i], env, NULL);
	env->print = NULL;
}

/* Does a breakpoint that was hit stop? */
static bool stops(const struct rsp_break *br, struct rsp_ax_env *env, bool is_reverse)
{
	if (!holds(br, env))
		return false;
	if (br->n_commands && !is_reverse)
		run_commands(br, env);
	return !br->n_commands;
}

bool rsp_condition_holds(struct rsp_session *s, const struct ts_found *found, bool is_reverse)
{
	struct ts_break at = { ts_query_process(s->target->q, found->thread), 0 };
	struct look look = { .console = &s->console };
	struct rsp_ax_env env;
	struct ts_error err = { 0 };
	bool has_pc, is_soft, is_hard;

	if (!ts_query_pc(s->target->q, found->pos, found->thread, &at.addr, &has_pc, &err))
		return true;
	rsp_ax_state_init(&look.state, s->target->q, found->pos, found->thread, s->scratch);
	look.state.is_physical = s->is_physical;
	look.state.view = s->layout ? &s->layout->regs : NULL;
	rsp_ax_state_env(&look.state, &env);
	is_soft = stops(rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, at), &env, is_reverse);
	is_hard = stops(rsp_breaks_at(&s->breaks, RSP_BREAK_HARD, at), &env, is_reverse);
	return is_soft || is_hard;
}
