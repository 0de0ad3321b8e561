/* SPDX-License-Identifier: MIT */
/*
 * What the value that a step wrote was made of: the data inputs of its instruction.
 *
 * On x86 the instruction's operands tell; for other processors the memory and the registers that the
 * recording says were read.
 */
#ifndef TS_ASK_INPUTS_H
#define TS_ASK_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/query/insns.h"
#include "what.h"

#define TS_MAX_INPUTS 16u

struct ts_input {
	struct ts_what place; /* kind TS_WHAT_NONE: a constant */
	uint64_t constant;
	bool has_constant; /* else a constant that is what was written */
	bool is_unknown;   /* no constant: memory whose address is not known */
};

struct ts_inputs {
	struct ts_input items[TS_MAX_INPUTS]; /* in the order of the operands */
	unsigned n;
	bool is_known;  /* false: nothing tells */
	bool is_syscall; /* of a program: what it leaves comes from the system */
	char text[TS_MAX_INSN_TEXT]; /* of the instruction, "" if unknown */
	uint8_t code_len;            /* its bytes; 0 if unknown */
	uint8_t code[TS_X86_MAX_INSN];
};

/*
 * The inputs of step @pos for what it wrote at @place; TS_WHAT_NONE: for whatever it did.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_inputs_find(struct ts_inputs *in, struct ts_query *q, uint64_t pos, const struct ts_what *place,
		    struct ts_error *err);

/* "$eax", or "0x1000,8". */
void ts_place_text(const struct ts_what *place, const struct ts_regset *set, char *text, size_t size);

#endif
