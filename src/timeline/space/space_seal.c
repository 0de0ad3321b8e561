/* SPDX-License-Identifier: MIT */
/*
 * The end of a chunk and of a segment: what was noted of a space becomes versions of lines and sorted touches.
 */
#include <stdlib.h>
#include <string.h>

#include "space_builder.h"
#include "space_parts.h"
#include "space_search.h"
#include "src/base/collections/vec.h"

/* The earlier contents of unknown bytes are not in an index file, so that a continued one could not have it. */
static void clear_unknown(struct ts_version *v)
{
	unsigned known = v->known & (unsigned)~v->lost;

	for (unsigned i = 0; i < TS_LINE_LEN; i++)
		v->data[i] &= (uint8_t)-(known >> i & 1);
}

static bool note_version(struct ts_space_builder *sb, const struct ts_page *pg, unsigned line, uint16_t chunk,
			 uint16_t changed)
{
	struct ts_version v;

	v.known = ts_page_line_bits(pg->known, line);
	v.lost = pg->holes ? ts_page_line_bits(pg->holes->bits, line) : 0;
	v.known |= v.lost & ts_page_line_bits(pg->marks->lost, line);
	v.changed = changed;
	memcpy(v.data, pg->data + line * TS_LINE_LEN, TS_LINE_LEN);
	if (v.known != UINT16_MAX || v.lost)
		clear_unknown(&v);
	return ts_changes_add(&sb->changes, pg->id, (uint8_t)line, chunk, &v,
			      pg->holes ? &pg->holes->chain[line] : NULL);
}

/* The four lines of a word of marks. */
static bool note_writes(struct ts_space_builder *sb, const struct ts_page *pg, unsigned word, uint16_t chunk)
{
	uint64_t changed = pg->marks->changed[word], written = pg->marks->written[word];

	for (unsigned line = word * 4; written; line++, changed >>= 16, written >>= 16) {
		uint16_t silent = (uint16_t)(written & ~changed);

		if (silent && (uint16_t)changed) {
			silent &= (uint16_t)~ts_space_parts(sb->space,
							    pg->page << TS_PAGE_BITS | line << TS_LINE_BITS,
							    (uint16_t)changed);
			sb->space->n_divided += silent != 0;
		}
		if ((uint16_t)changed && !note_version(sb, pg, line, chunk, (uint16_t)changed))
			return false;
		if (silent && !ts_touches_add(&sb->silent, pg->id, (uint8_t)line, chunk, silent))
			return false;
	}
	return true;
}

static bool note_reads(struct ts_space_builder *sb, const struct ts_page *pg, unsigned word, uint16_t chunk)
{
	uint64_t read = pg->marks->read[word];

	for (unsigned line = word * 4; read; line++, read >>= 16) {
		if ((uint16_t)read &&
		    !ts_touches_add(&sb->reads, pg->id, (uint8_t)line, chunk, (uint16_t)read))
			return false;
	}
	return true;
}

/* Versions of the lines that the chunk changed, notes of those that it wrote or read; the marks go. */
static bool note_page(struct ts_space_builder *sb, struct ts_page *pg, uint16_t chunk)
{
	struct ts_marks *m = pg->marks;

	if (pg->is_stale && m->written_words && !ts_space_refresh(sb, pg))
		return false;
	for (; m->written_words; m->written_words &= m->written_words - 1) {
		unsigned word = (unsigned)__builtin_ctzll(m->written_words);

		if (!note_writes(sb, pg, word, chunk))
			return false;
		m->changed[word] = m->written[word] = m->lost[word] = 0;
	}
	for (; m->read_words; m->read_words &= m->read_words - 1) {
		unsigned word = (unsigned)__builtin_ctzll(m->read_words);

		if (!note_reads(sb, pg, word, chunk))
			return false;
		m->read[word] = 0;
	}
	pg->marks = NULL;
	return true;
}

