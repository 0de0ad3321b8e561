/* SPDX-License-Identifier: MIT */
/*
 * Of a short part of the recording: which of its texts are first seen there?
 *
 * Only the steps of the part were examined, so a text may have been seen before.  The chunks that access bytes of such
 * texts are looked into, the last one first, until all texts were seen, or up to the first chunk.
 */
#include "strings_parts.h"

#include <stdlib.h>

#include "src/ask/grammar/question.h"
#include "src/query/query.h"

/* A part is short if the part before it is this number of times as long. */
#define SHORT 2u

#define RANGES_A_CHUNK 64u

bool ts_strings_is_part(const struct ts_strings *x)
{
	return x->rows.qn->from < x->to && (x->to - x->rows.qn->from) <= x->rows.qn->from / SHORT && x->rows.qn->thread == TS_NO_THREAD;
}

/* The last chunk up to @chunk that reads or writes a byte of the range; TS_NO_CHUNK: none. */
static uint64_t prev_chunk(const struct ts_strings *x, const struct ts_old_range *r, uint64_t chunk)
{
	return ts_query_find_access(x->rows.ask->q, TS_ACCESS_READ | TS_ACCESS_WRITE, x->process, r->first, r->last, chunk,
				    TS_BACKWARDS);
}

static enum ts_next fail(struct ts_error *err)
{
	ts_no_memory(err, "texts");
	return TS_FAIL;
}

/* The number of ranges that cost as much as a chunk. */
static bool has_budget(struct ts_strings *x, struct ts_budget *budget)
{
	if (x->n_before++ % RANGES_A_CHUNK)
		return true;
	if (ts_budget_take(budget))
		return true;
	x->n_before--;
	return false;
}

static bool is_lower(const void *user, const void *one, const void *other)
{
	const struct ts_old_range *x = one, *y = other;

	(void)user;
	return x->first < y->first;
}

/* Does the one range (ordinals) have a later chunk to look into? */
static bool is_later(const void *user, const void *one, const void *other)
{
	const struct ts_strings *x = user;

	return x->ranges[*(const size_t *)one].chunk > x->ranges[*(const size_t *)other].chunk;
}

/* The range waits for the last chunk up to @chunk that accesses it, if there is one. */
static bool wait_for(struct ts_strings *x, size_t range, uint64_t chunk, struct ts_error *err)
{
	x->ranges[range].chunk = prev_chunk(x, &x->ranges[range], chunk);
	return x->ranges[range].chunk == TS_NO_CHUNK || ts_heap_put(&x->waiting, &range) || ts_no_memory(err, "texts");
}

/* The ranges of all texts, sorted by address.  Those that meet become one, which is complete when the next one does not. */
static enum ts_next take_ranges(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err)
{
	const uint32_t *ready = x->ready.items;
	struct ts_old_range r;

	if (!x->ranges) {
		x->n_young = x->ready.n;
		x->ranges = calloc(x->ready.n + 1, sizeof(*x->ranges));
		x->old_texts = calloc(x->ready.n + 1, sizeof(*x->old_texts));
		ts_heap_init(&x->sorted, sizeof(r), is_lower, NULL);
		ts_heap_init(&x->waiting, sizeof(size_t), is_later, x);
		x->below = TS_NO_CHUNK;
	}
	if (!x->ranges || !x->old_texts)
		return fail(err);
	for (; x->n_sorted < x->ready.n; x->n_sorted++) {
		const struct ts_text *t = &x->texts.items[ready[x->n_sorted]];

		if (!has_budget(x, budget))
			return TS_MORE;
		r = (struct ts_old_range){ .first = t->addr, .last = t->addr + (((uint64_t)t->n << t->is_wide) - 1), .n_young = 1,
					  .text = ready[x->n_sorted], .n_texts = 1 };
		if (!ts_heap_put(&x->sorted, &r))
			return fail(err);
	}
	while (x->sorted.n) {
		struct ts_old_range *to = x->n_ranges ? &x->ranges[x->n_ranges - 1] : NULL;

		if (!has_budget(x, budget))
			return TS_MORE;
		ts_heap_take(&x->sorted, &r);
		x->old_texts[x->n_old_texts++] = (uint32_t)r.text;
		r.text = x->n_old_texts - 1;
		if (to && r.first <= to->last) {
			to->last = r.last > to->last ? r.last : to->last;
			to->n_young++;
			to->n_texts++;
		} else {
			x->ranges[x->n_ranges++] = r;
		}
	}
	for (; x->n_listed < x->n_ranges; x->n_listed++) {
		if (!has_budget(x, budget))
			return TS_MORE;
		if (!wait_for(x, x->n_listed, (x->rows.qn->from - 1) / TS_CHUNK_STEPS, err))
			return TS_FAIL;
	}
	return TS_END;
}

/*
 * The last chunk below x->below that accesses a text which has not been seen: *chunk; TS_NO_CHUNK: none.  Each range
 * that waits for a chunk which has been looked into is looked up once more.
 */
static enum ts_next next_chunk(struct ts_strings *x, uint64_t *chunk, struct ts_budget *budget, struct ts_error *err)
{
	const size_t *first;
	size_t range;

	*chunk = TS_NO_CHUNK;
	while ((first = ts_heap_first(&x->waiting)) && *chunk == TS_NO_CHUNK) {
		const struct ts_old_range *r = &x->ranges[*first];

		if (r->n_young && r->chunk < x->below) {
			*chunk = r->chunk;
			break;
		}
		if (!has_budget(x, budget))
			return TS_MORE;
		ts_heap_take(&x->waiting, &range);
		if (x->ranges[range].n_young && x->below && !wait_for(x, range, x->below - 1, err))
			return TS_FAIL;
	}
	return TS_END;
}

static bool look_into(struct ts_strings *x, uint64_t chunk, struct ts_error *err)
{
	const struct ts_steps *batch;
	bool may;
	uint64_t end = (chunk + 1) * TS_CHUNK_STEPS < x->rows.qn->from ? (chunk + 1) * TS_CHUNK_STEPS : x->rows.qn->from;

	x->pos = chunk * TS_CHUNK_STEPS;
	ts_mirror_clear(&x->mirror);
	if (!ts_query_step_whole(x->rows.ask->q, x->pos, &batch, err) || !ts_strings_may_have(x, chunk, batch, &may, err))
		return false;
	if (!may)
		return true;
	if (!ts_query_step_whole(x->rows.ask->q, x->pos, &batch, err)) /* that may have decoded another chunk */
		return false;
	for (; x->pos < end && x->n_young; x->pos++) {
		if (!ts_strings_look_at_step(x, batch, err))
			return false;
	}
	return true;
}

enum ts_next ts_strings_look_before(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err)
{
	enum ts_next got = x->is_listed ? TS_END : take_ranges(x, budget, err);
	uint64_t chunk;

	if (got != TS_END)
		return got;
	x->is_listed = true;
	while (x->n_young) {
		got = next_chunk(x, &chunk, budget, err);
		if (got != TS_END)
			return got;
		if (chunk == TS_NO_CHUNK)
			break;
		if (!ts_budget_take(budget))
			return TS_MORE;
		if (!look_into(x, chunk, err))
			return TS_FAIL;
		x->below = chunk;
	}
	x->n_young = 0;
	return TS_END;
}
