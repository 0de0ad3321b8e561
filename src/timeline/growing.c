/* SPDX-License-Identifier: MIT */
/*
 * A timeline grows: it takes decoded chunks in.
 */
#include <inttypes.h>

#include "builder.h"
#include "src/calls/calls.h"
#include "stages.h"

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

/* Spaces of memory that are looked at in each chunk; of more, the look would take longer than the chunk. */
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
 * Has the index become larger than it may?  All of it is looked at after 1, 2, 4, ... chunks, then now and then; what may grow
 * soon is looked at in each chunk.
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
static enum ts_grow end_reading(struct ts_timeline *tl, const struct ts_error *damage, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	const struct ts_end *end = &bd->end;

	if (!bd->n_steps) {
		if (damage->code == TS_OK)
			ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "it holds no executed instruction");
		else
			*err = *damage;
		return TS_GROW_FAILED;
	}
	bd->damage = *damage;
	bd->is_read = true;
	warn_of_long_reads(tl);
	tl->end_pc = end->has_pc ? end->pc : bd->fall_through;
	tl->is_end_assumed = !end->has_pc || end->is_assumed;
	tl->has_exit = end->has_exit;
	tl->is_fault = end->is_fault;
	return ts_stage_last(tl, err);
}

/* Take in what was decoded, and see what is next. */
static enum ts_grow take_in(struct ts_timeline *tl, struct ts_batch *b, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;

	bd->end = b->end;
	bd->is_at_limit = b->is_limited;
	if (b->next == TS_FAIL && b->err.code == TS_ENOMEM) {
		*err = b->err;
		return TS_GROW_FAILED;
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
		return ts_stage_segment(tl, err);
	return bd->n_chunks == bd->next_copy ? ts_stage_copy(tl, err) : TS_GROW_MORE;
}

static enum ts_grow grow(struct ts_timeline *tl, uint64_t n_steps, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	enum ts_grow grown = bd ? TS_GROW_MORE : TS_GROW_DONE;
	uint64_t start = ts_timeline_n_read(tl);

	if (bd && !bd->is_begun)
		ts_builder_begin_giving(tl);
	while (grown == TS_GROW_MORE && (bd->stage != TS_STAGE_READ || bd->n_steps - start < n_steps)) {
		struct ts_batch *b;

		if (bd->stage != TS_STAGE_READ) {
			if (bd->is_aside && !ts_task_wait(&bd->task))
				return TS_GROW_MORE;
			grown = ts_stage_end(tl, err);
			continue;
		}
		b = ts_feed_next(bd->feed);
		if (!b)
			return TS_GROW_MORE;
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

enum ts_grow ts_timeline_grow(struct ts_timeline *tl, uint64_t n_steps, struct ts_error *err)
{
	enum ts_grow grown = grow(tl, n_steps, err);

	if (grown != TS_GROW_FAILED || !tl->n_steps || !tl->builder)
		return grown;
	end_early(tl, err);
	return TS_GROW_DONE;
}
