/* SPDX-License-Identifier: MIT */
/*
 * Making plans.
 *
 * A frame whose operands must be read in order gets no plan: one that shows a register twice before the
 * instruction, or parts of it that overlap, or has a flag twice in a list.
 */
#include "frame_template.h"

#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "src/arch/traps.h"

/* Slots at first, and at the most: then all plans are dropped, and those that are still needed made again. */
#define MIN_SLOTS 256u
#define MAX_SLOTS 16384u

void bap_plans_init(struct bap_plans *ps, const struct bap *rec)
{
	bool is_usual = rec->recorder != BAP_SNAPSHOT && rec->arch != BAP_ARCH_ARM;

	*ps = (struct bap_plans){ .after = is_usual ? rec->plan_after : BAP_NO_PLANS };
}

void bap_plans_fini(struct bap_plans *ps)
{
	for (uint32_t i = 0; i < ps->cap; i++)
		free(ps->slots[i].plan);
	free(ps->slots);
	ps->slots = NULL;
	ps->last = NULL;
	ps->n = ps->cap = 0;
}

/* --------------------------------------------------------------------------------------- a plan is made */

/* A plan in the making: its lists are those of a tail. */
struct draft {
	const struct bap_parser *in;
	const uint8_t *tail;
	struct bap_plan plan; /* without items, flags and blocks */
	struct bap_plan_item items[BAP_PLAN_ITEMS];
	struct bap_plan_flag flags[BAP_PLAN_FLAGS];
	uint8_t mask[BAP_PLAN_MAX_LEN +
		     BAP_PLAN_BLOCK];     /* the bits of the tail that are the same each time */
	uint32_t whole[REGMAP_MAX_FLAGS]; /* bits of the list's operands that are whole flag registers */
};

static bool overlaps(uint32_t a, uint32_t a_len, uint32_t b, uint32_t b_len)
{
	return a < b + b_len && b < a + a_len;
}

/* How many of the register's bytes are at its place; those of a vector register in two halves follow elsewhere. */
static uint32_t low_len(const struct regmap_slot *s)
{
	return s->off_high ? 16 : s->len;
}

/* Has the register bytes among these @len at @off? */
static bool has_bytes(const struct regmap_slot *s, uint32_t off, uint32_t len)
{
	return overlaps(s->off, low_len(s), off, len) || (s->off_high && overlaps(s->off_high, 16, off, len));
}

static bool have_common_bytes(const struct regmap_slot *a, const struct regmap_slot *b)
{
	return has_bytes(a, b->off, low_len(b)) || (b->off_high && has_bytes(a, b->off_high, 16));
}

/*
 * Before the instruction the first value of a byte counts.  *is_new: the register, which has no flags, was
 * not shown yet in this list; else it was shown as a whole and is left out.  Returns false if parts of it
 * were shown.
 */
static bool check_shown(const struct draft *d, const struct bap_op *op, bool *is_new)
{
	*is_new = true;
	for (unsigned i = 0; i < d->plan.n_items; i++) {
		const struct bap_plan_item *item = &d->items[i];
		const struct regmap_slot *slot = &d->in->rec->names.slots[item->slot];

		if (slot == op->slot && item->len == op->len)
			*is_new = false;
		else if (item->slot && slot->kind == REGMAP_REG && have_common_bytes(slot, op->slot))
			return false;
	}
	return true;
}

static struct bap_plan_item *add_item(struct draft *d, const struct bap_op *op)
{
	struct bap_plan_item *item;

	if (d->plan.n_items == BAP_PLAN_ITEMS)
		return NULL;
	item = &d->items[d->plan.n_items++];
	*item = (struct bap_plan_item){
		.slot = op->slot ? (uint16_t)(op->slot - d->in->rec->names.slots) : 0,
		.value = (uint16_t)(op->value - d->tail),
		.len = (uint16_t)op->len,
		.bits = (uint16_t)op->bits,
		.is_read = op->is_read,
	};
	return item;
}

