/* SPDX-License-Identifier: MIT */
/*
 * Plans: templates of frames that differ from an earlier frame only in values and addresses.
 *
 * A recorder writes the frames of an instruction with the same bytes each time: keys, lengths, names of
 * registers, usage.  Only the address of the instruction, the values, and the addresses of memory differ.
 * The tail of a frame is the part from the instruction's bytes on.  A plan has the constant bytes of a tail
 * and the offsets of the others.
 *
 * The invariant: if a frame has the constant bytes of a plan, and its memory addresses have the same lengths
 * and are in the address space, then the general parser (operand.h) finds the same operands in the same order
 * without a warning, and reading the frame by the plan has the same effects.  All other frames are read by
 * the general parser, as are frames for which no plan can be made.  Plans depend only on the recording, not
 * on the place in it, and are not part of a decode point.
 */
#ifndef LOADERS_BAP_FRAME_TEMPLATE_H
#define LOADERS_BAP_FRAME_TEMPLATE_H

#include "insn.h"
#include "operand.h"
#include "src/base/collections/hash.h"
#include "word_ops.h"

/* Limits of a plan.  No plan is made for a frame that exceeds one of them. */
#define BAP_PLAN_ITEMS   16u
#define BAP_PLAN_FLAGS   16u
#define BAP_PLAN_MEMORY  4u
#define BAP_PLAN_MAX_LEN 384u

/* The offset of the instruction's bytes in a tail, after a key and a length. */
#define BAP_PLAN_RAW 2u

/* The smallest length of a tail.  Its first word, which must be there, is part of its tag. */
#define BAP_PLAN_MIN_LEN 8u

/* The number of frames with the same beginning that are read before a plan is made; a plan costs as much as a few frames. */
#define BAP_PLAN_AFTER 16u
#define BAP_NO_PLANS   UINT32_MAX

/* Sixteen bytes of a tail, which the processor compares at once. */
typedef uint64_t bap_plan_word __attribute__((vector_size(16)));

#define BAP_PLAN_BLOCK 32u

/* Lines of 64 bytes of a plan that are fetched early. */
#define BAP_PLAN_FETCH 9u

/* An operand other than a flag. */
struct bap_plan_item {
	uint32_t off;   /* of a word, in the 'g' layout */
	uint16_t slot;  /* ordinal in the map of names; 0: memory */
	uint16_t value; /* offset of its value in the tail */
	uint16_t len;   /* bytes of the value */
	uint16_t bits;
	bool is_word; /* the value is [off, off + len) of the layout, at most eight bytes of a register */
	bool is_read;
};

/* A flag: the bits of @mask of a byte of the tail, shifted left by @shift, in the flags of all groups. */
struct bap_plan_flag {
	uint16_t value;
	uint8_t shift, mask;
};

/*
 * The flags of all groups are one number.  Each group has this number of bits; those of the first group are
 * lowest.
 */
#define BAP_GROUP_BITS 32u

/* The flags of @group in the flags of all groups. */
static inline uint32_t bap_group_of(uint64_t all, unsigned group)
{
	return (uint32_t)(all >> group * BAP_GROUP_BITS);
}

/*
 * One allocation.  It is small, because the plans of a large program do not fit into the first-level cache.
 */
struct bap_plan {
	struct bap_plan *next; /* the plan of the frame that followed last time; NULL: none yet */
	uint16_t len;          /* of the tail */
	uint8_t n_blocks;
	uint8_t insn_len;
	bool has_operands, has_pre_flags, has_post_flags; /* flags: single ones or whole registers */
	bool is_trap;                                     /* bap_is_trap() */
	uint8_t loss;                                     /* enum bap_x86_loss */
	/* items and flags of the list before the instruction, then of the list after it: */
	uint8_t n_pre_items, n_items, n_pre_flags, n_flags;
	uint8_t n_memory;
	uint64_t pre_mask, post_mask; /* all single flags of a list */
	const struct bap_plan_item *items;
	const struct bap_plan_flag *flags;
	struct bap_plan_address {
		uint16_t at;       /* offset of a memory operand's address in the tail */
		uint16_t room;     /* bytes of the value after the first one */
	} memory[BAP_PLAN_MEMORY]; /* in the order of the items */
	struct bap_plan_block {
		bap_plan_word mask[2]; /* the constant bits */
		bap_plan_word want[2]; /* their values */
	} blocks[]; /* each of BAP_PLAN_BLOCK bytes of the tail; the last one may pass its end; items and
		       flags follow them */
};
_Static_assert(REGMAP_MAX_FLAGS * BAP_GROUP_BITS <= 64, "pre_mask and post_mask have all groups");

/* Plans by the first bytes of tails. */
struct bap_plans {
	struct bap_plan_slot {
		uint32_t tag;
		uint32_t n_met;        /* the number of tails with this tag so far; 0: the slot is empty */
		struct bap_plan *plan; /* owned; NULL: not made yet, or cannot be made */
	} * slots;                     /* owned */
	uint32_t n, cap;               /* cap: a power of two; 0 before the first tail */
	struct bap_plan *last;         /* the plan of the last frame; NULL: none */
	uint32_t after;      /* BAP_PLAN_AFTER; BAP_NO_PLANS: the general parser reads all frames */
	uint64_t n_followed; /* frames that were read by a plan */
	struct bap_plan_thread {
		uint64_t id;
		uint64_t word, mask; /* the bytes of the field, at most eight; mask 0: unknown */
		uint8_t len;
	} thread; /* the field of the frame that was split last */
};

