/* SPDX-License-Identifier: MIT */
/*
 * Instructions of a line: by its code, or by that of the program, decoded by src/arch/operands/operands.
 */
#ifndef LOADERS_GRAMMAR_DECODER_H
#define LOADERS_GRAMMAR_DECODER_H

#include "insn.h"
#include "moves.h"
#include "src/object/image.h"

struct grammar_decoder;

/*
 * A decoder for the registers of @set and the code that @memory holds, both borrowed.
 *
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct grammar_decoder *grammar_decoder_new(const struct ts_regset *set, const struct ts_image *memory,
					    struct ts_error *err);
void grammar_decoder_free(struct grammar_decoder *d);

/* What the line's instruction of x86 is; @insn stays as it is if its code is not known. */
void grammar_decoder_look(struct grammar_decoder *d, const struct grammar_line *line, struct grammar_insn *insn);

/*
 * What the line's instruction moves between memory and registers, valid until the next call; @state are the registers
 * before it, which tell how ARM reads the code.
 *
 * Returns NULL if its code is not known, or cannot be decoded.
 */
const struct grammar_moves *grammar_decoder_moves(struct grammar_decoder *d, const struct grammar_line *line,
						  const struct ts_op_state *state);

#endif
