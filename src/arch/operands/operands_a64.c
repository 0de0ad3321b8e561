/* SPDX-License-Identifier: MIT */
/* AArch64: what instructions read and write, by the Arm Architecture Reference Manual (DDI 0487). */
#include "operands_cs.h"

#include <stdio.h>
#include <string.h>

#define NZCV UINT32_C(0xf0000000)
#define NZ   UINT32_C(0xc0000000)

struct work {
	struct ts_cs_work w;
	const cs_arm64_op *op;
	unsigned n; /* operands */
	bool sets_flags, reads_flags;
};

/* "w3", "x3", "sp", "d1", ... */
static bool find_register(const struct ts_regset *set, const char *name, struct ts_cs_reg *reg)
{
	static const char vectors[] = "bhsdqv";
	const char *v = strchr(vectors, *name);
	char full[8];

	if (!strcmp(name, "xzr") || !strcmp(name, "wzr")) {
		reg->is_zero = true;
		return true;
	}
	if (!strcmp(name, "sp") || !strcmp(name, "wsp"))
		return ts_cs_place(set, "sp", *name == 'w' ? 4 : 8, reg);
	if (!strcmp(name, "fp") || !strcmp(name, "lr"))
		return ts_cs_place(set, *name == 'f' ? "x29" : "x30", 8, reg);
	if (strlen(name) > 3 || strspn(name + 1, "0123456789") != strlen(name + 1) || !name[1])
		return false;
	if (*name == 'w' || *name == 'x') {
		snprintf(full, sizeof(full), "x%s", name + 1);
		return ts_cs_place(set, full, *name == 'w' ? 4 : 8, reg);
	}
	snprintf(full, sizeof(full), "v%s", name + 1);
	return v && ts_cs_place(set, full, v - vectors > 4 ? 16 : 1u << (v - vectors), reg);
}

/* ------------------------------------------------------------------------------------------------ operands */

/* Bytes of the vector that an arrangement names; 16: all. */
static unsigned vector_len(const cs_arm64_op *o)
{
	switch (o->vas) {
	case ARM64_VAS_8B:
	case ARM64_VAS_4H:
	case ARM64_VAS_2S:
	case ARM64_VAS_1D: return 8;
	default: return 16;
	}
}

/* The register of an operand.  The upper half of one that an arrangement leaves out becomes zero. */
static struct ts_cs_reg reg_of(const struct work *x, unsigned i)
{
	struct ts_cs_reg r = ts_cs_reg(&x->w, x->op[i].reg);

	if (r.len == 16 && x->op[i].vector_index < 0)
		r.len = (uint8_t)vector_len(&x->op[i]);
	return r;
}

static bool is_reg(const struct work *x, unsigned i)
{
	return i < x->n && x->op[i].type == ARM64_OP_REG;
}

static bool is_vector(const struct ts_cs_reg *r)
{
	return r->whole == 16;
}

/* A memory operand of @size bytes; returns its number. */
static unsigned add_memory(struct work *x, const cs_arm64_op *o, unsigned size)
{
	struct ts_cs_reg base = ts_cs_reg(&x->w, o->mem.base), index = ts_cs_reg(&x->w, o->mem.index);
	struct ts_op_mem *m = &x->w.ops->mem[x->w.ops->n_mem];
	bool is_after = strstr(x->w.insn->op_str, "], ") != NULL; /* the base moves after the access */

	*m = (struct ts_op_mem){ .disp = is_after ? 0 : o->mem.disp,
				 .base = base.len ? base.off : TS_NO_OFF16,
				 .base_len = base.len,
				 .index = index.len ? index.off : TS_NO_OFF16,
				 .index_len = index.len,
				 .segment = TS_NO_OFF16,
				 .extra = TS_NO_OFF16,
				 .size = (uint16_t)size,
				 .scale = (uint8_t)(o->shift.type == ARM64_SFT_LSL ? 1u << (o->shift.value & 7) : 1) };
	if (index.len == 4)
		m->index_as = o->ext == ARM64_EXT_SXTW ? TS_INDEX_SIGNED_32 : TS_INDEX_UNSIGNED_32;
	return x->w.ops->n_mem++;
}

