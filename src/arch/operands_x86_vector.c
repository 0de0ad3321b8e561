/* SPDX-License-Identifier: MIT */
/* Instructions on vectors that move bytes, or work on lanes; all others are made of their whole operands. */
#include "operands_x86_parts.h"

/* The operand that a vector instruction takes for its first source: the destination, or that of three. */
static unsigned first_source(const struct ts_x86_work *w)
{
	return w->n > 2 && w->op[1].is_read && !w->op[1].is_constant && !w->op[0].is_read ? 1 : 0;
}

static unsigned last_source(const struct ts_x86_work *w)
{
	unsigned i = w->n - 1;

	while (i > 1 && (w->op[i].is_constant || w->op[i].is_implicit))
		i--;
	return i;
}

/* A source of which the decoder says that less than the register takes part: all of it may. */
static struct ts_x86_operand whole(const struct ts_x86_work *w, unsigned i)
{
	struct ts_x86_operand o = w->op[i];

	if (o.n == 1 && o.piece[0].kind == TS_AT_REG && w->raw[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ZydisRegisterGetClass(w->raw[i].reg.value) == ZYDIS_REGCLASS_XMM)
		o.piece[0].len = o.size = 16;
	return o;
}

static void make_move(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0], *from = &w->op[1];
	unsigned n = from->size < to->size ? from->size : to->size;

	(void)arg;
	if (w->n > 2) { /* vmovsd xmm0, xmm1, xmm2 and the like */
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, to, 0, n, from, 0, n, TS_WAY_COPY);
	if (n < to->size)
		ts_x86_fill(w, to, n, to->size - n, TS_WAY_ZERO);
	ts_x86_clear_above(w, to);
}

/* A half of a vector: @halves says which, of the destination (1) and of the source (2), is the upper one. */
static void make_half(struct ts_x86_work *w, unsigned halves)
{
	struct ts_x86_operand to = w->op[0], from = w->op[1];

	if (w->n > 2 || to.n != 1 || from.n != 1) {
		ts_x86_mix(w, 0);
		return;
	}
	if (halves & 1 && to.piece[0].kind == TS_AT_REG)
		to.piece[0].off = (uint16_t)(to.piece[0].off + 8);
	if (halves & 2 && from.piece[0].kind == TS_AT_REG)
		from.piece[0].off = (uint16_t)(from.piece[0].off + 8);
	ts_x86_carry(w, &to, 0, 8, &from, 0, 8, TS_WAY_COPY);
}

/* @unit 0: lanes as wide as the operand's elements. */
static void set_unit(struct ts_x86_work *w, unsigned first, unsigned unit)
{
	for (; first < w->ops->n; first++)
		w->ops->transfers[first].unit = (uint8_t)unit;
}

enum { LANES_OF_BYTES = 1, CLEARS = 2 };

static void make_lanes(struct ts_x86_work *w, unsigned how)
{
	unsigned a = first_source(w), b = last_source(w), n = w->ops->n, unit = w->raw[0].element_size / 8;
	bool is_same = w->raw[a].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       w->raw[b].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       w->raw[a].reg.value == w->raw[b].reg.value;
	const struct ts_x86_operand *to = &w->op[0];

	if (w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || to->size > 32) {
		ts_x86_mix(w, 0);
		return;
	}
	if (is_same && how & CLEARS) {
		ts_x86_fill(w, to, 0, to->size, TS_WAY_ZERO);
		ts_x86_clear_above(w, to);
		return;
	}
	if (how & LANES_OF_BYTES)
		unit = 1;
	if (!unit || unit > 16)
		unit = 16;
	ts_x86_carry(w, to, 0, to->size, &w->op[a], 0, to->size, TS_WAY_LANES);
	if (b != a)
		ts_x86_carry(w, to, 0, to->size, &w->op[b], 0, to->size, TS_WAY_LANES);
	set_unit(w, n, unit);
	ts_x86_clear_above(w, to);
}

/* Copies of elements: element i of @to is element index[i] of source a (below @n_of_a) or b. */
struct pick {
	unsigned unit, n;
	uint8_t from[32];
};

static void carry_picks(struct ts_x86_work *w, const struct pick *p, unsigned n_of_a)
{
	const struct ts_x86_operand a = whole(w, first_source(w)), b = whole(w, last_source(w));
	const struct ts_x86_operand *to = &w->op[0];

	for (unsigned i = 0; i < p->n; i++) {
		bool is_a = p->from[i] < n_of_a;
		unsigned at = (is_a ? p->from[i] : p->from[i] - n_of_a) * p->unit;

		ts_x86_carry(w, to, i * p->unit, p->unit, is_a ? &a : &b, at, p->unit, TS_WAY_COPY);
	}
	ts_x86_clear_above(w, to);
}

