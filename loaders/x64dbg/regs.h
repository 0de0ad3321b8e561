/* SPDX-License-Identifier: MIT */
/*
 * The layout of the register record: which registers its words contain.
 */
#ifndef LOADERS_X64DBG_REGS_H
#define LOADERS_X64DBG_REGS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "src/arch/arch.h"
#include "src/base/bytes.h"
#include "src/trace/step.h"

#define X64DBG_MAX_SLOTS 216u
#define X64DBG_MAX_G 1024u
#define X64DBG_MAX_PIECES 512u
#define X64DBG_MAX_RUNS 16u

/* Bits of a slot that are the bits of at most 8 bytes of a register. */
struct x64dbg_piece {
	uint64_t mask;   /* of the shifted word of the slot; 0: the slot has no register */
	uint16_t off;    /* of the register's bytes in struct x64dbg_regs */
	uint16_t more;   /* ordinal of another piece of the same slot, 0 for none */
	uint8_t shift;   /* bits */
	uint8_t len;     /* bytes */
	bool is_told;    /* a change is an effect */
	bool is_x87;     /* the tag word follows from it */
};

/* Consecutive bytes of the 'g' layout that the record contains. */
struct x64dbg_run {
	uint16_t off, len;
};

struct x64dbg_layout {
	unsigned width; /* bytes of a slot */
	uint64_t word_mask; /* the bits of a slot's word */
	unsigned n_slots;
	unsigned pc, sp;         /* the slots of the program counter and the stack pointer */
	uint16_t pc_off, ftag_off, fop_off, fstat_off, st_off;
	bool has_fop;
	struct x64dbg_piece pieces[X64DBG_MAX_PIECES]; /* piece i is the first one of slot i */
	struct x64dbg_run runs[X64DBG_MAX_RUNS];
	unsigned n_runs;
};

/*
 * The registers of the current thread, in the 'g' layout.  The bytes of registers that the record does not
 * have are unused.
 */
struct x64dbg_regs {
	uint8_t g[X64DBG_MAX_G];
	uint8_t tag[2];   /* as recorded */
	uint8_t slack[8]; /* pieces are read and written in words */
};

/* Initialize the layout of x64 (@is_64) or x86 for the registers of @set. */
void x64dbg_layout_init(struct x64dbg_layout *l, bool is_64, const struct ts_regset *set);

/* Compute the tag word after a change of x87 registers, and append it to @out if it changed. */
void x64dbg_regs_update_tag(struct x64dbg_regs *r, const struct x64dbg_layout *l, struct ts_steps *out);

/* Process piece @p of a slot's @word.  Returns true if the tag word may have changed. */
static inline bool x64dbg_regs_take_piece(struct x64dbg_regs *r, const struct x64dbg_piece *p, uint64_t word,
					  struct ts_steps *out)
{
	uint8_t *reg = (uint8_t *)r + p->off;
	uint64_t was = le64toh(ts_load(reg)), changed = (word >> p->shift ^ was) & p->mask;

	if (!changed)
		return false;
	was = htole64(was ^ changed);
	memcpy(reg, &was, sizeof(was));
	if (p->is_told)
		ts_steps_word(out, TS_FX_REG_WRITE, p->off, reg, p->len);
	return p->is_x87;
}

/*
 * Process the listed slots: @slots has @n ascending ordinals, and @values as many words; 8 bytes must be
 * readable at each word.  A register that changed is appended as TS_FX_REG_WRITE.  The program counter is
 * updated in @r but is not an effect.
 */
static inline void x64dbg_regs_take(struct x64dbg_regs *r, const struct x64dbg_layout *l,
				    const uint8_t *slots, unsigned n, const uint8_t *values,
				    struct ts_steps *out)
{
	bool has_x87 = n == l->n_slots; /* the very first ones may be zeros, as they are before */
	unsigned width = l->width;

	for (const uint8_t *end = slots + n; slots < end; slots++, values += width) {
		const struct x64dbg_piece *p = &l->pieces[*slots];
		uint64_t word = le64toh(ts_load(values));

		has_x87 |= x64dbg_regs_take_piece(r, p, word, out);
		while (__builtin_expect(p->more, 0)) {
			p = &l->pieces[p->more];
			has_x87 |= x64dbg_regs_take_piece(r, p, word, out);
		}
	}
	if (__builtin_expect(has_x87, 0))
		x64dbg_regs_update_tag(r, l, out);
}

/*
 * The same for up to 8 slots with at most one piece each.  The slots whose bits are set in @reported are appended
 * if they changed.  Of the other slots only that of the program counter, whose new value is @pc, has a
 * piece.  The caller has reserved space in @out with ts_steps_room().
 */
static inline void x64dbg_regs_take_plain(struct x64dbg_regs *r, const struct x64dbg_layout *l,
					  const uint8_t *slots, unsigned told, const uint8_t *values,
					  uint64_t pc, struct ts_steps *out)
{
	for (; told; told &= told - 1) {
		unsigned i = (unsigned)__builtin_ctz(told);
		const struct x64dbg_piece *p = &l->pieces[slots[i]];
		uint8_t *reg = (uint8_t *)r + p->off;
		uint64_t word = le64toh(ts_load(values + i * l->width)), was = le64toh(ts_load(reg)),
			 changed = (word >> p->shift ^ was) & p->mask;

		if (!changed)
			continue;
		was = htole64(was ^ changed);
		memcpy(reg, &was, sizeof(was));
		ts_steps_put(out, TS_FX_REG_WRITE, p->off, (const uint8_t *)&was, p->len);
	}
	pc = htole64(pc);
	if (l->width == 8)
		memcpy(r->g + l->pc_off, &pc, 8);
	else
		memcpy(r->g + l->pc_off, &pc, 4);
}

/* Append all registers of the record as TS_FX_REG_WRITE. */
void x64dbg_regs_append(const struct x64dbg_regs *r, const struct x64dbg_layout *l, struct ts_steps *out);

#endif