/* A load from an address beside the code. */
static unsigned add_literal(struct work *x, int64_t addr, unsigned size)
{
	return ts_cs_add_mem(&x->w, &(struct ts_cs_reg){ 0 }, addr, size);
}

/* The place is made of operand @i. */
static void mix_operand(struct work *x, struct ts_op_place to, unsigned i)
{
	struct ts_cs_reg r;

	x->w.order = i;
	if (x->op[i].type == ARM64_OP_REG) {
		r = reg_of(x, i);
		ts_cs_mix(&x->w, to, &r);
	} else {
		ts_cs_add(&x->w, to, ts_op_nowhere(), TS_WAY_CONSTANT)->constant =
			x->op[i].type == ARM64_OP_IMM ? (uint64_t)x->op[i].imm : 0;
	}
}

/* The place is made of operands from @first on, and of the flags that are read. */
static void mix_all(struct work *x, struct ts_op_place to, unsigned first)
{
	for (unsigned i = first; i < x->n; i++)
		mix_operand(x, to, i);
	x->w.order = x->n;
	if (x->reads_flags)
		ts_cs_add(&x->w, to, ts_op_flags(NZCV), TS_WAY_MIX);
}

static void set_flags(struct work *x, unsigned first, uint32_t flags)
{
	mix_all(x, ts_op_flags(flags), first);
	x->w.order = 0;
	if (flags != NZCV)
		ts_cs_add(&x->w, ts_op_flags(NZCV & ~flags), ts_op_nowhere(), TS_WAY_CONSTANT);
}

/* ------------------------------------------------------------------------------------------- loads and stores */

static void write_back(struct work *x, unsigned mem)
{
	struct ts_cs_reg base;

	if (mem >= x->n || x->op[mem].type != ARM64_OP_MEM || !x->w.insn->detail->arm64.writeback)
		return;
	base = ts_cs_reg(&x->w, x->op[mem].mem.base);
	x->w.order = mem;
	if (!base.len)
		return;
	ts_cs_mix(&x->w, ts_cs_part(&x->w, &base, 0, base.len), &base);
	if (is_reg(x, mem + 1))
		mix_operand(x, ts_cs_part(&x->w, &base, 0, base.len), mem + 1);
}

/* How many bytes of memory the mnemonic accesses for a register of @len bytes. */
static unsigned access_len(const struct work *x, unsigned len)
{
	const char *name = x->w.insn->mnemonic;
	size_t n = strlen(name);

	if (name[n - 1] == 'b')
		return 1;
	if (name[n - 1] == 'h')
		return 2;
	return n > 2 && !strcmp(name + n - 2, "sw") ? 4 : len;
}

static bool make_load(struct work *x)
{
	bool is_signed = ts_cs_is_one_of(&x->w, "ldrsb ldrsh ldrsw ldursb ldursh ldursw ldtrsb ldtrsh ldtrsw ldpsw");
	unsigned n_regs = ts_cs_begins(&x->w, "ldp") || ts_cs_is_one_of(&x->w, "ldnp ldxp ldaxp") ? 2 : 1, len, mem;
	struct ts_cs_reg first;

	if (x->n <= n_regs || !is_reg(x, 0))
		return false;
	first = reg_of(x, 0);
	len = access_len(x, first.is_zero ? 8 : first.len);
	x->w.order = n_regs;
	if (x->op[n_regs].type == ARM64_OP_MEM)
		mem = add_memory(x, &x->op[n_regs], n_regs * len);
	else if (x->op[n_regs].type == ARM64_OP_IMM)
		mem = add_literal(x, x->op[n_regs].imm, n_regs * len);
	else
		return false;
	for (unsigned i = 0; i < n_regs; i++) {
		struct ts_cs_reg to = reg_of(x, i);

		ts_cs_load(&x->w, &to, mem, i * len, len, is_signed);
	}
	write_back(x, n_regs);
	return true;
}

