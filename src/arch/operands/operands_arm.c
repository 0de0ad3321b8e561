/* SPDX-License-Identifier: MIT */
/* ARM, A32 and T32: what instructions read and write, by the Arm Architecture Reference Manual (DDI 0406). */
#include "operands_cs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NZCV UINT32_C(0xf0000000)
#define NZ   UINT32_C(0xc0000000)
#define CARRY UINT32_C(0x20000000)
#define THUMB UINT32_C(0x00000020)

struct work {
	struct ts_cs_work w;
	const cs_arm *arm;
	const cs_arm_op *op;
	unsigned n; /* operands */
	bool is_thumb, leads_pc; /* it writes the program counter */
};

static bool find_register(const struct ts_regset *set, const char *name, struct ts_cs_reg *reg)
{
	static const char *const others[][2] = { { "sb", "r9" }, { "sl", "r10" }, { "fp", "r11" }, { "ip", "r12" },
						 { "sp", "sp" }, { "lr", "lr" } };
	char full[8];
	unsigned i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcmp(name, others[i][0]))
			return ts_cs_place(set, others[i][1], 4, reg);
	}
	if (strspn(name + 1, "0123456789") != strlen(name + 1) || !name[1] || strlen(name) > 3)
		return false;
	i = (unsigned)strtoul(name + 1, NULL, 10);
	if (*name == 'r')
		return ts_cs_place(set, name, 4, reg);
	snprintf(full, sizeof(full), "d%u", *name == 's' ? i / 2 : *name == 'q' ? 2 * i : i);
	if (!strchr("sdq", *name) || !ts_cs_place(set, full, 8, reg))
		return false;
	if (*name == 's')
		*reg = (struct ts_cs_reg){ .off = (uint16_t)(reg->off + 4 * (i & 1)), .len = 4, .whole = 4 };
	if (*name == 'q')
		reg->len = reg->whole = 16;
	return true;
}

/* ------------------------------------------------------------------------------------------------ operands */

static bool is_reg(const struct work *x, unsigned i)
{
	return i < x->n && x->op[i].type == ARM_OP_REG;
}

static bool is_pc(const struct work *x, unsigned i)
{
	return is_reg(x, i) && x->op[i].reg == ARM_REG_PC;
}

static struct ts_cs_reg reg_of(const struct work *x, unsigned i)
{
	return ts_cs_reg(&x->w, (unsigned)x->op[i].reg);
}

/* The value that an instruction reads from the program counter. */
static uint64_t pc_value(const struct work *x)
{
	return x->w.insn->address + (x->is_thumb ? 4 : 8);
}

/* The bytes of a destination, or the next address. */
static struct ts_op_place destination(struct work *x, unsigned i)
{
	struct ts_cs_reg r;

	if (is_pc(x, i)) {
		x->leads_pc = true;
		return ts_op_pc();
	}
	r = reg_of(x, i);
	return ts_cs_part(&x->w, &r, 0, r.len);
}

static void mix_operand(struct work *x, struct ts_op_place to, unsigned i)
{
	struct ts_cs_reg r;

	x->w.order = i;
	if (!is_reg(x, i) || is_pc(x, i)) {
		ts_cs_add(&x->w, to, ts_op_nowhere(), TS_WAY_CONSTANT)->constant =
			is_pc(x, i) ? pc_value(x) : x->op[i].type == ARM_OP_IMM ? (uint32_t)x->op[i].imm : 0;
		return;
	}
	r = reg_of(x, i);
	ts_cs_mix(&x->w, to, &r);
	if (x->op[i].shift.type >= ARM_SFT_ASR_REG) { /* by as many bits as a register says */
		r = ts_cs_reg(&x->w, x->op[i].shift.value);
		ts_cs_mix(&x->w, to, &r);
	} else if (x->op[i].shift.type == ARM_SFT_RRX) {
		ts_cs_add(&x->w, to, ts_op_flags(CARRY), TS_WAY_MIX);
	}
}

static bool is_shifted(const struct work *x)
{
	for (unsigned i = 0; i < x->n; i++) {
		if (x->op[i].shift.type != ARM_SFT_INVALID)
			return true;
	}
	return false;
}

