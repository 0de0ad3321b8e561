/* SPDX-License-Identifier: MIT */
#include "space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"
#include "lines.h"
#include "pages.h"

/* A line at the end of a chunk. */
struct version {
	uint16_t known; /* bit i: byte i */
	uint8_t data[TS_LINE_LEN];
};

struct segment {
	struct ts_lines writes;
	struct version *versions; /* owned; one an item of writes */
	struct ts_lines reads;
};

struct ts_space {
	const struct ts_image *image; /* borrowed; may be NULL */
	uint32_t id;
	struct ts_layers layers;
	struct ts_pages base;     /* what layers are known to hold beyond their fill; keyed by layer */
	struct segment *segments; /* owned; by number */
	size_t n_segments, cap_segments;

	/* building */
	struct ts_pages now;      /* current contents of the pages that steps touched */
	struct ts_page **touched; /* owned; those touched in this chunk */
	size_t n_touched, cap_touched;
	struct ts_touches writes, reads;
	struct version *versions; /* owned; one a touch of writes */
	size_t cap_versions;
	bool is_failed;
	uint64_t n_inferred, n_unexplained, n_pages;
};

struct ts_space *ts_space_new(const struct ts_image *image, uint32_t id)
{
	struct ts_space *sp = calloc(1, sizeof(*sp));

	if (sp && !ts_layers_add(&sp->layers, 0, 0, UINT64_MAX, TS_FILL_UNKNOWN)) {
		free(sp);
		return NULL;
	}
	if (sp) {
		sp->image = image;
		sp->id = id;
	}
	return sp;
}

void ts_space_end_build(struct ts_space *sp)
{
	if (sp->now.n)
		sp->n_pages = sp->now.n;
	ts_pages_fini(&sp->now);
	ts_touches_fini(&sp->writes);
	ts_touches_fini(&sp->reads);
	free(sp->touched);
	free(sp->versions);
	sp->touched = NULL;
	sp->versions = NULL;
	sp->n_touched = sp->cap_touched = sp->cap_versions = 0;
}

void ts_space_free(struct ts_space *sp)
{
	if (!sp)
		return;
	ts_space_end_build(sp);
	for (size_t i = 0; i < sp->n_segments; i++) {
		ts_lines_fini(&sp->segments[i].writes);
		ts_lines_fini(&sp->segments[i].reads);
		free(sp->segments[i].versions);
	}
	free(sp->segments);
	ts_layers_fini(&sp->layers);
	ts_pages_fini(&sp->base);
	free(sp);
}

/* ------------------------------------------------------------------------------------------------ the state at a boundary */

/* What the image calls a layer; not 0. */
static uint64_t map_of_layer(const struct ts_space *sp, uint32_t layer)
{
	return ((uint64_t)sp->id + 1) << 32 | layer;
}

/* What layer @layer holds in [first, last], which lies within it; @image (may be NULL) lies beneath it. */
static void layer_bytes(const struct ts_space *sp, const struct ts_image *image, uint32_t layer, uint64_t first,
			uint64_t last, uint8_t *data, uint8_t *known)
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
	if (image && l->fill == TS_FILL_UNKNOWN)
		ts_image_fill(image, map_of_layer(sp, layer), first, len, data, known);
	if (image && l->fill == TS_FILL_UNKNOWN && !l->pos)
		ts_image_fill(image, 0, first, len, data, known);
}

/* The newest version of the line at @addr in chunks [from, until), NULL if there is none. */
static const struct version *find_version(const struct ts_space *sp, uint64_t addr, uint64_t from, uint64_t until)
{
	uint64_t seg = until ? (until - 1) / TS_SEGMENT_CHUNKS : 0;

	if (until <= from || !sp->n_segments)
		return NULL;
	if (seg >= sp->n_segments)
		seg = sp->n_segments - 1;
	for (;; seg--) {
		const struct ts_lines *set = &sp->segments[seg].writes;
		uint64_t start = seg * TS_SEGMENT_CHUNKS;
		uint64_t rel = until - start < TS_SEGMENT_CHUNKS ? until - start : TS_SEGMENT_CHUNKS;
		uint32_t first, end, i;

		if (ts_lines_find(set, addr, &first, &end)) {
			i = ts_lines_before(set, first, end, (uint32_t)rel);
			if (i < end)
				return start + set->chunks[i] >= from ? &sp->segments[seg].versions[i] : NULL;
		}
		if (start <= from)
			return NULL;
	}
}

