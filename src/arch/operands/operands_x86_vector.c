/* SPDX-License-Identifier: MIT */
/* Instructions on vectors that move bytes, or work on lanes; all others are made of their whole operands. */
#include "operands_x86_parts.h"

static void make_move(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1];
	unsigned n = from->size < to->size ? from->size : to->size;

	if (w->n > 2 && arg) { /* vmovsd xmm0, xmm1, xmm2 and vmovss */
		ts_x86_carry(w, to, 0, arg, &w->op[2], 0, arg, TS_WAY_COPY);
		ts_x86_carry(w, to, arg, 16 - arg, from, arg, 16 - arg, TS_WAY_COPY);
		ts_x86_clear_above(w, to);
		return;
	}
	if (w->n > 2) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, to, 0, n, from, 0, n, TS_WAY_COPY);
	if (n < to->size)
		ts_x86_fill(w, to, n, to->size - n, TS_WAY_ZERO);
	ts_x86_clear_above(w, to);
}

/*
 * A half of a vector: @halves says which, of the destination (1) and of the source (2), is the upper one.  Of
 * three operands the second one gives the other half.
 */
static void make_half(struct ts_x86_work *w, unsigned halves)
{
	struct ts_x86_operand to = ts_x86_whole(w, 0), from = ts_x86_whole(w, w->n > 2 ? 2 : 1);
	unsigned to_at = halves & 1 && to.n && to.piece[0].kind == TS_AT_REG ? 8 : 0;
	unsigned from_at = halves & 2 && from.n && from.piece[0].kind == TS_AT_REG ? 8 : 0;

	if (to.n != 1 || from.n != 1) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, &to, to_at, 8, &from, from_at, 8, TS_WAY_COPY);
	if (w->n > 2) {
		struct ts_x86_operand other = ts_x86_whole(w, 1);

		ts_x86_carry(w, &to, 8 - to_at, 8, &other, 8 - to_at, 8, TS_WAY_COPY);
		ts_x86_clear_above(w, &to);
	}
}

static void set_unit(struct ts_x86_work *w, unsigned first, unsigned unit)
{
	for (; first < w->ops->n; first++)
		w->ops->transfers[first].unit = (uint8_t)unit;
}

/* The result of an instruction with two equal operands: zeros, or ones. */
enum { CLEARS = 256, SETS = 512 };

static void make_equal(struct ts_x86_work *w, unsigned how)
{
	const struct ts_x86_operand *to = &w->op[0];
	unsigned n = w->ops->n;

	ts_x86_fill(w, to, 0, to->size, how & CLEARS ? TS_WAY_ZERO : TS_WAY_CONSTANT);
	for (; how & SETS && n < w->ops->n; n++)
		w->ops->transfers[n].constant = UINT64_MAX;
	ts_x86_clear_above(w, to);
}

/* A gather: an element whose mask is set comes from memory, another one stays; the mask becomes zero. */
static void make_gather(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1], *mask = &w->op[2];
	unsigned len = to->size < mask->size ? to->size : mask->size, n = w->ops->n;

	if (w->n < 3 || w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || to->size > 32) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, to, 0, len, to, 0, len, TS_WAY_LANES);
	ts_x86_carry(w, to, 0, len, mask, 0, len, TS_WAY_LANES);
	set_unit(w, n, unit);
	ts_x86_carry(w, to, 0, len, from, 0, from->size, TS_WAY_MIX);
	ts_x86_fill(w, mask, 0, mask->size, TS_WAY_ZERO);
	ts_x86_clear_above(w, to);
	ts_x86_clear_above(w, mask);
}

/* The lowest byte of @how: bytes of a lane. */
static void make_lanes(struct ts_x86_work *w, unsigned how)
{
	unsigned a = ts_x86_first_source(w), b = ts_x86_last_source(w), n = w->ops->n;
	bool is_same = w->raw[a].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       w->raw[b].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       w->raw[a].reg.value == w->raw[b].reg.value;
	const struct ts_x86_operand *to = &w->op[0];

	if (w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || to->size > 32) {
		ts_x86_mix(w, 0);
		return;
	}
	if (is_same && how & (CLEARS | SETS)) {
		make_equal(w, how);
		return;
	}
	ts_x86_carry(w, to, 0, to->size, &w->op[a], 0, to->size, TS_WAY_LANES);
	if (b != a)
		ts_x86_carry(w, to, 0, to->size, &w->op[b], 0, to->size, TS_WAY_LANES);
	set_unit(w, n, how & 255);
	ts_x86_clear_above(w, to);
}

