/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "call_block.h"
#include "edges.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_write.h"

/* The end of a call that was sealed open. */
struct late_end {
	uint64_t end;
	uint32_t thread;
	uint32_t ordinal;
	uint32_t kind;
	uint32_t segment; /* in which it ended */
};

struct segment {
	struct ts_call_pack pack;
	const struct late_end *ends;
	size_t n_ends;
	struct late_end *own_ends; /* owned; NULL: they belong to an index file */
};

/* A block of a thread's list. */
struct ref {
	uint64_t pos;
	uint32_t ordinal;
	uint32_t segment; /* PLAIN: it is a part of what is being read */
	uint32_t block;   /* of the segment, or of that */
};
#define PLAIN UINT32_MAX

struct list {
	struct ref *refs; /* owned; what questions see */
	uint32_t n_refs;
	size_t cap_refs;
	uint32_t n_sealed; /* calls in them */
	struct late_end *ends; /* owned; by ordinal */
	uint32_t n_ends;
	size_t cap_ends;
	uint32_t n_sorted; /* ends that are in order; those that follow were added last */
	struct ts_call *calls; /* owned; of the segment that is being read */
	uint32_t n_calls;
	size_t cap_calls;
	uint32_t first; /* ordinal of calls[0] */
};

struct ts_calls {
	struct list *lists; /* owned; by thread */
	size_t n_lists;
	struct ts_call_edges edges;
	struct segment *segments; /* owned */
	uint32_t n_segments;
	size_t cap_segments;
	struct late_end *ends; /* owned; of calls of sealed segments, in the one that is being read */
	uint32_t n_ends;
	size_t cap_ends;
	uint32_t version; /* of what is sealed: windows of another one are out of date */
	atomic_uint_fast64_t n_bytes; /* of memory that grows with the calls; read by other threads, too */
};

struct ts_calls *ts_calls_new(void)
{
	return calloc(1, sizeof(struct ts_calls));
}

/* The bytes that a segment holds in memory, in no file. */
static uint64_t bytes_of(const struct segment *s)
{
	return s->pack.own_bytes.cap + (s->pack.own_blocks ? s->pack.n_blocks * sizeof(*s->pack.own_blocks) : 0);
}

static void free_segment(struct segment *s)
{
	ts_call_pack_fini(&s->pack);
	free(s->own_ends);
}

void ts_calls_free(struct ts_calls *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_lists; i++) {
		free(c->lists[i].refs);
		free(c->lists[i].ends);
		free(c->lists[i].calls);
	}
	for (uint32_t i = 0; i < c->n_segments; i++)
		free_segment(&c->segments[i]);
	free(c->lists);
	ts_call_edges_fini(&c->edges);
	free(c->segments);
	free(c->ends);
	free(c);
}

static struct list *list_of(struct ts_calls *c, uint32_t thread)
{
	return ts_vec_extend(&c->lists, &c->n_lists, thread, sizeof(*c->lists)) ? &c->lists[thread] : NULL;
}

/* ----------------------------------------------------------------------------------------------- building */

uint64_t ts_calls_mem(const struct ts_calls *c)
{
	return c ? atomic_load(&c->n_bytes) : 0;
}

uint32_t ts_calls_add(struct ts_calls *c, const struct ts_call *call)
{
	struct list *l = list_of(c, call->thread);
	size_t cap = l ? l->cap_calls : 0;
	struct ts_call *x;

	if (!l || l->n_calls >= TS_NO_CALL - 1 - l->first ||
	    !ts_vec_reserve(&l->calls, l->n_calls, &l->cap_calls, 1, sizeof(*l->calls)))
		return TS_NO_CALL;
	if (l->cap_calls != cap)
		atomic_fetch_add(&c->n_bytes, (l->cap_calls - cap) * sizeof(*l->calls));
	x = &l->calls[l->n_calls];
	*x = *call;
	x->ordinal = l->first + l->n_calls++;
	x->end = TS_NO_END;
	if (x->kind != TS_CALL_SWITCH)
		x->kind = TS_CALL_OPEN;
	return x->ordinal;
}

