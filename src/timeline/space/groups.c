/* SPDX-License-Identifier: MIT */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/vec.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

/* A group of more lines is not kept: it would need 64 MiB. */
#define MAX_LINES (UINT32_C(1) << 21)

/* Longer ranges are not looked up: whoever asks for them examines much in each segment anyway. */
#define MAX_LEN 256u

_Static_assert(TS_GROUP_SEGMENTS <= 64, "a group's segments are the bits of a number");

void ts_group_fini(struct ts_group *g)
{
	if (!g->lines.file)
		free(g->items);
	ts_lines_fini(&g->lines);
	*g = (struct ts_group){ 0 };
}

/* ------------------------------------------------------------------------------------------------ making */

/* A group that is made: where its next line probably is. */
struct making {
	struct ts_group *g;
	size_t cap, page;
	uint64_t bit; /* of the segment whose lines come */
	bool is_failed;
};

static void set_line(struct ts_line_page *p, uint64_t addr)
{
	unsigned line = (unsigned)(addr >> TS_LINE_BITS) % TS_PAGE_LINES;

	p->has[line / 64] |= UINT64_C(1) << line % 64;
}

/* Note the line's page, unless it is that of the line before. */
static void note_page(void *user, uint64_t addr, uint16_t bytes)
{
	struct making *m = user;
	struct ts_lines *lines = &m->g->lines;

	(void)bytes;
	if (m->is_failed)
		return;
	if (!lines->n_pages || lines->pages[lines->n_pages - 1].page != addr >> TS_PAGE_BITS) {
		m->is_failed = !TS_PUSH(lines->pages, lines->n_pages, m->cap, (struct ts_line_page){ .page = addr >> TS_PAGE_BITS });
		if (m->is_failed)
			return;
	}
	set_line(&lines->pages[lines->n_pages - 1], addr);
}

/* The pages that were noted become ascending; each is there once. */
static void merge_pages(struct ts_lines *lines)
{
	size_t n = 0;

	TS_SORT_BY(lines->pages, lines->n_pages, page);
	for (size_t i = 0; i < lines->n_pages; i++) {
		if (!n || lines->pages[n - 1].page != lines->pages[i].page)
			lines->pages[n++] = lines->pages[i];
		for (unsigned w = 0; w < 4; w++)
			lines->pages[n - 1].has[w] |= lines->pages[i].has[w];
	}
	lines->n_pages = n;
	for (size_t i = 0; i < n; i++) {
		lines->pages[i].first = (uint32_t)lines->n_lines;
		for (unsigned w = 0; w < 4; w++)
			lines->n_lines += (unsigned)__builtin_popcountll(lines->pages[i].has[w]);
	}
}

static void note_line(void *user, uint64_t addr, uint16_t bytes)
{
	struct making *m = user;
	struct ts_lines *lines = &m->g->lines;
	uint32_t line;

	if (!ts_lines_find_near(lines, addr, &m->page, &line))
		return;
	for (unsigned i = 0; i < 4; i++) {
		if (bytes >> i * 4 & 0xf)
			m->g->items[line].segments[i] |= m->bit;
	}
}

bool ts_group_make(struct ts_group *g, const struct ts_lines *const *sets, unsigned n)
{
	struct making m = { .g = g };

	*g = (struct ts_group){ 0 };
	for (unsigned i = 0; i < n; i++)
		ts_lines_each_line(sets[i], note_page, &m);
	merge_pages(&g->lines);
	if (g->lines.n_lines <= MAX_LINES)
		g->items = calloc(g->lines.n_lines + 1, sizeof(*g->items));
	m.is_failed |= !g->items;
	for (unsigned i = 0; i < n && !m.is_failed; i++) {
		m.bit = UINT64_C(1) << i;
		m.page = 0;
		ts_lines_each_line(sets[i], note_line, &m);
	}
	if (!m.is_failed)
		return true;
	m.is_failed = g->lines.n_lines <= MAX_LINES;
	ts_group_fini(g);
	return !m.is_failed;
}

/* ------------------------------------------------------------------------------------------------ asking */

/* The segments that touch one of the quarters @first to @last of the line. */
static uint64_t segments_of(const struct ts_group *g, uint32_t line, unsigned first, unsigned last)
{
	uint64_t bits = 0;

	if (line >= g->lines.n_lines) {
		ts_index_blocks_note_damage(g->lines.file);
		return 0;
	}
	ts_index_blocks_use(g->lines.file, &g->items[line], sizeof(*g->items));
	for (unsigned i = first; i <= last; i++)
		bits |= g->items[line].segments[i];
	return bits & TS_GROUP_ALL;
}