static unsigned add_memory(struct work *x, unsigned i, unsigned size)
{
	const cs_arm_op *o = &x->op[i];
	struct ts_cs_reg base = ts_cs_reg(&x->w, o->mem.base), index = ts_cs_reg(&x->w, o->mem.index);
	bool is_after = strstr(x->w.insn->op_str, "], ") != NULL; /* the base moves after the access */
	int64_t disp = is_after ? 0 : o->mem.disp;
	struct ts_op_mem *m;

	if (o->mem.base == ARM_REG_PC)
		disp += (int64_t)(pc_value(x) & ~UINT64_C(3));
	m = &x->w.ops->mem[ts_cs_add_mem(&x->w, &base, disp, size)];
	if (!index.len || is_after)
		return x->w.ops->n_mem - 1u;
	m->index = index.off;
	m->index_len = 4;
	if (o->subtracted)
		m->index_as = TS_INDEX_MINUS;
	if (o->shift.type == ARM_SFT_LSL && o->shift.value < 8)
		m->scale = (uint8_t)(1u << o->shift.value);
	else if (o->shift.type != ARM_SFT_INVALID)
		m->special = TS_MEM_UNPLACED;
	return x->w.ops->n_mem - 1u;
}

/* ------------------------------------------------------------------------------------------- loads and stores */

static void move_base(struct work *x, const struct ts_cs_reg *base)
{
	if (base->len)
		ts_cs_mix(&x->w, ts_cs_part(&x->w, base, 0, base->len), base);
}

static void write_back(struct work *x, unsigned mem)
{
	struct ts_cs_reg base = ts_cs_reg(&x->w, x->op[mem].mem.base), index = ts_cs_reg(&x->w, x->op[mem].mem.index);

	if (!x->arm->writeback && mem + 1 >= x->n)
		return;
	x->w.order = mem;
	move_base(x, &base);
	if (base.len && index.len)
		ts_cs_mix(&x->w, ts_cs_part(&x->w, &base, 0, base.len), &index);
	if (base.len && is_reg(x, mem + 1))
		mix_operand(x, ts_cs_part(&x->w, &base, 0, base.len), mem + 1);
}

static unsigned find_memory(const struct work *x)
{
	for (unsigned i = 0; i < x->n; i++) {
		if (x->op[i].type == ARM_OP_MEM)
			return i;
	}
	return x->n;
}

/* Registers @first on, before the memory operand, and @n bytes each. */
static bool make_load(struct work *x, unsigned n, bool is_signed)
{
	unsigned at = find_memory(x), mem;

	if (at == x->n || !at)
		return false;
	mem = add_memory(x, at, n * at);
	for (unsigned i = 0; i < at; i++) {
		struct ts_cs_reg to = reg_of(x, i);

		x->w.order = at;
		if (is_pc(x, i))
			ts_cs_add(&x->w, destination(x, i), ts_cs_mem(mem, 0, 4), TS_WAY_MIX);
		else
			ts_cs_load(&x->w, &to, mem, i * n, n, is_signed);
	}
	write_back(x, at);
	return true;
}

static bool make_store(struct work *x, unsigned first, unsigned n)
{
	unsigned at = find_memory(x), mem;

	if (at == x->n || at <= first)
		return false;
	mem = add_memory(x, at, n * (at - first));
	for (unsigned i = first; i < at; i++) {
		struct ts_cs_reg from = reg_of(x, i);

		x->w.order = i;
		ts_cs_store(&x->w, mem, (i - first) * n, &from, n);
	}
	write_back(x, at);
	return true;
}

/* strex and kin: the first register determines whether it was stored. */
static bool make_exclusive(struct work *x, unsigned n)
{
	ts_cs_add(&x->w, destination(x, 0), ts_op_nowhere(), TS_WAY_PROCESSOR);
	return make_store(x, 1, n);
}

/* Several registers from @first on lie in memory from @disp of the base on. */
static bool make_list(struct work *x, unsigned first, const struct ts_cs_reg *base, bool is_load, int where, bool moves)
{
	unsigned n = x->n - first, len, mem;
	int64_t disp;

	if (first >= x->n || !is_reg(x, first))
		return false;
	len = is_pc(x, first) || reg_of(x, first).len < 4 ? 4 : reg_of(x, first).len;
	disp = where == 0 ? 0 : where == 1 ? (int64_t)len : where == -1 ? -(int64_t)(n * len) : (int64_t)len - (int64_t)(n * len);
	mem = ts_cs_add_mem(&x->w, base, disp, n * len);
	x->w.order = 0;
	if (moves)
		move_base(x, base);
	for (unsigned i = 0; i < n; i++) {
		struct ts_cs_reg r = reg_of(x, first + i);

		x->w.order = first + i;
		if (is_load && is_pc(x, first + i))
			ts_cs_add(&x->w, destination(x, first + i), ts_cs_mem(mem, i * len, len), TS_WAY_MIX);
		else if (is_load)
			ts_cs_load(&x->w, &r, mem, i * len, len, false);
		else
			ts_cs_store(&x->w, mem, i * len, &r, len);
	}
	return true;
}

