/* SPDX-License-Identifier: MIT */
/*
 * Completes lines by their instructions.  If a line has the address of an access but not its value, the value
 * is computed from the registers.  If a log has registers only, the accesses are computed from the program's
 * code.
 */
#include "fill.h"

#include <string.h>

/* Can the instructions complete the lines?  In states, accesses already have their values. */
static bool is_decoded(const struct grammar_log *log)
{
	if (!ts_decoder_knows(log->base.regs.arch))
		return false;
	if (log->g.is_state)
		return log->g.has_accesses ? log->g.has_thread : log->base.memory.n_ranges;
	return log->g.has_accesses || log->family == GRAMMAR_X86;
}

bool grammar_fill_init(struct grammar_fill *f, const struct grammar_log *log, struct ts_error *err)
{
	*f = (struct grammar_fill){ .log = log };
	grammar_files_init(&f->scratch, &log->g, &log->base.regs);
	if (!is_decoded(log))
		return true;
	f->decoder = grammar_decoder_new(&log->base.regs, &log->base.memory, err);
	return f->decoder != NULL;
}

void grammar_fill_fini(struct grammar_fill *f)
{
	grammar_decoder_free(f->decoder);
	grammar_files_fini(&f->scratch);
}

static struct ts_op_state state_of(const struct grammar_fill *f, const struct grammar_file *file)
{
	const struct ts_regset *set = &f->log->base.regs;

	return (struct ts_op_state){ .arch = set->arch, .g = file->g, .known = file->known,
				     .flags_off = set->flags < 0 ? TS_NO_OFF16 : (uint16_t)set->regs[set->flags].off };
}

/* Is there an access whose value no line has? */
static bool lacks_values(const struct ts_steps *fx)
{
	for (uint32_t i = 0; i < fx->n_effects; i++) {
		const struct ts_effect *e = &fx->effects[i];

		if ((e->kind == TS_FX_READ || e->kind == TS_FX_WRITE) && e->data == TS_NO_DATA && !e->is_hidden)
			return true;
	}
	return false;
}

bool grammar_fill_step(struct grammar_fill *f, struct grammar_files *files, struct grammar_head *head, uint32_t thread)
{
	bool is_kept = f->log->g.has_all_changes;
	bool is_done = !(head->line.says & (GRAMMAR_NO_EFFECT | GRAMMAR_TRAP));
	const struct grammar_moves *moves = NULL;
	struct ts_steps *fx = &head->fx;
	struct grammar_file *file;
	struct ts_op_state state;

	if (!f->decoder || (!is_kept && !lacks_values(fx)))
		return true;
	if (!is_kept)
		grammar_files_forget(&f->scratch);
	file = is_kept ? grammar_files_get(files, thread) : grammar_files_get(&f->scratch, 0);
	if (!file)
		return false;
	state = state_of(f, file);
	grammar_file_note(file, fx, 0, fx->n_effects, TS_FX_REG_READ);
	if (is_done && lacks_values(fx))
		moves = grammar_decoder_moves(f->decoder, &head->line, &state);
	if (moves)
		grammar_moves_fill(moves, &state, TS_FX_WRITE, fx);
	if (moves && !is_kept)
		grammar_files_forget(&f->scratch);
	if (is_done)
		grammar_file_note(file, fx, 0, fx->n_effects, TS_FX_REG_WRITE);
	if (moves)
		grammar_moves_fill(moves, &state, TS_FX_READ, fx);
	return !fx->is_failed;
}

void grammar_fill_keep(struct grammar_fill *f, struct grammar_files *files, uint32_t thread, const struct ts_steps *out)
{
	if (!f->decoder || !f->log->g.has_all_changes)
		return;
	grammar_file_note(&files->files[thread], out, out->n_closed, out->n_effects, TS_FX_REG_WRITE);
	for (uint32_t i = out->n_closed; i < out->n_effects; i++) {
		if (out->effects[i].kind == TS_FX_FORGET_REGS)
			grammar_files_forget(files);
	}
}

bool grammar_fill_moves(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at,
			const struct ts_steps *next, struct ts_steps *out)
{
	const struct grammar_line line = { .pc = at->pc };
	const struct grammar_moves *moves;
	struct grammar_file *was = grammar_files_get(files, at->thread), *is = grammar_files_get(&f->scratch, 0);
	struct ts_op_state before, after;

	if (!was || !is)
		return false;
	before = state_of(f, was);
	after = state_of(f, is);
	/* an instruction that traps does not complete */
	moves = at->has_event ? NULL : grammar_decoder_moves(f->decoder, &line, &before);
	if (!moves) {
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
		return true;
	}
	grammar_files_forget(&f->scratch);
	if (next)
		grammar_file_note(is, next, 0, next->n_effects, TS_FX_REG_WRITE);
	grammar_moves_append(moves, &before, next ? &after : NULL, out);
	return true;
}

bool grammar_fill_switch(struct grammar_fill *f, struct grammar_files *files, const struct grammar_place *at, struct ts_steps *out,
			 bool *is_told)
{
	struct grammar_line line = { .pc = at->pc, .n_code = at->n_code };
	struct grammar_file *file = grammar_files_get(files, at->thread);
	const struct grammar_moves *moves = NULL;
	struct ts_op_state state;

	if (!file)
		return false;
	state = state_of(f, file);
	memcpy(line.code, at->code, at->n_code);
	if (f->decoder)
		moves = grammar_decoder_moves(f->decoder, &line, &state);
	*is_told = moves && (grammar_moves_append(moves, &state, NULL, out) || moves->is_syscall);
	return true;
}
