/* SPDX-License-Identifier: MIT */
/*
 * The sections that each index file has: decode points, runs, the journal, spaces, and modes of the processor.
 */
#include "builder.h"
#include "journal.h"
#include "section.h"
#include "space_parts.h"
#include "src/index/index_blocks.h"
#include "src/index/index_write.h"

static void save_space(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_file *f)
{
	ts_space_save(ts_builder_space(tl, owner), segment, f);
}

/* How many chunks segment @segment, the last so far, has. */
static uint32_t n_chunks_of(const struct ts_timeline *tl, uint64_t segment)
{
	return (uint32_t)(tl->builder->n_chunks - segment * TS_SEGMENT_CHUNKS);
}

static bool load_space(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	struct ts_space_builder *sb = ts_builder_space(tl, owner);

	return ts_space_load_segment(sb, segment, a, n_chunks_of(tl, segment)) &&
	       ts_space_load_state(sb, segment, a);
}

static bool map_space(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	return ts_space_load_segment(ts_builder_space(tl, owner), segment, a, n_chunks_of(tl, segment));
}

static void save_points(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_file *f)
{
	(void)owner;
	ts_points_save(&tl->points[segment], f);
}

static bool map_points(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	(void)owner;
	return ts_points_load(&tl->points[segment], a);
}

static bool load_points(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	return ts_builder_room_for_points(tl, (size_t)segment) && map_points(tl, segment, owner, a) &&
	       tl->points[segment].n == n_chunks_of(tl, segment);
}

static void save_runs(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_file *f)
{
	(void)segment;
	(void)owner;
	ts_runs_save(&tl->builder->runs, f);
}

static bool load_runs(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	(void)segment;
	(void)owner;
	return ts_runs_load(&tl->builder->runs, a, tl->builder->n_steps);
}

static bool map_runs(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	(void)segment;
	(void)owner;
	return ts_runs_load_sealed(&tl->builder->runs, a);
}

static void save_journal(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_file *f)
{
	(void)segment;
	(void)owner;
	ts_index_put_packed(f, tl->builder->journal.data, tl->builder->journal.len / TS_JOURNAL_ITEM, TS_JOURNAL_ITEM);
	ts_buf_reset(&tl->builder->journal);
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		if (!ts_journal_has_event(kind))
			ts_event_list_save(&tl->world.events[kind], f);
	}
}

/* The events that are not in the journal, as arrays that follow it. */
static bool load_events(struct ts_timeline *tl, struct ts_index_arrays *a)
{
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		if (!ts_journal_has_event(kind) &&
		    !ts_event_list_load(&tl->world.events[kind], a, tl->builder->n_steps, tl->rec->n_threads))
			return false;
	}
	return true;
}

static bool map_journal(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	size_t len;

	(void)segment;
	(void)owner;
	ts_index_take_unread(a, 1, &len);
	return load_events(tl, a);
}

static bool load_note(struct ts_timeline *tl, const struct ts_note *note, struct ts_steps *batch)
{
	struct ts_target target = { .pos = note->pos };
	struct ts_builder *bd = tl->builder;

	if (note->thread >= tl->rec->n_threads || note->pos < bd->last_note || note->pos > bd->n_steps)
		return false;
	bd->last_note = note->pos;
	if (note->kind == TS_FX_THREAD) {
		const struct ts_world *w = &tl->world;

		/* stretches begin with the first step and none is empty */
		if (note->pos == bd->n_steps ||
		    (w->n_slices ? note->pos <= w->slices[w->n_slices - 1].pos : note->pos))
			return false;
		ts_builder_run(tl, note->pos, note->thread);
		return true;
	}
	return note->pos && ts_builder_aim(tl, &target, note->thread) &&
	       ts_builder_apply(tl, &target, batch, batch->effects);
}

static bool load_journal(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	struct ts_steps batch;
	struct ts_note note;
	size_t len;
	const uint8_t *p = ts_index_take_unread(a, 1, &len);
	bool done = p != NULL;

	(void)segment;
	(void)owner;
	if (tl->builder->has_world)
		return done && load_events(tl, a);
	done = done && ts_index_blocks_use(a->blocks, p, len);
	ts_steps_init(&batch);
	while (done && len)
		done = ts_journal_next(&p, &len, &note, &batch) && load_note(tl, &note, &batch);
	ts_steps_fini(&batch);
	return done && !tl->builder->world.is_failed && load_events(tl, a);
}

static uint32_t n_modes(const struct ts_timeline *tl)
{
	return tl->rec->is_physical;
}

static void save_modes(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_file *f)
{
	(void)segment;
	(void)owner;
	ts_modes_save(&tl->builder->modes, f);
}

static bool load_modes(struct ts_timeline *tl, uint64_t segment, uint32_t owner, struct ts_index_arrays *a)
{
	(void)segment;
	(void)owner;
	return ts_modes_load(&tl->builder->modes, a, tl->builder->n_steps);
}

const struct ts_section ts_points_section = {
	.kind = TS_SECTION_KIND('P', 'N', 'T', 'S'),
	.save = save_points,
	.load = load_points,
	.map = map_points,
};

const struct ts_section ts_runs_section = {
	.kind = TS_SECTION_KIND('R', 'U', 'N', 'S'),
	.save = save_runs,
	.load = load_runs,
	.map = map_runs,
};

const struct ts_section ts_journal_section = {
	.kind = TS_SECTION_KIND('J', 'R', 'N', 'L'),
	.save = save_journal,
	.load = load_journal,
	.map = map_journal,
};

const struct ts_section ts_space_section = {
	.kind = TS_SECTION_KIND('S', 'P', 'C', 'E'),
	.n_owners = ts_builder_n_spaces,
	.save = save_space,
	.load = load_space,
	.map = map_space,
};

const struct ts_section ts_mode_section = {
	.kind = TS_SECTION_KIND('M', 'O', 'D', 'E'),
	.n_owners = n_modes,
	.save = save_modes,
	.load = load_modes,
};