/* The beginning of a std frame, and its tail. */
struct bap_plan_frame {
	uint64_t pc, thread_id; /* as recorded */
	const uint8_t *tail;    /* borrowed */
	uint32_t len;
};

/* Initialize @ps for frames of @rec, without plans. */
void bap_plans_init(struct bap_plans *ps, const struct bap *rec);
void bap_plans_fini(struct bap_plans *ps);

/*
 * Count a frame that the general parser has read without damage.  After BAP_PLAN_AFTER frames with the same
 * tag, a plan is made.  If memory is exhausted, none is made.
 */
void bap_plans_note(struct bap_plans *ps, const struct bap_parser *in, const struct bap_plan_frame *f);

/*
 * Parse the thread field at @p into *t.
 *
 * Returns the end of the field in the caller's bytes, which may be after @end.
 * Returns NULL if @p is at another field.
 */
static inline const uint8_t *bap_plan_thread(struct bap_plan_thread *t, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *after;

	if (t->mask && !((ts_load(p) ^ t->word) & t->mask))
		return p + t->len;
	t->mask = 0;
	if (end - p < 2 || *p != (2 << 3 | PB_VARINT))
		return NULL;
	after = pb_get_varint(p + 1, end, &t->id);
	if (after && after - p <= 8) {
		t->len = (uint8_t)(after - p);
		t->word = ts_load(p);
		t->mask = bap_first_bytes(t->len);
	}
	return after;
}

/*
 * Parse the beginning of a std frame and set *f.
 *
 * Returns false if the fields are not in the order in which recorders write them.
 * Returns false if the tail is too short or too long for a plan.
 */
static inline bool bap_plan_split(struct bap_plans *ps, const struct ts_cursor *body,
				  struct bap_plan_frame *f)
{
	const uint8_t *p = body->p, *end = p + body->left;

	if (body->left < BAP_PLAN_MIN_LEN || *p != (1 << 3 | PB_VARINT))
		return false;
	p = pb_get_varint(p + 1, end, &f->pc);
	p = p ? bap_plan_thread(&ps->thread, p, end) : NULL;
	f->thread_id = ps->thread.id;
	if (!p || (size_t)(end - p) - BAP_PLAN_MIN_LEN > BAP_PLAN_MAX_LEN - BAP_PLAN_MIN_LEN)
		return false;
	f->tail = p;
	f->len = (uint32_t)(end - p);
	return true;
}

/* The tag of a tail: tails with the same first word and length have the same tag. */
static inline uint32_t bap_plan_tag(const uint8_t *tail, uint32_t len)
{
	return (uint32_t)ts_hash(ts_load(tail), len);
}

/* Returns the slot of tails with this tag, or an empty slot, borrowed from @ps.  The table is never full. */
static inline struct bap_plan_slot *bap_plans_at(const struct bap_plans *ps, uint32_t tag)
{
	for (uint32_t i = tag;; i++) {
		struct bap_plan_slot *s = &ps->slots[i & (ps->cap - 1)];

		if (s->tag == tag || !s->n_met)
			return s;
	}
}

/* Does the tail have the bytes of the plan? */
static inline bool bap_plan_fits(const struct bap_plan *plan, const uint8_t *tail)
{
	const struct bap_plan_block *b = plan->blocks, *end = b + plan->n_blocks;
	bap_plan_word differs = { 0 }, one, other;

	for (; b < end; b++, tail += BAP_PLAN_BLOCK) {
		memcpy(&one, tail, sizeof(one));
		memcpy(&other, tail + sizeof(one), sizeof(other));
		differs |= (one ^ b->want[0]) & b->mask[0];
		differs |= (other ^ b->want[1]) & b->mask[1];
	}
	return !(differs[0] | differs[1]);
}

/* Does the plan, which may be NULL, fit the frame? */
static inline bool bap_plan_is_for(const struct bap_plan *plan, const struct bap_plan_frame *f)
{
	return plan && plan->len == f->len && bap_plan_fits(plan, f->tail);
}

/*
 * Returns the plan that fits the frame, borrowed from the plans.
 * Returns NULL if no plan does. Because programs repeat themselves, the plan that followed the last plan the time before is
 * tried first, and is prefetched one frame ahead.
 */
static inline const struct bap_plan *bap_plans_find(struct bap_plans *ps, const struct bap_plan_frame *f)
{
	struct bap_plan *last = ps->last, *plan = last ? last->next : NULL;

	if (!bap_plan_is_for(plan, f)) {
		plan = ps->cap ? bap_plans_at(ps, bap_plan_tag(f->tail, f->len))->plan : NULL;
		if (!bap_plan_is_for(plan, f))
			return NULL;
		if (last)
			last->next = plan;
	}
	ps->last = plan;
	if (plan->next)
		for (unsigned i = 0; i < BAP_PLAN_FETCH; i++)
			__builtin_prefetch((const char *)plan->next + i * 64);
	return plan;
}

#endif
