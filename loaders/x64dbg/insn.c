/* SPDX-License-Identifier: MIT */
#include "insn.h"

#include <stdlib.h>
#include <string.h>

/* The processor's numbers of registers. */
enum { AX = 0, CX = 1, SP = 4, PC = 16 };

bool x64dbg_insns_init(struct x64dbg_insns *c, const struct x64dbg_layout *layout,
		       const struct ts_regset *set)
{
	static const char *const names[2][8] = {
		{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi" },
		{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" },
	};
	static const char *const high[8] = { "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15" };

	*c = (struct x64dbg_insns){ .layout = layout, .set = set, .is_64 = layout->width == 8 };
	for (unsigned i = 0; i < (c->is_64 ? 16u : 8u); i++) {
		const char *name = i < 8 ? names[c->is_64][i] : high[i - 8];

		c->reg_off[i] = (uint16_t)set->regs[ts_regset_find(set, name)].off;
	}
	c->reg_off[PC] = layout->pc_off;
	ZydisDecoderInit(&c->decoder, c->is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 c->is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	c->memory = calloc(X64DBG_N_INSNS + 1, sizeof(*c->items)); /* zeros that are not there until needed */
	c->items = (struct x64dbg_insn *)(((uintptr_t)c->memory + X64DBG_INSN_ALIGN - 1) &
					  ~(uintptr_t)(X64DBG_INSN_ALIGN - 1));
	return c->memory != NULL;
}

void x64dbg_insns_fini(struct x64dbg_insns *c)
{
	free(c->memory);
	c->memory = NULL;
}

/* ----------------------------------------------------------------------------------------------- operands */

/* Where a general register of any width is, X64DBG_NO_REG for none. */
static uint16_t reg_off(const struct x64dbg_insns *c, ZydisRegister reg)
{
	ZydisRegister largest = ZydisRegisterGetLargestEnclosing(c->decoder.machine_mode, reg);
	ZyanI8 id = ZydisRegisterGetId(largest);
	ZydisRegisterClass class = ZydisRegisterGetClass(largest);

	if ((class != ZYDIS_REGCLASS_GPR64 && class != ZYDIS_REGCLASS_GPR32) || id < 0 ||
	    id > (c->is_64 ? 15 : 7))
		return X64DBG_NO_REG;
	return c->reg_off[id];
}

static bool is_same(const struct x64dbg_insns *c, ZydisRegister reg, unsigned id)
{
	return reg != ZYDIS_REGISTER_NONE && reg_off(c, reg) == c->reg_off[id];
}

/* Hints and the like, which have a memory operand but do not access it. */
static bool is_hint(const ZydisDecodedInstruction *d)
{
	switch (d->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		return d->mnemonic == ZYDIS_MNEMONIC_CLFLUSH || d->mnemonic == ZYDIS_MNEMONIC_INVLPG;
	}
}

/* Operands of which a mask selects parts. */
static bool is_masked(const ZydisDecodedInstruction *d)
{
	switch (d->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		return d->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
	}
}

static bool is_repeated(const ZydisDecodedInstruction *d)
{
	return d->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static uint8_t access_of(const ZydisDecodedInstruction *d, const ZydisDecodedOperand *o)
{
	uint8_t access = 0;

	if (is_hint(d))
		return 0;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		access |= X64DBG_READ;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		access |= X64DBG_WRITE;
	if (is_masked(d) || (o->actions & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE) &&
			     !is_repeated(d)))
		access |= X64DBG_PARTLY;
	return access;
}

/* A hidden operand at the stack pointer that is written lies below it. */
static bool is_pushed(const struct x64dbg_insns *c, const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && is_same(c, o->mem.base, SP);
}

static void place_op(const struct x64dbg_insns *c, struct x64dbg_op *op, const ZydisDecodedInstruction *d,
		     const ZydisDecodedOperand *operands, const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperand *second = d->operand_count > 1 ? &operands[1] : NULL;

	if (is_pushed(c, o)) {
		op->place = X64DBG_PUSHED;
		if (d->mnemonic == ZYDIS_MNEMONIC_ENTER)
			op->size = (uint16_t)(op->size * ((operands[1].imm.value.u & 31) + 1));
	} else if (o->mem.segment == (c->is_64 ? ZYDIS_REGISTER_GS : ZYDIS_REGISTER_FS)) {
		op->place = X64DBG_BASED;
	} else if (d->meta.category == ZYDIS_CATEGORY_BITBYTE && second &&
		   second->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		op->place = X64DBG_BIT;
		op->bit = reg_off(c, second->reg.value);
		op->bit_len = (uint8_t)(second->size / 8);
	} else if (d->mnemonic == ZYDIS_MNEMONIC_XLAT) {
		op->place = X64DBG_TABLE;
	} else if (d->mnemonic == ZYDIS_MNEMONIC_POP && o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		   is_same(c, o->mem.base, SP)) {
		op->disp += op->size; /* the stack pointer has moved by then */
	}
}

static void add_op(const struct x64dbg_insns *c, struct x64dbg_insn *insn, const ZydisDecodedInstruction *d,
		   const ZydisDecodedOperand *operands, const ZydisDecodedOperand *o)
{
	struct x64dbg_op *op = &insn->ops[insn->n_ops];

	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM) {
		insn->is_scatter |=
			o->mem.type == ZYDIS_MEMOP_TYPE_VSIB && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		return;
	}
	*op = (struct x64dbg_op){
		.disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0,
		.base = X64DBG_NO_REG,
		.index = X64DBG_NO_REG,
		.size = (uint16_t)(o->size / 8),
		.bit = X64DBG_NO_REG,
		.scale = o->mem.scale,
		.access = access_of(d, o),
	};
	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP)
		op->disp = (int64_t)((uint64_t)op->disp + insn->pc + d->length);
	else if (o->mem.base != ZYDIS_REGISTER_NONE)
		op->base = reg_off(c, o->mem.base);
	if (o->mem.index != ZYDIS_REGISTER_NONE)
		op->index = reg_off(c, o->mem.index);
	place_op(c, op, d, operands, o);
	if (op->size)
		insn->n_ops++;
}

static bool is_simple(const struct x64dbg_insns *c, const struct x64dbg_insn *insn)
{
	const struct x64dbg_op *op = &insn->ops[0];

	if (insn->n_ops != 1 || !op->access || op->access & X64DBG_PARTLY || insn->count_len ||
	    insn->is_scatter || insn->is_xsave)
		return false;
	return op->place == X64DBG_PLAIN ? op->size <= c->layout->width
					 : op->place == X64DBG_PUSHED && op->size == c->layout->width;
}

/* ------------------------------------------------------------------------------------------------ flow */

/* After a new stack segment the processor does not stop before the next instruction. */
static bool has_no_stop_behind(const ZydisDecodedInstruction *d, const ZydisDecodedOperand *operands)
{
	return d->operand_count && operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].reg.value == ZYDIS_REGISTER_SS &&
	       operands[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static uint8_t flow_of(struct x64dbg_insn *insn, const ZydisDecodedInstruction *d,
		       const ZydisDecodedOperand *operands)
{
	bool is_direct = d->operand_count && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			 operands[0].imm.is_relative;

	if (is_direct) {
		insn->target = insn->pc + d->length + operands[0].imm.value.u;
		if (insn->addr_mask == UINT16_MAX || d->operand_width == 16)
			is_direct = false;
	}
	switch (d->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return is_direct && d->mnemonic != ZYDIS_MNEMONIC_XBEGIN ? X64DBG_BRANCH : X64DBG_ANY;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return is_direct ? X64DBG_JUMP : X64DBG_ANY;
	case ZYDIS_CATEGORY_CALL:
		return is_direct && insn->target != insn->pc + d->length ? X64DBG_CALL :
		       is_direct ? X64DBG_JUMP : X64DBG_CALL_ANY;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return X64DBG_ANY;
	default:
		if (has_no_stop_behind(d, operands))
			return X64DBG_ANY;
		return is_repeated(d) ? X64DBG_REPEAT : X64DBG_NEXT;
	}
}

/* ------------------------------------------------------------------------------------------- instructions */

static void decode(struct x64dbg_insns *c, struct x64dbg_insn *insn, uint64_t pc, const uint8_t *bytes,
		   unsigned len)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;

	uint64_t room = ts_arch_addr_mask(c->set->arch) - pc;

	*insn = (struct x64dbg_insn){ .pc = pc, .len = (uint8_t)len, .flow = X64DBG_ANY };
	insn->n_seen = (uint8_t)(len - 1 > room ? room + 1 : len);
	memcpy(insn->bytes, bytes, sizeof(insn->bytes));
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&c->decoder, bytes, len, &d, operands)))
		return;
	insn->decoded_len = d.length;
	if (d.length != len)
		return;
	insn->addr_mask = d.address_width == 64   ? UINT64_MAX
			  : d.address_width == 32 ? UINT32_MAX
						  : UINT16_MAX;
	if (is_repeated(&d))
		insn->count_len = d.address_width / 8;
	insn->is_xsave =
		d.meta.category == ZYDIS_CATEGORY_XSAVE || d.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
	for (unsigned i = 0; i < d.operand_count && insn->n_ops < X64DBG_MAX_OPS; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_op(c, insn, &d, operands, &operands[i]);
	}
	insn->is_simple = is_simple(c, insn);
	insn->flow = flow_of(insn, &d, operands);
	if (!c->is_64)
		insn->target &= UINT32_MAX;
}