/* Lay the versions of chunks [from, until) over [first, last]. */
static void overlay_versions(const struct ts_space *sp, uint64_t from, uint64_t until, uint64_t first, uint64_t last,
			     uint8_t *data, uint8_t *known)
{
	size_t len = (size_t)(last - first) + 1;

	for (size_t i = 0; i < len;) {
		unsigned off = (unsigned)((first + i) % TS_LINE_LEN);
		const struct version *v = find_version(sp, first + i - off, from, until);

		for (; off < TS_LINE_LEN && i < len; off++, i++) {
			if (v && v->known >> off & 1) {
				data[i] = v->data[off];
				known[i] = 1;
			}
		}
	}
}

/* How to paint bytes. */
struct painting {
	const struct ts_space *sp;
	const struct ts_image *image; /* beneath all; NULL: only what the recording shows */
	uint64_t until;               /* versions of chunks below this one count */
};

/*
 * The bytes [first, last] as the first @n layers and the versions have them: newest layer first, and around it what older
 * layers say.
 */
static void paint(const struct painting *p, uint32_t n, uint64_t first, uint64_t last, uint8_t *data, uint8_t *known)
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
	overlay_versions(p->sp, l->pos ? (l->pos - 1) / TS_CHUNK_STEPS : 0, p->until, lo, hi, data + (lo - first),
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

void ts_space_at(const struct ts_space *sp, uint64_t chunk, uint64_t addr, size_t len, uint8_t *data, uint8_t *known)
{
	struct painting p = { sp, sp->image, chunk };

	len = clip(addr, len, data, known);
	if (len)
		paint(&p, ts_layers_until(&sp->layers, chunk * TS_CHUNK_STEPS), addr, addr + (len - 1), data, known);
}

uint32_t ts_space_n_layers(const struct ts_space *sp, uint64_t pos)
{
	return ts_layers_until(&sp->layers, pos);
}

void ts_space_base(const struct ts_space *sp, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known)
{
	struct painting p = { sp, sp->image, 0 };

	len = clip(addr, len, data, known);
	if (len)
		paint(&p, n_layers, addr, addr + (len - 1), data, known);
}

/* ------------------------------------------------------------------------------------------------ building */

/* Bits of the lines that overlap [off, off + len) of a page. */
static void mark_lines(uint64_t *bits, unsigned off, unsigned len)
{
	unsigned line = off / TS_LINE_LEN, end = (off + len - 1) / TS_LINE_LEN + 1;

	while (line < end) {
		unsigned bit = line % 64, n = end - line < 64 - bit ? end - line : 64 - bit;

		bits[line / 64] |= ts_bit_run(bit, n);
		line += n;
	}
}

static bool list_page(struct ts_space *sp, struct ts_page *pg)
{
	if (pg->is_listed)
		return true;
	if (sp->n_touched == sp->cap_touched) {
		size_t cap = sp->cap_touched ? sp->cap_touched * 2 : 64;
		struct ts_page **p = realloc(sp->touched, cap * sizeof(struct ts_page *));

		if (!p) {
			sp->is_failed = true;
			return false;
		}
		sp->touched = p;
		sp->cap_touched = cap;
	}
	sp->touched[sp->n_touched++] = pg;
	pg->is_listed = true;
	return true;
}

/*
 * Bytes [first, last], all in the touched page @pg, hold what their layers hold.  Without the image: a value seen that differs
 * from a file's completes the past, it contradicts nothing.
 */
static void repaint(struct ts_space *sp, struct ts_page *pg, uint64_t first, uint64_t last)
{
	struct painting p = { sp, NULL, 0 };
	unsigned off = (unsigned)(first % TS_PAGE_LEN), len = (unsigned)(last - first) + 1;
	uint8_t known[TS_PAGE_LEN];

	paint(&p, sp->layers.n, first, last, pg->data + off, known);
	ts_page_forget(pg, off, len);
	for (unsigned i = 0; i < len; i++)
		pg->known[(off + i) / 64] |= (uint64_t)known[i] << ((off + i) % 64);
}

/* A page that no step has touched yet. */
static struct ts_page *first_touch(struct ts_space *sp, uint64_t page)
{
	struct ts_page *pg = sp->is_failed ? NULL : ts_pages_add(&sp->now, page, 0);

	if (!pg) {
		sp->is_failed = true;
		return NULL;
	}
	repaint(sp, pg, page << TS_PAGE_BITS, (page << TS_PAGE_BITS) + (TS_PAGE_LEN - 1));
	return pg;
}

/* A part of a range that lies in one page. */
struct piece {
	struct ts_page *pg;
	unsigned off, len;
};

/* The piece at @addr of a range with @left bytes left, its page touched.  Returns false if memory is exhausted. */
static inline bool take_piece(struct ts_space *sp, uint64_t addr, uint64_t left, struct piece *p)
{
	p->off = (unsigned)(addr % TS_PAGE_LEN);
	p->len = left < TS_PAGE_LEN - p->off ? (unsigned)left : TS_PAGE_LEN - p->off;
	p->pg = ts_pages_get(&sp->now, addr >> TS_PAGE_BITS, 0);
	if (__builtin_expect(!p->pg, 0)) {
		p->pg = first_touch(sp, addr >> TS_PAGE_BITS);
		if (!p->pg)
			return false;
	}
	return p->pg->is_listed || list_page(sp, p->pg);
}

void ts_space_write(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, data += p.len, len -= p.len) {
		memcpy(p.pg->data + p.off, data, p.len);
		ts_page_know(p.pg, p.off, p.len);
		mark_lines(p.pg->dirty, p.off, p.len);
	}
}

