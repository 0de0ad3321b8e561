/* SPDX-License-Identifier: MIT */
#include "space.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "space_parts.h"

struct ts_space *ts_space_new(const struct ts_image *recorded, const struct ts_image *image, uint32_t id)
{
	struct ts_space *sp = calloc(1, sizeof(*sp));

	if (sp && !ts_layers_add(&sp->layers, 0, 0, UINT64_MAX, TS_FILL_UNKNOWN)) {
		free(sp);
		return NULL;
	}
	if (sp) {
		sp->recorded = recorded;
		sp->image = image;
		sp->id = id;
	}
	return sp;
}

void ts_space_end_build(struct ts_space *sp)
{
	ts_pages_fini(&sp->now);
	ts_changes_fini(&sp->changes);
	ts_touches_fini(&sp->silent);
	ts_touches_fini(&sp->reads);
	for (size_t i = 0; i < sp->cap_touched; i++)
		free(sp->touched[i].marks);
	free(sp->touched);
	free(sp->fresh);
	free(sp->dirty);
	free(sp->completions);
	sp->touched = NULL;
	sp->fresh = NULL;
	sp->dirty = NULL;
	sp->completions = NULL;
	sp->n_fresh = sp->cap_fresh = 0;
	sp->n_touched = sp->cap_touched = sp->n_dirty = sp->cap_dirty = sp->n_completions =
		sp->cap_completions = 0;
}

static void drop_segment(struct ts_space_segment *seg)
{
	ts_versions_fini(&seg->versions);
	ts_lines_fini(&seg->silent);
	ts_lines_fini(&seg->reads);
}

void ts_space_free(struct ts_space *sp)
{
	if (!sp)
		return;
	ts_space_end_build(sp);
	for (size_t i = 0; i < sp->n_segments; i++)
		drop_segment(&sp->segments[i]);
	drop_segment(&sp->packed);
	free(sp->segments);
	ts_layers_fini(&sp->layers);
	ts_pages_fini(&sp->base);
	free(sp);
}

/* -------------------------------------------------------------------------------- the state at a boundary */

/* What the image calls a layer; not 0. */
static uint64_t map_of_layer(const struct ts_space *sp, uint32_t layer)
{
	return ((uint64_t)sp->id + 1) << 32 | layer;
}

/* What layer @layer holds in [first, last], which lies within it; @image (may be NULL) lies beneath it. */
static void layer_bytes(const struct ts_space *sp, const struct ts_image *image, uint32_t layer,
			uint64_t first, uint64_t last, uint8_t *data, uint8_t *known)
{
	const struct ts_layer *l = &sp->layers.items[layer];
	size_t len = (size_t)(last - first) + 1;

	memset(data, 0, len);
	memset(known, l->fill == TS_FILL_ZERO, len);
	for (size_t i = 0; i < len;) {
		uint64_t addr = first + i;
		unsigned off = (unsigned)(addr % TS_PAGE_LEN);
		size_t n = TS_PAGE_LEN - off < len - i ? TS_PAGE_LEN - off : len - i;
		const struct ts_page *pg = ts_pages_find(&sp->base, addr >> TS_PAGE_BITS, layer);

		for (size_t j = 0; pg && j < n; j++) {
			if (ts_page_knows(pg, off + (unsigned)j)) {
				data[i + j] = pg->data[off + j];
				known[i + j] = 1;
			}
		}
		i += n;
	}
	if (sp->recorded && l->fill == TS_FILL_UNKNOWN && !l->pos)
		ts_image_fill(sp->recorded, 0, first, len, data, known);
	if (image && l->fill == TS_FILL_UNKNOWN)
		ts_image_fill(image, map_of_layer(sp, layer), first, len, data, known);
	if (image && l->fill == TS_FILL_UNKNOWN && !l->pos)
		ts_image_fill(image, 0, first, len, data, known);
}

/*
 * What chunks [from, until) made of the line at @addr: v->known of it they changed, or it is known anyway,
 * v->lost they lost.
 */
static void read_line(const struct ts_space *sp, uint64_t addr, uint64_t from, uint64_t until,
		      struct ts_version *v)
{
	uint64_t seg = until ? (until - 1) / TS_SEGMENT_CHUNKS : 0;