/* The operand at @p is memory. */
static bool add_memory(struct draft *d, const uint8_t *p, const struct bap_op *op)
{
	uint32_t at = (uint32_t)(p - d->tail) + 2 + BAP_OP_ADDRESS, end = at + p[5] - 1;

	if (d->plan.n_memory == BAP_PLAN_MEMORY || !add_item(d, op))
		return false;
	d->plan.memory[d->plan.n_memory++] =
		(struct bap_plan_address){ (uint16_t)at, (uint16_t)(op->len - 1) };
	memset(d->mask + at, 0x80, end - at); /* as many bytes each time */
	return true;
}

static bool add_register(struct draft *d, const struct bap_op *op, bool is_pre)
{
	const struct regmap_slot *s = op->slot;
	struct bap_plan_item *item;
	bool is_new = true;

	if (is_pre && !check_shown(d, op, &is_new))
		return false;
	if (!is_new)
		return true;
	item = add_item(d, op);
	if (!item)
		return false;
	item->is_word = op->len <= 8 && op->len <= s->len && (is_pre || !s->extend);
	item->off = s->off + (d->in->rec->base.regs.arch->is_big_endian ? s->len - op->len : 0);
	return true;
}

/* The list's single flags so far; it has one more, or a whole register of them. */
static uint64_t *note_flags(struct bap_plan *plan, bool is_pre)
{
	if (is_pre)
		plan->has_pre_flags = true;
	else
		plan->has_post_flags = true;
	return is_pre ? &plan->pre_mask : &plan->post_mask;
}

static bool add_flag(struct draft *d, const struct bap_op *op, bool is_pre)
{
	const struct regmap_slot *s = op->slot;
	uint64_t *mask = note_flags(&d->plan, is_pre);

	if (d->plan.n_flags == BAP_PLAN_FLAGS ||
	    (bap_group_of(*mask, s->group) | d->whole[s->group]) & s->mask)
		return false;
	*mask |= (uint64_t)s->mask << s->group * BAP_GROUP_BITS;
	d->flags[d->plan.n_flags++] = (struct bap_plan_flag){ (uint16_t)(op->value - d->tail),
							      (uint8_t)(s->shift + s->group * BAP_GROUP_BITS),
							      (uint8_t)(s->mask >> s->shift) };
	return true;
}

/* A whole flag register. */
static bool add_flags(struct draft *d, const struct bap_op *op, bool is_pre)
{
	uint8_t group = op->slot->group;

	if (bap_group_of(*note_flags(&d->plan, is_pre), group) || d->whole[group])
		return false;
	d->whole[group] = UINT32_MAX;
	return add_item(d, op);
}

static bool add_operand(struct draft *d, const uint8_t *p, const struct bap_op *op, bool is_pre)
{
	if (!op->slot)
		return add_memory(d, p, op);
	switch (op->slot->kind) {
	case REGMAP_REG: return add_register(d, op, is_pre);
	case REGMAP_FLAG: return add_flag(d, op, is_pre);
	case REGMAP_FLAGS: return add_flags(d, op, is_pre);
	case REGMAP_PC: return is_pre || add_item(d, op);
	case REGMAP_NONE:
	case REGMAP_IGNORE: break;
	}
	return true;
}

/* A list of operands. */
static bool add_list(struct draft *d, const struct pb_value *list, bool is_pre)
{
	const uint8_t *p = list->p, *end = p + list->n;
	struct bap_op op;

	memset(d->whole, 0, sizeof(d->whole));
	d->plan.has_operands |= p != end;
	for (; p != end; p += 2 + p[1]) {
		if (end - p < 2 || p[0] != BAP_OP_KEY || p[1] >= 0x80 || p[1] > end - p - 2 ||
		    !bap_op_usual(d->in, p + 2, p[1], &op) || !add_operand(d, p, &op, is_pre))
			return false;
		memset(d->mask + (op.value - d->tail), 0, (size_t)(p + 2 + p[1] - op.value));
	}
	return true;
}

