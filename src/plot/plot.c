/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "owners.h"
#include "src/ask/verbs/cells.h"
#include "src/base/collections/bisect.h"
#include "src/symbols/names.h"
#include "src/base/collections/vec.h"
#include "src/query/search/scan.h"

/* The maximum number of chunks of a range that is decoded. */
#define MAX_DECODED 64u

/* The shortest column of what the index knows by the chunk: 1 << CHUNK_SHIFT is TS_CHUNK_STEPS. */
#define CHUNK_SHIFT ((unsigned)__builtin_ctz(TS_CHUNK_STEPS))

/* A run that was executed in the range, and the function in which it begins; else whose code it is. */
struct run {
	struct ts_run_facts facts;
	uint32_t i;           /* its ordinal */
	const char *function; /* borrowed from the symbols; NULL: not known */
	const void *key;      /* the same for all runs that have one name; NULL: they have none */
};

enum moment_kind {
	MOMENT_STEP, /* first: its pc */
	MOMENT_WRITE,
	MOMENT_READ,
};

/* An effect of a step in a short range: the address that it executed, or memory that it accessed. */
struct moment {
	uint64_t pos;
	uint64_t first, last; /* addresses, both inclusive */
	uint32_t process;
	enum moment_kind kind;
};

struct gathering {
	struct ts_plot *plot;
	struct ts_ask *ask;
	const struct ts_plot_bounds *bounds;
	struct ts_owners owners;
	struct moment *moments; /* owned; of a range that is decoded, by position */
	size_t n_moments, cap_moments;
	struct run *runs;          /* owned; by function */
	size_t n_runs, cap_runs;
	const struct ts_plot_watcher *watcher; /* borrowed; NULL: no owner */
	bool is_stopped; /* by the watcher */
};

/* Parts of the work, in their order and taken for equally long. */
enum part {
	PART_RUNS,
	PART_CODE,
	PART_DATA,
	PART_NAMES,
	PART_THREADS,
	PART_CALLS,
};
#define N_PARTS (PART_CALLS + 1)

/* So much (0 to 1) of @part is done; returns false if the work is to end. */
static bool go_on(struct gathering *g, enum part part, double done)
{
	if (g->watcher && !g->is_stopped)
		g->is_stopped = !g->watcher->go_on(g->watcher->user, (part + done) / N_PARTS);
	return !g->is_stopped;
}

static uint32_t owner(void *user, uint32_t process, uint64_t addr, uint64_t *until)
{
	struct gathering *g = user;

	return ts_labels_add(&g->plot->labels,
			     ts_owner_name(ts_owners_find(&g->owners, process, addr, until)));
}

/*
 * What code at an address is called: its function, else whose it is in parentheses; NULL if neither is known.
 */
static uint32_t name_code(struct gathering *g, const char *function, uint32_t process, uint64_t addr)
{
	uint64_t until;
	const char *name = function ? function : ts_owner_name(ts_owners_find(&g->owners, process, addr, &until));
	char text[TS_MAX_LABEL_LEN + 3];

	if (function || !name)
		return ts_labels_add(&g->plot->labels, name);
	snprintf(text, sizeof(text), "(%.*s)", (int)TS_MAX_LABEL_LEN - 2, name);
	return ts_labels_add(&g->plot->labels, text);
}

static bool arrange(struct gathering *g, struct ts_areas *a, uint32_t max_rows)
{
	return ts_areas_arrange(a, TS_PLOT_AREAS, max_rows, owner, g);
}

static bool init_grid(struct gathering *g, struct ts_grid *grid, unsigned shift, uint32_t n_rows)
{
	return ts_grid_init(grid, g->plot->from, g->plot->to, shift, g->bounds->max_cols, n_rows);
}

static bool add_moment(struct gathering *g, const struct moment *x)
{
	return TS_PUSH(g->moments, g->n_moments, g->cap_moments, *x);
}

