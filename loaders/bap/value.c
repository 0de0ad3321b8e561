/* SPDX-License-Identifier: MIT */
/*
 * Values into effects.
 *
 * A value is stored least significant byte first and as wide as the recorder liked; registers have the
 * target's order.
 */
#include "decoder.h"

#include <endian.h>
#include <string.h>

#include "operand.h"
#include "word_ops.h"

static uint32_t low_bits(unsigned n)
{
	return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

/* The value's place in its flag register: *mask and *value. */
static inline void flag_value(const struct bap_op *op, uint32_t *mask, uint32_t *value)
{
	uint32_t n = (uint32_t)le64toh(ts_load(op->value));

	if (op->slot->kind == REGMAP_FLAG) {
		*mask = op->slot->mask;
		*value = n << op->slot->shift & *mask;
	} else {
		*mask = low_bits(op->bits);
		*value = n & low_bits(op->len * 8) & *mask;
	}
}

/* A register's value that fits into a word of the 'g' layout, as most do: the word and its place. */
struct word {
	uint64_t value;
	uint32_t off;
};

static inline bool has_word(const struct bap *rec, const struct bap_op *op, struct word *w)
{
	const struct regmap_slot *s = op->slot;

	if (op->len > 8 || op->len > s->len)
		return false;
	w->value = ts_load(op->value);
	w->off = s->off;
	if (rec->base.regs.arch->is_big_endian) {
		w->value = bap_reverse(w->value, op->len);
		w->off += s->len - op->len;
	}
	return true;
}

/* This and write_parts() are not in line: their arrays would cost the values that need none. */
static __attribute__((noinline)) void see_parts(struct bap_known *k, struct bap_thread *t,
						const struct bap_op *op)
{
	struct bap_part parts[2];
	unsigned n = bap_op_parts(k->rec, op, parts);

	for (unsigned i = 0; i < n; i++)
		bap_see_reg(k, t, parts[i].off, parts[i].data, parts[i].len);
}

void bap_op_see(struct bap_known *k, struct bap_thread *t, const struct bap_op *op)
{
	uint32_t mask, value;
	struct word w;

	switch (op->slot->kind) {
	case REGMAP_REG:
		if (has_word(k->rec, op, &w))
			bap_see_word(k, t, w.off, w.value, op->len);
		else
			see_parts(k, t, op);
		break;
	case REGMAP_FLAG:
	case REGMAP_FLAGS:
		flag_value(op, &mask, &value);
		bap_see_flags(k, t, op->slot->group, mask, value);
		break;
	case REGMAP_NONE:
	case REGMAP_PC:
	case REGMAP_IGNORE: break;
	}
}

/* A write of the low part of a register that clears the rest. */
static void extend_part(const struct bap *rec, const struct regmap_slot *s, struct bap_part *p)
{
	uint32_t more = s->extend - p->len;
	bool is_big = rec->base.regs.arch->is_big_endian;

	memmove(p->bytes + (is_big ? more : 0), p->data, p->len);
	memset(p->bytes + (is_big ? 0 : p->len), 0, more);
	p->data = p->bytes;
	p->off -= is_big ? more : 0;
	p->len = s->extend;
}

static __attribute__((noinline)) void write_parts(struct bap_known *k, struct bap_thread *t,
						  const struct bap_op *op)
{
	struct bap_part parts[2];
	unsigned n = bap_op_parts(k->rec, op, parts);

	if (op->slot->extend && parts[0].len == op->slot->len)
		extend_part(k->rec, op->slot, &parts[0]);
	for (unsigned i = 0; i < n; i++)
		bap_write_reg(k, t, parts[i].off, parts[i].data, parts[i].len);
}

static uint64_t low_number(const struct bap_op *op)
{
	return le64toh(ts_load(op->value) & bap_first_bytes(op->len < 8 ? op->len : 8));
}

void bap_op_write(struct bap_known *k, struct bap_thread *t, const struct bap_op *op)
{
	uint32_t mask, value;
	struct word w;

	switch (op->slot->kind) {
	case REGMAP_REG:
		if (!op->slot->extend && has_word(k->rec, op, &w))
			bap_write_word(k, t, w.off, w.value, op->len);
		else
			write_parts(k, t, op);
		break;
	case REGMAP_FLAG:
	case REGMAP_FLAGS:
		flag_value(op, &mask, &value);
		bap_write_flags(t, op->slot->group, mask, value);
		break;
	case REGMAP_PC:
		k->end->pc = low_number(op) & k->rec->addr_mask;
		k->end->has_pc = true;
		k->end->is_assumed = k->rec->recorder == BAP_SNAPSHOT; /* which is often stale */
		break;
	case REGMAP_NONE:
	case REGMAP_IGNORE: break;
	}
}

void bap_op_lose(struct bap_known *k, struct bap_thread *t, const struct bap_op *op)
{
	const struct regmap_slot *s = op->slot;
	uint32_t mask, value;

	if (!s) {
		ts_steps_effect(k->out, TS_FX_WRITE, op->addr, op->len);
	} else if (s->kind == REGMAP_REG) {
		bap_lose_reg(k, t, s->off, s->off_high ? 16 : s->extend ? s->extend : s->len);
		if (s->off_high)
			bap_lose_reg(k, t, s->off_high, 16);
	} else if (s->kind == REGMAP_FLAG || s->kind == REGMAP_FLAGS) {
		flag_value(op, &mask, &value);
		t->flags[s->group].known &= ~(mask & k->rec->names.flags[s->group].need);
		bap_report_flags(k, t, s->group, mask, true);
	}
}

/* ------------------------------------------------------------------------------------------------- memory */

/* The first or, reversed, last @len bytes of a memory operand as memory has them. */
static struct ts_effect *put_memory(struct bap_known *k, enum ts_effect_kind kind, const struct bap_op *op,
				    uint32_t len)
{
	bool is_reversed = k->rec->is_mem_reversed;
	const uint8_t *value = is_reversed ? op->value + (op->len - len) : op->value;
	struct ts_effect *e;
	uint8_t bytes[8];
	uint64_t word;

	if (len <= sizeof(bytes)) {
		word = is_reversed ? bap_reverse(ts_load(value), len) : ts_load(value);
		memcpy(bytes, &word, sizeof(bytes));
		return ts_steps_word(k->out, kind, op->addr, bytes, len);
	}
	e = ts_steps_value(k->out, kind, op->addr, value, len);
	for (uint32_t i = 0; e && is_reversed && i < len; i++)
		k->out->data[e->data + i] = value[len - 1 - i];
	return e;
}

void bap_op_memory(struct bap_known *k, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden)
{
	bool is_word = k->rec->recorder == BAP_OLD_TRACEWRAP && op->len > 1;
	struct ts_effect *e;

	if (is_word && kind == TS_FX_WRITE) /* of which only the first byte is sure to be accessed */
		ts_steps_effect(k->out, kind, op->addr + 1, op->len - 1);
	e = put_memory(k, kind, op, is_word ? 1 : op->len);
	if (e)
		e->is_hidden = is_hidden;
}
