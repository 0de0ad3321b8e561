/* SPDX-License-Identifier: MIT */
/* DWARF's expressions for places, DWARF 5 section 2.5.  Private to variables.c. */
#include "prototypes_parts.h"

#include <stdlib.h>

#define MAX_STACK 16u
#define MAX_OPS	  256u
#define MAX_DEPTH 2u
#define MAX_ROWS  64u

#define OPTIMIZED_OUT "has no place there: it is optimized out"
#define COMPUTED      "has no place there: its value is computed"
#define UNKNOWN_FRAME "has a place that depends on registers or memory which the recording does not show there"
#define UNKNOWN_TABLES "has a place in the frame of its function, and no table of the program locates that frame"
#define UNMADE_FRAME "has no place there: the frame of its function is not made yet, or is left already"
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

/* The tables for unwinding are in the program, or beside its debugging information. */
static Dwarf_Frame *frame_at(struct ts_prototypes *p, unsigned table, uint64_t pc)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi;

	if (!table) {
		cfi = dwarf_getcfi(p->dwarf);
	} else {
		if (!p->cfi)
			p->cfi = dwarf_getcfi_elf(p->frame_elf ? p->frame_elf : p->elf);
		cfi = p->cfi;
	}
	return cfi && !dwarf_cfi_addrframe(cfi, pc, &frame) ? frame : NULL;
}

/* The canonical frame address. */
static bool push_cfa(struct evaluation *e)
{
	const char *why = UNKNOWN_TABLES;
	bool done = false;

	for (unsigned i = 0; i < 2 && !done; i++) {
		Dwarf_Frame *frame = frame_at(e->p, i, e->frame->pc);
		Dwarf_Op *ops;
		size_t n;

		if (!frame)
			continue;
		e->why = NULL;
		done = !dwarf_frame_cfa(frame, &ops, &n) && n && evaluate_apart(e, ops, n);
		why = e->why ? e->why : UNREAD;
		free(frame);
	}
	e->why = done ? NULL : why;
	return done;
}

/* How the canonical frame address is computed in a part of a function: register and offset. */
struct rule {
	uint64_t reg, off, len; /* len: bytes of code */
};

/* The rule at @pc; *next gets the end of the code for which it holds.  Returns false if no table has a rule of that form. */
static bool rule_at(struct ts_prototypes *p, uint64_t pc, struct rule *rule, uint64_t *next)
{
	bool done = false;

	for (unsigned i = 0; i < 2 && !done; i++) {
		Dwarf_Frame *frame = frame_at(p, i, pc);
		Dwarf_Addr first, end;
		bool is_signal;
		Dwarf_Op *ops;
		size_t n;

		if (!frame)
			continue;
		done = !dwarf_frame_cfa(frame, &ops, &n) && n == 1 && ops->atom == DW_OP_bregx &&
		       dwarf_frame_info(frame, &first, &end, &is_signal) >= 0 && end > pc;
		if (done) {
			*rule = (struct rule){ .reg = ops->number, .off = ops->number2, .len = end - pc };
			*next = end;
		}
		free(frame);
	}
	return done;
}

static bool is_same_rule(const struct rule *x, const struct rule *y)
{
	return x->reg == y->reg && x->off == y->off;
}

/*
 * The register that a frame base names holds it between the instructions that make the frame and those that leave it
 * (clang, rustc).  There the rule is the one that most of the function's code has, that of its entry left out.
 */
static bool is_frame_made(const struct evaluation *e)
{
	struct rule here, entry, best, rules[MAX_ROWS];
	Dwarf_Addr pc, end;
	uint64_t next;
	unsigned n = 0;

	if (dwarf_lowpc(e->function, &pc) || dwarf_highpc(e->function, &end))
		return true;
	if (!rule_at(e->p, e->frame->pc, &here, &next) || !rule_at(e->p, pc, &entry, &next))
		return false;
	best = entry;
	best.len = 0;
	for (unsigned row = 0, i; row < MAX_ROWS && pc < end && rule_at(e->p, pc, &rules[n], &next); row++, pc = next) {
		if (is_same_rule(&rules[n], &entry))
			continue;
		for (i = 0; !is_same_rule(&rules[i], &rules[n]); i++)
			;
		if (i == n)
			n++;
		else
			rules[i].len += rules[n].len;
		if (rules[i].len > best.len)
			best = rules[i];
	}
	return is_same_rule(&here, &best);
}

static bool push_frame_base(struct evaluation *e, uint64_t off)
{
	Dwarf_Attribute at;
	Dwarf_Op *ops;
	size_t n;

	if (!e->function || !dwarf_attr(e->function, DW_AT_frame_base, &at) ||
	    dwarf_getlocation_addr(&at, e->frame->pc, &ops, &n, 1) != 1)
		return fail(e, UNREAD);
	if (n == 1 && ops->atom != DW_OP_call_frame_cfa && !is_frame_made(e))
		return fail(e, UNMADE_FRAME);
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
