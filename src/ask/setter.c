/* SPDX-License-Identifier: MIT */
#include "setter.h"

/* So far back all steps are looked at. */
#define N_NEAR 1024u

/* What one of the budget allows: steps that are looked at, runs that are decoded, runs that are looked up. */
#define STEPS_A_BUDGET 8u
#define RUNS_A_BUDGET  4u
#define LOOKS_A_BUDGET 64u

static void end_search(struct ts_setter *s)
{
	if (s->is_searching)
		ts_flag_search_fini(&s->search);
	s->is_searching = s->is_looking = false;
}

void ts_setter_fini(struct ts_setter *s)
{
	end_search(s);
}

static bool begin_search(struct ts_setter *s, const struct ts_query *q, uint32_t does, struct ts_error *err)
{
	s->is_searching = true;
	return ts_flag_search_init(&s->search, q, does, err);
}

/* From step @pos back to the last run that may do it.  TS_GOT_ROW: go on from s->pos down to s->first. */
static enum ts_got skip(struct ts_setter *s, struct ts_query *q, uint64_t pos, uint32_t does,
			struct ts_budget *budget, struct ts_error *err)
{
	enum ts_need need = s->is_searching ? TS_NEED_DONE : TS_NEED_MORE;
	uint64_t end;

	if (!ts_query_has_flag_runs(q)) {
		s->first = 0;
		return TS_GOT_ROW;
	}
	while (need == TS_NEED_MORE) {
		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
		need = ts_query_need_flag_runs(q, RUNS_A_BUDGET, err);
	}
	if (need == TS_NEED_FAILED || (!s->is_searching && !begin_search(s, q, does, err)))
		return TS_GOT_FAIL;
	while (!ts_flag_search_prev(&s->search, q, pos, LOOKS_A_BUDGET, &s->first, &end)) {
		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
	}
	if (s->first == TS_NO_POS)
		return TS_GOT_END;
	if (end <= pos)
		s->pos = end;
	return TS_GOT_ROW;
}

/* Look at the step before s->pos, or pass over those that cannot be.  TS_GOT_ROW: *is_found, or go on. */
static enum ts_got look(struct ts_setter *s, struct ts_query *q, uint32_t thread, uint32_t does,
			bool *is_found, struct ts_budget *budget, struct ts_error *err)
{
	uint64_t pos = s->pos ? ts_query_prev_step(q, thread, s->pos - 1) : TS_NO_POS;
	const struct ts_decoded *d;

	if (pos == TS_NO_POS)
		return TS_GOT_END;
	if (pos < s->first)
		return skip(s, q, pos, does, budget, err);
	s->pos = pos;
	d = ts_query_insn(q, pos, err);
	*is_found = d && ts_flags_of(d) & does;
	return d ? TS_GOT_ROW : TS_GOT_FAIL;
}

enum ts_got ts_setter_find(struct ts_setter *s, struct ts_query *q, uint32_t thread, uint64_t before,
			   uint32_t does, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_got got = TS_GOT_ROW;
	bool is_found = false;

	if (!s->is_looking) {
		s->is_looking = true;
		s->pos = before;
		s->first = before > N_NEAR ? before - N_NEAR : 0;
	}
	while (got == TS_GOT_ROW && !is_found) {
		if (s->n_looked++ % STEPS_A_BUDGET == 0 && !ts_budget_take(budget))
			return TS_GOT_PENDING;
		got = look(s, q, thread, does, &is_found, budget, err);
	}
	if (got != TS_GOT_PENDING)
		end_search(s);
	return got;
}
