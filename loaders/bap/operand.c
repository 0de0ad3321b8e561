/* SPDX-License-Identifier: MIT */
#include "operand.h"

#include "schema.h"
#include "word_ops.h"

uint32_t bap_op_bits(struct bap_parser *in, uint64_t bit_length, uint64_t len)
{
	int64_t bits = pb_zigzag(bit_length);

	if (!bits)
		return (uint32_t)len * 8;
	if (bits < 0 || (uint64_t)bits > len * 8) {
		bap_warn(in->look, "bit lengths beyond the value's length are ignored");
		return (uint32_t)len * 8;
	}
	return (uint32_t)bits;
}

bool bap_op_place(struct bap_parser *in, const struct pb_message *operand, struct ts_cursor *parent,
		  struct bap_op *op)
{
	struct ts_cursor c = pb_sub(operand, 1, parent);
	struct pb_message m, what;

	if (!pb_read(&c, &bap_specific, &m))
		return false;
	if (pb_has(&m, SPECIFIC_REG) && (!pb_has(&m, SPECIFIC_MEM) || m.v[1].p > m.v[0].p)) {
		c = pb_sub(&m, SPECIFIC_REG, parent);
		if (!pb_read(&c, &bap_reg, &what))
			return false;
		op->slot = regmap_find(&in->rec->names, what.v[0].p, what.v[0].p ? (size_t)what.v[0].n : 0);
		if (op->slot->kind != REGMAP_NONE)
			return true;
		if (what.v[0].n && what.v[0].n <= 64)
			bap_warn_each(in->look, "register \"%.*s\" is not one of %s; its values are ignored",
				 (int)what.v[0].n, (const char *)what.v[0].p, in->rec->base.regs.arch->name);
		else
			bap_warn(in->look,
				 "operands whose register's name is empty or longer than 64 bytes are "
				 "ignored");
		return false;
	}
	if (!pb_has(&m, SPECIFIC_MEM)) {
		bap_warn(in->look, "operands that are neither register nor memory are ignored");
		return false;
	}
	c = pb_sub(&m, SPECIFIC_MEM, parent);
	if (!pb_read(&c, &bap_mem, &what))
		return false;
	op->slot = NULL;
	op->addr = what.v[0].n & in->rec->addr_mask;
	return true;
}

bool bap_op_check_memory(struct bap_parser *in, const struct bap_op *op)
{
	if (op->bits % 8)
		bap_warn(in->look, "memory operands that are not whole bytes are ignored");
	else if (op->len - 1 > in->rec->addr_mask - op->addr)
		bap_warn(in->look, "memory operands that pass the end of the address space are ignored");
	else
		return true;
	return false;
}

/* Of 16 bytes at @p, are those that @mask has set as in @want? */
static inline bool is_like(const uint8_t *p, const uint8_t want[16], const uint8_t mask[16])
{
	return !(((ts_load(p) ^ ts_load(want)) & ts_load(mask)) |
		 ((ts_load(p + 8) ^ ts_load(want + 8)) & ts_load(mask + 8)));
}

/*
 *      0a LEN, in it 12 LEN 0a LEN NAME or 0a LEN 08 ADDRESS
 *      10 BITS; 1a 08 08 R 10 W 18 I 20 B: usage; 22 02 08 01: taint; 2a LEN VALUE
 */
bool bap_op_usual(const struct bap_parser *in, const uint8_t *p, size_t len, struct bap_op *op)
{
	static const uint8_t want[16] = { 0x1a, 8, 8, 0, 0x10, 0, 0x18, 0, 0x20, 0, 0x22, 2, 8, 1, 0x2a, 0 };
	static const uint8_t mask[16] = { 255, 255, 255, 254, 255, 254, 255, 254,
					  255, 254, 255, 255, 255, 255, 255, 0 };
	const uint8_t *end = p + len, *after, *u;
	uint64_t bits, key[2];

	if (len < 23 || p[0] != 0x0a || p[1] < 4 || p[1] > len - 21 || p[3] != p[1] - 2)
		return false;
	after = p + 2 + p[1];
	u = pb_get_varint(after + 1, end, &bits);
	if (*after != 0x10 || !u || bits & 1 || end - u < 17 || !is_like(u, want, mask) || !u[15] ||
	    u[15] >= 0x80 || u[15] != end - (u + 16) || bits / 2 > u[15] * UINT64_C(8))
		return false;
	op->is_read = u[3];
	op->is_written = u[5];
	op->value = u + 16;
	op->bits = bits ? (uint32_t)(bits / 2) : u[15] * 8u;
	op->len = (op->bits + 7) / 8;
	if (p[2] == 0x12) {
		if (p[4] != 0x0a || p[5] != p[1] - 4 || !p[5] || p[5] > REGMAP_MAX_NAME)
			return false;
		regmap_key(p + 6, p[5], key); /* more bytes than a name has follow it */
		op->slot = regmap_find_key(&in->rec->names, key);
		return op->slot->kind != REGMAP_NONE;
	}
	op->slot = NULL;
	if (p[2] != 0x0a || p[4] != 0x08 || pb_get_varint(p + BAP_OP_ADDRESS, end, &op->addr) != after)
		return false;
	op->addr &= in->rec->addr_mask;
	return op->bits % 8 == 0 && op->len - 1 <= in->rec->addr_mask - op->addr;
}

