/* SPDX-License-Identifier: MIT */
/*
 * A call in a block: a byte (kind, and how its parent is told), the position as a difference to the call
 * before it, then, unless it is a switch, its site and, if it has ended, its length.  Numbers are varints.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/buf.h"
#include "src/index/index_blocks.h"
#include "src/index/index_file.h"

/* How the parent of a call is told, by the call before it in the block. */
enum parent {
	PARENT_PREVIOUS, /* that call */
	PARENT_SAME,     /* its parent */
	PARENT_TOLD,     /* how many calls before, and the depth */
	PARENT_NONE,
};
#define KIND_BITS 2

/* Where a call comes from and goes to: few, however often they are executed. */
struct site {
	uint64_t pc, target;
};

struct block {
	uint64_t pos; /* of its first call */
	uint32_t thread;
	uint32_t ordinal; /* of its first call */
	uint32_t off;     /* in the bytes of its segment */
	uint32_t n;       /* calls */
};

/* The end of a call that was sealed open. */
struct late_end {
	uint64_t end;
	uint32_t thread;
	uint32_t ordinal;
	uint32_t kind;
	uint32_t segment; /* in which it ended */
};

struct segment {
	const struct block *blocks; /* by thread, then ordinal */
	const uint8_t *bytes;
	const struct late_end *ends;
	size_t n_blocks, n_bytes, n_ends;
	struct ts_index_blocks *file;   /* borrowed; bytes are mapped from it; NULL: they are in memory */
	struct block *own_blocks; /* owned; NULL: all belongs to an index file */
	struct ts_buf buf;
	struct late_end *own_ends; /* owned */
};

/* A block of a thread's list. */
struct ref {
	uint64_t pos;
	uint32_t ordinal;
	uint32_t segment;
	uint32_t block;
};

struct list {
	struct ref *refs; /* owned; of the sealed segments */
	uint32_t n_refs, cap_refs;
	uint32_t n_sealed;     /* calls in them */
	struct late_end *ends; /* owned; by ordinal */
	uint32_t n_ends, cap_ends;
	struct ts_call *calls; /* owned; of the segment that is being read */
	uint32_t n_calls, cap_calls;
	uint32_t first; /* ordinal of calls[0] */
};

struct ts_calls {
	struct list *lists; /* owned; by thread */
	uint32_t n_lists;
	struct site *sites; /* owned */
	uint32_t n_sites, cap_sites;
	uint32_t *table; /* owned; hash table of sites, ordinals + 1; a power of two */
	uint32_t n_table;
	struct segment *segments; /* owned */
	uint32_t n_segments;
	bool has_copy;         /* the last one is a copy of what is being read */
	struct late_end *ends; /* owned; of calls of sealed segments, in the one that is being read */
	uint32_t n_ends, cap_ends;
	uint32_t n_saved_sites;
};

/* Room for one more item in *@array, which doubles.  Returns false if memory is exhausted. */
static bool room(void *array, uint32_t n, uint32_t *cap, size_t item_len)
{
	uint32_t more = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return true;
	if (*cap >= UINT32_MAX / 2)
		return false;
	memcpy(&p, array, sizeof(p)); /* a pointer to any type */
	/* cppcheck-suppress memleakOnRealloc; without memory *array still has the old one */
	p = realloc(p, more * item_len);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*cap = more;
	return true;
}

struct ts_calls *ts_calls_new(void)
{
	return calloc(1, sizeof(struct ts_calls));
}

static void free_segment(struct segment *s)
{
	free(s->own_blocks);
	free(s->own_ends);
	ts_buf_fini(&s->buf);
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
	free(c->sites);
	free(c->table);
	free(c->segments);
	free(c->ends);
	free(c);
}

static struct list *list_of(struct ts_calls *c, uint32_t thread)
{
	struct list *p;

	if (thread < c->n_lists)
		return &c->lists[thread];
	p = realloc(c->lists, ((size_t)thread + 1) * sizeof(*p));
	if (!p)
		return NULL;
	c->lists = p;
	memset(p + c->n_lists, 0, (thread + 1 - c->n_lists) * sizeof(*p));
	c->n_lists = thread + 1;
	return &p[thread];
}