uint64_t ts_group_segments(const struct ts_group *g, uint64_t addr, uint64_t last)
{
	uint64_t bits = 0;
	uint32_t line;

	if (!g->lines.n_lines || last - addr >= MAX_LEN)
		return TS_GROUP_ALL;
	for (uint64_t i = addr >> TS_LINE_BITS; i <= last >> TS_LINE_BITS && bits != TS_GROUP_ALL; i++) {
		unsigned from = i == addr >> TS_LINE_BITS ? addr % TS_LINE_LEN / 4 : 0;
		unsigned to = i == last >> TS_LINE_BITS ? last % TS_LINE_LEN / 4 : 3;

		if (ts_lines_find(&g->lines, i << TS_LINE_BITS, &line))
			bits |= segments_of(g, line, from, to);
	}
	return bits;
}

size_t ts_groups_next(ts_group_bits *bits_of, const void *user, size_t segment, size_t n)
{
	while (segment < n) {
		size_t group = segment / TS_GROUP_SEGMENTS;
		uint64_t bits = bits_of(user, group) >> segment % TS_GROUP_SEGMENTS;

		if (bits) {
			segment += (size_t)__builtin_ctzll(bits);
			return segment < n ? segment : n;
		}
		segment = (group + 1) * TS_GROUP_SEGMENTS;
	}
	return n;
}

size_t ts_groups_prev(ts_group_bits *bits_of, const void *user, size_t end)
{
	while (end) {
		size_t group = (end - 1) / TS_GROUP_SEGMENTS;
		uint64_t bits = bits_of(user, group) & UINT64_MAX >> (63 - (end - 1) % TS_GROUP_SEGMENTS);

		if (bits)
			return group * TS_GROUP_SEGMENTS + (size_t)(63 - __builtin_clzll(bits));
		end = group * TS_GROUP_SEGMENTS;
	}
	return SIZE_MAX;
}

/* -------------------------------------------------------------------------------------------- index files */

void ts_group_save(const struct ts_group *g, struct ts_index_file *f)
{
	ts_index_put_unread(f, g->lines.pages, g->lines.n_pages, sizeof(*g->lines.pages));
	ts_index_put_packed(f, g->items, g->lines.n_lines, sizeof(*g->items));
}

bool ts_group_load(struct ts_group *g, struct ts_index_arrays *a)
{
	struct ts_lines lines = { .file = a->blocks };

	*g = (struct ts_group){ 0 };
	lines.pages = ts_index_take_unread(a, sizeof(*lines.pages), &lines.n_pages);
	g->items = ts_index_take_unread(a, sizeof(*g->items), &lines.n_lines);
	g->lines = lines;
	return !a->is_bad;
}

/* ------------------------------------------------------------------------------------------------ runs */

void ts_run_group_fini(struct ts_run_group *g)
{
	if (!g->file)
		free(g->segments);
	*g = (struct ts_run_group){ 0 };
}

bool ts_run_group_make(struct ts_run_group *g, const struct ts_postings *const *sets, unsigned n,
		       size_t n_runs)
{
	*g = (struct ts_run_group){ .segments = calloc(n_runs + 1, sizeof(*g->segments)), .n = n_runs };
	if (!g->segments)
		return false;
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < sets[i]->n_keys; k++) {
			uint32_t run = ts_postings_key(sets[i], k);

			if (run < n_runs)
				g->segments[run] |= UINT64_C(1) << i;
		}
	}
	return true;
}

uint64_t ts_run_group_segments(const struct ts_run_group *g, uint32_t run)
{
	if (!g->n)
		return TS_GROUP_ALL;
	if (run >= g->n)
		return 0;
	ts_index_blocks_use(g->file, &g->segments[run], sizeof(*g->segments));
	return g->segments[run] & TS_GROUP_ALL;
}

void ts_run_group_save(const struct ts_run_group *g, struct ts_index_file *f)
{
	ts_index_put_packed(f, g->segments, g->n, sizeof(*g->segments));
}

bool ts_run_group_load(struct ts_run_group *g, struct ts_index_arrays *a)
{
	*g = (struct ts_run_group){ .file = a->blocks };
	g->segments = ts_index_take_unread(a, sizeof(*g->segments), &g->n);
	return !a->is_bad;
}
