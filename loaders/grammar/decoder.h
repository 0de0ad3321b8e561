/* SPDX-License-Identifier: MIT */
/*
 * The decoder of instructions.  The code is from the line or from the program's file; src/arch/operands/operands decodes
 * it.
 */
#ifndef LOADERS_GRAMMAR_DECODER_H
#define LOADERS_GRAMMAR_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "insn.h"
#include "src/arch/operands/operands.h"
#include "src/object/image.h"
#include "src/trace/step.h"
#include "states.h"

#define GRAMMAR_MAX_MOVES 8u

/* Bytes [off, off + len) of memory operand @mem, and where they come from or go to. */
struct grammar_move {
	uint64_t constant; /* of TS_WAY_PART, and the address of the next instruction */
	uint16_t off, len;
	uint16_t reg;      /* offset in the layout */
	uint8_t mem;
	uint8_t way;       /* enum ts_way: TS_WAY_COPY, TS_WAY_PART, TS_WAY_ZERO; another one: the bytes are not known */
	uint8_t unit;      /* TS_WAY_PART: the first byte of the constant */
	bool is_store;
};

/* The memory operands of an instruction. */
struct grammar_moves {
	struct ts_op_mem mem[TS_MAX_OP_MEM];
	uint16_t sizes[TS_MAX_OP_MEM]; /* bytes of each operand, of all its registers */
	struct grammar_move moves[GRAMMAR_MAX_MOVES];
	uint64_t addr_mask, cond_mask;
	uint16_t cond_off;
	uint8_t cond_len, cond_code, condition; /* as of struct ts_operands */
	uint8_t n_mem, n;
	uint8_t reads, writes, always; /* bit i is set for operand i that is read, written, accessed without a condition */
	bool is_known;    /* all of the memory that it accesses is in its operands */
	bool is_repeated;
	bool is_syscall;
	bool is_cut;      /* addresses of its operands are not known */
};

/* The moves of @ops, the instruction at @pc. */
void grammar_moves_take(struct grammar_moves *m, const struct ts_arch *arch, uint64_t pc, const struct ts_operands *ops);

/*
 * Keep the common part of two decodings of the same first bytes, whose later bytes are unknown.  Constants and addresses may
 * differ.
 *
 * Returns false if anything else differs.
 */
bool grammar_moves_keep_common(struct grammar_moves *m, const struct grammar_moves *other);

/*
 * Fill in the values of stores among the effects of @fx that have none, by the registers before the instruction;
 * and those of loads, by the registers after it.  An access is one of an operand if it lies in it, or, where the
 * registers do not tell the operand's address, has its size.
 */
void grammar_moves_fill(const struct grammar_moves *m, const struct ts_op_state *state, enum ts_effect_kind kind,
			struct ts_steps *fx);

/*
 * Append the reads and writes of an instruction, computed from the registers @before it, and from the known registers @after
 * it.  Reads are hidden, because the instruction may have read other memory, too.
 *
 * Returns false if the instruction may have written unknown memory; then TS_FX_UNSEEN is appended.
 */
bool grammar_moves_tell(const struct grammar_moves *m, const struct ts_op_state *before, const struct ts_op_state *after,
			struct ts_steps *out);

struct grammar_decoder;

/*
 * A decoder for the registers of @set and the code that @memory holds, both borrowed.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct grammar_decoder *grammar_decoder_new(const struct ts_regset *set, const struct ts_image *memory,
					    struct ts_error *err);
void grammar_decoder_free(struct grammar_decoder *d);

/* Decode the x86 instruction of the line.  @insn is unchanged if its code is unknown. */
void grammar_decoder_look(struct grammar_decoder *d, const struct grammar_line *line, struct grammar_insn *insn);

/*
 * The moves of the line's instruction between memory and registers.  @state are the registers before it; they determine
 * ARM's instruction set.
 *
 * Returns the moves, valid until the next call; NULL if the code is unknown or cannot be decoded.
 */
const struct grammar_moves *grammar_decoder_moves(struct grammar_decoder *d, const struct grammar_line *line,
						  const struct ts_op_state *state);

#endif
