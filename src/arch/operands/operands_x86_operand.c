/* SPDX-License-Identifier: MIT */
/* The operands of an instruction of x86, by Zydis: places of registers, addresses of memory, constants, flags. */
#include "operands_x86_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/x86_hint.h"

static bool set_gpr(struct ts_x86_work *w, struct ts_x86_operand *o, ZydisRegister reg)
{
	ZydisMachineMode mode = w->is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
	ZydisRegister largest = ZydisRegisterGetLargestEnclosing(mode, reg);
	ZyanI8 id = ZydisRegisterGetId(largest);
	uint16_t off;

	if (id < 0 || id >= (ZyanI8)TS_X86_N_GPRS || w->d->x86.gprs[id] == TS_X86_NO_REG)
		return false;
	off = w->d->x86.gprs[id];
	if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
		off++;
	o->size = (uint16_t)(ZydisRegisterGetWidth(mode, reg) / 8);
	if (!w->d->x86.is_64 && o->size > 4)
		o->size = 4;
	o->piece[o->n++] = ts_op_reg(off, o->size);
	return true;
}

static bool set_vector(struct ts_x86_work *w, struct ts_x86_operand *o, ZydisRegister reg)
{
	ZyanI8 id = ZydisRegisterGetId(reg);
	const struct ts_x86 *x = &w->d->x86;

	if (id < 0 || id >= (ZyanI8)TS_X86_N_XMMS || x->xmms[id] == TS_X86_NO_REG || o->size > 32)
		return false;
	o->piece[o->n++] = ts_op_reg(x->xmms[id], o->size < 16 ? o->size : 16);
	if (o->size > 16 && x->ymmhs[id] != TS_X86_NO_REG)
		o->piece[o->n++] = ts_op_reg(x->ymmhs[id], o->size - 16);
	return o->size <= 16 || o->n == 2;
}

static bool set_x87(struct ts_x86_work *w, struct ts_x86_operand *o, ZydisRegister reg)
{
	unsigned i = (unsigned)(reg - ZYDIS_REGISTER_ST0);

	if (i >= TS_N_X87 || w->d->st[i] == TS_NO_OFF16)
		return false;
	o->size = 10;
	o->piece[o->n++] = ts_op_reg(w->d->st[i], 10);
	return true;
}

static bool set_other(struct ts_x86_operand *o, uint16_t off, unsigned len)
{
	if (off == TS_NO_OFF16)
		return false;
	o->size = (uint16_t)len;
	o->piece[o->n++] = ts_op_reg(off, len);
	return true;
}

static bool set_register(struct ts_x86_work *w, struct ts_x86_operand *o, ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64: return set_gpr(w, o, reg);
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM: return set_vector(w, o, reg);
	case ZYDIS_REGCLASS_X87: return set_x87(w, o, reg);
	case ZYDIS_REGCLASS_SEGMENT: return set_other(o, w->d->x86.segments[ZydisRegisterGetId(reg)], 2);
	default: break;
	}
	if (reg == ZYDIS_REGISTER_MXCSR)
		return set_other(o, w->d->x86.mxcsr, 4);
	if (reg == ZYDIS_REGISTER_X87STATUS)
		return set_other(o, w->d->fstat, 2);
	return reg == ZYDIS_REGISTER_X87CONTROL && set_other(o, w->d->fctrl, 2);
}

uint16_t ts_x86_off_of(struct ts_x86_work *w, ZydisRegister reg, uint8_t *len)
{
	struct ts_x86_operand o = { 0 };

	*len = 0;
	if (reg == ZYDIS_REGISTER_NONE || !set_gpr(w, &o, reg))
		return TS_NO_OFF16;
	*len = (uint8_t)o.size;
	return o.piece[0].off;
}

static uint16_t segment_base(const struct ts_x86_work *w, ZydisRegister segment)
{
	return segment == ZYDIS_REGISTER_FS   ? w->d->x86.fs_base
	       : segment == ZYDIS_REGISTER_GS ? w->d->x86.gs_base
					      : TS_NO_OFF16;
}

/* Adjust the address of a memory operand where the instruction has a rule of its own. */
static void place_special(struct ts_x86_work *w, struct ts_op_mem *m, const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperand *second = w->insn.operand_count > 1 ? &w->raw[1] : NULL;
	bool is_stack = m->base == w->d->x86.gprs[TS_X86_SP];
	bool has_base = o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS;

	m->is_stack = is_stack && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	if (has_base && m->segment == TS_NO_OFF16) {
		m->special = TS_MEM_UNPLACED;
		return;
	}
	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && is_stack &&
	    o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
		m->special = TS_MEM_PUSHED;
		if (w->insn.mnemonic == ZYDIS_MNEMONIC_ENTER)
			m->size = (uint16_t)(m->size * ((w->raw[1].imm.value.u & 31) + 1));
	} else if (w->insn.meta.category == ZYDIS_CATEGORY_BITBYTE && second &&
		   second->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		m->special = TS_MEM_BIT;
		m->extra = ts_x86_off_of(w, second->reg.value, &m->extra_len);
	} else if (w->insn.mnemonic == ZYDIS_MNEMONIC_XLAT) {
		m->special = TS_MEM_TABLE;
		m->extra = w->d->x86.gprs[TS_X86_AX];
		m->extra_len = 1;
	} else if (w->insn.mnemonic == ZYDIS_MNEMONIC_POP && is_stack &&
		   o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT) {
		m->disp += m->size; /* the stack pointer has moved by then */
	}
}