/* Each lane is made of the same one of the only source. */
static void make_each(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0];
	unsigned n = w->ops->n;

	if (w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || (to->size != 16 && to->size != 32)) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, to, 0, to->size, &w->op[1], 0, to->size, TS_WAY_LANES);
	set_unit(w, n, unit);
	ts_x86_clear_above(w, to);
}

/* Three sources, lane by lane: blendv (the last one is the mask, of which a bit decides), and sums of products. */
static void make_of_three(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0];
	unsigned n = w->ops->n, first = w->n > 3 ? 1 : 0;

	if (w->n < 3 || (to->size != 16 && to->size != 32) || w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned i = first; i < first + 3; i++) {
		struct ts_x86_operand from = ts_x86_whole(w, i);

		ts_x86_carry(w, to, 0, to->size, &from, 0, to->size, TS_WAY_LANES);
	}
	set_unit(w, n, unit);
	ts_x86_clear_above(w, to);
}

/* The low lane of a scalar instruction: its bytes, those of the last operand, and does the first source take
 * part? */
#define SCALAR_OF(to, from, has_first) ((to) | (from) << 8 | (has_first) << 16)

static void make_scalar(struct ts_x86_work *w, unsigned how)
{
	unsigned first = w->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? 0 : ts_x86_first_source(w);
	struct ts_x86_operand a = ts_x86_whole(w, first), b = w->op[ts_x86_last_source(w)], to = ts_x86_whole(w, 0);
	unsigned size = how & 255, read = how >> 8 & 255, n = w->ops->n;
	bool is_vector = b.n && b.piece[0].kind == TS_AT_REG && read;

	if (!to.n || w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED) {
		ts_x86_mix(w, 0);
		return;
	}
	if (is_vector)
		b = ts_x86_whole(w, ts_x86_last_source(w));
	if (how >> 16)
		ts_x86_carry(w, &to, 0, size, &a, 0, size, TS_WAY_MIX);
	ts_x86_carry(w, &to, 0, size, &b, 0, read && read < b.size ? read : b.size, TS_WAY_MIX);
	if (w->ops->n == n)
		ts_x86_fill(w, &to, 0, size, TS_WAY_UNKNOWN);
	if (first)
		ts_x86_carry(w, &to, size, 16 - size, &a, size, 16 - size, TS_WAY_COPY);
	ts_x86_clear_above(w, &to);
}

/* ptest: two flags, the others become zero. */
static void make_test(struct ts_x86_work *w, unsigned)
{
	enum { CF = 1, ZF = 64 };

	w->written = CF | ZF;
	w->zeroed = TS_X86_STATUS_FLAGS & ~w->written & ~0x400u;
	ts_x86_mix_flags(w);
}

static void make_extract(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1];
	unsigned at = ((unsigned)ts_x86_immediate(w) & (16 / unit - 1)) * unit;

	ts_x86_carry(w, to, 0, unit, from, at, unit, TS_WAY_COPY);
	if (to->size > unit)
		ts_x86_fill(w, to, unit, to->size - unit, TS_WAY_ZERO);
	ts_x86_clear_above(w, to);
}

/* The register that a vector operand is in, with the upper half that it may lack. */
static struct ts_x86_operand with_upper(const struct ts_x86_work *w, unsigned i)
{
	struct ts_x86_operand o = w->op[i];
	ZyanI8 id =
		w->raw[i].type == ZYDIS_OPERAND_TYPE_REGISTER ? ZydisRegisterGetId(w->raw[i].reg.value) : -1;

	if (id < 0 || id >= (ZyanI8)TS_X86_N_XMMS || w->d->x86.xmms[id] == TS_X86_NO_REG ||
	    w->d->x86.ymmhs[id] == TS_X86_NO_REG)
		return o;
	o.piece[0] = ts_op_reg(w->d->x86.xmms[id], 16);
	o.piece[1] = ts_op_reg(w->d->x86.ymmhs[id], 16);
	o.n = 2;
	o.size = 32;
	return o;
}

