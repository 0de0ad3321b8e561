/* SPDX-License-Identifier: MIT */
#include "location.h"

#include <stdlib.h>

#define MAX_STACK 16u
#define MAX_OPS	  256u
#define MAX_DEPTH 2u

#define OPTIMIZED_OUT "has no place there: it is optimized out"
#define COMPUTED      "has no place there: its value is computed"
#define UNKNOWN_FRAME "has a place that depends on registers or memory which the recording does not show there"
#define UNKNOWN_TABLES "has a place in the frame of its function, and no table of the program tells where that is"
#define UNREAD	      "has a place that is described in a way that is not understood"
#define IN_PIECES     "lies in several places there"

struct evaluation {
	struct ts_prototypes *p;
	const struct ts_variable_frame *frame;
	Dwarf_Die *function; /* NULL: its frame base is not to be asked for */
	uint64_t stack[MAX_STACK];
	unsigned n;
	unsigned depth;  /* of evaluations in one another: a frame base refers to the frame's address */
	bool is_in_frame; /* registers were read */
	int reg;         /* the place is a register; -1: it is not */
	const char *why; /* NULL: nothing is wrong */
};

static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t n);

static bool fail(struct evaluation *e, const char *why)
{
	e->why = why;
	return false;
}

static bool push(struct evaluation *e, uint64_t value)
{
	if (e->n == MAX_STACK)
		return fail(e, UNREAD);
	e->stack[e->n++] = value;
	return true;
}

static bool push_register(struct evaluation *e, uint64_t number, uint64_t off)
{
	uint64_t value;

	e->is_in_frame = true;
	if (number > UINT16_MAX || !e->frame->reg(e->frame->user, (unsigned)number, &value))
		return fail(e, UNKNOWN_FRAME);
	return push(e, value + off);
}

/* ----------------------------------------------------------------------------------------------- the frame */

/* The one number that the operations leave, a register's content where they name one. */
static bool evaluate_apart(struct evaluation *e, const Dwarf_Op *ops, size_t n)
{
	struct evaluation inner = { .p = e->p, .frame = e->frame, .depth = e->depth + 1, .reg = -1 };
	bool done = inner.depth <= MAX_DEPTH && evaluate(&inner, ops, n);

	if (done && inner.reg >= 0)
		done = push_register(&inner, (unsigned)inner.reg, 0);
	if (!done || !inner.n)
		return fail(e, inner.why ? inner.why : UNREAD);
	e->is_in_frame = true;
	return push(e, inner.stack[inner.n - 1]);
}

/* The canonical frame address: the tables for unwinding are in the program, or beside its debugging information. */
static bool push_cfa(struct evaluation *e)
{
	struct ts_prototypes *p = e->p;
	Dwarf_CFI *tables[2];
	const char *why = UNKNOWN_TABLES;
	bool done = false;

	if (!p->cfi)
		p->cfi = dwarf_getcfi_elf(p->frame_elf ? p->frame_elf : p->elf);
	tables[0] = dwarf_getcfi(p->dwarf);
	tables[1] = p->cfi;
	for (unsigned i = 0; i < 2 && !done; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t n;

		if (!tables[i] || dwarf_cfi_addrframe(tables[i], e->frame->pc, &frame))
			continue;
		e->why = NULL;
		done = !dwarf_frame_cfa(frame, &ops, &n) && n && evaluate_apart(e, ops, n);
		why = e->why ? e->why : UNREAD;
		free(frame);
	}
	e->why = done ? NULL : why;
	return done;
}

static bool push_frame_base(struct evaluation *e, uint64_t off)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;

	if (!e->function || !dwarf_attr(e->function, DW_AT_frame_base, &at) ||
	    dwarf_getlocation_addr(&at, e->frame->pc, &ops, &n, 1) != 1)
		return fail(e, UNREAD);
	if (!evaluate_apart(e, ops, n))
		return false;
	e->stack[e->n - 1] += off;
	return true;
}

/* --------------------------------------------------------------------------------------------- operations */

