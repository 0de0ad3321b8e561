/* SPDX-License-Identifier: MIT */
/*
 * Code that is shared by the decoders that use libcapstone: registers by name, and transfers between operands.
 * Only operands_cs.c, operands_decoder.c and the families' files include it.
 *
 * Version 4 of capstone reports wrong accesses (cs_operand.access) for many instructions, comparisons and stores
 * among them.  The families' files decide by the mnemonic instead.
 */
#ifndef TS_OPERANDS_CS_H
#define TS_OPERANDS_CS_H

#include <capstone/capstone.h>

#include "operands_parts.h"

#define TS_CS_MAX_REGS 640u

/* The place in the layout of a register of capstone. */
struct ts_cs_reg {
	uint16_t off;  /* of its lowest byte in the layout; TS_NO_OFF16: not in the layout */
	uint8_t len;   /* bytes; 0: not a register of the layout */
	uint8_t whole; /* bytes of the register whose low part it is; a write clears the bytes above it */
	bool is_zero;  /* reads as zero, and writes to it are ignored */
};

struct ts_capstone {
	csh handle, thumb; /* thumb: 0 if the family has none */
	cs_insn *insn;     /* owned */
	cs_insn *other;    /* owned; for instructions that are decoded only to set the library's state */
	struct ts_cs_reg regs[TS_CS_MAX_REGS];
};

/* An instruction that is being decoded. */
struct ts_cs_work {
	const struct ts_decoder *d;
	const struct ts_capstone *cs;
	struct ts_operands *ops;
	const cs_insn *insn;
	bool is_conditional; /* all transfers happen if the instruction's condition holds */
	unsigned order;      /* the index of the source operand */
};

/* The instruction traps, and its effects are not known.  Returns true. */
static inline bool ts_cs_trap(struct ts_cs_work *w)
{
	w->ops->flow = TS_OP_TRAP;
	w->ops->is_complete = false;
	return true;
}

/*
 * Open the library for @d, which decodes by @decode, and set the places of the registers for which @find returns true.
 *
 * Returns false if memory is exhausted.
 */
bool ts_cs_init(struct ts_decoder *d, cs_arch arch, cs_mode mode, bool has_thumb,
		bool (*find)(const struct ts_regset *set, const char *name, struct ts_cs_reg *reg), __typeof__(d->decode) decode);
void ts_cs_free(struct ts_capstone *cs);

/*
 * Decode the bytes at @pc, and begin the work on the instruction: set @w, and the length in @ops.  The instruction is borrowed
 * from the decoder until the next call.
 *
 * Returns false if the bytes are not an instruction.
 */
bool ts_cs_begin(struct ts_cs_work *w, const struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes,
		 size_t len, struct ts_operands *ops);
/* As ts_decoder_text().  Returns false if the bytes are no instruction, or the text does not fit @size. */
bool ts_cs_text(struct ts_decoder *d, struct ts_op_mode mode, uint64_t pc, const uint8_t *bytes, size_t len,
		char *buf, size_t size);

/* Returns the place of capstone's register @reg; len is 0 if the layout does not have it. */
struct ts_cs_reg ts_cs_reg(const struct ts_cs_work *w, unsigned reg);

/*
 * Set *reg to the low @len bytes of the layout's register @name.  Returns false if the layout does not have
 * it.
 */
bool ts_cs_place(const struct ts_regset *set, const char *name, unsigned len, struct ts_cs_reg *reg);

/* Returns bytes [@at, @at + @len) of a register, counted from its lowest byte. */
struct ts_op_place ts_cs_part(const struct ts_cs_work *w, const struct ts_cs_reg *r, unsigned at, unsigned len);

/* Append a transfer of the instruction.  Returns it, borrowed from its operands; never NULL, as ts_operands_add(). */
struct ts_transfer *ts_cs_add(struct ts_cs_work *w, struct ts_op_place to, struct ts_op_place from, enum ts_way way);

/* Append a transfer: @to depends on all bytes of @from.  A zero register is a constant. */
void ts_cs_mix(struct ts_cs_work *w, struct ts_op_place to, const struct ts_cs_reg *from);

/* Append transfers: the low @n bytes of register @to are those of @from, and the bytes above are zero. */
void ts_cs_copy(struct ts_cs_work *w, const struct ts_cs_reg *to, const struct ts_cs_reg *from, unsigned n);

/* Append a transfer: the register becomes @value. */
void ts_cs_constant(struct ts_cs_work *w, const struct ts_cs_reg *to, uint64_t value);

/* The instruction is a direct call, which leads to @target. */
void ts_cs_call(struct ts_cs_work *w, uint64_t target);

/* Append a transfer: the bytes above @to, in the register whose low part it is, become zero. */
void ts_cs_clear_above(struct ts_cs_work *w, const struct ts_cs_reg *to);

/* Add a memory operand of @size bytes at @base (len 0: no register) plus @disp.  Returns its index. */
unsigned ts_cs_add_mem(struct ts_cs_work *w, const struct ts_cs_reg *base, int64_t disp, unsigned size);

/* Returns bytes [@off, @off + @len) of memory operand @mem. */
struct ts_op_place ts_cs_mem(unsigned mem, unsigned off, unsigned len);

/*
 * Append transfers between a register and @n bytes of memory operand @mem from @off on.  A load fills the
 * bytes above with zeros, or with the sign if @is_signed.
 */
void ts_cs_load(struct ts_cs_work *w, const struct ts_cs_reg *to, unsigned mem, unsigned off, unsigned n,
		bool is_signed);
void ts_cs_store(struct ts_cs_work *w, unsigned mem, unsigned off, const struct ts_cs_reg *from, unsigned n);

/* Does the mnemonic begin with @word (ts_cs_begins()), or is it @word (ts_cs_is())? */
bool ts_cs_begins(const struct ts_cs_work *w, const char *word);
bool ts_cs_is(const struct ts_cs_work *w, const char *word);

/* Is the mnemonic one of @words, which are separated by blanks? */
bool ts_cs_is_one_of(const struct ts_cs_work *w, const char *words);

/* ARM: vldN and vstN, whose operand @memory is the one in memory. */
void ts_operands_arm_elements(struct ts_cs_work *w, bool is_thumb, unsigned memory);

/* AArch64: shuffles of vectors.  Returns false if it is not one. */
bool ts_operands_a64_shuffle(struct ts_cs_work *w);

/* Prepare the decoder for a family.  Return false if capstone cannot be opened for it. */
bool ts_operands_a64_init(struct ts_decoder *d);
bool ts_operands_arm_init(struct ts_decoder *d);
bool ts_operands_mips_init(struct ts_decoder *d);
bool ts_operands_riscv_init(struct ts_decoder *d);

#endif
