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

/* How many chunks the segment, the last so far, has. */
static uint32_t n_chunks_of(const struct ts_section_at *at)
{
	return (uint32_t)(at->tl->builder->n_chunks - at->segment * TS_SEGMENT_CHUNKS);
}

static void save_space(const struct ts_section_at *at, struct ts_index_file *f)
{
	ts_space_save(ts_builder_space(at->tl, at->owner), at->segment, f);
}

static bool load_space(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	struct ts_space_builder *sb = ts_builder_space(at->tl, at->owner);

	return ts_space_load_segment(sb, at->segment, a, n_chunks_of(at)) &&
	       (at->is_in_memory || ts_space_load_state(sb, at->segment, a));
}

static void save_points(const struct ts_section_at *at, struct ts_index_file *f)
{
	ts_points_save(&at->tl->points[at->segment], f);
}

static bool load_points(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	struct ts_timeline *tl = at->tl;

	return (at->is_in_memory || ts_builder_room_for_points(tl, (size_t)at->segment)) &&
	       ts_points_load(&tl->points[at->segment], a) && tl->points[at->segment].n == n_chunks_of(at);
}

static void save_runs(const struct ts_section_at *at, struct ts_index_file *f)
{
	ts_runs_save(&at->tl->builder->runs, f);
}

static bool load_runs(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	struct ts_builder *bd = at->tl->builder;

	return at->is_in_memory ? ts_runs_load_sealed(&bd->runs, a) : ts_runs_load(&bd->runs, a, bd->n_steps);
}

static void save_journal(const struct ts_section_at *at, struct ts_index_file *f)
{
	struct ts_buf *notes = &at->tl->builder->journal;

	ts_index_put_packed(f, notes->data, notes->len / TS_JOURNAL_ITEM, TS_JOURNAL_ITEM);
	ts_buf_reset(notes);
	for (unsigned kind = 0; kind < TS_N_EVENT_KINDS; kind++) {
		if (!ts_journal_has_event(kind))
			ts_event_list_save(&at->tl->world.events[kind], f);
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

static bool load_notes(struct ts_timeline *tl, struct ts_index_arrays *a, const uint8_t *p, size_t len)
{
	struct ts_steps batch;
	struct ts_note note;
	bool done = ts_index_blocks_use(a->blocks, p, len);

	ts_steps_init(&batch);
	while (done && len)
		done = ts_journal_next(&p, &len, &note, &batch) && load_note(tl, &note, &batch);
	ts_steps_fini(&batch);
	return done && !tl->builder->world.is_failed;
}

static bool load_journal(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	size_t len;
	const uint8_t *p = ts_index_take_unread(a, 1, &len);

	return p && (at->is_in_memory || at->tl->builder->has_world || load_notes(at->tl, a, p, len)) &&
	       load_events(at->tl, a);
}

static uint32_t n_modes(const struct ts_timeline *tl)
{
	return tl->rec->is_physical;
}

static void save_modes(const struct ts_section_at *at, struct ts_index_file *f)
{
	ts_modes_save(&at->tl->builder->modes, f);
}

static bool load_modes(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	return ts_modes_load(&at->tl->builder->modes, a, at->tl->builder->n_steps);
}

const struct ts_section ts_points_section = {
	.kind = TS_SECTION_KIND('P', 'N', 'T', 'S'),
	.save = save_points,
	.load = load_points,
};

const struct ts_section ts_runs_section = {
	.kind = TS_SECTION_KIND('R', 'U', 'N', 'S'),
	.save = save_runs,
	.load = load_runs,
};

const struct ts_section ts_journal_section = {
	.kind = TS_SECTION_KIND('J', 'R', 'N', 'L'),
	.save = save_journal,
	.load = load_journal,
};

const struct ts_section ts_space_section = {
	.kind = TS_SECTION_KIND('S', 'P', 'C', 'E'),
	.n_owners = ts_builder_n_spaces,
	.save = save_space,
	.load = load_space,
};

const struct ts_section ts_mode_section = {
	.kind = TS_SECTION_KIND('M', 'O', 'D', 'E'),
	.n_owners = n_modes,
	.save = save_modes,
	.load = load_modes,
	.stays_in_memory = true,
};
