/* SPDX-License-Identifier: MIT */
#include "chunk_lines.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/vec.h"
#include "src/timeline/timeline.h"

#define LINE 64u

/* Questions about a chunk before it is worth to list what its steps did. */
#define FEW 2u

/* An access to more memory than this is one to a range. */
#define MAX_LEN 4096u

void ts_chunk_lines_fini(struct ts_chunk_lines *t)
{
	free(t->items);
	free(t->ranges);
	*t = (struct ts_chunk_lines){ 0 };
}

void ts_chunk_lines_reset(struct ts_chunk_lines *t)
{
	t->n_steps = 0;
	t->n_asked = 0;
	t->n_partly = 0;
}

static size_t slot_of(uint64_t line)
{
	return line / LINE % TS_N_LINE_SLOTS;
}

/* ------------------------------------------------------------------------------------------------ listing */

static void add_effect(struct ts_chunk_lines *t, const struct ts_effect *e, struct ts_line_effect item)
{
	t->has_unseen |= e->kind == TS_FX_UNSEEN;
	t->has_unknown |= e->kind == TS_FX_WRITE && e->data == TS_NO_DATA;
	if (!ts_effect_is_on_memory(e))
		return;
	if (e->kind > TS_FX_READ || e->len > MAX_LEN) {
		t->is_failed |= !TS_PUSH(t->ranges, t->n_ranges, t->cap_ranges,
					 (struct ts_range_effect){ e->addr, e->addr + (e->len - 1), item.process });
		return;
	}
	for (item.line = e->addr - e->addr % LINE;; item.line += LINE) {
		t->is_failed |= !TS_PUSH(t->items, t->n, t->cap, item);
		if (e->addr + (e->len - 1) - item.line < LINE)
			return;
	}
}

static void add_step(struct ts_chunk_lines *t, const struct ts_timeline *tl, const struct ts_steps *b,
		     uint32_t step)
{
	const struct ts_step *s = &b->steps[step];
	struct ts_step_effects all = ts_step_effects(b, s);
	const struct ts_effect *e;

	while ((e = ts_step_effects_next(&all)))
		add_effect(t, e, (struct ts_line_effect){ .step = step, .process = ts_timeline_process(tl, all.thread),
							  .effect = (uint32_t)(e - b->effects) });
}

static void list(struct ts_chunk_lines *t, const struct ts_timeline *tl, const struct ts_steps *steps)
{
	t->n_steps = steps->n_steps;
	t->n = t->n_ranges = 0;
	t->is_failed = t->has_unseen = t->has_unknown = false;
	for (uint32_t step = 0; step < steps->n_steps && !t->is_failed; step++)
		add_step(t, tl, steps, step);
	memset(t->slots, 0, sizeof(t->slots));
	for (size_t i = t->n; i-- > 0;) {
		uint32_t *slot = &t->slots[slot_of(t->items[i].line)];

		t->items[i].next = *slot;
		*slot = (uint32_t)i + 1;
	}
}

/* ------------------------------------------------------------------------------------------------- asking */

bool ts_chunk_lines_know(struct ts_chunk_lines *t, const struct ts_steps *steps, const struct ts_replay *v)
{
	uint64_t last = v->addr + (v->len - 1);

	if (t->n_steps != steps->n_steps && ++t->n_asked <= FEW)
		return false;
	if (t->n_steps != steps->n_steps)
		list(t, v->tl, steps);
	for (size_t i = 0; i < t->n_ranges; i++) {
		const struct ts_range_effect *r = &t->ranges[i];

		if (r->first <= last && r->last >= v->addr && r->process == v->process)
			return false;
	}
	return !t->is_failed && !(t->has_unseen && t->has_unknown);
}

/* The part of the window that lies in the line. */
static struct ts_replay part_of(const struct ts_replay *v, uint64_t line)
{
	uint64_t last = v->addr + (v->len - 1);
	uint64_t lo = line > v->addr ? line : v->addr, hi = last - line < LINE ? last : line + (LINE - 1);
	struct ts_replay part = *v;

	part.addr = lo;
	part.len = (size_t)(hi - lo) + 1;
	part.data += lo - v->addr;
	part.known += lo - v->addr;
	return part;
}

void ts_chunk_lines_take(const struct ts_chunk_lines *t, const struct ts_steps *steps, uint32_t n,
			 struct ts_replay *v)
{
	uint64_t last = v->addr + (v->len - 1);

	for (uint64_t line = v->addr - v->addr % LINE;; line += LINE) {
		struct ts_replay part = part_of(v, line);

		for (uint32_t i = t->slots[slot_of(line)]; i; i = t->items[i - 1].next) {
			const struct ts_line_effect *x = &t->items[i - 1];

			if (x->step >= n)
				break;
			if (x->line == line && x->process == v->process)
				ts_replay_take(&part, steps, &steps->effects[x->effect]);
		}
		if (last - line < LINE)
			return;
	}
}
