/* SPDX-License-Identifier: MIT */
/*
 * Recorded registers as gdb's.
 */
#ifndef LOADERS_RVNBINTRACE_REGS_H
#define LOADERS_RVNBINTRACE_REGS_H

#include "trace.h"

/*
 * Choose the register set and the role of each recorded register.
 *
 * Returns false if a register of the architecture is missing or has another width (TS_EUNSUPPORTED).
 * Returns false if there are too many registers (TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool rvn_choose_registers(struct rvn *rec, struct ts_error *err);

/* Compute gdb's x87 registers, in the order of the 'g' layout, from current values. */
#define RVN_N_ST    16
#define RVN_ST_LEN  10
#define RVN_X87_LEN (8 * RVN_ST_LEN + 8 * 4)
void rvn_make_x87(const struct rvn *rec, const uint8_t *kept, uint8_t out[RVN_X87_LEN]);

/*
 * Returns the offset in the bytes of rvn_make_x87() of the i-th x87 register, and sets *len to its length in
 * bytes.
 */
static inline uint32_t rvn_x87_at(unsigned i, uint32_t *len)
{
	*len = i < 8 ? RVN_ST_LEN : 4;
	return i < 8 ? i * RVN_ST_LEN : 8 * RVN_ST_LEN + (i - 8) * 4;
}

/* Are the registers recorded from which the i-th x87 register is computed? */
bool rvn_has_x87(const struct rvn *rec, unsigned i);

/* Append the effects of a register's new value.  The program counter and x87 registers have none here. */
void rvn_append_register(const struct rvn_reg *reg, const uint8_t *value, struct ts_steps *out);

/* As rvn_append_register(), if eight bytes are readable at @value.  Nearly all registers are a word. */
static inline void rvn_append_padded(const struct rvn_reg *reg, const uint8_t *value, struct ts_steps *out)
{
	if (reg->role == RVN_PLAIN && reg->len == reg->g_len && reg->len <= 8)
		ts_steps_word(out, TS_FX_REG_WRITE, reg->off, value, reg->len);
	else
		rvn_append_register(reg, value, out);
}

#endif