/* ----------------------------------------------------------------------------------------------- building */

uint32_t ts_calls_add(struct ts_calls *c, const struct ts_call *call)
{
	struct list *l = list_of(c, call->thread);
	struct ts_call *x;

	if (!l || l->n_calls >= TS_NO_CALL - 1 - l->first ||
	    !room(&l->calls, l->n_calls, &l->cap_calls, sizeof(*l->calls)))
		return TS_NO_CALL;
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
	if (!room(&c->ends, c->n_ends, &c->cap_ends, sizeof(*c->ends)))
		return false;
	c->ends[c->n_ends++] = (struct late_end){ end, thread, ordinal, kind, 0 };
	return true;
}

static uint32_t hash_site(uint64_t pc, uint64_t target)
{
	uint64_t h = pc * UINT64_C(0x9e3779b97f4a7c15) ^ target * UINT64_C(0xd6e8feb86659fd93);

	return (uint32_t)(h ^ h >> 32);
}

static void put_in_table(struct ts_calls *c, uint32_t site)
{
	uint32_t at = hash_site(c->sites[site].pc, c->sites[site].target) & (c->n_table - 1);

	while (c->table[at])
		at = (at + 1) & (c->n_table - 1);
	c->table[at] = site + 1;
}

static bool grow_table(struct ts_calls *c)
{
	uint32_t n = c->n_table ? c->n_table : 256;
	uint32_t *table;

	while (n <= 2 * c->n_sites)
		n *= 2;
	table = calloc(n, sizeof(*table));
	if (!table)
		return false;
	free(c->table);
	c->table = table;
	c->n_table = n;
	for (uint32_t i = 0; i < c->n_sites; i++)
		put_in_table(c, i);
	return true;
}

/* The ordinal of a site, which is added if it is new; UINT32_MAX if memory is exhausted. */
static uint32_t intern(struct ts_calls *c, uint64_t pc, uint64_t target)
{
	uint32_t at;

	if (2 * c->n_sites >= c->n_table && !grow_table(c))
		return UINT32_MAX;
	at = hash_site(pc, target) & (c->n_table - 1);
	for (; c->table[at]; at = (at + 1) & (c->n_table - 1)) {
		const struct site *s = &c->sites[c->table[at] - 1];

		if (s->pc == pc && s->target == target)
			return c->table[at] - 1;
	}
	if (!room(&c->sites, c->n_sites, &c->cap_sites, sizeof(*c->sites)))
		return UINT32_MAX;
	c->sites[c->n_sites] = (struct site){ pc, target };
	c->table[at] = ++c->n_sites;
	return c->n_sites - 1;
}

/* ----------------------------------------------------------------------------------------------- encoding */

static void put_varint(struct ts_buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		ts_buf_putc(out, (uint8_t)(value | 0x80));
	ts_buf_putc(out, (uint8_t)value);
}

static enum parent parent_of(const struct ts_call *x, const struct ts_call *before)
{
	if (x->parent == TS_NO_CALL)
		return PARENT_NONE;
	if (before && x->parent == before->ordinal)
		return PARENT_PREVIOUS;
	if (before && x->parent == before->parent)
		return PARENT_SAME;
	return PARENT_TOLD;
}

/* @before is NULL for the first of a block.  Returns false if memory is exhausted. */
static bool encode_call(struct ts_calls *c, struct ts_buf *out, const struct ts_call *x,
			const struct ts_call *before)
{
	enum parent parent = parent_of(x, before);
	uint32_t site = 0;

	ts_buf_putc(out, (uint8_t)(x->kind | (unsigned)parent << KIND_BITS));
	put_varint(out, before ? x->pos - before->pos : 0);
	if (parent == PARENT_TOLD) {
		put_varint(out, x->ordinal - x->parent);
		put_varint(out, x->depth);
	}
	if (x->kind == TS_CALL_SWITCH)
		return ts_buf_ok(out);
	site = intern(c, x->pc, x->target);
	put_varint(out, site);
	if (x->kind != TS_CALL_OPEN)
		put_varint(out, x->end - x->pos);
	return site != UINT32_MAX && ts_buf_ok(out);
}

