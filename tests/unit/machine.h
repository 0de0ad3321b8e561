/* SPDX-License-Identifier: MIT */
/*
 * Made-up recordings of a whole machine: one x86 processor, physical memory, page tables written by hand.
 *
 * Effects go to the recording's initial state or to its next step, in the order of the calls.
 */
#ifndef TS_TESTS_MACHINE_H
#define TS_TESTS_MACHINE_H

#include <stdint.h>

#include "script.h"

/* Bits of control registers and of table entries. */
#define CR0_PE (UINT64_C(1) << 0)
#define CR0_PG (UINT64_C(1) << 31)
#define CR4_PSE (UINT64_C(1) << 4)
#define CR4_PAE (UINT64_C(1) << 5)
#define CR4_LA57 (UINT64_C(1) << 12)
#define EFER_LMA (UINT64_C(1) << 10)
#define SHADOW_L (UINT64_C(1) << 53)
#define SHADOW_D (UINT64_C(1) << 54)
#define PTE_P UINT64_C(1)
#define PTE_LARGE (UINT64_C(1) << 7)
#define PTE_NX (UINT64_C(1) << 63)

#define USER_CS 0x33
#define KERNEL_CS 0x10

/*
 * An x86_64 machine without steps, whose registers are all unknown.  Physical addresses have @phys_bits bits.
 */
struct script *machine_new(uint8_t phys_bits);

/* Register @name is now @value; memory at the physical address @addr is now the low @len bytes of @value. */
void machine_reg(struct ts_steps *to, const struct script *s, const char *name, uint64_t value);
void machine_put(struct ts_steps *to, uint64_t addr, uint64_t value, unsigned len);

/* Initial registers of four-level paging in 64-bit code, with the tables at @cr3. */
void machine_long_mode(struct script *s, uint64_t cr3);

/* The step whose effects were added is over. */
void machine_step(struct script *s, uint64_t pc);

#endif
