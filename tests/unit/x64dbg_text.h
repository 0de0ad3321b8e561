/* SPDX-License-Identifier: MIT */
/*
 * x64dbg's blocks as text, for tests.
 *
 *      x64                                    the head of a usual trace; x86 likewise
 *      full 1000 8803 bx=2000 @2000=11>22     a block with all registers, those not named are 0: pc, bytes
 *      step 1002 90 ax=1 tid=c8               a block with the registers that are named
 *      step 1003 90 tid?=c8                   the thread id is there, but not announced
 *      user 80 {"threads": []}                a plugin's block: type, text
 *      damage                                 a byte 7f, which begins no block
 *
 * Registers are ax cx dx bx sp bp si di and flags, of 64 bits also r8 to r15, or #N for a slot by its number.
 * A memory slot is @ADDRESS=OLD or @ADDRESS=OLD>NEW. Numbers are hexadecimal, but for those of registers and
 * slots. A full block has thread id 64 if it names no other.
 */
#ifndef TS_TESTS_X64DBG_TEXT_H
#define TS_TESTS_X64DBG_TEXT_H

#include "src/base/collections/buf.h"

/* Append the trace that the lines of @text are; the test fails where one is not understood. */
void x64dbg_text(struct ts_buf *file, const char *text);

#endif