static bool encode_list(struct ts_calls *c, uint32_t thread, struct segment *s, size_t *n_blocks)
{
	const struct list *l = &c->lists[thread];

	for (uint32_t i = 0; i < l->n_calls; i++) {
		const struct ts_call *x = &l->calls[i];
		bool is_first = i % TS_CALL_BLOCK == 0;

		if (is_first) {
			uint32_t left = l->n_calls - i;

			s->own_blocks[(*n_blocks)++] = (struct block){
				.pos = x->pos,
				.thread = thread,
				.ordinal = x->ordinal,
				.off = (uint32_t)s->buf.len,
				.n = left < TS_CALL_BLOCK ? left : TS_CALL_BLOCK,
			};
		}
		if (!encode_call(c, &s->buf, x, is_first ? NULL : x - 1))
			return false;
	}
	return s->buf.len < UINT32_MAX;
}

/* What is being read, as a segment.  Returns false if memory is exhausted. */
static bool encode_segment(struct ts_calls *c, struct segment *s)
{
	size_t n = 0;

	*s = (struct segment){ 0 };
	for (uint32_t i = 0; i < c->n_lists; i++)
		n += (c->lists[i].n_calls + TS_CALL_BLOCK - 1) / TS_CALL_BLOCK;
	s->own_blocks = malloc((n + 1) * sizeof(*s->own_blocks));
	s->own_ends = malloc((c->n_ends + 1) * sizeof(*s->own_ends));
	if (!s->own_blocks || !s->own_ends)
		return false;
	if (c->n_ends)
		memcpy(s->own_ends, c->ends, c->n_ends * sizeof(*c->ends));
	for (uint32_t i = 0; i < c->n_lists; i++) {
		if (!encode_list(c, i, s, &s->n_blocks))
			return false;
	}
	s->blocks = s->own_blocks;
	s->ends = s->own_ends;
	s->n_ends = c->n_ends;
	s->bytes = s->buf.data;
	s->n_bytes = s->buf.len;
	return true;
}

/* ------------------------------------------------------------------------------------------------ segments
 */

static bool add_refs(struct ts_calls *c, uint32_t segment)
{
	const struct segment *s = &c->segments[segment];

	for (uint32_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->blocks[i];
		struct list *l = list_of(c, b->thread);

		if (!l || !room(&l->refs, l->n_refs, &l->cap_refs, sizeof(*l->refs)))
			return false;
		l->refs[l->n_refs++] = (struct ref){ b->pos, b->ordinal, segment, i };
		l->n_sealed = b->ordinal + b->n;
	}
	return true;
}

static int compare_ends(const void *a, const void *b)
{
	const struct late_end *x = a, *y = b;

	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static bool add_ends(struct ts_calls *c, uint32_t segment)
{
	const struct segment *s = &c->segments[segment];

	for (size_t i = 0; i < s->n_ends; i++) {
		struct list *l = list_of(c, s->ends[i].thread);

		if (!l || !room(&l->ends, l->n_ends, &l->cap_ends, sizeof(*l->ends)))
			return false;
		l->ends[l->n_ends] = s->ends[i];
		l->ends[l->n_ends++].segment = segment;
	}
	for (uint32_t i = 0; s->n_ends && i < c->n_lists; i++) {
		struct list *l = &c->lists[i];

		if (l->n_ends)
			qsort(l->ends, l->n_ends, sizeof(*l->ends), compare_ends);
	}
	return true;
}

/* Forget what a segment, the last one, told. */
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
		l->n_ends = n;
	}
	free_segment(&c->segments[segment]);
}

/* Takes @s over, on failure too. */
static bool install(struct ts_calls *c, struct segment *s)
{
	struct segment *p = realloc(c->segments, (c->n_segments + 1) * sizeof(*p));

	if (!p) {
		free_segment(s);
		return false;
	}
	c->segments = p;
	p[c->n_segments++] = *s;
	return add_refs(c, c->n_segments - 1) && add_ends(c, c->n_segments - 1);
}