	v->known = v->lost = 0;
	if (until <= from || !sp->n_segments)
		return;
	if (seg >= sp->n_segments)
		seg = sp->n_segments - 1;
	for (;; seg--) {
		uint64_t start = seg * TS_SEGMENT_CHUNKS;
		uint64_t rel = until - start < TS_SEGMENT_CHUNKS ? until - start : TS_SEGMENT_CHUNKS;

		if (ts_versions_read(&sp->segments[seg].versions, addr,
				     from > start ? (uint32_t)(from - start) : 0, (uint32_t)rel, v) ||
		    start <= from)
			return;
	}
}

/* How to paint bytes. */
struct painting {
	const struct ts_space *sp;
	const struct ts_image *image; /* beneath all; NULL: only what the recording shows */
	uint64_t until;               /* versions of chunks below this one count */
	uint8_t lost;                 /* what known gets for lost bytes */
};

/* Lay the versions of chunks from @from on over [first, last]. */
static void overlay_versions(const struct painting *p, uint64_t from, uint64_t first, uint64_t last,
			     uint8_t *data, uint8_t *known)
{
	size_t len = (size_t)(last - first) + 1;
	struct ts_version v;

	for (size_t i = 0; i < len;) {
		unsigned off = (unsigned)((first + i) % TS_LINE_LEN);

		read_line(p->sp, first + i - off, from, p->until, &v);
		for (; off < TS_LINE_LEN && i < len; off++, i++) {
			if (!((v.known | v.lost) >> off & 1))
				continue;
			known[i] = v.known >> off & 1 ? 1 : p->lost;
			data[i] = v.known >> off & 1 ? v.data[off] : 0;
		}
	}
}

/*
 * The bytes [first, last] as the first @n layers and the versions have them: newest layer first, and around
 * it what older layers say.
 */
static void paint(const struct painting *p, uint32_t n, uint64_t first, uint64_t last, uint8_t *data,
		  uint8_t *known)
{
	const struct ts_layers *layers = &p->sp->layers;
	uint32_t i = ts_layers_newest(layers, n, first, last);
	const struct ts_layer *l = &layers->items[i];
	uint64_t lo = first > l->first ? first : l->first;
	uint64_t hi = last < l->last ? last : l->last;

	assert(i != TS_NO_LAYER); /* layer 0 is everywhere */
	if (first < lo)
		paint(p, i, first, lo - 1, data, known);
	layer_bytes(p->sp, p->image, i, lo, hi, data + (lo - first), known + (lo - first));
	overlay_versions(p, l->pos ? (l->pos - 1) / TS_CHUNK_STEPS : 0, lo, hi, data + (lo - first),
			 known + (lo - first));
	if (hi < last)
		paint(p, i, hi + 1, last, data + (hi + 1 - first), known + (hi + 1 - first));
}

/* [addr, addr + len) may pass the end of the space: what does is unknown. */
static size_t clip(uint64_t addr, size_t len, uint8_t *data, uint8_t *known)
{
	uint64_t room = UINT64_MAX - addr;

	if (!len || len - 1 <= room)
		return len;
	memset(data + room + 1, 0, len - 1 - room);
	memset(known + room + 1, 0, len - 1 - room);
	return (size_t)room + 1;
}

/* Page by page: paint() goes as deep as there are layers side by side. */
static void paint_pages(const struct painting *p, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
			uint8_t *known)
{
	len = clip(addr, len, data, known);
	for (size_t i = 0, n; i < len; i += n) {
		n = TS_PAGE_LEN - (size_t)((addr + i) % TS_PAGE_LEN);
		if (n > len - i)
			n = len - i;
		paint(p, n_layers, addr + i, addr + i + (n - 1), data + i, known + i);
	}
}

void ts_space_at(const struct ts_space *sp, uint64_t chunk, uint64_t addr, size_t len, uint8_t *data,
		 uint8_t *known)
{
	struct painting p = { sp, sp->image, chunk, 0 };

	paint_pages(&p, ts_space_n_layers(sp, chunk * TS_CHUNK_STEPS), addr, len, data, known);
}

uint32_t ts_space_n_layers(const struct ts_space *sp, uint64_t pos)
{
	return ts_layers_until(&sp->layers, pos);
}

void ts_space_base(const struct ts_space *sp, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known)
{
	struct painting p = { sp, sp->image, 0, 0 };

	paint_pages(&p, n_layers, addr, len, data, known);
}

/* ----------------------------------------------------------------------------------------------- building */

