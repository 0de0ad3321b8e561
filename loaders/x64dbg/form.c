/* SPDX-License-Identifier: MIT */
#include "form.h"

void x64dbg_form_take(struct x64dbg_form *f, const uint8_t *p, const struct x64dbg_block *b,
		      const struct x64dbg_layout *l)
{
	unsigned len = X64DBG_BLOCK_HEAD + b->n_opcode + b->n_regs, pc_at = 0;

	if (b->has_tid || !b->has_pc || !b->is_strict || b->n_regs > X64DBG_FORM_SLOTS ||
	    len > X64DBG_MAX_FORM)
		return;
	while (b->slots[pc_at] != l->pc)
		pc_at++;
	*f = x64dbg_form_of(p, len);
	memcpy(f->slots, b->slots, sizeof(f->slots));
	f->len = (uint8_t)len;
	f->n_regs = b->n_regs;
	f->n_mem = b->n_mem;
	f->pc_at = (uint8_t)(len + pc_at * l->width);
	f->mem_at = (uint8_t)(len + b->n_regs * l->width);
	f->is_plain = true;
	for (unsigned i = 0; i < b->n_regs; i++) {
		const struct x64dbg_piece *piece = &l->pieces[b->slots[i]];

		f->is_plain &= !piece->more && !piece->is_x87;
		if (piece->mask && piece->is_told)
			f->told |= (uint8_t)(1u << i);
	}
}
