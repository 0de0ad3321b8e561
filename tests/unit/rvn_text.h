/* SPDX-License-Identifier: MIT */
/*
 * REVEN's traces as text, for tests; each line adds to the parts of a trace (rvn_encode.h).
 *
 *      arch arm1
 *      region 1000 00010203                   a region and its initial memory (+64: zeros)
 *      register 300 rbx/8=22                  id, name/bytes, and value at the start
 *      operation 10 rip + 1                   id, register, = + & or |, operand
 *      static cpuid_max_phy_addr 28           name, bytes
 *      event @1000=aabb rax=33 *10            an instruction: memory, registers, operations by their id
 *      interrupt page_fault @1002=99          what is not an instruction, and how it is called
 *
 * Numbers and bytes are hexadecimal, but for ids and lengths. A register's value is a number, or bytes in the
 * order of the file after a colon (zmm3/64=:ffff, and zeros up to its length). An interrupt's name has blanks
 * for underscores; "-" has none.
 */
#ifndef TS_TESTS_RVN_TEXT_H
#define TS_TESTS_RVN_TEXT_H

#include "rvn_encode.h"

/* Add what the lines of @text say to @p; the test fails where one is not understood. */
void rvn_add(struct rvn_parts *p, const char *text);

#endif
