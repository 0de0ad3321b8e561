/* SPDX-License-Identifier: MIT */
/*
 * Which registers and flags instructions write, as masks: a quick test before their operands are looked at.
 */
#ifndef TS_DOES_H
#define TS_DOES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/arch/operands/operands.h"

/*
 * An approximation of what instructions write: registers, as a mask of their numbers modulo 64; bits of the flags register;
 * is_branch: the address of the next instruction depends on data.
 */
struct ts_does {
	uint64_t regs;
	uint32_t flags;
	bool is_branch;
	bool lacks_code; /* an instruction is not known: the recording alone says what it wrote */
};

/* What an instruction writes. */
struct ts_does ts_does_of_operands(const struct ts_regset *set, const struct ts_operands *ops);

/*
 * The writes of a location: with @is_regs, bytes of registers (bit i of @mask: byte @base + i); else flags (@mask); with @mask 0,
 * a branch.
 */
struct ts_does ts_does_of_location(const struct ts_regset *set, bool is_regs, uint64_t base, uint64_t mask);

/* May what does @a write anything of @b? */
static inline bool ts_does_share(const struct ts_does *a, const struct ts_does *b)
{
	return a->regs & b->regs || a->flags & b->flags || (a->is_branch && b->is_branch);
}

#endif
