/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#include "builder.h"
#include "backfill.h"
#include "journal.h"
#include "src/calls/calls.h"
#include "src/calls/tracker.h"


void ts_builder_free(struct ts_timeline *tl)
{
	struct ts_builder *bd = tl->builder;

	if (!bd)
		return;
	ts_task_fini(&bd->task);
	ts_feed_free(bd->feed);
	ts_buf_fini(&bd->here);
	ts_buf_fini(&bd->journal);
	ts_buf_fini(&bd->files);
	ts_world_builder_fini(&bd->world);
	ts_runs_builder_fini(&bd->runs);
	ts_space_builder_fini(&bd->regs);
	for (uint32_t i = 0; i < tl->n_memory; i++) {
		ts_space_builder_fini(bd->memory[i]);
		free(bd->memory[i]);
	}
	free(bd->memory);
	free(bd);
	tl->builder = NULL;
}

void ts_timeline_free(struct ts_timeline *tl)
{
	if (!tl)
		return;
	ts_builder_free(tl);
	ts_backfill_free(tl->backfill);
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_free(tl->memory[i]);
	free(tl->memory);
	ts_space_free(tl->regs);
	ts_runs_fini(&tl->runs);
	ts_world_fini(&tl->world);
	ts_modes_fini(&tl->modes);
	ts_calls_free(tl->calls);
	ts_call_tracker_free(tl->tracker);
	ts_digests_fini(&tl->digests);
	ts_sketches_free(tl->sketches);
	for (size_t i = 0; i < tl->n_points; i++)
		ts_points_fini(&tl->points[i]);
	free(tl->points);
	for (unsigned i = 0; i < TS_MAX_SECTIONS; i++)
		ts_index_close(tl->siblings[i]);
	ts_index_close(tl->file);
	free(tl);
}

static enum ts_grow no_memory(const struct ts_timeline *tl, struct ts_error *err)
{
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the index, after %" PRIu64 " steps",
		tl->builder->n_steps);
	return TS_GROW_FAILED;
}

/* Room for one more address space in both arrays.  Returns false if memory is exhausted. */
static bool room_for_memory(struct ts_timeline *tl)
{
	size_t n = (size_t)tl->n_memory + 1;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	struct ts_space **spaces = realloc(tl->memory, n * sizeof(*spaces));
	struct ts_space_builder **builders;

	if (!spaces)
		return false;
	tl->memory = spaces;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
	builders = realloc(tl->builder->memory, n * sizeof(*builders));
	if (!builders)
		return false;
	tl->builder->memory = builders;
	return true;
}

static bool add_memory(struct ts_timeline *tl)
{
	struct ts_space_builder *sb = room_for_memory(tl) ? malloc(sizeof(*sb)) : NULL;
	struct ts_space *sp = sb ? ts_space_new(&tl->rec->memory, tl->image, tl->n_memory) : NULL;

	if (!sp) {
		free(sb);
		return false;
	}
	ts_space_builder_init(sb, sp);
	ts_space_gap(sb, tl->builder->gap);
	tl->memory[tl->n_memory] = sp;
	tl->builder->memory[tl->n_memory++] = sb;
	return true;
}

struct ts_space_builder *ts_builder_memory(struct ts_timeline *tl, uint32_t process)
{
	while (tl->n_memory <= process) {
		if (!add_memory(tl))
			return NULL;
	}
	return tl->builder->memory[process];
}

/* ------------------------------------------------------------------------------------------------ effects */

bool ts_builder_aim(struct ts_timeline *tl, struct ts_target *t, uint32_t thread)
{
	t->thread = thread;
	t->process = ts_timeline_process(tl, thread);
	t->regs = thread * TS_REGS_STRIDE;
	t->memory = ts_builder_memory(tl, t->process);
	return t->memory != NULL;
}

