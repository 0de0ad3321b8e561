/* SPDX-License-Identifier: MIT */
/* Code that the decoders of the families share.  Included by operands*.c only. */
#ifndef TS_OPERANDS_PARTS_H
#define TS_OPERANDS_PARTS_H

#include "operands.h"
#include "src/arch/x86_insn.h"

#define TS_N_X87 8u

/* The library that takes instructions of other processors apart (operands_cs.h). */
struct ts_capstone;

struct ts_x86_rule;

struct ts_decoder {
	const struct ts_regset *set;
	uint16_t flags_off;
	/* NULL: instructions of this processor are not decoded */
	bool (*decode)(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		       size_t len, struct ts_operands *ops);
	bool (*text)(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		     size_t len, char *buf, size_t size);
	struct ts_capstone *cs; /* owned; NULL for x86 */
	struct ts_x86 x86;
	/* owned; x86: rules of mnemonics that were looked up, in two categories; NULL: none was */
	const struct ts_x86_rule **rules;
	uint16_t st[TS_N_X87], fctrl, fstat;
};

/* @d is of an x86 processor. */
void ts_operands_x86_init(struct ts_decoder *d);

/* The kinds of places: bytes [off, off + len) of the layout; bits of the flags register; no place; the pc. */
static inline struct ts_op_place ts_op_reg(uint16_t off, unsigned len)
{
	return (struct ts_op_place){ .kind = TS_AT_REG, .off = off, .len = (uint16_t)len };
}

/* Returns the place of the flags. */
static inline struct ts_op_place ts_op_flags(uint32_t flags)
{
	return (struct ts_op_place){ .kind = TS_AT_FLAGS, .flags = flags };
}

/* Returns the place of a constant, or of a value that is not stored. */
static inline struct ts_op_place ts_op_nowhere(void)
{
	return (struct ts_op_place){ .kind = TS_AT_NOWHERE };
}

/* Returns the place of the address of the next instruction. */
static inline struct ts_op_place ts_op_pc(void)
{
	return (struct ts_op_place){ .kind = TS_AT_PC };
}

#endif