static void make_unpack(struct ts_x86_work *w, unsigned arg)
{
	struct pick p = { .unit = arg & 15 };
	unsigned a_lane = 16 / p.unit, size = w->op[0].size, n_of_a = size / p.unit;
	bool is_high = arg & 16;

	if (size > 32 || (size != 16 && size != 32)) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned lane = 0; lane < size / 16; lane++) {
		for (unsigned i = 0; i < a_lane; i++) {
			unsigned at = lane * a_lane + (is_high ? a_lane / 2 : 0) + i / 2;

			p.from[p.n++] = (uint8_t)(i & 1 ? at + n_of_a : at);
		}
	}
	carry_picks(w, &p, n_of_a);
}

/* pshufd, pshuflw, pshufhw: the immediate picks among four elements of a lane. */
static void make_shuffle(struct ts_x86_work *w, unsigned arg)
{
	struct pick p = { .unit = arg & 15 };
	unsigned size = w->op[0].size, a_lane = 16 / p.unit, base = arg & 16 ? 4 : 0;
	unsigned imm = (unsigned)ts_x86_immediate(w);

	if (size != 16 && size != 32) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned lane = 0; lane < size / 16; lane++) {
		for (unsigned i = 0; i < a_lane; i++) {
			bool is_picked = i >= base && i < base + 4;
			unsigned at = is_picked ? base + (imm >> 2 * (i - base) & 3) : i;

			p.from[p.n++] = (uint8_t)(size / p.unit + lane * a_lane + at);
		}
	}
	carry_picks(w, &p, size / p.unit);
}

/* pslldq (@arg 0), psrldq (1), palignr (2): bytes of a 16-byte lane move. */
static void make_align(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0], *a = &w->op[first_source(w)], *b = &w->op[last_source(w)];
	unsigned by = (unsigned)ts_x86_immediate(w) & 255;

	if (to->size != 16) {
		ts_x86_mix(w, 0);
		return;
	}
	if (arg < 2)
		a = b = w->n > 2 ? &w->op[1] : to;
	for (unsigned i = 0; i < 16; i++) {
		unsigned at = arg ? i + by : i - by; /* in b, then in a; wraps for what comes from nowhere */

		if (at < 16)
			ts_x86_carry(w, to, i, 1, b, at, 1, TS_WAY_COPY);
		else if (arg == 2 && at < 32)
			ts_x86_carry(w, to, i, 1, a, at - 16, 1, TS_WAY_COPY);
		else
			ts_x86_fill(w, to, i, 1, TS_WAY_ZERO);
	}
	ts_x86_clear_above(w, to);
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

static void make_insert(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0], *old = &w->op[first_source(w)],
				    *from = &w->op[last_source(w)];
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
 * The area of fxsave and xsave (Intel SDM 1, 10.5.1 and 13.4): the vector registers from byte 160 on, their upper halves
 * from 576 on.  What else it holds is not followed: x87, and the header, which is between them.
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

#define SAVE(name) { name, make_area, IS_SAVED | HAS_MASK }

#define LANE(name) { name, make_lanes, 0 }
#define BYTES(name) { name, make_lanes, LANES_OF_BYTES }
#define MOVE(name) { name, make_move, 0 }