/* A write to memory or registers; those of the initial state make position 0. */
static inline void apply_write(struct ts_space_builder *sb, bool is_initial, const struct ts_effect *e,
			       uint64_t addr, const uint8_t *data)
{
	if (!is_initial && data)
		ts_space_write(sb, addr, data, e->len);
	else if (!is_initial)
		ts_space_lose(sb, addr, e->len);
	else if (data)
		ts_space_initial(sb, addr, data, e->len);
	else
		ts_space_fill(sb, 0, addr, e->len, TS_FILL_UNKNOWN);
}

static inline void apply_reg(struct ts_timeline *tl, const struct ts_target *t, bool is_initial,
			     const struct ts_effect *e, const uint8_t *data)
{
	if (e->kind == TS_FX_REG_WRITE)
		apply_write(&tl->builder->regs, is_initial, e, t->regs + e->addr, data);
	else if (data)
		ts_space_see(&tl->builder->regs, t->regs + e->addr, data, e->len);
	if (__builtin_expect(tl->rec->is_physical, 0) && (data || e->kind == TS_FX_REG_WRITE))
		ts_modes_note(&tl->builder->modes, t->pos, e->addr, e->len, data);
}

static inline void apply_access(const struct ts_timeline *tl, const struct ts_target *t, bool is_initial,
				const struct ts_effect *e, const uint8_t *data)
{
	if (e->kind == TS_FX_WRITE) {
		apply_write(t->memory, is_initial, e, e->addr, data);
		return;
	}
	if (!e->is_hidden && !tl->has_no_reads)
		ts_space_note_read(t->memory, e->addr, e->len);
	if (data)
		ts_space_see(t->memory, e->addr, data, e->len);
}

bool ts_builder_use_file(struct ts_timeline *tl, const struct ts_named_file *file, const char *name)
{
	struct ts_error err = { 0 };

	if (tl->image && file->map)
		return ts_image_map(tl->image, file->map, file->addr, file->len, name, file->off, &err);
	if (tl->image)
		ts_image_open(tl->image, name); /* for its symbols */
	return true;
}

/* An effect names a file.  Those of the initial state are named each time when the recording is opened. */
static bool name_file(struct ts_timeline *tl, const struct ts_target *t, struct ts_named_file *file,
		      const char *name)
{
	if (!name)
		return true;
	file->name = ts_world_add_text(&tl->builder->world, name);
	if (t->pos)
		ts_buf_put(&tl->builder->files, file, sizeof(*file));
	return ts_builder_use_file(tl, file, name);
}

static bool apply_map(struct ts_timeline *tl, const struct ts_target *t, const struct ts_steps *b,
		      const struct ts_effect *e)
{
	const struct ts_map *m = &b->maps[e->item];
	struct ts_named_file file = { .addr = m->addr, .len = m->len, .off = m->file_off };

	if (m->fill == TS_FILL_UNKNOWN)
		file.map = ts_space_next_map(t->memory);
	ts_space_fill(t->memory, t->pos, m->addr, m->len, m->fill);
	ts_world_map(&tl->builder->world, t->pos, t->process, b, m);
	return name_file(tl, t, &file, ts_steps_text(b, m->file));
}

/* Unseen code ran: it may have written to any address space. */
static void apply_gap(struct ts_timeline *tl, uint64_t pos)
{
	tl->builder->gap = pos;
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_gap(tl->builder->memory[i], pos);
}

static void apply_event(struct ts_timeline *tl, const struct ts_target *t, const struct ts_event *ev)
{
	uint64_t step = t->pos ? t->pos - 1 : 0;

	if (ev->kind == TS_EV_GAP && tl->rec->is_kept_over_gaps)
		apply_gap(tl, t->pos);
	ts_world_event(&tl->builder->world, step, t->thread, ev);
	if (ev->kind == TS_EV_THREAD_END)
		ts_world_end_thread(&tl->builder->world, step, t->thread);
	for (uint32_t i = 0; ev->kind == TS_EV_EXIT && i < tl->rec->n_threads; i++) {
		if (ts_timeline_process(tl, i) == t->process)
			ts_world_end_thread(&tl->builder->world, step, i);
	}
}