static bool grow_touched(struct ts_space *sp)
{
	size_t cap = sp->cap_touched ? sp->cap_touched * 2 : 64;
	struct ts_touched *p = realloc(sp->touched, cap * sizeof(*p));

	if (!p)
		return false;
	memset(p + sp->cap_touched, 0, (cap - sp->cap_touched) * sizeof(*p));
	sp->touched = p;
	sp->cap_touched = cap;
	return true;
}

/* The page may hold something from here on.  Returns false if memory is exhausted. */
static bool freshen(struct ts_space *sp, struct ts_page *pg)
{
	if (pg->is_fresh)
		return true;
	if (sp->n_fresh == sp->cap_fresh) {
		size_t cap = sp->cap_fresh ? sp->cap_fresh * 2 : 64;
		struct ts_page **fresh = realloc(sp->fresh, cap * sizeof(*fresh));

		if (!fresh) {
			sp->is_failed = true;
			return false;
		}
		sp->fresh = fresh;
		sp->cap_fresh = cap;
	}
	sp->fresh[sp->n_fresh++] = pg;
	pg->is_fresh = true;
	return true;
}

/* Give the page its marks for this chunk.  Returns false if memory is exhausted. */
static bool list_page(struct ts_space *sp, struct ts_page *pg)
{
	struct ts_touched *t;

	if (sp->n_touched == sp->cap_touched && !grow_touched(sp)) {
		sp->is_failed = true;
		return false;
	}
	t = &sp->touched[sp->n_touched];
	if (!t->marks)
		t->marks = calloc(1, sizeof(*t->marks));
	if (!t->marks) {
		sp->is_failed = true;
		return false;
	}
	t->page = pg;
	pg->marks = t->marks;
	sp->n_touched++;
	return freshen(sp, pg);
}

/* What painting makes of a byte that is lost. */
#define LOST 2

/*
 * The page @pg, which is new, holds what its layers hold, and what an index file says of the chunks before.
 * Without the image: a value seen that differs from a file's completes the past, it contradicts nothing.
 */
static bool paint_page(struct ts_space *sp, struct ts_page *pg)
{
	struct painting p = { sp, NULL, sp->resumed, LOST };
	uint64_t first = pg->page << TS_PAGE_BITS;
	uint8_t known[TS_PAGE_LEN];

	paint(&p, sp->layers.n, first, first + (TS_PAGE_LEN - 1), pg->data, known);
	for (unsigned i = 0; i < TS_PAGE_LEN; i++) {
		if (known[i] == LOST && !ts_page_lose(pg, i / 64, UINT64_C(1) << (i % 64)))
			return false;
		pg->known[i / 64] |= (uint64_t)(known[i] == 1) << (i % 64);
	}
	return true;
}

/* Was the page touched in a segment that came from an index file? */
static bool was_touched(const struct ts_space *sp, uint64_t page)
{
	for (size_t i = 0; i < sp->resumed / TS_SEGMENT_CHUNKS && i < sp->n_segments; i++) {
		const struct ts_space_segment *seg = &sp->segments[i];

		if (ts_lines_has_page(&seg->versions.lines, page) || ts_lines_has_page(&seg->silent, page) ||
		    ts_lines_has_page(&seg->reads, page))
			return true;
	}
	return false;
}

/* A page that no step has touched yet. */
static struct ts_page *first_touch(struct ts_space *sp, uint64_t page)
{
	struct ts_page *pg = sp->is_failed ? NULL : ts_pages_add(&sp->now, page, 0);

	if (!pg || !paint_page(sp, pg)) {
		sp->is_failed = true;
		return NULL;
	}
	sp->n_pages += !was_touched(sp, page);
	return pg;
}

/* A part of a range that lies in one word of a page's bits. */
struct piece {
	struct ts_page *pg;
	unsigned off, len; /* bytes */
	unsigned word;
	uint64_t bits;     /* in that word */
};

/*
 * The piece at @addr of a range with @left bytes left, its page touched.  Returns false if memory is
 * exhausted.
 */
static inline bool take_piece(struct ts_space *sp, uint64_t addr, uint64_t left, struct piece *p)
{
	unsigned room = 64 - (unsigned)addr % 64;

	p->off = (unsigned)(addr % TS_PAGE_LEN);
	p->len = left < room ? (unsigned)left : room;
	p->word = p->off / 64;
	p->bits = ts_bit_run(p->off % 64, p->len);
	p->pg = ts_pages_get(&sp->now, addr >> TS_PAGE_BITS, 0);
	if (__builtin_expect(!p->pg, 0)) {
		p->pg = first_touch(sp, addr >> TS_PAGE_BITS);
		if (!p->pg)
			return false;
	}
	return p->pg->marks || list_page(sp, p->pg);
}

