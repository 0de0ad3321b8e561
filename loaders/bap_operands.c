/* SPDX-License-Identifier: MIT */
/*
 * Operands into effects.
 *
 * A value is stored least significant byte first and as wide as the recorder liked; registers have the
 * target's order.
 */
#include "bap_operands.h"

#include <string.h>

#include "bap_reader.h"
#include "bap_schema.h"

uint32_t bap_op_bits(struct bap_reader *r, uint64_t bit_length, uint64_t len)
{
	int64_t bits = pb_zigzag(bit_length);

	if (!bits)
		return (uint32_t)len * 8;
	if (bits < 0 || (uint64_t)bits > len * 8) {
		bap_warn(r, "bit lengths beyond the value's length are not believed");
		return (uint32_t)len * 8;
	}
	return (uint32_t)bits;
}

bool bap_op_place(struct bap_reader *r, const struct pb_value *specific, struct ts_cursor *parent,
		  struct bap_op *op)
{
	struct ts_cursor c =
		ts_cursor(specific->p, (size_t)specific->n, specific->off, parent->what, parent->err);
	struct pb_message m, what;

	if (!pb_read(&c, &bap_specific, &m))
		return false;
	if (pb_has(&m, SPECIFIC_REG) && (!pb_has(&m, SPECIFIC_MEM) || m.v[1].off > m.v[0].off)) {
		c = pb_sub(&m, SPECIFIC_REG, parent);
		if (!pb_read(&c, &bap_reg, &what))
			return false;
		op->slot = bap_names_find(&r->rec->names, what.v[0].p, what.v[0].p ? (size_t)what.v[0].n : 0);
		if (op->slot->kind != BAP_SLOT_NONE)
			return true;
		if (what.v[0].n && what.v[0].n <= 64)
			bap_warn(r, "register \"%.*s\" is none of %s's, its values are left out",
				 (int)what.v[0].n, (const char *)what.v[0].p, r->rec->base.regs.arch->name);
		else
			bap_warn(r, "operands whose register's name is empty or longer than 64 bytes are "
				    "left out");
		return false;
	}
	if (!pb_has(&m, SPECIFIC_MEM)) {
		bap_warn(r, "operands that are neither register nor memory are left out");
		return false;
	}
	c = pb_sub(&m, SPECIFIC_MEM, parent);
	if (!pb_read(&c, &bap_mem, &what))
		return false;
	op->slot = NULL;
	op->addr = what.v[0].n & r->rec->addr_mask;
	return true;
}

bool bap_op_check_memory(struct bap_reader *r, const struct bap_op *op)
{
	if (op->bits % 8)
		bap_warn(r, "memory operands of parts of bytes are left out");
	else if (op->len - 1 > r->rec->addr_mask - op->addr)
		bap_warn(r, "memory operands that pass the end of the address space are left out");
	else
		return true;
	return false;
}

bool bap_op_read(struct bap_reader *r, struct ts_cursor *c, struct bap_op *op)
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
	if (!bap_op_place(r, &m.v[OPERAND_SPECIFIC - 1], c, op))
		return false;
	op->value = m.v[OPERAND_VALUE - 1].p;
	op->len = (uint32_t)m.v[OPERAND_VALUE - 1].n;
	if (!op->value || !op->len) {
		bap_warn(r, "operands without a value are left out");
		return false;
	}
	op->bits = bap_op_bits(r, m.v[OPERAND_BIT_LENGTH - 1].n, op->len);
	op->len = (op->bits + 7) / 8;
	return op->slot || bap_op_check_memory(r, op);
}

/* The low @len bytes of a value in the target's order. */
static void to_target(const struct bap *rec, const uint8_t *value, uint32_t len, uint8_t *out)
{
	if (!rec->base.regs.arch->is_big_endian) {
		memcpy(out, value, len);
		return;
	}
	for (uint32_t i = 0; i < len; i++)
		out[i] = value[len - 1 - i];
}

