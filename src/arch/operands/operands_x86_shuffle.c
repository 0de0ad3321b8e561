/* SPDX-License-Identifier: MIT */
/* Instructions on vectors that move bytes to other lanes. */
#include "operands_x86_parts.h"

/* The operand that a vector instruction takes for its first source: the destination, or that of three. */
unsigned ts_x86_first_source(const struct ts_x86_work *w)
{
	return w->n > 2 && w->op[1].is_read && !w->op[1].is_constant && !w->op[0].is_read ? 1 : 0;
}

unsigned ts_x86_last_source(const struct ts_x86_work *w)
{
	unsigned i = w->n - 1;

	while (i > 1 && (w->op[i].is_constant || w->op[i].is_implicit))
		i--;
	return i;
}

/* A source of which the decoder says that less than the register takes part: all of it may. */
struct ts_x86_operand ts_x86_whole(const struct ts_x86_work *w, unsigned i)
{
	struct ts_x86_operand o = w->op[i];

	if (o.n == 1 && o.piece[0].kind == TS_AT_REG && w->raw[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ZydisRegisterGetClass(w->raw[i].reg.value) == ZYDIS_REGCLASS_XMM)
		o.piece[0].len = o.size = 16;
	return o;
}

/* Copies of elements: element i of @to is element index[i] of source a (below @n_of_a) or b. */
struct pick {
	unsigned unit, n;
	uint8_t from[32];
};

static void carry_picks(struct ts_x86_work *w, const struct pick *p, unsigned n_of_a)
{
	const struct ts_x86_operand a = ts_x86_whole(w, ts_x86_first_source(w)), b = ts_x86_whole(w, ts_x86_last_source(w));
	const struct ts_x86_operand *to = &w->op[0];

	for (unsigned i = 0; i < p->n; i++) {
		bool is_a = p->from[i] < n_of_a;
		unsigned at = (is_a ? p->from[i] : p->from[i] - n_of_a) * p->unit;

		ts_x86_carry(w, to, i * p->unit, p->unit, is_a ? &a : &b, at, p->unit, TS_WAY_COPY);
	}
	ts_x86_clear_above(w, to);
}

void ts_x86_make_unpack(struct ts_x86_work *w, unsigned arg)
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
void ts_x86_make_shuffle(struct ts_x86_work *w, unsigned arg)
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

/* shufps and shufpd: the lower half of each lane is picked from the first source, the upper one from the
 * second. */
void ts_x86_make_shuffle_of_two(struct ts_x86_work *w, unsigned unit)
{
	struct pick p = { .unit = unit };
	unsigned size = w->op[0].size, a_lane = 16 / unit, bits = unit == 4 ? 2 : 1, n_of_a = size / unit;
	unsigned imm = (unsigned)ts_x86_immediate(w);

	if (size != 16 && size != 32) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned i = 0; i < n_of_a; i++) {
		unsigned shift = (unit == 4 ? i % a_lane : i) * bits;
		unsigned at = i / a_lane * a_lane + (imm >> shift & (a_lane - 1));

		p.from[p.n++] = (uint8_t)(i % a_lane < a_lane / 2 ? at : at + n_of_a);
	}
	carry_picks(w, &p, n_of_a);
}

/* Elements of the second source where the immediate has a bit, of the first one elsewhere. */
void ts_x86_make_blend(struct ts_x86_work *w, unsigned unit)
{
	struct pick p = { .unit = unit };
	unsigned size = w->op[0].size, n = size / unit, imm = (unsigned)ts_x86_immediate(w);

	if (size != 16 && size != 32) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		p.from[p.n++] = (uint8_t)(imm >> i % 8 & 1 ? n + i : i);
	carry_picks(w, &p, n);
}

/* movddup and its like: each pair of elements is the even (@arg below 16) or the odd one of the source. */
void ts_x86_make_pairs(struct ts_x86_work *w, unsigned arg)
{
	struct pick p = { .unit = arg & 15 };
	unsigned size = w->op[0].size;

	if (size != 16 && size != 32) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned i = 0; i < size / p.unit; i++)
		p.from[p.n++] = (uint8_t)((i & ~1u) + arg / 16);
	carry_picks(w, &p, 0);
}

/* Each element is the first one of the source. */
void ts_x86_make_broadcast(struct ts_x86_work *w, unsigned unit)
{
	struct pick p = { .unit = unit, .n = w->op[0].size / unit };

	if ((w->op[0].size != 16 && w->op[0].size != 32) ||
	    w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED) {
		ts_x86_mix(w, 0);
		return;
	}
	carry_picks(w, &p, 0);
}

