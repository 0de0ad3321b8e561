/* SPDX-License-Identifier: MIT */
/*
 * The form of a block: its bytes before the values.
 *
 * A program repeats instructions, and most repetitions change the same registers.  The head of the block, the
 * instruction's bytes and the list of slots are then the same.  A form stores these bytes and the result of
 * parsing them, so that only the values after them must be read.
 */
#ifndef LOADERS_X64DBG_FORM_H
#define LOADERS_X64DBG_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "block.h"
#include "src/base/bytes.h"

/* Limits of a form.  Most blocks are within them. */
#define X64DBG_MAX_FORM 24u
#define X64DBG_FORM_SLOTS 8u

struct x64dbg_form {
	uint64_t a, b, c; /* its bytes, and zeros after them */
	uint8_t slots[X64DBG_FORM_SLOTS];
	uint8_t len; /* the number of these bytes; 0: the form is empty */
	uint8_t n_regs, n_mem;
	uint8_t pc_at, mem_at; /* offsets in the block of the value of the pc, and of the memory slots */
	bool is_plain; /* each slot has at most one register, and none of the x87 */
	uint8_t told;  /* of a plain form: bit i is set if a change of slot i is an effect */
};

/*
 * Returns a form with the first @len bytes at @p, at most X64DBG_MAX_FORM, and no other members.
 * X64DBG_MAX_FORM bytes must be readable.
 */
static inline struct x64dbg_form x64dbg_form_of(const uint8_t *p, unsigned len)
{
	static const uint8_t masks[2 * X64DBG_MAX_FORM] = { 255, 255, 255, 255, 255, 255, 255, 255,
							    255, 255, 255, 255, 255, 255, 255, 255,
							    255, 255, 255, 255, 255, 255, 255, 255 };
	const uint8_t *mask = masks + X64DBG_MAX_FORM - len;

	return (struct x64dbg_form){ .a = ts_load(p) & ts_load(mask),
				     .b = ts_load(p + 8) & ts_load(mask + 8),
				     .c = ts_load(p + 16) & ts_load(mask + 16) };
}

/* Does the block at @p have the form?  X64DBG_MAX_FORM bytes are readable there. */
static inline bool x64dbg_form_is(const struct x64dbg_form *f, const uint8_t *p)
{
	struct x64dbg_form is = x64dbg_form_of(p, f->len);

	return !((is.a ^ f->a) | (is.b ^ f->b) | (is.c ^ f->c)) && f->len;
}

/*
 * Set *f to the form of block @b, which was read from @p without a repair.  *f is unchanged if the block
 * exceeds the limits of a form.
 */
void x64dbg_form_take(struct x64dbg_form *f, const uint8_t *p, const struct x64dbg_block *b,
		      const struct x64dbg_layout *l);

/*
 * Read the block at @p as x64dbg_block_read(), if it has this form.  @opcode has the bytes of its
 * instruction, padded with zeros to 16.  X64DBG_MAX_BLOCK + X64DBG_SLACK bytes must be readable.
 *
 * The length of the block is computed without the form, so that the processor can begin with the next block
 * before the form is loaded.
 *
 * Returns false if the block has another form.
 */
static inline bool x64dbg_form_read(const struct x64dbg_form *f, const uint8_t *opcode,
				    struct x64dbg_block *b, const uint8_t *p, const struct x64dbg_layout *l)
{
	unsigned n_regs = p[1], n_mem = p[2], len = X64DBG_BLOCK_HEAD + n_regs + p[3],
		 mem_at = len + n_regs * l->width;

	if (!x64dbg_form_is(f, p))
		return false;
	b->len = mem_at;
	b->tid = 0;
	b->has_tid = false;
	b->is_flagged = false;
	b->is_strict = true;
	b->has_pc = true;
	b->n_opcode = p[3];
	b->n_regs = (uint8_t)n_regs;
	b->n_mem = (uint8_t)n_mem;
	memcpy(b->opcode, opcode, sizeof(b->opcode));
	memcpy(b->slots, f->slots, sizeof(f->slots));
	memcpy(b->values, p + len, X64DBG_FORM_SLOTS * 8);
	b->pc = x64dbg_word(p + f->pc_at, l);
	if (n_mem) {
		b->len += n_mem * (1 + 2 * l->width) + x64dbg_block_changed_len(b, p + mem_at, l);
		x64dbg_block_read_mem(b, p + mem_at, l);
	}
	return true;
}

#endif