static bool make_stack(struct work *x, bool is_load)
{
	struct ts_cs_reg sp = ts_cs_reg(&x->w, ARM_REG_SP);

	return make_list(x, 0, &sp, is_load, is_load ? 0 : -1, true);
}

static bool make_many(struct work *x, bool is_load, int where)
{
	struct ts_cs_reg base;

	if (!is_reg(x, 0))
		return false;
	base = reg_of(x, 0);
	return make_list(x, 1, &base, is_load, where, x->arm->writeback);
}

/* ------------------------------------------------------------------------------------------------ arithmetic */

static void set_flags(struct work *x, unsigned first, uint32_t flags)
{
	for (unsigned i = first; i < x->n; i++)
		mix_operand(x, ts_op_flags(flags), i);
}

static bool reads_carry(const struct work *x)
{
	return x->w.insn->id == ARM_INS_ADC || x->w.insn->id == ARM_INS_SBC || x->w.insn->id == ARM_INS_RSC;
}

/* The suffix "s": capstone says of adc and kin that they always set the flags. */
static bool sets_flags(const struct work *x)
{
	const char *name = x->w.insn->mnemonic;

	return x->arm->update_flags && (!reads_carry(x) || name[3] == 's');
}

static bool is_logical(const struct work *x)
{
	switch (x->w.insn->id) {
	case ARM_INS_AND:
	case ARM_INS_ORR:
	case ARM_INS_EOR:
	case ARM_INS_BIC:
	case ARM_INS_MVN:
	case ARM_INS_MOV: return true;
	default: return false;
	}
}

static bool is_shift(const struct work *x)
{
	return x->w.insn->id == ARM_INS_LSL || x->w.insn->id == ARM_INS_LSR || x->w.insn->id == ARM_INS_ASR ||
	       x->w.insn->id == ARM_INS_ROR || x->w.insn->id == ARM_INS_RRX;
}

/* The destination is made of operands @first and on. */
static void make_mix(struct work *x, unsigned first)
{
	struct ts_op_place to = destination(x, 0);
	bool is_bytes = is_logical(x) && !is_shifted(x) && to.kind == TS_AT_REG;

	/* two operands: the first one is a source, too; a shift by a constant has the other one */
	if (x->n == 2 && first == 1 && !(is_shifted(x) && is_shift(x)) && x->w.insn->id != ARM_INS_MVN && x->w.insn->id != ARM_INS_MOV &&
	    (is_logical(x) || x->w.insn->id == ARM_INS_ADD || x->w.insn->id == ARM_INS_SUB || x->w.insn->id == ARM_INS_ADC ||
	     x->w.insn->id == ARM_INS_SBC || x->w.insn->id == ARM_INS_MUL || x->w.insn->id == ARM_INS_ORN || is_shift(x) ||
	     x->w.insn->id == ARM_INS_RSB))
		first = 0;
	if (to.kind != TS_AT_NOWHERE && to.len + (to.kind == TS_AT_PC)) {
		for (unsigned i = first; i < x->n; i++) {
			struct ts_cs_reg r = is_reg(x, i) ? reg_of(x, i) : (struct ts_cs_reg){ 0 };

			x->w.order = i;
			if (is_bytes && r.len == to.len)
				ts_cs_add(&x->w, to, ts_cs_part(&x->w, &r, 0, r.len), TS_WAY_LANES);
			else
				mix_operand(x, to, i);
		}
		if (reads_carry(x))
			ts_cs_add(&x->w, to, ts_op_flags(CARRY), TS_WAY_MIX);
	}
	if (sets_flags(x)) {
		set_flags(x, first, is_logical(x) && !is_shifted(x) ? NZ : NZCV);
		if (reads_carry(x))
			ts_cs_add(&x->w, ts_op_flags(NZCV), ts_op_flags(CARRY), TS_WAY_MIX);
	}
}

