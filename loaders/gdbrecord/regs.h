/* SPDX-License-Identifier: MIT */
/*
 * Registers of gdb's recordings: the notes of a core file, and gdb's numbers in the log.
 *
 * Sources: Linux's elf_prstatus and user_regs_struct of each processor; the FSAVE, FXSAVE and XSAVE areas of
 * Intel's manual; gdb 13.1, amd64-tdep.h, i386-tdep.h, arch/arm.h, arch/aarch64.h for its numbers.
 */
#ifndef GDBRECORD_REGS_H
#define GDBRECORD_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"
#include "src/arch/arch.h"
#include "src/trace/step.h"

/* gdb's numbers are below this. */
#define REGS_N_NUMBERS 160u
#define REGS_ARM_CPSR  25u

/* The value of a register record of the log. */
struct regs_slot {
	uint16_t file_len; /* bytes in the log; 0: unknown, the rest of the log cannot be read */
	uint16_t len;      /* the number of leading bytes that are in the layout; 0: none */
	uint16_t off;      /* in the 'g' layout */
};

struct regs {
	struct regs_slot slots[REGS_N_NUMBERS];
	uint32_t pc; /* gdb's number of the program counter */
};

/*
 * Initialize @set as the register set of recordings of @arch.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool regs_set_init(struct ts_regset *set, const struct ts_arch *arch, struct ts_error *err);

/* Initialize @regs with gdb's numbers of the registers of @set. */
void regs_init(struct regs *regs, const struct ts_regset *set);

/*
 * Update @regs by gdb's target description, the text of a note: with SVE the vector registers of AArch64 are
 * larger.  A description that cannot be parsed is ignored.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool regs_describe(struct regs *regs, const struct ts_regset *set, const uint8_t *xml, size_t len,
		   struct ts_error *err);

/* Returns the id of the thread of a CORE/PRSTATUS note; 0 if the note is too short. */
uint64_t regs_tid(const struct core *core, struct ts_cursor note);

/*
 * Append the registers of a note as TS_FX_REG_WRITE: of a CORE/PRSTATUS note (regs_put_general()), or of any
 * other note.  A note of another kind has no registers.
 *
 * Return false, and append nothing, if the note is too short.
 */
bool regs_put_general(const struct core *core, const struct ts_regset *set, struct ts_cursor note,
		      struct ts_steps *out);
bool regs_put_note(const struct core *core, const struct ts_regset *set, const struct core_note *note,
		   struct ts_steps *out);

/* Returns the program counter of a CORE/PRSTATUS note, which must be long enough. */
uint64_t regs_pc(const struct core *core, const struct ts_regset *set, struct ts_cursor note);

#endif
