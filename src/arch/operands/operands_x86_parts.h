/* SPDX-License-Identifier: MIT */
/* Code that the files of the x86 decoder share.  Included by operands_x86*.c only. */
#ifndef TS_OPERANDS_X86_PARTS_H
#define TS_OPERANDS_X86_PARTS_H

#include <Zydis/Zydis.h>

#include "operands_parts.h"

/* An operand: at most two places, the second one of which follows the first in the register. */
struct ts_x86_operand {
	struct ts_op_place piece[2];
	uint8_t n;       /* pieces; 0: not in the layout */
	uint16_t size;   /* bytes */
	uint8_t order;
	bool is_read, is_written, is_constant;
	bool is_implicit; /* not in the text */
	uint64_t constant;
};

/* An instruction that is being decoded. */
struct ts_x86_work {
	const struct ts_decoder *d;
	struct ts_operands *ops;
	uint64_t pc;
	bool is_64;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand raw[ZYDIS_MAX_OPERAND_COUNT];
	struct ts_x86_operand op[ZYDIS_MAX_OPERAND_COUNT];
	unsigned n; /* operands, without those that are registers of the program counter and flags */
	uint32_t tested, written, zeroed; /* flags */
};

/* Flags that a program sees: CF PF AF ZF SF DF OF. */
#define TS_X86_STATUS_FLAGS UINT32_C(0xcd5)

/* The processor's numbers of registers. */
enum { TS_X86_AX = 0, TS_X86_SP = 4 };

/* The action of a rule of a mnemonic. */
struct ts_x86_rule {
	const char *name; /* of the mnemonic; vector instructions without their "v" */
	void (*make)(struct ts_x86_work *w, unsigned arg);
	unsigned arg;
};

/* General instructions (operands_x86_rules.c). */
extern const struct ts_x86_rule ts_x86_rules[];
extern const size_t ts_n_x86_rules;

/* Vectors (operands_x86_vector.c) and the x87 stack (operands_x87.c).  Sorted by name. */
extern const struct ts_x86_rule ts_x86_vector_rules[];
extern const size_t ts_n_x86_vector_rules;
extern const struct ts_x86_rule ts_x87_rules[];
extern const size_t ts_n_x87_rules;

/* Bytes [@to_at, @to_at + @len) of @to are made of [@from_at, ...) of @from, which are as many, or (MIX) @from_len. */
void ts_x86_carry(struct ts_x86_work *w, const struct ts_x86_operand *to, unsigned to_at, unsigned len,
		  const struct ts_x86_operand *from, unsigned from_at, unsigned from_len, enum ts_way way);

/* Append a transfer without a source place: bytes [@at, @at + @len) of @to become zeros, or as @way says. */
void ts_x86_fill(struct ts_x86_work *w, const struct ts_x86_operand *to, unsigned at, unsigned len,
		 enum ts_way way);

/* Append a transfer for the bytes above @to that the processor clears when it writes @to. */
void ts_x86_clear_above(struct ts_x86_work *w, const struct ts_x86_operand *to);

/* Append transfers: @to depends on all operands that are read. */
void ts_x86_mix_into(struct ts_x86_work *w, const struct ts_x86_operand *to);

/* Append transfers: each operand that is written depends on all operands that are read. */
void ts_x86_mix(struct ts_x86_work *w, unsigned arg);

/* The same for the flags that are written. */
void ts_x86_mix_flags(struct ts_x86_work *w);

/* Returns the immediate operand; 0 if the instruction has no immediate operand. */
uint64_t ts_x86_immediate(const struct ts_x86_work *w);

/*
 * Append a transfer; @order is the index of the operand in the instruction.  Returns it, borrowed from its operands; never NULL,
 * as ts_operands_add().
 */
struct ts_transfer *ts_x86_add(struct ts_x86_work *w, struct ts_op_place to, struct ts_op_place from,
			       enum ts_way way, unsigned order);

/* Append a transfer: @to depends on the flags that the instruction reads. */
void ts_x86_mix_tested(struct ts_x86_work *w, struct ts_op_place to);

/*
 * Returns the offset of a general register in the layout, and sets *len to its bytes; TS_NO_OFF16 for other
 * registers.
 */
uint16_t ts_x86_off_of(struct ts_x86_work *w, ZydisRegister reg, uint8_t *len);

/* Append the next operand of the instruction.  Fields that are not followed leave w->ops incomplete. */
void ts_x86_take_operand(struct ts_x86_work *w, const ZydisDecodedOperand *raw);

/* Note the status flags that the instruction tests, writes and sets to constants. */
void ts_x86_take_flags(struct ts_x86_work *w);

/* The operand that a vector instruction takes for its first source (the destination, or that of three), and its last one. */
unsigned ts_x86_first_source(const struct ts_x86_work *w);
unsigned ts_x86_last_source(const struct ts_x86_work *w);

/* A source of which the decoder says that less than the register takes part: all of it may. */
struct ts_x86_operand ts_x86_whole(const struct ts_x86_work *w, unsigned i);

/* Rules of instructions that move bytes to other lanes (operands_x86_shuffle.c). */
void ts_x86_make_align(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_blend(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_broadcast(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_halves(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_insert_element(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_insert_half(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_pack(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_pairs(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_permute(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_permute_lane(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_shift(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_shuffle(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_shuffle_bytes(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_shuffle_of_two(struct ts_x86_work *w, unsigned arg);
void ts_x86_make_unpack(struct ts_x86_work *w, unsigned arg);

/* Jumps: the next address is made of the target, or of the flags and registers that decide. */
void ts_x86_jump(struct ts_x86_work *w, unsigned arg);

#endif