static bool is_noted(const struct ts_steps *b, const struct ts_effect *e)
{
	return e->kind == TS_FX_EVENT ? ts_journal_has_event(b->events[e->item].kind) : e->kind != TS_FX_THREAD;
}

/* The effects that are neither values nor accesses: few. */
static bool apply_rare(struct ts_timeline *tl, struct ts_target *t, const struct ts_steps *b,
		       const struct ts_effect *e)
{
	if (tl->file && t->pos && is_noted(b, e))
		ts_journal_effect(&tl->builder->journal, t->pos, t->thread, b, e);
	switch (e->kind) {
	case TS_FX_MAP:
		return apply_map(tl, t, b, e);
	case TS_FX_UNMAP:
		ts_space_fill(t->memory, t->pos, e->addr, e->len, TS_FILL_UNKNOWN);
		ts_world_unmap(&tl->builder->world, t->pos, t->process, e->addr, e->len);
		break;
	case TS_FX_PROTECT:
		ts_world_protect(&tl->builder->world, t->pos, t->process, e->addr, e->len, e->item);
		break;
	case TS_FX_FORGET:
		ts_space_fill(t->memory, t->pos, e->addr, e->len, TS_FILL_UNKNOWN);
		break;
	case TS_FX_FORGET_REGS:
		ts_space_fill(&tl->builder->regs, t->pos, 0, UINT64_MAX, TS_FILL_UNKNOWN);
		break;
	case TS_FX_EVENT:
		apply_event(tl, t, &b->events[e->item]);
		break;
	case TS_FX_THREAD:
		return ts_builder_aim(tl, t, e->item);
	case TS_FX_LOAD:
		ts_world_load(&tl->builder->world, t->pos, t->process, b, &b->modules[e->item]);
		return name_file(tl, t, &(struct ts_named_file){ 0 },
				 ts_steps_text(b, b->modules[e->item].file));
	case TS_FX_UNLOAD:
		ts_world_unload(&tl->builder->world, t->pos, t->process, e->addr, e->len);
		break;
	case TS_FX_REG_WRITE:
	case TS_FX_REG_READ:
	case TS_FX_WRITE:
	case TS_FX_READ:
		break; /* apply() */
	}
	return true;
}

/* Apply an effect.  In line, and with @is_initial a constant, this is 5 % less of building. */
static inline __attribute__((always_inline)) bool apply(struct ts_timeline *tl, struct ts_target *t,
							bool is_initial, const struct ts_steps *b,
							const struct ts_effect *e)
{
	if (__builtin_expect(e->kind > TS_FX_READ, 0))
		return apply_rare(tl, t, b, e);
	if (e->kind <= TS_FX_REG_READ)
		apply_reg(tl, t, is_initial, e, ts_effect_data(b, e));
	else
		apply_access(tl, t, is_initial, e, ts_effect_data(b, e));
	return true;
}

bool ts_builder_apply(struct ts_timeline *tl, struct ts_target *t, const struct ts_steps *b,
		      const struct ts_effect *e)
{
	return apply(tl, t, !t->pos, b, e);
}

void ts_builder_run(struct ts_timeline *tl, uint64_t pos, uint32_t thread)
{
	ts_world_run(&tl->builder->world, pos, thread);
	tl->builder->last_thread = thread;
}

bool ts_builder_is_failed(const struct ts_timeline *tl)
{
	const struct ts_builder *bd = tl->builder;
	bool is_failed = bd->world.is_failed || bd->modes.is_failed || bd->regs.is_failed;

	for (uint32_t i = 0; i < tl->n_memory; i++)
		is_failed |= bd->memory[i]->is_failed;
	return is_failed;
}

