/* SPDX-License-Identifier: MIT */
/*
 * The mode of an x86 processor: the registers that decide how addresses are translated and which code runs, and
 * filters that admit some modes only.
 */
#ifndef TS_CPU_MODE_H
#define TS_CPU_MODE_H

#include <stdbool.h>
#include <stdint.h>

enum ts_mode_reg {
	TS_MODE_CR0,
	TS_MODE_CR3,
	TS_MODE_CR4,
	TS_MODE_EFER,
	TS_MODE_CS,
	TS_MODE_CS_SHADOW, /* the descriptor in cs */
};
#define TS_N_MODE_REGS (TS_MODE_CS_SHADOW + 1)

struct ts_mode {
	uint64_t regs[TS_N_MODE_REGS]; /* 0 where unknown */
	uint32_t known;                /* bit i: register i is known */
};

/* Is the register known?  Its value is mode->regs[reg]. */
static inline bool ts_mode_knows(const struct ts_mode *mode, enum ts_mode_reg reg)
{
	return mode->known >> reg & 1;
}

/* The code segment's size, from its descriptor and the processor's state. */
enum ts_code_size {
	TS_CODE_UNKNOWN,
	TS_CODE_16,
	TS_CODE_32,
	TS_CODE_64,
};

/* Returns the size of the code that the processor executes in this mode; TS_CODE_UNKNOWN if a register is unknown. */
enum ts_code_size ts_mode_code_size(const struct ts_mode *mode);

/*
 * The part of a recording that a user wants to see; both members may be set.  A position with an unknown mode does
 * not belong to it.
 */
struct ts_filter {
	bool has_root;
	uint64_t root;   /* the address space with this root of its page tables; low 12 bits are ignored */
	bool has_user;   /* privilege level 3 */
};

/* Does the filter admit positions with this mode?  Not if it depends on a register that is unknown. */
bool ts_filter_admits(const struct ts_filter *f, const struct ts_mode *mode);

#endif
