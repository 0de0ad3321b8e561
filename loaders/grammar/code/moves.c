/* SPDX-License-Identifier: MIT */
/*
 * What an instruction moves between memory and registers: values of accesses of which a trace has the addresses
 * alone, and accesses of which it has nothing but the registers.  Instructions are decoded by src/arch/operands/operands.
 */
#include "decoder.h"

#include <string.h>

/* The longest access whose value is appended. */
#define MAX_VALUE 64u

/* ------------------------------------------------------------------------------------------------- taking */

static void add_move(struct grammar_moves *m, const struct ts_arch *arch, uint64_t pc, const struct ts_operands *ops,
		     const struct ts_transfer *t, bool is_store)
{
	const struct ts_op_place *mem = is_store ? &t->to : &t->from, *other = is_store ? &t->from : &t->to;
	struct grammar_move *move;
	uint8_t *bits = is_store ? &m->writes : &m->reads;

	*bits |= (uint8_t)(1u << mem->mem);
	if (m->sizes[mem->mem] < mem->off + mem->len)
		m->sizes[mem->mem] = (uint16_t)(mem->off + mem->len);
	if (!t->is_conditional)
		m->always |= (uint8_t)(1u << mem->mem);
	if (m->n == GRAMMAR_MAX_MOVES) { /* the last move then has no value */
		m->moves[m->n - 1].way = TS_WAY_UNKNOWN;
		m->is_known = false;
		return;
	}
	move = &m->moves[m->n++];
	*move = (struct grammar_move){ .constant = t->constant, .off = mem->off, .len = mem->len, .reg = other->off,
				       .mem = mem->mem, .way = t->way, .unit = t->unit, .is_store = is_store };
	if (is_store && other->kind == TS_AT_PC && arch->addr_bits / 8 == mem->len) {
		move->constant = pc + ops->len;
		move->way = TS_WAY_PART;
		move->unit = 0;
	} else if (t->way == TS_WAY_COPY && (other->kind != TS_AT_REG || other->len != mem->len)) {
		move->way = TS_WAY_UNKNOWN;
	}
}

/* A register that another transfer writes, too, does not show what was loaded. */
static bool is_written_twice(const struct ts_operands *ops, unsigned n)
{
	const struct ts_op_place *to = &ops->transfers[n].to;

	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_op_place *other = &ops->transfers[i].to;

		if (i != n && other->kind == TS_AT_REG && other->off < to->off + to->len && to->off < other->off + other->len)
			return true;
	}
	return false;
}

void grammar_moves_take(struct grammar_moves *m, const struct ts_arch *arch, uint64_t pc, const struct ts_operands *ops)
{
	*m = (struct grammar_moves){ .addr_mask = ops->addr_mask, .cond_mask = ops->cond_mask, .cond_off = ops->cond_off,
				     .cond_len = ops->cond_len, .cond_code = ops->cond_code, .condition = ops->condition,
				     .n_mem = ops->n_mem, .is_repeated = ops->is_repeated };
	memcpy(m->mem, ops->mem, sizeof(m->mem));
	for (unsigned i = 0; i < m->n_mem; i++)
		m->sizes[i] = m->mem[i].size;
	m->is_syscall = ops->flow == TS_OP_SYSCALL;
	m->is_known = ops->is_complete && ops->flow != TS_OP_SYSCALL && ops->flow != TS_OP_TRAP;
	for (unsigned i = 0; i < ops->n; i++) {
		const struct ts_transfer *t = &ops->transfers[i];

		if (t->to.kind == TS_AT_MEM)
			add_move(m, arch, pc, ops, t, true);
		if (t->from.kind == TS_AT_MEM)
			add_move(m, arch, pc, ops, t, false);
		if (t->from.kind == TS_AT_MEM && t->to.kind == TS_AT_REG && is_written_twice(ops, i) && m->n)
			m->moves[m->n - 1].way = TS_WAY_UNKNOWN;
	}
}

static bool keep_common_move(struct grammar_move *a, const struct grammar_move *b)
{
	if (a->off != b->off || a->len != b->len || a->reg != b->reg || a->mem != b->mem || a->unit != b->unit ||
	    a->is_store != b->is_store)
		return false;
	if (a->way != b->way || a->constant != b->constant)
		a->way = TS_WAY_UNKNOWN;
	return true;
}

bool grammar_moves_keep_common(struct grammar_moves *m, const struct grammar_moves *other)
{
	m->is_cut = true;
	for (unsigned i = 0; i < m->n && m->n == other->n; i++) {
		if (!keep_common_move(&m->moves[i], &other->moves[i]))
			return false;
	}
	return m->n == other->n && m->n_mem == other->n_mem && m->reads == other->reads && m->writes == other->writes &&
	       m->always == other->always && m->is_repeated == other->is_repeated && m->is_syscall == other->is_syscall &&
	       m->condition == other->condition && !memcmp(m->sizes, other->sizes, sizeof(m->sizes));
}

/* ------------------------------------------------------------------------------------------------- values */

/* The operands as src/arch/operands/operands takes them. */
static void as_operands(const struct grammar_moves *m, struct ts_operands *ops)
{
	ops->n = 0;
	ops->n_mem = m->n_mem;
	memcpy(ops->mem, m->mem, sizeof(ops->mem));
	ops->addr_mask = m->addr_mask;
	ops->cond_mask = m->cond_mask;
	ops->cond_off = m->cond_off;
	ops->cond_len = m->cond_len;
	ops->cond_code = m->cond_code;
	ops->condition = m->condition;
}

