/* SPDX-License-Identifier: MIT */
/*
 * The tag word of the x87 registers, which FXSAVE does not store in full (Intel's manual, volume 1,
 * 10.5.1.2).
 */
#ifndef LOADERS_KIT_X87_H
#define LOADERS_KIT_X87_H

#include <stdint.h>

#define X87_N_REGS  8u
#define X87_REG_LEN 10u

/*
 * Returns the tag word, with two bits for each physical register: 0 a valid number, 1 zero, 2 special, 3
 * empty.
 *
 * Bit p of @used is set if physical register p is in use.  @status is the status word, which has the top of
 * the stack.  @st are the registers st0 to st7, X87_REG_LEN bytes each.
 */
unsigned x87_full_tag(unsigned used, unsigned status, const uint8_t *st);

#endif
