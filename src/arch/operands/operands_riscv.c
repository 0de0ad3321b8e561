/* SPDX-License-Identifier: MIT */
/*
 * RISC-V, RV32 and RV64 with M, A, F, D and C: what instructions read and write, by The RISC-V Instruction Set Manual,
 * Volume I (20191213), chapters 2 to 16 and 24.
 *
 * Decoded here: libcapstone knows RISC-V from version 5 on only, which then writes the texts.
 */
#include "operands_cs.h"

/* An instruction as its fields, a compressed one as what it represents. */
struct insn {
	uint32_t op, rd, rs1, rs2, f3, f7;
	int64_t imm;
	unsigned len;
};

struct work {
	struct ts_cs_work w;
	struct insn in;
	uint64_t pc;
	unsigned xlen; /* bytes of a register */
};

enum {
	LOAD = 0x03, LOAD_FP = 0x07, FENCE = 0x0f, OP_IMM = 0x13, AUIPC = 0x17, OP_IMM_32 = 0x1b, STORE = 0x23,
	STORE_FP = 0x27, AMO = 0x2f, OP = 0x33, LUI = 0x37, OP_32 = 0x3b, FMADD = 0x43, FMSUB = 0x47, FNMSUB = 0x4b,
	FNMADD = 0x4f, OP_FP = 0x53, BRANCH = 0x63, JALR = 0x67, JAL = 0x6f, SYSTEM = 0x73,
};

enum { ZERO = 0, RA = 1, SP = 2, T0 = 5 };

/* ------------------------------------------------------------------------------------------------- fields */

static uint32_t bits(uint32_t x, unsigned first, unsigned n)
{
	return x >> first & ((1u << n) - 1);
}

static int64_t sign(uint32_t x, unsigned n)
{
	return (int64_t)((uint64_t)x << (64 - n)) >> (64 - n);
}

static void take_long(struct insn *in, uint32_t x)
{
	*in = (struct insn){ .op = bits(x, 0, 7), .rd = bits(x, 7, 5), .rs1 = bits(x, 15, 5), .rs2 = bits(x, 20, 5),
			     .f3 = bits(x, 12, 3), .f7 = bits(x, 25, 7), .len = 4 };
	switch (in->op) {
	case STORE:
	case STORE_FP: in->imm = sign(bits(x, 25, 7) << 5 | bits(x, 7, 5), 12); break;
	case JAL: in->imm = sign(bits(x, 31, 1) << 20 | bits(x, 12, 8) << 12 | bits(x, 20, 1) << 11 | bits(x, 21, 10) << 1, 21); break;
	case LUI:
	case AUIPC: in->imm = sign(x & 0xfffff000, 32); break;
	default: in->imm = sign(bits(x, 20, 12), 12); break;
	}
}

/* Of a compressed one, the register of three bits. */
static uint32_t small(uint32_t x, unsigned first)
{
	return 8 + bits(x, first, 3);
}

/* Quadrant 0: loads and stores by a register, and addi4spn. */
static bool take_c0(struct insn *in, uint32_t x, unsigned xlen)
{
	uint32_t f3 = bits(x, 13, 3), word = bits(x, 10, 3) << 3 | bits(x, 6, 1) << 2 | bits(x, 5, 1) << 6,
		 twice = bits(x, 10, 3) << 3 | bits(x, 5, 2) << 6;
	bool is_store = f3 & 4, is_float = (f3 & 3) == 1 || ((f3 & 3) == 3 && xlen == 4), is_word = (f3 & 3) == 2 || ((f3 & 3) == 3 && xlen == 4);

	in->rs1 = small(x, 7);
	if (!f3) { /* addi4spn */
		in->op = OP_IMM;
		in->rd = small(x, 2);
		in->rs1 = SP;
		in->imm = bits(x, 5, 8);
		return in->imm;
	}
	if (f3 == 4)
		return false;
	in->op = is_store ? (is_float ? STORE_FP : STORE) : is_float ? LOAD_FP : LOAD;
	in->rd = in->rs2 = small(x, 2);
	in->f3 = is_word ? 2 : 3;
	in->imm = is_word ? word : twice;
	return true;
}

