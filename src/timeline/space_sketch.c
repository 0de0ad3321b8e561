/* SPDX-License-Identifier: MIT */
#include "space_sketch.h"

#include <stdlib.h>
#include <string.h>

#include "sketch.h"
#include "space_parts.h"

#define REACH TS_TRAIT_REACH

/* The longest run of changed bytes, with those that matter around it, and around these. */
#define MAX_BYTES (TS_PAGE_LEN + 4 * REACH)

/*
 * Unknown bytes of a page near which something was changed in this segment; bits as those of ts_page.known.  When they
 * are seen what the change made is told: alone by what is there then if nothing near them has changed since.
 */
struct ts_wants {
	uint64_t once[TS_PAGE_LEN / 64];
	uint64_t again[TS_PAGE_LEN / 64]; /* more than one change */
	uint64_t lost[TS_PAGE_LEN / 64];  /* they were lost in this segment: what was before does not count */
	bool low, high;                   /* unknown bytes of the page before, after this one are wanted */
	bool is_old;                      /* something near was changed in a segment before */
};

/* Bytes around a change. */
struct around {
	uint8_t data[MAX_BYTES], known[MAX_BYTES];
	struct ts_trait_bytes b;
};

/* Was anything of the page or beside it changed before this segment? */
static bool is_page_old(const struct ts_space_builder *sb, uint64_t page)
{
	uint64_t n = ts_sketcher_segment(sb->sketcher);

	for (uint64_t i = 0; i < n && i < sb->space->n_segments; i++) {
		const struct ts_lines *lines = &sb->space->segments[i].versions.lines;

		for (uint64_t p = page - 1; p != page + 2; p++) {
			if (ts_lines_has_page(lines, p))
				return true;
		}
	}
	return false;
}

static bool grow_wanted(struct ts_space_builder *sb)
{
	size_t cap = sb->cap_wanted ? sb->cap_wanted * 2 : 64;
	struct ts_page **p = realloc(sb->wanted, cap * sizeof(*p));

	if (!p)
		return false;
	sb->wanted = p;
	sb->cap_wanted = cap;
	return true;
}

/* The page's wants.  Returns NULL if memory is exhausted. */
static struct ts_wants *wants_of(struct ts_space_builder *sb, struct ts_page *pg)
{
	if (pg->wants)
		return pg->wants;
	if (sb->n_wanted < sb->cap_wanted || grow_wanted(sb))
		pg->wants = calloc(1, sizeof(*pg->wants));
	if (!pg->wants) {
		sb->is_failed = true;
		return NULL;
	}
	sb->wanted[sb->n_wanted++] = pg;
	pg->wants->is_old = is_page_old(sb, pg->page);
	return pg->wants;
}

/* Bytes as they are now, also of pages that no step has touched; @addr may lie before the address space. */
static void peek(struct ts_space_builder *sb, uint64_t addr, unsigned len, struct around *a)
{
	const struct ts_painting p = { sb->space, NULL, sb->resumed, 0 };
	uint8_t *data = a->data, *known = a->known;

	a->b = (struct ts_trait_bytes){ data, known, len };
	for (unsigned n; len; addr += n, data += n, known += n, len -= n) {
		unsigned off = (unsigned)(addr % TS_PAGE_LEN), room = TS_PAGE_LEN - off;
		const struct ts_page *pg = ts_pages_get(&sb->now, addr >> TS_PAGE_BITS, 0);

		n = len < room ? len : room;
		if (!pg)
			ts_space_paint(&p, sb->space->layers.n, addr, addr + (n - 1), data, known);
		for (unsigned i = 0; pg && i < n; i++) {
			data[i] = pg->data[off + i];
			known[i] = ts_page_knows(pg, off + i);
		}
	}
}

/* ------------------------------------------------------------------------------------------------ changes */

static void note_known(struct ts_space_builder *sb, const uint8_t *data, unsigned s, unsigned e)
{
	uint64_t *keys = ts_sketcher_keys(sb->sketcher);
	uint32_t first[3];

	ts_trait_known_first(data, s, first);
	for (unsigned i = 0; i < 3; i++)
		ts_sketch_set(keys, first[i]);
	for (unsigned i = s; i <= e; i++)
		ts_sketch_set(keys, ts_trait_known_ahead(data, i));
}

/* The unknown bytes of the page within reach of [s, e] are wanted. */
static void want(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e)
{
	unsigned first = s < REACH ? 0 : s - REACH, last = e + REACH < TS_PAGE_LEN ? e + REACH : TS_PAGE_LEN - 1;
	struct ts_wants *w = wants_of(sb, pg);

	if (!w)
		return;
	w->low |= s < REACH;
	w->high |= e + REACH >= TS_PAGE_LEN;
	for (unsigned word = first / 64; word <= last / 64; word++) {
		unsigned from = word == first / 64 ? first % 64 : 0, to = word == last / 64 ? last % 64 : 63;
		uint64_t bits = ts_bit_run(from, to - from + 1) & ~pg->known[word];

		w->again[word] |= bits & w->once[word];
		w->once[word] |= bits;
	}
}

