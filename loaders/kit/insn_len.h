/* SPDX-License-Identifier: MIT */
/* Lengths of x86 instructions in formats that record no code. */
#ifndef TS_KIT_INSN_LEN_H
#define TS_KIT_INSN_LEN_H

#include <stdint.h>

#include "src/trace/step.h"

/*
 * The length of the instruction at @from, which led to @to, a few bytes above it, if it is a call.  A call
 * wrote its return address, which is above @from and at most @to, in the open step of @out.
 *
 * Returns the length in bytes.
 * Returns 0 if the step wrote no such word: the instruction is not a call.
 */
uint16_t ts_insn_len_of_call(const struct ts_steps *out, uint64_t from, uint64_t to);

#endif