/*
 * vmov between two core registers and a double register, or two single registers that follow each other: as many bytes
 * in the same order on both sides.
 */
static bool make_move_pair(struct work *x)
{
	unsigned n_to = x->op[0].reg >= ARM_REG_D0 && x->op[0].reg <= ARM_REG_D31 ? 1 : 2;

	for (unsigned i = 0; i < 8; i += 4) {
		struct ts_cs_reg to = reg_of(x, n_to == 1 ? 0 : i / 4);
		struct ts_cs_reg from = reg_of(x, x->n - n_to == 1 ? n_to : n_to + i / 4);
		struct ts_op_place place = ts_cs_part(&x->w, &to, to.len == 8 ? i : 0, 4);

		x->w.order = x->n - n_to == 1 ? n_to : n_to + i / 4;
		if (to.len && from.len)
			ts_cs_add(&x->w, place, ts_cs_part(&x->w, &from, from.len == 8 ? i : 0, 4), TS_WAY_COPY);
		else if (to.len)
			ts_cs_add(&x->w, place, ts_op_nowhere(), TS_WAY_UNKNOWN);
	}
	return true;
}

static bool make_move(struct work *x)
{
	struct ts_cs_reg to, from;

	if (x->n > 2 && x->w.insn->id == ARM_INS_VMOV)
		return make_move_pair(x);
	if (x->n != 2 || is_shifted(x) || is_pc(x, 0) || !is_reg(x, 0))
		return false;
	to = reg_of(x, 0);
	x->w.order = 1;
	if (x->op[1].type == ARM_OP_IMM) {
		ts_cs_constant(&x->w, &to, (uint32_t)x->op[1].imm);
	} else if (is_reg(x, 1) && !is_pc(x, 1) && x->op[0].vector_index < 0 && x->op[1].vector_index < 0) {
		from = reg_of(x, 1);
		ts_cs_copy(&x->w, &to, &from, to.len);
	} else {
		return false;
	}
	if (sets_flags(x))
		set_flags(x, 1, NZ);
	return true;
}

static bool make_extension(struct work *x, unsigned n, bool is_signed)
{
	struct ts_cs_reg to, from;

	if (x->n != 2 || is_shifted(x) || !is_reg(x, 1))
		return false;
	to = reg_of(x, 0);
	from = reg_of(x, 1);
	x->w.order = 1;
	if (!to.len || from.len != 4)
		return false;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 0, n), ts_cs_part(&x->w, &from, 0, n), TS_WAY_COPY);
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, n, 4 - n), is_signed ? ts_cs_part(&x->w, &from, n - 1, 1) : ts_op_nowhere(),
		  is_signed ? TS_WAY_MIX : TS_WAY_ZERO);
	return true;
}

static bool make_reverse(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0), from = reg_of(x, 1);

	if (!to.len || to.len != from.len)
		return false;
	x->w.order = 1;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 0, 4), ts_cs_part(&x->w, &from, 0, 4), TS_WAY_REVERSE);
	return true;
}

static bool make_movt(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0);

	if (to.len == 4)
		ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 2, 2), ts_op_nowhere(), TS_WAY_PART)->constant = (uint64_t)x->op[1].imm;
	return true;
}

/* umull and kin write two registers; smlal and kin add to them. */
static bool make_long(struct work *x, bool adds)
{
	for (unsigned to = 0; to < 2 && x->n > 3; to++) {
		for (unsigned i = adds ? 0 : 2; i < x->n; i++)
			mix_operand(x, destination(x, to), i);
	}
	if (sets_flags(x))
		set_flags(x, adds ? 0 : 2, NZ);
	return true;
}

/* --------------------------------------------------------------------------------------------------- branches */

static bool make_call(struct work *x)
{
	struct ts_cs_reg lr = ts_cs_reg(&x->w, ARM_REG_LR);
	uint64_t back = x->w.insn->address + x->w.insn->size;

	x->w.ops->flow = TS_OP_CALL_INDIRECT;
	if (is_reg(x, 0))
		mix_operand(x, ts_op_pc(), 0);
	else if (x->n && x->op[0].type == ARM_OP_IMM)
		ts_cs_call(&x->w, (uint32_t)x->op[0].imm);
	ts_cs_constant(&x->w, &lr, back | x->is_thumb);
	return true;
}