bool ts_calls_end(struct ts_calls *c, uint32_t thread, uint32_t ordinal, uint64_t end, enum ts_call_kind kind)
{
	struct list *l = &c->lists[thread];

	if (ordinal >= l->first) {
		l->calls[ordinal - l->first].end = end;
		l->calls[ordinal - l->first].kind = kind;
		return true;
	}
	return TS_PUSH(c->ends, c->n_ends, c->cap_ends, (struct late_end){ end, thread, ordinal, kind, 0 });
}

static void pack_list(const struct list *l, struct ts_call_packer *p)
{
	for (uint32_t i = 0; i < l->n_calls; i += TS_CALL_BLOCK) {
		uint32_t left = l->n_calls - i;

		ts_call_packer_add(p, &l->calls[i], left < TS_CALL_BLOCK ? left : TS_CALL_BLOCK);
	}
}

/* Pack the calls that are being read as a segment.  Returns false if memory is exhausted. */
static bool pack_segment(struct ts_calls *c, struct segment *s)
{
	struct ts_call_packer *p = ts_call_packer_new(&c->edges);
	bool is_packed;

	*s = (struct segment){ .own_ends = malloc((c->n_ends + 1) * sizeof(*s->own_ends)) };
	for (uint32_t i = 0; p && i < c->n_lists; i++)
		pack_list(&c->lists[i], p);
	is_packed = p && ts_call_packer_finish(p, &s->pack);
	ts_call_packer_free(p);
	if (!is_packed || !s->own_ends)
		return false;
	if (c->n_ends)
		memcpy(s->own_ends, c->ends, c->n_ends * sizeof(*c->ends));
	s->ends = s->own_ends;
	s->n_ends = c->n_ends;
	return true;
}

/* ------------------------------------------------------------------------------------------- segments */

static bool add_refs(struct ts_calls *c, uint32_t segment)
{
	const struct segment *s = &c->segments[segment];

	for (uint32_t i = 0; i < s->pack.n_blocks; i++) {
		const struct ts_call_block *b = &s->pack.blocks[i];
		struct list *l = list_of(c, b->thread);

		if (!l || !TS_PUSH(l->refs, l->n_refs, l->cap_refs, (struct ref){ b->pos, b->ordinal, segment, i }))
			return false;
		l->n_sealed = b->ordinal + b->n;
	}
	return true;
}

static int compare_ends(const void *a, const void *b)
{
	const struct late_end *x = a, *y = b;

	return TS_ORDER(x->ordinal, y->ordinal);
}

/*
 * Bring the ends that were added last to where they belong: a merge, so that the cost of a segment depends on its own ends and
 * not on all before it.  Returns false if memory is exhausted.
 */
static bool sort_ends(struct list *l)
{
	uint32_t n_old = l->n_sorted, n_new = l->n_ends - n_old;
	struct late_end *more = malloc((n_new + 1) * sizeof(*more));

	if (!more)
		return false;
	for (uint32_t i = 0; i < n_new; i++)
		more[i] = l->ends[n_old + i];
	qsort(more, n_new, sizeof(*more), compare_ends);
	for (uint32_t at = l->n_ends; n_new; at--) {
		bool is_old = n_old && l->ends[n_old - 1].ordinal > more[n_new - 1].ordinal;

		l->ends[at - 1] = is_old ? l->ends[--n_old] : more[--n_new];
	}
	free(more);
	l->n_sorted = l->n_ends;
	return true;
}

static bool add_ends(struct ts_calls *c, uint32_t segment)
{
	const struct segment *s = &c->segments[segment];

	for (size_t i = 0; i < s->n_ends; i++) {
		struct list *l = list_of(c, s->ends[i].thread);

		if (!l || !TS_PUSH(l->ends, l->n_ends, l->cap_ends, s->ends[i]))
			return false;
		l->ends[l->n_ends - 1].segment = segment;
	}
	for (uint32_t i = 0; s->n_ends && i < c->n_lists; i++) {
		if (!sort_ends(&c->lists[i]))
			return false;
	}
	return true;
}

