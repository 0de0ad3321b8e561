/* SPDX-License-Identifier: MIT */
#include "operands_x86_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/arch/x86_hint.h"

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
		ts_x86_take_operand(&w, &w.raw[i]);
	ops->reads_unnamed = !ts_x86_is_hint(&w.insn);
	ts_x86_take_flags(&w);
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
