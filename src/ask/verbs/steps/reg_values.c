/* SPDX-License-Identifier: MIT */
#include "reg_values.h"

#include <string.h>

#include "src/ask/grammar/state.h"

/* The register while the effects of a chunk are applied. */
struct view {
	const struct ts_ask *ask;
	const struct ts_cond *cond;
	const struct ts_what *what;
	uint32_t thread;
	uint8_t *g, *known;
	bool may;
};

static void look(struct view *v)
{
	uint8_t bit, *data = v->g + v->what->off;
	const uint8_t *known = v->known + v->what->off;

	for (uint16_t i = 0; i < v->what->len; i++)
		v->may |= known[i] != 1;
	if (v->may)
		return;
	if (v->what->is_flag) {
		bit = data[0] >> v->what->bit & 1;
		data = &bit;
	}
	v->may = ts_value_holds(v->ask, v->cond, data, known, v->what->len, v->what->is_flag);
}

static void take(struct view *v, const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(b, e);
	uint64_t end = v->what->off + v->what->len;

	if (e->addr >= end || v->what->off >= e->addr + e->len)
		return;
	if (!value && e->kind == TS_FX_REG_READ)
		return;
	if (!value) {
		v->may = true;
		return;
	}
	memcpy(v->g + e->addr, value, (size_t)e->len);
	memset(v->known + e->addr, 1, (size_t)e->len);
	look(v);
}

static void take_step(struct view *v, const struct ts_steps *b, const struct ts_step *s)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while (!v->may && (e = ts_step_effects_next(&all))) {
		if (e->kind == TS_FX_FORGET_REGS)
			v->may = true;
		else if (all.thread == v->thread && (e->kind == TS_FX_REG_WRITE || e->kind == TS_FX_REG_READ))
			take(v, b, e);
	}
}

/* The register as it is at @pos. */
static bool look_at(struct view *v, uint64_t pos, struct ts_error *err)
{
	if (!ts_query_first_regs(v->ask->q, pos, v->thread, v->what->off + v->what->len, v->g, v->known, err))
		return false;
	look(v);
	return true;
}

bool ts_reg_values_may_hold(const struct ts_ask *ask, const struct ts_cond *cond, const struct ts_what *what, uint32_t thread,
			    uint64_t chunk, uint8_t *room, bool *may, struct ts_error *err)
{
	struct view v = { .ask = ask, .cond = cond, .what = what, .thread = thread, .g = room };
	uint64_t first = chunk * TS_CHUNK_STEPS, end = first + TS_CHUNK_STEPS;
	const struct ts_steps *b;

	v.known = room + ts_query_regset(ask->q)->g_len;
	end = end < ask->n_steps ? end : ask->n_steps;
	*may = true;
	if (first >= end)
		return true;
	/* a value that the first step of the next chunk shows is a change by the last step of this chunk */
	if (!look_at(&v, end, err) || (!v.may && !look_at(&v, first, err)))
		return false;
	if (!v.may && !ts_query_step_whole(ask->q, first, &b, err))
		return false;
	for (uint64_t i = 0; i < end - first && !v.may; i++)
		take_step(&v, b, &b->steps[i]);
	*may = v.may;
	return true;
}