/* The bytes of one move.  Returns false if one of them is not known. */
static bool take_bytes(const struct grammar_move *move, const struct ts_op_state *state, uint8_t *bytes)
{
	for (unsigned i = 0; i < move->len; i++) {
		switch (move->way) {
		case TS_WAY_COPY:
			if (!state->known[move->reg + i])
				return false;
			bytes[i] = state->g[move->reg + i];
			break;
		case TS_WAY_PART:
			if (move->unit + i >= 8)
				return false;
			bytes[i] = (uint8_t)(move->constant >> 8 * (move->unit + i));
			break;
		case TS_WAY_ZERO: bytes[i] = 0; break;
		default: return false;
		}
	}
	return true;
}

/*
 * The value of operand @i, of @size bytes: what is stored there by the registers before the instruction, or what was
 * loaded by those after it.  Returns false if it is not known.
 */
static bool find_value(const struct grammar_moves *m, unsigned i, bool is_store, const struct ts_op_state *state,
		       uint8_t bytes[MAX_VALUE])
{
	uint8_t have[MAX_VALUE] = { 0 };
	uint16_t size = m->sizes[i];

	for (const struct grammar_move *move = m->moves; move < m->moves + m->n; move++) {
		if (move->mem != i || move->is_store != is_store)
			continue;
		if (!is_store && move->way != TS_WAY_COPY)
			continue; /* others may show the bytes */
		if (size > MAX_VALUE || move->off > size || move->len > size - move->off ||
		    (is_store && memchr(have + move->off, 1, move->len)) || !take_bytes(move, state, bytes + move->off))
			return false;
		memset(have + move->off, 1, move->len);
	}
	return size && size <= MAX_VALUE && !memchr(have, 0, size);
}

/* ------------------------------------------------------------------------------------------------- filling */

/*
 * Find the memory operand that contains an access.  *off is set to the offset in the operand of the first
 * accessed byte.
 *
 * Returns the index of the operand; -1 if none is found, or if the addresses do not determine it.
 */
static int find_operand(const struct grammar_moves *m, const struct ts_op_state *state, const struct ts_effect *e, uint64_t *off)
{
	uint8_t those = e->kind == TS_FX_WRITE ? m->writes : m->reads;
	struct ts_operands ops;
	int only = -1;
	unsigned n = 0;

	as_operands(m, &ops);
	*off = 0;
	for (unsigned i = 0; i < m->n_mem; i++) {
		uint64_t addr;

		if (!(those >> i & 1))
			continue;
		if (m->is_cut || !ts_operands_addr(&ops, i, state, &addr)) {
			only = m->sizes[i] == e->len ? (int)i : -1;
			n++;
		} else if (e->addr - addr < m->sizes[i] && e->len <= m->sizes[i] - (e->addr - addr)) {
			*off = e->addr - addr;
			return (int)i;
		}
	}
	return n == 1 && !(those & (those - 1)) ? only : -1;
}

void grammar_moves_fill(const struct grammar_moves *m, const struct ts_op_state *state, enum ts_effect_kind kind,
			struct ts_steps *fx)
{
	for (uint32_t i = 0; i < fx->n_effects && !m->is_repeated; i++) {
		struct ts_effect *e = &fx->effects[i];
		uint8_t bytes[MAX_VALUE];
		uint64_t off;
		int operand;

		if (e->kind != kind || e->is_hidden || e->data != TS_NO_DATA || e->len > MAX_VALUE)
			continue;
		operand = find_operand(m, state, e, &off);
		if (operand < 0 || !find_value(m, (unsigned)operand, kind == TS_FX_WRITE, state, bytes) ||
		    !ts_steps_room(fx, 0, MAX_VALUE))
			continue;
		memcpy(fx->data + fx->n_data, bytes + off, e->len);
		e->data = fx->n_data;
		fx->n_data += (uint32_t)e->len;
	}
}

/* ------------------------------------------------------------------------------------------------- telling */

/* Append an access of operand @i at @addr; its value is by the registers of @state, NULL: not known. */
static void tell(const struct grammar_moves *m, unsigned i, uint64_t addr, enum ts_effect_kind kind,
		 const struct ts_op_state *state, struct ts_steps *out)
{
	uint8_t bytes[MAX_VALUE];
	struct ts_effect *e;

	if (state && find_value(m, i, kind == TS_FX_WRITE, state, bytes))
		e = ts_steps_value(out, kind, addr, bytes, m->sizes[i]);
	else
		e = ts_steps_effect(out, kind, addr, m->sizes[i]);
	if (e)
		e->is_hidden = kind == TS_FX_READ;
}

bool grammar_moves_append(const struct grammar_moves *m, const struct ts_op_state *before, const struct ts_op_state *after,
			struct ts_steps *out)
{
	bool is_unseen = !m->is_known || (m->is_repeated && m->writes);
	enum ts_op_happens happens;
	struct ts_operands ops;

	as_operands(m, &ops);
	happens = ts_operands_happen(&ops, before);
	for (unsigned pass = 0; pass < 2 && !m->is_repeated; pass++) {
		uint8_t those = pass ? m->writes : m->reads;

		for (unsigned i = 0; i < m->n_mem; i++) {
			enum ts_op_happens does = m->always >> i & 1 ? TS_HAPPENS : happens;
			uint64_t addr;

			if (!(those >> i & 1) || does == TS_HAPPENS_NOT)
				continue;
			if (does == TS_HAPPENS && m->sizes[i] && ts_operands_addr(&ops, i, before, &addr) &&
			    m->sizes[i] - UINT64_C(1) <= ts_arch_addr_mask(before->arch) - addr)
				tell(m, i, addr, pass ? TS_FX_WRITE : TS_FX_READ, pass ? before : after, out);
			else
				is_unseen |= pass;
		}
	}
	if (is_unseen)
		ts_steps_effect(out, TS_FX_UNSEEN, 0, 0);
	return !is_unseen;
}