/* The operand of a gather or a scatter: elements at the addresses that a vector gives. */
static void set_vector_index(struct ts_x86_work *w, struct ts_op_mem *m, ZydisRegister index)
{
	struct ts_x86_operand o = { .size = (uint16_t)(ZydisRegisterGetWidth(w->insn.machine_mode, index) / 8) };

	m->special = TS_MEM_UNPLACED;
	if (!set_vector(w, &o, index))
		return;
	m->index = o.piece[0].off;
	m->index_len = (uint8_t)o.piece[0].len;
	if (o.n > 1) {
		m->extra = o.piece[1].off;
		m->extra_len = (uint8_t)o.piece[1].len;
	}
}

static bool set_memory(struct ts_x86_work *w, struct ts_x86_operand *o, const ZydisDecodedOperand *raw)
{
	struct ts_op_mem *m = &w->ops->mem[w->ops->n_mem];

	bool is_vector = raw->mem.type == ZYDIS_MEMOP_TYPE_VSIB;

	if ((raw->mem.type != ZYDIS_MEMOP_TYPE_MEM && !is_vector) || w->ops->n_mem == TS_MAX_OP_MEM || !raw->size)
		return false;
	*m = (struct ts_op_mem){ .disp = raw->mem.disp.has_displacement ? raw->mem.disp.value : 0,
				 .base = TS_NO_OFF16,
				 .index = TS_NO_OFF16,
				 .segment = segment_base(w, raw->mem.segment),
				 .extra = TS_NO_OFF16,
				 .size = (uint16_t)(raw->size / 8),
				 .scale = raw->mem.scale };
	if (raw->mem.base == ZYDIS_REGISTER_RIP || raw->mem.base == ZYDIS_REGISTER_EIP)
		m->disp = (int64_t)((uint64_t)m->disp + w->pc + w->insn.length);
	else
		m->base = ts_x86_off_of(w, raw->mem.base, &m->base_len);
	if (is_vector) {
		set_vector_index(w, m, raw->mem.index);
	} else {
		m->index = ts_x86_off_of(w, raw->mem.index, &m->index_len);
		place_special(w, m, raw);
	}
	o->size = m->size;
	o->piece[o->n++] =
		(struct ts_op_place){ .kind = TS_AT_MEM, .mem = w->ops->n_mem++, .len = m->size };
	return true;
}

static uint64_t immediate_of(const ZydisDecodedOperand *raw, unsigned width)
{
	uint64_t v = raw->imm.value.u;

	return width >= 64 || !width ? v : v & (UINT64_MAX >> (64 - width));
}

void ts_x86_take_operand(struct ts_x86_work *w, const ZydisDecodedOperand *raw)
{
	struct ts_x86_operand *o = &w->op[w->n];
	bool is_known = true;

	if (raw->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    (ZydisRegisterGetClass(raw->reg.value) == ZYDIS_REGCLASS_FLAGS ||
	     ZydisRegisterGetClass(raw->reg.value) == ZYDIS_REGCLASS_IP))
		return;
	*o = (struct ts_x86_operand){ .size = (uint16_t)(raw->size / 8), .order = (uint8_t)w->n };
	o->is_read = raw->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDREAD);
	o->is_written = raw->actions & (ZYDIS_OPERAND_ACTION_MASK_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE);
	o->is_read |= (raw->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0; /* else it keeps what it has */
	o->is_implicit = raw->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	if (raw->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		o->is_constant = true;
		o->constant = immediate_of(raw, w->insn.operand_width);
	} else if (raw->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		is_known = set_register(w, o, raw->reg.value);
	} else if (raw->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		is_known = set_memory(w, o, raw);
		if (ts_x86_is_hint(&w->insn))
			o->is_read = o->is_written = false;
	}
	if (!is_known) {
		o->n = 0;
		w->ops->is_complete &= !o->is_written || raw->type == ZYDIS_OPERAND_TYPE_MEMORY;
	}
	w->n++;
}

void ts_x86_take_flags(struct ts_x86_work *w)
{
	const ZydisAccessedFlags *f = w->insn.cpu_flags;

	if (!f)
		return;
	w->tested = f->tested & TS_X86_STATUS_FLAGS;
	w->written = (f->modified | f->undefined) & TS_X86_STATUS_FLAGS;
	w->zeroed = (f->set_0 | f->set_1) & TS_X86_STATUS_FLAGS & ~w->written;
}
