/* SPDX-License-Identifier: MIT */
/*
 * Sorts the hits of a chunk and merges them into rows.
 */
#include "hits_parts.h"
#include "src/base/collections/vec.h"

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

/* Hits are nearly always in order: only a hit that a later step shows is out of order. */
void ts_hits_sort(struct ts_hits *h)
{
	for (size_t i = 1; i < h->n; i++) {
		if (compare(&h->items[i - 1], &h->items[i]) > 0) {
			qsort(h->items, h->n, sizeof(*h->items), compare);
			return;
		}
	}
}

/* Merge the bytes that the reads of one part have. */
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
	old = h->bytes.data + to->seen; /* the value seen first is kept */
	for (size_t i = 0; i < to_len; i++) {
		if (old[to_len + i] || !room[len + i]) {
			room[i] = old[i];
			room[len + i] = old[to_len + i];
		}
	}
	to->seen = (uint64_t)(room - h->bytes.data);
}

/*
 * Can the hit be merged with the previous one?  Both must be of one step and one kind, without a gap between
 * them.
 */
static bool is_joined(const struct ts_hits *h, const struct ts_hit *a, const struct ts_hit *b)
{
	if (a->pos != b->pos)
		return false;
	if (h->is_whole)
		return true; /* one row a step; the kind that comes first */
	return a->kind == b->kind && a->kind != TS_HIT_EXEC &&
	       (b->first <= a->last || b->first - a->last == 1);
}

static void join(struct ts_hits *h)
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

/* -------------------------------------------------------------------------- what the step wrote itself */

static bool put(struct ts_hits *out, const struct ts_hit *hit, uint64_t first, uint64_t last)
{
	if (!TS_PUSH(out->items, out->n, out->cap, *hit))
		return false;
	out->items[out->n - 1].first = first;
	out->items[out->n - 1].last = last;
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

static bool leave_out_written(struct ts_hits *h)
{
	struct ts_hits out = { .n = 0 };
	size_t end = 0;
	bool done = true;

	if (!has_maybe(h))
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

/* Replace parts of WHAT by all of WHAT. */
static void make_whole(struct ts_hits *h)
{
	bool is_memory = h->what->kind == TS_WHAT_MEM;

	for (size_t i = 0; i < h->n; i++) {
		h->items[i].first = h->base;
		h->items[i].last = is_memory ? h->what->last : h->base + h->what->len - 1;
	}
}

void ts_hits_make_rows(struct ts_hits *h)
{
	join(h);
	if (h->is_whole)
		make_whole(h);
	else
		h->is_failed |= !leave_out_written(h);
}
