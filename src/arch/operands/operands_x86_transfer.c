/* SPDX-License-Identifier: MIT */
/* What the rules of x86 append: transfers between operands, and what becomes of the rest of a register. */
#include "operands_x86_parts.h"

#include <string.h>

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

/* Returns the index of the vector register whose lower half is at @off; -1 if no vector register begins there. */
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
