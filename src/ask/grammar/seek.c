/* SPDX-License-Identifier: MIT */
#include "seek.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"
#include "src/query/search/call_list.h"
#include "src/query/code/handlers.h"
#include "state.h"
#include "src/ask/verb.h"
#include "src/symbols/symbols.h"

/* ------------------------------------------------------------------------------------------ previous line */

/* Positions that take as long as what one of the budget is. */
#define STEPS_A_BUDGET 128u

/* The activation of a function: the call that began it; the outermost one has none. */
struct activation {
	struct ts_call call;
	bool has_call;
};

static struct activation activation_at(struct ts_query *q, uint32_t thread, uint64_t pos)
{
	struct activation a;

	a.has_call = ts_query_innermost_call(q, thread, pos, &a.call);
	return a;
}

static bool is_same(const struct activation *a, const struct activation *b)
{
	return a->has_call == b->has_call && (!a->has_call || a->call.ordinal == b->call.ordinal);
}

/*
 * The thread's position before @pos in the same activation: before a call that returned, where it was made.  TS_NO_POS if the
 * activation, or the recording of the thread, begins here; *caller gets the call's position then, or TS_NO_POS.
 */
static uint64_t before(struct ts_query *q, uint32_t thread, uint64_t pos, const struct activation *own, uint64_t *caller)
{
	uint64_t step = pos ? ts_query_prev_step(q, thread, pos - 1) : TS_NO_POS;
	struct activation a;

	*caller = TS_NO_POS;
	if (step == TS_NO_POS)
		return TS_NO_POS;
	if (own->has_call && step <= own->call.pos) {
		*caller = own->call.pos;
		return TS_NO_POS;
	}
	for (a = activation_at(q, thread, step); a.has_call && !is_same(&a, own);) {
		step = a.call.pos;
		a.has_call = ts_query_outer_call(q, &a.call);
	}
	return step;
}

static const struct ts_code_line *line_at(struct ts_ask *ask, uint32_t thread, uint64_t pos, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (!ts_query_pc(ask->q, pos, thread, &pc, &has_pc, err) || !has_pc)
		return NULL;
	return ts_code_lines_at(ts_symbols_lines(ask->symbols), pc);
}

static bool is_same_line(const struct ts_code_line *a, const struct ts_code_line *b)
{
	return a && b && a->file == b->file && a->line == b->line;
}

/*
 * Find the line that the thread at @here ran before its current one, in the same activation of the function or in the caller.
 * *pos is set to the first position of that line, or to TS_NO_POS if the line does not exist.  If @here is not the first
 * position of its own line, *pos is set to the first position of that line instead.  Functions that the line called, and
 * code without lines, are skipped.
 *
 * Returns as a cursor does; TS_ITEM when the search is done.
 */
static enum ts_next previous_line(struct ts_line_search *s, struct ts_ask *ask, uint64_t here, struct ts_budget *budget, uint64_t *pos,
				  struct ts_error *err)
{
	enum ts_next got = ts_ask_need_calls(ask, budget, err);
	uint32_t thread = ts_query_thread(ask->q, here);
	struct ts_query *q = ask->q;
	struct activation own;

	if (got != TS_ITEM || !ask->symbols)
		return got;
	if (!s->has_begun)
		s->at = here;
	if (!s->has_begun)
		s->line = line_at(ask, thread, here, err);
	s->has_begun = true;
	own = activation_at(q, thread, s->at);
	for (unsigned n = 1; err->code == TS_OK; n++) {
		uint64_t caller, prev = before(q, thread, s->at, &own, &caller);
		const struct ts_code_line *line;
		bool is_out;

		if (n % STEPS_A_BUDGET == 0 && !ts_budget_take(budget))
			return TS_MORE;
		if (prev == TS_NO_POS && caller == TS_NO_POS)
			break;
		is_out = prev == TS_NO_POS;
		prev = is_out ? caller : prev;
		line = line_at(ask, thread, prev, err);
		if (line && !is_same_line(line, s->line) && !is_out && s->at != here)
			break;
		if (is_out) /* gdb does not stop at the first instruction of a function: it goes on to the line of the call */
			own = activation_at(q, thread, caller);
		if (line)
			s->line = line;
		s->at = prev;
	}
	if (err->code != TS_OK)
		return TS_FAIL;
	if (s->at != here)
		*pos = s->at;
	return TS_ITEM;
}

