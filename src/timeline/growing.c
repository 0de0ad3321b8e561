/* SPDX-License-Identifier: MIT */
/*
 * A timeline grows: it takes decoded chunks in.
 */
#include <inttypes.h>

#include "builder.h"
#include "src/calls/calls.h"
#include "timeline.h"

unsigned ts_timeline_permille(const struct ts_timeline *tl)
{
	const struct ts_source *src = tl->rec->source;
	uint64_t len = src ? ts_source_len(src) : 0, reached = src ? ts_source_reached(src) : 0;

	if (!tl->builder)
		return 1000;
	if (!len || reached >= len)
		return len ? 999 : 0;
	return (unsigned)((double)reached / (double)len * 1000);
}

/* ------------------------------------------------------------------------------------------------- stages */

/*
 * Reading pauses while notes are sorted, sealed, and saved.  The work of a stage may run on another thread; end_stage() is
 * called when that has ended.
 *
 * The functions that begin a stage return as ts_timeline_grow().
 */

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
static enum ts_next begin_packing(struct ts_timeline *tl, enum ts_stage stage, struct ts_error *err)
{
	if (!ts_runs_flush(&tl->builder->runs))
		return ts_builder_no_memory(tl, err);
	ts_feed_allow_lead(tl->builder->feed);
	begin_stage(tl, stage, pack);
	return TS_MORE;
}

/*
 * Sort the notes of the first segment so far, so that they can be queried.  If no client waits, end only the current
 * run, as sorting does too, so that the index is the same in both cases.
 */
static enum ts_next begin_copy(struct ts_timeline *tl, struct ts_error *err)
{
	if (!tl->is_read_whole)
		return begin_packing(tl, TS_STAGE_COPY, err);
	tl->builder->next_copy *= 2;
	return ts_runs_flush(&tl->builder->runs) ? TS_MORE : ts_builder_no_memory(tl, err);
}

static bool has_segment(const struct ts_builder *bd)
{
	return bd->n_chunks > bd->n_sealed * TS_SEGMENT_CHUNKS;
}

/* Of the notes so far, @is_copy: until more follow. */
static bool seal_segment(struct ts_timeline *tl, bool is_copy)
{
	struct ts_builder *bd = tl->builder;
	uint64_t segment = last_segment(bd);
	bool done = bd->is_done && ts_space_seal(&bd->regs, segment, is_copy) &&
		    ts_runs_seal(&bd->runs, bd->n_steps, is_copy);

	for (uint32_t i = 0; i < tl->n_memory && done; i++)
		done = ts_space_seal(bd->memory[i], segment, is_copy);
	done = done && (tl->is_read_whole || ts_builder_seal_optional(tl, segment, is_copy));
	if (is_copy)
		bd->next_copy *= 2;
	else if (done)
		bd->n_sealed = segment + 1;
	return done;
}

/* To the index file, if there is one that can still be written; else all stays in memory. */
static void save(struct ts_timeline *tl, bool is_last)
{
	if (tl->file && tl->file_error.code == TS_OK && !ts_builder_save(tl, is_last, &tl->file_error))
		ts_buf_fini(&tl->builder->journal);
}

/* Nothing is left to do. */
static enum ts_next end_build(struct ts_timeline *tl)
{
	tl->damage = tl->builder->damage;
	tl->has_end = !tl->builder->end.is_absent;
	ts_builder_free(tl);
	return TS_END;
}

/*
 * All that was read is sealed: to the file with it, unless the reason why the recording ends is none of the
 * trace's own: another time there may be more.
 */
static enum ts_next keep(struct ts_timeline *tl)
{
	bool is_final = tl->builder->damage.code != TS_EIO && !tl->builder->is_at_limit;

	if (is_final)
		save(tl, true);
	ts_builder_publish(tl);
	if (!is_final || !tl->file || tl->file_error.code != TS_OK)
		return end_build(tl);
	begin_stage(tl, TS_STAGE_SYNC, sync_file);
	return TS_MORE;
}

