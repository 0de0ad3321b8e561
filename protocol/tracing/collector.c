/* SPDX-License-Identifier: MIT */
#include "collector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "src/agent/ax_state.h"
#include "src/base/collections/buf.h"
#include "src/base/clock.h"

/* An action with its expression checked. */
struct action {
	const struct ts_action *def;
	struct ts_ax *ax; /* owned; NULL: not an expression */
};

/* A prepared tracepoint. */
struct point {
	struct ts_tracepoint *def;
	struct ts_ax *cond;    /* owned; NULL: none */
	struct action *actions; /* owned; those at the hit, then those at each step */
	size_t n_actions, n_at_hit;
};

/* The next position of a tracepoint: its next execution, or the next step while it steps. */
struct due {
	uint64_t pos;
	/* order at one position: steps that began earlier, then hits by definition */
	uint64_t order;
	uint32_t point;
	uint32_t thread;     /* that steps */
	uint64_t steps_left; /* 0: a hit */
	bool is_last;        /* with it the pass count is complete */
};

struct var {
	uint32_t number;
	bool is_clock; /* builtin: its value is the position */
	int64_t value;
};

#define HIT_ORDER (UINT64_C(1) << 63)
#define MIN_HEAP  16u

/* Bytes that the definitions of one run may take: 4,096 tracepoints with 4 KiB each. */
#define MAX_DEFINED (UINT64_C(16) << 20)

struct rsp_collector {
	struct rsp_frame_store store;
	struct ts_query *q; /* borrowed */
	struct ts_tracing tracing;
	struct point *points; /* owned; empty before the first run */
	size_t n_points;
	uint32_t process;
	const struct ts_regview *view; /* borrowed; NULL: registers are as recorded */
	bool is_physical;
	struct var *vars;     /* owned; by number */
	size_t n_vars;
	struct due *heap;     /* owned; the nearest first */
	size_t n_heap, cap_heap;
	uint64_t n_stepped;   /* that ever began to step */
	uint8_t *room;        /* owned; for registers */
	uint64_t pos, until;  /* of the span: what is next, where it ends */
	bool has_begun;
	bool is_busy;
	char error[160];      /* why the run ended, where an expression failed */
	char *texts[RSP_N_RUN_TEXTS]; /* owned; of the status */
	uint64_t n_counted;   /* bytes of definitions that the budget has */
	bool is_ending;       /* the run ends after this position: end and number are already set */
};

struct rsp_collector *rsp_collector_new(struct ts_query *q)
{
	struct rsp_collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->q = q;
	rsp_frame_store_init(&c->store);
	ts_tracing_init(&c->tracing);
	c->room = malloc(2 * (size_t)ts_query_regset(q)->g_len + 1);
	if (c->room)
		return c;
	rsp_collector_free(c);
	return NULL;
}

static void free_points(struct rsp_collector *c)
{
	for (size_t i = 0; i < c->n_points; i++) {
		ts_ax_free(c->points[i].cond);
		for (size_t j = 0; j < c->points[i].n_actions; j++)
			ts_ax_free(c->points[i].actions[j].ax);
		free(c->points[i].actions);
	}
	free(c->points);
	c->points = NULL;
	c->n_points = 0;
}

void rsp_collector_free(struct rsp_collector *c)
{
	if (!c)
		return;
	if (c->store.budget)
		c->store.budget->used -= c->n_counted;
	for (unsigned i = 0; i < RSP_N_RUN_TEXTS; i++)
		free(c->texts[i]);
	free_points(c);
	rsp_frame_store_fini(&c->store);
	ts_tracing_fini(&c->tracing);
	free(c->vars);
	free(c->heap);
	free(c->room);
	free(c);
}

struct ts_tracing *rsp_collector_tracing(struct rsp_collector *c)
{
	return &c->tracing;
}

struct ts_frames *rsp_collector_frames(struct rsp_collector *c)
{
	return &c->store.frames;
}

