/* SPDX-License-Identifier: MIT */
/*
 * The registers of a processor of QEMU, found without its headers: their values, and how they differ.
 *
 * What cannot be found is not recorded, and named.  How they are found is another matter in each build:
 * regs7.c, regs9.c; regs.c has what they share.
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
	_Alignas(8) uint8_t places[TS_MAX_REGS * 8]; /* those that are compared in runs */
	uint32_t sources[TS_MAX_SOURCED][TS_MAX_SOURCES]; /* what registers were made from that are asked for */
	uint8_t told_it;
	uint8_t block[TS_MAX_BLOCK]; /* the part of the processor's object that has the vector registers */
	uint8_t it;                  /* ARM: ITSTATE */
};

/*
 * Find the registers of @guest in @cpu, the calling thread's.  @missing is set to the names of those that
 * are not recorded.
 *
 * Returns NULL on success, else why nothing can be recorded.
 */
const char *ts_regs_find(const struct ts_guest *guest, void *cpu, char *missing, size_t n_missing);

/* Bytes that the differences of one instruction can have as ops. */
#define TS_REGS_ROOM (TS_MAX_REGS * (5u + TS_MAX_REG_LEN))

/*
 * The registers in @groups (bits 1 << enum ts_group) that differ from @v, as ops at @p; @v is brought up to
 * date.
 *
 * Returns the byte after them, and adds their number to *n_ops.
 */
uint8_t *ts_regs_changes(void *cpu, struct ts_values *v, unsigned groups, uint8_t *p, uint32_t *n_ops);

/* All of them as ops at @p, for a keyframe.  Room: TS_REGS_ROOM. */
uint8_t *ts_regs_all(void *cpu, struct ts_values *v, uint8_t *p, uint32_t *n_ops);

/* The register of number @num in a recording as it is now; 0 if it is not one that can be read so. */
uint64_t ts_regs_get(void *cpu, uint16_t num);

/* Its value at the last comparison. */
uint64_t ts_regs_last(const struct ts_values *v, uint16_t num);

/* AArch64: x0..x30 by their encoding; 31 is the zero register. */
uint64_t ts_regs_get_x(void *cpu, unsigned x);

/* ARM: the IT bits after an instruction, of which @it_byte is the low byte if it is an `it`, else -1. */
void ts_regs_advance_it(struct ts_values *v, int it_byte);

#define TS_ARM_CPSR 3

/* The same bits into @cpsr: QEMU has cleared them when the callback of an instruction runs. */
void ts_regs_put_it(const struct ts_values *v, uint8_t cpsr[4]);

/* Add the name of what cannot be recorded to @missing, which has room for @n bytes. */
void ts_regs_name_missing(const struct ts_reg_range *range, char *missing, size_t n);

#endif