static inline void mark_write(const struct piece *p, uint64_t changed)
{
	p->pg->marks->changed[p->word] |= changed;
	p->pg->marks->written[p->word] |= p->bits;
	p->pg->marks->written_words |= UINT64_C(1) << p->word;
}

/* Bit i: byte i of the word, counted from its low end, is not 0. */
static inline uint64_t nonzero_bytes(uint64_t x)
{
	x |= x >> 4;
	x |= x >> 2;
	x |= x >> 1;
	return (x & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

static inline uint64_t load(const uint8_t *p, unsigned len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return le64toh(v);
}

/* Copy at most 64 bytes.  Bit i of the result: byte i is not what it was. */
static inline uint64_t copy_changes(uint8_t *to, const uint8_t *from, unsigned len)
{
	uint64_t changed = 0;
	unsigned i = 0;

	for (; i + 8 <= len; i += 8) {
		changed |= nonzero_bytes(load(to + i, 8) ^ load(from + i, 8)) << i;
		memcpy(to + i, from + i, 8);
	}
	if (len - i >= 4) {
		changed |= nonzero_bytes(load(to + i, 4) ^ load(from + i, 4)) << i;
		memcpy(to + i, from + i, 4);
		i += 4;
	}
	for (; i < len; i++) {
		changed |= (uint64_t)(to[i] != from[i]) << i;
		to[i] = from[i];
	}
	return changed;
}

/* @len is that of the piece. */
static inline __attribute__((always_inline)) void write_piece(const struct piece *p, const uint8_t *data,
							      unsigned len)
{
	uint64_t changed = copy_changes(p->pg->data + p->off, data, len) << p->off % 64;

	mark_write(p, changed | (p->bits & ~p->pg->known[p->word]));
	ts_page_know_word(p->pg, p->word, p->bits);
}

static __attribute__((noinline)) void write_pieces(struct ts_space *sp, uint64_t addr, const uint8_t *data,
						   uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, data += p.len, len -= p.len)
		write_piece(&p, data, p.len);
}

/*
 * A write of @len bytes, a constant, that is one piece of a page which the chunk has touched already.
 * Returns false, having done nothing, if it is another.
 */
static inline __attribute__((always_inline)) bool write_short(struct ts_space *sp, uint64_t addr,
							      const uint8_t *data, unsigned len)
{
	unsigned off = (unsigned)(addr % TS_PAGE_LEN);
	struct piece p = { ts_pages_guess(&sp->now, addr >> TS_PAGE_BITS, 0), off, len, off / 64,
			   ts_bit_run(off % 64, len) };

	if (!p.pg || !p.pg->marks || off % 64 > 64 - len)
		return false;
	write_piece(&p, data, len);
	return true;
}

/* Nearly all writes are those of registers: their lengths are known here. */
void ts_space_write(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len)
{
	if (!(len == 8 && write_short(sp, addr, data, 8)) && !(len == 4 && write_short(sp, addr, data, 4)))
		write_pieces(sp, addr, data, len);
}

void ts_space_note_read(struct ts_space *sp, uint64_t addr, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, len -= p.len) {
		p.pg->marks->read[p.word] |= p.bits;
		p.pg->marks->read_words |= UINT64_C(1) << p.word;
	}
}

/* Note that lines of a base page, those with bytes [off, off + len), are to be saved. */
static bool note_dirty(struct ts_space *sp, struct ts_page *pg, unsigned off, unsigned len)
{
	if (!pg->is_dirty && sp->n_dirty == sp->cap_dirty) {
		size_t cap = sp->cap_dirty ? sp->cap_dirty * 2 : 64;
		uint32_t *p = realloc(sp->dirty, cap * sizeof(*p));

		if (!p)
			return false;
		sp->dirty = p;
		sp->cap_dirty = cap;
	}
	if (!pg->is_dirty)
		sp->dirty[sp->n_dirty++] = pg->id;
	pg->is_dirty = true;
	for (unsigned line = off / TS_LINE_LEN; line <= (off + len - 1) / TS_LINE_LEN; line++)
		pg->dirty[line / 64] |= UINT64_C(1) << (line % 64);
	return true;
}