/* A step whose pc is unknown has no moment of its own. */
static bool add_step(struct gathering *g, uint64_t pos, const struct ts_step *step, const struct ts_steps *batch)
{
	struct moment x = { .pos = pos, .first = step->pc, .last = step->pc,
			    .process = ts_query_process(g->ask->q, step->thread) };
	struct ts_step_effects all = ts_step_effects(batch, step);
	bool done = step->pc == TS_NO_PC || add_moment(g, &x);
	const struct ts_effect *fx;

	while (done && (fx = ts_step_effects_next(&all))) {
		x.process = ts_query_process(g->ask->q, all.thread);
		/* what no instruction read is not an access; what none wrote is a change all the same, if it was seen */
		if ((fx->kind != TS_FX_WRITE && (fx->kind != TS_FX_READ || fx->is_hidden)) || fx->is_inferred || !fx->len)
			continue;
		x.kind = fx->kind == TS_FX_WRITE ? MOMENT_WRITE : MOMENT_READ;
		x.first = fx->addr;
		x.last = fx->addr + fx->len - 1;
		done = add_moment(g, &x);
	}
	return done;
}

/* Decode the steps of the picture.  Returns false if the trace cannot be read, or memory is exhausted. */
static bool decode(struct gathering *g, struct ts_error *err)
{
	for (uint64_t pos = g->plot->from; pos < g->plot->to; pos++) {
		const struct ts_steps *batch;
		const struct ts_step *step = ts_query_step(g->ask->q, pos, &batch, err);

		if (!step)
			return false;
		if (!add_step(g, pos, step, batch))
			return ts_no_memory(err, "the steps of a picture");
	}
	return true;
}

/* Count one at each row of [first, last]. */
static void count_at(struct ts_grid *grid, const struct ts_areas *areas, const struct moment *x)
{
	uint32_t row = ts_areas_row(areas, x->process, x->first),
		 end = ts_areas_row(areas, x->process, x->last);

	for (; row <= end && end != TS_NO_ROW; row++)
		ts_grid_add(grid, x->pos, row, 1);
}

/* -------------------------------------------------------------------------------- a range that is decoded */

/* Steps are in the picture of code, what they access in that of data. */
static bool draw_moments(struct gathering *g)
{
	struct ts_plot *p = g->plot;
	struct ts_grid *const grids[] = { [MOMENT_STEP] = &p->code, [MOMENT_WRITE] = &p->writes, [MOMENT_READ] = &p->reads };

	for (size_t i = 0; i < g->n_moments; i++) {
		const struct moment *x = &g->moments[i];

		ts_areas_add(x->kind == MOMENT_STEP ? &p->code_areas : &p->data_areas, x->process, x->first, x->last);
	}
	if (!arrange(g, &p->code_areas, g->bounds->max_code_rows) || !init_grid(g, &p->code, 0, p->code_areas.n_rows) ||
	    !arrange(g, &p->data_areas, g->bounds->max_data_rows) || !init_grid(g, &p->writes, 0, p->data_areas.n_rows) ||
	    !init_grid(g, &p->reads, 0, p->data_areas.n_rows))
		return false;
	for (size_t i = 0; i < g->n_moments; i++) {
		const struct moment *x = &g->moments[i];

		count_at(grids[x->kind], x->kind == MOMENT_STEP ? &p->code_areas : &p->data_areas, x);
	}
	ts_grid_fit(&p->code, g->bounds->max_filled);
	return true;
}

/* If each column is one position, its function and its pc are that step's. */
static bool name_positions(struct gathering *g)
{
	struct ts_plot *p = g->plot;

	p->pcs = malloc(p->code.n_cols * sizeof(*p->pcs));
	for (uint32_t i = 0; p->pcs && i < p->code.n_cols; i++)
		p->pcs[i] = TS_NO_PC;
	for (size_t i = 0; p->pcs && i < g->n_moments; i++) {
		const struct moment *x = &g->moments[i];

		if (x->kind != MOMENT_STEP)
			continue;
		p->pcs[ts_grid_col(&p->code, x->pos)] = x->first;
		p->functions[ts_grid_col(&p->code, x->pos)] =
			name_code(g, ts_ask_function(g->ask, x->first), x->process, x->first);
	}
	return p->pcs != NULL;
}

/* ----------------------------------------------------------------------------------------- from the index */