/* The distance that the compressed jal adds to the pc. */
static int64_t distance(uint32_t x)
{
	return sign(bits(x, 12, 1) << 11 | bits(x, 11, 1) << 4 | bits(x, 9, 2) << 8 | bits(x, 8, 1) << 10 | bits(x, 7, 1) << 6 |
			    bits(x, 6, 1) << 7 | bits(x, 3, 3) << 1 | bits(x, 2, 1) << 5,
		    12);
}

/* Quadrant 1: arithmetic, jumps and branches. */
static bool take_c1(struct insn *in, uint32_t x, unsigned xlen)
{
	uint32_t f3 = bits(x, 13, 3), rd = bits(x, 7, 5);

	in->rd = in->rs1 = rd;
	in->imm = sign(bits(x, 12, 1) << 5 | bits(x, 2, 5), 6);
	in->op = OP_IMM;
	switch (f3) {
	case 0: return true; /* addi */
	case 1: /* addiw, on 32 bits jal */
		in->op = xlen == 8 ? OP_IMM_32 : JAL;
		if (xlen != 8) {
			in->rd = RA;
			in->imm = distance(x);
		}
		return true;
	case 2: in->rs1 = ZERO; return true; /* li */
	case 3: /* lui, addi16sp */
		if (rd != SP)
			in->op = LUI;
		in->imm = rd == SP ? 16 : in->imm * 4096;
		return true;
	case 4:
		in->rd = in->rs1 = small(x, 7);
		if (bits(x, 10, 2) < 2) { /* srli, srai */
			in->f3 = 5;
		} else if (bits(x, 10, 2) == 2) {
			in->f3 = 7; /* andi */
		} else {
			static const uint32_t f3s[] = { 0, 4, 6, 7 }; /* sub, xor, or, and */

			in->op = bits(x, 12, 1) ? OP_32 : OP;
			in->f3 = bits(x, 12, 1) ? 0 : f3s[bits(x, 5, 2)];
			in->rs2 = small(x, 2);
		}
		return true;
	case 5:
		in->op = JAL;
		in->rd = ZERO;
		return true;
	default:
		in->op = BRANCH;
		in->rs1 = small(x, 7);
		in->rs2 = ZERO;
		return true;
	}
}

/* Quadrant 2: by the stack pointer, moves, and jumps to registers. */
static bool take_c2(struct insn *in, uint32_t x, unsigned xlen)
{
	uint32_t f3 = bits(x, 13, 3), rd = bits(x, 7, 5), rs2 = bits(x, 2, 5);
	bool is_float = (f3 & 3) == 1 || ((f3 & 3) == 3 && xlen == 4), is_word = (f3 & 3) == 2 || ((f3 & 3) == 3 && xlen == 4);

	in->rd = in->rs1 = rd;
	in->rs2 = rs2;
	if (!f3) { /* slli */
		in->op = OP_IMM;
		in->f3 = 1;
		return true;
	}
	if (f3 == 4) {
		bool is_add = bits(x, 12, 1);

		if (rs2) { /* mv, add */
			in->op = OP;
			in->rs1 = is_add ? rd : ZERO;
			return true;
		}
		in->op = rd ? JALR : SYSTEM;
		in->rd = is_add && rd ? RA : ZERO;
		in->imm = 0;
		if (!rd) { /* ebreak */
			in->imm = 1;
			return is_add;
		}
		return true;
	}
	in->rs1 = SP;
	in->f3 = is_word ? 2 : 3;
	if (f3 & 4) {
		in->op = is_float ? STORE_FP : STORE;
		in->imm = is_word ? bits(x, 9, 4) << 2 | bits(x, 7, 2) << 6 : bits(x, 10, 3) << 3 | bits(x, 7, 3) << 6;
		return true;
	}
	in->op = is_float ? LOAD_FP : LOAD;
	in->imm = bits(x, 12, 1) << 5 |
		  (is_word ? bits(x, 4, 3) << 2 | bits(x, 2, 2) << 6 : bits(x, 5, 2) << 3 | bits(x, 2, 3) << 6);
	return true;
}

