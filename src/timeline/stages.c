/* SPDX-License-Identifier: MIT */
#include "stages.h"

#include "builder.h"

/* The segment of the chunk that was added last. */
static uint64_t last_segment(const struct ts_builder *bd)
{
	return (bd->n_chunks - 1) / TS_SEGMENT_CHUNKS;
}

/*
 * Piece @i of packing, the long ones first: the optional sections, the parts of memory, those of the
 * registers, the runs.  Queries may read the optional sections meanwhile, unless all is read first: only then
 * they are sealed here.
 */
static bool do_piece(struct ts_timeline *tl, uint32_t i)
{
	struct ts_builder *bd = tl->builder;
	uint32_t part = i - 1, space = part / TS_SPACE_PARTS;

	if (!i)
		return !tl->is_read_whole || ts_builder_seal_optional(tl, last_segment(bd), false);
	if (space > tl->n_memory)
		return ts_runs_pack(&bd->runs);
	return ts_space_pack(space < tl->n_memory ? bd->memory[space] : &bd->regs, part % TS_SPACE_PARTS);
}

static void pack_piece(void *user, uint32_t i)
{
	struct ts_timeline *tl = user;

	if (atomic_load(&tl->builder->is_done) && !do_piece(tl, i))
		atomic_store(&tl->builder->is_done, false);
}

/* The long part of sealing.  Queries may be asked meanwhile. */
static void pack(void *user)
{
	struct ts_timeline *tl = user;

	atomic_store(&tl->builder->is_done, true);
	ts_thread_each(tl->n_jobs, (tl->n_memory + 1) * TS_SPACE_PARTS + 2, pack_piece, tl);
}

static void sync_file(void *user)
{
	struct ts_timeline *tl = user;

	tl->builder->is_done = ts_index_publish(tl->file, &tl->builder->error);
}

static void begin_stage(struct ts_timeline *tl, enum ts_stage stage, void (*work)(void *tl))
{
	struct ts_builder *bd = tl->builder;

	bd->stage = stage;
	if (bd->is_aside)
		ts_task_start(&bd->task, work, tl);
	else
		work(tl);
}

/* Sort what was noted; @stage says what becomes of it. */
static enum ts_grow begin_packing(struct ts_timeline *tl, enum ts_stage stage, struct ts_error *err)
{
	if (!ts_runs_flush(&tl->builder->runs))
		return ts_builder_no_memory(tl, err);
	ts_feed_allow_lead(tl->builder->feed);
	begin_stage(tl, stage, pack);
	return TS_GROW_MORE;
}

enum ts_grow ts_stage_copy(struct ts_timeline *tl, struct ts_error *err)
{
	if (!tl->is_read_whole)
		return begin_packing(tl, TS_STAGE_COPY, err);
	tl->builder->next_copy *= 2;
	return ts_runs_flush(&tl->builder->runs) ? TS_GROW_MORE : ts_builder_no_memory(tl, err);
}

static bool has_segment(const struct ts_builder *bd)
{
	return bd->n_chunks > bd->n_sealed * TS_SEGMENT_CHUNKS;
}

static bool seal_segment(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;
	uint64_t segment = last_segment(bd);
	bool done = bd->is_done && ts_space_seal(&bd->regs, segment) && ts_runs_seal(&bd->runs, bd->n_steps);

	for (uint32_t i = 0; i < tl->n_memory && done; i++)
		done = ts_space_seal(bd->memory[i], segment);
	done = done && (tl->is_read_whole || ts_builder_seal_optional(tl, segment, false));
	if (done)
		bd->n_sealed = segment + 1;
	return done;
}

static bool copy_segment(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;
	uint64_t segment = last_segment(bd);
	bool done = bd->is_done && ts_space_seal_copy(&bd->regs, segment) && ts_runs_seal_copy(&bd->runs);

	for (uint32_t i = 0; i < tl->n_memory && done; i++)
		done = ts_space_seal_copy(bd->memory[i], segment);
	bd->next_copy *= 2;
	return done && ts_builder_seal_optional(tl, segment, true);
}

/* To the index file, if there is one that can still be written; else all stays in memory. */
static void save(struct ts_timeline *tl, bool is_last)
{
	if (tl->file && tl->file_error.code == TS_OK && !ts_builder_save(tl, is_last, &tl->file_error))
		ts_buf_fini(&tl->builder->journal);
}

/* Nothing is left to do. */
static enum ts_grow end_build(struct ts_timeline *tl)
{
	tl->damage = tl->builder->damage;
	tl->has_end = !tl->builder->end.is_absent;
	ts_builder_free(tl);
	return TS_GROW_DONE;
}

/*
 * All that was read is sealed: to the file with it, unless the reason why the recording ends is none of the
 * trace's own: another time there may be more.
 */
static enum ts_grow keep(struct ts_timeline *tl)
{
	bool is_final = tl->builder->damage.code != TS_EIO && !tl->builder->is_at_limit;

	if (is_final)
		save(tl, true);
	ts_builder_publish(tl);
	if (!is_final || !tl->file || tl->file_error.code != TS_OK)
		return end_build(tl);
	begin_stage(tl, TS_STAGE_SYNC, sync_file);
	return TS_GROW_MORE;
}

enum ts_grow ts_stage_end(struct ts_timeline *tl, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	enum ts_stage stage = bd->stage;

	bd->stage = TS_STAGE_READ;
	switch (stage) {
	case TS_STAGE_READ:
		break;
	case TS_STAGE_COPY:
		if (!copy_segment(tl))
			return ts_builder_no_memory(tl, err);
		ts_builder_publish(tl);
		break;
	case TS_STAGE_SEGMENT:
		if (!seal_segment(tl))
			return ts_builder_no_memory(tl, err);
		save(tl, false);
		ts_builder_publish(tl);
		ts_builder_let_give(tl);
		break;
	case TS_STAGE_LAST:
		return seal_segment(tl) ? keep(tl) : ts_builder_no_memory(tl, err);
	case TS_STAGE_SYNC:
		if (!bd->is_done && ts_index_use_fallback(tl->file)) {
			ts_error_reset(&bd->error);
			begin_stage(tl, TS_STAGE_SYNC, sync_file);
			break;
		}
		if (!bd->is_done)
			tl->file_error = bd->error;
		return end_build(tl);
	}
	return TS_GROW_MORE;
}

enum ts_grow ts_stage_segment(struct ts_timeline *tl, struct ts_error *err)
{
	return begin_packing(tl, TS_STAGE_SEGMENT, err);
}

enum ts_grow ts_stage_last(struct ts_timeline *tl, struct ts_error *err)
{
	return has_segment(tl->builder) ? begin_packing(tl, TS_STAGE_LAST, err) : keep(tl);
}
