/* SPDX-License-Identifier: MIT */
/*
 * The flags of x86 and AArch64 from what Valgrind keeps instead of them: the last operation that set them, and its operands.
 */
#ifndef TS_RECORD_VEX_FLAGS_H
#define TS_RECORD_VEX_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#define TS_VEX_N_OPS_64 65u /* operations of 64-bit programs */
#define TS_VEX_N_OPS_32 40u /* of 32-bit programs, which have other numbers */
#define TS_VEX_N_OPS_ARM64 11u

/* OF SF ZF AF PF CF of operation @op, less than TS_VEX_N_OPS_64, on its operands. */
uint64_t ts_vex_flags(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep);

/* The number that operation @op of a 32-bit program has in 64-bit programs. */
uint64_t ts_vex_op_of_32(uint64_t op);

/* The same of AArch64: N Z C V, bits 31 to 28, of operation @op, less than TS_VEX_N_OPS_ARM64. */
uint64_t ts_vex_flags_arm64(uint64_t op, uint64_t dep1, uint64_t dep2, uint64_t ndep);

#endif