/* End the stage, whose work is done. */
static enum ts_next end_stage(struct ts_timeline *tl, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	enum ts_stage stage = bd->stage;

	bd->stage = TS_STAGE_READ;
	switch (stage) {
	case TS_STAGE_READ:
		break;
	case TS_STAGE_COPY:
		if (!seal_segment(tl, true))
			return ts_builder_no_memory(tl, err);
		ts_builder_publish(tl);
		break;
	case TS_STAGE_SEGMENT:
		if (!seal_segment(tl, false))
			return ts_builder_no_memory(tl, err);
		save(tl, false);
		ts_builder_publish(tl);
		ts_builder_let_give(tl);
		break;
	case TS_STAGE_LAST:
		return seal_segment(tl, false) ? keep(tl) : ts_builder_no_memory(tl, err);
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
	return TS_MORE;
}

bool ts_timeline_waits(const struct ts_timeline *tl)
{
	return tl->builder && ts_feed_is_slow(tl->builder->feed);
}

uint64_t ts_timeline_n_read(const struct ts_timeline *tl)
{
	return tl->builder ? tl->builder->n_steps : tl->n_steps;
}

/* The addresses that the steps executed, of a chunk that begins at position @pos. */
static bool note_runs(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *b)
{
	const struct ts_step *s = b->steps, *end = s + b->n_steps;

	for (; (s = ts_runs_extend(&tl->builder->runs, s, end)) < end; s++) {
		if (!ts_runs_step(&tl->builder->runs, pos + (uint64_t)(s - b->steps),
				  ts_timeline_process(tl, s->thread), s->thread, s->pc, s->insn_len))
			return false;
	}
	return true;
}

static bool add_point(struct ts_timeline *tl)
{
	size_t segment = (size_t)(tl->builder->n_chunks / TS_SEGMENT_CHUNKS);

	return ts_builder_room_for_points(tl, segment) &&
	       ts_points_add(&tl->points[segment], &tl->builder->packer, &tl->builder->here);
}

/* The chunk's steps were taken in. */
static bool end_chunk(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;
	bool done =
		ts_space_end_chunk(&bd->regs, bd->n_chunks) && !bd->world.is_failed && !bd->modes.is_failed;

	for (uint32_t i = 0; i < tl->n_memory && done; i++)
		done = ts_space_end_chunk(bd->memory[i], bd->n_chunks);
	bd->n_chunks++;
	return done;
}

/* Add a chunk, of at least one step.  Returns false if memory is exhausted. */
static bool take_in_chunk(struct ts_timeline *tl, struct ts_batch *batch)
{
	struct ts_builder *bd = tl->builder;
	const struct ts_steps *b = &batch->steps;
	const struct ts_step *last = &b->steps[b->n_steps - 1];
	struct ts_buf here = bd->here;

	if (!add_point(tl) || !ts_feed_run_pass(bd->feed) || !ts_builder_apply_steps(tl, bd->n_steps, b) ||
	    !note_runs(tl, bd->n_steps, b))
		return false;
	bd->n_steps += b->n_steps;
	bd->here = batch->after;
	batch->after = here;
	bd->fall_through = last->pc == TS_NO_PC
				   ? TS_NO_PC
				   : (last->pc + last->insn_len) & ts_arch_addr_mask(tl->rec->regs.arch);
	return end_chunk(tl);
}

#define CHUNKS_BETWEEN_LOOKS 64

/* Bytes of memory of the index that are in no file, about. */
static uint64_t memory_of(const struct ts_timeline *tl)
{
	uint64_t sum = ts_space_mem(&tl->builder->regs) + ts_world_mem(&tl->builder->world);

	for (uint32_t i = 0; i < tl->n_memory; i++)
		sum += ts_space_mem(tl->builder->memory[i]);
	for (size_t i = 0; i < tl->n_points; i++)
		sum += tl->points[i].file ? 0 : ts_points_mem(&tl->points[i]);
	return sum + ts_runs_own_mem(&tl->runs) + ts_calls_mem(tl->calls);
}

/* Spaces of memory that are examined in each chunk; of more, the look would take longer than the chunk. */
#define MAX_LOOKED_AT 16

/* What a few steps can make grow without a bound: new regions, and pages of registers (threads) and of memory. */
static uint64_t open_memory_of(const struct ts_timeline *tl)
{
	uint64_t sum = ts_space_open_mem(&tl->builder->regs) + ts_world_mem(&tl->builder->world);

	for (uint32_t i = 0; i < tl->n_memory && tl->n_memory <= MAX_LOOKED_AT; i++)
		sum += ts_space_open_mem(tl->builder->memory[i]);
	return sum;
}

/*
 * Has the index become larger than it may?  All of it is examined after 1, 2, 4, ... chunks, then now and then; what may grow
 * soon is examined in each chunk.
 */
static bool is_too_large(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;
	uint64_t open, sum;

	if (tl->max_memory == UINT64_MAX)
		return false;
	open = open_memory_of(tl);
	if (bd->n_chunks % CHUNKS_BETWEEN_LOOKS && (bd->n_chunks & (bd->n_chunks - 1)))
		return bd->settled_memory + open > tl->max_memory;
	sum = memory_of(tl);
	bd->settled_memory = sum > open ? sum - open : 0;
	return sum > tl->max_memory;
}

static void warn_of_long_reads(struct ts_timeline *tl)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < tl->n_memory; i++)
		n += tl->builder->memory[i]->n_left_out;
	if (n)
		ts_recording_warn(tl->rec,
				  "long reads of memory, %" PRIu64 " bytes of them, are more than the "
				  "trace's length allows: these bytes do not count as read",
				  n);
}

