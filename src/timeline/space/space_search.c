/* SPDX-License-Identifier: MIT */
/*
 * In which chunks a space was changed, written, read: next and previous.
 */
#include "space.h"
#include "space_search.h"

#define LINE_MASK ((uint64_t)TS_LINE_LEN - 1)

/* A chunk that changed any byte of a part may have written all of it: add what [addr, last] has half of. */
static void widen(const struct ts_space *sp, uint64_t *addr, uint64_t *last)
{
	uint16_t low = ts_space_parts(sp, *addr, (uint16_t)(1u << *addr % TS_LINE_LEN));
	uint16_t high = ts_space_parts(sp, *last, (uint16_t)(1u << *last % TS_LINE_LEN));

	*addr = (*addr & ~LINE_MASK) + (uint64_t)__builtin_ctz(low);
	*last = (*last & ~LINE_MASK) + (uint64_t)(31 - __builtin_clz(high));
}

/*
 * The first chunk >= @chunk (@is_reverse: the last chunk <= @chunk), both relative to the segment; UINT32_MAX if none is found.
 */
static uint32_t find_in_segment(const struct ts_space_segment *seg, const struct ts_space *sp, enum ts_space_deed deed, uint64_t addr,
				uint64_t last, uint32_t chunk, bool is_reverse)
{
	uint32_t silent = UINT32_MAX, changed;

	if (deed == TS_SPACE_READ)
		return ts_lines_find_touch(&seg->reads, NULL, addr, last, chunk, is_reverse);
	if (deed == TS_SPACE_WRITTEN) {
		silent = ts_lines_find_touch(&seg->silent, NULL, addr, last, chunk, is_reverse);
		widen(sp, &addr, &last);
	}
	changed = ts_lines_find_touch(&seg->versions.lines, seg->versions.changed, addr, last, chunk, is_reverse);
	if (silent == UINT32_MAX || changed == UINT32_MAX)
		return silent == UINT32_MAX ? changed : silent;
	return is_reverse == (silent > changed) ? silent : changed;
}

uint64_t ts_space_hunt(const void *user, size_t group)
{
	const struct ts_hunt *h = user;
	uint64_t bits = 0, addr = h->addr, last = h->last;

	if (group >= h->sp->n_groups)
		return TS_GROUP_ALL;
	for (unsigned part = TS_SPACE_PARTS; part-- > 0;) {
		if (part == TS_SPACE_CHANGES && h->parts >> TS_SPACE_SILENT & 1)
			widen(h->sp, &addr, &last);
		if (h->parts >> part & 1)
			bits |= ts_group_segments(&h->sp->groups[group].parts[part], addr, last);
	}
	return bits;
}

/* The segment of a chunk, at most @max. */
static size_t segment_at(uint64_t chunk, size_t max)
{
	return chunk / TS_SEGMENT_CHUNKS < max ? (size_t)(chunk / TS_SEGMENT_CHUNKS) : max;
}

static uint64_t find_touch(const struct ts_space *sp, enum ts_space_deed deed, uint64_t chunk, uint64_t addr, uint64_t last,
			   bool is_reverse)
{
	static const unsigned parts[] = {
		[TS_SPACE_CHANGED] = 1u << TS_SPACE_CHANGES,
		[TS_SPACE_WRITTEN] = 1u << TS_SPACE_CHANGES | 1u << TS_SPACE_SILENT,
		[TS_SPACE_READ] = 1u << TS_SPACE_READS,
	};
	const struct ts_hunt h = { sp, parts[deed], addr, last };
	size_t n = sp->n_segments, seg = segment_at(chunk, is_reverse ? n - 1 : n);

	while (seg < n) { /* SIZE_MAX: none before */
		uint64_t start = (uint64_t)seg * TS_SEGMENT_CHUNKS, rel = chunk > start ? chunk - start : 0;
		uint32_t found;

		rel = rel < TS_SEGMENT_CHUNKS ? rel : TS_SEGMENT_CHUNKS - 1;
		found = find_in_segment(&sp->segments[seg], sp, deed, addr, last, (uint32_t)rel, is_reverse);
		if (found != UINT32_MAX)
			return start + found;
		seg = is_reverse ? ts_groups_prev(ts_space_hunt, &h, seg) : ts_groups_next(ts_space_hunt, &h, seg + 1, n);
	}
	return TS_NO_CHUNK;
}

