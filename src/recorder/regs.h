/* SPDX-License-Identifier: MIT */
/*
 * The registers of QEMU's processor: their values and changes, without QEMU's headers.
 *
 * A register that cannot be found is not recorded; its name is reported.  regs7.c finds registers in QEMU 7.2, regs9.c in
 * QEMU 9.2; regs.c has the shared part.
 */
#ifndef TS_RECORDER_REGS_H
#define TS_RECORDER_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest.h"
#include "out.h"

#define TS_MAX_REGS 96u
#define TS_MAX_REG_LEN 32u
#define TS_MAX_BLOCK 8448u
#define TS_MAX_SOURCED 4u
#define TS_MAX_SOURCES 24u

/* The values that a thread's registers had when they were compared last. */
struct ts_values {
	_Alignas(8) uint8_t of[TS_MAX_REGS][TS_MAX_REG_LEN];
	_Alignas(8) uint8_t places[TS_MAX_REGS * 8]; /* of the registers that are compared in runs */
	uint32_t sources[TS_MAX_SOURCED][TS_MAX_SOURCES]; /* the words from which QEMU computes some registers */
	uint8_t told_it;
	uint8_t block[TS_MAX_BLOCK]; /* the part of the processor's object that has the vector registers */
	uint8_t it;                  /* ARM: ITSTATE */
};

/*
 * Find the registers of @guest in @cpu, the processor of the calling thread.  @missing is set to the names of registers
 * that are not recorded.
 *
 * Returns NULL on success.
 * Returns the reason, a literal, if the processor cannot be recorded.
 */
const char *ts_regs_find(const struct ts_guest *guest, void *cpu, char *missing, size_t n_missing);

/* The maximum length of the ops for one instruction's register changes. */
#define TS_REGS_ROOM (TS_MAX_REGS * (5u + TS_MAX_REG_LEN))

/*
 * Write the registers in @groups (bits 1 << enum ts_group) that differ from @v as ops at @p, and update @v.  Their number
 * is added to *n_ops.
 *
 * Returns the address after the ops, in the caller's bytes.
 */
uint8_t *ts_regs_changes(void *cpu, struct ts_values *v, unsigned groups, uint8_t *p, uint32_t *n_ops);

/*
 * Write all registers as ops at @p, of at most TS_REGS_ROOM bytes, for a keyframe, and add their number to *n_ops.
 *
 * Returns the address after the ops, in the caller's bytes.
 */
uint8_t *ts_regs_all(void *cpu, struct ts_values *v, uint8_t *p, uint32_t *n_ops);

/* The current value of the register with number @num in a recording.  Returns 0 if it cannot be read. */
uint64_t ts_regs_get(void *cpu, uint16_t num);

/* Its value at the last comparison. */
uint64_t ts_regs_last(const struct ts_values *v, uint16_t num);

/* ARM: the IT bits after an instruction, of which @it_byte is the low byte if it is an `it`, else -1. */
void ts_regs_advance_it(struct ts_values *v, int it_byte);

#define TS_ARM_CPSR 3

/* Insert the IT bits into @cpsr, because QEMU clears them before an instruction's callback. */
void ts_regs_put_it(const struct ts_values *v, uint8_t cpsr[4]);

/* Append the name of a register that cannot be recorded to @missing, a buffer of @n bytes. */
void ts_regs_name_missing(const struct ts_reg_range *range, char *missing, size_t n);

#endif