static uint32_t low_bits(unsigned n)
{
	return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

/* The value's place in its flag register: *mask and *value. */
static void flag_value(const struct bap_op *op, uint32_t *mask, uint32_t *value)
{
	unsigned bits = op->slot->kind == BAP_SLOT_FLAG ? op->slot->bits : op->bits < 32 ? op->bits : 32;
	uint32_t n = 0;

	for (uint32_t i = op->len < 4 ? op->len : 4; i--;)
		n = n << 8 | op->value[i];
	*mask = low_bits(bits) << op->slot->shift;
	*value = n << op->slot->shift & *mask;
}

/* Where a register's value goes, in the target's order. */
struct part {
	uint32_t off, len;
	uint8_t data[64];
};

/* The part of the value that goes to one place; the low one, or the one beyond byte 16. */
static struct part low_part(const struct bap *rec, const struct bap_op *op)
{
	const struct bap_slot *s = op->slot;
	uint32_t len = s->off_high ? 16 : s->len;
	struct part p = { .len = op->len < len ? op->len : len };

	if (p.len > sizeof(p.data))
		p.len = sizeof(p.data);
	p.off = s->off + (rec->base.regs.arch->is_big_endian ? len - p.len : 0);
	to_target(rec, op->value, p.len, p.data);
	return p;
}

static struct part high_part(const struct bap *rec, const struct bap_op *op)
{
	struct part p = { .off = op->slot->off_high, .len = op->len > 16 ? op->len - 16 : 0 };

	if (p.len > 16)
		p.len = 16;
	if (p.len)
		to_target(rec, op->value + 16, p.len, p.data);
	return p;
}

void bap_op_see(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	uint32_t mask, value;
	struct part p;

	switch (op->slot->kind) {
	case BAP_SLOT_REG:
		p = low_part(r->rec, op);
		bap_see_reg(r, t, p.off, p.data, p.len);
		if (op->slot->off_high && op->len > 16) {
			p = high_part(r->rec, op);
			bap_see_reg(r, t, p.off, p.data, p.len);
		}
		break;
	case BAP_SLOT_FLAG:
	case BAP_SLOT_FLAGS:
		flag_value(op, &mask, &value);
		bap_see_flags(r, t, op->slot->group, mask, value);
		break;
	case BAP_SLOT_NONE:
	case BAP_SLOT_PC:
	case BAP_SLOT_IGNORE: break;
	}
}

/* A write of the low part of a register that clears the rest. */
static void extend_part(const struct bap *rec, const struct bap_slot *s, struct part *p)
{
	uint32_t more = s->extend - p->len;

	if (rec->base.regs.arch->is_big_endian) {
		memmove(p->data + more, p->data, p->len);
		memset(p->data, 0, more);
		p->off -= more;
	} else {
		memset(p->data + p->len, 0, more);
	}
	p->len = s->extend;
}

void bap_op_write(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	uint32_t mask, value;
	uint64_t pc = 0;
	struct part p;

	switch (op->slot->kind) {
	case BAP_SLOT_REG:
		p = low_part(r->rec, op);
		if (op->slot->extend && p.len == op->slot->len)
			extend_part(r->rec, op->slot, &p);
		bap_write_reg(r, t, p.off, p.data, p.len);
		if (op->slot->off_high && op->len > 16) {
			p = high_part(r->rec, op);
			bap_write_reg(r, t, p.off, p.data, p.len);
		}
		break;
	case BAP_SLOT_FLAG:
	case BAP_SLOT_FLAGS:
		flag_value(op, &mask, &value);
		bap_write_flags(t, op->slot->group, mask, value);
		break;
	case BAP_SLOT_PC:
		for (uint32_t i = op->len < 8 ? op->len : 8; i--;)
			pc = pc << 8 | op->value[i];
		r->base.end.pc = pc & r->rec->addr_mask;
		r->base.end.has_pc = true;
		break;
	case BAP_SLOT_NONE:
	case BAP_SLOT_IGNORE: break;
	}
}

void bap_op_lose(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	const struct bap_slot *s = op->slot;
	uint32_t mask, value;

	if (!s) {
		ts_steps_effect(r->out, TS_FX_WRITE, op->addr, op->len);
	} else if (s->kind == BAP_SLOT_REG) {
		bap_lose_reg(r, t, s->off, s->off_high ? 16 : s->extend ? s->extend : s->len);
		if (s->off_high)
			bap_lose_reg(r, t, s->off_high, 16);
	} else if (s->kind == BAP_SLOT_FLAG || s->kind == BAP_SLOT_FLAGS) {
		flag_value(op, &mask, &value);
		t->flags[s->group].known &= ~(mask & r->rec->names.flags[s->group].need);
		bap_tell_flags(r, t, s->group, mask, true);
	}
}

/* ------------------------------------------------------------------------------------------------- memory */

void bap_op_memory(struct bap_reader *r, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden)
{
	bool is_word = r->rec->recorder == BAP_OLD_TRACEWRAP && op->len > 1;
	uint32_t len = is_word ? 1 : op->len;
	struct ts_effect *e;
	uint8_t *data;

	if (is_word && kind == TS_FX_WRITE) /* of which only the first byte is sure to be accessed */
		ts_steps_effect(r->out, kind, op->addr + 1, op->len - 1);
	e = ts_steps_value(r->out, kind, op->addr,
			   r->rec->is_mem_reversed ? op->value + (op->len - len) : op->value, len);
	if (!e)
		return;
	e->is_hidden = is_hidden;
	data = r->out->data + e->data;
	for (uint32_t i = 0; r->rec->is_mem_reversed && i < len / 2; i++) {
		uint8_t byte = data[i];

		data[i] = data[len - 1 - i];
		data[len - 1 - i] = byte;
	}
}