/* Are eight bytes from @i on known? */
static inline bool knows_eight(const struct around *a, unsigned i)
{
	uint64_t x;

	if (i + sizeof(x) > a->b.n)
		return false;
	memcpy(&x, a->known + i, sizeof(x));
	return x == UINT64_C(0x0101010101010101);
}

/* Not all within reach is known, or in the page. */
static __attribute__((noinline)) void note_partly(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e)
{
	uint64_t *keys = ts_sketcher_keys(sb->sketcher);
	bool (*const firsts[])(const struct ts_trait_bytes *, unsigned, uint32_t *) = { ts_trait_around, ts_trait_next,
											ts_trait_before };
	struct around a;
	uint32_t key;

	peek(sb, (pg->page << TS_PAGE_BITS) + s - REACH, e - s + 1 + 2 * REACH, &a);
	for (unsigned i = 0; i < 3; i++) {
		if (a.known[REACH] && firsts[i](&a.b, REACH, &key))
			ts_sketch_set(keys, key);
	}
	for (unsigned i = REACH; i <= e - s + REACH; i++) {
		if (knows_eight(&a, i))
			ts_sketch_set(keys, ts_trait_known_ahead(a.data, i));
		else if (a.known[i] && ts_trait_ahead(&a.b, i, &key))
			ts_sketch_set(keys, key);
	}
	want(sb, pg, s, e);
}

/* Is all within reach of [s, e] in the page, and known? */
static inline bool is_plain(const struct ts_page *pg, unsigned s, unsigned e)
{
	unsigned first = s - REACH, n = e - s + 1 + 2 * REACH, at = first % 64, word = first / 64;
	uint64_t bits;

	if (s < REACH || e + REACH >= TS_PAGE_LEN)
		return false;
	if (n > 64)
		return ts_page_knows_all(pg, first, n);
	bits = pg->known[word] >> at;
	if (at && word + 1 < TS_PAGE_LEN / 64)
		bits |= pg->known[word + 1] << (64 - at);
	return (~bits & ts_bit_run(0, n)) == 0;
}

void ts_space_note_change(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e)
{
	if (__builtin_expect(is_plain(pg, s, e), 1))
		note_known(sb, pg->data, s, e);
	else
		note_partly(sb, pg, s, e);
}

/* Call @note with the part of [first, last] in each page. */
static void each_page(struct ts_space_builder *sb, uint64_t first, uint64_t last,
		      void (*note)(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e))
{
	for (uint64_t page = first >> TS_PAGE_BITS;; page++) {
		unsigned s = page == first >> TS_PAGE_BITS ? first % TS_PAGE_LEN : 0;
		unsigned e = page == last >> TS_PAGE_BITS ? last % TS_PAGE_LEN : TS_PAGE_LEN - 1;
		struct ts_page *pg = ts_pages_get(&sb->now, page, 0);

		if (pg)
			note(sb, pg, s, e);
		if (page == last >> TS_PAGE_BITS)
			return;
	}
}

void ts_space_note_changes(struct ts_space_builder *sb, uint64_t first, uint64_t last)
{
	if (sb->sketcher)
		each_page(sb, first, last, ts_space_note_change);
}

static void lose(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e)
{
	struct ts_wants *w = wants_of(sb, pg);

	for (unsigned word = s / 64; w && word <= e / 64; word++) {
		unsigned from = word == s / 64 ? s % 64 : 0, to = word == e / 64 ? e % 64 : 63;
		uint64_t bits = ts_bit_run(from, to - from + 1);

		w->lost[word] |= bits;
		w->once[word] &= ~bits;
		w->again[word] &= ~bits;
	}
	want(sb, pg, s, e);
}

void ts_space_note_lost(struct ts_space_builder *sb, uint64_t first, uint64_t last)
{
	if (sb->sketcher)
		each_page(sb, first, last, lose);
}

/* What its unknown bytes are near to has changed. */
static void want_again(struct ts_page *pg)
{
	if (!pg || !pg->wants)
		return;
	for (unsigned word = 0; word < TS_PAGE_LEN / 64; word++)
		pg->wants->again[word] |= pg->wants->once[word];
}

void ts_space_note_fill(struct ts_space_builder *sb, uint64_t first, uint64_t last)
{
	uint64_t from = first >> TS_PAGE_BITS, n = (last >> TS_PAGE_BITS) - from + 3; /* with the page before and after it */

	from -= from > 0;
	for (uint64_t i = 0; n < sb->n_wanted && i < n; i++)
		want_again(ts_pages_find(&sb->now, from + i, 0));
	for (size_t i = 0; n >= sb->n_wanted && i < sb->n_wanted; i++) {
		if (sb->wanted[i]->page - from < n)
			want_again(sb->wanted[i]);
	}
}

/* --------------------------------------------------------------------------------------------------- sight */