/* vextractf128: a half of a vector of 32 bytes. */
static void make_extract_half(struct ts_x86_work *w, unsigned)
{
	struct ts_x86_operand from = with_upper(w, 1);

	if (from.size != 32 || w->op[0].size != 16) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, &w->op[0], 0, 16, &from, 16 * (ts_x86_immediate(w) & 1), 16, TS_WAY_COPY);
	ts_x86_clear_above(w, &w->op[0]);
}

static void make_insert(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0], *old = &w->op[ts_x86_first_source(w)],
				    *from = &w->op[ts_x86_last_source(w)];
	unsigned at = ((unsigned)ts_x86_immediate(w) & (16 / unit - 1)) * unit;

	if (old != to) {
		ts_x86_carry(w, to, 0, at, old, 0, at, TS_WAY_COPY);
		ts_x86_carry(w, to, at + unit, 16 - at - unit, old, at + unit, 16 - at - unit, TS_WAY_COPY);
	}
	ts_x86_carry(w, to, at, unit, from, 0, unit, TS_WAY_COPY);
	ts_x86_clear_above(w, to);
}

/* pmovzx (@arg's highest bit 0) and pmovsx: from elements of arg & 15 bytes to those of arg >> 4 & 15. */
static void make_widen(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1];
	unsigned small = arg & 15, large = arg >> 4 & 15;

	if (to->size > 32) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned i = 0; i < to->size / large; i++) {
		ts_x86_carry(w, to, i * large, small, from, i * small, small, TS_WAY_COPY);
		if (arg & 256)
			ts_x86_carry(w, to, i * large + small, large - small, from, i * small + small - 1, 1,
				     TS_WAY_MIX);
		else
			ts_x86_fill(w, to, i * large + small, large - small, TS_WAY_ZERO);
	}
	ts_x86_clear_above(w, to);
}

/* vzeroupper and vzeroall. */
static void make_zero(struct ts_x86_work *w, unsigned is_all)
{
	for (unsigned i = 0; i < TS_X86_N_XMMS; i++) {
		uint16_t low = w->d->x86.xmms[i], high = w->d->x86.ymmhs[i];

		if (high != TS_X86_NO_REG)
			ts_operands_add(w->ops, ts_op_reg(high, 16), ts_op_nowhere(), TS_WAY_ZERO);
		if (is_all && low != TS_X86_NO_REG)
			ts_operands_add(w->ops, ts_op_reg(low, 16), ts_op_nowhere(), TS_WAY_ZERO);
	}
}

/*
 * The area of fxsave and xsave (Intel SDM 1, 10.5.1 and 13.4): the vector registers from byte 160 on, their
 * upper halves from 576 on.  What else it holds is not followed: x87, and the header, which is between them.
 */
enum { AREA_X87 = 160, AREA_HEADER = 512, AREA_UPPER = 576, IS_SAVED = 1, HAS_MASK = 2 };

/* xsave and xrstor: only what the mask in edx:eax names; here bits 1 and 2, which programs give together. */
static void set_mask(struct ts_x86_work *w)
{
	w->ops->condition = TS_IF_COUNT;
	w->ops->cond_off = w->d->x86.gprs[TS_X86_AX];
	w->ops->cond_len = 4;
	w->ops->cond_mask = 6;
}

static void add_saved(struct ts_x86_work *w, struct ts_op_place area, uint16_t reg, unsigned at, unsigned arg)
{
	struct ts_op_place in = area, held = ts_op_reg(reg, 16);
	struct ts_transfer *t;

	if (reg == TS_X86_NO_REG)
		return;
	in.off = (uint16_t)at;
	in.len = 16;
	t = ts_operands_add(w->ops, arg & IS_SAVED ? in : held, arg & IS_SAVED ? held : in, TS_WAY_COPY);
	if (t)
		t->is_conditional = arg & HAS_MASK;
}