static bool take(struct insn *in, const uint8_t *bytes, size_t len, unsigned xlen)
{
	uint32_t x;

	if (len < 2)
		return false;
	x = bytes[0] | (uint32_t)bytes[1] << 8;
	if ((x & 3) == 3) {
		if (len < 4 || (x & 0x1c) == 0x1c)
			return false;
		take_long(in, x | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24);
		return true;
	}
	*in = (struct insn){ .len = 2 };
	return (x & 3) == 0 ? take_c0(in, x, xlen) : (x & 3) == 1 ? take_c1(in, x, xlen) : take_c2(in, x, xlen);
}

/* ---------------------------------------------------------------------------------------------- registers */

/* Register number @i by gdb's numbers: x0 is 0, f0 is 33. */
static struct ts_cs_reg number(const struct work *x, uint32_t i, bool is_float)
{
	const struct ts_regset *set = x->w.d->set;
	struct ts_cs_reg r = { .off = TS_NO_OFF16 };
	int at = ts_regset_by_num(set, is_float ? 33 + i : i);

	r.is_zero = !is_float && i == ZERO;
	if (at < 0 || r.is_zero)
		return r;
	r.off = (uint16_t)set->regs[at].off;
	r.len = r.whole = (uint8_t)set->regs[at].len;
	return r;
}

static struct ts_op_place whole(const struct work *x, const struct ts_cs_reg *r)
{
	return ts_cs_part(&x->w, r, 0, r->len);
}

static unsigned add_memory(struct work *x, int64_t disp, unsigned size)
{
	struct ts_cs_reg base = number(x, x->in.rs1, false);

	return ts_cs_add_mem(&x->w, &base, disp, size);
}

static void mix_from(struct work *x, struct ts_op_place to, uint32_t from, bool is_float, unsigned order)
{
	struct ts_cs_reg r = number(x, from, is_float);

	x->w.order = order;
	ts_cs_mix(&x->w, to, &r);
}

/* -------------------------------------------------------------------------------------------- instructions */

static void make_load(struct work *x, bool is_float)
{
	struct ts_cs_reg to = number(x, x->in.rd, is_float);
	unsigned size = 1u << (x->in.f3 & 3);

	x->w.order = 1;
	ts_cs_load(&x->w, &to, add_memory(x, x->in.imm, size), 0, size, !is_float && !(x->in.f3 & 4));
}

static void make_store(struct work *x, bool is_float)
{
	struct ts_cs_reg from = number(x, x->in.rs2, is_float);
	unsigned size = 1u << (x->in.f3 & 3);

	ts_cs_store(&x->w, add_memory(x, x->in.imm, size), 0, &from, size);
}

/* The low four bytes of the result, and their sign above them: what addiw and kin leave. */
static void make_word(struct work *x, const struct ts_cs_reg *to, const struct ts_cs_reg *from)
{
	ts_cs_add(&x->w, ts_cs_part(&x->w, to, 0, 4), ts_cs_part(&x->w, from, 0, 4), TS_WAY_COPY);
	if (to->len > 4)
		ts_cs_add(&x->w, ts_cs_part(&x->w, to, 4, to->len - 4), ts_cs_part(&x->w, from, 3, 1), TS_WAY_MIX);
}