static bool make_jump(struct work *x)
{
	if (is_reg(x, 0)) {
		x->w.ops->flow = x->op[0].reg == ARM_REG_LR ? TS_OP_RETURN : TS_OP_JUMP_INDIRECT;
		mix_operand(x, ts_op_pc(), 0);
	} else {
		x->w.ops->flow = TS_OP_JUMP;
	}
	return true;
}

static bool make_compared_branch(struct work *x)
{
	x->w.ops->flow = TS_OP_BRANCH;
	mix_operand(x, ts_op_pc(), 0);
	return true;
}

/* tbb, tbh: an offset from a table. */
static bool make_table(struct work *x, unsigned size)
{
	unsigned at = find_memory(x), mem;

	if (at == x->n)
		return false;
	x->w.ops->flow = TS_OP_JUMP_INDIRECT;
	mem = add_memory(x, at, size);
	if (x->op[at].mem.base == ARM_REG_PC)
		x->w.ops->mem[mem].disp = (int64_t)pc_value(x); /* not aligned */
	if (x->w.ops->mem[mem].scale < size)
		x->w.ops->mem[mem].scale = (uint8_t)size;
	ts_cs_add(&x->w, ts_op_pc(), ts_cs_mem(mem, 0, size), TS_WAY_MIX);
	return true;
}

/* --------------------------------------------------------------------------------------------------- others */

static bool make_system_call(struct work *x)
{
	struct ts_cs_reg r0 = ts_cs_reg(&x->w, ARM_REG_R0);

	x->w.ops->flow = TS_OP_SYSCALL;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &r0, 0, 4), ts_op_nowhere(), TS_WAY_SYSTEM);
	return true;
}

/* A register of the system becomes one of the program. */
static bool make_status(struct work *x)
{
	unsigned to = x->w.insn->id == ARM_INS_MRC ? 2 : 0;
	bool is_flags = x->w.insn->id == ARM_INS_MRS;
	struct ts_op_place place;

	if (!is_reg(x, to))
		return true;
	place = destination(x, to);
	if (place.kind == TS_AT_REG && place.len)
		ts_cs_add(&x->w, place, is_flags ? ts_op_flags(NZCV) : ts_op_nowhere(), is_flags ? TS_WAY_MIX : TS_WAY_PROCESSOR);
	return true;
}

/* mrrc: two registers of the program. */
static bool make_status_pair(struct work *x)
{
	for (unsigned i = 2; i < 4 && is_reg(x, i); i++)
		ts_cs_add(&x->w, destination(x, i), ts_op_nowhere(), TS_WAY_PROCESSOR);
	return true;
}

static bool make_vmrs(struct work *x)
{
	if (is_reg(x, 0) && x->op[0].reg == ARM_REG_APSR_NZCV)
		ts_cs_add(&x->w, ts_op_flags(NZCV), ts_op_nowhere(), TS_WAY_UNKNOWN);
	else if (is_reg(x, 0))
		ts_cs_add(&x->w, destination(x, 0), ts_op_nowhere(), TS_WAY_UNKNOWN);
	return true;
}

static bool exchanges(const struct work *x)
{
	return x->w.insn->id == ARM_INS_VSWP || x->w.insn->id == ARM_INS_VTRN || x->w.insn->id == ARM_INS_VZIP ||
	       x->w.insn->id == ARM_INS_VUZP;
}

/* Another vector instruction: each register that it writes is made of all of all operands. */
static bool make_vector(struct work *x)
{
	if (*x->w.insn->mnemonic != 'v' || !is_reg(x, 0))
		return false;
	if (find_memory(x) < x->n) {
		ts_operands_arm_elements(&x->w, x->is_thumb, find_memory(x));
		write_back(x, find_memory(x));
		return true;
	}
	for (unsigned to = 0; to < (exchanges(x) ? 2 : 1); to++) {
		for (unsigned i = 0; i < x->n; i++)
			mix_operand(x, destination(x, to), i);
	}
	return true;
}

