/* SPDX-License-Identifier: MIT */
/*
 * Recorded registers and gdb's.
 */
#ifndef LOADERS_RVNBINTRACE_REGS_H
#define LOADERS_RVNBINTRACE_REGS_H

#include "trace.h"

/*
 * Choose the register set, and the role of each recorded register.
 *
 * Returns false if the architecture's registers are not there or have other widths (TS_EUNSUPPORTED), are too
 * many (TS_ELIMIT), or memory is exhausted.
 */
bool rvn_choose_registers(struct rvn *rec, struct ts_error *err);

/* Compute gdb's x87 registers, in the order of the 'g' layout, from current values. */
#define RVN_N_ST    16
#define RVN_ST_LEN  10
#define RVN_X87_LEN (8 * RVN_ST_LEN + 8 * 4)
void rvn_make_x87(const struct rvn *rec, const uint8_t *kept, uint8_t out[RVN_X87_LEN]);

/* Offset of the i-th of them there, and its length. */
static inline uint32_t rvn_x87_at(unsigned i, uint32_t *len)
{
	*len = i < 8 ? RVN_ST_LEN : 4;
	return i < 8 ? i * RVN_ST_LEN : 8 * RVN_ST_LEN + (i - 8) * 4;
}

/* Are the registers recorded from which the i-th of them is computed? */
bool rvn_has_x87(const struct rvn *rec, unsigned i);

/* Append the effects of a register's new value; the program counter and x87 have none here. */
void rvn_tell_register(const struct rvn_reg *reg, const uint8_t *value, struct ts_steps *out);

/* The same where eight bytes can be read at @value: nearly all registers are a word. */
static inline void rvn_tell_padded(const struct rvn_reg *reg, const uint8_t *value, struct ts_steps *out)
{
	if (reg->role == RVN_PLAIN && reg->len == reg->g_len && reg->len <= 8)
		ts_steps_word(out, TS_FX_REG_WRITE, reg->off, value, reg->len);
	else
		rvn_tell_register(reg, value, out);
}

#endif