static void make_area(struct ts_x86_work *w, unsigned arg)
{
	struct ts_op_place area = w->n && w->op[0].n ? w->op[0].piece[0] : ts_op_nowhere();

	w->ops->is_complete = false;
	if (area.kind != TS_AT_MEM)
		return;
	if (arg & HAS_MASK)
		set_mask(w);
	for (unsigned i = 0; i < TS_X86_N_XMMS; i++) {
		add_saved(w, area, w->d->x86.xmms[i], AREA_X87 + 16 * i, arg);
		if (arg & HAS_MASK)
			add_saved(w, area, w->d->x86.ymmhs[i], AREA_UPPER + 16 * i, arg);
	}
	if (!(arg & IS_SAVED))
		return;
	area.len = AREA_X87;
	ts_operands_add(w->ops, area, ts_op_nowhere(), TS_WAY_UNKNOWN);
	area.off = AREA_HEADER - 96;
	area.len = AREA_UPPER - area.off;
	ts_operands_add(w->ops, area, ts_op_nowhere(), TS_WAY_UNKNOWN);
}

#define SAVE(name)                                   \
	{                                            \
		name, make_area, IS_SAVED | HAS_MASK \
	}

#define MOVE(name)                 \
	{                          \
		name, make_move, 0 \
	}

