/* SPDX-License-Identifier: MIT */
#include "operands_x86_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/x86_hint.h"

/* ------------------------------------------------------------------------------------------- transfers */

static uint16_t least(unsigned a, unsigned b)
{
	return (uint16_t)(a < b ? a : b);
}

/* The part of an operand from byte @at on that lies in one piece; *n becomes its length, at most *n. */
static struct ts_op_place slice(const struct ts_x86_operand *o, unsigned at, unsigned *n)
{
	unsigned i = o->n > 1 && at >= o->piece[0].len ? 1 : 0;
	struct ts_op_place p = o->piece[i];

	at -= i ? o->piece[0].len : 0;
	*n = least(*n, at < p.len ? p.len - at : 0);
	p.off = (uint16_t)(p.off + at);
	p.len = (uint16_t)*n;
	return p;
}

struct ts_transfer *ts_x86_add(struct ts_x86_work *w, struct ts_op_place to, struct ts_op_place from,
			       enum ts_way way, unsigned order)
{
	struct ts_transfer *t = ts_operands_add(w->ops, to, from, way);

	t->order = (uint8_t)order;
	t->unit = way == TS_WAY_LANES; /* bytes, unless it is made wider */
	return t;
}

/* A constant takes part in @to. */
static void add_constant(struct ts_x86_work *w, struct ts_op_place to, const struct ts_x86_operand *from,
			 enum ts_way way, unsigned from_at)
{
	struct ts_transfer *t = ts_x86_add(w, to, ts_op_nowhere(), way, from->order);

	t->constant = from->constant;
	t->unit = (uint8_t)from_at;
}

static void carry_piece(struct ts_x86_work *w, struct ts_op_place to, const struct ts_x86_operand *from,
			unsigned from_at, unsigned from_len, enum ts_way way)
{
	bool is_exact = way == TS_WAY_COPY || way == TS_WAY_LANES || way == TS_WAY_REVERSE;

	if (from->is_constant) {
		add_constant(w, to, from, way == TS_WAY_COPY ? TS_WAY_PART : TS_WAY_CONSTANT, from_at);
		return;
	}
	if (!from->n) {
		ts_x86_add(w, to, ts_op_nowhere(), TS_WAY_UNKNOWN, from->order);
		return;
	}
	for (unsigned left = is_exact ? to.len : from_len, n; left; left -= n, from_at += n) {
		struct ts_op_place part;

		n = left;
		part = slice(from, from_at, &n);
		if (!n) {
			ts_x86_add(w, to, ts_op_nowhere(), TS_WAY_UNKNOWN, from->order);
			return;
		}
		if (is_exact)
			to.len = (uint16_t)n;
		ts_x86_add(w, to, part, way, from->order);
		if (is_exact)
			to.off = (uint16_t)(to.off + n);
	}
}

void ts_x86_carry(struct ts_x86_work *w, const struct ts_x86_operand *to, unsigned to_at, unsigned len,
		  const struct ts_x86_operand *from, unsigned from_at, unsigned from_len, enum ts_way way)
{
	bool moves = way != TS_WAY_MIX;

	for (unsigned n; to->n && len; len -= n, to_at += n, from_at += moves ? n : 0) {
		struct ts_op_place part;

		n = len;
		part = slice(to, to_at, &n);
		if (!n)
			return;
		carry_piece(w, part, from, from_at, from_len, way);
	}
}

void ts_x86_fill(struct ts_x86_work *w, const struct ts_x86_operand *to, unsigned at, unsigned len,
		 enum ts_way way)
{
	for (unsigned n; to->n && len; len -= n, at += n) {
		struct ts_op_place part;

		n = len;
		part = slice(to, at, &n);
		if (!n)
			return;
		ts_x86_add(w, part, ts_op_nowhere(), way, to->order);
	}
}

static bool is_legacy(const struct ts_x86_work *w)
{
	return w->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
}

/* The vector register whose lower half is at @off; -1 if there is none. */
static int vector_at(const struct ts_x86_work *w, uint16_t off)
{
	for (unsigned i = 0; i < TS_X86_N_XMMS; i++) {
		if (w->d->x86.xmms[i] != TS_X86_NO_REG && w->d->x86.xmms[i] == off)
			return (int)i;
	}
	return -1;
}

