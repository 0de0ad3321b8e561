/* SPDX-License-Identifier: MIT */
/*
 * A group of a grammar with states is a position.  Step k is what changed from state k to the thread's next state;
 * accesses that a state lists are those of the thread's instruction before it.
 *
 * If the next state is another thread's, the writes of the thread's last instruction are computed from its
 * code.  The registers that the thread's own next state lists are appended just before that state: the
 * registers of a thread that does not run are visible only to questions about that thread.
 */
#include <string.h>

#include "groups.h"
#include "loaders/kit/program.h"
#include "reader_parts.h"
#include "src/arch/traps.h"

/* Returns false if memory is exhausted. */
static bool tell_thread(struct ts_steps *out, uint32_t thread)
{
	struct ts_effect *e = ts_steps_effect(out, TS_FX_THREAD, 0, 0);

	if (e)
		e->item = thread;
	return e != NULL;
}

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

/* If other code ran, too, the bytes are the current contents of memory, not an access. */
static void tell_access(struct ts_effect *e, bool is_hidden, bool is_now)
{
	e->is_hidden |= is_hidden;
	if (is_now && e->data != TS_NO_DATA)
		e->kind = TS_FX_WRITE;
}

/*
 * The accesses of another thread's earlier instruction have been computed from its code.  The bytes on the
 * line are those of memory now, which other threads may have written since.  Bytes that belong to no access
 * say nothing about earlier positions.
 */
static void tell_later(struct ts_effect *e)
{
	if (e->kind == TS_FX_WRITE && e->data != TS_NO_DATA && !e->is_hidden)
		e->kind = TS_FX_READ;
}

/* Does the effect show code of the instruction at @at?  Such code is appended with the instruction. */
static bool is_own_code(const struct grammar_place *at, const struct ts_effect *e)
{
	return at->is_sight && e->kind == TS_FX_READ && e->is_hidden && e->addr - at->pc < at->n_code &&
	       e->len <= at->n_code - (e->addr - at->pc);
}

/* What a state, which is that of @at, shows of memory; @is_told, @is_now: as tell_state() has them. */
static void tell_memory(const struct grammar_head *head, const struct grammar_place *at, bool is_hidden, bool is_told, bool is_now,
			struct ts_steps *out)
{
	uint32_t n = out->n_effects;

	for (uint32_t i = 0; i < head->fx.n_effects; i++) {
		const struct ts_effect *e = &head->fx.effects[i];

		if ((e->kind != TS_FX_READ && e->kind != TS_FX_WRITE) || is_own_code(at, e))
			continue;
		grammar_append(out, &head->fx, e);
		if (!out->is_failed && is_told)
			tell_later(&out->effects[out->n_effects - 1]);
		if (!out->is_failed)
			tell_access(&out->effects[out->n_effects - 1], is_hidden || is_now, is_now);
	}
	if (!is_told)
		tell_fetched(out, n);
}

/*
 * What a state, which is that of @at, says of the instruction before it.  @is_told: by its code, too.  @is_now: other code
 * ran since then.  Returns false if memory is exhausted.
 */
static inline __attribute__((always_inline)) bool tell_state(struct grammar_reader *r, const struct grammar_place *at, bool is_hidden, bool is_told, bool is_now,
		       struct ts_steps *out)
{
	const struct grammar_head *head = r->lines.group;

	if (head->has_memory)
		tell_memory(head, at, is_hidden, is_told, is_now, out);
	if (r->is_lost) {
		ts_steps_effect(out, TS_FX_FORGET_REGS, 0, r->log->base.regs.g_len);
		grammar_files_forget(&r->files);
	}
	r->is_lost = r->lines.is_lost;
	/* writers that leave out zeros write the program counter last; those that leave out what is unknown, first */
	return grammar_files_change(&r->files, at->thread, head->is_unsure ? &r->nothing : &head->fx,
				    head->line.n_regs && head->line.n_before_pc == head->line.n_regs, out, is_hidden);
}