static bool make_store(struct work *x)
{
	bool is_exclusive = ts_cs_begins(&x->w, "stx") || ts_cs_begins(&x->w, "stlx");
	unsigned n_regs = ts_cs_is_one_of(&x->w, "stp stnp stxp stlxp") ? 2 : 1, at = is_exclusive, len, mem;
	struct ts_cs_reg first, status;

	if (x->n <= at + n_regs || !is_reg(x, at) || x->op[at + n_regs].type != ARM64_OP_MEM)
		return false;
	first = reg_of(x, at);
	len = access_len(x, first.is_zero ? (*x->w.insn->op_str == 'w' ? 4 : 8) : first.len);
	mem = add_memory(x, &x->op[at + n_regs], n_regs * len);
	for (unsigned i = 0; i < n_regs; i++) {
		struct ts_cs_reg from = reg_of(x, at + i);

		x->w.order = at + i;
		ts_cs_store(&x->w, mem, i * len, &from, len);
	}
	if (is_exclusive) {
		status = reg_of(x, 0);
		ts_cs_add(&x->w, ts_cs_part(&x->w, &status, 0, status.len), ts_op_nowhere(), TS_WAY_PROCESSOR);
		ts_cs_clear_above(&x->w, &status);
	}
	write_back(x, at + n_regs);
	return true;
}

/* ld1 to ld4, st1 to st4: whole registers one after the other, or (2 to 4, single lanes) elements by turns. */
static bool make_structures(struct work *x)
{
	bool is_load = ts_cs_begins(&x->w, "ld"), is_plain = x->w.insn->mnemonic[2] == '1' && !x->w.insn->mnemonic[3];
	unsigned n = 0, len = 16, mem;
	struct ts_cs_reg r;

	while (is_reg(x, n))
		n++;
	if (!n || n == x->n || x->op[n].type != ARM64_OP_MEM)
		return false;
	is_plain &= x->op[0].vector_index < 0;
	r = reg_of(x, 0);
	len = r.len;
	mem = add_memory(x, &x->op[n], n * len);
	for (unsigned i = 0; i < n; i++) {
		r = reg_of(x, i);
		x->w.order = is_load ? n : i;
		if (is_plain && is_load)
			ts_cs_load(&x->w, &r, mem, i * len, len, false);
		else if (is_plain)
			ts_cs_store(&x->w, mem, i * len, &r, len);
		else if (is_load)
			ts_cs_add(&x->w, ts_cs_part(&x->w, &r, 0, r.len), ts_op_nowhere(), TS_WAY_UNKNOWN);
		else
			ts_cs_mix(&x->w, ts_cs_mem(mem, 0, n * len), &r);
	}
	write_back(x, n);
	return true;
}

/* --------------------------------------------------------------------------------------------------- branches */

static void jump_on(struct work *x, unsigned i)
{
	mix_operand(x, ts_op_pc(), i);
}

static bool make_branch(struct work *x)
{
	struct ts_operands *ops = x->w.ops;
	struct ts_cs_reg lr;
	bool is_call = ts_cs_is_one_of(&x->w, "bl blr blraa blrab blraaz blrabz");

	if (is_call) {
		ops->flow = TS_OP_CALL_INDIRECT;
		if (x->n && x->op[0].type == ARM64_OP_IMM)
			ts_cs_call(&x->w, (uint64_t)x->op[0].imm);
		if (ts_cs_place(x->w.d->set, "x30", 8, &lr))
			ts_cs_constant(&x->w, &lr, x->w.insn->address + 4);
	} else if (ts_cs_begins(&x->w, "ret")) {
		ops->flow = TS_OP_RETURN;
		if (!x->n && ts_cs_place(x->w.d->set, "x30", 8, &lr))
			ts_cs_mix(&x->w, ts_op_pc(), &lr);
	} else if (ts_cs_is_one_of(&x->w, "cbz cbnz tbz tbnz")) {
		ops->flow = TS_OP_BRANCH;
		jump_on(x, 0);
		return true;
	} else if (ts_cs_begins(&x->w, "b.")) {
		ops->flow = TS_OP_BRANCH;
		ts_cs_add(&x->w, ts_op_pc(), ts_op_flags(NZCV), TS_WAY_MIX);
		return true;
	} else if (ts_cs_is_one_of(&x->w, "b br braa brab braaz brabz")) {
		ops->flow = is_reg(x, 0) ? TS_OP_JUMP_INDIRECT : TS_OP_JUMP;
	} else {
		return false;
	}
	if (is_reg(x, 0))
		jump_on(x, 0);
	return true;
}