/* insertps: one element moves, those of the mask become zero. */
void ts_x86_make_insert_element(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand a = ts_x86_whole(w, ts_x86_first_source(w)), b = ts_x86_whole(w, ts_x86_last_source(w)),
				    to = ts_x86_whole(w, 0);
	unsigned imm = (unsigned)ts_x86_immediate(w), source = b.size == 16 ? imm >> 6 & 3 : 0;
	bool is_legacy = w->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	(void)arg;
	for (unsigned i = 0; i < 4; i++) {
		if (imm >> i & 1)
			ts_x86_fill(w, &to, 4 * i, 4, TS_WAY_ZERO);
		else if (i == (imm >> 4 & 3))
			ts_x86_carry(w, &to, 4 * i, 4, &b, 4 * source, 4, TS_WAY_COPY);
		else if (!is_legacy)
			ts_x86_carry(w, &to, 4 * i, 4, &a, 4 * i, 4, TS_WAY_COPY);
	}
	ts_x86_clear_above(w, &to);
}

/* pslldq (@arg 0), psrldq (1), palignr (2): bytes of a 16-byte lane move. */
static void align_lane(struct ts_x86_work *w, unsigned lane, unsigned arg, const struct ts_x86_operand *a,
		       const struct ts_x86_operand *b)
{
	const struct ts_x86_operand *to = &w->op[0];
	unsigned by = (unsigned)ts_x86_immediate(w) & 255;

	for (unsigned i = 0; i < 16; i++) {
		unsigned at = arg ? i + by : i - by; /* in b, then in a; wraps for an element without a source */

		if (at < 16)
			ts_x86_carry(w, to, lane + i, 1, b, lane + at, 1, TS_WAY_COPY);
		else if (arg == 2 && at < 32)
			ts_x86_carry(w, to, lane + i, 1, a, lane + at - 16, 1, TS_WAY_COPY);
		else
			ts_x86_fill(w, to, lane + i, 1, TS_WAY_ZERO);
	}
}

void ts_x86_make_align(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0], *a = &w->op[ts_x86_first_source(w)], *b = &w->op[ts_x86_last_source(w)];

	if (to->size != 16 && to->size != 32) {
		ts_x86_mix(w, 0);
		return;
	}
	if (arg < 2)
		a = b = w->n > 2 ? &w->op[1] : to;
	for (unsigned lane = 0; lane < to->size; lane += 16)
		align_lane(w, lane, arg, a, b);
	ts_x86_clear_above(w, to);
}

/* vinsertf128: a half of the first source is replaced. */
void ts_x86_make_insert_half(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0], from = ts_x86_whole(w, ts_x86_last_source(w));
	unsigned at = 16 * (ts_x86_immediate(w) & 1);

	(void)arg;
	if (to->size != 32 || w->n < 3) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, to, at, 16, &from, 0, 16, TS_WAY_COPY);
	ts_x86_carry(w, to, 16 - at, 16, &w->op[1], 16 - at, 16, TS_WAY_COPY);
}

/* vperm2f128: each half is one of the four of both sources, or zero. */
void ts_x86_make_halves(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand *to = &w->op[0];
	unsigned imm = (unsigned)ts_x86_immediate(w);

	(void)arg;
	if (to->size != 32 || w->n < 4) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned at = 0; at < 32; at += 16, imm >>= 4) {
		if (imm & 8)
			ts_x86_fill(w, to, at, 16, TS_WAY_ZERO);
		else
			ts_x86_carry(w, to, at, 16, &w->op[imm & 2 ? 2 : 1], imm & 1 ? 16 : 0, 16, TS_WAY_COPY);
	}
}

/* Packs and horizontal sums: element i of a lane is made of the two times wider element i of both sources' lane. */
void ts_x86_make_pack(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand a = ts_x86_whole(w, ts_x86_first_source(w)), b = ts_x86_whole(w, ts_x86_last_source(w));
	const struct ts_x86_operand *to = &w->op[0];

	if (to->size != 16 && to->size != 32) {
		ts_x86_mix(w, 0);
		return;
	}
	for (unsigned i = 0; i < to->size; i += unit) {
		unsigned lane = i / 16 * 16, at = 2 * (i % 16);

		ts_x86_carry(w, to, i, unit, at < 16 ? &a : &b, lane + at % 16, 2 * unit, TS_WAY_MIX);
	}
	ts_x86_clear_above(w, to);
}

/* Shifts of elements: by a constant, or all by as many bits as the low 8 bytes of the last operand say. */
void ts_x86_make_shift(struct ts_x86_work *w, unsigned unit)
{
	const struct ts_x86_operand *to = &w->op[0], by = w->op[w->n - 1], a = w->op[w->n > 2 ? 1 : 0];
	unsigned n = w->ops->n;

	if ((to->size != 16 && to->size != 32) || w->insn.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED) {
		ts_x86_mix(w, 0);
		return;
	}
	ts_x86_carry(w, to, 0, to->size, &a, 0, to->size, TS_WAY_LANES);
	for (unsigned i = n; i < w->ops->n; i++)
		w->ops->transfers[i].unit = (uint8_t)unit;
	ts_x86_carry(w, to, 0, to->size, &by, 0, 8, TS_WAY_MIX);
	ts_x86_clear_above(w, to);
}

