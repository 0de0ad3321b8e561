/* SPDX-License-Identifier: MIT */
/*
 * The register record: which of its words are which registers.
 */
#ifndef LOADERS_X64DBG_REGS_H
#define LOADERS_X64DBG_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/trace/step.h"

#define X64DBG_MAX_SLOTS 216u
#define X64DBG_MAX_G 1024u
#define X64DBG_MAX_PIECES 512u
#define X64DBG_MAX_RUNS 16u

/* Bits of a slot that are those of at most 8 bytes of a register. */
struct x64dbg_piece {
	uint64_t mask;   /* of the slot's word, shifted; 0: the slot has nothing that is a register's */
	uint16_t off;    /* in struct x64dbg_regs */
	uint16_t more;   /* ordinal of another piece of the same slot, 0 for none */
	uint8_t shift;   /* bits */
	uint8_t len;     /* bytes */
	bool is_told;    /* a change is an effect */
	bool is_x87;     /* the tag word follows from it */
};

/* A run of bytes of the 'g' layout that the record holds. */
struct x64dbg_run {
	uint16_t off, len;
};

struct x64dbg_layout {
	unsigned width; /* bytes of a slot */
	unsigned n_slots;
	unsigned pc, sp;         /* slots */
	uint16_t pc_off, ftag_off, fop_off, fstat_off, st_off;
	bool has_fop;
	struct x64dbg_piece pieces[X64DBG_MAX_PIECES]; /* number i is the first one of slot i */
	struct x64dbg_run runs[X64DBG_MAX_RUNS];
	unsigned n_runs;
};

/*
 * The registers of the thread that runs now, in the 'g' layout; what the record does not have is not looked
 * at.
 */
struct x64dbg_regs {
	uint8_t g[X64DBG_MAX_G];
	uint8_t tag[2];   /* as recorded */
	uint8_t slack[8]; /* pieces are read and written in words */
};

/* Make the layout of x64 or x86 for the registers of @set. */
void x64dbg_layout_init(struct x64dbg_layout *l, bool is_64, const struct ts_regset *set);

/*
 * Take in the listed slots: @slots are @n ascending ordinals, @values as many words.  With @out, a register
 * that changed becomes a TS_FX_REG_WRITE there.  The program counter is kept up to date, but is no effect.
 */
void x64dbg_regs_take(struct x64dbg_regs *r, const struct x64dbg_layout *l, const uint8_t *slots, unsigned n,
		      const uint8_t *values, struct ts_steps *out);

/* All registers of the record as TS_FX_REG_WRITE. */
void x64dbg_regs_tell(const struct x64dbg_regs *r, const struct x64dbg_layout *l, struct ts_steps *out);

#endif
