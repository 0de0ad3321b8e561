/* SPDX-License-Identifier: MIT */
/*
 * A group of a grammar with steps is a step: registers that it lists as before are read, others are written.  The
 * next group's line shows whether code that is not listed ran between the two.
 */
#include <string.h>

#include "groups.h"
#include "loaders/kit/program.h"
#include "reader_parts.h"

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
static struct grammar_module *find_module(struct grammar_reader *r, uint64_t key)
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
static void tell_module(struct grammar_reader *r, const struct grammar_head *head, struct ts_steps *out)
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

/* Append the effects that are before the instruction, or those of the instruction. */
static void tell_effects(const struct grammar_head *head, bool is_before, struct ts_steps *out)
{
	for (uint32_t i = 0; i < head->fx.n_effects; i++) {
		const struct ts_effect *e = &head->fx.effects[i];
		bool is_read = e->kind == TS_FX_REG_READ || e->kind == TS_FX_READ;

		if (is_read == is_before)
			grammar_append(out, &head->fx, e);
	}
}

/* After an instruction that entered the kernel, or before a line that it cannot lead to. */
static void tell_unseen(struct grammar_reader *r, const struct grammar_head *head, struct ts_steps *out)
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
		grammar_append_event(out, TS_EV_INTERRUPT, "trap");
		return;
	}
	if (is_gap)
		grammar_append_event(out, TS_EV_GAP, "code that is not listed");
	if (is_gap || (is_call && !r->log->g.is_complete))
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	if (is_call && !is_gap && !r->log->g.is_complete && !r->log->g.has_all_changes)
		grammar_insn_return(&r->log->base.regs, &head->fx, out);
	if (is_gap)
		ts_steps_effect(out, TS_FX_REG_WRITE, 0, r->log->base.regs.g_len);
}

/* -------------------------------------------------------------------------------------------------- groups */

/* The step that the group is.  Returns false and fills @err if that is not possible. */
static bool tell_step(struct grammar_reader *r, struct grammar_head *head, struct ts_steps *out, struct ts_error *err)
{
	const struct grammar_head *const ahead = r->lines.ahead;
	uint32_t thread;

	if (!grammar_find_thread(r, head, &thread, err))
		return false;
	if (!grammar_fill_step(&r->fill, &r->files, head, thread))
		return ts_no_memory(err, "a step");
	tell_code(&head->line, head->insn.is_expanded, out);
	tell_effects(head, true, out);
	if (!(head->line.says & (GRAMMAR_NO_EFFECT | GRAMMAR_TRAP))) {
		tell_effects(head, false, out);
		if ((head->insn.link || head->insn.base) && !r->log->g.has_all_changes)
			grammar_insn_write(r->log->base.regs.arch, &head->insn, head->line.pc, &head->fx, out);
	}
	if (head->has_memory)
		grammar_append_sizes(out, r->lines.matcher.mask);
	if (head->line.says & GRAMMAR_TRAP || r->lines.has_event)
		grammar_append_event(out, TS_EV_INTERRUPT, "exception");
	tell_unseen(r, head, out);
	if (r->lines.is_lost)
		ts_steps_effect(out, TS_FX_FORGET_REGS, 0, r->log->base.regs.g_len);
	if (ahead->is_there && ahead->module[0])
		tell_module(r, ahead, out);
	if (ahead->is_there && ahead->part != head->part)
		kit_program_forget(&r->log->base.memory, out);
	grammar_fill_keep(&r->fill, &r->files, thread, out);
	r->base.end = (struct ts_end){ .is_assumed = true };
	ts_steps_close(out, head->line.pc, head->insn.len, thread);
	return true;
}

enum ts_next grammar_next_step(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct grammar_lines_place place;
	enum ts_next next;

	grammar_lines_place(&r->lines, &place);
	next = grammar_lines_next(&r->lines, out, err);
	if (next == TS_ITEM && !tell_step(r, r->lines.group, out, err))
		next = TS_FAIL;
	if (next == TS_FAIL)
		grammar_lines_go(&r->lines, &place);
	return next;
}

/* Position 0 of a grammar with steps is what comes before the first one. */
bool grammar_start_steps(struct grammar_reader *r, struct ts_error *err)
{
	struct grammar_log *log = r->log;
	struct ts_steps *initial = &log->base.initial;
	enum ts_next next = grammar_lines_next(&r->lines, initial, err);
	uint32_t thread;

	if (next == TS_FAIL || (next == TS_ITEM && !grammar_find_thread(r, r->lines.group, &thread, err)))
		return false;
	if (next == TS_END)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "no line is an instruction");
	for (uint32_t i = 0; i < initial->n_effects; i++) /* nothing is read at position 0 */
		initial->effects[i].is_hidden |= initial->effects[i].kind == TS_FX_READ;
	tell_module(r, r->lines.group, initial);
	log->first = r->lines.group->begin;
	log->first_done = r->lines.group->off;
	return true;
}
