/* SPDX-License-Identifier: MIT */
/*
 * What a read contradicts may only be what its own step, or the one before it, wrote: these bytes are the write's row, and
 * the change is about the others.
 */
#include "hits.h"

#include <stdlib.h>

#include "src/base/vec.h"

static bool put(struct ts_hits *out, const struct ts_hit *hit, uint64_t first, uint64_t last)
{
	if (!ts_vec_reserve(&out->items, out->n, &out->cap, 1, sizeof(*out->items)))
		return false;
	out->items[out->n] = *hit;
	out->items[out->n].first = first;
	out->items[out->n++].last = last;
	return true;
}

/* The parts of @hit that none of the writes [*at, @end) has; *at becomes the first one that may meet a later hit. */
static bool put_rest(struct ts_hits *out, const struct ts_hit *items, size_t *at, size_t end, const struct ts_hit *hit)
{
	uint64_t first = hit->first;

	for (; *at < end && items[*at].first <= hit->last; (*at)++) {
		const struct ts_hit *w = &items[*at];

		if (w->last < first)
			continue;
		if (w->first > first && !put(out, hit, first, w->first - 1))
			return false;
		if (w->last >= hit->last)
			return true;
		first = w->last + 1;
	}
	return put(out, hit, first, hit->last);
}

static bool has_maybe(const struct ts_hits *h)
{
	for (size_t i = 0; i < h->n; i++) {
		if (h->items[i].is_maybe)
			return true;
	}
	return false;
}

bool ts_hits_leave_out_written(struct ts_hits *h)
{
	struct ts_hits out = { .n = 0 };
	size_t end = 0;
	bool done = true;

	if (h->is_whole || !has_maybe(h))
		return true;
	for (size_t i = 0; done && i < h->n; i = end) {
		size_t at, end_writes;

		/* by kind, then by address: reads come first, then writes */
		for (at = i; at < h->n && h->items[at].pos == h->items[i].pos && h->items[at].kind < TS_HIT_WRITE;)
			at++;
		for (end_writes = at; end_writes < h->n && h->items[end_writes].pos == h->items[i].pos &&
				      h->items[end_writes].kind == TS_HIT_WRITE;)
			end_writes++;
		for (end = end_writes; end < h->n && h->items[end].pos == h->items[i].pos;)
			end++;
		for (size_t j = i; done && j < end; j++)
			done = h->items[j].is_maybe ? put_rest(&out, h->items, &at, end_writes, &h->items[j]) :
						      put(&out, &h->items[j], h->items[j].first, h->items[j].last);
	}
	free(h->items);
	h->items = out.items;
	h->n = out.n;
	h->cap = out.cap;
	return done;
}