const struct ts_run_status *rsp_collector_status(struct rsp_collector *c)
{
	struct ts_run_status *status = &c->tracing.status;

	status->n_frames = c->store.frames.n_frames;
	status->n_created = rsp_frame_store_created(&c->store);
	status->n_free = status->n_bytes == TS_NO_COUNT ? TS_NO_COUNT : status->n_bytes - c->store.n_bytes;
	return status;
}

bool rsp_collector_has_begun(const struct rsp_collector *c)
{
	return c->has_begun;
}

bool rsp_collector_is_busy(const struct rsp_collector *c)
{
	return c->is_busy;
}

void rsp_collector_progress(const struct rsp_collector *c, uint64_t *pos, uint64_t *until)
{
	*pos = c->pos < c->until ? c->pos : c->until;
	*until = c->until;
}

uint64_t rsp_collector_next_pc(const struct rsp_collector *c, uint64_t first, uint64_t last, bool is_outside,
			       uint64_t from)
{
	return rsp_frame_store_next_pc(&c->store, first, last, is_outside, from);
}

/* ------------------------------------------------------------------------------------------- making ready */

static bool fail_at(const struct ts_tracepoint *tp, const char *what, struct ts_error *err)
{
	return ts_fail(err, TS_ECORRUPT, TS_NO_OFF, "tracepoint %" PRIu32 ": %s", tp->number, what);
}

/* An expression, checked; NULL with the reason. */
static struct ts_ax *prepare_ax(const struct ts_tracepoint *tp, const uint8_t *code, size_t len,
				 struct ts_error *err)
{
	enum ts_ax_error error;
	struct ts_ax *ax = ts_ax_new(code, len, &error);

	if (!ax)
		fail_at(tp, ts_ax_error_text(error), err);
	return ax;
}

static bool prepare_actions(struct point *p, bool is_stepping, struct ts_error *err)
{
	for (const struct ts_action *a = p->def->actions; a; a = a->next) {
		struct action *action = &p->actions[p->n_actions];

		if (a->is_stepping != is_stepping)
			continue;
		*action = (struct action){ .def = a };
		if (a->kind == TS_ACTION_STATIC)
			return fail_at(p->def, "a recording has no static markers", err);
		if (a->kind == TS_ACTION_EXPR &&
		    !(action->ax = prepare_ax(p->def, a->bytes, a->n_bytes, err)))
			return false;
		p->n_actions++;
	}
	return true;
}

/* On failure, what has been made stays in @p, to be freed with the other points. */
static bool prepare(struct point *p, struct ts_tracepoint *tp, struct ts_error *err)
{
	size_t n = 0;

	*p = (struct point){ .def = tp };
	if (tp->is_fast)
		return fail_at(tp, "fast tracepoints are for programs that run; use trace", err);
	if (tp->is_static)
		return fail_at(tp, "a recording has no static markers; use trace", err);
	for (const struct ts_action *a = tp->actions; a; a = a->next)
		n++;
	p->actions = calloc(n + 1, sizeof(*p->actions));
	if (!p->actions)
		return ts_no_memory(err, "a tracepoint");
	if (tp->cond && !(p->cond = prepare_ax(tp, tp->cond, tp->n_cond, err)))
		return false;
	if (!prepare_actions(p, false, err))
		return false;
	p->n_at_hit = p->n_actions;
	return prepare_actions(p, true, err);
}

static bool prepare_points(struct rsp_collector *c, struct ts_error *err)
{
	free_points(c);
	c->points = calloc(c->tracing.n_points + 1, sizeof(*c->points));
	if (!c->points)
		return ts_no_memory(err, "tracepoints");
	for (struct ts_tracepoint *tp = c->tracing.points; tp; tp = tp->next) {
		if (!prepare(&c->points[c->n_points++], tp, err))
			return false;
		tp->has_use = true;
		tp->n_hits = tp->n_bytes = 0;
	}
	return true;
}

bool rsp_collector_check(const struct ts_tracepoint *tp, struct ts_error *err)
{
	struct rsp_collector c = { .n_points = 1, .points = calloc(1, sizeof(*c.points)) };
	struct ts_tracepoint copy = *tp;
	bool done;

	if (!c.points)
		return ts_no_memory(err, "a tracepoint");
	done = prepare(c.points, &copy, err);
	free_points(&c);
	return done;
}

