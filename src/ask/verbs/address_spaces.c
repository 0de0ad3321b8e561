/* SPDX-License-Identifier: MIT */
#include "address_spaces.h"

#include "src/ask/grammar/machine.h"

void ts_address_spaces_init(struct ts_address_spaces *a, const struct ts_ask *ask)
{
	*a = (struct ts_address_spaces){ .q = ask->q, .n_steps = ask->n_steps };
}

void ts_address_spaces_fini(struct ts_address_spaces *a)
{
	ts_covered_fini(&a->steps);
	ts_covered_fini(&a->begins);
}

/* The steps of the span that ends at @to are counted.  Returns false if memory is exhausted. */
static bool end_span(struct ts_address_spaces *a, uint64_t to, struct ts_error *err)
{
	uint64_t first = ts_query_next_step(a->q, a->thread, a->from);
	uint64_t n = ts_query_n_steps_of(a->q, a->thread, to) - ts_query_n_steps_of(a->q, a->thread, a->from);
	struct ts_covered *steps, *begin;

	if (!n)
		return true;
	if (!a->has_value) {
		a->unknown_begin = !a->n_unknown || first < a->unknown_begin ? first : a->unknown_begin;
		a->n_unknown += n;
		return true;
	}
	steps = ts_covered_find(&a->steps, a->value);
	begin = ts_covered_find(&a->begins, a->value);
	if (!steps || !begin)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the processes of the machine");
	if (!steps->steps || first < begin->steps)
		begin->steps = first;
	steps->steps += n;
	return true;
}

/* A span begins at @pos if the page tables are others there than before. */
static bool look(struct ts_address_spaces *a, uint64_t pos, struct ts_error *err)
{
	uint64_t value = 0;
	bool has_value = ts_machine_process(a->q, pos, a->thread, &value, err);

	if (err->code != TS_OK)
		return false;
	if (a->is_inside && has_value == a->has_value && value == a->value)
		return true;
	if (a->is_inside && !end_span(a, pos, err))
		return false;
	a->is_inside = true;
	a->from = pos;
	a->value = value;
	a->has_value = has_value;
	return true;
}

static bool look_into(struct ts_address_spaces *a, uint64_t chunk, struct ts_error *err)
{
	uint64_t pos = chunk * TS_CHUNK_STEPS, end = pos + TS_CHUNK_STEPS < a->n_steps ? pos + TS_CHUNK_STEPS : a->n_steps;

	for (pos = pos < a->from ? a->from : pos; pos < end; pos++) {
		const struct ts_steps *b;
		const struct ts_step *s = ts_query_step(a->q, pos, &b, err);

		if (!s || (ts_machine_may_change(a->q, b, s) && !look(a, pos + 1, err)))
			return false;
	}
	return true;
}

enum ts_got ts_address_spaces_some(struct ts_address_spaces *a, struct ts_budget *budget, struct ts_error *err)
{
	while (a->thread < ts_query_n_threads(a->q)) {
		uint64_t first = ts_query_next_step(a->q, a->thread, 0), chunk;

		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
		if (!a->is_inside && first < a->n_steps) {
			if (!look(a, first, err))
				return TS_GOT_FAIL;
			a->chunk = first / TS_CHUNK_STEPS;
		}
		chunk = a->is_inside ? ts_machine_next_change(a->q, a->thread, a->chunk) : TS_NO_CHUNK;
		if (chunk != TS_NO_CHUNK && chunk * TS_CHUNK_STEPS < a->n_steps) {
			if (!look_into(a, chunk, err))
				return TS_GOT_FAIL;
			a->chunk = chunk + 1;
			continue;
		}
		if (a->is_inside && !end_span(a, a->n_steps, err))
			return TS_GOT_FAIL;
		a->is_inside = false;
		a->thread++;
	}
	return TS_GOT_END;
}
