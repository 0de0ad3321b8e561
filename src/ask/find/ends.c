/* SPDX-License-Identifier: MIT */
#include "ends.h"

#include "mirror.h"

/* So many looks may be spent before anything is scanned. */
#define FIRST_CREDIT 256

void ts_ends_init(struct ts_ends *e, const struct ts_ask *ask, const struct ts_value *value, uint32_t process)
{
	*e = (struct ts_ends){ .ask = ask, .value = value, .process = process, .credit = FIRST_CREDIT };
}

static void spend(struct ts_ends *e, unsigned n_looks)
{
	e->n_looks += n_looks;
	e->credit -= n_looks;
}

/* Does the effect leave a byte of the value that it does not have, or an unknown one? */
static bool may_break(const struct ts_ends *e, uint64_t addr, const struct ts_steps *batch,
		      const struct ts_effect *fx)
{
	uint64_t last = addr + (e->value->len - 1), fx_last = fx->addr + (fx->len - 1);
	const uint8_t *data;

	if (!ts_effect_touches(fx, addr, last))
		return false;
	data = ts_effect_data(batch, fx);
	if (fx->kind > TS_FX_READ || !data)
		return fx->kind != TS_FX_READ;
	return !ts_value_agrees(e->value, addr, data, fx->addr, fx_last);
}

/*
 * Step @pos may end it: does it not stand after that, or (a read shows) before?  If so its position goes to
 * *end.
 */
static bool look_at_step(struct ts_ends *e, uint64_t addr, const struct ts_steps *batch, uint64_t pos,
			 uint64_t *end, struct ts_error *err)
{
	const struct ts_step *s = &batch->steps[pos % TS_CHUNK_STEPS];
	struct ts_step_effects all = ts_step_effects(batch, s);
	const struct ts_effect *fx;
	bool breaks = false;

	while ((fx = ts_step_effects_next(&all)))
		breaks |= ts_query_process(e->ask->q, all.thread) == e->process && may_break(e, addr, batch, fx);
	for (unsigned pass = 0; breaks && pass < 2; pass++) {
		uint8_t data[TS_MAX_VALUE], known[TS_MAX_VALUE];

		spend(e, 1);
		if (!ts_query_mem(e->ask->q, pos + pass, e->process, addr, e->value->len, data, known, err))
			return false;
		if (!ts_value_is(e->value, data, known)) {
			*end = pos + pass;
			return true;
		}
	}
	return true;
}

static bool look_at_chunk(struct ts_ends *e, uint64_t addr, uint64_t chunk, uint64_t pos, uint64_t *end,
			  struct ts_error *err)
{
	uint64_t first = chunk * TS_CHUNK_STEPS, last = first + TS_CHUNK_STEPS;
	const struct ts_steps *batch;

	first = first > pos ? first : pos;
	last = last < e->ask->n_steps ? last : e->ask->n_steps;
	if (first >= last)
		return true;
	spend(e, TS_LOOKS_A_CHUNK);
	if (!ts_query_step_whole(e->ask->q, first, &batch, err))
		return false;
	for (; first < last && *end == TS_NO_POS; first++) {
		if (!look_at_step(e, addr, batch, first, end, err))
			return false;
	}
	return true;
}

bool ts_ends_look(struct ts_ends *e, uint64_t addr, uint64_t pos, uint64_t *end, bool *is_found,
		  struct ts_error *err)
{
	uint64_t chunk = pos / TS_CHUNK_STEPS, last = addr + (e->value->len - 1);

	if (e->addr != addr)
		e->chunk = 0;
	e->addr = addr;
	chunk = e->chunk > chunk ? e->chunk : chunk;
	chunk = ts_query_find_access(e->ask->q, TS_ACCESS_CHANGE | TS_ACCESS_REPLACE, e->process, addr, last, chunk, TS_FORWARDS);
	if (++e->n % TS_QUESTIONS_A_LOOK == 0)
		spend(e, 1);
	*end = TS_NO_POS;
	if (chunk != TS_NO_CHUNK && !look_at_chunk(e, addr, chunk, pos, end, err))
		return false;
	*is_found = chunk == TS_NO_CHUNK || *end != TS_NO_POS;
	e->chunk = chunk == TS_NO_CHUNK || *is_found ? 0 : chunk + 1;
	return true;
}
