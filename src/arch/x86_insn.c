/* SPDX-License-Identifier: MIT */
#include "x86_insn.h"

#include <Zydis/Zydis.h>
#include <stdio.h>

#include "x86_hint.h"

/* The processor's numbers of registers. */
enum { AX = 0, CX = 1, SP = 4, PC = TS_X86_N_GPRS };

static uint16_t find(const struct ts_regset *set, const char *name)
{
	int i = ts_regset_find(set, name);

	return i < 0 ? TS_X86_NO_REG : (uint16_t)set->regs[i].off;
}

void ts_x86_init(struct ts_x86 *x, const struct ts_regset *set)
{
	static const char *const names[2][8] = {
		{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi" },
		{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" },
	};
	static const char *const segments[6] = { "es", "cs", "ss", "ds", "fs", "gs" };
	char name[16];

	*x = (struct ts_x86){ .is_64 = set->arch->addr_bits == 64 };
	for (unsigned i = 0; i < TS_X86_N_GPRS; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		x->gprs[i] = find(set, i < 8 ? names[x->is_64][i] : name);
	}
	x->gprs[PC] = (uint16_t)set->regs[set->pc].off;
	for (unsigned i = 0; i < 6; i++)
		x->segments[i] = find(set, segments[i]);
	for (unsigned i = 0; i < TS_X86_N_XMMS; i++) {
		snprintf(name, sizeof(name), "xmm%u", i);
		x->xmms[i] = find(set, name);
		snprintf(name, sizeof(name), "ymm%uh", i);
		x->ymmhs[i] = find(set, name);
	}
	x->fs_base = find(set, "fs_base");
	x->gs_base = find(set, "gs_base");
	x->mxcsr = find(set, "mxcsr");
}

/* An instruction as the decoder has it. */
struct decoded {
	const struct ts_x86 *x;
	ZydisDecoder decoder;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
};

static void init(struct decoded *d, const struct ts_x86 *x)
{
	d->x = x;
	ZydisDecoderInit(&d->decoder, x->is_64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			 x->is_64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

static bool decode(struct decoded *d, const struct ts_x86 *x, const uint8_t *bytes, size_t len)
{
	init(d, x);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->decoder, bytes, len, &d->insn, d->ops));
}

unsigned ts_x86_length(const struct ts_x86 *x, const uint8_t *bytes, size_t len)
{
	struct decoded d;

	init(&d, x);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&d.decoder, NULL, bytes, len, &d.insn))
		       ? d.insn.length
		       : 0;
}

/* ------------------------------------------------------------------------------------ memory operands */

/* Where a general register of any width is, TS_X86_NO_REG for others. */
static uint16_t gpr_off(const struct decoded *d, ZydisRegister reg)
{
	ZydisRegister largest = ZydisRegisterGetLargestEnclosing(d->decoder.machine_mode, reg);
	ZydisRegisterClass class = ZydisRegisterGetClass(largest);
	ZyanI8 id = ZydisRegisterGetId(largest);

	if ((class != ZYDIS_REGCLASS_GPR64 && class != ZYDIS_REGCLASS_GPR32) || id < 0 ||
	    id >= (ZyanI8)TS_X86_N_GPRS)
		return TS_X86_NO_REG;
	return d->x->gprs[id];
}

static bool is_same(const struct decoded *d, ZydisRegister reg, unsigned id)
{
	return reg != ZYDIS_REGISTER_NONE && gpr_off(d, reg) == d->x->gprs[id];
}

/* Operands of which a mask selects parts. */
static bool is_masked(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
	default: return insn->avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
	}
}

static bool is_repeated(const ZydisDecodedInstruction *insn)
{
	return insn->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
}