static bool apply_initial(struct ts_timeline *tl)
{
	const struct ts_steps *b = &tl->rec->initial;
	struct ts_target t = { 0 };

	t.memory = ts_builder_memory(tl, 0); /* until there is a thread */
	if (!t.memory || (tl->rec->n_threads && !ts_builder_aim(tl, &t, 0)))
		return false;
	for (uint32_t i = 0; i < b->n_effects; i++) {
		if (!ts_builder_apply(tl, &t, b, &b->effects[i]))
			return false;
	}
	return !ts_builder_is_failed(tl);
}

/* From position @pos on @thread runs, and effects are its own.  Returns false if memory is exhausted. */
static bool begin_turn(struct ts_timeline *tl, uint64_t pos, uint32_t thread)
{
	struct ts_builder *bd = tl->builder;

	if (thread != bd->last_thread) {
		ts_builder_run(tl, pos, thread);
		if (tl->file)
			ts_journal_run(&bd->journal, pos, thread);
	}
	return ts_builder_aim(tl, &bd->target, thread);
}

/* What the steps of a chunk did; it begins at position @pos. */
static bool apply_steps(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *b)
{
	const struct ts_step *end = b->steps + b->n_steps;
	const struct ts_effect *e = b->effects + b->steps[0].first;
	struct ts_target *t = &tl->builder->target;

	for (const struct ts_step *s = b->steps; s < end; s++, pos++) {
		if ((s->thread != t->thread || s->thread != tl->builder->last_thread) &&
		    !begin_turn(tl, pos, s->thread))
			return false;
		t->pos = pos + 1;
		for (const struct ts_effect *e_end = e + s->n_effects; e < e_end; e++) {
			if (!apply(tl, t, false, b, e))
				return false;
		}
	}
	return true;
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

/* ------------------------------------------------------------------------------------ chunks and segments */

bool ts_builder_room_for_points(struct ts_timeline *tl, size_t segment)
{
	if (segment >= tl->cap_points) {
		size_t cap = tl->cap_points ? tl->cap_points * 2 : 8;
		struct ts_points *p = realloc(tl->points, cap * sizeof(*p));

		if (!p)
			return false;
		tl->points = p;
		tl->cap_points = cap;
	}
	while (tl->n_points <= segment)
		tl->points[tl->n_points++] = (struct ts_points){ 0 };
	return true;
}

static bool add_point(struct ts_timeline *tl)
{
	size_t segment = (size_t)(tl->builder->n_chunks / TS_SEGMENT_CHUNKS);

	return ts_builder_room_for_points(tl, segment) && ts_points_add(&tl->points[segment], &tl->builder->here);
}

void ts_builder_publish(struct ts_timeline *tl)
{
	tl->n_steps = tl->builder->n_steps;
	tl->n_chunks = tl->builder->n_chunks;
	tl->n_threads = tl->rec->n_threads;
	tl->n_processes = tl->rec->n_processes;
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

	if (!add_point(tl) || !ts_feed_look(bd->feed) || !apply_steps(tl, bd->n_steps, b) ||
	    !note_runs(tl, bd->n_steps, b))
		return false;
	bd->n_steps += b->n_steps;
	bd->here = batch->behind;
	batch->behind = here;
	bd->fall_through = last->pc == TS_NO_PC
				   ? TS_NO_PC
				   : (last->pc + last->insn_len) & ts_arch_addr_mask(tl->rec->regs.arch);
	return end_chunk(tl);
}

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

uint64_t ts_timeline_n_read(const struct ts_timeline *tl)
{
	return tl->builder ? tl->builder->n_steps : tl->n_steps;
}

bool ts_timeline_read_ahead(struct ts_timeline *tl, struct ts_recording *twin, struct ts_error *err)
{
	bool done = ts_feed_go_ahead(tl->builder->feed, twin, err);

	tl->builder->is_aside |= done;
	return done;
}

unsigned ts_timeline_n_twins(const struct ts_timeline *tl)
{
	return ts_feed_n_twins(tl->builder->feed, tl->n_jobs);
}

void ts_timeline_leave_reads_out(struct ts_timeline *tl)
{
	tl->has_no_reads = true;
	tl->rec->has_reads = false;
}

void ts_timeline_read_whole(struct ts_timeline *tl)
{
	tl->is_read_whole = true;
}

void ts_timeline_make_digests(struct ts_timeline *tl)
{
	tl->sections = ts_sections_digested;
}

#define CHUNKS_BETWEEN_LOOKS 64

/* Has the index become larger than it may? */
static bool is_too_large(const struct ts_timeline *tl)
{
	uint64_t sum = ts_space_mem(&tl->builder->regs);

	if (tl->max_memory == UINT64_MAX || tl->builder->n_chunks % CHUNKS_BETWEEN_LOOKS)
		return false;
	for (uint32_t i = 0; i < tl->n_memory; i++)
		sum += ts_space_mem(tl->builder->memory[i]);
	return sum > tl->max_memory;
}

/* ------------------------------------------------------------------------------------------------ stages */

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
		return no_memory(tl, err);
	ts_feed_let_far(tl->builder->feed);
	begin_stage(tl, stage, pack);
	return TS_GROW_MORE;
}

