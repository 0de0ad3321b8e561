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

/* What a register record of the log holds. */
struct regs_slot {
	uint16_t file_len; /* bytes in the log; 0: unknown, the rest of the log cannot be read */
	uint16_t len;      /* the first of them that the layout has; 0: none */
	uint16_t off;      /* in the 'g' layout */
};

struct regs {
	struct regs_slot slots[REGS_N_NUMBERS];
	uint32_t pc; /* gdb's number of the program counter */
};

/*
 * Make the register set of a processor's recordings.
 *
 * Returns false if memory is exhausted.
 */
bool regs_set_init(struct ts_regset *set, const struct ts_arch *arch, struct ts_error *err);

/* gdb's numbers, for registers of @set. */
void regs_init(struct regs *regs, const struct ts_regset *set);

/*
 * gdb's description of its target, the text of a note: AArch64's vector registers are larger with SVE.  A
 * description that cannot be parsed says nothing.
 *
 * Returns false if memory is exhausted.
 */
bool regs_describe(struct regs *regs, const struct ts_regset *set, const uint8_t *xml, size_t len,
		   struct ts_error *err);

/* The id of a thread, as a CORE/PRSTATUS note has it; 0 if the note is too short. */
uint64_t regs_tid(const struct core *core, struct ts_cursor note);

/*
 * Registers of notes as TS_FX_REG_WRITE; notes of other kinds have none.
 *
 * Return false if the note is too short for them (nothing is appended).
 */
bool regs_put_general(const struct core *core, const struct ts_regset *set, struct ts_cursor note,
		      struct ts_steps *out);
bool regs_put_note(const struct core *core, const struct ts_regset *set, const struct core_note *note,
		   struct ts_steps *out);

/* The program counter of a CORE/PRSTATUS note, which is long enough for it. */
uint64_t regs_pc(const struct core *core, const struct ts_regset *set, struct ts_cursor note);

#endif
