/* SPDX-License-Identifier: MIT */
/*
 * A space to an index file and back.  Its arrays: the segment (changed lines, silent ones, read ones), then
 * what was learned of the layers' own contents (pages and lines that are not as they were), completed
 * versions of segments before, since when bytes of layers are known, which bytes were lost
 * since the last gap, counts.
 */
#include <stdlib.h>
#include <string.h>

#include "space_builder.h"
#include "space_parts.h"
#include "src/base/collections/bisect.h"
#include "src/base/collections/buf.h"
#include "src/base/collections/vec.h"
#include "src/index/index_write.h"

/* A page of a layer: its lines are consecutive in the array of lines. */
struct saved_page {
	uint64_t page;
	uint32_t layer;
	uint32_t n_lines;
	uint64_t lines[4]; /* which; bit i: line i */
};

struct saved_line {
	uint16_t known;
	uint8_t data[TS_LINE_LEN];
};

struct saved_counts {
	uint64_t n_inferred, n_unexplained;
	uint64_t gap; /* the position of the last one */
};

/* ------------------------------------------------------------------------------------------------ saving */

static struct saved_page page_to_save(const struct ts_page *pg)
{
	struct saved_page s = { .page = pg->page, .layer = pg->layer };

	memcpy(s.lines, pg->dirty, sizeof(s.lines));
	for (unsigned i = 0; i < 4; i++)
		s.n_lines += (uint32_t)__builtin_popcountll(pg->dirty[i]);
	return s;
}

static void save_lines(const struct ts_page *pg, struct ts_buf *out)
{
	for (unsigned line = 0; line < TS_PAGE_LINES; line++) {
		struct saved_line s;

		if (!(pg->dirty[line / 64] >> line % 64 & 1))
			continue;
		s.known = (uint16_t)(pg->known[line / 4] >> line % 4 * 16);
		memcpy(s.data, pg->data + line * TS_LINE_LEN, TS_LINE_LEN);
		ts_buf_put(out, &s, sizeof(s));
	}
}

static void save_base(struct ts_space_builder *sb, struct ts_index_file *f)
{
	struct ts_buf pages, lines;

	ts_buf_init(&pages);
	ts_buf_init(&lines);
	for (size_t i = 0; i < sb->n_dirty; i++) {
		const struct ts_page *pg = sb->space->base.by_id[sb->dirty[i]];
		struct saved_page s = page_to_save(pg);

		ts_buf_put(&pages, &s, sizeof(s));
		save_lines(pg, &lines);
	}
	ts_index_put_buf(f, &pages);
	ts_index_put_buf(f, &lines);
	ts_buf_fini(&pages);
	ts_buf_fini(&lines);
}

/* Those that were added; the last one that was saved may have grown, and comes again. */
static void save_inferred(struct ts_space_builder *sb, struct ts_index_file *f)
{
	const struct ts_inferred_list *s = &sb->space->inferred;
	size_t from = sb->n_saved_inferred ? sb->n_saved_inferred - 1 : 0;

	ts_index_put(f, s->items + from, s->n - from, sizeof(*s->items));
	sb->n_saved_inferred = s->n;
}

static bool load_inferred(struct ts_space_builder *sb, struct ts_index_arrays *a)
{
	struct ts_inferred_list *s = &sb->space->inferred;
	size_t n;
	const struct ts_inferred *items = ts_index_take(a, sizeof(*items), &n);

	for (size_t i = 0; i < n; i++) {
		const struct ts_inferred *x = &items[i], *last = s->n ? &s->items[s->n - 1] : NULL;

		if (!x->pos || !x->len || x->len > TS_PAGE_LEN - x->addr % TS_PAGE_LEN ||
		    x->layer >= sb->space->layers.n || (last && x->pos < last->pos) ||
		    !ts_pages_find(&sb->space->base, x->addr >> TS_PAGE_BITS, x->layer))
			return false;
		if (i == 0 && last && last->pos == x->pos && last->addr == x->addr && x->len >= last->len)
			s->items[s->n - 1].len = x->len;
		else if (!ts_inferred_add(s, x))
			return false;
	}
	sb->n_saved_inferred = s->n;
	return !a->is_bad;
}

/* Bytes that were lost since the last gap; those that were saved before are left out. */
static void save_lost(struct ts_space_builder *sb, struct ts_index_file *f)
{
	struct ts_buf out;

	ts_buf_init(&out);
	for (size_t i = 0; sb->gap && i < sb->n_holed; i++) {
		const struct ts_page *pg = sb->holed[i];
		struct ts_holes *h = pg->holes;

		for (unsigned word = 0; word < TS_PAGE_LEN / 64; word++) {
			struct ts_lost_word w = { (pg->page << TS_PAGE_BITS) + word * 64,
						  h->bits[word] & ~h->old[word] & ~h->saved[word] };

			if (w.bytes)
				ts_buf_put(&out, &w, sizeof(w));
			h->saved[word] |= w.bytes;
		}
	}
	ts_index_put_buf(f, &out);
	ts_buf_fini(&out);
}

/* Returns false if the words contradict themselves, or memory is exhausted. */
static bool load_lost(struct ts_space_builder *sb, const struct ts_lost_word *words, size_t n, uint64_t gap)
{
	if (gap != sb->gap)
		sb->n_lost = 0;
	for (size_t i = 0; i < n; i++) {
		if (words[i].addr % 64 || !gap ||
		    !TS_PUSH(sb->lost, sb->n_lost, sb->cap_lost, words[i]))
			return false;
	}
	return true;
}