/* Any operand, by the schema. */
static bool read_any(struct bap_parser *in, struct ts_cursor *c, struct bap_op *op)
{
	struct pb_message m, usage;
	struct ts_cursor u;

	if (!pb_read(c, &bap_operand, &m))
		return false;
	u = pb_sub(&m, OPERAND_USAGE, c);
	if (!pb_read(&u, &bap_usage, &usage))
		return false;
	op->is_read = usage.v[USAGE_READ - 1].n;
	op->is_written = usage.v[USAGE_WRITTEN - 1].n;
	if (!bap_op_place(in, &m, c, op))
		return false;
	op->value = m.v[OPERAND_VALUE - 1].p;
	op->len = (uint32_t)m.v[OPERAND_VALUE - 1].n;
	if (!op->value || !op->len) {
		bap_warn(in->look, "operands without a value are ignored");
		return false;
	}
	op->bits = bap_op_bits(in, m.v[OPERAND_BIT_LENGTH - 1].n, op->len);
	op->len = (op->bits + 7) / 8;
	return op->slot || bap_op_check_memory(in, op);
}

static bool next_any(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op)
{
	struct ts_cursor item;

	while (pb_next_item(list, &bap_operand_list, &item)) {
		if (read_any(in, &item, op))
			return true;
		if (!ts_ok(list))
			return false;
	}
	return false;
}

/* An operand was read: others like it will come. */
static void keep_form(struct bap_parser *in, const uint8_t *p, uint32_t len, const struct bap_op *op)
{
	size_t head = (size_t)(op->value - p);
	struct bap_form *f = &in->forms[bap_form_at(p)];

	if (head < BAP_FORM_MIN_HEAD || head > BAP_FORM_MAX_HEAD)
		return;
	f->last = (uint8_t)(head - 8);
	f->n_bytes = (uint8_t)len;
	f->is_read = op->is_read;
	f->is_written = op->is_written;
	f->len = (uint16_t)op->len;
	f->bits = (uint16_t)op->bits;
	f->slot = op->slot;
	for (unsigned i = 0; i < 3; i++)
		f->head[i] = ts_load(p + i * 8);
	f->head[3] = ts_load(p + f->last);
}

bool bap_op_new(struct bap_parser *in, struct ts_cursor *list, struct bap_op *op)
{
	const uint8_t *p = list->p;

	if (list->left < 2 || p[0] != BAP_OP_KEY || p[1] >= 0x80 || p[1] > list->left - 2 ||
	    !bap_op_usual(in, p + 2, p[1], op))
		return next_any(in, list, op);
	if (op->slot)
		keep_form(in, p, 2u + p[1], op);
	ts_take(list, 2u + p[1]);
	return true;
}

/* ----------------------------------------------------------------------------- a register's value */

/* The @len bytes from byte @from of a value, for a place of @room bytes at @off. */
static void take_part(const struct bap *rec, const struct bap_op *op, uint32_t from, uint32_t room,
		      uint32_t off, struct bap_part *p)
{
	p->len = op->len - from < room ? op->len - from : room;
	if (p->len > sizeof(p->bytes))
		p->len = sizeof(p->bytes);
	p->off = off;
	p->data = op->value + from;
	if (!rec->base.regs.arch->is_big_endian)
		return;
	p->off += room - p->len;
	for (uint32_t i = 0; i < p->len; i++)
		p->bytes[i] = op->value[from + p->len - 1 - i];
	p->data = p->bytes;
}

unsigned bap_op_parts(const struct bap *rec, const struct bap_op *op, struct bap_part parts[2])
{
	const struct regmap_slot *s = op->slot;

	if (!s || s->kind != REGMAP_REG)
		return 0;
	take_part(rec, op, 0, s->off_high ? 16 : s->len, s->off, &parts[0]);
	if (!s->off_high || op->len <= 16)
		return 1;
	take_part(rec, op, 16, 16, s->off_high, &parts[1]);
	return 2;
}