static void set_bounds(struct ts_seek *s)
{
	struct ts_question *qn = s->qn;

	qn->has_range = true;
	qn->from = s->place->is_reverse ? 0 : s->here + 1;
	qn->to = s->place->is_reverse ? s->here : s->ask->n_steps + 1;
}

/* The question of which one row is the place. */
static void make_question(struct ts_seek *s)
{
	const struct ts_ask_place *place = s->place;
	struct ts_question *qn = s->qn;

	qn->verb = place->verb;
	switch (place->kind) {
	case TS_PLACE_ACCESS:
		qn->what = place->what;
		break;
	case TS_PLACE_FIRST:
		if (*place->line)
			snprintf(qn->operand, sizeof(qn->operand), "%s", place->line);
		else
			qn->what = place->what;
		break;
	case TS_PLACE_EVENT:
		strcpy(qn->operand, place->word);
		set_bounds(s);
		break;
	case TS_PLACE_CALL:
		set_bounds(s);
		qn->from -= qn->from != 0; /* a call's position is one before its begin */
		qn->to -= qn->to != 0;
		break;
	case TS_PLACE_POSITION:
	case TS_PLACE_RELATIVE:
	case TS_PLACE_RETURN:
	case TS_PLACE_SWITCH:
	case TS_PLACE_CALLER:
	case TS_PLACE_OUT:
	case TS_PLACE_LINE:
		break;
	}
}

bool ts_seek_init(struct ts_seek *s, struct ts_ask *ask, const struct ts_ask_place *place, uint64_t here,
		  struct ts_error *err)
{
	*s = (struct ts_seek){ .place = place, .ask = ask, .here = here };
	if (!place->verb)
		return true;
	s->qn = malloc(sizeof(*s->qn));
	if (!s->qn)
		return ts_no_memory(err, "a search");
	*s->qn = (struct ts_question){ .thread = TS_NO_THREAD, .to = ask->n_steps + 1, .at = here,
				       .depth = TS_NO_LIMIT, .min = TS_NO_LIMIT, .count = TS_NO_LIMIT };
	make_question(s);
	if (s->qn->from >= s->qn->to)
		return true;
	s->rows = ts_rows_open(s->qn->verb->rows, ask, s->qn, place->is_reverse && s->qn->verb->is_reversible, err);
	if (s->rows)
		s->rows->is_bare = true;
	return s->rows != NULL;
}

void ts_seek_fini(struct ts_seek *s)
{
	ts_rows_close(s->rows);
	free(s->qn);
	*s = (struct ts_seek){ 0 };
}

/*
 * The nearest position with another thread running than at the one before: after the last step of any other
 * thread.
 */
static enum ts_next find_previous_switch(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos)
{
	const struct ts_query *q = s->ask->q;
	uint32_t running = s->here > 1 ? ts_query_thread(q, s->here - 1) : 0;

	for (; s->here > 1 && s->thread < ts_query_n_threads(q); s->thread++) {
		uint64_t step;

		if (s->thread == running)
			continue;
		if (!ts_budget_take(budget))
			return TS_MORE;
		step = ts_query_prev_step(q, s->thread, s->here - 2);
		if (step != TS_NO_POS && step + 1 > s->nearest)
			s->nearest = step + 1;
	}
	if (s->nearest)
		*pos = s->nearest;
	return TS_ITEM;
}

static enum ts_next find_switch(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos)
{
	uint64_t end = s->ask->n_steps;

	if (s->place->is_reverse)
		return find_previous_switch(s, budget, pos);
	if (s->here < end)
		end = ts_query_slice_end(s->ask->q, s->here);
	if (end < s->ask->n_steps)
		*pos = end;
	return TS_ITEM;
}