static int compare_vars(const void *a, const void *b)
{
	const struct var *x = a;
	const struct var *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static bool prepare_vars(struct rsp_collector *c, struct ts_error *err)
{
	free(c->vars);
	c->n_vars = 0;
	c->vars = calloc(c->tracing.n_vars + 1, sizeof(*c->vars));
	if (!c->vars)
		return ts_no_memory(err, "trace state variables");
	for (const struct ts_tvar *v = c->tracing.vars; v; v = v->next)
		c->vars[c->n_vars++] =
			(struct var){ v->number, v->is_builtin && v->number == RSP_TVAR_TIMESTAMP,
				      v->initial };
	qsort(c->vars, c->n_vars, sizeof(*c->vars), compare_vars);
	return true;
}

static uint64_t now_us(void)
{
	struct timeval tv;

	gettimeofday(&tv, NULL);
	return (uint64_t)tv.tv_sec * 1000000u + (uint64_t)tv.tv_usec;
}

void rsp_collector_see(struct rsp_collector *c, const struct ts_regview *view, bool is_physical)
{
	c->view = view;
	c->is_physical = is_physical;
}

void rsp_collector_bound(struct rsp_collector *c, struct rsp_frame_budget *budget)
{
	rsp_frame_store_bound(&c->store, budget);
}

bool rsp_collector_may_define(struct rsp_collector *c)
{
	struct rsp_frame_budget *budget = c->store.budget;

	if (budget)
		budget->used += c->tracing.arena.total - c->n_counted;
	c->n_counted = c->tracing.arena.total;
	return c->n_counted <= MAX_DEFINED && (!budget || budget->used <= budget->max / 2);
}

bool rsp_collector_set_text(struct rsp_collector *c, enum rsp_run_text which, const char *text, size_t len)
{
	struct ts_run_status *status = &c->tracing.status;
	const char **to[] = { &status->user, &status->notes, &status->text };
	char *copy = strndup(text, len);

	if (!copy)
		return false;
	free(c->texts[which]);
	c->texts[which] = copy;
	*to[which] = copy;
	return true;
}

bool rsp_collector_start(struct rsp_collector *c, uint32_t process, struct ts_error *err)
{
	struct ts_run_status *status = &c->tracing.status;

	if (!prepare_points(c, err) || !prepare_vars(c, err))
		return false;
	rsp_frame_store_reset(&c->store, status->n_bytes, status->is_circular);
	c->process = process;
	c->n_heap = 0;
	c->has_begun = true;
	c->is_busy = c->is_ending = false;
	c->pos = c->until = TS_NO_POS;
	status->is_running = true;
	status->end = TS_RUN_NOT_RUN;
	status->text = NULL;
	status->start_time = now_us();
	status->stop_time = 0;
	return true;
}

/* ---------------------------------------------------------------------------------------------- variables */

static struct var *find_var(const struct rsp_collector *c, uint32_t number)
{
	struct var key = { .number = number };

	return c->n_vars ? bsearch(&key, c->vars, c->n_vars, sizeof(key), compare_vars) : NULL;
}

bool rsp_collector_var(const struct rsp_collector *c, uint32_t number, int64_t *value)
{
	const struct var *var = find_var(c, number);
	const struct ts_tvar *def = var ? NULL : ts_tracing_find_var(&c->tracing, number);

	if (var && var->is_clock && c->pos != TS_NO_POS) /* at the end of a span, pos is after it */
		*value = (int64_t)(c->pos < c->until ? c->pos : c->until);
	else if (var)
		*value = var->value;
	else if (def)
		*value = def->initial;
	return var || def;
}

/* ------------------------------------------------------------------------------------ what expressions do */

/* An environment on the state that also collects. */
struct look {
	struct ts_ax_state state; /* first member: the state's own functions get it */
	struct rsp_collector *c;
};

static bool get_var(void *user, unsigned number, uint64_t *value)
{
	const struct look *look = user;
	int64_t v;

	if (!rsp_collector_var(look->c, number, &v))
		return false;
	*value = (uint64_t)v;
	return true;
}

static bool set_var(void *user, unsigned number, uint64_t value)
{
	const struct look *look = user;
	struct var *var = find_var(look->c, number);

	if (!var || var->is_clock)
		return false;
	var->value = (int64_t)value;
	return true;
}

static bool trace(void *user, uint64_t addr, uint64_t len)
{
	const struct look *look = user;

	return rsp_frame_store_range(&look->c->store, addr, len);
}

static bool trace_var(void *user, unsigned number)
{
	const struct look *look = user;
	int64_t value;

	return rsp_collector_var(look->c, number, &value) &&
	       rsp_frame_store_var(&look->c->store, number, value);
}

/* ------------------------------------------------------------------------------------------------ a hit */

static void end_run(struct rsp_collector *c, enum ts_run_end end, const char *text, uint32_t number)
{
	struct ts_run_status *status = &c->tracing.status;

	c->is_ending = true;
	status->end = end;
	status->text = text;
	status->number = number;
}

/* The run ends at tracepoint @p: its frames, or what is due, need more memory than there is. */
static void end_without_memory(struct rsp_collector *c, const struct point *p, bool is_at_limit)
{
	const struct rsp_frame_budget *budget = c->store.budget;

	if (!is_at_limit)
		snprintf(c->error, sizeof(c->error), "no memory for more trace frames");
	else if (!budget || budget->max == UINT64_MAX)
		snprintf(c->error, sizeof(c->error), "trace frames reach the memory limit of a run");
	else
		snprintf(c->error, sizeof(c->error),
			 "the trace frames of all clients reach the limit of --max-memory (%" PRIu64 " bytes)",
			 budget->max);
	end_run(c, TS_RUN_ERROR, c->error, p->def->number);
}

/* An expression failed: this ends the run, unless the cause is unknown data. */
static void note_error(const struct look *look, const struct point *p, enum ts_ax_error error)
{
	struct rsp_collector *c = look->c;
	struct ts_buf text;

	ts_buf_init(&text);
	ts_ax_state_put_error(&look->state, error, &text);
	snprintf(c->error, sizeof(c->error), "%s",
		 ts_buf_ok(&text) ? ts_buf_text(&text) : ts_ax_error_text(error));
	ts_buf_fini(&text);
	end_run(c, TS_RUN_ERROR, c->error, p->def->number);
}

/* All expressions of a hit share its budget. */
static uint32_t share_of_budget(const struct point *p)
{
	return (uint32_t)(TS_AX_STATE_BUDGET / (p->n_actions + 1)) + 1;
}

static void look_init(struct look *look, struct rsp_collector *c, const struct point *p, uint32_t thread,
		      struct ts_ax_env *env)
{
	ts_ax_state_init(&look->state, c->q, c->pos, thread, c->room);
	look->state.is_physical = c->is_physical;
	look->state.view = c->view;
	ts_ax_state_env(&look->state, env);
	look->c = c;
	env->budget = share_of_budget(p);
	env->get_var = get_var;
	env->set_var = set_var;
}

/* Is it a hit?  A condition that cannot be evaluated ends the run, and is not a hit. */
static bool is_hit(struct rsp_collector *c, const struct point *p, uint32_t thread)
{
	struct ts_ax_env env;
	struct look look;
	enum ts_ax_error error;
	uint64_t value = 0;

	if (!p->def->is_enabled)
		return false;
	if (!p->cond)
		return true;
	look_init(&look, c, p, thread, &env);
	error = ts_ax_eval(p->cond, &env, &value);
	if (error)
		note_error(&look, p, error);
	return !error && value;
}

/* "M BASE,OFF,LEN"; nothing is collected if the base is unknown. */
static enum ts_ax_error collect_range(struct look *look, const struct ts_action *a)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(look->c->q)->arch), base = 0;

	if (a->base != TS_NO_BASE && !ts_ax_state_reg(&look->state, (unsigned)a->base, &base))
		return TS_AX_UNKNOWN_REG;
	look->state.failed_at = (base + a->addr) & mask;
	return rsp_frame_store_range(&look->c->store, look->state.failed_at, a->len) ? TS_AX_OK
										     : TS_AX_NOT_TRACED;
}

