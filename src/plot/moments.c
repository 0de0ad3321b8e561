/* SPDX-License-Identifier: MIT */
#include "moments.h"

#include <stdlib.h>

#include "src/base/vec.h"

void ts_moments_fini(struct ts_moments *m)
{
	free(m->items);
	*m = (struct ts_moments){ 0 };
}

static bool add(struct ts_moments *m, const struct ts_moment *x)
{
	if (!ts_vec_reserve(&m->items, m->n, &m->cap, 1, sizeof(*m->items)))
		return false;
	m->items[m->n++] = *x;
	return true;
}

static bool add_step(struct ts_moments *m, const struct ts_query *q, uint64_t pos, const struct ts_step *step,
		     const struct ts_steps *batch)
{
	struct ts_moment x = { .pos = pos, .first = step->pc, .last = step->pc,
			       .process = ts_query_process(q, step->thread) };
	struct ts_step_effects all = ts_step_effects(batch, step);
	bool done = step->pc == TS_NO_PC || add(m, &x);
	const struct ts_effect *fx;

	while (done && (fx = ts_step_effects_next(&all))) {
		x.process = ts_query_process(q, all.thread);
		/* what no instruction read is not an access; what none wrote is a change all the same, if it was seen */
		if ((fx->kind != TS_FX_WRITE && (fx->kind != TS_FX_READ || fx->is_hidden)) || fx->is_inferred || !fx->len)
			continue;
		x.kind = fx->kind == TS_FX_WRITE ? TS_MOMENT_WRITE : TS_MOMENT_READ;
		x.first = fx->addr;
		x.last = fx->addr + fx->len - 1;
		done = add(m, &x);
	}
	return done;
}

bool ts_moments_take(struct ts_moments *m, struct ts_query *q, uint64_t from, uint64_t to,
		     struct ts_error *err)
{
	for (uint64_t pos = from; pos < to; pos++) {
		const struct ts_steps *batch;
		const struct ts_step *step = ts_query_step(q, pos, &batch, err);

		if (!step)
			return false;
		if (!add_step(m, q, pos, step, batch))
			return ts_no_memory(err, "the steps of a picture");
	}
	return true;
}