/* Where the instruction at @pc goes: to where it was, else to a place that is free, else to either. */
static struct x64dbg_insn *choose(struct x64dbg_insns *c, struct x64dbg_insn *first,
				  struct x64dbg_insn *second, uint64_t pc)
{
	if (!first->len || first->pc == pc)
		return first;
	if (!second->len || second->pc == pc)
		return second;
	return c->n_evicted++ % 2 ? first : second;
}

struct x64dbg_insn *x64dbg_insns_find(struct x64dbg_insns *c, struct x64dbg_insn *first, uint64_t pc,
				      const uint8_t *bytes, unsigned len)
{
	struct x64dbg_insn *second = &c->items[(size_t)(first - c->items) ^ X64DBG_N_INSNS / 2], *insn;

	if (x64dbg_insn_is(second, pc, bytes, len))
		return second;
	insn = choose(c, first, second, pc);
	decode(c, insn, pc, bytes, len);
	return insn;
}

/* The low @len bytes of a register as a signed number. */
static int64_t signed_value(const struct x64dbg_insns *c, const uint8_t *g, uint16_t off, unsigned len)
{
	uint64_t v = x64dbg_reg_value(c, g, off);

	return len < 8 && len ? (int64_t)(v << (64 - 8 * len)) >> (64 - 8 * len) : (int64_t)v;
}

uint64_t x64dbg_op_addr(const struct x64dbg_insn *insn, const struct x64dbg_op *op,
			const struct x64dbg_insns *c, const uint8_t *g)
{
	uint64_t addr = x64dbg_op_base(op, c, g);

	switch ((enum x64dbg_place)op->place) {
	case X64DBG_PLAIN:
	case X64DBG_BASED:
		break;
	case X64DBG_PUSHED:
		addr -= op->size;
		break;
	case X64DBG_BIT:
		if (op->bit != X64DBG_NO_REG && op->size)
			addr += (uint64_t)((signed_value(c, g, op->bit, op->bit_len) >> 3) &
					   -(int64_t)op->size);
		break;
	case X64DBG_TABLE:
		addr += g[c->reg_off[AX]];
		break;
	}
	return addr & insn->addr_mask;
}

uint64_t x64dbg_insn_count(const struct x64dbg_insn *insn, const struct x64dbg_insns *c, const uint8_t *g)
{
	uint64_t v = x64dbg_reg_value(c, g, c->reg_off[CX]);

	return insn->count_len >= 8 ? v : v & (UINT64_MAX >> (64 - 8 * insn->count_len));
}