/* Bytes within one page were there since @layer, which governs them all, began. */
static void infer(struct ts_space *sp, uint32_t layer, uint64_t addr, const uint8_t *data, unsigned len)
{
	struct ts_page *pg = ts_pages_get(&sp->base, addr >> TS_PAGE_BITS, layer);

	if (!pg)
		pg = ts_pages_add(&sp->base, addr >> TS_PAGE_BITS, layer);
	if (!pg || !note_dirty(sp, pg, (unsigned)(addr % TS_PAGE_LEN), len)) {
		sp->is_failed = true;
		return;
	}
	memcpy(pg->data + addr % TS_PAGE_LEN, data, len);
	ts_page_know(pg, (unsigned)(addr % TS_PAGE_LEN), len);
}

static uint32_t governing_layer(const struct ts_space *sp, uint64_t addr)
{
	return ts_layers_newest(&sp->layers, sp->layers.n, addr, addr);
}

/* The bits of a line among those of its page. */
static uint16_t line_bits(const uint64_t *bits, unsigned line)
{
	return (uint16_t)(bits[line / 4] >> line % 4 * 16);
}

bool ts_space_complete(struct ts_space *sp, size_t n_segments, const struct ts_completion *c)
{
	uint16_t mask = (uint16_t)c->mask;

	while (mask && n_segments-- > 0) {
		if (!ts_versions_complete(&sp->segments[n_segments].versions, c->addr, c->data, &mask))
			return false;
	}
	return !mask;
}

/* The same now, and to be saved. */
static void complete_sealed(struct ts_space *sp, const struct ts_completion *c)
{
	bool done = ts_space_complete(sp, sp->n_sealed, c);

	assert(done);
	(void)done;
	if (sp->n_completions == sp->cap_completions) {
		size_t cap = sp->cap_completions ? sp->cap_completions * 2 : 64;
		struct ts_completion *p = realloc(sp->completions, cap * sizeof(*p));

		if (!p) {
			sp->is_failed = true;
			return;
		}
		sp->completions = p;
		sp->cap_completions = cap;
	}
	sp->completions[sp->n_completions++] = *c;
}

/*
 * The lost bytes @mask of a line, of which @data are the bytes now, were so since they were lost.  A chunk
 * that lost them itself has no version yet.
 */
static void complete_line(struct ts_space *sp, const struct ts_page *pg, unsigned line, const uint8_t *data,
			  uint16_t mask)
{
	struct ts_completion c = { .addr = (pg->page << TS_PAGE_BITS) + line * TS_LINE_LEN };

	mask &= (uint16_t)~line_bits(pg->marks->lost, line);
	ts_changes_complete(&sp->changes, pg->holes->chain[line], data, &mask);
	if (!mask)
		return;
	memcpy(c.data, data, TS_LINE_LEN);
	c.mask = mask;
	complete_sealed(sp, &c);
}

/* Bytes of a word that were lost are seen. */
static void complete_piece(struct ts_space *sp, const struct piece *p, const uint8_t *data, uint64_t lost)
{
	uint8_t bytes[64] = { 0 }; /* whole lines of it go to index files */

	memcpy(bytes + p->off % 64, data, p->len);
	for (unsigned i = 0; i < 4; i++) {
		uint16_t mask = (uint16_t)(lost >> i * 16);

		if (mask)
			complete_line(sp, p->pg, p->word * 4 + i, bytes + i * TS_LINE_LEN, mask);
	}
}

/*
 * Infer the past of the unknown bytes of a piece: of all together where one layer governs them and none is
 * known or lost.
 */
static void infer_piece(struct ts_space *sp, const struct piece *p, uint64_t addr, const uint8_t *data)
{
	uint64_t last = addr + (p->len - 1), unknown = p->bits & ~p->pg->known[p->word];
	uint64_t lost = p->pg->holes ? unknown & p->pg->holes->bits[p->word] : 0;
	const struct ts_layer *l;
	uint32_t layer;

	sp->n_inferred += (unsigned)__builtin_popcountll(unknown);
	if (lost)
		complete_piece(sp, p, data, lost);
	unknown = (unknown & ~lost) >> p->off % 64;
	if (!unknown)
		return;
	layer = ts_layers_newest(&sp->layers, sp->layers.n, addr, last);
	l = &sp->layers.items[layer];
	if (l->first <= addr && l->last >= last && unknown == p->bits >> p->off % 64) {
		infer(sp, layer, addr, data, p->len);
		return;
	}
	for (; unknown; unknown &= unknown - 1) {
		unsigned i = (unsigned)__builtin_ctzll(unknown);

		infer(sp, governing_layer(sp, addr + i), addr + i, data + i, 1);
	}
}