static enum ts_ax_error run_action(struct look *look, const struct ts_ax_env *env,
				    const struct action *action)
{
	switch (action->def->kind) {
	case TS_ACTION_REGS:
		rsp_frame_store_regs(&look->c->store, ts_query_regset(look->c->q)->g_len);
		break;
	case TS_ACTION_MEM:
		return collect_range(look, action->def);
	case TS_ACTION_EXPR:
		return ts_ax_eval(action->ax, env, NULL);
	case TS_ACTION_STATIC:
		break; /* refused */
	}
	return TS_AX_OK;
}

/* Make a frame with what actions [first, end) collect. */
static void collect(struct rsp_collector *c, const struct point *p, uint32_t thread, uint64_t pc,
		    bool is_step)
{
	size_t first = is_step ? p->n_at_hit : 0, end = is_step ? p->n_actions : p->n_at_hit;
	struct ts_ax_env env;
	struct look look;
	uint64_t bytes;

	if (!rsp_frame_store_open(&c->store, c->pos, pc, p->def->number, is_step)) {
		end_without_memory(c, p, rsp_frame_store_is_full(&c->store));
		return;
	}
	look_init(&look, c, p, thread, &env);
	env.trace = trace;
	env.trace_var = trace_var;
	for (size_t i = first; i < end && !c->is_ending; i++) {
		enum ts_ax_error error = run_action(&look, &env, &p->actions[i]);

		if (error && rsp_frame_store_is_full(&c->store))
			end_without_memory(c, p, true);
		else if (error && !ts_ax_is_unknown(error))
			note_error(&look, p, error);
	}
	if (rsp_frame_store_close(&c->store, &bytes))
		p->def->n_bytes += bytes;
	else
		end_run(c, TS_RUN_FULL, NULL, 0);
}