/* Was a byte near [addr, last] changed before this segment, in the layer that governs it now? */
static bool is_old(const struct ts_space_builder *sb, uint64_t addr, uint64_t last)
{
	const struct ts_space *sp = sb->space;
	uint64_t n = ts_sketcher_segment(sb->sketcher);
	const struct ts_layer *l = &sp->layers.items[ts_layers_newest(&sp->layers, sp->layers.n, addr, last)];
	bool is_fresh = l->first <= addr && l->last >= last &&
			l->pos >= n * TS_SEGMENT_CHUNKS * (uint64_t)TS_CHUNK_STEPS;
	uint64_t from = addr < REACH ? 0 : addr - REACH, to = last > UINT64_MAX - REACH ? UINT64_MAX : last + REACH;

	for (uint64_t i = 0; !is_fresh && i < n && i < sp->n_segments; i++) {
		if (ts_lines_next(&sp->segments[i].versions.lines, NULL, from, to, 0) != UINT32_MAX)
			return true;
	}
	return false;
}

/* The change near bytes [s, e] of the page was the only one: it made what is there now. */
static void note_early(struct ts_space_builder *sb, const struct ts_page *pg, unsigned s, unsigned e)
{
	bool (*const traits[])(const struct ts_trait_bytes *, unsigned, uint32_t *) = { ts_trait_ahead, ts_trait_around,
											ts_trait_next, ts_trait_before };
	struct around a;
	uint32_t key;

	peek(sb, (pg->page << TS_PAGE_BITS) + s - 2 * REACH, e - s + 1 + 4 * REACH, &a);
	for (unsigned i = REACH; i <= e - s + 3 * REACH; i++) {
		for (unsigned k = 0; a.known[i] && k < 4; k++) {
			if (traits[k](&a.b, i, &key))
				ts_sketcher_note_early(sb->sketcher, key);
		}
	}
}

static void note_late(struct ts_space_builder *sb, const struct ts_page *pg, unsigned s, unsigned e)
{
	uint64_t start = pg->page << TS_PAGE_BITS;

	for (unsigned n; s <= e; s += n) {
		n = e - s + 1 < TS_LATE_LEN ? e - s + 1 : TS_LATE_LEN;
		ts_sketcher_note_late(sb->sketcher, sb->space->id, start + s, pg->data + s, n);
	}
}

/* Does the page with this number want bytes beyond its end (its start)? */
static bool wants_beyond(struct ts_space_builder *sb, uint64_t page, bool is_end)
{
	const struct ts_page *pg = ts_pages_get(&sb->now, page, 0);

	return pg && pg->wants && (is_end ? pg->wants->high : pg->wants->low);
}

/* Bytes [s, e] of a word of the page's bits. */
static void see_run(struct ts_space_builder *sb, struct ts_page *pg, unsigned s, unsigned e)
{
	struct ts_wants *w = wants_of(sb, pg);
	uint64_t bits = ts_bit_run(s % 64, e - s + 1), start = pg->page << TS_PAGE_BITS;
	bool is_late, is_early;

	if (!w)
		return;
	is_late = w->again[s / 64] & bits || (s < REACH && wants_beyond(sb, pg->page - 1, true)) ||
		  (e + REACH >= TS_PAGE_LEN && wants_beyond(sb, pg->page + 1, false)) ||
		  (w->is_old && bits & ~w->lost[s / 64] && is_old(sb, start + s, start + e));
	is_early = w->once[s / 64] & bits;
	w->once[s / 64] &= ~bits;
	w->again[s / 64] &= ~bits;
	w->lost[s / 64] &= ~bits;
	if (is_late)
		note_late(sb, pg, s, e);
	else if (is_early)
		note_early(sb, pg, s, e);
}

/* Does one layer govern [addr, last]? */
static bool is_one_layer(const struct ts_space *sp, uint64_t addr, uint64_t last)
{
	const struct ts_layer *l = &sp->layers.items[ts_layers_newest(&sp->layers, sp->layers.n, addr, last)];

	return l->first <= addr && l->last >= last;
}

/* Bytes that were not lost were all there since their layer began; lost ones came one by one. */
void ts_space_note_seen(struct ts_space_builder *sb, struct ts_page *pg, unsigned word, uint64_t bits, uint64_t lost)
{
	uint64_t start;

	if (!sb->sketcher || (!sb->n_wanted && !ts_sketcher_segment(sb->sketcher)))
		return;
	start = (pg->page << TS_PAGE_BITS) + word * 64;
	while (bits) {
		unsigned s = (unsigned)__builtin_ctzll(bits), n = 1;

		while (!(lost >> s & 1) && s + n < 64 && (bits & ~lost) >> (s + n) & 1)
			n++;
		if (n > 1 && !is_one_layer(sb->space, start + s, start + s + n - 1))
			n = 1;
		see_run(sb, pg, word * 64 + s, word * 64 + s + n - 1);
		bits &= ~ts_bit_run(s, n);
	}
}

void ts_space_end_sketch(struct ts_space_builder *sb)
{
	for (size_t i = 0; i < sb->n_wanted; i++) {
		free(sb->wanted[i]->wants);
		sb->wanted[i]->wants = NULL;
	}
	sb->n_wanted = 0;
}