/* Is the group a state?  It has a program counter, and, where tags determine the threads, a thread. */
static bool is_state(const struct grammar_reader *r)
{
	const struct grammar_head *head = r->lines.group;

	return head->line.has & HAS_PC && (!r->log->has_tags || head->line.has & HAS_THREAD);
}

/* The next group that is a state.  The code that other groups show is reported. */
static inline __attribute__((always_inline)) enum ts_next next_group(struct grammar_reader *r, struct ts_steps *out, uint32_t *thread, struct ts_error *err)
{
	enum ts_next next;

	while ((next = grammar_lines_next(&r->lines, out, err)) == TS_ITEM && !is_state(r))
		grammar_append_code(&r->lines.group->fx, out);
	return next == TS_ITEM && !grammar_find_thread(r, r->lines.group, thread, err) ? TS_FAIL : next;
}

static uint16_t code_len(const struct ts_arch *arch)
{
	return arch->is_fixed_insn ? arch->min_insn_len : 0;
}

/* The instruction's bytes, if the state shows memory there, or lines before it show code, in one piece or several. */
static void take_code(const struct ts_steps *fx, struct grammar_place *at)
{
	for (uint32_t i = 0; i < fx->n_effects; i++) {
		const struct ts_effect *e = &fx->effects[i];
		bool is_sight = e->kind == TS_FX_READ;
		uint64_t from = is_sight && e->addr != at->pc ? at->n_code : 0, into = at->pc + from - e->addr, n = e->len - into;

		if ((e->kind != TS_FX_WRITE && !is_sight) || !e->is_hidden || e->data == TS_NO_DATA || into >= e->len)
			continue;
		if (n > GRAMMAR_MAX_CODE - from)
			n = GRAMMAR_MAX_CODE - from;
		memcpy(at->code + from, fx->data + e->data + into, n);
		at->n_code = (uint8_t)(from + n);
		at->is_sight = is_sight;
	}
}

static inline void copy_place(struct grammar_place *to, const struct grammar_place *from)
{
	memcpy(to, from, offsetof(struct grammar_place, code));
	if (from->n_code)
		memcpy(to->code, from->code, sizeof(to->code));
}

/* Code that lines show is there when its instruction begins, or, if it is the last one, after the one before it. */
static void tell_sight(const struct grammar_place *at, enum ts_effect_kind kind, struct ts_steps *out)
{
	struct ts_effect *e;

	if (!at->is_sight || !at->n_code)
		return;
	e = ts_steps_value(out, kind, at->pc, at->code, at->n_code);
	if (!e)
		return;
	e->is_hidden = true;
	e->is_inferred = kind == TS_FX_WRITE; /* the write itself is not in the trace */
}

/* The state that was read; of its code only what is known is set. */
static void take_place(const struct grammar_reader *r, uint32_t thread, struct grammar_place *at)
{
	at->pc = r->lines.group->line.pc;
	at->thread = thread;
	at->is_there = true;
	at->has_event = r->lines.has_event;
	at->has_gap = r->lines.has_gap;
	at->is_sight = false;
	at->n_code = 0;
	if (r->lines.group->has_memory)
		take_code(&r->lines.group->fx, at);
}

/*
 * Another thread's state comes next: what the thread that ran last did is not on that line.  It follows from the code, or from
 * the thread's next line, if that is not far away; else all memory is unknown.  *is_told is set to whether it is determined.
 * Returns false if the source cannot be read, or memory is exhausted.
 */
static bool tell_switch(struct grammar_reader *r, struct grammar_place at, struct ts_steps *out, bool *is_told, struct ts_error *err)
{
	const struct grammar_head *const ahead = r->lines.ahead;

	*is_told = false;
	if (!r->log->g.has_accesses || !at.is_there || r->log->is_blocks || r->log->parts.n > 1)
		return true;
	if (!at.n_code && !grammar_shown_find(&r->lines.shown, r->log->src, at.pc, at.code, &at.n_code, err))
		return false;
	if (!grammar_fill_switch(&r->fill, &r->files, &at, out, is_told))
		return ts_no_memory(err, "a step");
	if (!*is_told && ahead->is_there &&
	    !grammar_later_append(&r->later, r->log->base.threads[at.thread].tid - 1, ahead->off, out, is_told, err))
		return false;
	if (!*is_told)
		ts_steps_effect(out, TS_FX_FORGET, 0, ts_arch_addr_mask(r->log->base.regs.arch));
	return true;
}

