/* SPDX-License-Identifier: MIT */
/*
 * Groups of lines as steps.
 *
 * A group of a grammar with steps is a step: registers that it lists as before are read, others are written.  The
 * next group's line shows whether code that is not listed ran between the two.
 *
 * A group of a grammar with states is a position.  Step k is what changed from state k to the thread's next state;
 * accesses that a state lists are those of the thread's instruction before it.  Where another thread's state comes
 * next, a thread's change is told just before its own next state: nobody can see it before.
 *
 * A decode point is the offset of the line that begins the next group, where modules are, and of states the
 * position and the registers of all threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fill.h"
#include "lines.h"
#include "loaders/kit/point.h"
#include "loaders/kit/program.h"
#include "loaders/kit/threads.h"
#include "log.h"

struct reader {
	struct ts_reader base;
	struct grammar_log *log; /* borrowed */
	struct grammar_lines lines;
	struct grammar_fill fill;
	struct threads threads;
	struct grammar_files files;
	struct ts_steps nothing; /* a state that lists no registers */
	struct grammar_place at; /* of states: the position where the reader is */
	uint32_t thread;         /* of the last group */
	uint32_t part;           /* of states: its file */
	bool is_lost;            /* of states: a line after the last group was lost */
	struct grammar_module modules[GRAMMAR_MAX_MODULES];
	unsigned n_modules;
};

/* ------------------------------------------------------------------------------------------------ threads */

/* A thread is called as its tracer calls it, and as its file. */
static void name_thread(const struct grammar_log *log, const struct grammar_head *head, struct ts_thread *thread)
{
	const char *word = log->g.thread_word[0] ? log->g.thread_word : "thread";
	unsigned long long n = head->line.thread % GRAMMAR_PART_THREADS;

	if (log->parts.n > 1 && log->g.has_thread)
		snprintf(thread->name, sizeof(thread->name), "%.15s %.6s %llu", log->parts.names[head->part], word, n);
	else if (log->parts.n > 1)
		snprintf(thread->name, sizeof(thread->name), "%.31s", log->parts.names[head->part]);
	else if (log->g.has_thread)
		snprintf(thread->name, sizeof(thread->name), "%.15s %llu", word, (unsigned long long)head->line.thread);
}

/* The thread of a group: gdb wants ids above 0, text traces count from 0. */
static bool find_thread(struct reader *r, const struct grammar_head *head, uint32_t *thread, struct ts_error *err)
{
	struct ts_recording *rec = &r->log->base;
	uint64_t tid = head->line.has & HAS_THREAD ? head->line.thread : 0;
	uint32_t n = rec->n_threads;

	if (n && (!(head->line.has & HAS_THREAD) || (r->thread < n && rec->threads[r->thread].tid == tid + 1))) {
		*thread = r->thread;
		return true;
	}
	*thread = threads_find(&r->threads, rec, 0, 1, tid + 1, head->off, err);
	if (*thread == TS_NO_THREAD)
		return false;
	if (rec->n_threads > n)
		name_thread(r->log, head, &rec->threads[*thread]);
	r->thread = *thread;
	return true;
}

/* Returns false if memory is exhausted. */
static bool tell_thread(struct ts_steps *out, uint32_t thread)
{
	struct ts_effect *e = ts_steps_effect(out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = thread;
	return e != NULL;
}

/* ------------------------------------------------------------------------------------------------ modules */

#define MODULE_GRAIN UINT64_C(0x10000)

static uint64_t key_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash;
}

/* The module of this name, which is added, in place of the oldest if there are too many. */
static struct grammar_module *find_module(struct reader *r, uint64_t key)
{
	struct grammar_module *m = r->modules;

	for (; m < r->modules + r->n_modules; m++) {
		if (m->key == key)
			return m;
	}
	if (r->n_modules == GRAMMAR_MAX_MODULES) {
		memmove(r->modules, r->modules + 1, sizeof(*m) * (GRAMMAR_MAX_MODULES - 1));
		r->n_modules--;
	}
	m = &r->modules[r->n_modules++];
	*m = (struct grammar_module){ .key = key };
	return m;
}

/*
 * A step names its module and its offset there: a module of which that is not known yet appears.  How long it is
 * no line says; it reaches as far as its instructions, in steps of 64 KiB.
 */
