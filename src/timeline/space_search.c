/* SPDX-License-Identifier: MIT */
/*
 * In which chunks a space was changed, written, read: next and previous.
 */
#include "space_parts.h"

#define LINE_MASK ((uint64_t)TS_LINE_LEN - 1)

/* The sets of a segment that can be asked. */
enum set {
	CHANGES, /* bytes that were changed */
	CHANGED_LINES,
	SILENT,
	READS,
};

static const struct ts_lines *set_of(const struct ts_space_segment *seg, enum set set, const uint16_t **exact)
{
	*exact = set == CHANGES ? seg->versions.changed : NULL;
	switch (set) {
	case CHANGES:
	case CHANGED_LINES:
		return &seg->versions.lines;
	case SILENT:
		return &seg->silent;
	case READS:
		break;
	}
	return &seg->reads;
}

static uint64_t next_in(const struct ts_space *sp, enum set set, uint64_t chunk, uint64_t addr, uint64_t last)
{
	for (uint64_t seg = chunk / TS_SEGMENT_CHUNKS; seg < sp->n_segments; seg++) {
		uint64_t start = seg * TS_SEGMENT_CHUNKS;
		uint32_t rel = chunk > start ? (uint32_t)(chunk - start) : 0;
		const uint16_t *exact;
		const struct ts_lines *lines = set_of(&sp->segments[seg], set, &exact);
		uint32_t found = ts_lines_next(lines, exact, addr, last, rel);

		if (found != UINT32_MAX)
			return start + found;
	}
	return TS_NO_CHUNK;
}

static uint64_t prev_in(const struct ts_space *sp, enum set set, uint64_t chunk, uint64_t addr, uint64_t last)
{
	uint64_t seg = chunk / TS_SEGMENT_CHUNKS + 1;

	if (seg > sp->n_segments)
		seg = sp->n_segments;
	while (seg-- > 0) {
		uint64_t start = seg * TS_SEGMENT_CHUNKS;
		uint32_t rel =
			chunk - start < TS_SEGMENT_CHUNKS ? (uint32_t)(chunk - start) : TS_SEGMENT_CHUNKS - 1;
		const uint16_t *exact;
		const struct ts_lines *lines = set_of(&sp->segments[seg], set, &exact);
		uint32_t found = ts_lines_prev(lines, exact, addr, last, rel);

		if (found != UINT32_MAX)
			return start + found;
	}
	return TS_NO_CHUNK;
}

uint64_t ts_space_next_change(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_in(sp, CHANGES, chunk, addr, last);
}

uint64_t ts_space_prev_change(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_in(sp, CHANGES, chunk, addr, last);
}

/* A chunk that changed any byte of a line may have written all of them. */
uint64_t ts_space_next_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	uint64_t changed = next_in(sp, CHANGED_LINES, chunk, addr & ~LINE_MASK, last | LINE_MASK);
	uint64_t silent = next_in(sp, SILENT, chunk, addr, last);

	return silent < changed ? silent : changed;
}

uint64_t ts_space_prev_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	uint64_t changed = prev_in(sp, CHANGED_LINES, chunk, addr & ~LINE_MASK, last | LINE_MASK);
	uint64_t silent = prev_in(sp, SILENT, chunk, addr, last);

	if (changed == TS_NO_CHUNK || silent == TS_NO_CHUNK)
		return changed == TS_NO_CHUNK ? silent : changed;
	return silent > changed ? silent : changed;
}

uint64_t ts_space_next_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_in(sp, READS, chunk, addr, last);
}

uint64_t ts_space_prev_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_in(sp, READS, chunk, addr, last);
}

/* A layer stands at the position after the step that made it; those at position 0 were there before any step. */
uint64_t ts_space_next_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	const struct ts_layers *l = &sp->layers;

	if (chunk >= TS_NO_CHUNK / TS_CHUNK_STEPS)
		return TS_NO_CHUNK;
	for (uint32_t i = ts_layers_until(l, chunk * TS_CHUNK_STEPS); i < l->n; i++) {
		const struct ts_layer *x = &l->items[i];

		if (x->first <= last && x->last >= addr)
			return (x->pos - 1) / TS_CHUNK_STEPS;
	}
	return TS_NO_CHUNK;
}

uint64_t ts_space_prev_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	const struct ts_layers *l = &sp->layers;
	uint64_t end = chunk < TS_NO_CHUNK / TS_CHUNK_STEPS - 1 ? (chunk + 1) * TS_CHUNK_STEPS : UINT64_MAX;
	uint32_t i = ts_layers_newest(l, ts_layers_until(l, end), addr, last);

	return i == TS_NO_LAYER || !l->items[i].pos ? TS_NO_CHUNK : (l->items[i].pos - 1) / TS_CHUNK_STEPS;
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

static void use_image(const struct ts_image *img, uint64_t addr, uint64_t last,
		      void (*use)(void *user, uint64_t page), void *user)
{
	for (size_t i = 0; img && i < img->n_ranges; i++)
		use_range(addr, last, img->ranges[i].first, img->ranges[i].last, use, user);
}

static void use_page(uint64_t page, uint64_t addr, uint64_t last, void (*use)(void *user, uint64_t page), void *user)
{
	if (page >= addr >> TS_PAGE_BITS && page <= last >> TS_PAGE_BITS)
		use(user, page);
}

void ts_space_each_page(const struct ts_space *sp, uint64_t addr, uint64_t last,
			void (*use)(void *user, uint64_t page), void *user)
{
	use_image(sp->recorded, addr, last, use, user);
	use_image(sp->image, addr, last, use, user);
	for (size_t i = 0; i < sp->base.n; i++)
		use_page(sp->base.by_id[i]->page, addr, last, use, user);
	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct ts_lines *lines = &sp->segments[i].versions.lines;

		for (size_t k = 0; k < lines->n_pages; k++)
			use_page(lines->pages[k].page, addr, last, use, user);
	}
	for (uint32_t i = 0; i < sp->layers.n; i++) {
		const struct ts_layer *l = &sp->layers.items[i];

		uint64_t first = l->first > addr ? l->first : addr, end = l->last < last ? l->last : last;

		if (l->fill == TS_FILL_ZERO && first <= end && end - first < MAX_ZEROS)
			use_range(addr, last, first, end, use, user);
	}
}