static bool read_memory(struct evaluation *e, uint64_t len)
{
	uint64_t *top;

	if (!e->n || !len || len > 8)
		return fail(e, UNREAD);
	top = &e->stack[e->n - 1];
	return e->frame->mem(e->frame->user, *top, (unsigned)len, top) || fail(e, UNKNOWN_FRAME);
}

static bool combine(struct evaluation *e, unsigned op)
{
	uint64_t *x, y;

	if (e->n < 2)
		return fail(e, UNREAD);
	y = e->stack[--e->n];
	x = &e->stack[e->n - 1];
	switch (op) {
	case DW_OP_plus: *x += y; return true;
	case DW_OP_minus: *x -= y; return true;
	case DW_OP_mul: *x *= y; return true;
	case DW_OP_and: *x &= y; return true;
	case DW_OP_or: *x |= y; return true;
	case DW_OP_xor: *x ^= y; return true;
	case DW_OP_shl: *x = y < 64 ? *x << y : 0; return true;
	case DW_OP_shr: *x = y < 64 ? *x >> y : 0; return true;
	default: return fail(e, UNREAD);
	}
}

static bool do_one(struct evaluation *e, const Dwarf_Op *op)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(e, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(e, atom - DW_OP_breg0, op->number);
	switch (atom) {
	case DW_OP_addr: return push(e, op->number + e->frame->bias);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(e, op->number);
	case DW_OP_bregx: return push_register(e, op->number, op->number2);
	case DW_OP_fbreg: return push_frame_base(e, op->number);
	case DW_OP_call_frame_cfa: return push_cfa(e);
	case DW_OP_deref: return read_memory(e, e->p->addr_len);
	case DW_OP_deref_size: return read_memory(e, op->number);
	case DW_OP_plus_uconst: return push(e, op->number) && combine(e, DW_OP_plus);
	case DW_OP_nop: return true;
	case DW_OP_implicit_value:
	case DW_OP_stack_value:
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value: return fail(e, COMPUTED);
	case DW_OP_piece:
	case DW_OP_bit_piece: return fail(e, IN_PIECES);
	default: return combine(e, atom);
	}
}

static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t n)
{
	if (n > MAX_OPS)
		return fail(e, UNREAD);
	for (size_t i = 0; i < n; i++) {
		unsigned atom = ops[i].atom;
		bool is_register = (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) || (atom == DW_OP_regx && ops[i].number <= UINT16_MAX);

		/* what follows takes more than the register: pieces, or a value */
		if (is_register && n > 1)
			return fail(e, IN_PIECES);
		if (is_register)
			e->reg = atom == DW_OP_regx ? (int)ops[i].number : (int)(atom - DW_OP_reg0);
		else if (!do_one(e, &ops[i]))
			return false;
	}
	return true;
}

void ts_location_find(struct ts_prototypes *p, const struct ts_variable_frame *frame, Dwarf_Die *die, Dwarf_Die *function,
		      struct ts_variable *v)
{
	struct evaluation e = { .p = p, .frame = frame, .function = function, .reg = -1 };
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n = 0;

	v->kind = TS_VARIABLE_NOWHERE;
	if (!dwarf_attr_integrate(die, DW_AT_location, &at) || dwarf_getlocation_addr(&at, frame->pc, &ops, &n, 1) != 1 || !n) {
		v->why = dwarf_hasattr_integrate(die, DW_AT_const_value) ? COMPUTED : OPTIMIZED_OUT;
		return;
	}
	if (ops[n - 1].atom == DW_OP_stack_value) {
		v->why = COMPUTED;
		return;
	}
	if (!evaluate(&e, ops, n) || (e.reg < 0 && !e.n)) {
		v->why = e.why ? e.why : UNREAD;
		return;
	}
	v->kind = e.reg < 0 ? TS_VARIABLE_MEMORY : TS_VARIABLE_REGISTER;
	v->addr = e.reg < 0 ? e.stack[e.n - 1] : 0;
	v->is_in_frame = e.is_in_frame;
	v->reg = e.reg < 0 ? 0 : (unsigned)e.reg;
}