/* Forget the calls of the last segment. */
static void drop_last(struct ts_calls *c)
{
	uint32_t segment = --c->n_segments;

	for (uint32_t i = 0; i < c->n_lists; i++) {
		struct list *l = &c->lists[i];
		uint32_t n = 0;

		while (l->n_refs && l->refs[l->n_refs - 1].segment == segment)
			l->n_sealed = l->refs[--l->n_refs].ordinal;
		for (uint32_t j = 0; j < l->n_ends; j++) {
			if (l->ends[j].segment != segment)
				l->ends[n++] = l->ends[j];
		}
		l->n_ends = l->n_sorted = n;
	}
	atomic_fetch_sub(&c->n_bytes, bytes_of(&c->segments[segment]));
	free_segment(&c->segments[segment]);
	c->version++;
}

/* Takes @s over, on failure too. */
static bool install(struct ts_calls *c, struct segment *s)
{
	if (!ts_vec_reserve(&c->segments, c->n_segments, &c->cap_segments, 1, sizeof(*s))) {
		free_segment(s);
		return false;
	}
	atomic_fetch_add(&c->n_bytes, bytes_of(s));
	c->segments[c->n_segments++] = *s;
	c->version++;
	return add_refs(c, c->n_segments - 1) && add_ends(c, c->n_segments - 1);
}

/* Questions see no more of what is being read. */
static void hide_plain(struct ts_calls *c)
{
	for (uint32_t i = 0; i < c->n_lists; i++) {
		struct list *l = &c->lists[i];

		while (l->n_refs && l->refs[l->n_refs - 1].segment == PLAIN)
			l->n_sealed = l->refs[--l->n_refs].ordinal;
	}
	c->version++;
}

bool ts_calls_seal(struct ts_calls *c)
{
	struct segment s;

	hide_plain(c);
	if (!pack_segment(c, &s)) {
		free_segment(&s);
		return false;
	}
	if (!install(c, &s))
		return false;
	for (uint32_t i = 0; i < c->n_lists; i++) {
		struct list *l = &c->lists[i];

		l->first += l->n_calls;
		l->n_calls = 0;
	}
	c->n_ends = 0;
	return true;
}

