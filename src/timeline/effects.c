/* SPDX-License-Identifier: MIT */
/*
 * The effects of steps, applied to the timeline that is being built.
 */
#include "builder.h"
#include "src/timeline/file/journal.h"

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
	if (data && e->is_hidden && (e->addr == t->pc || e->is_code))
		ts_space_see_code(t->memory, e->addr, data, e->len);
	else if (data)
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

/* The step is over in which any address space may have been written unseen. */
static __attribute__((noinline)) void apply_gap(struct ts_timeline *tl, uint64_t pos)
{
	for (uint32_t i = 0; i < tl->n_memory; i++)
		ts_space_gap(tl->builder->memory[i], pos);
}

static void apply_event(struct ts_timeline *tl, const struct ts_target *t, const struct ts_event *ev)
{
	uint64_t step = t->pos ? t->pos - 1 : 0;

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
	if (e->kind == TS_FX_EVENT)
		return ts_journal_has_event(b->events[e->item].kind);
	return e->kind != TS_FX_THREAD && e->kind != TS_FX_UNSEEN;
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
	case TS_FX_UNSEEN:
		t->is_unseen = true;
		break;
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

bool ts_builder_apply_initial(struct ts_timeline *tl)
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

	if (thread != bd->last_thread)
		ts_builder_run(tl, pos, thread);
	return ts_builder_aim(tl, &bd->target, thread);
}

bool ts_builder_apply_steps(struct ts_timeline *tl, uint64_t pos, const struct ts_steps *b)
{
	const struct ts_step *end = b->steps + b->n_steps;
	const struct ts_effect *e = b->effects + b->steps[0].first;
	struct ts_target *t = &tl->builder->target;

	for (const struct ts_step *s = b->steps; s < end; s++, pos++) {
		if ((s->thread != t->thread || s->thread != tl->builder->last_thread) &&
		    !begin_turn(tl, pos, s->thread))
			return false;
		t->pos = pos + 1;
		t->pc = s->pc;
		for (const struct ts_effect *e_end = e + s->n_effects; e < e_end; e++) {
			if (!apply(tl, t, false, b, e))
				return false;
		}
		if (__builtin_expect(t->is_unseen, 0)) {
			t->is_unseen = false;
			apply_gap(tl, t->pos);
		}
	}
	return true;
}
