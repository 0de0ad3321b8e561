/* SPDX-License-Identifier: MIT */
#include "operands.h"

#include <stdlib.h>
#include <string.h>

#include "operands_cs.h"
#include "operands_parts.h"

/* Returns false if memory is exhausted. */
static bool init_family(struct ts_decoder *d)
{
	const char *name = d->set->arch->name;

	if (!strcmp(name, "x86_64") || !strcmp(name, "i386"))
		ts_operands_x86_init(d);
	else if (!strcmp(name, "aarch64"))
		return ts_operands_a64_init(d);
	else if (!strcmp(name, "arm"))
		return ts_operands_arm_init(d);
	else if (!strncmp(name, "mips", 4))
		return ts_operands_mips_init(d);
	else if (!strncmp(name, "riscv", 5))
		return ts_operands_riscv_init(d);
	return true;
}

bool ts_decoder_knows(const struct ts_arch *arch)
{
	static const char *const names[] = { "x86_64", "i386", "aarch64", "arm" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(arch->name, names[i]))
			return true;
	}
	return !strncmp(arch->name, "mips", 4) || !strncmp(arch->name, "riscv", 5);
}

uint32_t ts_operands_flags(const struct ts_arch *arch)
{
	if (!strcmp(arch->name, "x86_64") || !strcmp(arch->name, "i386"))
		return 0xcd5; /* CF, PF, AF, ZF, SF, DF, OF */
	return strcmp(arch->name, "arm") ? 0xf0000000 : 0xf0000020; /* N, Z, C, V; ARM: T */
}

struct ts_decoder *ts_decoder_new(const struct ts_regset *set, struct ts_error *err)
{
	struct ts_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return ts_no_memory(err, "a decoder of instructions");
	d->set = set;
	d->flags_off = set->flags < 0 ? TS_NO_OFF16 : (uint16_t)set->regs[set->flags].off;
	if (init_family(d))
		return d;
	ts_decoder_free(d);
	return ts_no_memory(err, "a decoder of instructions");
}

void ts_decoder_free(struct ts_decoder *d)
{
	if (d) {
		ts_cs_free(d->cs);
		free(d->rules);
	}
	free(d);
}

bool ts_decoder_is_able(const struct ts_decoder *d)
{
	return d->decode != NULL;
}

struct ts_op_mode ts_decoder_mode(const struct ts_decoder *d)
{
	return (struct ts_op_mode){ .is_64 = d->set->arch->addr_bits == 64 };
}

bool ts_decoder_decode(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		       size_t len, struct ts_operands *ops)
{
	ops->n = ops->n_mem = ops->len = 0;
	ops->flow = TS_OP_NEXT;
	ops->target = 0;
	ops->condition = TS_IF_ALWAYS;
	ops->has_target = ops->is_repeated = ops->reads_unnamed = false;
	ops->is_complete = true;
	ops->addr_mask = ts_arch_addr_mask(d->set->arch);
	return d->decode && d->decode(d, mode, pc, bytes, len, ops);
}

bool ts_decoder_text(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		     size_t len, char *buf, size_t size)
{
	return d->text && d->text(d, mode, pc, bytes, len, buf, size);
}

/* --------------------------------------------------------------------------------------------- at run time */

static bool get(const struct ts_op_state *s, uint16_t off, unsigned len, uint64_t *value)
{
	*value = 0;
	if (off == TS_NO_OFF16)
		return true;
	if (len > 8)
		len = 8;
	for (unsigned i = 0; i < len; i++) {
		if (!s->known[off + i])
			return false;
	}
	*value = ts_arch_get(s->arch, s->g + off, len);
	return true;
}

static uint64_t index_of(const struct ts_op_mem *m, uint64_t index)
{
	switch ((enum ts_index)m->index_as) {
	case TS_INDEX_WHOLE: break;
	case TS_INDEX_SIGNED_32: return (uint64_t)(int64_t)(int32_t)index;
	case TS_INDEX_UNSIGNED_32: return (uint32_t)index;
	case TS_INDEX_MINUS: return -index;
	}
	return index;
}