/* The first position of a chunk; UINT64_MAX if the position does not exist. */
static uint64_t begin_of(uint64_t chunk)
{
	return chunk < TS_NO_CHUNK / TS_CHUNK_STEPS ? chunk * TS_CHUNK_STEPS : UINT64_MAX;
}

/* The chunk whose last step, or one before, leads to position @pos; TS_NO_CHUNK for UINT64_MAX. */
static uint64_t chunk_before(uint64_t pos)
{
	return pos == UINT64_MAX ? TS_NO_CHUNK : (pos - 1) / TS_CHUNK_STEPS;
}

/*
 * A chunk whose steps lead to a position from which on a byte is known, not before it; bytes that are read from a position
 * on are those of the step before it.
 */
static uint64_t find_inferred(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last, bool is_reverse)
{
	uint64_t pos = is_reverse ? begin_of(chunk + (chunk != TS_NO_CHUNK)) : begin_of(chunk);

	if (!sp->inferred.n || (!is_reverse && pos == UINT64_MAX))
		return TS_NO_CHUNK;
	return chunk_before(ts_inferred_find(&sp->inferred, is_reverse ? pos : pos + 1, addr, last, is_reverse));
}

/*
 * A layer is there from the position after the step that made it on; those at position 0 were there before any step.
 */
static uint64_t next_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	const struct ts_layers *l = &sp->layers;
	uint64_t begin = begin_of(chunk);

	for (uint32_t i = begin == UINT64_MAX ? l->n : ts_layers_until(l, begin); i < l->n; i++) {
		const struct ts_layer x = ts_layers_at(l, i);

		if (x.pos > begin && x.first <= last && x.last >= addr)
			return chunk_before(x.pos);
	}
	return TS_NO_CHUNK;
}

static uint64_t prev_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	uint64_t end = begin_of(chunk + (chunk != TS_NO_CHUNK));
	struct ts_layer layer = { 0 };
	uint32_t i = ts_layers_newest(&sp->layers, ts_layers_until(&sp->layers, end), addr, last, &layer);

	return i == TS_NO_LAYER || !layer.pos || layer.pos > end ? TS_NO_CHUNK : chunk_before(layer.pos);
}

uint64_t ts_space_find(const struct ts_space *sp, enum ts_space_deed deed, uint64_t chunk, uint64_t addr, uint64_t last,
		       bool is_reverse)
{
	uint64_t found;

	if (deed == TS_SPACE_FILLED)
		return (is_reverse ? prev_fill : next_fill)(sp, chunk, addr, last);
	found = find_touch(sp, deed, chunk, addr, last, is_reverse);
	if (deed == TS_SPACE_READ)
		return found;
	return ts_nearer(found, find_inferred(sp, chunk, addr, last, is_reverse), is_reverse);
}

/* Zeros that are mapped in larger pieces are not looked through. */
#define MAX_ZEROS (UINT64_C(1) << 30)

static void use_range(uint64_t addr, uint64_t last, uint64_t first, uint64_t end,
		      void (*use)(void *user, uint64_t page), void *user)
{
	first = first > addr ? first : addr;
	end = end < last ? end : last;
	if (first > end)
		return;
	for (uint64_t page = first >> TS_PAGE_BITS; page <= end >> TS_PAGE_BITS; page++)
		use(user, page);
}

/* What a file's range has, but for the parts of it that are known to be zeros. */
static void use_data(const struct ts_image *img, const struct ts_image_range *r, uint64_t addr, uint64_t last,
		     void (*use)(void *user, uint64_t page), void *user)
{
	uint64_t from = addr > r->first ? addr : r->first, end = last < r->last ? last : r->last, first, data_last;

	while (from <= end && ts_image_next_data(img, r, from, &first, &data_last)) {
		use_range(addr, last, first, data_last, use, user);
		if (data_last >= end)
			break;
		from = data_last + 1;
	}
}

