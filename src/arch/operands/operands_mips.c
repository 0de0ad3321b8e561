/* SPDX-License-Identifier: MIT */
/*
 * MIPS32 and MIPS64 of release 2: what instructions read and write, by MIPS Architecture For Programmers, Volume II.
 */
#include "operands_cs.h"

#include <stdio.h>
#include <string.h>

struct work {
	struct ts_cs_work w;
	const cs_mips_op *op;
	unsigned n; /* operands */
};

static bool find_register(const struct ts_regset *set, const char *name, struct ts_cs_reg *reg)
{
	static const char *const names[] = { "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2",
					     "t3",   "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5",
					     "s6",   "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra" };
	char full[8];

	if (!strcmp(name, "zero")) {
		reg->is_zero = true;
		return true;
	}
	for (unsigned i = 1; i < 32; i++) {
		if (strcmp(name, names[i]))
			continue;
		snprintf(full, sizeof(full), "r%u", i);
		return ts_cs_place(set, full, 8, reg);
	}
	return (*name == 'f' || !strcmp(name, "hi") || !strcmp(name, "lo")) && ts_cs_place(set, name, 8, reg);
}

/* ------------------------------------------------------------------------------------------------- operands */

static bool is_reg(const struct work *x, unsigned i)
{
	return i < x->n && x->op[i].type == MIPS_OP_REG;
}

static struct ts_cs_reg reg_of(const struct work *x, unsigned i)
{
	return is_reg(x, i) ? ts_cs_reg(&x->w, x->op[i].reg) : (struct ts_cs_reg){ .off = TS_NO_OFF16 };
}

static struct ts_op_place whole(const struct work *x, const struct ts_cs_reg *r)
{
	return ts_cs_part(&x->w, r, 0, r->len);
}

static bool find(const struct work *x, const char *name, struct ts_cs_reg *r)
{
	*r = (struct ts_cs_reg){ .off = TS_NO_OFF16 };
	return find_register(x->w.d->set, name, r);
}

static void mix_operand(struct work *x, struct ts_op_place to, unsigned i)
{
	struct ts_cs_reg r = reg_of(x, i);

	x->w.order = i;
	if (x->op[i].type == MIPS_OP_IMM)
		ts_cs_add(&x->w, to, ts_op_nowhere(), TS_WAY_CONSTANT)->constant = (uint64_t)x->op[i].imm;
	else
		ts_cs_mix(&x->w, to, &r);
}

static void mix_from(struct work *x, struct ts_op_place to, unsigned first)
{
	for (unsigned i = first; i < x->n; i++)
		mix_operand(x, to, i);
}

/* A memory operand, the second one of loads and stores. */
static unsigned add_memory(struct work *x, unsigned size)
{
	struct ts_cs_reg base = ts_cs_reg(&x->w, x->op[1].mem.base);

	return ts_cs_add_mem(&x->w, &base, x->op[1].mem.disp, size);
}

/* ------------------------------------------------------------------------------------------- loads and stores */

static const struct {
	const char *name;
	uint8_t size;
	bool is_store, is_signed;
} accesses[] = {
	{ "lb", 1, false, true },     { "lbu", 1, false, false },  { "ld", 8, false, false },  { "ldc1", 8, false, false },
	{ "lh", 2, false, true },     { "lhu", 2, false, false },  { "ll", 4, false, true },   { "lw", 4, false, true },
	{ "lwc1", 4, false, false },  { "lwu", 4, false, false },  { "sb", 1, true, false },   { "sc", 4, true, false },
	{ "sd", 8, true, false },     { "sdc1", 8, true, false },  { "sh", 2, true, false },   { "sw", 4, true, false },
	{ "swc1", 4, true, false },
};

static bool make_access(struct work *x)
{
	struct ts_cs_reg r = reg_of(x, 0);

	if (x->n != 2 || !is_reg(x, 0) || x->op[1].type != MIPS_OP_MEM)
		return false;
	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		unsigned size = accesses[i].size, mem;

		if (!ts_cs_is(&x->w, accesses[i].name))
			continue;
		mem = add_memory(x, size);
		x->w.order = accesses[i].is_store ? 0 : 1;
		if (accesses[i].is_store)
			ts_cs_store(&x->w, mem, 0, &r, size);
		else
			ts_cs_load(&x->w, &r, mem, 0, size, accesses[i].is_signed);
		if (ts_cs_is(&x->w, "sc") && r.len)
			ts_cs_add(&x->w, whole(x, &r), ts_op_nowhere(), TS_WAY_PROCESSOR);
		return true;
	}
	/* lwl, lwr and kin: a part of the register, by the address */
	if (*x->w.insn->mnemonic == 'l' && r.len) {
		ts_cs_add(&x->w, whole(x, &r), whole(x, &r), TS_WAY_MIX);
		ts_cs_add(&x->w, whole(x, &r), ts_op_nowhere(), TS_WAY_UNKNOWN);
	}
	return true;
}

