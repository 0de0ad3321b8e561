/* SPDX-License-Identifier: MIT */
/*
 * Of a short part of the recording: which of its texts are first seen there?
 *
 * Only the steps of the part were looked at, so a text may have been seen before.  The chunks that access bytes of such
 * texts are looked into, the last one first, until all texts were seen, or there is no other chunk.
 */
#include "strings_parts.h"

#include <stdlib.h>
#include <string.h>

#include "src/ask/grammar/question.h"
#include "src/base/bisect.h"
#include "src/query/query.h"

/* A part is short if what comes before it is so many times as long. */
#define SHORT 2u

bool ts_strings_is_part(const struct ts_strings *x)
{
	return x->qn->from < x->to && (x->to - x->qn->from) <= x->qn->from / SHORT && x->qn->thread == TS_NO_THREAD;
}

/* The last chunk up to @chunk that reads or writes a byte of the range; TS_NO_CHUNK: none. */
static uint64_t prev_chunk(const struct ts_strings *x, const struct ts_old_range *r, uint64_t chunk)
{
	uint64_t read = ts_query_prev_access(x->ask->q, TS_ACCESS_READ, x->process, r->first, r->last, chunk);
	uint64_t write = ts_query_prev_access(x->ask->q, TS_ACCESS_WRITE, x->process, r->first, r->last, chunk);

	if (read == TS_NO_CHUNK || write == TS_NO_CHUNK)
		return read == TS_NO_CHUNK ? write : read;
	return read > write ? read : write;
}

static int compare(const void *a, const void *b)
{
	const struct ts_old_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Where the texts are that may have been seen before: ranges that do not meet. */
static bool take_ranges(struct ts_strings *x, struct ts_error *err)
{
	const uint32_t *ready = x->ready.items;
	size_t n = 0;

	x->n_young = x->ready.n;
	x->ranges = calloc(x->ready.n + 1, sizeof(*x->ranges));
	if (!x->ranges)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for texts");
	for (size_t i = 0; i < x->ready.n; i++) {
		const struct ts_text *t = &x->texts.items[ready[i]];

		x->ranges[i] = (struct ts_old_range){ .first = t->addr, .last = t->addr + (((uint64_t)t->n << t->is_wide) - 1),
						      .n_young = 1 };
	}
	qsort(x->ranges, x->ready.n, sizeof(*x->ranges), compare);
	for (size_t i = 0; i < x->ready.n; i++) {
		struct ts_old_range *r = &x->ranges[i], *to = n ? &x->ranges[n - 1] : NULL;

		if (to && r->first <= to->last) {
			to->last = r->last > to->last ? r->last : to->last;
			to->n_young++;
		} else {
			x->ranges[n++] = *r;
		}
	}
	x->n_ranges = n;
	for (size_t i = 0; i < n; i++)
		x->ranges[i].chunk = prev_chunk(x, &x->ranges[i], (x->qn->from - 1) / TS_CHUNK_STEPS);
	return true;
}

/* The first range that ends at @addr or after it. */
static size_t find_range(const struct ts_strings *x, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, x->n_ranges, i, x->ranges[i].last < addr);
	return at;
}

bool ts_strings_is_young(const struct ts_strings *x, const struct ts_effect *e)
{
	uint64_t last = e->addr + (e->len - 1);

	for (size_t i = find_range(x, e->addr); i < x->n_ranges && x->ranges[i].first <= last; i++) {
		if (x->ranges[i].n_young)
			return true;
	}
	return false;
}

void ts_strings_seen_before(struct ts_strings *x, uint64_t addr, const char *chars, size_t n, bool is_wide)
{
	struct ts_text like = { .addr = addr, .n = (uint32_t)n, .root = TS_NO_ROOT, .is_wide = is_wide };
	struct ts_text *t;

	like.hash = ts_text_hash_more(ts_text_hash(addr), chars, n);
	t = ts_texts_find(&x->texts, chars, &like);
	if (!t || t->is_old || t->is_hidden || t->pos < x->qn->from)
		return;
	t->is_old = true;
	x->n_young--;
	x->ranges[find_range(x, addr)].n_young--;
}

/* The last chunk below @below that accesses a text which has not been seen; TS_NO_CHUNK: none. */
static uint64_t next_chunk(struct ts_strings *x, uint64_t below)
{
	uint64_t last = TS_NO_CHUNK;

	for (size_t i = 0; i < x->n_ranges; i++) {
		struct ts_old_range *r = &x->ranges[i];

		if (!r->n_young || r->chunk == TS_NO_CHUNK)
			continue;
		if (r->chunk >= below)
			r->chunk = below ? prev_chunk(x, r, below - 1) : TS_NO_CHUNK;
		if (r->chunk != TS_NO_CHUNK && (last == TS_NO_CHUNK || r->chunk > last))
			last = r->chunk;
	}
	return last;
}

static bool look_into(struct ts_strings *x, uint64_t chunk, struct ts_error *err)
{
	const struct ts_steps *batch;
	uint64_t end = (chunk + 1) * TS_CHUNK_STEPS < x->qn->from ? (chunk + 1) * TS_CHUNK_STEPS : x->qn->from;

	x->pos = chunk * TS_CHUNK_STEPS;
	ts_mirror_clear(&x->mirror);
	if (!ts_query_step_whole(x->ask->q, x->pos, &batch, err))
		return false;
	for (; x->pos < end && x->n_young; x->pos++) {
		if (!ts_strings_look_at_step(x, batch, err))
			return false;
	}
	return true;
}

enum ts_got ts_strings_look_before(struct ts_strings *x, struct ts_budget *budget, struct ts_error *err)
{
	uint64_t chunk;

	if (!x->ranges) {
		if (!take_ranges(x, err))
			return TS_GOT_FAIL;
		x->below = TS_NO_CHUNK;
	}
	while (x->n_young && (chunk = next_chunk(x, x->below)) != TS_NO_CHUNK) {
		if (!ts_budget_take(budget))
			return TS_GOT_PENDING;
		if (!look_into(x, chunk, err))
			return TS_GOT_FAIL;
		x->below = chunk;
	}
	x->n_young = 0;
	return TS_GOT_END;
}