/* One execution of a run after the other. */
struct run_use {
	struct ts_plot *plot;
	const struct run *run;
	uint32_t *counts; /* steps of one function, by column */
	uint32_t first_col, last_col; /* of counts that are not 0 */
	uint32_t rows[TS_MAX_RUN_LEN]; /* of the run's instructions */
	bool is_inside;   /* one of the run's steps is in the range */
};

static void look_inside(void *user, uint64_t pos)
{
	struct run_use *u = user;

	u->is_inside |= pos + u->run->facts.n > u->plot->from;
}

static int by_function(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return TS_ORDER((uintptr_t)x->key, (uintptr_t)y->key) ?: TS_ORDER(x->i, y->i);
}

/* The runs of the range, by function. */
static bool find_runs(struct gathering *g)
{
	struct ts_plot *p = g->plot;
	struct run x = { 0 };

	for (; go_on(g, PART_RUNS, 0) && ts_query_run(g->ask->q, x.i, &x.facts); x.i++) {
		struct run_use u = { .plot = p, .run = &x };

		ts_query_each_start(g->ask->q, x.i, p->from, p->to, look_inside, &u);
		if (!u.is_inside)
			continue;
		x.function = ts_ask_function(g->ask, x.facts.first);
		x.key = x.function ? (const void *)x.function
				   : ts_owners_find(&g->owners, x.facts.process, x.facts.first,
						    &(uint64_t){ 0 });
		if (!TS_PUSH(g->runs, g->n_runs, g->cap_runs, x))
			return false;
	}
	if (g->n_runs)
		qsort(g->runs, g->n_runs, sizeof(*g->runs), by_function);
	return true;
}

/* Where one execution's steps in the range begin and end. */
static uint64_t clip(const struct run_use *u, uint64_t *pos)
{
	uint64_t end = *pos + u->run->facts.n;

	if (*pos < u->plot->from)
		*pos = u->plot->from;
	return end < u->plot->to ? end : u->plot->to;
}

static void draw_run(void *user, uint64_t pos)
{
	struct run_use *u = user;
	uint64_t start = pos, end = clip(u, &pos);

	for (; pos < end; pos++)
		ts_grid_add(&u->plot->code, pos, u->rows[pos - start], 1);
}

/* The columns of one execution: two at most, unless these are short. */
static void count_run(void *user, uint64_t pos)
{
	struct run_use *u = user;
	const struct ts_grid *code = &u->plot->code;
	uint64_t end = clip(u, &pos), next;

	for (; pos < end; pos = next) {
		uint32_t col = ts_grid_col(code, pos);

		next = ts_grid_pos(code, col + 1);
		next = next < end ? next : end;
		u->counts[col] += (uint32_t)(next - pos);
		u->first_col = col < u->first_col ? col : u->first_col;
		u->last_col = col > u->last_col ? col : u->last_col;
	}
}

/* Rows of the instructions of u->run.  Returns false if the run is not shown. */
static bool find_rows(struct run_use *u)
{
	const struct ts_run_facts *x = &u->run->facts;
	uint64_t pc = x->first;

	for (uint32_t i = 0; i < x->n && i < TS_MAX_RUN_LEN; pc += x->lens[i++]) {
		u->rows[i] = ts_areas_row(&u->plot->code_areas, x->process, pc);
		if (u->rows[i] == TS_NO_ROW)
			return false;
	}
	return x->n <= TS_MAX_RUN_LEN;
}

static bool draw_code(struct gathering *g)
{
	struct ts_plot *p = g->plot;
	struct run_use u = { .plot = p };

	for (size_t i = 0; i < g->n_runs; i++)
		ts_areas_add(&p->code_areas, g->runs[i].facts.process, g->runs[i].facts.first,
			     g->runs[i].facts.last);
	if (!arrange(g, &p->code_areas, g->bounds->max_code_rows) ||
	    !init_grid(g, &p->code, 0, p->code_areas.n_rows))
		return false;
	for (size_t i = 0; i < g->n_runs && go_on(g, PART_CODE, (double)i / (double)g->n_runs); i++) {
		u.run = &g->runs[i];
		if (find_rows(&u))
			ts_query_each_start(g->ask->q, u.run->i, p->from, p->to, draw_run, &u);
	}
	ts_grid_fit(&p->code, g->bounds->max_filled);
	return true;
}