/* Does the state show that its own address was read as a word, as an instruction does that returns? */
static bool has_return(const struct grammar_reader *r, uint64_t pc)
{
	const struct ts_steps *fx = &r->lines.group->fx;
	const struct ts_arch *arch = r->log->base.regs.arch;

	for (uint32_t i = 0; i < fx->n_effects; i++) {
		const struct ts_effect *e = &fx->effects[i];

		if (e->kind == TS_FX_READ && !e->is_hidden && e->data != TS_NO_DATA && e->len == arch->addr_bits / 8u &&
		    ts_arch_get(arch, fx->data + e->data, (size_t)e->len) == pc)
			return true;
	}
	return false;
}

/* No instruction is longer. */
#define MAX_INSN 15u

/*
 * *is_gap gets whether the instruction of the last state cannot have led to the next one: by its own code, where lines
 * before it show that; by the code of modules, which may have been written since, only where something returned to the
 * instruction after a call.
 *
 * Returns false if the source cannot be read.
 */
static bool find_gap(struct grammar_reader *r, bool is_other, bool *is_gap, struct ts_error *err)
{
	const struct grammar_place *was = &r->at, *is = &r->next;
	const struct ts_arch *arch = r->log->base.regs.arch;
	bool is_near = is->pc - was->pc - 1 < MAX_INSN;
	struct grammar_line line;
	struct grammar_insn insn;

	*is_gap = false;
	if (is_other || was->has_event || was->has_gap || r->log->is_blocks || !was->is_there || (!is_near && !was->n_code) ||
	    (is_near && !(r->lines.group->has_memory && has_return(r, is->pc))))
		return true;
	line = (struct grammar_line){ .pc = was->pc, .n_code = was->n_code };
	memcpy(line.code, was->code, was->n_code);
	if (!line.n_code && !grammar_shown_find(&r->lines.shown, r->log->src, line.pc, line.code, &line.n_code, err))
		return false;
	/* the instruction may be shorter than what is known there */
	line.is_head = r->log->family == GRAMMAR_X86;
	if (arch->is_fixed_insn && line.n_code > arch->min_insn_len)
		line.n_code = arch->min_insn_len;
	grammar_insn_look(arch, r->log->family, &r->log->map, &line, &insn);
	if (r->fill.decoder && r->log->family == GRAMMAR_X86)
		grammar_decoder_look(r->fill.decoder, &line, &insn);
	*is_gap = (!is_near || insn.flow == GRAMMAR_FLOW_CALL || insn.flow == GRAMMAR_FLOW_CALL_ANY) &&
		  !grammar_insn_leads(&insn, was->pc, is->pc);
	return true;
}

/* The register that holds the next address after x86_64's syscall. */
static bool has_next_in_rcx(const struct grammar_reader *r)
{
	const struct ts_regset *set = &r->log->base.regs;
	const struct ts_steps *fx = &r->lines.group->fx;
	const int rcx = ts_regset_find(set, "rcx");

	for (uint32_t i = 0; i < fx->n_effects && rcx >= 0; i++) {
		const struct ts_effect *e = &fx->effects[i];

		if (e->kind == TS_FX_REG_WRITE && e->addr == set->regs[rcx].off && e->len == 8 && e->data != TS_NO_DATA &&
		    ts_arch_get(set->arch, fx->data + e->data, 8) == r->next.pc)
			return true;
	}
	return false;
}

/*
 * *is_call gets whether the instruction of the last state was a system call, of which no line lists what the kernel wrote:
 * by its code, or, where that is not known, by rcx.  Returns false if the source cannot be read.
 */