/* The recording has been read: what it says about its end. */
static enum ts_next end_reading(struct ts_timeline *tl, const struct ts_error *damage, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	const struct ts_end *end = &bd->end;

	if (!bd->n_steps) {
		if (damage->code == TS_OK)
			ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "it holds no executed instruction");
		else
			*err = *damage;
		return TS_FAIL;
	}
	bd->damage = *damage;
	bd->is_read = true;
	warn_of_long_reads(tl);
	tl->end_pc = end->has_pc ? end->pc : bd->fall_through;
	tl->is_end_assumed = !end->has_pc || end->is_assumed;
	tl->has_exit = end->has_exit;
	tl->is_fault = end->is_fault;
	return has_segment(bd) ? begin_packing(tl, TS_STAGE_LAST, err) : keep(tl);
}

/* Take in what was decoded, and see what is next. */
static enum ts_next take_in(struct ts_timeline *tl, struct ts_batch *b, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;

	bd->end = b->end;
	bd->is_at_limit = b->is_limited;
	if (b->next == TS_FAIL && b->err.code == TS_ENOMEM) {
		*err = b->err;
		return TS_FAIL;
	}
	if (b->steps.n_steps && !take_in_chunk(tl, b))
		return ts_builder_no_memory(tl, err);
	if (b->next != TS_FAIL &&
	    (!ts_image_check(&tl->rec->memory, &b->err) || !ts_image_check(tl->image, &b->err))) {
		b->next = TS_FAIL;
		ts_builder_stop_giving(tl);
	}
	if (b->next == TS_ITEM && is_too_large(tl)) {
		b->next = TS_FAIL;
		ts_builder_stop_giving(tl);
		bd->is_at_limit = true;
		ts_fail(&b->err, TS_ELIMIT, TS_NO_OFF,
			"the index needs more memory than the limit (%" PRIu64 " bytes)", tl->max_memory);
	}
	if (b->next != TS_ITEM)
		return end_reading(tl, &b->err, err);
	if (bd->n_chunks % TS_SEGMENT_CHUNKS == 0)
		return begin_packing(tl, TS_STAGE_SEGMENT, err);
	return bd->n_chunks == bd->next_copy ? begin_copy(tl, err) : TS_MORE;
}

static enum ts_next grow(struct ts_timeline *tl, uint64_t n_steps, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	enum ts_next grown = bd ? TS_MORE : TS_END;
	uint64_t start = ts_timeline_n_read(tl);

	if (bd && !bd->is_begun)
		ts_builder_begin_giving(tl);
	while (grown == TS_MORE && (bd->stage != TS_STAGE_READ || bd->n_steps - start < n_steps)) {
		struct ts_batch *b;

		if (bd->stage != TS_STAGE_READ) {
			if (bd->is_aside && !ts_task_wait(&bd->task))
				return TS_MORE;
			grown = end_stage(tl, err);
			continue;
		}
		b = ts_feed_next(bd->feed);
		if (!b)
			return TS_MORE;
		grown = take_in(tl, b, err);
	}
	return grown;
}

/* What could be asked about can be still, up to the last position whose pc is known. */
static void end_early(struct ts_timeline *tl, struct ts_error *err)
{
	tl->damage = *err;
	ts_error_reset(err);
	tl->has_exit = tl->is_fault = false; /* that is said of the trace's end */
	ts_builder_free(tl);
}

enum ts_next ts_timeline_grow(struct ts_timeline *tl, uint64_t n_steps, struct ts_error *err)
{
	enum ts_next grown = grow(tl, n_steps, err);

	if (grown != TS_FAIL || !tl->n_steps || !tl->builder)
		return grown;
	end_early(tl, err);
	return TS_END;
}