/*
 * u->counts are those of the name that run @i has: it is @best of the columns of which it has most steps so
 * far.
 */
static void take_counts(struct run_use *u, uint32_t *most, size_t *best, size_t i)
{
	for (uint32_t col = u->first_col; col <= u->last_col; col++) {
		if (u->counts[col] > most[col]) {
			most[col] = u->counts[col];
			best[col] = i;
		}
		u->counts[col] = 0;
	}
	u->first_col = UINT32_MAX;
	u->last_col = 0;
}

/* Count by name and column, one name's runs after the other. */
static void count_names(struct gathering *g, struct run_use *u, uint32_t *most, size_t *best)
{
	for (size_t i = 0; i < g->n_runs; i++) {
		u->run = &g->runs[i];
		ts_query_each_start(g->ask->q, u->run->i, g->plot->from, g->plot->to, count_run, u);
		if (i + 1 == g->n_runs || u->run->key != g->runs[i + 1].key)
			take_counts(u, most, best, i);
	}
}

/* The names of columns. */
static bool name_columns(struct gathering *g)
{
	struct ts_plot *p = g->plot;
	struct run_use u = { .plot = p, .first_col = UINT32_MAX };
	uint32_t *most = calloc(p->code.n_cols, sizeof(*most));
	size_t *best = calloc(p->code.n_cols, sizeof(*best));
	bool done;

	u.counts = calloc(p->code.n_cols, sizeof(*u.counts));
	done = most && best && u.counts;
	if (done)
		count_names(g, &u, most, best);
	for (uint32_t col = 0; done && col < p->code.n_cols; col++) {
		const struct run *x = most[col] ? &g->runs[best[col]] : NULL;

		if (x)
			p->functions[col] = name_code(g, x->function, x->facts.process, x->facts.first);
		done = go_on(g, PART_NAMES, (double)col / p->code.n_cols);
	}
	free(most);
	free(best);
	free(u.counts);
	return done;
}

struct touch_use {
	struct gathering *g;
	struct ts_grid *grid; /* NULL: addresses are to be added to the areas */
	uint32_t process;
};

static void use_touch(void *user, uint64_t addr, uint64_t chunk)
{
	struct touch_use *u = user;
	struct ts_plot *p = u->g->plot;
	struct moment x = { .pos = chunk * TS_CHUNK_STEPS, .process = u->process, .first = addr,
			       .last = addr + TS_TOUCHED_LEN - 1 };

	x.pos = x.pos > p->from ? x.pos : p->from;
	if (u->grid)
		count_at(u->grid, &p->data_areas, &x);
	else
		ts_areas_add(&p->data_areas, u->process, x.first, x.last);
}

static void each_touch(struct gathering *g, bool is_read, struct ts_grid *grid)
{
	struct touch_use u = { .g = g, .grid = grid };

	for (; u.process < ts_query_n_processes(g->ask->q); u.process++)
		ts_query_each_touch(g->ask->q, is_read, u.process, g->plot->from, g->plot->to, use_touch, &u);
}

static bool draw_data(struct gathering *g)
{
	struct ts_plot *p = g->plot;

	if (!go_on(g, PART_DATA, 0))
		return false;
	each_touch(g, false, NULL);
	each_touch(g, true, NULL);
	if (!go_on(g, PART_DATA, 0.5))
		return false;
	if (!arrange(g, &p->data_areas, g->bounds->max_data_rows) ||
	    !init_grid(g, &p->writes, CHUNK_SHIFT, p->data_areas.n_rows) ||
	    !init_grid(g, &p->reads, CHUNK_SHIFT, p->data_areas.n_rows))
		return false;
	each_touch(g, false, &p->writes);
	each_touch(g, true, &p->reads);
	return true;
}

/* ---------------------------------------------------------------------------------------------- all of it */

static void label_thread(struct gathering *g, uint32_t thread)
{
	uint32_t n = ts_query_n_threads(g->ask->q);
	char name[TS_THREAD_LABEL_LEN];

	if (thread == TS_PLOT_THREADS - 1 && n > TS_PLOT_THREADS)
		snprintf(name, sizeof(name), "%" PRIu32 " threads", n - thread);
	else
		ts_names_label(g->ask->names, g->ask->q, thread, name);
	g->plot->thread_labels[thread] = ts_labels_add(&g->plot->labels, name);
}

