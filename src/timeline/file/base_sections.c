/* SPDX-License-Identifier: MIT */
/*
 * The sections that each index file has: decode points, runs, the journal, spaces, and modes of the processor.
 */
#include "src/timeline/builder.h"
#include "journal.h"
#include "section.h"
#include "src/timeline/space/space_parts.h"
#include "src/base/cursor.h"
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
	ts_turns_save(&at->tl->world.turns, at->segment * TS_SEGMENT_CHUNKS * TS_CHUNK_STEPS, at->tl->builder->n_steps, f);
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

/* The turns of a segment, as they are applied. */
struct turn_reader {
	const struct ts_turn_piece *piece;
	size_t n_read; /* blocks */
	struct ts_turn_columns block; /* the last one of them */
	uint32_t at;   /* its next turn */
	uint64_t pos;  /* where that begins */
};

/* Have a next turn.  Returns false if the blocks are damaged. */
static bool see_turn(struct turn_reader *r)
{
	if (r->at < r->block.n || r->n_read == r->piece->n)
		return true;
	if (!ts_turns_columns(r->piece, r->n_read++, &r->block))
		return false;
	r->at = 0;
	r->pos = r->block.pos;
	return true;
}

/* Apply the turns that begin below @pos.  Returns false if one contradicts those before it. */
static bool run_turns(struct ts_timeline *tl, struct turn_reader *r, uint64_t pos)
{
	const struct ts_turns *so_far = &tl->world.turns;
	uint32_t thread;

	while (see_turn(r)) {
		if (r->at == r->block.n || r->pos >= pos)
			return true;
		thread = ts_turn_thread(&r->block, r->at);
		/* turns begin with the first step, and none is empty */
		if (thread >= tl->rec->n_threads || r->pos >= r->block.end ||
		    (ts_turns_are_empty(so_far) ? r->pos : r->pos <= so_far->last_pos))
			return false;
		ts_builder_run(tl, r->pos, thread);
		if (tl->builder->world.is_failed)
			return false;
		if (r->at + 1 < r->block.n && !ts_add(r->pos, ts_turn_len(&r->block, r->at), &r->pos))
			return false;
		r->at++;
	}
	return false;
}

static bool load_note(struct ts_timeline *tl, const struct ts_note *note, struct ts_steps *batch)
{
	struct ts_target target = { .pos = note->pos };
	struct ts_builder *bd = tl->builder;

	if (note->thread >= tl->rec->n_threads || note->pos < bd->last_note || note->pos > bd->n_steps)
		return false;
	bd->last_note = note->pos;
	return note->pos && ts_builder_aim(tl, &target, note->thread) &&
	       ts_builder_apply(tl, &target, batch, batch->effects);
}

/* The turns and notes of a segment, in the order of positions: a turn that begins at a step comes before the step's notes. */
static bool load_notes(struct ts_timeline *tl, const struct ts_turn_piece *piece, const uint8_t *p, size_t len)
{
	struct turn_reader turns = { .piece = piece };
	bool done = ts_index_blocks_use(piece->file, p, len);
	struct ts_steps batch;
	struct ts_note note;

	ts_steps_init(&batch);
	while (done && len)
		done = ts_journal_next(&p, &len, &note, &batch) && run_turns(tl, &turns, note.pos) &&
		       load_note(tl, &note, &batch);
	done = done && run_turns(tl, &turns, UINT64_MAX);
	ts_steps_fini(&batch);
	return done && !tl->builder->world.is_failed;
}

static bool load_journal(const struct ts_section_at *at, struct ts_index_arrays *a)
{
	struct ts_timeline *tl = at->tl;
	struct ts_turn_piece piece;
	size_t len;
	const uint8_t *p = ts_index_take_unread(a, 1, &len);

	if (!p || !ts_turns_take(&piece, a, tl->builder->n_steps))
		return false;
	if (tl->builder->has_world && !at->is_in_memory && !ts_turns_use(&tl->world.turns, &piece))
		return false;
	return (at->is_in_memory || tl->builder->has_world || load_notes(tl, &piece, p, len)) && load_events(tl, a);
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