/* ------------------------------------------------------------------------------------------------------ moves */

static uint64_t shifted(const cs_arm64_op *o)
{
	return (uint64_t)o->imm << (o->shift.type == ARM64_SFT_LSL ? o->shift.value & 63 : 0);
}

static bool make_move(struct work *x)
{
	struct ts_cs_reg to, from;
	uint64_t value;

	if (x->n != 2 || !is_reg(x, 0))
		return false;
	to = reg_of(x, 0);
	if (x->op[1].type == ARM64_OP_FP) {
		ts_cs_constant(&x->w, &to, 0);
		return true;
	}
	if (x->op[1].type == ARM64_OP_IMM) {
		value = ts_cs_is_one_of(&x->w, "movn mvni") ? ~shifted(&x->op[1]) : shifted(&x->op[1]);
		ts_cs_constant(&x->w, &to, to.len < 8 ? value & UINT32_MAX : value);
		return true;
	}
	if (!is_reg(x, 1) || x->op[1].vector_index >= 0 || x->op[0].vector_index >= 0)
		return false;
	from = reg_of(x, 1);
	x->w.order = 1;
	ts_cs_copy(&x->w, &to, &from, to.len);
	return true;
}

/* movk: two bytes of the register become a constant. */
static bool make_movk(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0);
	unsigned at = x->op[1].shift.type == ARM64_SFT_LSL ? x->op[1].shift.value / 8 : 0;

	if (!to.len || at + 2 > to.len)
		return to.is_zero;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, at, 2), ts_op_nowhere(), TS_WAY_PART)->constant = (uint64_t)x->op[1].imm;
	ts_cs_clear_above(&x->w, &to);
	return true;
}

/* An element of a vector: which bytes of it. */
static bool element(const struct work *x, unsigned i, struct ts_op_place *place, unsigned *len)
{
	struct ts_cs_reg r = ts_cs_reg(&x->w, x->op[i].reg);
	const char *dot = strchr(x->w.insn->op_str, '.');
	static const char units[] = "bhsd";
	const char *unit = dot ? strchr(units, dot[1]) : NULL;
	unsigned at;

	if (!unit || !dot[1] || x->op[i].vector_index < 0 || r.len != 16)
		return false;
	*len = 1u << (unit - units);
	at = (unsigned)x->op[i].vector_index * *len;
	*place = ts_cs_part(&x->w, &r, at & 15, *len);
	return at < 16;
}

/* umov, smov and mov from an element; ins and mov to one. */
static bool make_element(struct work *x)
{
	struct ts_op_place place;
	struct ts_cs_reg r;
	unsigned len;

	if (x->n != 2 || !is_reg(x, 0) || !is_reg(x, 1))
		return false;
	if (x->op[0].vector_index >= 0 && element(x, 0, &place, &len)) {
		x->w.order = 1;
		r = ts_cs_reg(&x->w, x->op[1].reg);
		if (x->op[1].vector_index < 0 && r.len >= len)
			ts_cs_add(&x->w, place, ts_cs_part(&x->w, &r, 0, len), TS_WAY_COPY);
		else
			ts_cs_mix(&x->w, place, &r);
		return true;
	}
	if (x->op[1].vector_index < 0 || !element(x, 1, &place, &len))
		return false;
	r = ts_cs_reg(&x->w, x->op[0].reg);
	len = len < r.len ? len : r.len;
	x->w.order = 1;
	if (!r.len)
		return true;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &r, 0, len), place, TS_WAY_COPY);
	if (len < r.len)
		ts_cs_add(&x->w, ts_cs_part(&x->w, &r, len, r.len - len), ts_cs_is(&x->w, "smov") ? place : ts_op_nowhere(),
			  ts_cs_is(&x->w, "smov") ? TS_WAY_MIX : TS_WAY_ZERO);
	ts_cs_clear_above(&x->w, &r);
	return true;
}

