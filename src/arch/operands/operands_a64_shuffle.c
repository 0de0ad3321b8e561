/* SPDX-License-Identifier: MIT */
/* AArch64: instructions that move the bytes of vectors to other lanes (DDI 0487, C7.2). */
#include "operands_cs.h"

#include <string.h>

#define MAX_TABLE 4u

/* A vector: the register with as many bytes as the arrangement names, in elements of @unit bytes. */
struct vector {
	struct ts_cs_reg reg;
	unsigned unit, n;
};

static bool find_vector(const struct ts_cs_work *w, unsigned i, struct vector *v)
{
	static const uint8_t units[] = { [ARM64_VAS_8B] = 1, [ARM64_VAS_16B] = 1, [ARM64_VAS_4H] = 2, [ARM64_VAS_8H] = 2,
					 [ARM64_VAS_2S] = 4, [ARM64_VAS_4S] = 4,  [ARM64_VAS_1D] = 8, [ARM64_VAS_2D] = 8 };
	const cs_arm64_op *o = &w->insn->detail->arm64.operands[i];
	bool is_half = o->vas == ARM64_VAS_8B || o->vas == ARM64_VAS_4H || o->vas == ARM64_VAS_2S || o->vas == ARM64_VAS_1D;

	if (i >= w->insn->detail->arm64.op_count || o->type != ARM64_OP_REG || (size_t)o->vas >= sizeof(units))
		return false;
	v->reg = ts_cs_reg(w, o->reg);
	v->unit = units[o->vas];
	if (!v->unit || v->reg.len != 16)
		return false;
	v->reg.len = is_half ? 8 : 16;
	v->n = v->reg.len / v->unit;
	return true;
}

/* Bytes [@at, @at + @len) of @to are those of @from from @from_at on. */
static void carry(struct ts_cs_work *w, const struct vector *to, unsigned at, unsigned len, const struct vector *from, unsigned from_at,
		  unsigned order)
{
	w->order = order;
	ts_cs_add(w, ts_cs_part(w, &to->reg, at, len), ts_cs_part(w, &from->reg, from_at, len), TS_WAY_COPY);
}

/* Which element of both sources, those of the second one behind those of the first, element @i of @n is. */
static unsigned picked(const char *name, unsigned i, unsigned n)
{
	bool is_second = name[3] == '2';

	if (*name == 'z')
		return i / 2 + (is_second ? n / 2 : 0) + (i & 1 ? n : 0);
	if (*name == 'u')
		return 2 * i + is_second;
	return (i & ~1u) + is_second + (i & 1 ? n : 0);
}

static bool make_picks(struct ts_cs_work *w)
{
	struct vector to, from[2];

	if (!find_vector(w, 0, &to) || !find_vector(w, 1, &from[0]) || !find_vector(w, 2, &from[1]))
		return false;
	for (unsigned i = 0; i < to.n; i++) {
		unsigned at = picked(w->insn->mnemonic, i, to.n);

		carry(w, &to, i * to.unit, to.unit, &from[at / to.n], at % to.n * to.unit, 1 + at / to.n);
	}
	ts_cs_clear_above(w, &to.reg);
	return true;
}

/* ext: the bytes from one of the first source on, then those of the second. */
static bool make_extract(struct ts_cs_work *w)
{
	const cs_arm64_op *by = &w->insn->detail->arm64.operands[3];
	struct vector to, a, b;
	unsigned n;

	if (w->insn->detail->arm64.op_count != 4 || by->type != ARM64_OP_IMM || !find_vector(w, 0, &to) || !find_vector(w, 1, &a) ||
	    !find_vector(w, 2, &b) || (uint64_t)by->imm >= to.n)
		return false;
	n = (unsigned)by->imm;
	carry(w, &to, 0, to.n - n, &a, n, 1);
	if (n)
		carry(w, &to, to.n - n, n, &b, 0, 2);
	ts_cs_clear_above(w, &to.reg);
	return true;
}

/* rev16, rev32, rev64: the order of the elements inside of each 2, 4 or 8 bytes. */
static bool make_reverse(struct ts_cs_work *w)
{
	unsigned box = w->insn->mnemonic[3] == '1' ? 2 : w->insn->mnemonic[3] == '3' ? 4 : 8;
	struct vector to, from;

	if (!find_vector(w, 0, &to) || !find_vector(w, 1, &from) || to.unit >= box)
		return false;
	for (unsigned at = 0; at < to.reg.len; at += to.unit)
		carry(w, &to, at, to.unit, &from, at / box * box + (box - to.unit - at % box), 1);
	ts_cs_clear_above(w, &to.reg);
	return true;
}

/* dup: each element is the low bytes of a register, or one element of a vector. */
static bool make_dup(struct ts_cs_work *w)
{
	const cs_arm64_op *o = &w->insn->detail->arm64.operands[1];
	struct vector to, from = { 0 };
	unsigned at;

	if (!find_vector(w, 0, &to) || w->insn->detail->arm64.op_count != 2 || o->type != ARM64_OP_REG)
		return false;
	from.reg = ts_cs_reg(w, o->reg);
	at = o->vector_index < 0 ? 0 : (unsigned)o->vector_index * to.unit;
	if (from.reg.is_zero || at + to.unit > from.reg.len)
		return false;
	for (unsigned i = 0; i < to.n; i++)
		carry(w, &to, i * to.unit, to.unit, &from, at, 1);
	ts_cs_clear_above(w, &to.reg);
	return true;
}

/* tbl: bytes of one to four registers; a selector that is too large makes zero. */
static bool make_table(struct ts_cs_work *w)
{
	unsigned n = w->insn->detail->arm64.op_count;
	struct ts_selection how = { .unit = 1, .mask = 255 };
	struct vector to, table[MAX_TABLE], selector;

	if (n < 3 || n - 2 > MAX_TABLE || !find_vector(w, 0, &to) || !find_vector(w, n - 1, &selector) || selector.reg.len != to.reg.len)
		return false;
	for (unsigned i = 0; i < n - 2; i++) {
		if (!find_vector(w, i + 1, &table[i]) || table[i].reg.len != 16)
			return false;
	}
	for (unsigned i = 0; i < n - 2; i++, how.first = (uint8_t)(how.first + 16)) {
		w->order = i + 1;
		ts_operands_set_selection(ts_cs_add(w, ts_cs_part(w, &to.reg, 0, to.reg.len), ts_cs_part(w, &table[i].reg, 0, 16),
						    TS_WAY_SELECT), &how);
	}
	w->order = n - 1;
	ts_operands_set_selection(ts_cs_add(w, ts_cs_part(w, &to.reg, 0, to.reg.len), ts_cs_part(w, &selector.reg, 0, to.reg.len),
					    TS_WAY_SELECTOR), &how);
	ts_cs_clear_above(w, &to.reg);
	return true;
}

bool ts_operands_a64_shuffle(struct ts_cs_work *w)
{
	if (w->d->set->arch->is_big_endian)
		return false;
	if (ts_cs_is_one_of(w, "zip1 zip2 uzp1 uzp2 trn1 trn2"))
		return make_picks(w);
	if (ts_cs_is_one_of(w, "rev16 rev32 rev64"))
		return make_reverse(w);
	if (ts_cs_is(w, "ext"))
		return make_extract(w);
	if (ts_cs_is(w, "dup"))
		return make_dup(w);
	return ts_cs_is(w, "tbl") && make_table(w);
}
