/* SPDX-License-Identifier: MIT */
/*
 * A streak of usual blocks, and the steps between them: the straight path for nearly all of a trace.
 *
 * A block is usual if it has a form of the instruction that came after the one before it when that was read
 * before, and if that instruction can follow.  It is read where it lies in the window: nothing is copied but
 * what becomes an effect.  Whatever else a block may be, the streak ends before it, and the reader goes on
 * block by block (reader.c), where the same blocks would give the same steps.
 *
 * While a streak is on, the window does not move and no instruction is decoded, so that pointers into both
 * stay.
 */
#include "reader_parts.h"

/* The form of a block of @insn at @p, NULL if none is found. */
static inline const struct x64dbg_form *form_at(const uint8_t *p, const struct x64dbg_insn *insn,
						const struct x64dbg_layout *l)
{
	const struct x64dbg_form *form = x64dbg_insn_form(insn, p);

	return form && x64dbg_word(p + form->pc_at, l) == insn->x.pc ? form : NULL;
}

static __attribute__((noinline)) const struct x64dbg_form *
other_form_at(const uint8_t *p, const struct x64dbg_insn *insn, const struct x64dbg_layout *l)
{
	return form_at(p, insn, l);
}

/* The block ahead is that of @insn at @p, which has the form. */
static inline void set_ahead(struct x64dbg_streak *k, const uint8_t *p, struct x64dbg_insn *insn,
			     const struct x64dbg_form *form)
{
	unsigned width = k->insns->layout->width;

	k->ahead_p = p;
	k->ahead = insn;
	k->form = form;
	p += form->mem_at;
	k->end = p + form->n_mem * (1 + 2 * width);
	for (unsigned i = 0; i < form->n_mem; i++)
		k->end += x64dbg_is_changed(p[i]) ? width : 0;
}

bool x64dbg_streak_begin(struct x64dbg_streak *k, const uint8_t *p, struct x64dbg_insn *insn)
{
	const struct x64dbg_form *form = form_at(p, insn, k->insns->layout);

	if (!form)
		return false;
	set_ahead(k, p, insn, form);
	k->has_memory = true;
	k->is_on = true;
	return true;
}

static inline void take_regs(struct x64dbg_streak *k, struct ts_steps *out)
{
	const struct x64dbg_layout *l = k->insns->layout;
	const struct x64dbg_form *f = k->form;
	const uint8_t *values = k->ahead_p + f->len;

	if (f->is_plain && ts_steps_room(out, X64DBG_FORM_SLOTS, X64DBG_FORM_SLOTS * 8))
		x64dbg_regs_take_plain(k->regs, l, f->slots, f->told, values, k->ahead->x.pc, out);
	else
		x64dbg_regs_take(k->regs, l, f->slots, f->n_regs, values, out);
}

static inline void find_accesses(struct x64dbg_streak *k)
{
	const struct x64dbg_form *f = k->form;

	k->has_memory = f->n_mem || k->ahead->x.n_mem || k->ahead->x.is_scatter;
	if (!k->has_memory)
		return;
	k->my_slots.n_mem = f->n_mem;
	x64dbg_block_read_mem(&k->my_slots, k->ahead_p + f->mem_at, k->insns->layout);
	x64dbg_access_find(&k->my_accesses, &k->my_slots, k->ahead, k->insns, k->regs->g);
	k->accesses = &k->my_accesses;
	k->slots = &k->my_slots;
}

/*
 * The instruction that comes after @insn, whose block is at @p: one of those that came after it before; *form
 * gets the form of its block.  NULL if it is another one, or it cannot be.
 */
static inline struct x64dbg_insn *next_of(const struct x64dbg_insn *insn, const uint8_t *p,
					  const struct x64dbg_layout *l, const struct x64dbg_form **form)
{
	struct x64dbg_insn *next = insn->next;

	*form = next ? form_at(p, next, l) : NULL;
	if (__builtin_expect(!*form, 0)) {
		next = insn->other_next;
		*form = next ? other_form_at(p, next, l) : NULL;
	}
	return *form && x64dbg_insn_leads_to(insn, next->x.pc) ? next : NULL;
}

bool x64dbg_streak_step(struct x64dbg_streak *k, struct ts_steps *out)
{
	struct x64dbg_insn *cur = k->cur, *ahead = k->ahead, *next;
	const uint8_t *p = k->end;
	const struct x64dbg_form *form;

	if (p > k->last || ahead->x.count_len)
		return false;
	next = next_of(ahead, p, k->insns->layout, &form);
	if (!next)
		return false;
	__builtin_prefetch(next->next);
	__builtin_prefetch((const uint8_t *)next->next + X64DBG_INSN_ALIGN);
	if (cur->told != k->window)
		x64dbg_insn_append(cur, k->window, out);
	if (k->has_memory) {
		x64dbg_access_append_old(k->accesses, k->slots, out);
		x64dbg_access_append(k->accesses, k->slots, out);
	}
	take_regs(k, out);
	find_accesses(k);
	x64dbg_insn_append_unseen(cur, out);
	ts_steps_close(out, cur->x.pc, cur->len, k->thread);
	k->cur_p = k->ahead_p;
	k->cur = ahead;
	set_ahead(k, p, next, form);
	return true;
}
