/* SPDX-License-Identifier: MIT */
/*
 * The x87 stack: its registers are named from its top, so that a push or pop moves all of them.
 *
 * Sources and results have the names that they have before the instruction; a pop renames results.
 */
#include "operands_x86_parts.h"

enum { PUSH = 1, POP = 2, POP_TWICE = 4, IS_LOAD = 8, IS_STORE = 16, IS_EXCHANGE = 32, IS_CONSTANT = 64 };

/* The contents of st(i) after the instruction, under the name before it. */
struct slot {
	bool is_result; /* it is made of the operands */
	uint8_t from;   /* else it is this register */
};

static unsigned number_of(const struct ts_x86_work *w, const struct ts_x86_operand *o)
{
	for (unsigned i = 0; i < TS_N_X87; i++) {
		if (o->n && o->piece[0].kind == TS_AT_REG && o->piece[0].off == w->d->st[i])
			return i;
	}
	return TS_N_X87;
}

static struct ts_x86_operand st(const struct ts_x86_work *w, unsigned i)
{
	struct ts_x86_operand o = { .n = 1, .size = 10 };

	o.piece[0] = ts_op_reg(w->d->st[i], 10);
	return o;
}

/* @to is made of the operands that are read, or is a copy of a ten-byte one. */
static void put_result(struct ts_x86_work *w, unsigned i, unsigned how)
{
	struct ts_x86_operand to = st(w, i);

	for (unsigned k = 0; k < w->n; k++) {
		const struct ts_x86_operand *o = &w->op[k];
		bool is_copy = how & (IS_LOAD | IS_STORE) && o->size == 10;

		if (o->is_read && o->n)
			ts_x86_carry(w, &to, 0, 10, o, 0, o->size, is_copy ? TS_WAY_COPY : TS_WAY_MIX);
	}
	if (how & IS_CONSTANT)
		ts_x86_fill(w, &to, 0, 10, TS_WAY_CONSTANT);
}

static void put_slots(struct ts_x86_work *w, const struct slot slots[TS_N_X87], unsigned how)
{
	for (unsigned i = 0; i < TS_N_X87; i++) {
		struct ts_x86_operand to = st(w, i), from;

		if (slots[i].is_result) {
			put_result(w, i, how);
		} else if (slots[i].from != i) {
			from = st(w, slots[i].from);
			ts_x86_carry(w, &to, 0, 10, &from, 0, 10, TS_WAY_COPY);
		}
	}
}

static void turn(struct slot slots[TS_N_X87], bool is_push)
{
	struct slot old[TS_N_X87];

	for (unsigned i = 0; i < TS_N_X87; i++)
		old[i] = slots[i];
	for (unsigned i = 0; i < TS_N_X87; i++)
		slots[i] = old[(is_push ? i + TS_N_X87 - 1 : i + 1) % TS_N_X87];
}

static void exchange(const struct ts_x86_work *w, struct slot slots[TS_N_X87])
{
	unsigned i = number_of(w, &w->op[0]);

	if (i >= TS_N_X87)
		return;
	slots[0].from = (uint8_t)i;
	slots[i].from = 0;
}

static void put_other_results(struct ts_x86_work *w, unsigned how)
{
	for (unsigned k = 0; k < w->n; k++) {
		struct ts_x86_operand *to = &w->op[k];

		if (!to->is_written || number_of(w, to) < TS_N_X87)
			continue;
		if (how & IS_STORE && to->size == 10 && to->piece[0].kind == TS_AT_MEM) {
			struct ts_x86_operand from = st(w, 0);

			ts_x86_carry(w, to, 0, 10, &from, 0, 10, TS_WAY_COPY);
		} else {
			ts_x86_mix_into(w, to);
		}
	}
	ts_x86_mix_flags(w);
}

static void make_x87(struct ts_x86_work *w, unsigned how)
{
	struct slot slots[TS_N_X87];

	for (unsigned i = 0; i < TS_N_X87; i++) {
		if (w->d->st[i] == TS_NO_OFF16) {
			ts_x86_mix(w, 0);
			return;
		}
		slots[i] = (struct slot){ .from = (uint8_t)i };
	}
	put_other_results(w, how);
	if (how & IS_EXCHANGE)
		exchange(w, slots);
	if (how & PUSH)
		turn(slots, true);
	for (unsigned k = 0; k < w->n && !(how & (IS_EXCHANGE | PUSH)); k++) {
		unsigned i = number_of(w, &w->op[k]);

		if (w->op[k].is_written && i < TS_N_X87)
			slots[i].is_result = true;
	}
	if (how & PUSH)
		slots[0].is_result = true;
	if (how & (POP | POP_TWICE))
		turn(slots, false);
	if (how & POP_TWICE)
		turn(slots, false);
	put_slots(w, slots, how);
}

#define X87(name, how) { name, make_x87, how }

const struct ts_x86_rule ts_x87_rules[] = {
	X87("fabs", 0), X87("fadd", 0), X87("faddp", POP), X87("fbld", PUSH), X87("fbstp", POP),
	X87("fchs", 0), X87("fcom", 0), X87("fcomi", 0), X87("fcomip", POP), X87("fcomp", POP),
	X87("fcompp", POP_TWICE), X87("fcos", 0), X87("fdiv", 0), X87("fdivp", POP), X87("fdivr", 0),
	X87("fdivrp", POP), X87("ffreep", POP), X87("fiadd", 0), X87("ficom", 0), X87("ficomp", POP),
	X87("fild", PUSH), X87("fist", 0), X87("fistp", POP), X87("fisttp", POP), X87("fld", PUSH | IS_LOAD),
	X87("fld1", PUSH | IS_CONSTANT), X87("fldl2e", PUSH | IS_CONSTANT), X87("fldl2t", PUSH | IS_CONSTANT),
	X87("fldlg2", PUSH | IS_CONSTANT), X87("fldln2", PUSH | IS_CONSTANT), X87("fldpi", PUSH | IS_CONSTANT),
	X87("fldz", PUSH | IS_CONSTANT), X87("fmul", 0), X87("fmulp", POP), X87("fpatan", POP),
	X87("fptan", PUSH), X87("fsincos", PUSH), X87("fst", IS_STORE), X87("fstp", POP | IS_STORE),
	X87("fsub", 0), X87("fsubp", POP), X87("fsubr", 0), X87("fsubrp", POP), X87("fucom", 0),
	X87("fucomi", 0), X87("fucomip", POP), X87("fucomp", POP), X87("fucompp", POP_TWICE),
	X87("fxch", IS_EXCHANGE), X87("fxtract", PUSH), X87("fyl2x", POP), X87("fyl2xp1", POP),
};
const size_t ts_n_x87_rules = sizeof(ts_x87_rules) / sizeof(ts_x87_rules[0]);
