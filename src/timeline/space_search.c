/* SPDX-License-Identifier: MIT */
/*
 * In which chunks a space was changed, written, read: next and previous.
 */
#include "space.h"
#include "space_parts.h"

#define LINE_MASK ((uint64_t)TS_LINE_LEN - 1)

/* What a chunk does to bytes. */
enum deed {
	CHANGE,
	WRITE,
	READ,
};

/* A chunk that changed any byte of a part may have written all of it: add what [addr, last] has half of. */
static void widen(const struct ts_space *sp, uint64_t *addr, uint64_t *last)
{
	uint16_t low = ts_space_parts(sp, *addr, (uint16_t)(1u << *addr % TS_LINE_LEN));
	uint16_t high = ts_space_parts(sp, *last, (uint16_t)(1u << *last % TS_LINE_LEN));

	*addr = (*addr & ~LINE_MASK) + (uint64_t)__builtin_ctz(low);
	*last = (*last & ~LINE_MASK) + (uint64_t)(31 - __builtin_clz(high));
}

/* The first chunk >= @chunk, both relative to the segment; UINT32_MAX if there is none. */
static uint32_t next_of_segment(const struct ts_space *sp, uint64_t segment, enum deed deed, uint64_t addr,
				uint64_t last, uint32_t chunk)
{
	const struct ts_space_segment *seg = &sp->segments[segment];
	uint32_t silent = UINT32_MAX, changed;

	if (deed == READ)
		return ts_lines_next(&seg->reads, NULL, addr, last, chunk);
	if (deed == WRITE) {
		silent = ts_lines_next(&seg->silent, NULL, addr, last, chunk);
		widen(sp, &addr, &last);
	}
	changed = ts_lines_next(&seg->versions.lines, seg->versions.changed, addr, last, chunk);
	return silent < changed ? silent : changed;
}

