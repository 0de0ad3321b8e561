/* SPDX-License-Identifier: MIT */
#include "condition.h"

#include "breaks.h"
#include "session.h"
#include "src/agent/ax_state.h"
#include "src/base/buf.h"

/* An environment on the state that also prints. */
struct look {
	struct ts_ax_state state; /* first member: the state's own functions get it */
	struct ts_buf *console;
};

static void put_failure(const struct look *look, const char *what, enum ts_ax_error error)
{
	ts_buf_puts(look->console, what);
	ts_ax_state_put_error(&look->state, error, look->console);
	ts_buf_putc(look->console, '\n');
}

/* A condition that cannot be evaluated stops, and the console says why. */
static bool holds(const struct rsp_break *br, struct ts_ax_env *env, const struct look *look)
{
	if (!br)
		return false;
	if (br->n_conditions)
		env->budget = (uint32_t)(TS_AX_STATE_BUDGET / br->n_conditions);
	for (size_t i = 0; i < br->n_conditions; i++) {
		uint64_t value = 0;
		enum ts_ax_error error = ts_ax_eval(br->conditions[i], env, &value);

		if (error)
			put_failure(look, "The breakpoint's condition is not known: ", error);
		if (error || value)
			return true;
	}
	return !br->n_conditions;
}

static void print(void *user, const char *text, size_t len)
{
	const struct look *look = user;

	ts_buf_put(look->console, text, len);
}

/* A command that cannot be evaluated prints why. */
static void run_commands(const struct rsp_break *br, struct ts_ax_env *env, const struct look *look)
{
	env->budget = (uint32_t)(TS_AX_STATE_BUDGET / br->n_commands);
	env->print = print;
	for (size_t i = 0; i < br->n_commands; i++) {
		enum ts_ax_error error = ts_ax_eval(br->commands[i], env, NULL);

		if (error)
			put_failure(look, "A dynamic printf cannot be printed: ", error);
	}
	env->print = NULL;
}

/* Does a breakpoint that was hit stop the client? */
static bool stops(const struct rsp_break *br, struct ts_ax_env *env, const struct look *look,
		  bool is_reverse)
{
	if (!holds(br, env, look))
		return false;
	if (br->n_commands && !is_reverse)
		run_commands(br, env, look);
	return !br->n_commands;
}

bool rsp_condition_holds(struct rsp_session *s, const struct ts_found *found, bool is_reverse)
{
	struct ts_break at = { ts_query_process(s->target->q, found->thread), 0 };
	struct look look = { .console = &s->console };
	struct ts_ax_env env;
	struct ts_error err = { 0 };
	bool has_pc, is_soft, is_hard;

	if (!ts_query_pc(s->target->q, found->pos, found->thread, &at.addr, &has_pc, &err))
		return true;
	ts_ax_state_init(&look.state, s->target->q, found->pos, found->thread, s->scratch);
	look.state.is_physical = s->is_physical;
	look.state.view = s->layout ? &s->layout->regs : NULL;
	ts_ax_state_env(&look.state, &env);
	is_soft = stops(rsp_breaks_at(&s->breaks, RSP_BREAK_SOFT, at), &env, &look, is_reverse);
	is_hard = stops(rsp_breaks_at(&s->breaks, RSP_BREAK_HARD, at), &env, &look, is_reverse);
	return is_soft || is_hard;
}