/* Plan the tail, which must be the instruction's bytes and both lists, and end at @end. */
static bool fill(struct draft *d, const uint8_t *end)
{
	struct pb_message m = { 0 };
	const struct pb_value *raw = &m.v[STD_RAWBYTES - 1];
	struct bap_plan *plan = &d->plan;
	const uint8_t *p = d->tail;

	for (unsigned i = STD_RAWBYTES; i <= STD_POST_LIST; i++) {
		p = pb_get_field(p, end, i, PB_BYTES, &m);
		if (!pb_has(&m, i))
			return false;
	}
	if (p != end || raw->p != d->tail + BAP_PLAN_RAW || raw->n > TS_X86_MAX_INSN ||
	    !add_list(d, &m.v[STD_PRE_LIST - 1], true))
		return false;
	plan->insn_len = (uint8_t)raw->n;
	plan->loss = bap_x86_loss(d->in->rec, raw);
	plan->is_trap = ts_insn_trap(d->in->rec->base.regs.arch, false, raw->p, raw->n) != TS_TRAP_NONE;
	plan->n_pre_items = plan->n_items;
	plan->n_pre_flags = plan->n_flags;
	if (!add_list(d, &m.v[STD_POST_LIST - 1], false))
		return false;
	if (plan->loss == BAP_LOSS_AF && !plan->has_post_flags)
		plan->loss = BAP_LOSS_NONE;
	return true;
}

/* The finished plan: all of it in one piece of memory. */
static struct bap_plan *pack(const struct draft *d)
{
	uint32_t n_blocks = (d->plan.len + BAP_PLAN_BLOCK - 1) / BAP_PLAN_BLOCK;
	size_t blocks_len = n_blocks * sizeof(struct bap_plan_block);
	size_t items_len = d->plan.n_items * sizeof(d->items[0]);
	size_t flags_len = d->plan.n_flags * sizeof(d->flags[0]);
	struct bap_plan *plan = malloc(sizeof(*plan) + blocks_len + items_len + flags_len);
	uint8_t *rest;

	if (!plan)
		return NULL;
	*plan = d->plan;
	plan->n_blocks = (uint8_t)n_blocks;
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct bap_plan_block *b = &plan->blocks[i];

		/* cppcheck-suppress bufferAccessOutOfBounds; there is room for n_blocks of them */
		memcpy(b->mask, d->mask + i * BAP_PLAN_BLOCK, BAP_PLAN_BLOCK);
		/* cppcheck-suppress bufferAccessOutOfBounds; the same */
		memcpy(b->want, d->tail + i * BAP_PLAN_BLOCK, BAP_PLAN_BLOCK); /* see TS_WINDOW_PAD */
	}
	rest = (uint8_t *)plan->blocks + blocks_len;
	plan->items = memcpy(rest, d->items, items_len);
	plan->flags = memcpy(rest + items_len, d->flags, flags_len);
	return plan;
}

static struct bap_plan *make(const struct bap_parser *in, const uint8_t *tail, uint32_t len)
{
	struct draft d = { .in = in, .tail = tail, .plan = { .len = (uint16_t)len } };

	memset(d.mask, 0xff, len);
	return fill(&d, tail + len) ? pack(&d) : NULL;
}

/* ------------------------------------------------------------------------------------------ the table */

/* Make the table larger, or begin again.  Returns false if memory is exhausted. */
static bool make_room(struct bap_plans *ps)
{
	struct bap_plans more = *ps;

	more.cap = ps->cap && ps->cap < MAX_SLOTS ? ps->cap * 2 : MIN_SLOTS;
	more.slots = calloc(more.cap, sizeof(more.slots[0]));
	if (!more.slots)
		return false;
	if (ps->cap == MAX_SLOTS) {
		bap_plans_fini(ps);
		more.last = NULL;
		more.n = 0;
	}
	for (uint32_t i = 0; i < ps->cap; i++)
		if (ps->slots[i].n_met)
			*bap_plans_at(&more, ps->slots[i].tag) = ps->slots[i];
	free(ps->slots);
	*ps = more;
	return true;
}

void bap_plans_note(struct bap_plans *ps, const struct bap_parser *in, const struct bap_plan_frame *f)
{
	uint32_t tag = bap_plan_tag(f->tail, f->len);
	struct bap_plan_slot *s;

	if (ps->after == BAP_NO_PLANS || (ps->n >= ps->cap / 2 && !make_room(ps)))
		return;
	s = bap_plans_at(ps, tag);
	if (!s->n_met) {
		s->tag = tag;
		ps->n++;
	}
	if (s->n_met < ps->after && ++s->n_met == ps->after)
		s->plan = make(in, f->tail, f->len);
}
