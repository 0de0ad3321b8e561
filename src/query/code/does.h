/* SPDX-License-Identifier: MIT */
/* An approximation of what instructions write, by which most instructions are passed over quickly. */
#ifndef TS_DOES_H
#define TS_DOES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/query/query.h"
#include "src/arch/operands/operands.h"

/*
 * Registers, as a mask of their numbers modulo 64; bits of the flags register; is_branch: the address of the next instruction
 * depends on data.
 */
struct ts_does {
	uint64_t regs;
	uint32_t flags;
	bool is_branch;
	bool lacks_code; /* the code of an instruction is unknown: only the recording has its effects */
};

/* Returns what an instruction with these operands writes. */
struct ts_does ts_does_of_operands(const struct ts_regset *set, const struct ts_operands *ops);

/*
 * Returns the struct ts_does of the writers of a location: with @is_regs bytes of registers (bit i of @mask: byte
 * @base + i), otherwise flags (@mask); with @mask 0, of branches.
 */
struct ts_does ts_does_of_location(const struct ts_query *q, bool is_regs, uint64_t base, uint64_t mask);

/* Have @a and @b a register, a flag or the branch in common? */
static inline bool ts_does_share(const struct ts_does *a, const struct ts_does *b)
{
	return a->regs & b->regs || a->flags & b->flags || (a->is_branch && b->is_branch);
}

#endif
