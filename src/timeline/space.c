/* SPDX-License-Identifier: MIT */
#include "space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "space_parts.h"
#include "src/base/vec.h"

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

bool ts_space_divide(struct ts_space *sp, uint64_t stride, const uint16_t *starts, size_t n)
{
	sp->starts = malloc((n + 1) * sizeof(*starts));
	if (!sp->starts)
		return false;
	memcpy(sp->starts, starts, n * sizeof(*starts));
	sp->n_starts = n;
	sp->stride = stride;
	return true;
}

void ts_space_drop_segment(struct ts_space_segment *seg)
{
	ts_versions_fini(&seg->versions);
	ts_lines_fini(&seg->silent);
	ts_lines_fini(&seg->reads);
}

bool ts_space_set_group(struct ts_space *sp, size_t group, const struct ts_space_group *g)
{
	if (!ts_vec_extend(&sp->groups, &sp->n_groups, group, sizeof(*sp->groups)))
		return false;
	sp->groups[group] = *g;
	return true;
}

void ts_space_free(struct ts_space *sp)
{
	if (!sp)
		return;
	for (size_t i = 0; i < sp->n_segments; i++)
		ts_space_drop_segment(&sp->segments[i]);
	free(sp->segments);
	free(sp->groups); /* what is in them lies in the index file */
	free(sp->starts);
	ts_layers_fini(&sp->layers);
	ts_pages_fini(&sp->base);
	ts_inferred_fini(&sp->inferred);
	free(sp);
}

/* -------------------------------------------------------------------------------- the state at a boundary */

uint64_t ts_space_map_of_layer(const struct ts_space *sp, uint32_t layer)
{
	return ((uint64_t)sp->id + 1) << 32 | layer;
}

/* The known bytes of [off, off + n) of a page; the others stay as they are. */
static void page_bytes(const struct ts_page *pg, unsigned off, size_t n, uint8_t *data, uint8_t *known)
{
	for (size_t i = 0, len; i < n; i += len) {
		unsigned at = off + (unsigned)i, bit = at % 64;
		uint64_t bits;

		len = n - i < 64 - bit ? n - i : 64 - bit;
		bits = pg->known[at / 64] >> bit & ts_bit_run(0, (unsigned)len);
		if (bits == UINT64_MAX) {
			memcpy(data + i, pg->data + at, 64);
			memset(known + i, 1, 64);
			continue;
		}
		for (; bits; bits &= bits - 1) {
			unsigned j = (unsigned)__builtin_ctzll(bits);

			data[i + j] = pg->data[at + j];
			known[i + j] = 1;
		}
	}
}

/* What the pages of layer @layer hold in @len bytes from @first on, at position @pos. */
static void base_bytes(const struct ts_space *sp, uint32_t layer, uint64_t pos, uint64_t first, size_t len,
		       uint8_t *data, uint8_t *known)
{
	for (size_t i = 0; i < len;) {
		uint64_t addr = first + i;
		unsigned off = (unsigned)(addr % TS_PAGE_LEN);
		size_t n = TS_PAGE_LEN - off < len - i ? TS_PAGE_LEN - off : len - i;
		const struct ts_page *pg = ts_pages_find(&sp->base, addr >> TS_PAGE_BITS, layer);

		if (pg) {
			page_bytes(pg, off, n, data + i, known + i);
			ts_inferred_hide(&sp->inferred, layer, pos, addr, n, data + i, known + i);
		}
		i += n;
	}
}

/*
 * What layer @layer, which is *l, holds in [first, last], which lies within it; the image, if there is one,
 * lies beneath it.
 */