/* Bytes [@at, @at + 16) of @to are elements of bytes [@first, @first + @len) of @table. */
static void select_lane(struct ts_x86_work *w, const struct ts_x86_operand *to, unsigned at, const struct ts_x86_operand *table,
			unsigned first, unsigned len, struct ts_selection how)
{
	for (unsigned n; len; first += n, len -= n, how.first = (uint8_t)(how.first + n / how.unit)) {
		unsigned before = w->ops->n;

		n = len < 16 ? len : 16;
		ts_x86_carry(w, to, at, 16, table, first, n, TS_WAY_SELECT);
		for (; before < w->ops->n; before++)
			ts_operands_set_selection(&w->ops->transfers[before], &how);
	}
}

static void select_all(struct ts_x86_work *w, const struct ts_x86_operand *table, const struct ts_x86_operand *control,
		       unsigned lane_len, struct ts_selection how)
{
	const struct ts_x86_operand *to = &w->op[0];

	for (unsigned at = 0; at < to->size; at += 16) {
		unsigned n;

		select_lane(w, to, at, table, lane_len == 16 ? at : 0, lane_len, how);
		n = w->ops->n;
		ts_x86_carry(w, to, at, 16, control, at, 16, TS_WAY_SELECTOR);
		for (; n < w->ops->n; n++)
			ts_operands_set_selection(&w->ops->transfers[n], &how);
	}
	ts_x86_clear_above(w, to);
}

static bool can_select(const struct ts_x86_work *w, const struct ts_x86_operand *table, const struct ts_x86_operand *control)
{
	unsigned size = w->op[0].size;

	return (size == 16 || size == 32) && w->insn.avx.mask.mode <= ZYDIS_MASK_MODE_DISABLED && table->n && control->n &&
	       table->size == size && control->size == size;
}

/* pshufb: the low four bits of each control byte, of which the highest bit makes zero. */
void ts_x86_make_shuffle_bytes(struct ts_x86_work *w, unsigned arg)
{
	const struct ts_x86_operand table = w->op[ts_x86_first_source(w)], control = w->op[ts_x86_last_source(w)];

	(void)arg;
	if (can_select(w, &table, &control))
		select_all(w, &table, &control, 16, (struct ts_selection){ .unit = 1, .mask = 15, .zero = 0x80 });
	else
		ts_x86_mix(w, 0);
}

/* vpermilps (@unit 4) and vpermilpd (8): elements of a lane, by an immediate or by the elements of a vector. */
void ts_x86_make_permute_lane(struct ts_x86_work *w, unsigned unit)
{
	struct ts_selection how = { .unit = (uint8_t)unit, .mask = unit == 4 ? 3 : 1, .shift = unit == 8 };
	struct pick p = { .unit = unit };
	unsigned imm = (unsigned)ts_x86_immediate(w), n = w->op[0].size / unit;

	if (!w->op[w->n - 1].is_constant && can_select(w, &w->op[1], &w->op[w->n - 1])) {
		select_all(w, &w->op[1], &w->op[w->n - 1], 16, how);
		return;
	}
	if (!w->op[w->n - 1].is_constant || (w->op[0].size != 16 && w->op[0].size != 32)) {
		ts_x86_mix(w, 0);
		return;
	}
	for (; p.n < n; p.n++) {
		unsigned lane = 16 / unit, i = p.n;

		p.from[i] = (uint8_t)(i / lane * lane + (unit == 4 ? imm >> 2 * (i % 4) & 3 : imm >> i & 1));
	}
	carry_picks(w, &p, 0);
}

/* vpermq and vpermpd with an immediate; vpermd and vpermps by the elements of a vector, which is the first source. */
void ts_x86_make_permute(struct ts_x86_work *w, unsigned unit)
{
	struct pick p = { .unit = 8 };
	unsigned imm = (unsigned)ts_x86_immediate(w);

	if (unit == 4 && w->n == 3 && can_select(w, &w->op[2], &w->op[1])) {
		select_all(w, &w->op[2], &w->op[1], w->op[0].size, (struct ts_selection){ .unit = 4, .mask = 7 });
		return;
	}
	if (w->op[0].size != 32 || !w->op[w->n - 1].is_constant) {
		ts_x86_mix(w, 0);
		return;
	}
	for (; p.n < 4; p.n++)
		p.from[p.n] = imm >> 2 * p.n & 3;
	carry_picks(w, &p, 0);
}
