/* SPDX-License-Identifier: MIT */
/*
 * The flags of x86 and AArch64.  Valgrind does not keep flags, but the last operation that set them, and its operands.
 */
#ifndef TS_RECORD_VEX_FLAGS_H
#define TS_RECORD_VEX_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#define TS_VEX_N_OPS_64 65u /* operations of 64-bit programs */
#define TS_VEX_N_OPS_32 40u /* of 32-bit programs, which have other numbers */
#define TS_VEX_N_OPS_ARM64 11u

/* The flags OF SF ZF AF PF CF of x86 after operation @op, less than TS_VEX_N_OPS_64. */
uint64_t ts_vex_flags(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep);

/* The number that operation @op of a 32-bit program has in 64-bit programs. */
uint64_t ts_vex_op_of_32(uint64_t op);

/* The flags N Z C V of AArch64, in bits 31 to 28, after operation @op, less than TS_VEX_N_OPS_ARM64. */
uint64_t ts_vex_flags_arm64(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep);

#endif