bool ts_calls_show(struct ts_calls *c)
{
	hide_plain(c);
	for (uint32_t i = 0; i < c->n_lists; i++) {
		struct list *l = &c->lists[i];

		for (uint32_t k = 0; k < l->n_calls; k += TS_CALL_BLOCK) {
			if (!TS_PUSH(l->refs, l->n_refs, l->cap_refs,
				     (struct ref){ l->calls[k].pos, l->first + k, PLAIN, k / TS_CALL_BLOCK }))
				return false;
		}
		l->n_sealed = l->first + l->n_calls;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_calls_save(struct ts_calls *c, struct ts_index_file *f)
{
	const struct segment *s = &c->segments[c->n_segments - 1];

	ts_call_pack_save(&s->pack, f);
	ts_index_put(f, s->ends, s->n_ends, sizeof(*s->ends));
	ts_call_edges_save(&c->edges, f);
}

/* Do the blocks continue the lists, in order? */
static bool are_blocks_good(const struct ts_calls *c, const struct segment *s, uint32_t n_threads)
{
	for (size_t i = 0; i < s->pack.n_blocks; i++) {
		const struct ts_call_block *b = &s->pack.blocks[i], *before = i ? b - 1 : NULL;
		bool is_same = before && before->thread == b->thread;
		uint32_t next = is_same                  ? before->ordinal + before->n
				: b->thread < c->n_lists ? c->lists[b->thread].n_sealed
							 : 0;

		if (b->thread >= n_threads || b->ordinal != next ||
		    b->ordinal >= TS_NO_CALL - TS_CALL_BLOCK || (before && b->thread < before->thread) ||
		    (is_same && b->pos < before->pos))
			return false;
	}
	return true;
}

static bool are_ends_good(const struct ts_calls *c, const struct segment *s)
{
	for (size_t i = 0; i < s->n_ends; i++) {
		const struct late_end *e = &s->ends[i];

		if (e->kind > TS_CALL_UNWOUND || e->thread >= c->n_lists ||
		    e->ordinal >= c->lists[e->thread].n_sealed)
			return false;
	}
	return true;
}

bool ts_calls_load(struct ts_calls *c, struct ts_index_arrays *a, bool in_place, uint32_t n_threads)
{
	struct segment s = { 0 };

	if (!ts_call_pack_load(&s.pack, a))
		return false;
	s.ends = ts_index_take(a, sizeof(*s.ends), &s.n_ends);
	if (!ts_call_edges_load(&c->edges, a, in_place))
		return false;
	if (in_place)
		drop_last(c);
	if (!are_blocks_good(c, &s, n_threads) || !are_ends_good(c, &s) || !install(c, &s))
		return false;
	for (uint32_t i = 0; i < c->n_lists; i++)
		c->lists[i].first = c->lists[i].n_sealed;
	return true;
}

/* ------------------------------------------------------------------------------------------ questions */

/* If the call ended in a later segment, that segment says so. */
static void find_end(const struct list *l, struct ts_call *x)
{
	const struct late_end key = { .ordinal = x->ordinal }, *e;

	if (x->kind != TS_CALL_OPEN || !l->n_ends)
		return;
	e = bsearch(&key, l->ends, l->n_ends, sizeof(key), compare_ends);
	if (!e)
		return;
	x->end = e->end;
	x->kind = e->kind;
}

/* The number of the list's last block that begins at or before @ordinal. */
static uint32_t block_of(const struct list *l, uint32_t ordinal)
{
	uint32_t at = 1;

	TS_BISECT(at, l->n_refs, i, l->refs[i].ordinal <= ordinal);
	return at - 1;
}

/* The same for the last one that begins before position @pos; 0 if none does. */
static uint32_t block_before(const struct list *l, uint64_t pos)
{
	uint32_t at = 1;

	TS_BISECT(at, l->n_refs, i, l->refs[i].pos < pos);
	return at - 1;
}

/* The calls of a list's block.  Returns how many they are. */
static uint32_t unpack(const struct ts_calls *c, const struct list *l, uint32_t block,
		       struct ts_call calls[TS_CALL_BLOCK])
{
	const struct ref *ref = &l->refs[block];
	uint32_t n;

	if (ref->segment == PLAIN) {
		n = l->n_sealed - ref->ordinal < TS_CALL_BLOCK ? l->n_sealed - ref->ordinal : TS_CALL_BLOCK;
		memcpy(calls, &l->calls[ref->block * TS_CALL_BLOCK], n * sizeof(*calls));
		return n;
	}
	n = ts_call_unpack(&c->segments[ref->segment].pack, &c->edges, ref->block, calls);
	for (uint32_t i = 0; i < n; i++)
		find_end(l, &calls[i]);
	return n;
}

/* Move a window to a block of a thread's list. */
static void show(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint32_t block)
{
	const struct list *l = &c->lists[thread];

	if (w->n && w->version == c->version && w->thread == thread &&
	    w->calls[0].ordinal == l->refs[block].ordinal)
		return;
	w->n = unpack(c, l, block, w->calls);
	w->thread = thread;
	w->version = c->version;
}

uint32_t ts_calls_n_threads(const struct ts_calls *c)
{
	return c->n_lists;
}

uint32_t ts_calls_n(const struct ts_calls *c, uint32_t thread)
{
	return thread < c->n_lists ? c->lists[thread].n_sealed : 0;
}

void ts_calls_get(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint32_t ordinal,
		  struct ts_call *call)
{
	if (!w->n || w->version != c->version || w->thread != thread || ordinal - w->calls[0].ordinal >= w->n)
		show(c, w, thread, block_of(&c->lists[thread], ordinal));
	*call = w->calls[ordinal - w->calls[0].ordinal];
}

uint32_t ts_calls_block(const struct ts_calls *c, uint32_t thread, uint32_t ordinal, struct ts_call *calls)
{
	const struct list *l = &c->lists[thread];

	return unpack(c, l, block_of(l, ordinal), calls);
}

uint32_t ts_calls_before(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint64_t pos)
{
	const struct list *l = thread < c->n_lists ? &c->lists[thread] : NULL;
	uint32_t at = 1; /* the first one is before @pos */

	if (!l || !l->n_refs || l->refs[0].pos >= pos)
		return TS_NO_CALL;
	show(c, w, thread, block_before(l, pos));
	TS_BISECT(at, w->n, i, w->calls[i].pos < pos);
	return w->calls[at - 1].ordinal;
}

bool ts_calls_innermost(const struct ts_calls *c, struct ts_call_window *w, uint32_t thread, uint64_t pos,
			struct ts_call *call)
{
	uint32_t last = ts_calls_before(c, w, thread, pos);

	if (last == TS_NO_CALL)
		return false;
	ts_calls_get(c, w, thread, last, call);
	while (call->kind == TS_CALL_SWITCH || call->end <= pos) {
		if (!ts_calls_outer(c, w, call))
			return false;
	}
	return true;
}

bool ts_calls_outer(const struct ts_calls *c, struct ts_call_window *w, struct ts_call *call)
{
	if (call->parent >= call->ordinal) /* TS_NO_CALL is */
		return false;
	ts_calls_get(c, w, call->thread, call->parent, call);
	return true;
}

/*
 * The first return after @pos of the call or switch, or of those around it: what is called inside of a call
 * ends with it, or before.
 */
static uint64_t return_around(const struct ts_calls *c, struct ts_call_window *w, struct ts_call x,
			      uint64_t pos)
{
	do {
		if (x.kind == TS_CALL_OPEN)
			return TS_NO_END;
		if (x.kind == TS_CALL_RETURN && x.end > pos)
			return x.end;
	} while (ts_calls_outer(c, w, &x));
	return TS_NO_END;
}

uint64_t ts_calls_next_return(const struct ts_calls *c, uint32_t thread, uint64_t pos, uint64_t limit)
{
	struct ts_call_window w = { .n = 0 };
	uint32_t first = ts_calls_before(c, &w, thread, pos), n = ts_calls_n(c, thread), n_block;
	struct ts_call block[TS_CALL_BLOCK];
	uint64_t best = limit;

	if (first == TS_NO_CALL)
		first = 0;
	for (uint32_t i = first; i < n; i = block[0].ordinal + n_block) {
		n_block = ts_calls_block(c, thread, i, block);
		for (uint32_t k = i - block[0].ordinal; k < n_block; k++) {
			const struct ts_call *x = &block[k];
			uint64_t end = x->kind == TS_CALL_RETURN ? x->end : TS_NO_END;

			if (x->pos >= best)
				return best < limit ? best : TS_NO_END;
			if (x->ordinal == first || x->kind == TS_CALL_SWITCH)
				end = return_around(c, &w, *x, pos);
			if (end < best)
				best = end;
		}
	}
	return best < limit ? best : TS_NO_END;
}

/* The last return before @pos of the call or switch, or of those around it. */
static uint64_t last_return_around(const struct ts_calls *c, struct ts_call_window *w, struct ts_call x,
				   uint64_t pos)
{
	uint64_t best = TS_NO_END;

	do {
		if (x.kind != TS_CALL_SWITCH && x.end >= pos)
			break;
		if (x.kind == TS_CALL_RETURN)
			best = x.end;
	} while (ts_calls_outer(c, w, &x));
	return best;
}

uint64_t ts_calls_prev_return(const struct ts_calls *c, uint32_t thread, uint64_t pos)
{
	struct ts_call_window w = { .n = 0 };
	uint32_t last = ts_calls_before(c, &w, thread, pos);
	struct ts_call block[TS_CALL_BLOCK];
	uint64_t best = TS_NO_END;

	/* between two calls or switches of the list only those around the first of them end */
	for (uint32_t i = last; last != TS_NO_CALL && best == TS_NO_END; i--) {
		if (i == last || i + 1 == block[0].ordinal)
			ts_calls_block(c, thread, i, block);
		best = last_return_around(c, &w, block[i - block[0].ordinal], pos);
		if (!i)
			break;
	}
	return best;
}

uint64_t ts_calls_saved_len(const struct ts_calls *c)
{
	uint64_t sum = ts_call_edges_saved_len(&c->edges);

	for (uint32_t i = 0; i < c->n_segments; i++)
		sum += ts_call_pack_saved_len(&c->segments[i].pack) +
		       c->segments[i].n_ends * sizeof(*c->segments[i].ends);
	return sum;
}
