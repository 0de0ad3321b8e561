/* SPDX-License-Identifier: MIT */
/*
 * What an instruction itself says of a line: where it may lead, and how large its accesses are, and of which
 * registers.  Only what text traces leave out is decoded here; src/arch/operands/operands knows the rest.
 */
#ifndef LOADERS_GRAMMAR_INSN_H
#define LOADERS_GRAMMAR_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/regmap.h"
#include "line.h"
#include "src/arch/arch.h"
#include "src/trace/step.h"

enum grammar_flow {
	GRAMMAR_FLOW_UNKNOWN,
	GRAMMAR_FLOW_NEXT,     /* to the next instruction */
	GRAMMAR_FLOW_BRANCH,   /* there, or to the target */
	GRAMMAR_FLOW_JUMP,     /* to the target */
	GRAMMAR_FLOW_CALL,     /* to the target */
	GRAMMAR_FLOW_CALL_ANY, /* anywhere but to the next instruction */
	GRAMMAR_FLOW_ANY,
	GRAMMAR_FLOW_SYSCALL,
};

/* Processors whose instructions are decoded here. */
enum grammar_family {
	GRAMMAR_OTHER,
	GRAMMAR_X86, /* by decoder.h */
	GRAMMAR_AARCH64,
	GRAMMAR_RISCV,
};

enum grammar_family grammar_family_of(const struct ts_arch *arch);

/* An instruction that a line shows. */
struct grammar_insn {
	uint8_t len;  /* bytes, 0: unknown */
	uint8_t flow; /* enum grammar_flow */
	uint8_t size; /* of each access, 0: unknown, or it has none */
	uint8_t n_values; /* registers that are stored or loaded, one an access */
	bool is_expanded; /* the line shows what the instruction expands to, not its bytes */
	bool is_store, is_load;
	bool is_push;     /* a call that pushes the address of the next instruction */
	bool has_step;    /* it is known how much is added to the base */
	int32_t step;     /* so much */
	uint64_t target;
	const struct regmap_slot *values[2]; /* NULL: zero */
	const struct regmap_slot *link; /* set to the address of the next instruction; NULL: none is */
	const struct regmap_slot *base; /* that gets @step added; NULL: none does */
};
_Static_assert(sizeof(struct grammar_insn) <= 64, "it is made and copied for each line");

/*
 * Look at the instruction of a line: at its code, or, where it has none, at its disassembly.
 */
void grammar_insn_look(const struct ts_arch *arch, enum grammar_family family, const struct regmap *map, const struct grammar_line *line,
		       struct grammar_insn *insn);

/* Can the instruction at @pc lead to @next? */
bool grammar_insn_leads(const struct grammar_insn *insn, uint64_t pc, uint64_t next);

/*
 * Append what the instruction writes without that the line lists it: the link register, the base of an access.
 * @listed are the effects of the line.
 */
void grammar_insn_write(const struct ts_arch *arch, const struct grammar_insn *insn, uint64_t pc,
			const struct ts_steps *listed, struct ts_steps *out);

/* Append that the registers which a system call returns values in are unknown, unless the line lists them. */
void grammar_insn_return(const struct ts_regset *set, const struct ts_steps *listed, struct ts_steps *out);

/*
 * Complete the accesses among the effects of @out from ordinal @n on, which are those of the line at @pc: sizes, and values that
 * are those of registers on the same line.
 */
void grammar_insn_complete(const struct ts_arch *arch, const struct grammar_insn *insn, uint64_t pc, struct ts_steps *out,
			   uint32_t n);

#endif