/* By how much the number of a bit, signed, moves the operand. */
static uint64_t bit_move(const struct ts_op_mem *m, uint64_t bit)
{
	unsigned unused = 64 - 8 * m->extra_len;
	int64_t number = m->extra_len && m->extra_len < 8 ? (int64_t)(bit << unused) >> unused : (int64_t)bit;

	return (uint64_t)((number >> 3) & -(int64_t)m->size);
}

bool ts_operands_addr(const struct ts_operands *ops, unsigned i, const struct ts_op_state *state,
		      uint64_t *addr)
{
	const struct ts_op_mem *m = &ops->mem[i];
	uint64_t base, index, segment, extra;
	unsigned word = state->arch->addr_bits / 8;

	if (m->special == TS_MEM_UNPLACED || !get(state, m->base, m->base_len, &base) || !get(state, m->index, m->index_len, &index) ||
	    !get(state, m->segment, word, &segment) || !get(state, m->extra, m->extra_len, &extra))
		return false;
	*addr = base + index_of(m, index) * m->scale + (uint64_t)m->disp;
	switch ((enum ts_op_mem_special)m->special) {
	case TS_MEM_PLAIN: break;
	case TS_MEM_PUSHED: *addr -= m->size; break;
	case TS_MEM_BIT: *addr += m->size ? bit_move(m, extra) : 0; break;
	case TS_MEM_TABLE: *addr += extra; break;
	case TS_MEM_UNPLACED: return false;
	}
	*addr = (*addr & (m->is_stack ? UINT64_MAX : ops->addr_mask)) + segment;
	*addr &= ts_arch_addr_mask(state->arch);
	return true;
}

/* A condition code of ARM, by the flags N Z C V in the highest bits. */
static bool arm_holds(unsigned code, uint32_t flags)
{
	bool n = flags >> 31 & 1, z = flags >> 30 & 1, c = flags >> 29 & 1, v = flags >> 28 & 1;
	bool holds = true;

	switch (code >> 1) {
	case 0: holds = z; break;
	case 1: holds = c; break;
	case 2: holds = n; break;
	case 3: holds = v; break;
	case 4: holds = c && !z; break;
	case 5: holds = n == v; break;
	case 6: holds = n == v && !z; break;
	default: return true;
	}
	return holds != (code & 1);
}

enum ts_op_happens ts_operands_happen(const struct ts_operands *ops, const struct ts_op_state *state)
{
	uint64_t value;
	bool does = true;

	switch ((enum ts_op_condition)ops->condition) {
	case TS_IF_ALWAYS: break;
	case TS_IF_COUNT:
		if (!get(state, ops->cond_off, ops->cond_len, &value))
			return TS_MAY_HAPPEN;
		does = value & ops->cond_mask;
		break;
	case TS_IF_FLAGS:
		if (state->flags_off == TS_NO_OFF16 || !get(state, state->flags_off, 4, &value))
			return TS_MAY_HAPPEN;
		does = arm_holds(ops->cond_code, (uint32_t)value);
		break;
	}
	return does ? TS_HAPPENS : TS_HAPPENS_NOT;
}

/* Does a transfer read or write memory operand @i? */
static bool has_memory(const struct ts_operands *ops, unsigned i)
{
	for (unsigned k = 0; k < ops->n; k++) {
		const struct ts_transfer *t = &ops->transfers[k];

		if ((t->to.kind == TS_AT_MEM && t->to.mem == i) || (t->from.kind == TS_AT_MEM && t->from.mem == i))
			return true;
	}
	return false;
}

void ts_operands_leave_out(struct ts_operands *ops)
{
	bool had_memory[TS_MAX_OP_MEM];
	unsigned n = 0;

	for (unsigned i = 0; i < ops->n_mem; i++)
		had_memory[i] = has_memory(ops, i);
	for (unsigned k = 0; k < ops->n; k++) {
		if (!ops->transfers[k].is_conditional)
			ops->transfers[n++] = ops->transfers[k];
	}
	ops->n = (uint8_t)n;
	for (unsigned i = 0; i < ops->n_mem; i++) {
		if (had_memory[i] && !has_memory(ops, i))
			ops->mem[i].base = ops->mem[i].index = ops->mem[i].extra = TS_NO_OFF16;
	}
	if (ops->flow == TS_OP_CALL || ops->flow == TS_OP_CALL_INDIRECT)
		ops->flow = TS_OP_NEXT;
}
