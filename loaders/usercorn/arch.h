/* SPDX-License-Identifier: MIT */
/*
 * What a Usercorn trace means on each of its architectures: the names in the header, Unicorn's register
 * numbers, the registers that the tool records, and the form of system calls.
 *
 * No number of a general register has changed between the Unicorn releases since 2017, so one table serves
 * all.  Architectures that version 2 adds have the numbers of Unicorn 2.
 */
#ifndef LOADERS_USERCORN_ARCH_H
#define LOADERS_USERCORN_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"

/* Register numbers that the tables know are below this. */
#define UCIR_N_REGS 512

/*
 * Numbers @first..@last are the registers @base, @base + @step, ... of that name ("r%u"), or the one of that
 * name.
 */
struct ucir_reg_range {
	uint16_t first, last;
	const char *name; /* gdb's */
	uint8_t base, step;
	bool is_recorded; /* the tool records it: zero until the trace says otherwise */
};

struct ucir_arch {
	const char *name;  /* in the header of a trace */
	const char *model; /* tracestub's, in its usual byte order */
	bool is_one_order; /* exists in the usual order only */
	const struct ucir_reg_range *regs;
	size_t n_regs;
	uint16_t pc;      /* number of the program counter */
	const char *zero; /* the register that is always zero, NULL for none */
	uint8_t max_insn_len;
	uint8_t since;     /* the first version that has it */
	uint32_t exits[2]; /* Linux's numbers of exit and exit_group; before version 2 */
};

/* The architecture that a header of @version calls @name, NULL for an unknown one. */
const struct ucir_arch *ucir_arch_find(const char *name, unsigned version);

/* All names, for a message. */
const char *ucir_arch_names(unsigned version);

/* The destination of a register number's value. */
enum ucir_slot_kind {
	UCIR_SLOT_NONE, /* unknown, a part of another register, or not in the set */
	UCIR_SLOT_REG,
	UCIR_SLOT_PC,
	UCIR_SLOT_YMM, /* its lower half at off, the upper one at high */
};

struct ucir_slot {
	uint32_t off; /* in the 'g' layout */
	uint32_t high;
	uint16_t len;
	uint8_t kind; /* enum ucir_slot_kind */
	uint8_t gpr;  /* x86: the general register's place in the layout, from 1 on; 0: it is none */
	bool is_recorded;
};

/* The optional features of @model that have one of the registers whose numbers are set in @seen. */
uint32_t ucir_arch_features(const struct ucir_arch *arch, const struct ts_arch *model,
			    const bool seen[UCIR_N_REGS]);

/* Find the offset of each number in @set, of which the first @n_gprs registers are x86's general ones. */
void ucir_arch_slots(const struct ucir_arch *arch, const struct ts_regset *set,
		     uint32_t n_gprs, struct ucir_slot slots[UCIR_N_REGS]);

#endif