/* --------------------------------------------------------------------------------------------------- branches */

static bool make_branch(struct work *x)
{
	struct ts_operands *ops = x->w.ops;
	bool links = ts_cs_is_one_of(&x->w, "jal jalr bal bgezal bltzal");
	struct ts_cs_reg ra, r;

	if (!links && !ts_cs_is_one_of(&x->w, "j jr b beq bne beqz bnez blez bgtz bltz bgez beql bnel beqzl bnezl blezl "
					       "bgtzl bltzl bgezl bc1t bc1f bc1tl bc1fl"))
		return false;
	r = reg_of(x, x->n > 1 && ts_cs_is(&x->w, "jalr") ? 1 : 0);
	if (links && find(x, "ra", &ra)) {
		ts_cs_constant(&x->w, &ra, x->w.insn->address + 8); /* after the delay slot */
		ops->flow = ts_cs_is(&x->w, "jalr") ? TS_OP_CALL_INDIRECT : TS_OP_CALL;
		if (ops->flow == TS_OP_CALL && x->n && x->op[x->n - 1].type == MIPS_OP_IMM)
			ts_cs_call(&x->w, (uint64_t)x->op[x->n - 1].imm);
	}
	if (ts_cs_is_one_of(&x->w, "jr jalr")) {
		ts_cs_mix(&x->w, ts_op_pc(), &r);
		if (!links)
			ops->flow = find(x, "ra", &ra) && ra.off == r.off ? TS_OP_RETURN : TS_OP_JUMP_INDIRECT;
	} else if (*x->w.insn->mnemonic == 'b' && x->n > 1) {
		ops->flow = TS_OP_BRANCH;
		for (unsigned i = 0; is_reg(x, i); i++)
			mix_operand(x, ts_op_pc(), i);
	} else if (ts_cs_begins(&x->w, "bc1")) {
		ops->flow = TS_OP_BRANCH;
		ts_cs_add(&x->w, ts_op_pc(), ts_op_nowhere(), TS_WAY_UNKNOWN);
	} else if (!links) {
		ops->flow = TS_OP_JUMP;
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------- arithmetic */

/* mult, div and kin: hi and lo. */
static bool make_long(struct work *x)
{
	static const char *const names[] = { "hi", "lo" };
	bool adds = ts_cs_is_one_of(&x->w, "madd maddu msub msubu");

	if (x->n > 2 && is_reg(x, 0) && ts_cs_begins(&x->w, "mul"))
		return false;
	if (!adds && !ts_cs_is_one_of(&x->w, "mult multu div divu dmult dmultu ddiv ddivu"))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		struct ts_cs_reg r, other;

		if (!find(x, names[i], &r))
			continue;
		mix_from(x, whole(x, &r), 0);
		if (adds)
			ts_cs_mix(&x->w, whole(x, &r), &r);
		if (adds && find(x, names[1 - i], &other))
			ts_cs_mix(&x->w, whole(x, &r), &other);
	}
	return true;
}

static bool make_move(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0), from = reg_of(x, 1);

	x->w.order = 1;
	if (ts_cs_is_one_of(&x->w, "mfhi mflo") && find(x, x->w.insn->mnemonic + 2, &from))
		ts_cs_copy(&x->w, &to, &from, to.len);
	else if (ts_cs_is_one_of(&x->w, "mthi mtlo") && find(x, x->w.insn->mnemonic + 2, &from))
		ts_cs_copy(&x->w, &from, &to, to.len);
	else if (ts_cs_is(&x->w, "move") && is_reg(x, 1))
		ts_cs_copy(&x->w, &to, &from, to.len);
	else if (ts_cs_is(&x->w, "lui"))
		ts_cs_constant(&x->w, &to, (uint64_t)(int64_t)(int32_t)((uint32_t)x->op[1].imm << 16));
	else if (ts_cs_is(&x->w, "li"))
		ts_cs_constant(&x->w, &to, (uint64_t)x->op[1].imm);
	else
		return false;
	return true;
}