static void tell_module(struct reader *r, const struct grammar_head *head, struct ts_steps *out)
{
	uint64_t base = head->line.pc - head->line.offset;
	uint64_t len = (head->line.offset / MODULE_GRAIN + 1) * MODULE_GRAIN;
	struct grammar_module *m;

	if (!head->module[0] || !(head->line.has & HAS_OFFSET) || head->line.offset > head->line.pc)
		return;
	m = find_module(r, key_of(head->module));
	if (m->base == base && m->len >= len)
		return;
	if (m->base == base && m->len > len)
		len = m->len;
	if (len - 1 > r->lines.matcher.mask - base)
		return;
	m->base = base;
	m->len = len;
	ts_steps_load(out, base, len, head->module, strlen(head->module));
}

/* --------------------------------------------------------------------------------------------------- steps */

static void tell_code(const struct grammar_line *line, bool is_expanded, struct ts_steps *out)
{
	struct ts_effect *e = NULL;

	if (line->n_code && !is_expanded && line->pc <= UINT64_MAX - line->n_code)
		e = ts_steps_value(out, TS_FX_READ, line->pc, line->code, line->n_code);
	if (e)
		e->is_hidden = true; /* no instruction asked for it */
}

/* What was there before the instruction, or what it did. */
static void tell_effects(const struct grammar_head *head, bool is_before, struct ts_steps *out)
{
	for (uint32_t i = 0; i < head->fx.n_effects; i++) {
		const struct ts_effect *e = &head->fx.effects[i];
		bool is_read = e->kind == TS_FX_REG_READ || e->kind == TS_FX_READ;

		if (is_read == is_before)
			grammar_append(out, &head->fx, e);
	}
}

/* The largest access of which no line and no code tells the size. */
#define MAX_SIZE 64u

/* An access of unknown size: its first byte is accessed, and those after it may have been written. */
static void tell_sizes(struct ts_steps *out, uint64_t mask)
{
	uint32_t n = out->n_effects;

	for (uint32_t i = out->n_closed; i < n; i++) {
		struct ts_effect *e = &out->effects[i];

		if ((e->kind != TS_FX_READ && e->kind != TS_FX_WRITE) || e->len)
			continue;
		e->len = 1;
		if (e->kind == TS_FX_WRITE && e->addr <= mask - MAX_SIZE)
			ts_steps_effect(out, TS_FX_FORGET, e->addr + 1, MAX_SIZE - 1);
	}
}

static void tell_event(struct ts_steps *out, enum ts_event_kind kind, const char *text)
{
	struct ts_event *ev = ts_steps_event(out, kind);

	if (ev)
		snprintf(ev->text, sizeof(ev->text), "%s", text);
}

/* After an instruction that entered the kernel, or before a line that it cannot lead to. */
static void tell_unseen(struct reader *r, const struct grammar_head *head, struct ts_steps *out)
{
	const struct grammar_head *ahead = r->lines.ahead;
	bool is_same = !(ahead->line.has & HAS_THREAD) || ahead->line.thread == head->line.thread;
	bool is_trap = head->line.says & GRAMMAR_TRAP || r->lines.has_event;
	bool is_call = head->insn.flow == GRAMMAR_FLOW_SYSCALL && !is_trap;
	/* where every instruction is listed, a call or a trap leads to its handler */
	bool is_away = r->log->g.is_complete && (is_call || is_trap) && ahead->is_there &&
		       ahead->line.pc == head->line.pc + head->insn.len;
	bool is_gap = r->lines.has_gap || is_away || (ahead->is_there && is_same && !is_trap &&
					   !(ahead->line.says & GRAMMAR_INTERRUPT) &&
					   !grammar_insn_leads(&head->insn, head->line.pc, ahead->line.pc));

	if (is_gap && r->log->g.is_complete && !is_away) { /* then something else than the instruction led there */
		tell_event(out, TS_EV_INTERRUPT, "trap");
		return;
	}
	if (is_gap)
		tell_event(out, TS_EV_GAP, "code that is not listed");
	if (is_gap || (is_call && !r->log->g.is_complete))
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	if (is_call && !is_gap && !r->log->g.is_complete && !r->log->g.has_all_changes)
		grammar_insn_return(&r->log->base.regs, &head->fx, out);
	if (is_gap)
		ts_steps_effect(out, TS_FX_REG_WRITE, 0, r->log->base.regs.g_len);
}

/* -------------------------------------------------------------------------------------------------- groups */