/* Where the row is: a row's position, or for what is arrived at, the position after it. */
static uint64_t place_of(const struct ts_seek *s, const struct ts_row *row)
{
	uint64_t pos = row->cells[0].number;

	switch (s->place->kind) {
	case TS_PLACE_ACCESS:
		return pos + (!s->place->is_reverse && strcmp(s->place->word, "exec"));
	case TS_PLACE_CALL:
		return pos + 1;
	default:
		return pos;
	}
}

/* The nearest position at which a call returned. */
static enum ts_next find_return(const struct ts_seek *s, struct ts_budget *budget, uint64_t *pos,
				struct ts_error *err)
{
	enum ts_next got = ts_ask_need_calls(s->ask, budget, err);

	if (got == TS_ITEM)
		*pos = s->place->is_reverse ? ts_query_prev_return(s->ask->q, s->here)
					    : ts_query_next_return(s->ask->q, s->here);
	return got;
}

/* The innermost call or handler of a signal that is open in the thread which runs here: where it began, or where it is over. */
static enum ts_next find_activation(const struct ts_seek *s, struct ts_budget *budget, uint64_t *pos, struct ts_error *err)
{
	enum ts_next got = ts_ask_need_calls(s->ask, budget, err);
	bool is_out = s->place->kind == TS_PLACE_OUT;
	uint32_t thread = ts_query_thread(s->ask->q, s->here);
	struct ts_handler handler;
	struct ts_call call;
	bool has_call;

	if (got != TS_ITEM)
		return got;
	has_call = ts_query_innermost_call(s->ask->q, thread, s->here, &call);
	if (ts_query_handler_at(s->ask->q, thread, s->here, &handler, err) && (!has_call || call.pos <= handler.pos))
		*pos = is_out ? handler.end : handler.pos;
	else if (has_call)
		*pos = is_out ? call.end : call.pos;
	return err->code == TS_OK ? TS_ITEM : TS_FAIL;
}

/* A position that is @place->pos steps away from where the search begins. */
static uint64_t find_relative(const struct ts_seek *s, struct ts_error *err)
{
	const struct ts_ask_place *place = s->place;
	uint64_t pos;

	if (ts_place_add_steps(s->here, place->pos, place->is_reverse, &pos) && pos <= s->ask->n_steps)
		return pos;
	ts_fail(err, TS_EUSAGE, TS_NO_OFF,
		"'%c%" PRIu64 "' from %" PRIu64 " is not a position: the last one is %" PRIu64,
		place->is_reverse ? '-' : '+', place->pos, s->here, s->ask->n_steps);
	return TS_NO_POS;
}

bool ts_seek_run(struct ts_seek *s, struct ts_budget *budget, uint64_t *pos, struct ts_error *err)
{
	struct ts_row row;
	enum ts_next got;

	*pos = s->place->kind == TS_PLACE_POSITION ? s->place->pos : TS_NO_POS;
	if (s->place->kind == TS_PLACE_RELATIVE)
		*pos = find_relative(s, err);
	if (s->place->kind == TS_PLACE_SWITCH)
		return find_switch(s, budget, pos) != TS_MORE;
	if (s->place->kind == TS_PLACE_LINE)
		return previous_line(&s->line, s->ask, s->here, budget, pos, err) != TS_MORE;
	if (s->place->kind == TS_PLACE_RETURN)
		return find_return(s, budget, pos, err) != TS_MORE;
	if (s->place->kind == TS_PLACE_CALLER || s->place->kind == TS_PLACE_OUT)
		return find_activation(s, budget, pos, err) != TS_MORE;
	if (!s->rows)
		return true;
	ts_row_init(&row);
	got = s->rows->ops->next(s->rows, &row, budget, err);
	if (got == TS_ITEM)
		*pos = place_of(s, &row);
	ts_row_fini(&row);
	return got != TS_MORE;
}