static bool make_extension(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0), from = reg_of(x, x->n - 1);
	unsigned n = ts_cs_is(&x->w, "seb") ? 1 : 2;

	if (!ts_cs_is_one_of(&x->w, "seb seh") || !to.len || from.len != to.len)
		return false;
	x->w.order = 1;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 0, n), ts_cs_part(&x->w, &from, 0, n), TS_WAY_COPY);
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, n, to.len - n), ts_cs_part(&x->w, &from, n - 1, 1), TS_WAY_MIX);
	return true;
}

static bool make_system(struct work *x)
{
	struct ts_cs_reg v0, a3, to = reg_of(x, 0);

	if (ts_cs_is(&x->w, "syscall")) {
		x->w.ops->flow = TS_OP_SYSCALL;
		if (find(x, "v0", &v0) && find(x, "a3", &a3)) {
			ts_cs_add(&x->w, whole(x, &v0), ts_op_nowhere(), TS_WAY_SYSTEM);
			ts_cs_add(&x->w, whole(x, &a3), ts_op_nowhere(), TS_WAY_SYSTEM);
		}
		return true;
	}
	if (ts_cs_is_one_of(&x->w, "break eret deret wait"))
		return ts_cs_trap(&x->w);
	if (ts_cs_is_one_of(&x->w, "rdhwr mfc0 dmfc0")) {
		if (to.len)
			ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_PROCESSOR);
		return true;
	}
	return ts_cs_is_one_of(&x->w, "nop ssnop ehb sync synci pref cache teq tne tge tgeu tlt tltu teqi tnei tgei tlti mtc0 dmtc0 "
				      "ctc1 di ei tlbwi tlbwr tlbp tlbr");
}

/* Bitwise operations of two registers, or of one and a constant, keep each byte in its place. */
static bool make_bitwise(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0);

	if (!ts_cs_is_one_of(&x->w, "and andi or ori xor xori nor not"))
		return false;
	for (unsigned i = 1; i < x->n && to.len; i++) {
		struct ts_cs_reg from = reg_of(x, i);

		x->w.order = i;
		if (from.len == to.len)
			ts_cs_add(&x->w, whole(x, &to), whole(x, &from), TS_WAY_LANES);
		else
			mix_operand(x, whole(x, &to), i);
	}
	return true;
}

static void make_other(struct work *x)
{
	bool keeps = ts_cs_is_one_of(&x->w, "ins dins movz movn movt movf");
	struct ts_cs_reg to = reg_of(x, 0);

	if (!is_reg(x, 0)) {
		x->w.ops->is_complete = x->n == 0;
		return;
	}
	if (!to.len) {
		x->w.ops->is_complete = to.is_zero;
		return;
	}
	/* two operands: "addiu $t0, 4" */
	mix_from(x, whole(x, &to), keeps || (x->n == 2 && x->op[1].type == MIPS_OP_IMM) ? 0 : 1);
	if (ts_cs_is_one_of(&x->w, "movt movf") || strchr(x->w.insn->mnemonic, '.'))
		ts_cs_add(&x->w, whole(x, &to), ts_op_nowhere(), TS_WAY_UNKNOWN);
}

static bool decode(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_operands *ops)
{
	struct work x = { 0 };

	if (!ts_cs_begin(&x.w, d, mode, pc, bytes, len, ops))
		return false;
	x.op = x.w.insn->detail->mips.operands;
	x.n = x.w.insn->detail->mips.op_count;
	if (!make_system(&x) && !make_branch(&x) && !make_access(&x) && !make_long(&x) && !make_move(&x) && !make_extension(&x) &&
	    !make_bitwise(&x))
		make_other(&x);
	return true;
}

bool ts_operands_mips_init(struct ts_decoder *d)
{
	unsigned mode = d->set->arch->addr_bits == 64 ? CS_MODE_MIPS64 : CS_MODE_MIPS32;

	if (d->set->arch->is_big_endian)
		mode |= (unsigned)CS_MODE_BIG_ENDIAN;
	return ts_cs_init(d, CS_ARCH_MIPS, (cs_mode)mode, false, find_register, decode);
}