void ts_space_note_read(struct ts_space *sp, uint64_t addr, uint64_t len)
{
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, len -= p.len)
		mark_lines(p.pg->read, p.off, p.len);
}

/* Bytes within one page were there since @layer, which governs them all, began. */
static void infer(struct ts_space *sp, uint32_t layer, uint64_t addr, const uint8_t *data, unsigned len)
{
	struct ts_page *pg = ts_pages_get(&sp->base, addr >> TS_PAGE_BITS, layer);

	if (!pg)
		pg = ts_pages_add(&sp->base, addr >> TS_PAGE_BITS, layer);
	if (!pg) {
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

static void see_byte(struct ts_space *sp, const struct piece *p, unsigned i, uint64_t addr, uint8_t value,
		     bool *is_contradiction)
{
	if (!ts_page_knows(p->pg, i)) {
		infer(sp, governing_layer(sp, addr), addr, &value, 1);
		sp->n_inferred++;
	} else if (p->pg->data[i] != value) {
		*is_contradiction = true;
		mark_lines(p->pg->dirty, i, 1);
	}
	p->pg->data[i] = value;
	ts_page_know(p->pg, i, 1);
}

void ts_space_see(struct ts_space *sp, uint64_t addr, const uint8_t *data, uint64_t len)
{
	bool is_contradiction = false;
	struct piece p;

	for (; len && take_piece(sp, addr, len, &p); addr += p.len, data += p.len, len -= p.len) {
		if (ts_page_knows_all(p.pg, p.off, p.len) && !memcmp(p.pg->data + p.off, data, p.len))
			continue;
		for (unsigned i = 0; i < p.len; i++)
			see_byte(sp, &p, p.off + i, addr + i, data[i], &is_contradiction);
	}
	sp->n_unexplained += is_contradiction;
}

/* Bytes within one page have this value now, if the page has been touched. */
static void set_touched(struct ts_space *sp, uint64_t addr, const uint8_t *data, unsigned len)
{
	struct ts_page *pg = ts_pages_get(&sp->now, addr >> TS_PAGE_BITS, 0);

	if (!pg)
		return;
	memcpy(pg->data + addr % TS_PAGE_LEN, data, len);
	ts_page_know(pg, (unsigned)(addr % TS_PAGE_LEN), len);
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
		set_touched(sp, addr, data, n);
		addr += n;
		data += n;
		len -= n;
	}
}

/* The touched pages follow a new layer over [first, last]; either the pages or the range may be the fewer. */
static void repaint_touched(struct ts_space *sp, uint64_t first, uint64_t last)
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
			repaint(sp, pg, first > start ? first : start, last < end ? last : end);
	}
}