bool ts_space_end_chunk(struct ts_space_builder *sb, uint64_t chunk)
{
	for (size_t i = 0; i < sb->n_touched && !sb->is_failed; i++)
		sb->is_failed = !note_page(sb, sb->touched[i].page, (uint16_t)(chunk % TS_SEGMENT_CHUNKS));
	sb->n_touched = 0;
	sb->long_left += TS_LONG_READS_MORE;
	sb->fresh_left += TS_FRESH_READS_MORE;
	sb->skipped_left += TS_SKIPPED_READS_MORE;
	return !sb->is_failed;
}

bool ts_space_room(struct ts_space_builder *sb, uint64_t segment)
{
	struct ts_space *sp = sb->space;
	size_t n = sb->cap_segments;

	if (segment < n)
		return true;
	if (!ts_vec_grow(&sp->segments, n, &sb->cap_segments, (size_t)segment + 1 - n, sizeof(*sp->segments)))
		return false;
	memset(sp->segments + n, 0, (sb->cap_segments - n) * sizeof(*sp->segments));
	return true;
}

/* The chains of lost bytes end with their segment. */
static void end_chains(struct ts_space_builder *sb)
{
	for (size_t i = 0; i < sb->changes.n_links; i++) {
		const struct ts_touch *t = &sb->changes.touches.items[sb->changes.links[i].item];

		sb->now.by_id[t->page]->holes->chain[t->line] = 0;
	}
}

bool ts_space_pack(struct ts_space_builder *sb, unsigned part)
{
	struct ts_space_segment *seg = &sb->packed;
	size_t n_pages = sb->now.n;
	uint64_t *page_addrs = malloc((n_pages ? n_pages : 1) * sizeof(*page_addrs));
	bool done = page_addrs;

	for (size_t i = 0; done && i < n_pages; i++)
		page_addrs[i] = sb->now.by_id[i]->page;
	if (done && part == TS_SPACE_CHANGES)
		done = ts_versions_seal(&seg->versions, &sb->changes, page_addrs, n_pages);
	else if (done && part == TS_SPACE_SILENT)
		done = ts_lines_seal(&seg->silent, &sb->silent, page_addrs, n_pages, NULL);
	else if (done)
		done = ts_lines_seal(&seg->reads, &sb->reads, page_addrs, n_pages, NULL);
	free(page_addrs);
	sb->is_packed[part] = done;
	return done;
}

/* The parts that no thread has packed yet. */
static bool pack_rest(struct ts_space_builder *sb)
{
	for (unsigned part = 0; part < TS_SPACE_PARTS; part++) {
		if (!sb->is_packed[part] && !ts_space_pack(sb, part))
			return false;
	}
	return true;
}

/* Turn the packed lines into a segment, in place of a copy if one exists. */
bool ts_space_seal(struct ts_space_builder *sb, uint64_t segment, bool is_copy)
{
	struct ts_space *sp = sb->space;

	if (!pack_rest(sb) || !ts_space_room(sb, segment))
		return false;
	ts_space_drop_segment(&sp->segments[segment]);
	sp->segments[segment] = sb->packed;
	sb->packed = (struct ts_space_segment){ 0 };
	memset(sb->is_packed, 0, sizeof(sb->is_packed));
	sp->n_segments = (size_t)segment + 1;
	if (is_copy)
		return true;
	end_chains(sb);
	ts_changes_reset(&sb->changes);
	sb->silent.n = sb->reads.n = 0;
	sb->n_sealed = sp->n_segments;
	return true;
}

uint64_t ts_space_open_mem(const struct ts_space_builder *sb)
{
	return (sb->now.n + sb->space->base.n) * sizeof(struct ts_page) +
	       sb->changes.touches.cap * (sizeof(struct ts_touch) + sizeof(struct ts_version)) +
	       (sb->silent.cap + sb->reads.cap) * sizeof(struct ts_touch) + sb->cap_touched * sizeof(struct ts_marks);
}

uint64_t ts_space_mem(const struct ts_space_builder *sb)
{
	const struct ts_space *sp = sb->space;
	uint64_t sum = ts_space_open_mem(sb);

	for (size_t i = 0; i < sp->n_segments; i++) {
		const struct ts_space_segment *seg = &sp->segments[i];

		if (!seg->versions.file)
			sum += ts_versions_mem(&seg->versions) + ts_lines_mem(&seg->silent) +
			       ts_lines_mem(&seg->reads);
	}
	return sum;
}

