/* SPDX-License-Identifier: MIT */
/*
 * Tags of x87 registers, which FXSAVE leaves out (Intel's manual, volume 1, 10.5.1.2).
 */
#ifndef LOADERS_KIT_X87_H
#define LOADERS_KIT_X87_H

#include <stdint.h>

#define X87_N_REGS  8u
#define X87_REG_LEN 10u

/*
 * The tag word of two bits a register: 0 a valid number, 1 zero, 2 special, 3 empty.
 *
 * @used: bit p is set if physical register p is in use; @status: the status word, with the top of the stack;
 * @st: st0 to st7, X87_REG_LEN bytes each.
 */
unsigned x87_full_tag(unsigned used, unsigned status, const uint8_t *st);

#endif