static bool seal(struct ts_calls *c)
{
	struct segment s;

	if (c->has_copy)
		drop_last(c);
	c->has_copy = false;
	if (!encode_segment(c, &s)) {
		free_segment(&s);
		return false;
	}
	return install(c, &s);
}

bool ts_calls_seal(struct ts_calls *c)
{
	if (!seal(c))
		return false;
	for (uint32_t i = 0; i < c->n_lists; i++) {
		struct list *l = &c->lists[i];

		l->first += l->n_calls;
		l->n_calls = 0;
	}
	c->n_ends = 0;
	return true;
}

bool ts_calls_seal_copy(struct ts_calls *c)
{
	c->has_copy = seal(c);
	return c->has_copy;
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_calls_save(struct ts_calls *c, struct ts_index_file *f)
{
	const struct segment *s = &c->segments[c->n_segments - 1];

	ts_index_put(f, s->blocks, s->n_blocks, sizeof(*s->blocks));
	ts_index_put(f, s->bytes, s->n_bytes, 1);
	ts_index_put(f, s->ends, s->n_ends, sizeof(*s->ends));
	ts_index_put(f, c->sites + c->n_saved_sites, c->n_sites - c->n_saved_sites, sizeof(*c->sites));
	c->n_saved_sites = c->n_sites;
}

/* Do the blocks continue the lists, in order, within the bytes? */
static bool are_blocks_good(const struct ts_calls *c, const struct segment *s, uint32_t n_threads)
{
	for (size_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->blocks[i], *before = i ? b - 1 : NULL;
		bool is_same = before && before->thread == b->thread;
		uint32_t next = is_same                  ? before->ordinal + before->n
				: b->thread < c->n_lists ? c->lists[b->thread].n_sealed
							 : 0;

		if (b->thread >= n_threads || !b->n || b->n > TS_CALL_BLOCK || b->off >= s->n_bytes || b->ordinal != next ||
		    b->ordinal >= TS_NO_CALL - TS_CALL_BLOCK || (before && b->off <= before->off) ||
		    (before && b->thread < before->thread) || (is_same && b->pos < before->pos))
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

static bool add_sites(struct ts_calls *c, const struct site *sites, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!room(&c->sites, c->n_sites, &c->cap_sites, sizeof(*c->sites)))
			return false;
		c->sites[c->n_sites++] = sites[i];
	}
	return !n || grow_table(c);
}

bool ts_calls_load(struct ts_calls *c, struct ts_index_arrays *a, bool in_place, uint32_t n_threads)
{
	struct segment s = { .file = a->blocks };
	const struct site *sites;
	size_t n_sites;

	s.blocks = ts_index_take(a, sizeof(*s.blocks), &s.n_blocks);
	s.bytes = ts_index_take_unread(a, 1, &s.n_bytes);
	s.ends = ts_index_take(a, sizeof(*s.ends), &s.n_ends);
	sites = ts_index_take(a, sizeof(*sites), &n_sites);
	if (a->is_bad)
		return false;
	if (in_place)
		drop_last(c);
	else if (!add_sites(c, sites, n_sites))
		return false;
	else
		c->n_saved_sites = c->n_sites;
	if (!are_blocks_good(c, &s, n_threads) || !are_ends_good(c, &s) || !install(c, &s))
		return false;
	for (uint32_t i = 0; i < c->n_lists; i++)
		c->lists[i].first = c->lists[i].n_sealed;
	return true;
}

/* ----------------------------------------------------------------------------------------------- questions
 */

/* Bytes of a block; what an index file holds may be anything. */
struct bytes {
	const uint8_t *p, *end;
};

static uint64_t take_varint(struct bytes *b)
{
	uint64_t value = 0;

	for (unsigned shift = 0; b->p < b->end && shift < 64; shift += 7) {
		uint8_t byte = *b->p++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return value;
}

static void take_parent(struct bytes *b, enum parent parent, struct ts_call *x)
{
	uint64_t back;

	switch (parent) {
	case PARENT_PREVIOUS:
		x->parent = x->ordinal - 1;
		x->depth++;
		break;
	case PARENT_SAME: break;
	case PARENT_TOLD:
		back = take_varint(b);
		x->depth = (uint32_t)take_varint(b);
		x->parent = back && back <= x->ordinal ? x->ordinal - (uint32_t)back : TS_NO_CALL;
		break;
	case PARENT_NONE:
		x->parent = TS_NO_CALL;
		x->depth = 1;
		break;
	}
}

/* Go from the call before it in its block (or the block's head) to the call that begins at @b. */
static void decode_call(const struct ts_calls *c, struct bytes *b, struct ts_call *x)
{
	uint8_t head = b->p < b->end ? *b->p++ : TS_CALL_OPEN | PARENT_NONE << KIND_BITS;
	uint64_t site;

	x->kind = head & ((1u << KIND_BITS) - 1);
	x->pos += take_varint(b);
	take_parent(b, head >> KIND_BITS & 3, x);
	x->end = TS_NO_END;
	if (x->kind == TS_CALL_SWITCH)
		return;
	site = take_varint(b);
	x->pc = site < c->n_sites ? c->sites[site].pc : 0;
	x->target = site < c->n_sites ? c->sites[site].target : 0;
	if (x->kind != TS_CALL_OPEN)
		x->end = x->pos + take_varint(b);
}

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

/* The ordinal of the list's last block that begins at or before @ordinal. */
static uint32_t block_of(const struct list *l, uint32_t ordinal)
{
	uint32_t lo = 0, n = l->n_refs;

	while (n > 1) {
		uint32_t half = n / 2;

		if (l->refs[lo + half].ordinal <= ordinal)
			lo += half, n -= half;
		else
			n = half;
	}
	return lo;
}

/* The state before the first call of a block. */
static struct bytes start_block(const struct ts_calls *c, const struct ref *ref, uint32_t thread,
				struct ts_call *x)
{
	const struct segment *s = &c->segments[ref->segment];
	const struct block *b = &s->blocks[ref->block];
	size_t end = ref->block + 1 < s->n_blocks ? b[1].off : s->n_bytes;

	*x = (struct ts_call){
		.pos = b->pos,
		.thread = thread,
		.ordinal = b->ordinal,
		.parent = TS_NO_CALL,
		.depth = 1,
	};
	ts_index_blocks_use(s->file, s->bytes + b->off, end - b->off);
	return (struct bytes){ s->bytes + b->off, s->bytes + end };
}

uint32_t ts_calls_n_threads(const struct ts_calls *c)
{
	return c->n_lists;
}

uint32_t ts_calls_n(const struct ts_calls *c, uint32_t thread)
{
	return thread < c->n_lists ? c->lists[thread].n_sealed : 0;
}

void ts_calls_get(const struct ts_calls *c, uint32_t thread, uint32_t ordinal, struct ts_call *call)
{
	const struct list *l = &c->lists[thread];
	struct bytes b = start_block(c, &l->refs[block_of(l, ordinal)], thread, call);

	decode_call(c, &b, call);
	while (call->ordinal < ordinal) {
		call->ordinal++;
		decode_call(c, &b, call);
	}
	find_end(l, call);
}

uint32_t ts_calls_block(const struct ts_calls *c, uint32_t thread, uint32_t ordinal, struct ts_call *calls)
{
	const struct list *l = &c->lists[thread];
	uint32_t at = block_of(l, ordinal), n;
	struct ts_call x;
	struct bytes b = start_block(c, &l->refs[at], thread, &x);

	n = (at + 1 < l->n_refs ? l->refs[at + 1].ordinal : l->n_sealed) - x.ordinal;
	for (uint32_t i = 0; i < n; i++, x.ordinal++) {
		decode_call(c, &b, &x);
		calls[i] = x;
		find_end(l, &calls[i]);
	}
	return n;
}

uint32_t ts_calls_before(const struct ts_calls *c, uint32_t thread, uint64_t pos)
{
	const struct list *l = thread < c->n_lists ? &c->lists[thread] : NULL;
	uint32_t lo = 0, n = l ? l->n_refs : 0, end, found;
	struct ts_call x;
	struct bytes b;

	if (!n || l->refs[0].pos >= pos)
		return TS_NO_CALL;
	while (n > 1) {
		uint32_t half = n / 2;

		if (l->refs[lo + half].pos < pos)
			lo += half, n -= half;
		else
			n = half;
	}
	b = start_block(c, &l->refs[lo], thread, &x);
	end = lo + 1 < l->n_refs ? l->refs[lo + 1].ordinal : l->n_sealed;
	found = x.ordinal;
	for (; x.ordinal < end; x.ordinal++) {
		decode_call(c, &b, &x);
		if (x.pos >= pos)
			break;
		found = x.ordinal;
	}
	return found;
}

bool ts_calls_innermost(const struct ts_calls *c, uint32_t thread, uint64_t pos, struct ts_call *call)
{
	uint32_t last = ts_calls_before(c, thread, pos);

	if (last == TS_NO_CALL)
		return false;
	ts_calls_get(c, thread, last, call);
	while (call->kind == TS_CALL_SWITCH || call->end <= pos) {
		if (!ts_calls_outer(c, call))
			return false;
	}
	return true;
}

bool ts_calls_outer(const struct ts_calls *c, struct ts_call *call)
{
	if (call->parent >= call->ordinal) /* TS_NO_CALL is */
		return false;
	ts_calls_get(c, call->thread, call->parent, call);
	return true;
}

/*
 * The first return after @pos of the call or switch, or of those around it: what is called inside of a call ends with it,
 * or before.
 */
static uint64_t return_around(const struct ts_calls *c, struct ts_call x, uint64_t pos)
{
	do {
		if (x.kind == TS_CALL_OPEN)
			return TS_NO_END;
		if (x.kind == TS_CALL_RETURN && x.end > pos)
			return x.end;
	} while (ts_calls_outer(c, &x));
	return TS_NO_END;
}

uint64_t ts_calls_next_return(const struct ts_calls *c, uint32_t thread, uint64_t pos, uint64_t limit)
{
	uint32_t first = ts_calls_before(c, thread, pos), n = ts_calls_n(c, thread), n_block;
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
				end = return_around(c, *x, pos);
			if (end < best)
				best = end;
		}
	}
	return best < limit ? best : TS_NO_END;
}