static bool find_call(struct grammar_reader *r, bool *is_call, struct ts_error *err)
{
	const struct ts_arch *arch = r->log->base.regs.arch;
	const uint64_t len = r->next.pc - r->at.pc;
	uint8_t code[GRAMMAR_MAX_CODE], n = r->at.n_code;

	*is_call = false;
	if (len != (arch->min_insn_len == 4 ? 4 : 2) && !(arch->has_thumb && len == 4))
		return true;
	if (r->lines.group->has_memory || !r->log->g.has_accesses || !r->at.is_there || r->log->is_blocks)
		return true;
	if (n)
		memcpy(code, r->at.code, n);
	else if (!grammar_shown_find(&r->lines.shown, r->log->src, r->at.pc, code, &n, err))
		return false;
	*is_call = n ? ts_insn_trap(arch, len == 2, code, n) != TS_TRAP_NONE : has_next_in_rcx(r);
	return true;
}

/* From the last state to that of the group, which is of @thread.  Returns false and fills @err if that is not possible. */
static bool tell_step(struct grammar_reader *r, uint32_t thread, struct ts_steps *out, struct ts_error *err)
{
	const struct grammar_place *const was = &r->at;
	struct grammar_place *const is = &r->next;
	const struct grammar_head *const group = r->lines.group;
	const bool is_other = thread != was->thread;
	bool is_gap, is_call = false, is_told = false;

	if (group->part != r->part)
		kit_program_forget(&r->log->base.memory, out);
	r->part = group->part;
	take_place(r, thread, is);
	tell_sight(was, TS_FX_READ, out);
	if (!find_gap(r, is_other, &is_gap, err) || !(is_other ? tell_switch(r, *was, out, &is_told, err) : find_call(r, &is_call, err)))
		return false;
	if (!grammar_fill_append(&r->fill, &r->files, was, is_other ? NULL : &group->fx, out) || (is_other && !tell_thread(out, thread)) ||
	    !tell_state(r, is, is_other, is_told, is_gap || r->log->is_blocks, out))
		return ts_no_memory(err, "a step");
	if (was->has_event)
		grammar_append_event(out, TS_EV_INTERRUPT, "exception");
	if (is_gap)
		grammar_append_event(out, TS_EV_GAP, "code that is not listed");
	if (was->has_gap || is_gap || is_call)
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	if (group->has_memory)
		grammar_append_sizes(out, r->lines.matcher.mask);
	if (!r->lines.ahead->is_there)
		tell_sight(is, TS_FX_WRITE, out);
	r->base.end = (struct ts_end){ .pc = is->pc, .has_pc = true };
	ts_steps_close(out, was->pc, code_len(r->log->base.regs.arch), was->thread);
	copy_place(&r->at, is);
	return true;
}

enum ts_next grammar_next_state(struct grammar_reader *r, struct ts_steps *out, struct ts_error *err)
{
	struct grammar_lines_place place;
	uint32_t thread;
	enum ts_next next;

	grammar_lines_place(&r->lines, &place);
	next = next_group(r, out, &thread, err);
	if (next == TS_ITEM && !tell_step(r, thread, out, err))
		next = TS_FAIL;
	if (next == TS_FAIL)
		grammar_lines_go(&r->lines, &place);
	if (next == TS_END)
		r->base.end = (struct ts_end){ .pc = r->at.pc, .has_pc = true };
	return next;
}

/* That of a grammar with states is the first one. */
bool grammar_start_states(struct grammar_reader *r, struct ts_error *err)
{
	struct grammar_log *log = r->log;
	struct grammar_lines_place place;
	enum ts_next next;

	next = next_group(r, &log->base.initial, &log->start.thread, err);
	if (next == TS_END)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "no line is a state with a program counter");
	if (next == TS_FAIL)
		return false;
	take_place(r, log->start.thread, &log->start);
	if (!tell_state(r, &log->start, false, false, false, &log->base.initial))
		return ts_no_memory(err, "the state at position 0");
	grammar_lines_place(&r->lines, &place);
	log->first = place.off;
	log->first_done = place.done_until;
	grammar_tags_copy(&log->first_tags, &place.tags);
	log->files = r->files;
	r->files = (struct grammar_files){ 0 };
	return true;
}