static bool make_extension(struct work *x)
{
	const char *name = x->w.insn->mnemonic;
	unsigned n = name[3] == 'b' ? 1 : name[3] == 'h' ? 2 : 4;
	struct ts_cs_reg to, from;

	if (x->n != 2 || !is_reg(x, 0) || !is_reg(x, 1))
		return false;
	to = reg_of(x, 0);
	from = reg_of(x, 1);
	x->w.order = 1;
	if (*name == 'u' || from.len < n || to.len <= n) {
		ts_cs_copy(&x->w, &to, &from, n);
		return true;
	}
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 0, n), ts_cs_part(&x->w, &from, 0, n), TS_WAY_COPY);
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, n, to.len - n), ts_cs_part(&x->w, &from, n - 1, 1), TS_WAY_MIX);
	ts_cs_clear_above(&x->w, &to);
	return true;
}

static bool make_reverse(struct work *x)
{
	struct ts_cs_reg to = reg_of(x, 0), from = reg_of(x, 1);

	if (x->n != 2 || !is_reg(x, 1) || is_vector(&to) || !from.len || to.len != from.len)
		return false;
	x->w.order = 1;
	ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 0, to.len), ts_cs_part(&x->w, &from, 0, from.len), TS_WAY_REVERSE);
	ts_cs_clear_above(&x->w, &to);
	return true;
}

/* Bitwise operations without a shift keep each byte in its place. */
static bool make_bitwise(struct work *x)
{
	struct ts_cs_reg to;

	for (unsigned i = 0; i < x->n; i++) {
		if (x->op[i].shift.type != ARM64_SFT_INVALID)
			return false;
	}
	to = reg_of(x, 0);
	for (unsigned i = 1; i < x->n && to.len; i++) {
		struct ts_cs_reg from = is_reg(x, i) ? reg_of(x, i) : (struct ts_cs_reg){ .len = 0 };

		x->w.order = i;
		if (from.len == to.len)
			ts_cs_add(&x->w, ts_cs_part(&x->w, &to, 0, to.len), ts_cs_part(&x->w, &from, 0, to.len), TS_WAY_LANES);
		else
			mix_operand(x, ts_cs_part(&x->w, &to, 0, to.len), i);
	}
	ts_cs_clear_above(&x->w, &to);
	if (x->sets_flags)
		set_flags(x, 1, NZ);
	return true;
}

/* --------------------------------------------------------------------------------------------------- others */

static bool make_system(struct work *x)
{
	struct ts_cs_reg r;

	if (ts_cs_is(&x->w, "svc")) {
		x->w.ops->flow = TS_OP_SYSCALL;
		if (ts_cs_place(x->w.d->set, "x0", 8, &r))
			ts_cs_add(&x->w, ts_cs_part(&x->w, &r, 0, 8), ts_op_nowhere(), TS_WAY_SYSTEM);
		return true;
	}
	if (ts_cs_is_one_of(&x->w, "brk hlt hvc smc eret"))
		return ts_cs_trap(&x->w);
	if (ts_cs_is(&x->w, "mrs") && is_reg(x, 0)) {
		bool is_flags = strstr(x->w.insn->op_str, "nzcv") != NULL;

		r = reg_of(x, 0);
		if (r.len)
			ts_cs_add(&x->w, ts_cs_part(&x->w, &r, 0, r.len), is_flags ? ts_op_flags(NZCV) : ts_op_nowhere(),
				  is_flags ? TS_WAY_MIX : TS_WAY_PROCESSOR);
		return true;
	}
	if (ts_cs_is(&x->w, "msr")) {
		if (strstr(x->w.insn->op_str, "nzcv") && is_reg(x, 1))
			mix_operand(x, ts_op_flags(NZCV), 1);
		return true;
	}
	return ts_cs_is_one_of(&x->w, "nop hint dmb dsb isb prfm prfum yield wfe wfi sev sevl clrex dc ic at tlbi sys "
				      "bti csdb psb");
}