static void use_image(const struct ts_image *img, bool is_nonzero, uint64_t addr, uint64_t last,
		      void (*use)(void *user, uint64_t page), void *user)
{
	for (size_t i = 0; img && i < img->n_ranges; i++) {
		const struct ts_image_range *r = &img->ranges[i];

		if (is_nonzero)
			use_data(img, r, addr, last, use, user);
		else
			use_range(addr, last, r->first, r->last, use, user);
	}
}

static void use_page(uint64_t page, uint64_t addr, uint64_t last, void (*use)(void *user, uint64_t page),
		     void *user)
{
	if (page >= addr >> TS_PAGE_BITS && page <= last >> TS_PAGE_BITS)
		use(user, page);
}

void ts_space_each_page(const struct ts_space *sp, bool is_nonzero, uint64_t addr, uint64_t last,
			void (*use)(void *user, uint64_t page), void *user)
{
	use_image(sp->recorded, is_nonzero, addr, last, use, user);
	use_image(sp->image, is_nonzero, addr, last, use, user);
	for (size_t i = 0; i < sp->base.n; i++)
		use_page(sp->base.by_id[i]->page, addr, last, use, user);
	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct ts_lines *lines = &sp->segments[i].versions.lines;

		for (size_t k = 0; k < lines->n_pages; k++)
			use_page(ts_lines_page(lines, k), addr, last, use, user);
	}
	for (uint32_t i = 0; !is_nonzero && i < sp->layers.n; i++) {
		const struct ts_layer l = ts_layers_at(&sp->layers, i);
		uint64_t first = l.first > addr ? l.first : addr, end = l.last < last ? l.last : last;

		if (l.fill == TS_FILL_ZERO && first <= end && end - first < MAX_ZEROS)
			use_range(addr, last, first, end, use, user);
	}
}

/* The touches of the chunks [first, end) of a segment. */
struct touches {
	uint64_t start, first, end;
	void (*use)(void *user, uint64_t addr, uint64_t chunk);
	void *user;
};

static void use_touch(void *user, uint64_t addr, uint32_t chunk)
{
	const struct touches *t = user;

	if (t->start + chunk >= t->first && t->start + chunk < t->end)
		t->use(t->user, addr, t->start + chunk);
}

void ts_space_each_touch(const struct ts_space *sp, bool is_read, uint64_t chunk, uint64_t end,
			 void (*use)(void *user, uint64_t addr, uint64_t chunk), void *user)
{
	struct touches t = { .first = chunk, .end = end, .use = use, .user = user };

	for (size_t i = (size_t)(chunk / TS_SEGMENT_CHUNKS); i < sp->n_segments; i++) {
		const struct ts_space_segment *seg = &sp->segments[i];

		t.start = (uint64_t)i * TS_SEGMENT_CHUNKS;
		if (t.start >= end)
			break;
		if (is_read) {
			ts_lines_each(&seg->reads, use_touch, &t);
			continue;
		}
		ts_lines_each(&seg->versions.lines, use_touch, &t);
		ts_lines_each(&seg->silent, use_touch, &t);
	}
}

uint16_t ts_space_divided_parts(const struct ts_space *sp, uint64_t addr, uint16_t bytes)
{
	uint64_t line = addr % sp->stride / TS_LINE_LEN;
	uint32_t starts = (line < sp->n_starts ? sp->starts[line] : 0) | 1u | 1u << TS_LINE_LEN;
	uint32_t parts = 0, rest;

	for (; (rest = starts & (starts - 1)) != 0; starts = rest) {
		uint32_t part = (rest & -rest) - (starts & -starts); /* the bits from this start to the next */

		if (bytes & part)
			parts |= part;
	}
	return (uint16_t)parts;
}
