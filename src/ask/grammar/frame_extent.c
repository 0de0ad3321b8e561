/* SPDX-License-Identifier: MIT */
#include "frame_extent.h"

#include "src/query/handlers.h"

/* Executions that are looked at for the one that began or ended a frame. */
#define MAX_LOOKS 64u

struct frame {
	const struct ts_ask *ask;
	const struct ts_call *call;
	const struct ts_variable *v;
	uint32_t process;
	unsigned n_looks;
};

static bool look(struct frame *f)
{
	return f->n_looks++ < MAX_LOOKS;
}

static bool is_in_code(const struct ts_variable *v, uint64_t pc)
{
	for (unsigned i = 0; i < v->n_code; i++) {
		if (pc >= v->code[i].first && pc <= v->code[i].last)
			return true;
	}
	return false;
}

/*
 * Is position @pos in the frame's call, and in none that was made during it?  If not, *from and *to are positions around it
 * between which nothing is.
 */
static bool is_in_call(const struct frame *f, uint64_t pos, uint64_t *from, uint64_t *to)
{
	struct ts_call inner, outer;

	*from = *to = pos;
	if (ts_query_thread(f->ask->q, pos) != f->call->thread)
		return false;
	if (!ts_query_innermost_call(f->ask->q, f->call->thread, pos, &inner))
		return false;
	if (inner.ordinal == f->call->ordinal)
		return true;
	for (outer = inner; ts_query_outer_call(f->ask->q, &outer) && outer.ordinal != f->call->ordinal;)
		inner = outer;
	*from = inner.pos + 1;
	*to = inner.end == TS_NO_END ? pos : inner.end - 1;
	return false;
}

/* The last execution of the function's code in [at, end) by the call itself; TS_NO_POS if there were too many others. */
static uint64_t last_execution(struct frame *f, uint64_t at, uint64_t end)
{
	uint64_t pos = end - 1;

	while (look(f)) {
		uint64_t found = at, to;

		for (unsigned i = 0; i < f->v->n_code; i++) {
			uint64_t p = ts_query_find_execution(f->ask->q, f->process, f->v->code[i].first, f->v->code[i].last, pos, TS_BACKWARDS);

			if (p != TS_NO_POS && p > found)
				found = p;
		}
		if (found <= at || is_in_call(f, found, &pos, &to))
			return found;
		pos--;
	}
	return TS_NO_POS;
}

/* Was the function entered at @pos, where its first instruction is, from other code?  A loop may begin there, too. */
static bool is_entry(const struct frame *f, uint64_t pos, struct ts_error *err)
{
	uint64_t pc;
	bool has_pc;

	if (pos == f->call->pos + 1 || !f->v->n_code)
		return true;
	pos = ts_query_prev_step(f->ask->q, f->call->thread, pos - 1);
	return !ts_query_pc(f->ask->q, pos, f->call->thread, &pc, &has_pc, err) || !has_pc || !is_in_code(f->v, pc);
}

/*
 * Where after @at the function was entered again by a jump from other code, in the same call; @end if it was not; TS_NO_POS
 * if there were too many other executions of its first instruction.
 */
static uint64_t next_entry(struct frame *f, uint64_t at, uint64_t end, struct ts_error *err)
{
	uint64_t pos = at + 1, from;

	while (f->v->entry && look(f)) {
		pos = ts_query_find_execution(f->ask->q, f->process, f->v->entry, f->v->entry, pos, TS_FORWARDS);
		if (pos >= end)
			return end;
		if (is_in_call(f, pos, &from, &pos) && is_entry(f, pos, err))
			return pos;
		pos++;
	}
	return f->v->entry ? TS_NO_POS : end;
}

/* Did the call go on after @last with other code than the function's, of which it is the last execution? */
static bool jumps_away(const struct frame *f, uint64_t last, uint64_t end, struct ts_error *err)
{
	uint64_t next = ts_query_next_step(f->ask->q, f->call->thread, last + 1), from, to;
	struct ts_handler handler;

	return next < end && is_in_call(f, next, &from, &to) &&
	       !ts_query_handler_after(f->ask->q, f->call->thread, last, &handler, err) && err->code == TS_OK;
}

static bool find_end(struct frame *f, uint64_t at, struct ts_frame_extent *x, struct ts_error *err)
{
	uint64_t end = f->call->end < f->ask->n_steps ? f->call->end : f->ask->n_steps, last = TS_NO_POS;

	if (f->v->n_code && end > at)
		end = next_entry(f, at, end, err);
	if (f->v->n_code && end != TS_NO_POS && end > at)
		last = last_execution(f, at, end);
	x->end = f->call->end;
	x->is_unsure = last == TS_NO_POS;
	x->ends_by_jump = !x->is_unsure && jumps_away(f, last, end, err);
	if (x->ends_by_jump)
		x->end = last + 1;
	return err->code == TS_OK;
}

/* Where the frame begins: at the call, or where its function was entered last in it. */
static uint64_t find_begin(struct frame *f, uint64_t at, bool *is_found, struct ts_error *err)
{
	uint64_t pos = at, entry = f->v->entry, to;

	*is_found = !entry || (!f->v->n_code && entry == f->call->target);
	while (!*is_found && look(f)) {
		pos = ts_query_find_execution(f->ask->q, f->process, entry, entry, pos, TS_BACKWARDS);
		*is_found = pos == TS_NO_POS || pos <= f->call->pos;
		if (!*is_found && is_in_call(f, pos, &pos, &to) && is_entry(f, pos, err)) {
			*is_found = true;
			return pos;
		}
		pos--;
	}
	return f->call->pos + 1;
}

bool ts_frame_extent(struct ts_ask *ask, const struct ts_call *call, const struct ts_variable *v, uint64_t at,
		     struct ts_frame_extent *extent, struct ts_error *err)
{
	struct frame f = { .ask = ask, .call = call, .v = v, .process = ts_query_process(ask->q, call->thread) };

	bool is_begin_known;

	*extent = (struct ts_frame_extent){ .begin = find_begin(&f, at, &is_begin_known, err) };
	f.n_looks = 0;
	if (err->code != TS_OK || !find_end(&f, at, extent, err))
		return false;
	extent->is_unsure |= !is_begin_known;
	return true;
}