/* Instructions that add to what their destination holds. */
static bool keeps_destination(const struct work *x)
{
	size_t n = strlen(x->w.insn->mnemonic);

	return x->w.insn->mnemonic[n - 1] == '2' ||
	       ts_cs_is_one_of(&x->w, "bfi bfxil bfm bfc fmla fmls mla mls smlal umlal smlsl umlsl sqdmlal sqdmlsl "
				      "sqrdmlah sqrdmlsh bsl bit bif tbx sli sri saba uaba sabal uabal ssra usra srsra ursra "
				      "sadalp uadalp suqadd usqadd aese aesd sha1c sha1p sha1m sha1su0 sha1su1 sha256h "
				      "sha256h2 sha256su0 sha256su1 sdot udot fmlal fmlsl ins");
}

static bool make_comparison(struct work *x)
{
	bool is_test = ts_cs_is(&x->w, "tst");

	if (!is_test && !ts_cs_is_one_of(&x->w, "cmp cmn ccmp ccmn fcmp fcmpe fccmp fccmpe"))
		return false;
	x->reads_flags = ts_cs_begins(&x->w, "cc") || ts_cs_begins(&x->w, "fcc");
	set_flags(x, 0, is_test ? NZ : NZCV);
	return true;
}

static void make_other(struct work *x)
{
	struct ts_cs_reg to;
	struct ts_op_place place;

	if (!is_reg(x, 0))
		return;
	x->reads_flags = x->w.insn->detail->arm64.cc > ARM64_CC_INVALID ||
			 ts_cs_is_one_of(&x->w, "adc adcs sbc sbcs ngc ngcs");
	to = reg_of(x, 0);
	place = ts_cs_part(&x->w, &to, 0, to.len);
	if (to.len) {
		bool is_alone = x->n == 1 && !x->reads_flags;

		mix_all(x, place, keeps_destination(x) ? 0 : 1);
		if (is_alone)
			ts_cs_add(&x->w, place, ts_op_nowhere(), TS_WAY_UNKNOWN);
		ts_cs_clear_above(&x->w, &to);
	}
	if (x->sets_flags)
		set_flags(x, 1, NZCV);
}

static bool make_by_name(struct work *x)
{
	if (make_system(x) || make_branch(x) || make_comparison(x))
		return true;
	if (ts_cs_begins(&x->w, "ld") && strchr("1234", x->w.insn->mnemonic[2]))
		return make_structures(x);
	if (ts_cs_begins(&x->w, "st") && strchr("1234", x->w.insn->mnemonic[2]))
		return make_structures(x);
	if (ts_cs_begins(&x->w, "ld"))
		return make_load(x);
	if (ts_cs_begins(&x->w, "st"))
		return make_store(x);
	if (ts_cs_is(&x->w, "movk"))
		return make_movk(x);
	if (ts_cs_is_one_of(&x->w, "mov movz movn movi mvni fmov") && make_move(x))
		return true;
	if (ts_cs_is_one_of(&x->w, "mov umov smov ins"))
		return make_element(x);
	if (ts_cs_is_one_of(&x->w, "sxtb sxth sxtw uxtb uxth uxtw"))
		return make_extension(x);
	if (ts_cs_is(&x->w, "rev"))
		return make_reverse(x);
	if (ts_operands_a64_shuffle(&x->w))
		return true;
	return ts_cs_is_one_of(&x->w, "and ands orr orn eor eon bic bics mvn") && make_bitwise(x);
}

static bool decode(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		   struct ts_operands *ops)
{
	struct work x = { 0 };

	if (!ts_cs_begin(&x.w, d, mode, pc, bytes, len, ops))
		return false;
	x.op = x.w.insn->detail->arm64.operands;
	x.n = x.w.insn->detail->arm64.op_count;
	x.sets_flags = x.w.insn->detail->arm64.update_flags;
	if (!make_by_name(&x))
		make_other(&x);
	return true;
}

bool ts_operands_a64_init(struct ts_decoder *d)
{
	return ts_cs_init(d, CS_ARCH_ARM64, CS_MODE_ARM, false, find_register, decode);
}