static void layer_bytes(const struct ts_painting *p, uint32_t layer, const struct ts_layer *l, uint64_t first,
			uint64_t last, uint8_t *data, uint8_t *known)
{
	const struct ts_space *sp = p->sp;
	const struct ts_image *image = p->image;
	size_t len = (size_t)(last - first) + 1;

	memset(data, 0, len);
	memset(known, l->fill == TS_FILL_ZERO, len);
	base_bytes(sp, layer, p->pos, first, len, data, known);
	if (sp->recorded && l->fill == TS_FILL_UNKNOWN && !l->pos)
		ts_image_fill(sp->recorded, 0, first, len, data, known);
	if (image && l->fill == TS_FILL_UNKNOWN)
		ts_image_fill(image, ts_space_map_of_layer(sp, layer), first, len, data, known);
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
	const struct ts_hunt hunt = { sp, 1u << TS_SPACE_CHANGES, addr, addr + (TS_LINE_LEN - 1) };
	size_t seg = until ? (size_t)((until - 1) / TS_SEGMENT_CHUNKS) : 0;

	v->known = v->lost = 0;
	if (until <= from || !sp->n_segments)
		return;
	if (seg >= sp->n_segments)
		seg = sp->n_segments - 1;
	for (; seg != SIZE_MAX; seg = ts_groups_prev(ts_space_hunt, &hunt, seg)) {
		uint64_t start = (uint64_t)seg * TS_SEGMENT_CHUNKS;
		uint64_t rel = until - start < TS_SEGMENT_CHUNKS ? until - start : TS_SEGMENT_CHUNKS;

		if (ts_versions_read(&sp->segments[seg].versions, addr,
				     from > start ? (uint32_t)(from - start) : 0, (uint32_t)rel, v) ||
		    start <= from)
			return;
	}
}

