/* SPDX-License-Identifier: MIT */
/* Registers by the numbers that debugging information has for them. */
#ifndef TS_ARCH_DWARF_REGS_H
#define TS_ARCH_DWARF_REGS_H

#include "arch.h"

/*
 * The index into set->regs of the register to which DWARF gives @number on the set's architecture.
 *
 * Returns -1 if no register has that number.
 * Returns -1 if this file has no DWARF numbers for the architecture.
 *
 * Sources: the psABIs of x86-64 (figure 3.36) and i386 (table 2.14), DWARF for the Arm 64-bit Architecture (4.1), DWARF for the
 * Arm Architecture (4.1), RISC-V's psABI (DWARF register numbers), MIPS' and PowerPC's psABIs.
 */
int ts_regset_by_dwarf(const struct ts_regset *set, unsigned number);

#endif