static uint8_t access_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o)
{
	uint8_t access = 0;

	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		access |= TS_X86_READ;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		access |= TS_X86_WRITE;
	if (is_repeated(insn))
		return access;
	if (o->actions & ZYDIS_OPERAND_ACTION_CONDREAD)
		access |= TS_X86_IF_READ;
	if (o->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		access |= TS_X86_IF_WRITE;
	return access;
}

static uint8_t access_of_memory(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *o)
{
	uint8_t access = ts_x86_is_hint(insn) ? 0 : access_of(insn, o);

	if (is_masked(insn) && access & TS_X86_READ)
		access |= TS_X86_IF_READ;
	if (is_masked(insn) && access & TS_X86_WRITE)
		access |= TS_X86_IF_WRITE;
	return access;
}

/* A hidden operand at the stack pointer that is written lies below it. */
static bool is_pushed(const struct decoded *d, const ZydisDecodedOperand *o)
{
	return o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && is_same(d, o->mem.base, SP);
}

static void place_operand(const struct decoded *d, struct ts_x86_mem *m, const ZydisDecodedOperand *o)
{
	const ZydisDecodedOperand *second = d->insn.operand_count > 1 ? &d->ops[1] : NULL;

	m->is_stack = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && is_same(d, o->mem.base, SP);
	if (is_pushed(d, o)) {
		m->place = TS_X86_PUSHED;
		if (d->insn.mnemonic == ZYDIS_MNEMONIC_ENTER)
			m->size = (uint16_t)(m->size * ((d->ops[1].imm.value.u & 31) + 1));
	} else if (d->insn.meta.category == ZYDIS_CATEGORY_BITBYTE && second &&
		   second->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		m->place = TS_X86_BIT;
		m->bit = gpr_off(d, second->reg.value);
		m->bit_len = (uint8_t)(second->size / 8);
	} else if (d->insn.mnemonic == ZYDIS_MNEMONIC_XLAT) {
		m->place = TS_X86_TABLE;
	} else if (d->insn.mnemonic == ZYDIS_MNEMONIC_POP &&
		   o->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT && is_same(d, o->mem.base, SP)) {
		m->disp += m->size; /* the stack pointer has moved by then */
	}
}

static uint8_t segment_of(const ZydisDecodedOperand *o)
{
	return o->mem.segment == ZYDIS_REGISTER_FS   ? TS_X86_FS
	       : o->mem.segment == ZYDIS_REGISTER_GS ? TS_X86_GS
						     : TS_X86_FLAT;
}

static void add_memory(const struct decoded *d, struct ts_x86_insn *insn, const ZydisDecodedOperand *o)
{
	struct ts_x86_mem *m = &insn->mem[insn->n_mem];

	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM) {
		insn->is_scatter |=
			o->mem.type == ZYDIS_MEMOP_TYPE_VSIB && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
		return;
	}
	*m = (struct ts_x86_mem){
		.disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0,
		.base = TS_X86_NO_REG,
		.index = TS_X86_NO_REG,
		.size = (uint16_t)(o->size / 8),
		.bit = TS_X86_NO_REG,
		.scale = o->mem.scale,
		.access = access_of_memory(&d->insn, o),
		.segment = segment_of(o),
	};
	if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP)
		m->disp = (int64_t)((uint64_t)m->disp + insn->pc + insn->len);
	else if (o->mem.base != ZYDIS_REGISTER_NONE)
		m->base = gpr_off(d, o->mem.base);
	if (o->mem.index != ZYDIS_REGISTER_NONE)
		m->index = gpr_off(d, o->mem.index);
	place_operand(d, m, o);
	if (m->size)
		insn->n_mem++;
}

/* The low @len bytes of a register as a signed number. */
static int64_t signed_value(const struct ts_x86 *x, const uint8_t *g, uint16_t off, unsigned len)
{
	uint64_t v = ts_x86_value(x, g, off);

	return len < 8 && len ? (int64_t)(v << (64 - 8 * len)) >> (64 - 8 * len) : (int64_t)v;
}

uint64_t ts_x86_mem_addr(const struct ts_x86_insn *insn, const struct ts_x86_mem *m, const struct ts_x86 *x,
			 const uint8_t *g)
{
	uint64_t addr = ts_x86_mem_base(m, x, g);

	switch ((enum ts_x86_place)m->place) {
	case TS_X86_PLAIN: break;
	case TS_X86_PUSHED: addr -= m->size; break;
	case TS_X86_BIT:
		if (m->bit != TS_X86_NO_REG && m->size)
			addr += (uint64_t)((signed_value(x, g, m->bit, m->bit_len) >> 3) & -(int64_t)m->size);
		break;
	case TS_X86_TABLE: addr += g[x->gprs[AX]]; break;
	}
	if (m->is_stack)
		return x->is_64 ? addr : addr & UINT32_MAX;
	return addr & insn->addr_mask;
}

uint64_t ts_x86_count(const struct ts_x86_insn *insn, const struct ts_x86 *x, const uint8_t *g)
{
	uint64_t v = ts_x86_value(x, g, x->gprs[CX]);

	return insn->count_len >= 8 ? v : v & (UINT64_MAX >> (64 - 8 * insn->count_len));
}

/* --------------------------------------------------------------------------------------------------- flow */