static enum ts_next next_step(struct reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct grammar_lines_place was;
	const struct grammar_head *head;
	enum ts_next next;
	uint32_t thread;

	grammar_lines_place(&r->lines, &was);
	next = grammar_lines_next(&r->lines, out, err);
	head = r->lines.group;
	if (next != TS_ITEM)
		return next;
	if (!find_thread(r, head, &thread, err)) {
		grammar_lines_go(&r->lines, &was);
		return TS_FAIL;
	}
	if (!grammar_fill_step(&r->fill, &r->files, r->lines.group, thread)) {
		grammar_lines_go(&r->lines, &was);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no step"), TS_FAIL;
	}
	tell_code(&head->line, head->insn.is_expanded, out);
	tell_effects(head, true, out);
	if (!(head->line.says & (GRAMMAR_NO_EFFECT | GRAMMAR_TRAP))) {
		tell_effects(head, false, out);
		if (!r->log->g.has_all_changes)
			grammar_insn_write(r->log->base.regs.arch, &head->insn, head->line.pc, &head->fx, out);
	}
	tell_sizes(out, r->lines.matcher.mask);
	if (head->line.says & GRAMMAR_TRAP || r->lines.has_event)
		tell_event(out, TS_EV_INTERRUPT, "exception");
	tell_unseen(r, head, out);
	if (r->lines.is_lost)
		ts_steps_effect(out, TS_FX_FORGET_REGS, 0, r->log->base.regs.g_len);
	if (r->lines.ahead->is_there)
		tell_module(r, r->lines.ahead, out);
	if (r->lines.ahead->is_there && r->lines.ahead->part != head->part)
		kit_program_forget(&r->log->base.memory, out);
	grammar_fill_keep(&r->fill, &r->files, thread, out);
	r->base.end = (struct ts_end){ .is_assumed = true };
	ts_steps_close(out, head->line.pc, head->insn.len, thread);
	return TS_ITEM;
}

/* -------------------------------------------------------------------------------------------------- states */

/*
 * Bytes that were fetched after the instruction: a read that overlaps a write of the same state shows what is there
 * afterwards.
 */
static void tell_fetched(struct ts_steps *out, uint32_t n)
{
	for (uint32_t i = n; i < out->n_effects; i++) {
		struct ts_effect *read = &out->effects[i];

		for (uint32_t k = n; k < out->n_effects && read->kind == TS_FX_READ && k < n + 64; k++) {
			const struct ts_effect *w = &out->effects[k];

			if (w->kind == TS_FX_WRITE && w->addr - read->addr < read->len)
				read->data = TS_NO_DATA;
			if (w->kind == TS_FX_WRITE && read->addr - w->addr < w->len)
				read->data = TS_NO_DATA;
		}
	}
}

/* Where blocks of instructions are listed, bytes are what is there now, and nobody's access. */
static void tell_access(struct ts_effect *e, bool is_hidden, bool is_blocks)
{
	e->is_hidden |= is_hidden;
	if (is_blocks && e->data != TS_NO_DATA)
		e->kind = TS_FX_WRITE;
}

/* What a state says of the instruction before it. */
static bool tell_state(struct reader *r, const struct grammar_head *head, uint32_t thread, bool is_hidden,
		       struct ts_steps *out)
{
	uint32_t n = out->n_effects;

	for (uint32_t i = 0; i < head->fx.n_effects; i++) {
		const struct ts_effect *e = &head->fx.effects[i];

		if (e->kind != TS_FX_READ && e->kind != TS_FX_WRITE)
			continue;
		grammar_append(out, &head->fx, e);
		if (!out->is_failed)
			tell_access(&out->effects[out->n_effects - 1], is_hidden, r->log->is_blocks);
	}
	tell_fetched(out, n);
	if (r->is_lost) {
		ts_steps_effect(out, TS_FX_FORGET_REGS, 0, r->log->base.regs.g_len);
		grammar_files_forget(&r->files);
	}
	r->is_lost = r->lines.is_lost;
	/* writers that leave out zeros write the program counter last; those that leave out what is unknown, first */
	return grammar_files_change(&r->files, &r->log->g, &r->log->base.regs, thread, head->is_unsure ? &r->nothing : &head->fx,
				    head->line.n_regs && head->line.n_before_pc == head->line.n_regs, out, is_hidden);
}

/* Is the group a state?  It has a program counter, and, where tags tell the threads, a thread. */
static bool is_state(const struct reader *r)
{
	const struct grammar_head *head = r->lines.group;

	return head->line.has & HAS_PC && (!r->log->has_tags || head->line.has & HAS_THREAD);
}