static bool make_access(struct work *x)
{
	switch (x->w.insn->id) {
	case ARM_INS_LDR:
	case ARM_INS_LDRT:
	case ARM_INS_LDRD:
	case ARM_INS_LDA:
	case ARM_INS_LDAEX:
	case ARM_INS_LDAEXD:
	case ARM_INS_LDREXD:
	case ARM_INS_LDREX: return make_load(x, 4, false);
	case ARM_INS_LDRB:
	case ARM_INS_LDRBT:
	case ARM_INS_LDREXB: return make_load(x, 1, false);
	case ARM_INS_LDRH:
	case ARM_INS_LDRHT:
	case ARM_INS_LDREXH: return make_load(x, 2, false);
	case ARM_INS_LDRSB:
	case ARM_INS_LDRSBT: return make_load(x, 1, true);
	case ARM_INS_LDRSH:
	case ARM_INS_LDRSHT: return make_load(x, 2, true);
	case ARM_INS_VLDR: return make_load(x, is_reg(x, 0) ? reg_of(x, 0).len : 4, false);
	case ARM_INS_STR:
	case ARM_INS_STRT:
	case ARM_INS_STRD:
	case ARM_INS_STL: return make_store(x, 0, 4);
	case ARM_INS_STRB:
	case ARM_INS_STRBT: return make_store(x, 0, 1);
	case ARM_INS_STRH:
	case ARM_INS_STRHT: return make_store(x, 0, 2);
	case ARM_INS_VSTR: return make_store(x, 0, is_reg(x, 0) ? reg_of(x, 0).len : 4);
	case ARM_INS_STREX:
	case ARM_INS_STREXD: return make_exclusive(x, 4);
	case ARM_INS_STREXB: return make_exclusive(x, 1);
	case ARM_INS_STREXH: return make_exclusive(x, 2);
	case ARM_INS_PUSH:
	case ARM_INS_VPUSH: return make_stack(x, false);
	case ARM_INS_POP:
	case ARM_INS_VPOP: return make_stack(x, true);
	case ARM_INS_LDM:
	case ARM_INS_VLDMIA: return make_many(x, true, 0);
	case ARM_INS_LDMIB: return make_many(x, true, 1);
	case ARM_INS_LDMDB:
	case ARM_INS_VLDMDB: return make_many(x, true, -1);
	case ARM_INS_LDMDA: return make_many(x, true, -2);
	case ARM_INS_STM:
	case ARM_INS_VSTMIA: return make_many(x, false, 0);
	case ARM_INS_STMIB: return make_many(x, false, 1);
	case ARM_INS_STMDB:
	case ARM_INS_VSTMDB: return make_many(x, false, -1);
	case ARM_INS_STMDA: return make_many(x, false, -2);
	default: return false;
	}
}

static bool make_by_id(struct work *x)
{
	switch (x->w.insn->id) {
	case ARM_INS_B:
	case ARM_INS_BX: return make_jump(x);
	case ARM_INS_BL:
	case ARM_INS_BLX: return make_call(x);
	case ARM_INS_CBZ:
	case ARM_INS_CBNZ: return make_compared_branch(x);
	case ARM_INS_TBB: return make_table(x, 1);
	case ARM_INS_TBH: return make_table(x, 2);
	case ARM_INS_SVC: return make_system_call(x);
	case ARM_INS_BKPT:
	case ARM_INS_UDF:
	case ARM_INS_HVC:
	case ARM_INS_SMC: return ts_cs_trap(&x->w);
	case ARM_INS_MRS:
	case ARM_INS_MRC: return make_status(x);
	case ARM_INS_MRRC: return make_status_pair(x);
	case ARM_INS_VMRS: return make_vmrs(x);
	case ARM_INS_MSR:
		if (x->n > 1)
			mix_operand(x, ts_op_flags(NZCV), x->n - 1);
		return true;
	case ARM_INS_CMP:
	case ARM_INS_CMN: set_flags(x, 0, NZCV); return true;
	case ARM_INS_TST:
	case ARM_INS_TEQ: set_flags(x, 0, is_shifted(x) ? NZCV & ~UINT32_C(0x10000000) : NZ); return true;
	case ARM_INS_MOV:
	case ARM_INS_MOVW:
	case ARM_INS_VMOV: return make_move(x);
	case ARM_INS_MOVT: return make_movt(x);
	case ARM_INS_UXTB: return make_extension(x, 1, false);
	case ARM_INS_UXTH: return make_extension(x, 2, false);
	case ARM_INS_SXTB: return make_extension(x, 1, true);
	case ARM_INS_SXTH: return make_extension(x, 2, true);
	case ARM_INS_REV: return make_reverse(x);
	case ARM_INS_UMULL:
	case ARM_INS_SMULL: return make_long(x, false);
	case ARM_INS_UMLAL:
	case ARM_INS_SMLAL:
	case ARM_INS_SMLALBB:
	case ARM_INS_SMLALBT:
	case ARM_INS_SMLALTB:
	case ARM_INS_SMLALTT:
	case ARM_INS_SMLALD:
	case ARM_INS_SMLALDX:
	case ARM_INS_SMLSLD:
	case ARM_INS_SMLSLDX:
	case ARM_INS_UMAAL: return make_long(x, true);
	case ARM_INS_IT:
	case ARM_INS_NOP:
	case ARM_INS_HINT:
	case ARM_INS_PLD:
	case ARM_INS_PLDW:
	case ARM_INS_PLI:
	case ARM_INS_DMB:
	case ARM_INS_DSB:
	case ARM_INS_ISB:
	case ARM_INS_CLREX:
	case ARM_INS_SETEND:
	case ARM_INS_VCMP:
	case ARM_INS_VCMPE:
	case ARM_INS_MCR:
	case ARM_INS_MCRR:
	case ARM_INS_VMSR: return true;
	case ARM_INS_BFI:
	case ARM_INS_BFC:
		for (unsigned i = 0; i < x->n; i++)
			mix_operand(x, destination(x, 0), i);
		return true;
	default: return make_access(x) || make_vector(x);
	}
}