/* The last chunk <= @chunk; the same. */
static uint32_t prev_of_segment(const struct ts_space *sp, uint64_t segment, enum deed deed, uint64_t addr,
				uint64_t last, uint32_t chunk)
{
	const struct ts_space_segment *seg = &sp->segments[segment];
	uint32_t silent = UINT32_MAX, changed;

	if (deed == READ)
		return ts_lines_prev(&seg->reads, NULL, addr, last, chunk);
	if (deed == WRITE) {
		silent = ts_lines_prev(&seg->silent, NULL, addr, last, chunk);
		widen(sp, &addr, &last);
	}
	changed = ts_lines_prev(&seg->versions.lines, seg->versions.changed, addr, last, chunk);
	return silent + 1 > changed + 1 ? silent : changed; /* none + 1 is 0 */
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

static struct ts_hunt hunt(const struct ts_space *sp, enum deed deed, uint64_t addr, uint64_t last)
{
	static const unsigned parts[] = {
		[CHANGE] = 1u << TS_SPACE_CHANGES,
		[WRITE] = 1u << TS_SPACE_CHANGES | 1u << TS_SPACE_SILENT,
		[READ] = 1u << TS_SPACE_READS,
	};

	return (struct ts_hunt){ sp, parts[deed], addr, last };
}

/* The segment of a chunk, at most @max. */
static size_t segment_at(uint64_t chunk, size_t max)
{
	return chunk / TS_SEGMENT_CHUNKS < max ? (size_t)(chunk / TS_SEGMENT_CHUNKS) : max;
}

static uint64_t next_in(const struct ts_space *sp, enum deed deed, uint64_t chunk, uint64_t addr,
			uint64_t last)
{
	const struct ts_hunt h = hunt(sp, deed, addr, last);
	size_t seg = segment_at(chunk, sp->n_segments);

	for (; seg < sp->n_segments; seg = ts_groups_next(ts_space_hunt, &h, seg + 1, sp->n_segments)) {
		uint64_t start = (uint64_t)seg * TS_SEGMENT_CHUNKS;
		uint32_t rel = chunk > start ? (uint32_t)(chunk - start) : 0;
		uint32_t found = next_of_segment(sp, seg, deed, addr, last, rel);

		if (found != UINT32_MAX)
			return start + found;
	}
	return TS_NO_CHUNK;
}

static uint64_t prev_in(const struct ts_space *sp, enum deed deed, uint64_t chunk, uint64_t addr,
			uint64_t last)
{
	const struct ts_hunt h = hunt(sp, deed, addr, last);
	size_t seg = segment_at(chunk, sp->n_segments - 1);

	for (; seg != SIZE_MAX && sp->n_segments; seg = ts_groups_prev(ts_space_hunt, &h, seg)) {
		uint64_t start = (uint64_t)seg * TS_SEGMENT_CHUNKS;
		uint32_t rel =
			chunk - start < TS_SEGMENT_CHUNKS ? (uint32_t)(chunk - start) : TS_SEGMENT_CHUNKS - 1;
		uint32_t found = prev_of_segment(sp, seg, deed, addr, last, rel);

		if (found != UINT32_MAX)
			return start + found;
	}
	return TS_NO_CHUNK;
}

/*
 * The first chunk >= @chunk whose steps lead to a position from which on a byte is known, not before it;
 * bytes that are read from a position on are those of the step before it.
 */
static uint64_t next_sight(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	uint64_t pos = UINT64_MAX;

	if (sp->sights.n && chunk < TS_NO_CHUNK / TS_CHUNK_STEPS)
		pos = ts_sights_next(&sp->sights, chunk * TS_CHUNK_STEPS + 1, addr, last);
	return pos == UINT64_MAX ? TS_NO_CHUNK : (pos - 1) / TS_CHUNK_STEPS;
}

static uint64_t prev_sight(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	uint64_t end = chunk < TS_NO_CHUNK / TS_CHUNK_STEPS - 1 ? (chunk + 1) * TS_CHUNK_STEPS : UINT64_MAX;
	uint64_t pos = sp->sights.n ? ts_sights_prev(&sp->sights, end, addr, last) : UINT64_MAX;

	return pos == UINT64_MAX ? TS_NO_CHUNK : (pos - 1) / TS_CHUNK_STEPS;
}

static uint64_t next_written(const struct ts_space *sp, enum deed deed, uint64_t chunk, uint64_t addr,
			     uint64_t last)
{
	uint64_t found = next_in(sp, deed, chunk, addr, last), sight = next_sight(sp, chunk, addr, last);

	return sight < found ? sight : found; /* none is the greatest number */
}

static uint64_t prev_written(const struct ts_space *sp, enum deed deed, uint64_t chunk, uint64_t addr,
			     uint64_t last)
{
	uint64_t found = prev_in(sp, deed, chunk, addr, last), sight = prev_sight(sp, chunk, addr, last);

	return sight + 1 > found + 1 ? sight : found; /* none + 1 is 0 */
}

uint64_t ts_space_next_change(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_written(sp, CHANGE, chunk, addr, last);
}

uint64_t ts_space_prev_change(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_written(sp, CHANGE, chunk, addr, last);
}

uint64_t ts_space_next_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_written(sp, WRITE, chunk, addr, last);
}

uint64_t ts_space_prev_write(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_written(sp, WRITE, chunk, addr, last);
}

uint64_t ts_space_next_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return next_in(sp, READ, chunk, addr, last);
}

uint64_t ts_space_prev_read(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	return prev_in(sp, READ, chunk, addr, last);
}

/*
 * A layer stands at the position after the step that made it; those at position 0 were there before any step.
 */
uint64_t ts_space_next_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	const struct ts_layers *l = &sp->layers;

	if (chunk >= TS_NO_CHUNK / TS_CHUNK_STEPS)
		return TS_NO_CHUNK;
	for (uint32_t i = ts_layers_until(l, chunk * TS_CHUNK_STEPS); i < l->n; i++) {
		const struct ts_layer x = ts_layers_at(l, i);

		if (x.pos > chunk * TS_CHUNK_STEPS && x.first <= last && x.last >= addr)
			return (x.pos - 1) / TS_CHUNK_STEPS;
	}
	return TS_NO_CHUNK;
}

uint64_t ts_space_prev_fill(const struct ts_space *sp, uint64_t chunk, uint64_t addr, uint64_t last)
{
	const struct ts_layers *l = &sp->layers;
	uint64_t end = chunk < TS_NO_CHUNK / TS_CHUNK_STEPS - 1 ? (chunk + 1) * TS_CHUNK_STEPS : UINT64_MAX;
	struct ts_layer layer = { 0 };
	uint32_t i = ts_layers_newest(l, ts_layers_until(l, end), addr, last, &layer);

	return i == TS_NO_LAYER || !layer.pos || layer.pos > end ? TS_NO_CHUNK
								 : (layer.pos - 1) / TS_CHUNK_STEPS;
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