/* Do 1 to 16 bytes differ?  The first and the last ones of a length may overlap; there is no call. */
static inline bool differ(const uint8_t *a, const uint8_t *b, unsigned len)
{
	if (len >= 8)
		return load(a, 8) != load(b, 8) || load(a + len - 8, 8) != load(b + len - 8, 8);
	if (len >= 4)
		return load(a, 4) != load(b, 4) || load(a + len - 4, 4) != load(b + len - 4, 4);
	return a[0] != b[0] || a[len / 2] != b[len / 2] || a[len - 1] != b[len - 1];
}

/*
 * Are the few bytes that are seen known?  Nearly all are, those of instructions above all, and then they tell
 * nothing.
 */
static inline bool is_known(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len)
{
	const struct ts_page *pg = ts_pages_guess(&sp->now, addr >> TS_PAGE_BITS, 0);
	unsigned off = (unsigned)(addr % TS_PAGE_LEN);
	uint64_t bits;

	if (!pg || len - 1 >= 16 || off % 64 + len > 64)
		return false;
	bits = ts_bit_run(off % 64, (unsigned)len);
	return (pg->known[off / 64] & bits) == bits && !differ(pg->data + off, data, (unsigned)len);
}

static __attribute__((noinline)) void see_pieces(struct ts_space *sp, uint64_t addr, const uint8_t *data,
						 uint64_t len)
{
	bool is_contradiction = false;
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, data += p.len, len -= p.len) {
		uint64_t *known = &p.pg->known[p.word], changed;

		if (__builtin_expect((*known & p.bits) != p.bits, 0))
			infer_piece(sp, &p, addr, data);
		changed = copy_changes(p.pg->data + p.off, data, p.len) << p.off % 64 & *known;
		ts_page_know_word(p.pg, p.word, p.bits);
		if (__builtin_expect(changed != 0, 0)) {
			p.bits = changed;
			mark_write(&p, changed);
			is_contradiction = true;
		}
	}
	sp->n_unexplained += is_contradiction;
}

void ts_space_see(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len)
{
	if (!is_known(sp, addr, data, len))
		see_pieces(sp, addr, data, len);
}

void ts_space_initial(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len)
{
	while (len && !sp->is_failed) {
		uint64_t room = TS_PAGE_LEN - addr % TS_PAGE_LEN;
		unsigned n = (unsigned)(len < room ? len : room);
		uint32_t layer = ts_layers_newest(&sp->layers, sp->layers.n, addr, addr + (n - 1));
		const struct ts_layer *l = &sp->layers.items[layer];

		if (l->first > addr || l->last < addr + (n - 1)) {
			n = 1;
			layer = governing_layer(sp, addr);
		}
		infer(sp, layer, addr, data, n);
		addr += n;
		data += n;
		len -= n;
	}
}

/* Bytes [first, last] of a touched page start afresh. */
static void refill(struct ts_space *sp, struct ts_page *pg, uint64_t first, uint64_t last, enum ts_fill fill)
{
	unsigned off = (unsigned)(first % TS_PAGE_LEN), len = (unsigned)(last - first) + 1;

	memset(pg->data + off, 0, len);
	if (fill == TS_FILL_ZERO && freshen(sp, pg))
		ts_page_know(pg, off, len);
	else
		ts_page_forget(pg, off, len);
}

/* The touched pages follow a new layer over [first, last]; either the pages or the range may be the fewer. */
static void refill_touched(struct ts_space *sp, uint64_t first, uint64_t last, enum ts_fill fill)
{
	uint64_t n_range = (last >> TS_PAGE_BITS) - (first >> TS_PAGE_BITS) + 1;
	uint64_t n = n_range < sp->now.n ? n_range : sp->now.n;

	for (uint64_t i = 0; i < n; i++) {
		struct ts_page *pg = n == n_range ? ts_pages_find(&sp->now, (first >> TS_PAGE_BITS) + i, 0) :
						    sp->now.by_id[i];
		uint64_t start, end;

		if (!pg)
			continue;
		start = pg->page << TS_PAGE_BITS;
		end = start + (TS_PAGE_LEN - 1);
		if (start <= last && end >= first)
			refill(sp, pg, first > start ? first : start, last < end ? last : end, fill);
	}
}

/*
 * All up to @last is forgotten.  Pages that hold nothing since the last time are passed over; what this chunk
 * touches may be touched again without being listed.
 */