uint64_t ts_space_next_map(const struct ts_space *sp)
{
	return map_of_layer(sp, sp->layers.n);
}

void ts_space_fill(struct ts_space *sp, uint64_t pos, uint64_t addr, uint64_t len, enum ts_fill fill, bool is_write)
{
	uint64_t last = addr + (len - 1);
	struct piece p;

	if (!len)
		return;
	if (!ts_layers_add(&sp->layers, pos, addr, last, fill)) {
		sp->is_failed = true;
		return;
	}
	repaint_touched(sp, addr, last);
	for (; is_write && len && take_piece(sp, addr, len, &p); addr += p.len, len -= p.len)
		mark_lines(p.pg->dirty, p.off, p.len);
}

static bool room_for_version(struct ts_space *sp)
{
	size_t cap;
	struct version *p;

	if (sp->writes.n < sp->cap_versions)
		return true;
	cap = sp->cap_versions ? sp->cap_versions * 2 : 1024;
	p = realloc(sp->versions, cap * sizeof(*p));
	if (!p)
		return false;
	sp->versions = p;
	sp->cap_versions = cap;
	return true;
}

static bool note_version(struct ts_space *sp, const struct ts_page *pg, unsigned line, uint16_t chunk)
{
	struct version *v;

	if (!room_for_version(sp))
		return false;
	v = &sp->versions[sp->writes.n];
	v->known = (uint16_t)(pg->known[line / 4] >> (line % 4 * 16));
	memcpy(v->data, pg->data + line * TS_LINE_LEN, TS_LINE_LEN);
	return ts_touches_add(&sp->writes, pg->id, (uint8_t)line, chunk);
}

/* Versions of the lines that the chunk wrote, notes of those that it read. */
static bool note_page(struct ts_space *sp, struct ts_page *pg, uint16_t chunk)
{
	for (unsigned w = 0; w < 4; w++) {
		for (uint64_t bits = pg->dirty[w]; bits; bits &= bits - 1) {
			if (!note_version(sp, pg, w * 64 + (unsigned)__builtin_ctzll(bits), chunk))
				return false;
		}
		for (uint64_t bits = pg->read[w]; bits; bits &= bits - 1) {
			if (!ts_touches_add(&sp->reads, pg->id, (uint8_t)(w * 64 + (unsigned)__builtin_ctzll(bits)),
					    chunk))
				return false;
		}
		pg->dirty[w] = pg->read[w] = 0;
	}
	pg->is_listed = false;
	return true;
}

bool ts_space_end_chunk(struct ts_space *sp, uint64_t chunk)
{
	for (size_t i = 0; i < sp->n_touched && !sp->is_failed; i++)
		sp->is_failed = !note_page(sp, sp->touched[i], (uint16_t)(chunk % TS_SEGMENT_CHUNKS));
	sp->n_touched = 0;
	return !sp->is_failed;
}