const struct ts_x86_rule ts_x86_vector_rules[] = {
	LANE("addpd"), LANE("addps"), BYTES("andnpd"), BYTES("andnps"), BYTES("andpd"), BYTES("andps"),
	LANE("divpd"), LANE("divps"), { "fxrstor", make_area, 0 }, { "fxrstor64", make_area, 0 },
	{ "fxsave", make_area, IS_SAVED }, { "fxsave64", make_area, IS_SAVED },
	MOVE("lddqu"), LANE("maxpd"), LANE("maxps"), LANE("minpd"), LANE("minps"), MOVE("movapd"),
	MOVE("movaps"), MOVE("movd"), MOVE("movdqa"), MOVE("movdqu"), { "movhlps", make_half, 2 },
	{ "movhpd", make_half, 3 }, { "movhps", make_half, 3 }, { "movlhps", make_half, 1 },
	{ "movlpd", make_half, 0 }, { "movlps", make_half, 0 }, MOVE("movntdq"), MOVE("movntdqa"),
	MOVE("movntpd"), MOVE("movntps"), MOVE("movq"), MOVE("movsd"), MOVE("movss"), MOVE("movupd"),
	MOVE("movups"), LANE("mulpd"), LANE("mulps"), BYTES("orpd"), BYTES("orps"), LANE("paddb"),
	LANE("paddd"), LANE("paddq"), LANE("paddsb"), LANE("paddsw"), LANE("paddusb"), LANE("paddusw"),
	LANE("paddw"), { "palignr", make_align, 2 }, BYTES("pand"), BYTES("pandn"), LANE("pavgb"),
	LANE("pavgw"), LANE("pcmpeqb"), LANE("pcmpeqd"), LANE("pcmpeqq"), LANE("pcmpeqw"), LANE("pcmpgtb"),
	LANE("pcmpgtd"), LANE("pcmpgtq"), LANE("pcmpgtw"), { "pextrb", make_extract, 1 },
	{ "pextrd", make_extract, 4 }, { "pextrq", make_extract, 8 }, { "pextrw", make_extract, 2 },
	{ "pinsrb", make_insert, 1 }, { "pinsrd", make_insert, 4 }, { "pinsrq", make_insert, 8 },
	{ "pinsrw", make_insert, 2 }, LANE("pmaxsb"), LANE("pmaxsd"), LANE("pmaxsw"), LANE("pmaxub"),
	LANE("pmaxud"), LANE("pmaxuw"), LANE("pminsb"), LANE("pminsd"), LANE("pminsw"), LANE("pminub"),
	LANE("pminud"), LANE("pminuw"), { "pmovsxbd", make_widen, 256 + 64 + 1 },
	{ "pmovsxbw", make_widen, 256 + 32 + 1 }, { "pmovsxdq", make_widen, 256 + 128 + 4 },
	{ "pmovsxwd", make_widen, 256 + 64 + 2 }, { "pmovzxbd", make_widen, 64 + 1 },
	{ "pmovzxbq", make_widen, 128 + 1 }, { "pmovzxbw", make_widen, 32 + 1 },
	{ "pmovzxdq", make_widen, 128 + 4 }, { "pmovzxwd", make_widen, 64 + 2 }, LANE("pmulhuw"),
	LANE("pmulhw"), LANE("pmulld"), LANE("pmullw"), BYTES("por"), { "pshufd", make_shuffle, 4 },
	{ "pshufhw", make_shuffle, 16 + 2 }, { "pshuflw", make_shuffle, 2 }, { "pslldq", make_align, 0 },
	{ "psrldq", make_align, 1 }, { "psubb", make_lanes, CLEARS }, { "psubd", make_lanes, CLEARS },
	{ "psubq", make_lanes, CLEARS }, LANE("psubsb"), LANE("psubsw"), LANE("psubusb"), LANE("psubusw"),
	{ "psubw", make_lanes, CLEARS }, { "punpckhbw", make_unpack, 16 + 1 },
	{ "punpckhdq", make_unpack, 16 + 4 }, { "punpckhqdq", make_unpack, 16 + 8 },
	{ "punpckhwd", make_unpack, 16 + 2 }, { "punpcklbw", make_unpack, 1 }, { "punpckldq", make_unpack, 4 },
	{ "punpcklqdq", make_unpack, 8 }, { "punpcklwd", make_unpack, 2 },
	{ "pxor", make_lanes, LANES_OF_BYTES | CLEARS }, LANE("subpd"), LANE("subps"),
	{ "unpckhpd", make_unpack, 16 + 8 }, { "unpckhps", make_unpack, 16 + 4 },
	{ "unpcklpd", make_unpack, 8 }, { "unpcklps", make_unpack, 4 }, { "xorpd", make_lanes, LANES_OF_BYTES | CLEARS },
	{ "xorps", make_lanes, LANES_OF_BYTES | CLEARS }, { "xrstor", make_area, HAS_MASK },
	{ "xrstor64", make_area, HAS_MASK }, SAVE("xsave"), SAVE("xsave64"), SAVE("xsavec"), SAVE("xsavec64"),
	SAVE("xsaveopt"), SAVE("xsaveopt64"), { "zeroall", make_zero, 1 }, { "zeroupper", make_zero, 0 },
};
const size_t ts_n_x86_vector_rules = sizeof(ts_x86_vector_rules) / sizeof(ts_x86_vector_rules[0]);