/* The state of the next group. */
static enum ts_next next_group(struct reader *r, struct ts_steps *out, uint32_t *thread, struct ts_error *err)
{
	struct grammar_lines_place was;
	enum ts_next next;

	grammar_lines_place(&r->lines, &was);
	do
		next = grammar_lines_next(&r->lines, out, err);
	while (next == TS_ITEM && !is_state(r));
	if (next != TS_ITEM || find_thread(r, r->lines.group, thread, err))
		return next;
	grammar_lines_go(&r->lines, &was);
	return TS_FAIL;
}

static uint16_t code_len(const struct ts_arch *arch)
{
	return arch->is_fixed_insn ? arch->min_insn_len : 0;
}

/* The state that was read. */
static struct grammar_place place_of(const struct reader *r, uint32_t thread)
{
	return (struct grammar_place){ .pc = r->lines.group->line.pc, .thread = thread, .is_there = true,
				       .has_event = r->lines.has_event, .has_gap = r->lines.has_gap };
}

static enum ts_next next_state(struct reader *r, struct ts_steps *out, struct ts_error *err)
{
	const struct grammar_place was = r->at;
	struct grammar_lines_place place;
	bool is_other;
	uint32_t thread;
	enum ts_next next;

	grammar_lines_place(&r->lines, &place);
	next = next_group(r, out, &thread, err);
	if (next == TS_END)
		r->base.end = (struct ts_end){ .pc = was.pc, .has_pc = true };
	if (next != TS_ITEM)
		return next;
	is_other = thread != was.thread;
	if (r->lines.group->part != r->part)
		kit_program_forget(&r->log->base.memory, out);
	r->part = r->lines.group->part;
	if (!grammar_fill_tell(&r->fill, &r->files, &was, is_other ? NULL : &r->lines.group->fx, out) || (is_other && !tell_thread(out, thread)) ||
	    !tell_state(r, r->lines.group, thread, is_other || r->log->is_blocks, out)) {
		grammar_lines_go(&r->lines, &place);
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no step"), TS_FAIL;
	}
	if (was.has_event)
		tell_event(out, TS_EV_INTERRUPT, "exception");
	if (was.has_gap)
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	tell_sizes(out, r->lines.matcher.mask);
	r->at = place_of(r, thread);
	r->base.end = (struct ts_end){ .pc = r->at.pc, .has_pc = true };
	ts_steps_close(out, was.pc, code_len(r->log->base.regs.arch), was.thread);
	return TS_ITEM;
}

/* ------------------------------------------------------------------------------------------------- reader */

static enum ts_next next(struct ts_reader *base, struct ts_steps *out, struct ts_error *err)
{
	struct reader *r = (struct reader *)base;

	return r->log->g.is_state ? next_state(r, out, err) : next_step(r, out, err);
}

static void save(const struct ts_reader *base, struct ts_buf *point)
{
	const struct reader *r = (const struct reader *)base;
	struct grammar_lines_place place;

	grammar_lines_place(&r->lines, &place);
	point_put(point, place.off);
	point_put(point, place.images_left);
	grammar_tags_save(&place.tags, point);
	point_put(point, r->thread);
	point_put(point, r->part);
	point_put(point, r->at.pc);
	point_put(point, r->at.thread);
	point_put(point, r->at.has_event);
	point_put(point, r->at.has_gap);
	point_put(point, r->is_lost);
	point_put(point, r->n_modules);
	for (unsigned i = 0; i < r->n_modules; i++) {
		point_put(point, r->modules[i].key);
		point_put(point, r->modules[i].base);
		point_put(point, r->modules[i].len);
	}
	grammar_files_save(&r->files, point);
	point_put_end(point, &r->base.end);
}