void ts_x86_clear_above(struct ts_x86_work *w, const struct ts_x86_operand *to)
{
	const struct ts_op_place *p = &to->piece[0];
	int vector;

	if (!to->n || p->kind != TS_AT_REG)
		return;
	vector = vector_at(w, p->off);
	if (vector >= 0) {
		uint16_t high = w->d->x86.ymmhs[vector];

		if (!is_legacy(w) && to->n == 1 && high != TS_X86_NO_REG)
			ts_x86_add(w, ts_op_reg(high, 16), ts_op_nowhere(), TS_WAY_ZERO, to->order);
		return;
	}
	if (w->is_64 && to->size == 4 && p->len == 4) {
		for (unsigned i = 0; i < TS_X86_N_GPRS; i++) {
			if (w->d->x86.gprs[i] == p->off)
				ts_x86_add(w, ts_op_reg((uint16_t)(p->off + 4), 4), ts_op_nowhere(), TS_WAY_ZERO,
				    to->order);
		}
	}
}

/* The flags that are read are made part of @to. */
void ts_x86_mix_tested(struct ts_x86_work *w, struct ts_op_place to)
{
	if (w->tested)
		ts_x86_add(w, to, ts_op_flags(w->tested), TS_WAY_MIX, ZYDIS_MAX_OPERAND_COUNT);
}

void ts_x86_mix_into(struct ts_x86_work *w, const struct ts_x86_operand *to)
{
	unsigned n = w->ops->n;

	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_read)
			ts_x86_carry(w, to, 0, to->size, &w->op[i], 0, w->op[i].size, TS_WAY_MIX);
	}
	for (unsigned i = 0; i < to->n; i++)
		ts_x86_mix_tested(w, to->piece[i]);
	if (w->ops->n == n)
		ts_x86_fill(w, to, 0, to->size, TS_WAY_UNKNOWN);
	ts_x86_clear_above(w, to);
}

void ts_x86_mix_flags(struct ts_x86_work *w)
{
	struct ts_op_place to = ts_op_flags(w->written), zeroed = ts_op_flags(w->zeroed);
	unsigned n = w->ops->n;

	if (w->zeroed)
		ts_x86_add(w, zeroed, ts_op_nowhere(), TS_WAY_CONSTANT, 0);
	if (!w->written)
		return;
	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_read && (w->op[i].is_constant || !w->op[i].n))
			carry_piece(w, to, &w->op[i], 0, 0, TS_WAY_MIX);
		for (unsigned k = 0; w->op[i].is_read && k < w->op[i].n && !w->op[i].is_constant; k++)
			ts_x86_add(w, to, w->op[i].piece[k], TS_WAY_MIX, w->op[i].order);
	}
	ts_x86_mix_tested(w, to);
	if (w->ops->n == n + (w->zeroed != 0))
		ts_x86_add(w, to, ts_op_nowhere(), TS_WAY_UNKNOWN, 0);
}

void ts_x86_mix(struct ts_x86_work *w, unsigned)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_written)
			ts_x86_mix_into(w, &w->op[i]);
	}
	ts_x86_mix_flags(w);
}

uint64_t ts_x86_immediate(const struct ts_x86_work *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (w->op[i].is_constant)
			return w->op[i].constant;
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------- operands */

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

/* What is special about the address of a memory operand. */
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

static void take_operand(struct ts_x86_work *w, const ZydisDecodedOperand *raw)
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

static void take_flags(struct ts_x86_work *w)
{
	const ZydisAccessedFlags *f = w->insn.cpu_flags;

	if (!f)
		return;
	w->tested = f->tested & TS_X86_STATUS_FLAGS;
	w->written = (f->modified | f->undefined) & TS_X86_STATUS_FLAGS;
	w->zeroed = (f->set_0 | f->set_1) & TS_X86_STATUS_FLAGS & ~w->written;
}

/* --------------------------------------------------------------------------------------- instructions */

static const struct ts_x86_rule *find_in(const struct ts_x86_rule *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(table[i].name, name))
			return &table[i];
	}
	return NULL;
}

