/* SPDX-License-Identifier: MIT */
/*
 * Facts that follow from the instruction of a line: its possible successors, and the size and the registers
 * of its accesses.  Only facts that text traces omit are decoded here.  src/arch/operands decodes the
 * operands.
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
	GRAMMAR_FLOW_BRANCH,   /* to the next instruction or to the target */
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

/* Returns the family of @arch; GRAMMAR_OTHER: the grammar decodes none of its instructions. */
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
	bool has_step;    /* step is known */
	int32_t step;     /* the number that is added to the base register */
	uint64_t target;
	const struct regmap_slot *values[2]; /* NULL: zero */
	const struct regmap_slot *link; /* set to the address of the next instruction; NULL: none */
	const struct regmap_slot *base; /* the register to which @step is added, or NULL */
};
_Static_assert(sizeof(struct grammar_insn) <= 64, "it is made and copied for each line");

/*
 * Set *insn from the instruction of a line: from its code, or from its disassembly if the line has no code.
 */
void grammar_insn_look(const struct ts_arch *arch, enum grammar_family family, const struct regmap *map, const struct grammar_line *line,
		       struct grammar_insn *insn);

/* Can the instruction at @pc lead to @next? */
bool grammar_insn_leads(const struct grammar_insn *insn, uint64_t pc, uint64_t next);

/*
 * Append the register writes that follow from the instruction and are not in @listed, the effects of the
 * line: the link register, the base register of an access.
 */
void grammar_insn_write(const struct ts_arch *arch, const struct grammar_insn *insn, uint64_t pc,
			const struct ts_steps *listed, struct ts_steps *out);

/*
 * Append that the result registers of a system call are unknown, unless they are in @listed, the effects of
 * the line.
 */
void grammar_insn_return(const struct ts_regset *set, const struct ts_steps *listed, struct ts_steps *out);

/*
 * Complete the accesses of the line at @pc, which are the effects of @out from ordinal @n on: set their
 * sizes, and set values from the registers on the same line.
 */
void grammar_insn_complete(const struct ts_arch *arch, const struct grammar_insn *insn, uint64_t pc, struct ts_steps *out,
			   uint32_t n);

#endif