/* -------------------------------------------------------------------------------------------- what is due */

static bool is_before(const struct due *a, const struct due *b)
{
	return a->pos != b->pos ? a->pos < b->pos : a->order < b->order;
}

static void push(struct rsp_collector *c, struct due due)
{
	size_t i = c->n_heap;

	if (due.pos == TS_NO_POS)
		return;
	if (c->n_heap == c->cap_heap) {
		size_t cap = c->cap_heap ? 2 * c->cap_heap : MIN_HEAP;
		bool is_at_limit = cap > MIN_HEAP &&
				   cap * sizeof(*c->heap) >= rsp_frame_store_limit(&c->store);
		struct due *p = is_at_limit ? NULL : realloc(c->heap, cap * sizeof(*p));

		if (!p) {
			end_without_memory(c, &c->points[due.point], is_at_limit);
			return;
		}
		c->heap = p;
		c->cap_heap = cap;
	}
	c->n_heap++;
	for (; i && is_before(&due, &c->heap[(i - 1) / 2]); i = (i - 1) / 2)
		c->heap[i] = c->heap[(i - 1) / 2];
	c->heap[i] = due;
}

static struct due pop(struct rsp_collector *c)
{
	struct due first = c->heap[0], last = c->heap[--c->n_heap];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < c->n_heap) {
		if (child + 1 < c->n_heap && is_before(&c->heap[child + 1], &c->heap[child]))
			child++;
		if (!is_before(&c->heap[child], &last))
			break;
		c->heap[i] = c->heap[child];
		i = child;
	}
	c->heap[i] = last;
	return first;
}

/*
 * The first position >= @pos at which the point's instruction is the next one; the recording's last position
 * included.
 */
static uint64_t next_hit(const struct rsp_collector *c, const struct point *p, uint64_t pos)
{
	return ts_query_find_arrival(c->q, c->process, p->def->addr, p->def->addr, pos, TS_FORWARDS);
}

