/* SPDX-License-Identifier: MIT */
/*
 * The decoder of a line's instruction.  The code is from the line or from the program's file.
 * src/arch/operands decodes it.
 */
#ifndef LOADERS_GRAMMAR_DECODER_H
#define LOADERS_GRAMMAR_DECODER_H

#include <stdbool.h>
#include <stdint.h>

#include "insn.h"
#include "src/arch/operands/operands.h"
#include "src/object/image.h"
#include "src/trace/step.h"
#include "loaders/grammar/states.h"

#define GRAMMAR_MAX_MOVES 8u

/* A transfer of bytes [off, off + len) of memory operand `mem` from or to a register. */
struct grammar_move {
	uint64_t constant; /* of TS_WAY_PART, and the address of the next instruction */
	uint16_t off, len;
	uint16_t reg;      /* offset of the register in the 'g' layout */
	uint8_t mem;
	uint8_t way;       /* enum ts_way; the bytes are known for TS_WAY_COPY, _PART and _ZERO only */
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
	uint8_t cond_len, cond_code, condition; /* as in struct ts_operands */
	uint8_t n_mem, n;              /* the used items of mem and of moves */
	/* as masks: bit i is set if operand i is read, is written, is accessed without a condition */
	uint8_t reads, writes, always;
	bool is_known;    /* the instruction accesses no other memory */
	bool is_repeated;
	bool is_syscall;
	bool is_cut;      /* some addresses of its operands are unknown */
};

/* Set *m to the moves of the instruction @ops at @pc. */
void grammar_moves_take(struct grammar_moves *m, const struct ts_arch *arch, uint64_t pc, const struct ts_operands *ops);

/*
 * Reduce *m to the part that it has in common with @other.  Both are decodings of the same first bytes, whose
 * later bytes are unknown.  Constants and addresses may differ.
 *
 * Returns false if anything else differs.
 */
bool grammar_moves_keep_common(struct grammar_moves *m, const struct grammar_moves *other);

/*
 * Set missing values of effects of @fx.  With @kind TS_FX_WRITE, @state has the registers before the
 * instruction, and the values of stores are set; with TS_FX_READ, it has the registers after the instruction,
 * and the values of loads are set.  An access belongs to an operand that contains it; if the address of the
 * operand is unknown, to one of the same size.
 */
void grammar_moves_fill(const struct grammar_moves *m, const struct ts_op_state *state, enum ts_effect_kind kind,
			struct ts_steps *fx);

/*
 * Append the reads and writes of an instruction, computed from the registers @before it and from the
 * registers @after it (NULL: unknown).  Reads are hidden, because the instruction may have read other memory,
 * too.
 *
 * Returns false if the instruction may have written memory that is not known; TS_FX_UNSEEN is then appended.
 */
bool grammar_moves_append(const struct grammar_moves *m, const struct ts_op_state *before, const struct ts_op_state *after,
			struct ts_steps *out);

struct grammar_decoder;

/*
 * A decoder for the registers of @set and the code in @memory, both borrowed until grammar_decoder_free().
 *
 * Returns the decoder, which the caller frees with grammar_decoder_free().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct grammar_decoder *grammar_decoder_new(const struct ts_regset *set, const struct ts_image *memory,
					    struct ts_error *err);
void grammar_decoder_free(struct grammar_decoder *d);

/* Set *insn from the x86 instruction of the line.  *insn is unchanged if the code is unknown. */
void grammar_decoder_look(struct grammar_decoder *d, const struct grammar_line *line, struct grammar_insn *insn);

/*
 * The moves of the line's instruction between memory and registers.  @state has the registers before the
 * instruction, which select the instruction set of ARM.
 *
 * Returns the moves, valid until the next call.
 * Returns NULL if the code is unknown or cannot be decoded.
 */
const struct grammar_moves *grammar_decoder_moves(struct grammar_decoder *d, const struct grammar_line *line,
						  const struct ts_op_state *state);

#endif