static void make_with_constant(struct work *x, bool is_word)
{
	struct ts_cs_reg to = number(x, x->in.rd, false), from = number(x, x->in.rs1, false);
	bool is_bitwise = !is_word && (x->in.f3 == 4 || x->in.f3 == 6 || x->in.f3 == 7);

	if (!to.len)
		return;
	x->w.order = 1;
	if (from.is_zero) { /* li */
		ts_cs_constant(&x->w, &to, (uint64_t)x->in.imm);
	} else if (!x->in.f3 && !x->in.imm && is_word) { /* sext.w */
		make_word(x, &to, &from);
	} else if (!x->in.f3 && !x->in.imm) { /* mv */
		ts_cs_copy(&x->w, &to, &from, to.len);
	} else if (is_bitwise) {
		ts_cs_add(&x->w, whole(x, &to), whole(x, &from), TS_WAY_LANES);
		ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_CONSTANT)->constant = (uint64_t)x->in.imm;
	} else {
		ts_cs_add(&x->w, whole(x, &to), is_word ? ts_cs_part(&x->w, &from, 0, 4) : whole(x, &from), TS_WAY_MIX);
		ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_CONSTANT)->constant = (uint64_t)x->in.imm;
	}
}

static void make_of_two(struct work *x, bool is_word)
{
	struct ts_cs_reg to = number(x, x->in.rd, false), a = number(x, x->in.rs1, false), b = number(x, x->in.rs2, false);
	bool is_multiplied = x->in.f7 == 1;
	bool is_bitwise = !is_word && !is_multiplied && (x->in.f3 == 4 || x->in.f3 == 6 || x->in.f3 == 7);

	if (!to.len)
		return;
	if (!is_word && !is_multiplied && !x->in.f3 && a.is_zero && !x->in.f7) { /* mv */
		x->w.order = 2;
		ts_cs_copy(&x->w, &to, &b, to.len);
		return;
	}
	if (!is_multiplied && x->in.rs1 == x->in.rs2 && (x->in.f3 == 4 || (!x->in.f3 && x->in.f7))) { /* nothing is left */
		ts_cs_constant(&x->w, &to, 0);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const struct ts_cs_reg *from = i ? &b : &a;

		x->w.order = i + 1;
		if (is_bitwise && from->len)
			ts_cs_add(&x->w, whole(x, &to), whole(x, from), TS_WAY_LANES);
		else if (is_word && from->len)
			ts_cs_add(&x->w, whole(x, &to), ts_cs_part(&x->w, from, 0, 4), TS_WAY_MIX);
		else
			ts_cs_mix(&x->w, whole(x, &to), from);
	}
}

static void make_jump(struct work *x)
{
	struct ts_cs_reg to = number(x, x->in.rd, false);
	bool is_call = x->in.rd == RA || x->in.rd == T0, is_indirect = x->in.op == JALR;

	if (is_indirect)
		mix_from(x, ts_op_pc(), x->in.rs1, false, 1);
	ts_cs_constant(&x->w, &to, x->pc + x->in.len);
	if (is_call && !is_indirect) {
		ts_cs_call(&x->w, x->pc + (uint64_t)x->in.imm);
	} else if (is_call) {
		x->w.ops->flow = TS_OP_CALL_INDIRECT;
		x->w.ops->target = (uint64_t)x->in.imm;
	} else if (!is_indirect) {
		x->w.ops->flow = TS_OP_JUMP;
	} else {
		x->w.ops->flow = x->in.rs1 == RA || x->in.rs1 == T0 ? TS_OP_RETURN : TS_OP_JUMP_INDIRECT;
	}
}

static void make_system(struct work *x)
{
	struct ts_cs_reg to = number(x, x->in.f3 ? x->in.rd : 10, false);

	if (x->in.f3) {
		if (to.len)
			ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_PROCESSOR);
		x->w.ops->is_complete = false; /* some of these registers are in the layout */
	} else if (!x->in.imm) {
		x->w.ops->flow = TS_OP_SYSCALL;
		ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_SYSTEM);
	} else {
		ts_cs_trap(&x->w);
	}
}

static void make_atomic(struct work *x)
{
	struct ts_cs_reg to = number(x, x->in.rd, false), from = number(x, x->in.rs2, false);
	unsigned size = 1u << (x->in.f3 & 3), mem = add_memory(x, 0, size), what = x->in.f7 >> 2;

	x->w.order = 2;
	if (what == 3) { /* sc */
		if (to.len)
			ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_PROCESSOR);
	} else {
		ts_cs_load(&x->w, &to, mem, 0, size, true);
	}
	x->w.order = 1;
	if (what == 3 || what == 1) { /* amoswap */
		ts_cs_store(&x->w, mem, 0, &from, size);
	} else if (what != 2) {
		ts_cs_mix(&x->w, ts_cs_mem(mem, 0, size), &from);
		ts_cs_add(&x->w, ts_cs_mem(mem, 0, size), ts_cs_mem(mem, 0, size), TS_WAY_MIX);
	}
}