/*
 * Sort what there is of the first segment, for questions.  Where nobody asks yet this only ends the runs, as
 * sorting does: the index is the same, whether somebody waits for it or not.
 */
static enum ts_grow copy_or_pass(struct ts_timeline *tl, struct ts_error *err)
{
	if (!tl->is_read_whole)
		return begin_packing(tl, TS_STAGE_COPY, err);
	tl->builder->next_copy *= 2;
	return ts_runs_flush(&tl->builder->runs) ? TS_GROW_MORE : no_memory(tl, err);
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

/* The work of a stage is done. */
static enum ts_grow end_stage(struct ts_timeline *tl, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;
	enum ts_stage stage = bd->stage;

	bd->stage = TS_STAGE_READ;
	switch (stage) {
	case TS_STAGE_READ:
		break;
	case TS_STAGE_COPY:
		if (!copy_segment(tl))
			return no_memory(tl, err);
		ts_builder_publish(tl);
		break;
	case TS_STAGE_SEGMENT:
		if (!seal_segment(tl))
			return no_memory(tl, err);
		save(tl, false);
		ts_builder_publish(tl);
		ts_builder_let_give(tl);
		break;
	case TS_STAGE_LAST:
		return seal_segment(tl) ? keep(tl) : no_memory(tl, err);
	case TS_STAGE_SYNC:
		if (!bd->is_done && ts_index_take_refuge(tl->file)) {
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

/* The recording has been read: what it says about its end. */
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
	return has_segment(bd) ? begin_packing(tl, TS_STAGE_LAST, err) : keep(tl);
}

/* Take in what was decoded, and see what is next. */
static enum ts_grow take_in(struct ts_timeline *tl, struct ts_batch *b, struct ts_error *err)
{
	struct ts_builder *bd = tl->builder;

	bd->end = b->end;
	if (b->next == TS_FAIL && b->err.code == TS_ENOMEM) {
		*err = b->err;
		return TS_GROW_FAILED;
	}
	if (b->steps.n_steps && !take_in_chunk(tl, b))
		return no_memory(tl, err);
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
	return bd->n_chunks == bd->next_copy ? copy_or_pass(tl, err) : TS_GROW_MORE;
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
			grown = end_stage(tl, err);
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

/* The first segment can be asked about before it is complete: at this many chunks, then at double, ... */
#define FIRST_COPY 64

/*
 * The registers of all threads.  Each is a part of its line, so that the chunks that write it alone are
 * found.
 */
static struct ts_space *new_regs(const struct ts_regset *set)
{
	size_t n = set->g_len / TS_LINE_LEN + 1;
	uint16_t *starts = calloc(n, sizeof(*starts));
	struct ts_space *sp = starts ? ts_space_new(NULL, NULL, 0) : NULL;

	for (unsigned i = 0; starts && i < set->n_regs; i++)
		starts[set->regs[i].off / TS_LINE_LEN] |= (uint16_t)(1u << set->regs[i].off % TS_LINE_LEN);
	if (sp && !ts_space_divide(sp, TS_REGS_STRIDE, starts, n)) {
		ts_space_free(sp);
		sp = NULL;
	}
	free(starts);
	return sp;
}

struct ts_timeline *ts_timeline_new(struct ts_recording *rec, struct ts_image *image, struct ts_error *err)
{
	struct ts_timeline *tl = calloc(1, sizeof(*tl));
	struct ts_builder *bd = calloc(1, sizeof(*bd));

	if (!tl || !bd)
		goto out_of_memory;
	tl->rec = rec;
	tl->image = image;
	tl->builder = bd;
	tl->sections = ts_sections;
	for (unsigned i = 0; ts_sections[i]; i++)
		tl->lacks |= (uint32_t)ts_sections[i]->is_on_demand << i;
	ts_task_init(&bd->task);
	ts_buf_init(&bd->here);
	ts_buf_init(&bd->journal);
	ts_buf_init(&bd->files);
	bd->last_thread = bd->target.thread = TS_NO_THREAD;
	bd->next_copy = FIRST_COPY < TS_SEGMENT_CHUNKS ? FIRST_COPY : 1;
	tl->max_memory = UINT64_MAX;
	tl->n_jobs = 1;
	ts_error_reset(&tl->damage);
	ts_error_reset(&bd->damage);
	ts_error_reset(&tl->file_error);
	ts_world_init(&tl->world);
	ts_world_builder_init(&bd->world, &tl->world);
	ts_runs_builder_init(&bd->runs, &tl->runs);
	tl->regs = new_regs(&rec->regs);
	ts_space_builder_init(&bd->regs, tl->regs);
	if (!tl->regs || (rec->is_physical && !ts_modes_builder_init(&bd->modes, &tl->modes, &rec->regs)) ||
	    !apply_initial(tl))
		goto out_of_memory;
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_set_clean(bd->memory[i]);
	ts_space_set_clean(&bd->regs);
	if (rec->is_physical)
		ts_modes_set_clean(&bd->modes);
	bd->feed = ts_feed_new(rec, err);
	if (!bd->feed) {
		ts_timeline_free(tl);
		return NULL;
	}
	ts_feed_start(bd->feed, &bd->here);
	if (ts_buf_ok(&bd->here))
		return tl;

out_of_memory:
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "no memory for the index");
	if (tl && tl->builder)
		ts_timeline_free(tl);
	else {
		free(bd);
		free(tl);
	}
	return NULL;
}

void ts_timeline_stats(const struct ts_timeline *tl, struct ts_timeline_stats *stats)
{
	struct ts_space_stats s;

	ts_space_stats(tl->regs, &s);
	*stats = (struct ts_timeline_stats){
		.regs_len = s.index_len,
		.single_regs_len = s.n_divided * 2,
		.runs_len = ts_runs_mem(&tl->runs),
		.n_inferred = s.n_inferred,
		.n_unexplained = s.n_unexplained,
		.n_runs = tl->runs.n,
		.n_segments = tl->n_points,
	};
	for (size_t i = 0; i < tl->n_points; i++)
		stats->points_len += ts_points_mem(&tl->points[i]);
	for (uint32_t i = 0; i < tl->n_memory; i++) {
		ts_space_stats(tl->memory[i], &s);
		stats->memory_len += s.index_len;
		stats->reads_len += s.reads_len;
		stats->n_inferred += s.n_inferred;
		stats->n_unexplained += s.n_unexplained;
		stats->n_pages += s.n_pages;
	}
}
