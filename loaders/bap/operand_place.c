/* SPDX-License-Identifier: MIT */
#include "operand_place.h"

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