static bool resume(struct ts_reader *base, const uint8_t *bytes, size_t len, struct ts_error *err)
{
	struct reader *r = (struct reader *)base;
	struct point p = point_open(bytes, len, err);
	struct grammar_lines_place place = { .off = point_get_between(&p, r->log->first, ts_source_len(r->log->src)) };
	uint32_t last = r->log->base.n_threads - 1;

	place.images_left = point_get(&p, r->log->max_images);
	grammar_tags_resume(&place.tags, &p);
	r->thread = (uint32_t)point_get(&p, last);
	r->part = (uint32_t)point_get(&p, r->log->parts.n - 1);
	r->at.pc = point_get(&p, UINT64_MAX);
	r->at.thread = (uint32_t)point_get(&p, last);
	r->at.has_event = point_get_flag(&p);
	r->at.has_gap = point_get_flag(&p);
	r->is_lost = point_get_flag(&p);
	r->n_modules = (unsigned)point_get(&p, GRAMMAR_MAX_MODULES);
	for (unsigned i = 0; i < r->n_modules; i++) {
		r->modules[i].key = point_get(&p, UINT64_MAX);
		r->modules[i].base = point_get(&p, UINT64_MAX);
		r->modules[i].len = point_get(&p, UINT64_MAX);
	}
	if (!grammar_files_resume(&r->files, &p, last + 1))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no registers");
	point_get_end(&p, &r->base.end);
	if (!point_close(&p))
		return false;
	grammar_lines_go(&r->lines, &place);
	return true;
}

static void close_reader(struct ts_reader *base)
{
	struct reader *r = (struct reader *)base;

	grammar_lines_fini(&r->lines);
	grammar_files_fini(&r->files);
	grammar_fill_fini(&r->fill);
	threads_fini(&r->threads);
	free(r);
}

static struct reader *reader_at(struct grammar_log *log, uint64_t off, struct ts_error *err)
{
	static const struct ts_reader_ops ops = { .next = next, .save = save, .resume = resume, .close = close_reader };
	struct reader *r = calloc(1, sizeof(*r));

	if (!r) {
		ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no reader");
		return NULL;
	}
	r->base.ops = &ops;
	r->log = log;
	grammar_lines_init(&r->lines, log, off);
	grammar_files_init(&r->files, &log->base.regs);
	if (grammar_fill_init(&r->fill, log, err)) {
		r->lines.decoder = r->fill.decoder;
		return r;
	}
	close_reader(&r->base);
	return NULL;
}

struct ts_reader *grammar_reader_new(struct grammar_log *log, struct ts_error *err)
{
	struct reader *r = reader_at(log, log->first, err);

	if (!r)
		return NULL;
	r->at = log->start;
	r->lines.images_left = log->first_images;
	grammar_tags_copy(&r->lines.tags, &log->first_tags);
	memcpy(r->modules, log->modules, sizeof(r->modules));
	r->n_modules = log->n_modules;
	if (!log->g.is_state || grammar_files_copy(&r->files, &log->files))
		return &r->base;
	close_reader(&r->base);
	ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no reader");
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- beginning */

/* Position 0 of a grammar with steps is what comes before the first one. */
static bool start_steps(struct reader *r, struct ts_error *err)
{
	struct grammar_log *log = r->log;
	struct ts_steps *initial = &log->base.initial;
	enum ts_next next = grammar_lines_next(&r->lines, initial, err);
	uint32_t thread;

	if (next == TS_FAIL || (next == TS_ITEM && !find_thread(r, r->lines.group, &thread, err)))
		return false;
	if (next == TS_END)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "no line is an instruction");
	for (uint32_t i = 0; i < initial->n_effects; i++) /* nobody reads at position 0 */
		initial->effects[i].is_hidden |= initial->effects[i].kind == TS_FX_READ;
	tell_module(r, r->lines.group, initial);
	log->first = r->lines.group->off;
	return true;
}

/* That of a grammar with states is the first one. */
static bool start_states(struct reader *r, struct ts_error *err)
{
	struct grammar_log *log = r->log;
	struct grammar_lines_place place;
	enum ts_next next = next_group(r, &log->base.initial, &log->start.thread, err);

	if (next == TS_END)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "no line is a state with a program counter");
	if (next == TS_FAIL)
		return false;
	if (!tell_state(r, r->lines.group, log->start.thread, false, &log->base.initial))
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: no state at position 0");
	log->start = place_of(r, log->start.thread);
	grammar_lines_place(&r->lines, &place);
	log->first = place.off;
	grammar_tags_copy(&log->first_tags, &place.tags);
	log->files = r->files;
	r->files = (struct grammar_files){ 0 };
	return true;
}

bool grammar_read_start(struct grammar_log *log, struct ts_error *err)
{
	struct reader *r = reader_at(log, 0, err);
	bool done;

	if (!r)
		return false;
	done = log->g.is_state ? start_states(r, err) : start_steps(r, err);
	memcpy(log->modules, r->modules, sizeof(r->modules));
	log->n_modules = r->n_modules;
	log->first_images = r->lines.images_left;
	close_reader(&r->base);
	return done;
}