/* Room for segments up to @segment; a space that came late has empty ones before. */
static bool room_for_segment(struct ts_space *sp, uint64_t segment)
{
	if (segment >= sp->cap_segments) {
		size_t cap = sp->cap_segments ? sp->cap_segments * 2 : 4;
		struct segment *p;

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

static struct version *sort_versions(const struct version *versions, const uint32_t *slots, size_t n)
{
	struct version *sorted = malloc((n ? n : 1) * sizeof(*sorted));

	for (size_t i = 0; sorted && i < n; i++)
		sorted[slots[i]] = versions[i];
	return sorted;
}

bool ts_space_seal(struct ts_space *sp, uint64_t segment)
{
	size_t n_pages = sp->now.n, n = sp->writes.n;
	uint64_t *page_addrs = malloc((n_pages ? n_pages : 1) * sizeof(*page_addrs));
	uint32_t *slots = NULL;
	bool done = false;

	if (page_addrs && room_for_segment(sp, segment)) {
		struct segment *seg = &sp->segments[segment];

		for (size_t i = 0; i < n_pages; i++)
			page_addrs[i] = sp->now.by_id[i]->page;
		if (ts_lines_seal(&seg->reads, &sp->reads, page_addrs, n_pages, NULL) &&
		    ts_lines_seal(&seg->writes, &sp->writes, page_addrs, n_pages, &slots)) {
			seg->versions = sort_versions(sp->versions, slots, n);
			done = seg->versions != NULL;
		}
		sp->n_segments = (size_t)segment + 1;
	}
	free(slots);
	free(page_addrs);
	return done;
}

/* ------------------------------------------------------------------------------------------------ next and previous */

static const struct ts_lines *segment_set(const struct ts_space *sp, uint64_t seg, bool is_write)
{
	return is_write ? &sp->segments[seg].writes : &sp->segments[seg].reads;
}

static uint64_t next_chunk(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last, bool is_write)
{
	for (uint64_t seg = chunk / TS_SEGMENT_CHUNKS; seg < sp->n_segments; seg++) {
		uint64_t start = seg * TS_SEGMENT_CHUNKS;
		uint32_t rel = chunk > start ? (uint32_t)(chunk - start) : 0;
		uint32_t found = ts_lines_next(segment_set(sp, seg, is_write), addr, last, rel);

		if (found != UINT32_MAX)
			return start + found;
	}
	return TS_NO_CHUNK;
}

static uint64_t prev_chunk(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last, bool is_write)
{
	uint64_t seg = chunk / TS_SEGMENT_CHUNKS + 1;

	if (seg > sp->n_segments)
		seg = sp->n_segments;
	while (seg-- > 0) {
		uint64_t start = seg * TS_SEGMENT_CHUNKS;
		uint32_t rel = chunk - start < TS_SEGMENT_CHUNKS ? (uint32_t)(chunk - start) : TS_SEGMENT_CHUNKS - 1;
		uint32_t found = ts_lines_prev(segment_set(sp, seg, is_write), addr, last, rel);

		if (found != UINT32_MAX)
			return start + found;
	}
	return TS_NO_CHUNK;
}

uint64_t ts_space_next_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_chunk(sp, chunk, addr, last, true);
}

uint64_t ts_space_prev_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_chunk(sp, chunk, addr, last, true);
}

uint64_t ts_space_next_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_chunk(sp, chunk, addr, last, false);
}

uint64_t ts_space_prev_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_chunk(sp, chunk, addr, last, false);
}

void ts_space_stats(const struct ts_space *sp, struct ts_space_stats *stats)
{
	*stats = (struct ts_space_stats){
		.n_inferred = sp->n_inferred,
		.n_unexplained = sp->n_unexplained,
		.n_pages = sp->now.n ? sp->now.n : sp->n_pages,
	};
	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct segment *seg = &sp->segments[i];
		uint64_t n = seg->writes.first ? seg->writes.first[seg->writes.n_lines] : 0;

		stats->n_versions += n;
		stats->n_reads += seg->reads.first ? seg->reads.first[seg->reads.n_lines] : 0;
		stats->index_len += ts_lines_mem(&seg->writes) + ts_lines_mem(&seg->reads) + n * sizeof(struct version);
	}
}