/* A debugger that steps does not stop before the instruction after one that loads the stack segment. */
static bool inhibits_stop(const struct decoded *d)
{
	return d->insn.operand_count && d->ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       d->ops[0].reg.value == ZYDIS_REGISTER_SS &&
	       d->ops[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static uint8_t flow_of(const struct decoded *d, struct ts_x86_insn *insn)
{
	bool is_direct = d->insn.operand_count && d->ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
			 d->ops[0].imm.is_relative;
	bool is_to_next;

	if (is_direct) {
		insn->target = insn->pc + insn->len + d->ops[0].imm.value.u;
		if (insn->addr_mask == UINT16_MAX || d->insn.operand_width == 16)
			is_direct = false;
	}
	is_to_next = insn->target == insn->pc + insn->len;
	switch (d->insn.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return is_direct && d->insn.mnemonic != ZYDIS_MNEMONIC_XBEGIN ? TS_X86_BRANCH : TS_X86_ANY;
	case ZYDIS_CATEGORY_UNCOND_BR: return is_direct ? TS_X86_JUMP : TS_X86_ANY;
	case ZYDIS_CATEGORY_CALL:
		return !is_direct ? TS_X86_CALL_ANY : is_to_next ? TS_X86_JUMP : TS_X86_CALL;
	case ZYDIS_CATEGORY_RET: return TS_X86_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT: return TS_X86_ANY;
	default:
		if (inhibits_stop(d))
			return TS_X86_ANY;
		return is_repeated(&d->insn) ? TS_X86_REPEAT : TS_X86_NEXT;
	}
}

static enum ts_x86_exchange exchange_of(const ZydisDecodedInstruction *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CMPXCHG: return TS_X86_EXCHANGE;
	case ZYDIS_MNEMONIC_CMPXCHG8B:
	case ZYDIS_MNEMONIC_CMPXCHG16B: return TS_X86_EXCHANGE_PAIR;
	default: return TS_X86_NO_EXCHANGE;
	}
}

bool ts_x86_decode(const struct ts_x86 *x, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_x86_insn *insn)
{
	struct decoded d;

	*insn = (struct ts_x86_insn){ .pc = pc, .flow = TS_X86_ANY };
	if (!decode(&d, x, bytes, len))
		return false;
	insn->len = d.insn.length;
	insn->addr_mask = d.insn.address_width == 64   ? UINT64_MAX
			  : d.insn.address_width == 32 ? UINT32_MAX
						       : UINT16_MAX;
	if (is_repeated(&d.insn))
		insn->count_len = d.insn.address_width / 8;
	insn->is_xsave = d.insn.meta.category == ZYDIS_CATEGORY_XSAVE ||
			 d.insn.meta.category == ZYDIS_CATEGORY_XSAVEOPT;
	insn->exchange = exchange_of(&d.insn);
	for (unsigned i = 0; i < d.insn.operand_count && insn->n_mem < TS_X86_MAX_MEM; i++) {
		if (d.ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(&d, insn, &d.ops[i]);
	}
	insn->flow = flow_of(&d, insn);
	if (!x->is_64)
		insn->target &= UINT32_MAX;
	return true;
}

/* ---------------------------------------------------------------------------------------------- registers */

static void add_field(struct ts_x86_results *r, uint16_t off, uint16_t len)
{
	if (off != TS_X86_NO_REG && r->n < TS_X86_MAX_FIELDS)
		r->fields[r->n++] = (struct ts_x86_field){ .off = off, .len = len };
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

/* A write of 32 bits clears the upper half of a 64-bit register, also if the write is conditional. */
static void add_gpr(const struct decoded *d, struct ts_x86_results *r, ZydisRegister reg)
{
	uint16_t off = gpr_off(d, reg), len = ZydisRegisterGetWidth(d->decoder.machine_mode, reg) / 8;

	if (off != TS_X86_NO_REG && is_high_byte(reg))
		off++;
	add_field(r, off, d->x->is_64 && len == 4 ? 8 : len);
}

/* Instructions of the newer encodings clear what lies above their destination. */
static void add_vector(const struct decoded *d, struct ts_x86_results *r, ZydisRegister reg)
{
	ZyanI8 id = ZydisRegisterGetId(reg);

	if (id < 0 || id >= (ZyanI8)TS_X86_N_XMMS)
		return;
	add_field(r, d->x->xmms[id], 16);
	if (ZydisRegisterGetWidth(d->decoder.machine_mode, reg) > 128 ||
	    d->insn.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		add_field(r, d->x->ymmhs[id], 16);
}

static void add_register(const struct decoded *d, struct ts_x86_results *r, ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64: add_gpr(d, r, reg); break;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM: add_vector(d, r, reg); break;
	case ZYDIS_REGCLASS_SEGMENT: add_field(r, d->x->segments[ZydisRegisterGetId(reg)], 4); break;
	default:
		if (reg == ZYDIS_REGISTER_MXCSR)
			add_field(r, d->x->mxcsr, 4);
		break;
	}
}

bool ts_x86_results(const struct ts_x86 *x, const uint8_t *bytes, size_t len, struct ts_x86_results *r)
{
	const ZydisAccessedFlags *flags;
	struct decoded d;

	*r = (struct ts_x86_results){ 0 };
	if (!decode(&d, x, bytes, len))
		return false;
	for (unsigned i = 0; i < d.insn.operand_count; i++) {
		const ZydisDecodedOperand *o = &d.ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && access_of(&d.insn, o) & (TS_X86_WRITE | TS_X86_IF_WRITE))
			add_register(&d, r, o->reg.value);
	}
	flags = d.insn.cpu_flags;
	if (flags)
		r->flags = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
	return true;
}

/* --------------------------------------------------------------------------------------------------- text */

bool ts_x86_text(const struct ts_x86 *x, uint64_t pc, const uint8_t *bytes, size_t len, char *buf,
		 size_t size)
{
	ZydisFormatter formatter;
	struct decoded d;

	if (!decode(&d, x, bytes, len))
		return false;
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
	return ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
		&formatter, &d.insn, d.ops, d.insn.operand_count_visible, buf, size, pc, NULL));
}
