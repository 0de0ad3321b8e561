/* SPDX-License-Identifier: MIT */
#include "replay.h"

#include <string.h>

#include "src/query/code/byte_rule.h"
#include "src/timeline/timeline.h"

void ts_replay_start(struct ts_replay *v, uint64_t chunk)
{
	const struct ts_space *sp = v->tl->memory[v->process];

	ts_space_at(sp, chunk, v->addr, v->len, v->data, v->known);
	v->n_layers = ts_space_n_layers(sp, chunk * TS_CHUNK_STEPS);
}

/* Does the effect begin a new layer of the space? */
static bool is_fill(const struct ts_effect *e)
{
	return (e->kind == TS_FX_MAP || e->kind == TS_FX_UNMAP || e->kind == TS_FX_FORGET) && e->len;
}

void ts_replay_take(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(b, e);
	uint64_t lo, hi;
	size_t at, n;

	v->n_layers += is_fill(e);
	if (e->kind == TS_FX_UNSEEN)
		ts_known_settle(v->data, v->known, v->len, NULL);
	if (!ts_replay_overlap(v, e, &lo, &hi))
		return;
	at = (size_t)(lo - v->addr);
	n = (size_t)(hi - lo) + 1;
	if (is_fill(e)) {
		ts_space_base(v->tl->memory[v->process], v->n_layers, lo, n, v->data + at, v->known + at);
	} else if (value) {
		memcpy(v->data + at, value + (lo - e->addr), n);
		memset(v->known + at, 1, n);
	} else if (e->kind == TS_FX_WRITE) {
		memset(v->data + at, 0, n);
		memset(v->known + at, TS_LOST, n);
	}
}

/* Call @use with the effects of the step that are of the window's process, but not with those on registers. */
static inline void each_mem_effect(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s,
				   void (*use)(struct ts_replay *v, const struct ts_steps *b,
					       const struct ts_effect *e))
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all))) {
		if (e->kind > TS_FX_REG_READ &&
		    (ts_timeline_process(v->tl, all.thread) == v->process || e->kind == TS_FX_UNSEEN))
			use(v, b, e);
	}
}

/*
 * The bytes of an effect in the window: *at is the first, *n their number.  Returns false if none is found.
 */
static bool find_in_view(const struct ts_replay *v, const struct ts_effect *e, size_t *at, size_t *n)
{
	uint64_t lo, hi;

	if (e->kind == TS_FX_PROTECT || !ts_replay_overlap(v, e, &lo, &hi))
		return false;
	*at = (size_t)(lo - v->addr);
	*n = (size_t)(hi - lo) + 1;
	return true;
}

static void forget_passed_by_effect(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e)
{
	size_t at, n;

	(void)b;
	if (find_in_view(v, e, &at, &n))
		ts_known_end_step(v->known + at, n);
}

const struct ts_effect *ts_replay_see(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s,
				    uint32_t *thread)
{
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *change = NULL, *e;
	bool is_touched = false;
	size_t at, n;

	while ((e = ts_step_effects_next(&all))) {
		const uint8_t *value = ts_effect_data(b, e);

		if (!find_in_view(v, e, &at, &n) || ts_timeline_process(v->tl, all.thread) != v->process)
			continue;
		is_touched = true;
		if (e->kind != TS_FX_READ) {
			ts_known_pass(v->known + at, n);
		} else if (value &&
			   ts_known_see(v->data + at, v->known + at, n, value + (v->addr + at - e->addr)) &&
			   !change) {
			change = e;
			*thread = all.thread;
		}
	}
	if (is_touched)
		each_mem_effect(v, b, s, forget_passed_by_effect);
	return change;
}

static void settle_by_effect(struct ts_replay *v, const struct ts_steps *b, const struct ts_effect *e)
{
	const uint8_t *value = ts_effect_data(b, e);
	uint64_t lo, hi;

	if (e->kind == TS_FX_UNSEEN)
		ts_known_settle(v->data, v->known, v->len, NULL);
	if (!ts_replay_overlap(v, e, &lo, &hi) || e->kind == TS_FX_PROTECT ||
	    (e->kind == TS_FX_READ && !value))
		return;
	ts_known_settle(v->data + (lo - v->addr), v->known + (lo - v->addr), (size_t)(hi - lo) + 1,
	       e->kind == TS_FX_READ ? value + (lo - e->addr) : NULL);
}

void ts_replay_settle(struct ts_replay *v, const struct ts_steps *b, uint64_t pos)
{
	for (uint32_t i = pos % TS_CHUNK_STEPS; i < b->n_steps && memchr(v->known, TS_LOST, v->len); i++)
		each_mem_effect(v, b, &b->steps[i], settle_by_effect);
	ts_known_settle_at_end(v->tl->memory[v->process], pos / TS_CHUNK_STEPS, v->addr, v->data, v->known, v->len);
}

void ts_replay_step(struct ts_replay *v, const struct ts_steps *b, const struct ts_step *s)
{
	each_mem_effect(v, b, s, ts_replay_take);
}