/* The next position at which @thread is about to run, or the last one if it was the last to run. */
static uint64_t next_of_thread(const struct rsp_collector *c, uint32_t thread)
{
	uint64_t next = ts_query_next_step(c->q, thread, c->pos + 1), end = ts_query_end(c->q);

	if (next != TS_NO_POS)
		return next;
	return c->pos < end && ts_query_thread(c->q, end) == thread ? end : TS_NO_POS;
}

static void push_hit(struct rsp_collector *c, uint32_t point, uint64_t pos)
{
	push(c, (struct due){ .pos = next_hit(c, &c->points[point], pos),
			      .order = HIT_ORDER | point,
			      .point = point });
}

static void do_hit(struct rsp_collector *c, const struct due *due)
{
	struct point *p = &c->points[due->point];
	uint32_t thread = ts_query_thread(c->q, c->pos);
	bool is_a_hit = is_hit(c, p, thread), is_last = is_a_hit && ++p->def->n_hits == p->def->pass_count;

	if (!is_last)
		push_hit(c, due->point, c->pos + 1);
	if (!is_a_hit)
		return;
	collect(c, p, thread, p->def->addr, false);
	if (p->def->n_steps)
		push(c, (struct due){ next_of_thread(c, thread), c->n_stepped++, due->point, thread,
				      p->def->n_steps, is_last });
	else if (is_last)
		end_run(c, TS_RUN_PASS_COUNT, NULL, p->def->number);
}

static void do_step(struct rsp_collector *c, struct due due)
{
	const struct point *p = &c->points[due.point];
	struct ts_error err = { 0 };
	uint64_t pc = 0;
	bool has_pc;

	if (!ts_query_pc(c->q, c->pos, due.thread, &pc, &has_pc, &err)) {
		end_run(c, TS_RUN_ERROR, "the trace cannot be read", p->def->number);
		return;
	}
	collect(c, p, due.thread, pc, true);
	due.pos = --due.steps_left ? next_of_thread(c, due.thread) : TS_NO_POS;
	if (due.pos == TS_NO_POS && due.is_last)
		end_run(c, TS_RUN_PASS_COUNT, NULL, p->def->number);
	push(c, due);
}

/* ------------------------------------------------------------------------------------------------ the run */

void rsp_collector_span(struct rsp_collector *c, uint64_t from, uint64_t until)
{
	size_t n = 0;

	if (!c->tracing.status.is_running)
		return;
	for (size_t i = 0; i < c->n_heap; i++) {
		if (c->heap[i].steps_left && c->pos == from)
			c->heap[n++] = c->heap[i];
	}
	/* the rest is not a heap any more */
	c->n_heap = 0;
	for (size_t i = 0; i < n; i++)
		push(c, c->heap[i]);
	c->pos = from;
	c->until = until;
	c->is_busy = true;
	for (uint32_t i = 0; i < c->n_points; i++)
		push_hit(c, i, from);
}

void rsp_collector_stop(struct rsp_collector *c)
{
	struct ts_run_status *status = &c->tracing.status;

	if (!status->is_running)
		return;
	status->is_running = false;
	if (!c->is_ending)
		status->end = TS_RUN_STOPPED;
	status->stop_time = now_us();
	c->is_busy = c->is_ending = false;
	c->n_heap = 0;
}

bool rsp_collector_slice(struct rsp_collector *c, int64_t end_ns)
{
	while (c->is_busy) {
		struct due due;

		if (c->is_ending && (!c->n_heap || c->heap[0].pos != c->pos)) {
			rsp_collector_stop(c);
			break;
		}
		if (!c->n_heap || c->heap[0].pos > c->until) {
			c->pos = c->until + 1;
			c->is_busy = false;
			break;
		}
		due = pop(c);
		c->pos = due.pos;
		if (due.steps_left)
			do_step(c, due);
		else
			do_hit(c, &due);
		if (ts_now_ns() >= end_ns)
			break;
	}
	return !c->is_busy;
}