/* The last return before @pos of the call or switch, or of those around it. */
static uint64_t last_return_around(const struct ts_calls *c, struct ts_call x, uint64_t pos)
{
	uint64_t best = TS_NO_END;

	do {
		if (x.kind != TS_CALL_SWITCH && x.end >= pos)
			break;
		if (x.kind == TS_CALL_RETURN)
			best = x.end;
	} while (ts_calls_outer(c, &x));
	return best;
}

uint64_t ts_calls_prev_return(const struct ts_calls *c, uint32_t thread, uint64_t pos)
{
	uint32_t last = ts_calls_before(c, thread, pos);
	struct ts_call block[TS_CALL_BLOCK];
	uint64_t best = TS_NO_END;

	/* between two calls or switches of the list only those around the first of them end */
	for (uint32_t i = last; last != TS_NO_CALL && best == TS_NO_END; i--) {
		if (i == last || i + 1 == block[0].ordinal)
			ts_calls_block(c, thread, i, block);
		best = last_return_around(c, block[i - block[0].ordinal], pos);
		if (!i)
			break;
	}
	return best;
}

uint64_t ts_calls_mem(const struct ts_calls *c)
{
	uint64_t sum = c->n_sites * sizeof(*c->sites);

	for (uint32_t i = 0; i < c->n_segments; i++) {
		const struct segment *s = &c->segments[i];

		sum += s->n_blocks * sizeof(*s->blocks) + s->n_bytes + s->n_ends * sizeof(*s->ends);
	}
	return sum;
}
