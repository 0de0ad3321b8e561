/* SPDX-License-Identifier: MIT */
/*
 * Operands into effects.
 *
 * A value is stored least significant byte first and as wide as the recorder liked; registers have the
 * target's order.
 */
#include "operands.h"

#include <endian.h>
#include <string.h>

#include "reader.h"
#include "schema.h"
#include "word.h"

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

bool bap_op_place(struct bap_reader *r, const struct pb_message *operand, struct ts_cursor *parent,
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

/* Of 16 bytes at @p, are those that @mask has set as in @want? */
static inline bool is_like(const uint8_t *p, const uint8_t want[16], const uint8_t mask[16])
{
	return !(((bap_load(p) ^ bap_load(want)) & bap_load(mask)) |
		 ((bap_load(p + 8) ^ bap_load(want + 8)) & bap_load(mask + 8)));
}

/*
 * An operand of @len bytes as recorders write it: fields in their order, keys and lengths of one byte,
 *
 *      0a LEN, in it 12 LEN 0a LEN NAME or 0a LEN 08 ADDRESS
 *      10 BITS; 1a 08 08 R 10 W 18 I 20 B: usage; 22 02 08 01: taint; 2a LEN VALUE
 *
 * and nothing about it is odd.  False: it is of another form, or something is, and the schema has to be
 * asked.
 */
static bool read_usual(const struct bap_reader *r, const uint8_t *p, size_t len, struct bap_op *op)
{
	static const uint8_t want[16] = { 0x1a, 8, 8, 0, 0x10, 0, 0x18, 0, 0x20, 0, 0x22, 2, 8, 1, 0x2a, 0 };
	static const uint8_t mask[16] = { 255, 255, 255, 254, 255, 254, 255, 254,
					  255, 254, 255, 255, 255, 255, 255, 0 };
	const uint8_t *end = p + len, *behind, *u;
	uint64_t bits, key[2];

	if (len < 23 || p[0] != 0x0a || p[1] < 4 || p[1] > len - 21 || p[3] != p[1] - 2)
		return false;
	behind = p + 2 + p[1];
	u = pb_get_varint(behind + 1, end, &bits);
	if (*behind != 0x10 || !u || bits & 1 || end - u < 17 || !is_like(u, want, mask) || !u[15] ||
	    u[15] >= 0x80 || u[15] != end - (u + 16) || bits / 2 > u[15] * UINT64_C(8))
		return false;
	op->is_read = u[3];
	op->is_written = u[5];
	op->value = u + 16;
	op->bits = bits ? (uint32_t)(bits / 2) : u[15] * 8u;
	op->len = (op->bits + 7) / 8;
	if (p[2] == 0x12) {
		if (p[4] != 0x0a || p[5] != p[1] - 4 || !p[5] || p[5] > BAP_MAX_NAME)
			return false;
		bap_name_key(p + 6, p[5], key); /* more bytes than a name has stand behind it */
		op->slot = bap_names_find_key(&r->rec->names, key);
		return op->slot->kind != BAP_SLOT_NONE;
	}
	op->slot = NULL;
	if (p[2] != 0x0a || p[4] != 0x08 || pb_get_varint(p + 5, behind, &op->addr) != behind)
		return false;
	op->addr &= r->rec->addr_mask;
	return op->bits % 8 == 0 && op->len - 1 <= r->rec->addr_mask - op->addr;
}

/* Any operand, by the schema. */
static bool read_any(struct bap_reader *r, struct ts_cursor *c, struct bap_op *op)
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
	if (!bap_op_place(r, &m, c, op))
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

static bool next_any(struct bap_reader *r, struct ts_cursor *list, struct bap_op *op)
{
	struct ts_cursor item;

	while (pb_next_item(list, &bap_operand_list, &item)) {
		if (read_any(r, &item, op))
			return true;
		if (!ts_ok(list))
			return false;
	}
	return false;
}

/* Bytes of a form's head: up to the third word, and up to the last one. */
#define MIN_HEAD 24u
#define MAX_HEAD 32u

/* Where the form of an operand at @p is, if it is known: its second and third word hold name and usage. */
static inline uint32_t form_at(const uint8_t *p)
{
	return (uint32_t)((bap_load(p + 8) * UINT64_C(0x9e3779b97f4a7c15) ^
			   bap_load(p + 16) * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
			  56) %
	       BAP_N_FORMS;
}

/* An operand was read: others like it will come. */
static void keep_form(struct bap_reader *r, const uint8_t *p, uint32_t len, const struct bap_op *op)
{
	size_t head = (size_t)(op->value - p);
	struct bap_form *f = &r->forms[form_at(p)];

	if (head < MIN_HEAD || head > MAX_HEAD)
		return;
	f->last = (uint32_t)head - 8;
	f->len = len;
	f->op = *op;
	for (unsigned i = 0; i < 3; i++)
		f->head[i] = bap_load(p + i * 8);
	f->head[3] = bap_load(p + f->last);
}

/*
 * An operand of which all but the value was met before.  Its length is what the form's first word says.
 *
 * Returns the length, 0 if there is no such form.
 */
static inline uint32_t read_again(const struct bap_reader *r, const uint8_t *p, size_t left,
				  struct bap_op *op)
{
	const struct bap_form *f;
	uint64_t differs;

	if (left < MIN_HEAD)
		return 0;
	f = &r->forms[form_at(p)];
	if (f->len > left)
		return 0;
	differs = bap_load(p) ^ f->head[0];
	differs |= bap_load(p + 8) ^ f->head[1];
	differs |= bap_load(p + 16) ^ f->head[2];
	differs |= bap_load(p + f->last) ^ f->head[3];
	if (differs)
		return 0;
	*op = f->op;
	op->value = p + f->last + 8;
	return f->len;
}

/* An operand that has no form yet, or memory.  Of its own: its many variables cost the others nothing. */
static __attribute__((noinline)) bool next_new(struct bap_reader *r, struct ts_cursor *list,
					       struct bap_op *op)
{
	const uint8_t *p = list->p;

	if (list->left < 2 || p[0] != 0x0a || p[1] >= 0x80 || p[1] > list->left - 2 ||
	    !read_usual(r, p + 2, p[1], op))
		return next_any(r, list, op);
	if (op->slot)
		keep_form(r, p, 2u + p[1], op);
	ts_take(list, 2u + p[1]);
	return true;
}

bool bap_op_next(struct bap_reader *r, struct ts_cursor *list, struct bap_op *op)
{
	uint32_t len;

	if (!list->left)
		return false;
	len = read_again(r, list->p, list->left, op);
	if (!len)
		return next_new(r, list, op);
	ts_take(list, len);
	return true;
}

static uint32_t low_bits(unsigned n)
{
	return n >= 32 ? UINT32_MAX : (UINT32_C(1) << n) - 1;
}

/* The value's place in its flag register: *mask and *value. */
static inline void flag_value(const struct bap_op *op, uint32_t *mask, uint32_t *value)
{
	uint32_t n = (uint32_t)le64toh(bap_load(op->value));

	if (op->slot->kind == BAP_SLOT_FLAG) {
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
	const struct bap_slot *s = op->slot;

	if (op->len > 8 || op->len > s->len)
		return false;
	w->value = bap_load(op->value);
	w->off = s->off;
	if (rec->base.regs.arch->is_big_endian) {
		w->value = bap_reverse(w->value, op->len);
		w->off += s->len - op->len;
	}
	return true;
}

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
	const struct bap_slot *s = op->slot;

	if (!s || s->kind != BAP_SLOT_REG)
		return 0;
	take_part(rec, op, 0, s->off_high ? 16 : s->len, s->off, &parts[0]);
	if (!s->off_high || op->len <= 16)
		return 1;
	take_part(rec, op, 16, 16, s->off_high, &parts[1]);
	return 2;
}

static void see_parts(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	struct bap_part parts[2];
	unsigned n = bap_op_parts(r->rec, op, parts);

	for (unsigned i = 0; i < n; i++)
		bap_see_reg(r, t, parts[i].off, parts[i].data, parts[i].len);
}

void bap_op_see(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	uint32_t mask, value;
	struct word w;

	switch (op->slot->kind) {
	case BAP_SLOT_REG:
		if (has_word(r->rec, op, &w))
			bap_see_word(r, t, w.off, w.value, op->len);
		else
			see_parts(r, t, op);
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
static void extend_part(const struct bap *rec, const struct bap_slot *s, struct bap_part *p)
{
	uint32_t more = s->extend - p->len;
	bool is_big = rec->base.regs.arch->is_big_endian;

	memmove(p->bytes + (is_big ? more : 0), p->data, p->len);
	memset(p->bytes + (is_big ? 0 : p->len), 0, more);
	p->data = p->bytes;
	p->off -= is_big ? more : 0;
	p->len = s->extend;
}

static void write_parts(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	struct bap_part parts[2];
	unsigned n = bap_op_parts(r->rec, op, parts);

	if (op->slot->extend && parts[0].len == op->slot->len)
		extend_part(r->rec, op->slot, &parts[0]);
	for (unsigned i = 0; i < n; i++)
		bap_write_reg(r, t, parts[i].off, parts[i].data, parts[i].len);
}

static uint64_t low_number(const struct bap_op *op)
{
	return le64toh(bap_load(op->value) & bap_first_bytes(op->len < 8 ? op->len : 8));
}

void bap_op_write(struct bap_reader *r, struct bap_thread *t, const struct bap_op *op)
{
	uint32_t mask, value;
	struct word w;

	switch (op->slot->kind) {
	case BAP_SLOT_REG:
		if (!op->slot->extend && has_word(r->rec, op, &w))
			bap_write_word(r, t, w.off, w.value, op->len);
		else
			write_parts(r, t, op);
		break;
	case BAP_SLOT_FLAG:
	case BAP_SLOT_FLAGS:
		flag_value(op, &mask, &value);
		bap_write_flags(t, op->slot->group, mask, value);
		break;
	case BAP_SLOT_PC:
		r->base.end.pc = low_number(op) & r->rec->addr_mask;
		r->base.end.has_pc = true;
		r->base.end.is_assumed = r->rec->recorder == BAP_SNAPSHOT; /* which is often stale */
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

/* The first or, reversed, last @len bytes of a memory operand as memory has them. */
static struct ts_effect *put_memory(struct bap_reader *r, enum ts_effect_kind kind, const struct bap_op *op,
				    uint32_t len)
{
	bool is_reversed = r->rec->is_mem_reversed;
	const uint8_t *value = is_reversed ? op->value + (op->len - len) : op->value;
	struct ts_effect *e;
	uint8_t bytes[8];
	uint64_t word;

	if (len <= sizeof(bytes)) {
		word = is_reversed ? bap_reverse(bap_load(value), len) : bap_load(value);
		memcpy(bytes, &word, sizeof(bytes));
		return ts_steps_word(r->out, kind, op->addr, bytes, len);
	}
	e = ts_steps_value(r->out, kind, op->addr, value, len);
	for (uint32_t i = 0; e && is_reversed && i < len; i++)
		r->out->data[e->data + i] = value[len - 1 - i];
	return e;
}

void bap_op_memory(struct bap_reader *r, enum ts_effect_kind kind, const struct bap_op *op, bool is_hidden)
{
	bool is_word = r->rec->recorder == BAP_OLD_TRACEWRAP && op->len > 1;
	struct ts_effect *e;

	if (is_word && kind == TS_FX_WRITE) /* of which only the first byte is sure to be accessed */
		ts_steps_effect(r->out, kind, op->addr + 1, op->len - 1);
	e = put_memory(r, kind, op, is_word ? 1 : op->len);
	if (e)
		e->is_hidden = is_hidden;
}