/* Names of string instructions and of instructions on vectors are partly the same. */
static bool is_string_category(const struct ts_x86_work *w)
{
	return w->insn.meta.category == ZYDIS_CATEGORY_STRINGOP || w->insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

static const struct ts_x86_rule *find_rule(const struct ts_x86_work *w)
{
	const char *name = ZydisMnemonicGetString(w->insn.mnemonic);
	const struct ts_x86_rule *rule = NULL;

	if (!is_string_category(w))
		rule = find_in(ts_x86_vector_rules, ts_n_x86_vector_rules, *name == 'v' ? name + 1 : name);
	if (!rule && w->insn.meta.category == ZYDIS_CATEGORY_X87_ALU)
		rule = find_in(ts_x87_rules, ts_n_x87_rules, name);
	return rule ? rule : find_in(ts_x86_rules, ts_n_x86_rules, name);
}

/* Returns the rule of the instruction, or NULL if it needs no rule. */
static const struct ts_x86_rule *rule_of(struct ts_decoder *d, const struct ts_x86_work *w)
{
	static const struct ts_x86_rule none;
	const struct ts_x86_rule **rule;

	if (!d->rules)
		d->rules = calloc(2 * (ZYDIS_MNEMONIC_MAX_VALUE + 1), sizeof(*d->rules));
	if (!d->rules)
		return find_rule(w);
	rule = &d->rules[2 * w->insn.mnemonic + is_string_category(w)];
	if (!*rule)
		*rule = find_rule(w);
	if (!*rule)
		*rule = &none;
	return (*rule)->make ? *rule : NULL;
}

static uint8_t flow_of(const struct ts_x86_work *w)
{
	bool is_direct = w->n && w->op[0].is_constant;

	switch (w->insn.meta.category) {
	case ZYDIS_CATEGORY_COND_BR: return TS_OP_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR: return is_direct ? TS_OP_JUMP : TS_OP_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_CALL: return is_direct ? TS_OP_CALL : TS_OP_CALL_INDIRECT;
	case ZYDIS_CATEGORY_RET: return w->insn.mnemonic == ZYDIS_MNEMONIC_RET ? TS_OP_RETURN : TS_OP_TRAP;
	case ZYDIS_CATEGORY_SYSCALL: return TS_OP_SYSCALL;
	case ZYDIS_CATEGORY_INTERRUPT:
		return w->insn.mnemonic == ZYDIS_MNEMONIC_INT && w->op[0].constant == 0x80 ? TS_OP_SYSCALL
											  : TS_OP_TRAP;
	case ZYDIS_CATEGORY_SYSRET: return TS_OP_TRAP;
	default: return TS_OP_NEXT;
	}
}

/* Where a conditional branch leads if it is taken, or a direct call. */
static void find_target(struct ts_x86_work *w)
{
	w->ops->has_target = (w->ops->flow == TS_OP_BRANCH || w->ops->flow == TS_OP_CALL) && w->insn.operand_count &&
			     ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&w->insn, &w->raw[0], w->pc, &w->ops->target));
}

static void init_zydis(ZydisDecoder *z, bool is_64)
{
	ZydisDecoderInit(z, is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

static bool decode(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_operands *ops)
{
	struct ts_x86_work w = { .d = d, .ops = ops, .pc = pc, .is_64 = mode.is_64 };
	const struct ts_x86_rule *rule;
	ZydisDecoder z;

	init_zydis(&z, mode.is_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&z, bytes, len, &w.insn, w.raw)))
		return false;
	ops->len = w.insn.length;
	ops->addr_mask = w.insn.address_width == 64   ? UINT64_MAX
			 : w.insn.address_width == 32 ? UINT32_MAX
						      : UINT16_MAX;
	ops->is_repeated = w.insn.attributes &
			   (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	for (unsigned i = 0; i < w.insn.operand_count; i++)
		take_operand(&w, &w.raw[i]);
	ops->reads_unnamed = !ts_x86_is_hint(&w.insn);
	take_flags(&w);
	ops->flow = flow_of(&w);
	find_target(&w);
	rule = rule_of(d, &w);
	if (rule)
		rule->make(&w, rule->arg);
	else if (ops->flow == TS_OP_BRANCH || ops->flow == TS_OP_JUMP_INDIRECT)
		ts_x86_jump(&w, 0);
	else if (ops->flow != TS_OP_JUMP)
		ts_x86_mix(&w, 0);
	ops->is_complete &= ops->flow != TS_OP_TRAP && w.insn.meta.category != ZYDIS_CATEGORY_X87_ALU;
	return true;
}

static bool text(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		 char *buf, size_t size)
{
	struct ts_x86 x = d->x86;

	x.is_64 = mode.is_64;
	return ts_x86_text(&x, pc, bytes, len, buf, size);
}

static uint16_t find_off(const struct ts_regset *set, const char *name)
{
	int i = ts_regset_find(set, name);

	return i < 0 ? TS_NO_OFF16 : (uint16_t)set->regs[i].off;
}

void ts_operands_x86_init(struct ts_decoder *d)
{
	char name[8];

	ts_x86_init(&d->x86, d->set);
	for (unsigned i = 0; i < TS_N_X87; i++) {
		snprintf(name, sizeof(name), "st%u", i);
		d->st[i] = find_off(d->set, name);
	}
	d->fctrl = find_off(d->set, "fctrl");
	d->fstat = find_off(d->set, "fstat");
	d->decode = decode;
	d->text = text;
}