void ts_space_set_clean(struct ts_space_builder *sb)
{
	for (size_t i = 0; i < sb->n_dirty; i++) {
		struct ts_page *pg = sb->space->base.by_id[sb->dirty[i]];

		memset(pg->dirty, 0, sizeof(pg->dirty));
		pg->is_dirty = false;
	}
	sb->n_dirty = sb->n_completions = 0;
}

void ts_space_save(struct ts_space_builder *sb, uint64_t segment, struct ts_index_file *f)
{
	struct ts_space *sp = sb->space;
	struct ts_space_segment *seg = &sp->segments[segment];
	struct saved_counts counts = { sp->n_inferred, sp->n_unexplained, sb->gap };

	ts_versions_save(&seg->versions, f);
	ts_lines_save(&seg->silent, f);
	ts_lines_save(&seg->reads, f);
	save_base(sb, f);
	ts_index_put(f, sb->completions, sb->n_completions, sizeof(*sb->completions));
	save_inferred(sb, f);
	save_lost(sb, f);
	ts_index_put(f, &counts, 1, sizeof(counts));
	ts_space_set_clean(sb);
}

/* ------------------------------------------------------------------------------------------------ loading */

bool ts_space_load_segment(struct ts_space_builder *sb, uint64_t segment, struct ts_index_arrays *a,
			   uint32_t n_chunks)
{
	struct ts_space *sp = sb->space;
	struct ts_space_segment mapped = { 0 }, *seg;

	if (!ts_versions_load(&mapped.versions, a, n_chunks) || !ts_lines_load(&mapped.silent, a, n_chunks) ||
	    !ts_lines_load(&mapped.reads, a, n_chunks) || !ts_space_room(sb, segment))
		return false;
	seg = &sp->segments[segment];
	ts_versions_fini(&seg->versions);
	ts_lines_fini(&seg->silent);
	ts_lines_fini(&seg->reads);
	*seg = mapped;
	sp->n_segments = sb->n_sealed = (size_t)segment + 1;
	return true;
}

static bool load_page(struct ts_space_builder *sb, const struct saved_page *s, const struct saved_line *lines)
{
	struct ts_space *sp = sb->space;
	struct ts_page *pg = ts_pages_find(&sp->base, s->page, s->layer);

	if (!pg)
		pg = ts_pages_add(&sp->base, s->page, s->layer);
	if (!pg)
		return false;
	for (unsigned line = 0; line < TS_PAGE_LINES; line++) {
		unsigned shift = line % 4 * 16;

		if (!(s->lines[line / 64] >> line % 64 & 1))
			continue;
		memcpy(pg->data + line * TS_LINE_LEN, lines->data, TS_LINE_LEN);
		pg->known[line / 4] &= ~(UINT64_C(0xffff) << shift);
		pg->known[line / 4] |= (uint64_t)lines->known << shift;
		lines++;
	}
	return true;
}

static bool load_base(struct ts_space_builder *sb, struct ts_index_arrays *a)
{
	size_t n_pages, n_lines;
	const struct saved_page *pages = ts_index_take(a, sizeof(*pages), &n_pages);
	const struct saved_line *lines = ts_index_take(a, sizeof(*lines), &n_lines);

	for (size_t i = 0; i < n_pages; i++) {
		unsigned n = 0;

		for (unsigned j = 0; j < 4; j++)
			n += (unsigned)__builtin_popcountll(pages[i].lines[j]);
		if (n > n_lines || pages[i].page > UINT64_MAX >> TS_PAGE_BITS ||
		    pages[i].layer >= sb->space->layers.n || !load_page(sb, &pages[i], lines))
			return false;
		lines += n;
		n_lines -= n;
	}
	return !a->is_bad && !n_lines;
}

/* The last gap lies in segment @segment or before, and not before the gaps that are known already. */
static bool is_good_gap(const struct ts_space_builder *sb, uint64_t segment, uint64_t gap)
{
	const struct ts_inferred_list *s = &sb->space->inferred;

	return gap <= (segment + 1) * TS_SEGMENT_CHUNKS * TS_CHUNK_STEPS && gap >= sb->gap &&
	       (!s->n || s->items[s->n - 1].pos <= gap);
}

bool ts_space_load_state(struct ts_space_builder *sb, uint64_t segment, struct ts_index_arrays *a)
{
	struct ts_space *sp = sb->space;
	const struct ts_completion *completions;
	const struct saved_counts *counts;
	const struct ts_lost_word *lost;
	size_t n, n_lost;

	if (sb->is_failed || !load_base(sb, a))
		return false;
	completions = ts_index_take(a, sizeof(*completions), &n);
	if (!load_inferred(sb, a))
		return false;
	lost = ts_index_take(a, sizeof(*lost), &n_lost);
	counts = ts_index_take_n(a, sizeof(*counts), 1);
	if (!counts || !is_good_gap(sb, segment, counts->gap) || !load_lost(sb, lost, n_lost, counts->gap))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (completions[i].addr % TS_LINE_LEN || completions[i].mask > UINT16_MAX ||
		    !ts_space_complete(sb->space, (size_t)segment, &completions[i]))
			return false;
	}
	sp->n_inferred = counts->n_inferred;
	sp->n_unexplained = counts->n_unexplained;
	sb->gap = counts->gap;
	return true;
}

void ts_space_resume(struct ts_space_builder *sb, uint64_t chunk)
{
	sb->resumed = chunk;
	TS_SORT_BY(sb->lost, sb->n_lost, addr);
}