static bool draw_threads(struct gathering *g)
{
	struct ts_plot *p = g->plot;
	uint32_t n = ts_query_n_threads(g->ask->q), n_rows = n < TS_PLOT_THREADS ? n : TS_PLOT_THREADS;

	if (!init_grid(g, &p->threads, 0, n_rows))
		return false;
	for (uint32_t i = 0; i < n && go_on(g, PART_THREADS, (double)i / n); i++) {
		uint32_t row = i < n_rows ? i : n_rows - 1;

		if (i < n_rows)
			label_thread(g, i);
		for (uint64_t pos = p->from; pos < p->to;) {
			uint64_t next = ts_query_next_step(g->ask->q, i, pos);

			if (next >= p->to)
				break;
			ts_grid_add(&p->threads, next, row, 1);
			pos = ts_grid_pos(&p->threads, ts_grid_col(&p->threads, next) + 1);
		}
	}
	return true;
}

static bool alloc_functions(struct ts_plot *p)
{
	p->functions = malloc(p->code.n_cols * sizeof(*p->functions));
	if (p->functions)
		memset(p->functions, 0xff, p->code.n_cols * sizeof(*p->functions)); /* TS_NO_LABEL */
	return p->functions != NULL;
}

static bool draw(struct gathering *g, struct ts_error *err)
{
	struct ts_plot *p = g->plot;
	bool done;

	p->is_exact = (p->to - 1) / TS_CHUNK_STEPS - p->from / TS_CHUNK_STEPS < MAX_DECODED;
	if (p->is_exact && !decode(g, err))
		return false;
	done = find_runs(g) && (p->is_exact ? draw_moments(g) : draw_code(g) && draw_data(g)) &&
	       alloc_functions(p) && (p->is_exact && !p->code.shift ? name_positions(g) : name_columns(g));
	if (!done || !draw_threads(g) ||
	    !ts_timeline_marks_take(&p->marks, &p->labels, g->ask, p->from, p->to, g->bounds->max_marks))
		return false;
	ts_grid_fit(&p->writes, g->bounds->max_filled);
	ts_grid_fit(&p->reads, g->bounds->max_filled);
	return go_on(g, PART_CALLS, 0) &&
	       ts_call_bars_take(&p->calls, &p->labels, g->ask, &g->owners, p->from, p->to, &p->code,
				 g->bounds->max_calls, err);
}

bool ts_plot_init(struct ts_plot *p, struct ts_ask *ask, uint64_t from, uint64_t to,
		  const struct ts_plot_bounds *bounds, const struct ts_plot_watcher *watcher,
		  struct ts_error *err)
{
	struct gathering g = { .plot = p, .ask = ask, .bounds = bounds, .watcher = watcher };
	bool done;

	*p = (struct ts_plot){ .from = from, .to = to, .has_reads = ts_query_facts(ask->q)->has_reads };
	done = ts_labels_init(&p->labels) && ts_owners_init(&g.owners, ask->q) && draw(&g, err) &&
	       !p->labels.is_failed;
	ts_owners_fini(&g.owners);
	free(g.moments);
	free(g.runs);
	return !g.is_stopped && (done || ts_no_memory(err, "a picture")) &&
	       ts_query_finish_question(ask->q, err);
}

const char *ts_plot_left_out(const struct ts_plot *p)
{
	if (p->code_areas.is_partial || p->data_areas.is_partial)
		return "some processes have no rows: there are too many";
	return p->labels.is_full ? "some names are left out: a shorter range has fewer" : NULL;
}

void ts_plot_fini(struct ts_plot *p)
{
	ts_labels_fini(&p->labels);
	ts_areas_fini(&p->code_areas);
	ts_areas_fini(&p->data_areas);
	ts_grid_fini(&p->code);
	ts_grid_fini(&p->writes);
	ts_grid_fini(&p->reads);
	ts_grid_fini(&p->threads);
	free(p->functions);
	free(p->pcs);
	ts_call_bars_fini(&p->calls);
	ts_timeline_marks_fini(&p->marks);
}