/* A jump to a register or a loaded address, and blx, select the instruction set (CPSR.T; ARM DDI 0406, A2.3.2). */
static void select_set(struct work *x)
{
	bool is_exchange = x->w.insn->id == ARM_INS_BX || x->w.insn->id == ARM_INS_BLX;

	if (is_exchange && is_reg(x, 0))
		mix_operand(x, ts_op_flags(THUMB), 0);
	else if (is_exchange)
		ts_cs_add(&x->w, ts_op_flags(THUMB), ts_op_nowhere(), TS_WAY_CONSTANT);
	else if (x->leads_pc)
		ts_cs_add(&x->w, ts_op_flags(THUMB), ts_op_nowhere(), TS_WAY_UNKNOWN);
}

/* An instruction that writes the program counter is a jump. */
static void find_flow(struct work *x)
{
	bool is_pop = x->w.insn->id == ARM_INS_POP || (x->w.insn->id == ARM_INS_LDM && x->op[0].reg == ARM_REG_SP) ||
		      (x->w.insn->id == ARM_INS_MOV && is_reg(x, 1) && x->op[1].reg == ARM_REG_LR);

	select_set(x);
	if (x->leads_pc)
		x->w.ops->flow = is_pop ? TS_OP_RETURN : TS_OP_JUMP_INDIRECT;
	if (!x->w.is_conditional)
		return;
	x->w.ops->condition = TS_IF_FLAGS;
	x->w.ops->cond_code = (uint8_t)(x->arm->cc - 1);
	if (x->w.ops->flow == TS_OP_JUMP) {
		x->w.ops->flow = TS_OP_BRANCH;
		x->w.is_conditional = false;
		ts_cs_add(&x->w, ts_op_pc(), ts_op_flags(NZCV), TS_WAY_MIX);
	}
}

static bool decode(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_operands *ops)
{
	struct work x = { .is_thumb = mode.is_thumb };

	if (!ts_cs_begin(&x.w, d, mode, pc, bytes, len, ops))
		return false;
	x.arm = &x.w.insn->detail->arm;
	x.op = x.arm->operands;
	x.n = x.arm->op_count;
	x.w.is_conditional = x.arm->cc > ARM_CC_INVALID && x.arm->cc < ARM_CC_AL && x.w.insn->id != ARM_INS_IT;
	if (!make_by_id(&x)) {
		if (is_reg(&x, 0))
			make_mix(&x, 1);
		else
			ops->is_complete = false;
	}
	find_flow(&x);
	return true;
}

bool ts_operands_arm_init(struct ts_decoder *d)
{
	/* code of a big-endian processor may be of either order: it is not decoded */
	return d->set->arch->is_big_endian || ts_cs_init(d, CS_ARCH_ARM, CS_MODE_ARM, true, find_register, decode);
}