/* Lay the versions of chunks from @from on over [first, last]. */
static void overlay_versions(const struct ts_painting *p, uint64_t from, uint64_t first, uint64_t last,
			     uint8_t *data, uint8_t *known)
{
	size_t len = (size_t)(last - first) + 1;
	struct ts_version v;

	if (p->until <= from || !p->sp->n_segments)
		return;
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

void ts_space_paint(const struct ts_painting *p, uint32_t n, uint64_t first, uint64_t last, uint8_t *data,
		    uint8_t *known)
{
	struct ts_layer l = { 0 };
	uint32_t i = ts_layers_newest(&p->sp->layers, n, first, last, &l);
	uint64_t lo = first > l.first ? first : l.first;
	uint64_t hi = last < l.last ? last : l.last;

	assert(i != TS_NO_LAYER); /* layer 0 is everywhere */
	if (first < lo)
		ts_space_paint(p, i, first, lo - 1, data, known);
	layer_bytes(p, i, &l, lo, hi, data + (lo - first), known + (lo - first));
	overlay_versions(p, l.pos ? (l.pos - 1) / TS_CHUNK_STEPS : 0, lo, hi, data + (lo - first),
			 known + (lo - first));
	if (hi < last)
		ts_space_paint(p, i, hi + 1, last, data + (hi + 1 - first), known + (hi + 1 - first));
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

/* Page by page: ts_space_paint() recurses as deep as there are layers side by side. */
static void paint_pages(const struct ts_painting *p, uint32_t n_layers, uint64_t addr, size_t len,
			uint8_t *data, uint8_t *known)
{
	len = clip(addr, len, data, known);
	for (size_t i = 0, n; i < len; i += n) {
		n = TS_PAGE_LEN - (size_t)((addr + i) % TS_PAGE_LEN);
		if (n > len - i)
			n = len - i;
		ts_space_paint(p, n_layers, addr + i, addr + i + (n - 1), data + i, known + i);
	}
}

void ts_space_at(const struct ts_space *sp, uint64_t chunk, uint64_t addr, size_t len, uint8_t *data,
		 uint8_t *known)
{
	struct ts_painting p = { sp, sp->image, chunk, chunk * TS_CHUNK_STEPS, 0 };

	paint_pages(&p, ts_space_n_layers(sp, chunk * TS_CHUNK_STEPS), addr, len, data, known);
}

uint32_t ts_space_n_layers(const struct ts_space *sp, uint64_t pos)
{
	return ts_layers_until(&sp->layers, pos);
}

void ts_space_base(const struct ts_space *sp, uint32_t n_layers, uint64_t addr, size_t len, uint8_t *data,
		   uint8_t *known)
{
	struct ts_painting p = { sp, sp->image, 0, n_layers ? ts_layers_at(&sp->layers, n_layers - 1).pos : 0, 0 };

	paint_pages(&p, n_layers, addr, len, data, known);
}

/* Longer ranges are not looked through. */
#define MAX_BLANK_PAGES 65536u

bool ts_space_is_blank(const struct ts_space *sp, uint64_t pos, uint64_t first, uint64_t last)
{
	struct ts_layer l = { 0 };
	uint32_t i = ts_layers_newest(&sp->layers, ts_space_n_layers(sp, pos), first, last, &l);

	if (!l.pos || l.first > first || l.last < last || l.fill != TS_FILL_UNKNOWN ||
	    (sp->image && sp->image->n_ranges) || (last - first) >> TS_PAGE_BITS >= MAX_BLANK_PAGES)
		return false;
	for (uint64_t page = first >> TS_PAGE_BITS; page <= last >> TS_PAGE_BITS; page++) {
		if (ts_pages_find(&sp->base, page, i))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------- inferred ranges */

size_t ts_space_n_inferred(const struct ts_space *sp)
{
	return sp->inferred.n;
}

uint64_t ts_space_next_inferred(const struct ts_space *sp, uint64_t chunk)
{
	size_t i = chunk < TS_NO_CHUNK / TS_CHUNK_STEPS ? ts_inferred_from(&sp->inferred, chunk * TS_CHUNK_STEPS + 1)
							 : sp->inferred.n;

	return i < sp->inferred.n ? (sp->inferred.items[i].pos - 1) / TS_CHUNK_STEPS : TS_NO_CHUNK;
}

bool ts_space_has_inferred(const struct ts_space *sp, uint64_t from, uint64_t until)
{
	size_t i = ts_inferred_from(&sp->inferred, from);

	return i < sp->inferred.n && sp->inferred.items[i].pos <= until;
}

void ts_space_each_inferred(const struct ts_space *sp, uint64_t from, uint64_t until,
			 void (*use)(void *user, uint64_t first, uint64_t last), void *user)
{
	const struct ts_inferred_list *s = &sp->inferred;

	for (size_t i = ts_inferred_from(s, from); i < s->n && s->items[i].pos <= until; i++)
		use(user, s->items[i].addr, s->items[i].addr + (s->items[i].len - 1));
}

void ts_space_append_inferred(const struct ts_space *sp, uint64_t pos, struct ts_steps *b)
{
	const struct ts_inferred_list *s = &sp->inferred;

	for (size_t i = ts_inferred_from(s, pos); i < s->n && s->items[i].pos == pos; i++) {
		const struct ts_inferred *x = &s->items[i];
		const struct ts_page *pg = ts_pages_find(&sp->base, x->addr >> TS_PAGE_BITS, x->layer);
		struct ts_effect *e = ts_steps_value(b, TS_FX_WRITE, x->addr, pg->data + x->addr % TS_PAGE_LEN,
						     x->len);

		if (e)
			e->is_hidden = e->is_inferred = true;
	}
}

/* ------------------------------------------------------------------------------------------------ figures */

void ts_space_stats(const struct ts_space *sp, struct ts_space_stats *stats)
{
	*stats = (struct ts_space_stats){
		.n_inferred = sp->n_inferred,
		.n_unexplained = sp->n_unexplained,
		.n_divided = sp->n_divided,
		.n_pages = sp->n_pages,
	};
	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct ts_space_segment *seg = &sp->segments[i];

		stats->n_versions += seg->versions.lines.n_items;
		stats->n_silent += seg->silent.n_items;
		stats->n_reads += seg->reads.n_items;
		stats->index_len += ts_versions_mem(&seg->versions) + ts_lines_mem(&seg->silent);
		stats->reads_len += ts_lines_mem(&seg->reads);
	}
}
