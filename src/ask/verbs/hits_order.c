/* SPDX-License-Identifier: MIT */
/*
 * The hits of a chunk, put in order and joined to rows.
 */
#include "hits.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct ts_hit *x = a;
	const struct ts_hit *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->last < y->last ? -1 : x->last > y->last;
}

/* Nearly always they are in order: only what shows in a later step comes late. */
void ts_hits_sort(struct ts_hits *h)
{
	for (size_t i = 1; i < h->n; i++) {
		if (compare(&h->items[i - 1], &h->items[i]) > 0) {
			qsort(h->items, h->n, sizeof(*h->items), compare);
			return;
		}
	}
}

/* Reads of one part: what each of them showed. */
static void join_reads(struct ts_hits *h, struct ts_hit *to, const struct ts_hit *from)
{
	uint64_t last = from->last > to->last ? from->last : to->last;
	size_t len = (size_t)(last - to->first) + 1, to_len = (size_t)(to->last - to->first) + 1,
	       from_len = (size_t)(from->last - from->first) + 1, off = (size_t)(from->first - to->first);
	uint8_t *room = ts_buf_add(&h->bytes, 2 * len);
	const uint8_t *old;

	if (!room) {
		h->is_failed = true;
		return;
	}
	memset(room, 0, 2 * len);
	old = h->bytes.data + from->seen;
	memcpy(room + off, old, from_len);
	memcpy(room + len + off, old + from_len, from_len);
	old = h->bytes.data + to->seen; /* what was seen first stands */
	for (size_t i = 0; i < to_len; i++) {
		if (old[to_len + i] || !room[len + i]) {
			room[i] = old[i];
			room[len + i] = old[to_len + i];
		}
	}
	to->seen = (uint64_t)(room - h->bytes.data);
}

/* Does the hit go into the one before it: of one step, of the same kind, and without a gap between them? */
static bool is_joined(const struct ts_hits *h, const struct ts_hit *a, const struct ts_hit *b)
{
	if (a->pos != b->pos)
		return false;
	if (h->is_whole)
		return true; /* one row a step; the kind that comes first */
	return a->kind == b->kind && a->kind != TS_HIT_EXEC &&
	       (b->first <= a->last || b->first - a->last == 1);
}

void ts_hits_join(struct ts_hits *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		struct ts_hit *to = n ? &h->items[n - 1] : NULL, *hit = &h->items[i];

		if (!to || !is_joined(h, to, hit)) {
			h->items[n++] = *hit;
			continue;
		}
		if (hit->kind == TS_HIT_READ && to->kind == TS_HIT_READ)
			join_reads(h, to, hit);
		if (hit->last > to->last)
			to->last = hit->last;
		to->is_maybe &= hit->is_maybe;
		if (hit->kind != TS_HIT_WRITE)
			to->has_values = false;
		else if (hit->has_values) {
			to->has_values = true;
			to->values = hit->values;
		}
	}
	h->n = n;
}

void ts_hits_make_whole(struct ts_hits *h)
{
	bool is_memory = h->what->kind == TS_WHAT_MEM;

	for (size_t i = 0; i < h->n; i++) {
		h->items[i].first = h->base;
		h->items[i].last = is_memory ? h->what->last : h->base + h->what->len - 1;
	}
}