static void forget_all(struct ts_space *sp, uint64_t last)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < sp->n_fresh; i++) {
		struct ts_page *pg = sp->fresh[i];
		uint64_t start = pg->page << TS_PAGE_BITS, end = start + (TS_PAGE_LEN - 1);

		refill(sp, pg, start, last < end ? last : end, TS_FILL_UNKNOWN);
		pg->is_fresh = pg->marks || end > last;
		if (pg->is_fresh)
			sp->fresh[n_kept++] = pg;
	}
	sp->n_fresh = n_kept;
}

uint64_t ts_space_next_map(const struct ts_space *sp)
{
	return map_of_layer(sp, sp->layers.n);
}

void ts_space_fill(struct ts_space *sp, uint64_t pos, uint64_t addr, uint64_t len, enum ts_fill fill)
{
	if (!len)
		return;
	if (!ts_layers_add(&sp->layers, pos, addr, addr + (len - 1), fill))
		sp->is_failed = true;
	else if (!addr && len >= UINT64_MAX && fill == TS_FILL_UNKNOWN)
		forget_all(sp, len - 1);
	else
		refill_touched(sp, addr, addr + (len - 1), fill);
}

void ts_space_lose(struct ts_space *sp, uint64_t addr, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, len -= p.len) {
		if (!ts_page_lose(p.pg, p.word, p.bits))
			sp->is_failed = true;
		p.pg->marks->lost[p.word] |= p.bits;
		mark_write(&p, p.bits);
	}
}

static bool note_version(struct ts_space *sp, const struct ts_page *pg, unsigned line, uint16_t chunk,
			 uint16_t changed)
{
	struct ts_version v;

	v.known = line_bits(pg->known, line);
	v.lost = pg->holes ? line_bits(pg->holes->bits, line) : 0;
	v.known |= v.lost & line_bits(pg->marks->lost, line);
	v.changed = changed;
	memcpy(v.data, pg->data + line * TS_LINE_LEN, TS_LINE_LEN);
	return ts_changes_add(&sp->changes, pg->id, (uint8_t)line, chunk, &v,
			      pg->holes ? &pg->holes->chain[line] : NULL);
}

/* The four lines of a word of marks. */
static bool note_writes(struct ts_space *sp, const struct ts_page *pg, unsigned word, uint16_t chunk)
{
	uint64_t changed = pg->marks->changed[word], written = pg->marks->written[word];

	for (unsigned line = word * 4; written; line++, changed >>= 16, written >>= 16) {
		if ((uint16_t)changed && !note_version(sp, pg, line, chunk, (uint16_t)changed))
			return false;
		if ((uint16_t)written && !(uint16_t)changed &&
		    !ts_touches_add(&sp->silent, pg->id, (uint8_t)line, chunk, (uint16_t)written))
			return false;
	}
	return true;
}

static bool note_reads(struct ts_space *sp, const struct ts_page *pg, unsigned word, uint16_t chunk)
{
	uint64_t read = pg->marks->read[word];

	for (unsigned line = word * 4; read; line++, read >>= 16) {
		if ((uint16_t)read &&
		    !ts_touches_add(&sp->reads, pg->id, (uint8_t)line, chunk, (uint16_t)read))
			return false;
	}
	return true;
}

/* Versions of the lines that the chunk changed, notes of those that it wrote or read; the marks go. */
static bool note_page(struct ts_space *sp, struct ts_page *pg, uint16_t chunk)
{
	struct ts_marks *m = pg->marks;

	for (; m->written_words; m->written_words &= m->written_words - 1) {
		unsigned word = (unsigned)__builtin_ctzll(m->written_words);

		if (!note_writes(sp, pg, word, chunk))
			return false;
		m->changed[word] = m->written[word] = m->lost[word] = 0;
	}
	for (; m->read_words; m->read_words &= m->read_words - 1) {
		unsigned word = (unsigned)__builtin_ctzll(m->read_words);

		if (!note_reads(sp, pg, word, chunk))
			return false;
		m->read[word] = 0;
	}
	pg->marks = NULL;
	return true;
}

bool ts_space_is_failed(const struct ts_space *sp)
{
	return sp->is_failed;
}

bool ts_space_end_chunk(struct ts_space *sp, uint64_t chunk)
{
	for (size_t i = 0; i < sp->n_touched && !sp->is_failed; i++)
		sp->is_failed = !note_page(sp, sp->touched[i].page, (uint16_t)(chunk % TS_SEGMENT_CHUNKS));
	sp->n_touched = 0;
	return !sp->is_failed;
}

