/* SPDX-License-Identifier: MIT */
/*
 * The groups of segments to an index file and back: they are made for the record of a group's last segment,
 * and used where they lie.
 */
#include <stdlib.h>

#include "src/timeline/builder.h"
#include "src/timeline/file/section.h"
#include "src/index/index_write.h"
#include "space_parts.h"

/* The record of the last segment of a group has one for each space and, as the last owner, for the runs. */
static uint32_t n_groups(const struct ts_timeline *tl)
{
	uint64_t n_segments = (tl->builder->n_chunks + TS_SEGMENT_CHUNKS - 1) / TS_SEGMENT_CHUNKS;

	return n_segments % TS_GROUP_SEGMENTS ? 0 : ts_builder_n_spaces(tl) + 1;
}

/* Set @part of segment @segment of the space. */
static const struct ts_lines *lines_of(const struct ts_space *sp, uint64_t segment, enum ts_space_part part)
{
	static const struct ts_lines none;
	const struct ts_space_segment *seg = &sp->segments[segment];

	if (segment >= sp->n_segments)
		return &none;
	switch (part) {
	case TS_SPACE_CHANGES: return &seg->versions.lines;
	case TS_SPACE_SILENT: return &seg->silent;
	case TS_SPACE_READS: break;
	}
	return &seg->reads;
}

static bool save_space_group(const struct ts_space *sp, uint64_t first, struct ts_index_file *f)
{
	const struct ts_lines *sets[TS_GROUP_SEGMENTS];
	struct ts_group g;

	for (unsigned part = 0; part < TS_SPACE_PARTS; part++) {
		for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++)
			sets[i] = lines_of(sp, first + i, part);
		if (!ts_group_make(&g, sets, TS_GROUP_SEGMENTS))
			return false;
		ts_group_save(&g, f);
		ts_group_fini(&g);
	}
	return true;
}

static bool save_run_group(const struct ts_runs *r, uint64_t first, struct ts_index_file *f)
{
	const struct ts_postings *sets[TS_GROUP_SEGMENTS];
	struct ts_run_group g;

	for (unsigned i = 0; i < TS_GROUP_SEGMENTS; i++)
		sets[i] = &r->segments[first + i].postings;
	if (!ts_run_group_make(&g, sets, TS_GROUP_SEGMENTS, r->n))
		return false;
	ts_run_group_save(&g, f);
	ts_run_group_fini(&g);
	return true;
}

static void save(const struct ts_section_at *at, struct ts_index_file *f)
{
	uint64_t first = at->segment + 1 - TS_GROUP_SEGMENTS;
	bool done = at->owner > at->tl->n_memory ? save_run_group(at->tl->builder->runs.runs, first, f)
						 : save_space_group(ts_builder_space(at->tl, at->owner)->space, first, f);

	if (!done)
		ts_index_fail(f);
}

static bool load(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	size_t group = (size_t)(at->segment / TS_GROUP_SEGMENTS);
	struct ts_timeline *tl = at->tl;
	struct ts_space_group g;

	if (at->owner > tl->n_memory) {
		struct ts_run_group runs;

		return ts_run_group_load(&runs, a) && ts_runs_set_group(tl->builder->runs.runs, group, &runs);
	}
	for (unsigned part = 0; part < TS_SPACE_PARTS; part++) {
		if (!ts_group_load(&g.parts[part], a))
			return false;
	}
	return ts_space_set_group(ts_builder_space(tl, at->owner)->space, group, &g);
}

const struct ts_section ts_groups_section = {
	.kind = TS_SECTION_KIND('G', 'R', 'U', 'P'),
	.n_owners = n_groups,
	.save = save,
	.load = load,
};