const struct ts_x86_rule ts_x86_vector_rules[] = {
	{ "addpd", make_lanes, 8 },
	{ "addps", make_lanes, 4 },
	{ "addsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "addss", make_scalar, SCALAR_OF(4, 4, 1) },
	{ "addsubpd", make_lanes, 8 },
	{ "addsubps", make_lanes, 4 },
	{ "andnpd", make_lanes, 1 },
	{ "andnps", make_lanes, 1 },
	{ "andpd", make_lanes, 1 },
	{ "andps", make_lanes, 1 },
	{ "blendpd", ts_x86_make_blend, 8 },
	{ "blendps", ts_x86_make_blend, 4 },
	{ "blendvpd", make_of_three, 8 },
	{ "blendvps", make_of_three, 4 },
	{ "broadcastf128", ts_x86_make_broadcast, 16 },
	{ "broadcasti128", ts_x86_make_broadcast, 16 },
	{ "broadcastsd", ts_x86_make_broadcast, 8 },
	{ "broadcastss", ts_x86_make_broadcast, 4 },
	{ "cmpsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "cmpss", make_scalar, SCALAR_OF(4, 4, 1) },
	{ "cvtdq2ps", make_each, 4 },
	{ "cvtps2dq", make_each, 4 },
	{ "cvtsd2ss", make_scalar, SCALAR_OF(4, 8, 0) },
	{ "cvtsi2sd", make_scalar, SCALAR_OF(8, 0, 0) },
	{ "cvtsi2ss", make_scalar, SCALAR_OF(4, 0, 0) },
	{ "cvtss2sd", make_scalar, SCALAR_OF(8, 4, 0) },
	{ "cvttps2dq", make_each, 4 },
	{ "divpd", make_lanes, 8 },
	{ "divps", make_lanes, 4 },
	{ "divsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "divss", make_scalar, SCALAR_OF(4, 4, 1) },
	{ "extractf128", make_extract_half, 0 },
	{ "extracti128", make_extract_half, 0 },
	{ "extractps", make_extract, 4 },
	{ "fmadd132pd", make_of_three, 8 },
	{ "fmadd132ps", make_of_three, 4 },
	{ "fmadd213pd", make_of_three, 8 },
	{ "fmadd213ps", make_of_three, 4 },
	{ "fmadd231pd", make_of_three, 8 },
	{ "fmadd231ps", make_of_three, 4 },
	{ "fmsub132pd", make_of_three, 8 },
	{ "fmsub132ps", make_of_three, 4 },
	{ "fmsub213pd", make_of_three, 8 },
	{ "fmsub213ps", make_of_three, 4 },
	{ "fmsub231pd", make_of_three, 8 },
	{ "fmsub231ps", make_of_three, 4 },
	{ "fnmadd132pd", make_of_three, 8 },
	{ "fnmadd132ps", make_of_three, 4 },
	{ "fnmadd213pd", make_of_three, 8 },
	{ "fnmadd213ps", make_of_three, 4 },
	{ "fnmadd231pd", make_of_three, 8 },
	{ "fnmadd231ps", make_of_three, 4 },
	{ "fnmsub132pd", make_of_three, 8 },
	{ "fnmsub132ps", make_of_three, 4 },
	{ "fnmsub213pd", make_of_three, 8 },
	{ "fnmsub213ps", make_of_three, 4 },
	{ "fnmsub231pd", make_of_three, 8 },
	{ "fnmsub231ps", make_of_three, 4 },
	{ "fxrstor", make_area, 0 },
	{ "fxrstor64", make_area, 0 },
	{ "fxsave", make_area, IS_SAVED },
	{ "fxsave64", make_area, IS_SAVED },
	{ "gatherdpd", make_gather, 8 },
	{ "gatherdps", make_gather, 4 },
	{ "gatherqpd", make_gather, 8 },
	{ "gatherqps", make_gather, 4 },
	{ "haddpd", ts_x86_make_pack, 8 },
	{ "haddps", ts_x86_make_pack, 4 },
	{ "hsubpd", ts_x86_make_pack, 8 },
	{ "hsubps", ts_x86_make_pack, 4 },
	{ "insertf128", ts_x86_make_insert_half, 0 },
	{ "inserti128", ts_x86_make_insert_half, 0 },
	{ "insertps", ts_x86_make_insert_element, 0 },
	MOVE("lddqu"),
	{ "maxpd", make_lanes, 8 },
	{ "maxps", make_lanes, 4 },
	{ "maxsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "maxss", make_scalar, SCALAR_OF(4, 4, 1) },
	{ "minpd", make_lanes, 8 },
	{ "minps", make_lanes, 4 },
	{ "minsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "minss", make_scalar, SCALAR_OF(4, 4, 1) },
	MOVE("movapd"),
	MOVE("movaps"),
	MOVE("movd"),
	{ "movddup", ts_x86_make_pairs, 8 },
	MOVE("movdqa"),
	MOVE("movdqu"),
	{ "movhlps", make_half, 2 },
	{ "movhpd", make_half, 3 },
	{ "movhps", make_half, 3 },
	{ "movlhps", make_half, 1 },
	{ "movlpd", make_half, 0 },
	{ "movlps", make_half, 0 },
	MOVE("movntdq"),
	MOVE("movntdqa"),
	MOVE("movntpd"),
	MOVE("movntps"),
	MOVE("movq"),
	{ "movsd", make_move, 8 },
	{ "movshdup", ts_x86_make_pairs, 16 + 4 },
	{ "movsldup", ts_x86_make_pairs, 4 },
	{ "movss", make_move, 4 },
	MOVE("movupd"),
	MOVE("movups"),
	{ "mulpd", make_lanes, 8 },
	{ "mulps", make_lanes, 4 },
	{ "mulsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "mulss", make_scalar, SCALAR_OF(4, 4, 1) },
	{ "orpd", make_lanes, 1 },
	{ "orps", make_lanes, 1 },
	{ "pabsb", make_each, 1 },
	{ "pabsd", make_each, 4 },
	{ "pabsw", make_each, 2 },
	{ "packssdw", ts_x86_make_pack, 2 },
	{ "packsswb", ts_x86_make_pack, 1 },
	{ "packusdw", ts_x86_make_pack, 2 },
	{ "packuswb", ts_x86_make_pack, 1 },
	{ "paddb", make_lanes, 1 },
	{ "paddd", make_lanes, 4 },
	{ "paddq", make_lanes, 8 },
	{ "paddsb", make_lanes, 1 },
	{ "paddsw", make_lanes, 2 },
	{ "paddusb", make_lanes, 1 },
	{ "paddusw", make_lanes, 2 },
	{ "paddw", make_lanes, 2 },
	{ "palignr", ts_x86_make_align, 2 },
	{ "pand", make_lanes, 1 },
	{ "pandn", make_lanes, 1 },
	{ "pavgb", make_lanes, 1 },
	{ "pavgw", make_lanes, 2 },
	{ "pblendd", ts_x86_make_blend, 4 },
	{ "pblendvb", make_of_three, 1 },
	{ "pblendw", ts_x86_make_blend, 2 },
	{ "pbroadcastb", ts_x86_make_broadcast, 1 },
	{ "pbroadcastd", ts_x86_make_broadcast, 4 },
	{ "pbroadcastq", ts_x86_make_broadcast, 8 },
	{ "pbroadcastw", ts_x86_make_broadcast, 2 },
	{ "pcmpeqb", make_lanes, 1 | SETS },
	{ "pcmpeqd", make_lanes, 4 | SETS },
	{ "pcmpeqq", make_lanes, 8 | SETS },
	{ "pcmpeqw", make_lanes, 2 | SETS },
	{ "pcmpgtb", make_lanes, 1 | CLEARS },
	{ "pcmpgtd", make_lanes, 4 | CLEARS },
	{ "pcmpgtq", make_lanes, 8 | CLEARS },
	{ "pcmpgtw", make_lanes, 2 | CLEARS },
	{ "perm2f128", ts_x86_make_halves, 0 },
	{ "perm2i128", ts_x86_make_halves, 0 },
	{ "permd", ts_x86_make_permute, 4 },
	{ "permilpd", ts_x86_make_permute_lane, 8 },
	{ "permilps", ts_x86_make_permute_lane, 4 },
	{ "permpd", ts_x86_make_permute, 0 },
	{ "permps", ts_x86_make_permute, 4 },
	{ "permq", ts_x86_make_permute, 0 },
	{ "pextrb", make_extract, 1 },
	{ "pextrd", make_extract, 4 },
	{ "pextrq", make_extract, 8 },
	{ "pextrw", make_extract, 2 },
	{ "pgatherdd", make_gather, 4 },
	{ "pgatherdq", make_gather, 8 },
	{ "pgatherqd", make_gather, 4 },
	{ "pgatherqq", make_gather, 8 },
	{ "phaddd", ts_x86_make_pack, 4 },
	{ "phaddsw", ts_x86_make_pack, 2 },
	{ "phaddw", ts_x86_make_pack, 2 },
	{ "phsubd", ts_x86_make_pack, 4 },
	{ "phsubsw", ts_x86_make_pack, 2 },
	{ "phsubw", ts_x86_make_pack, 2 },
	{ "pinsrb", make_insert, 1 },
	{ "pinsrd", make_insert, 4 },
	{ "pinsrq", make_insert, 8 },
	{ "pinsrw", make_insert, 2 },
	{ "pmaddubsw", make_lanes, 2 },
	{ "pmaddwd", make_lanes, 4 },
	{ "pmaxsb", make_lanes, 1 },
	{ "pmaxsd", make_lanes, 4 },
	{ "pmaxsw", make_lanes, 2 },
	{ "pmaxub", make_lanes, 1 },
	{ "pmaxud", make_lanes, 4 },
	{ "pmaxuw", make_lanes, 2 },
	{ "pminsb", make_lanes, 1 },
	{ "pminsd", make_lanes, 4 },
	{ "pminsw", make_lanes, 2 },
	{ "pminub", make_lanes, 1 },
	{ "pminud", make_lanes, 4 },
	{ "pminuw", make_lanes, 2 },
	{ "pmovsxbd", make_widen, 256 + 64 + 1 },
	{ "pmovsxbw", make_widen, 256 + 32 + 1 },
	{ "pmovsxdq", make_widen, 256 + 128 + 4 },
	{ "pmovsxwd", make_widen, 256 + 64 + 2 },
	{ "pmovzxbd", make_widen, 64 + 1 },
	{ "pmovzxbq", make_widen, 128 + 1 },
	{ "pmovzxbw", make_widen, 32 + 1 },
	{ "pmovzxdq", make_widen, 128 + 4 },
	{ "pmovzxwd", make_widen, 64 + 2 },
	{ "pmuldq", make_lanes, 8 },
	{ "pmulhrsw", make_lanes, 2 },
	{ "pmulhuw", make_lanes, 2 },
	{ "pmulhw", make_lanes, 2 },
	{ "pmulld", make_lanes, 4 },
	{ "pmullw", make_lanes, 2 },
	{ "pmuludq", make_lanes, 8 },
	{ "por", make_lanes, 1 },
	{ "psadbw", make_lanes, 8 },
	{ "pshufb", ts_x86_make_shuffle_bytes, 0 },
	{ "pshufd", ts_x86_make_shuffle, 4 },
	{ "pshufhw", ts_x86_make_shuffle, 16 + 2 },
	{ "pshuflw", ts_x86_make_shuffle, 2 },
	{ "psignb", make_lanes, 1 },
	{ "psignd", make_lanes, 4 },
	{ "psignw", make_lanes, 2 },
	{ "pslld", ts_x86_make_shift, 4 },
	{ "pslldq", ts_x86_make_align, 0 },
	{ "psllq", ts_x86_make_shift, 8 },
	{ "psllvd", make_lanes, 4 },
	{ "psllvq", make_lanes, 8 },
	{ "psllw", ts_x86_make_shift, 2 },
	{ "psrad", ts_x86_make_shift, 4 },
	{ "psravd", make_lanes, 4 },
	{ "psraw", ts_x86_make_shift, 2 },
	{ "psrld", ts_x86_make_shift, 4 },
	{ "psrldq", ts_x86_make_align, 1 },
	{ "psrlq", ts_x86_make_shift, 8 },
	{ "psrlvd", make_lanes, 4 },
	{ "psrlvq", make_lanes, 8 },
	{ "psrlw", ts_x86_make_shift, 2 },
	{ "psubb", make_lanes, 1 | CLEARS },
	{ "psubd", make_lanes, 4 | CLEARS },
	{ "psubq", make_lanes, 8 | CLEARS },
	{ "psubsb", make_lanes, 1 },
	{ "psubsw", make_lanes, 2 },
	{ "psubusb", make_lanes, 1 },
	{ "psubusw", make_lanes, 2 },
	{ "psubw", make_lanes, 2 | CLEARS },
	{ "ptest", make_test, 0 },
	{ "punpckhbw", ts_x86_make_unpack, 16 + 1 },
	{ "punpckhdq", ts_x86_make_unpack, 16 + 4 },
	{ "punpckhqdq", ts_x86_make_unpack, 16 + 8 },
	{ "punpckhwd", ts_x86_make_unpack, 16 + 2 },
	{ "punpcklbw", ts_x86_make_unpack, 1 },
	{ "punpckldq", ts_x86_make_unpack, 4 },
	{ "punpcklqdq", ts_x86_make_unpack, 8 },
	{ "punpcklwd", ts_x86_make_unpack, 2 },
	{ "pxor", make_lanes, 1 | CLEARS },
	{ "rcpps", make_each, 4 },
	{ "rcpss", make_scalar, SCALAR_OF(4, 4, 0) },
	{ "roundsd", make_scalar, SCALAR_OF(8, 8, 0) },
	{ "roundss", make_scalar, SCALAR_OF(4, 4, 0) },
	{ "rsqrtps", make_each, 4 },
	{ "rsqrtss", make_scalar, SCALAR_OF(4, 4, 0) },
	{ "shufpd", ts_x86_make_shuffle_of_two, 8 },
	{ "shufps", ts_x86_make_shuffle_of_two, 4 },
	{ "sqrtpd", make_each, 8 },
	{ "sqrtps", make_each, 4 },
	{ "sqrtsd", make_scalar, SCALAR_OF(8, 8, 0) },
	{ "sqrtss", make_scalar, SCALAR_OF(4, 4, 0) },
	{ "subpd", make_lanes, 8 },
	{ "subps", make_lanes, 4 },
	{ "subsd", make_scalar, SCALAR_OF(8, 8, 1) },
	{ "subss", make_scalar, SCALAR_OF(4, 4, 1) },
	{ "unpckhpd", ts_x86_make_unpack, 16 + 8 },
	{ "unpckhps", ts_x86_make_unpack, 16 + 4 },
	{ "unpcklpd", ts_x86_make_unpack, 8 },
	{ "unpcklps", ts_x86_make_unpack, 4 },
	{ "xorpd", make_lanes, 1 | CLEARS },
	{ "xorps", make_lanes, 1 | CLEARS },
	{ "xrstor", make_area, HAS_MASK },
	{ "xrstor64", make_area, HAS_MASK },
	SAVE("xsave"),
	SAVE("xsave64"),
	SAVE("xsavec"),
	SAVE("xsavec64"),
	SAVE("xsaveopt"),
	SAVE("xsaveopt64"),
	{ "zeroall", make_zero, 1 },
	{ "zeroupper", make_zero, 0 },
};
const size_t ts_n_x86_vector_rules = sizeof(ts_x86_vector_rules) / sizeof(ts_x86_vector_rules[0]);