bool ts_space_room(struct ts_space *sp, uint64_t segment)
{
	if (segment >= sp->cap_segments) {
		size_t cap = sp->cap_segments ? sp->cap_segments * 2 : 4;
		struct ts_space_segment *p;

		while (cap <= segment)
			cap *= 2;
		p = realloc(sp->segments, cap * sizeof(*p));
		if (!p)
			return false;
		memset(p + sp->cap_segments, 0, (cap - sp->cap_segments) * sizeof(*p));
		sp->segments = p;
		sp->cap_segments = cap;
	}
	return true;
}

/* The chains of lost bytes end with their segment. */
static void end_chains(struct ts_space *sp)
{
	for (size_t i = 0; i < sp->changes.n_links; i++) {
		const struct ts_touch *t = &sp->changes.touches.items[sp->changes.links[i].item];

		sp->now.by_id[t->page]->holes->chain[t->line] = 0;
	}
}

bool ts_space_pack(struct ts_space *sp)
{
	struct ts_space_segment *seg = &sp->packed;
	size_t n_pages = sp->now.n;
	uint64_t *page_addrs = malloc((n_pages ? n_pages : 1) * sizeof(*page_addrs));

	drop_segment(seg);
	if (!page_addrs)
		return false;
	for (size_t i = 0; i < n_pages; i++)
		page_addrs[i] = sp->now.by_id[i]->page;
	sp->is_packed = ts_versions_seal(&seg->versions, &sp->changes, page_addrs, n_pages) &&
			ts_lines_seal(&seg->silent, &sp->silent, page_addrs, n_pages, NULL) &&
			ts_lines_seal(&seg->reads, &sp->reads, page_addrs, n_pages, NULL);
	free(page_addrs);
	return sp->is_packed;
}

/* What was packed becomes a segment, in place of a copy if there is one. */
static bool install(struct ts_space *sp, uint64_t segment)
{
	if ((!sp->is_packed && !ts_space_pack(sp)) || !ts_space_room(sp, segment))
		return false;
	drop_segment(&sp->segments[segment]);
	sp->segments[segment] = sp->packed;
	sp->packed = (struct ts_space_segment){ 0 };
	sp->is_packed = false;
	sp->n_segments = (size_t)segment + 1;
	return true;
}

bool ts_space_seal(struct ts_space *sp, uint64_t segment)
{
	if (!install(sp, segment))
		return false;
	end_chains(sp);
	ts_changes_reset(&sp->changes);
	sp->silent.n = sp->reads.n = 0;
	sp->n_sealed = sp->n_segments;
	return true;
}

bool ts_space_seal_copy(struct ts_space *sp, uint64_t segment)
{
	return install(sp, segment);
}

/* ------------------------------------------------------------------------------------------------ figures */

uint64_t ts_space_mem(const struct ts_space *sp)
{
	uint64_t sum = (sp->now.n + sp->base.n) * sizeof(struct ts_page);

	sum += sp->changes.touches.cap * (sizeof(struct ts_touch) + sizeof(struct ts_version));
	sum += (sp->silent.cap + sp->reads.cap) * sizeof(struct ts_touch) +
	       sp->cap_touched * sizeof(struct ts_marks);
	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct ts_space_segment *seg = &sp->segments[i];

		if (!seg->versions.is_mapped)
			sum += ts_versions_mem(&seg->versions) + ts_lines_mem(&seg->silent) +
			       ts_lines_mem(&seg->reads);
	}
	return sum;
}

static uint64_t n_items(const struct ts_lines *set)
{
	return set->first ? set->first[set->n_lines] : 0;
}

void ts_space_stats(const struct ts_space *sp, struct ts_space_stats *stats)
{
	*stats = (struct ts_space_stats){
		.n_inferred = sp->n_inferred,
		.n_unexplained = sp->n_unexplained,
		.n_pages = sp->n_pages,
	};
	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct ts_space_segment *seg = &sp->segments[i];

		stats->n_versions += n_items(&seg->versions.lines);
		stats->n_silent += n_items(&seg->silent);
		stats->n_reads += n_items(&seg->reads);
		stats->index_len += ts_versions_mem(&seg->versions) + ts_lines_mem(&seg->silent);
		stats->reads_len += ts_lines_mem(&seg->reads);
	}
}