/* Floating point: the result, of the float or of the general registers, is made of all that is read. */
static void make_float(struct work *x)
{
	unsigned what = x->in.f7 >> 2;
	bool to_general = what == 0x14 || what == 0x18 || what == 0x1c, from_general = what == 0x1a || what == 0x1e;
	bool has_two = what < 8 || what == 0x14;
	struct ts_cs_reg to = number(x, x->in.rd, x->in.op != OP_FP || !to_general), from = number(x, x->in.rs1, !from_general);

	if (!to.len)
		return;
	x->w.order = 1;
	if (x->in.op == OP_FP && (what == 0x1e || (what == 0x1c && !x->in.f3))) { /* fmv */
		ts_cs_copy(&x->w, &to, &from, from.len < to.len ? from.len : to.len);
		return;
	}
	ts_cs_mix(&x->w, whole(x, &to), &from);
	if (x->in.op != OP_FP || (has_two && what != 0x0b))
		mix_from(x, whole(x, &to), x->in.rs2, true, 2);
	if (x->in.op != OP_FP)
		mix_from(x, whole(x, &to), x->in.f7 >> 2, true, 3);
}

static bool make(struct work *x)
{
	struct ts_cs_reg to = number(x, x->in.rd, false);

	switch (x->in.op) {
	case LOAD: make_load(x, false); return true;
	case LOAD_FP: make_load(x, true); return true;
	case STORE: make_store(x, false); return true;
	case STORE_FP: make_store(x, true); return true;
	case FENCE: return true;
	case OP_IMM: make_with_constant(x, false); return true;
	case OP_IMM_32: make_with_constant(x, true); return true;
	case OP: make_of_two(x, false); return true;
	case OP_32: make_of_two(x, true); return true;
	case LUI: ts_cs_constant(&x->w, &to, (uint64_t)x->in.imm); return true;
	case AUIPC: ts_cs_constant(&x->w, &to, x->pc + (uint64_t)x->in.imm); return true;
	case AMO: make_atomic(x); return true;
	case BRANCH:
		x->w.ops->flow = TS_OP_BRANCH;
		mix_from(x, ts_op_pc(), x->in.rs1, false, 1);
		if (x->in.rs2 != ZERO)
			mix_from(x, ts_op_pc(), x->in.rs2, false, 2);
		return true;
	case JAL:
	case JALR: make_jump(x); return true;
	case SYSTEM: make_system(x); return true;
	case FMADD:
	case FMSUB:
	case FNMSUB:
	case FNMADD:
	case OP_FP: make_float(x); return true;
	default: return false;
	}
}

static bool decode(struct ts_decoder *d, struct ts_op_mode, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_operands *ops)
{
	struct work x = { .w = { .d = d, .ops = ops }, .pc = pc, .xlen = d->set->arch->addr_bits / 8 };

	if (!take(&x.in, bytes, len, x.xlen) || !make(&x))
		return false;
	ops->len = (uint8_t)x.in.len;
	return true;
}

#if CS_API_MAJOR >= 5
static bool find_no_register(const struct ts_regset *, const char *, struct ts_cs_reg *)
{
	return false;
}
#endif

bool ts_operands_riscv_init(struct ts_decoder *d)
{
#if CS_API_MAJOR >= 5
	int mode = CS_MODE_RISCVC | (d->set->arch->addr_bits == 64 ? CS_MODE_RISCV64 : CS_MODE_RISCV32);

	return ts_cs_init(d, CS_ARCH_RISCV, (cs_mode)mode, false, find_no_register, decode);
#else
	d->decode = decode;
	return true;
#endif
}
