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

#include "src/arch/x86_insn.h"
#include "src/base/error.h"
#include "src/query/query.h"
#include "what.h"

#define TS_MAX_INPUTS    16u
#define TS_MAX_INSN_TEXT 96u

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
	bool is_branch; /* a conditional one */
	bool is_syscall; /* of a program: what it leaves comes from the system */
	uint32_t flags_written;
	char text[TS_MAX_INSN_TEXT]; /* of the instruction, "" if unknown */
};

/* An instruction that was decoded, and the chunks in which it has these bytes. */
struct ts_decoded {
	uint64_t pc;
	uint32_t process;
	uint64_t first_chunk, end_chunk; /* from the first on, below the end; 0 and 0: there is none */
	bool is_insn; /* these bytes are one */
	struct ts_x86 x86;
	struct ts_x86_insn insn;
	struct ts_x86_fields fields;
	char text[TS_MAX_INSN_TEXT]; /* "": not made yet */
	uint8_t bytes[TS_X86_MAX_INSN];
	size_t len;
};

#define TS_N_DECODED 1024u /* a power of two */

/* Where inputs are looked for. */
struct ts_inputs_from {
	struct ts_query *q; /* borrowed */
	struct ts_x86 x86;  /* where its registers lie, if ts_inputs_has_operands() */
	struct ts_decoded *decoded; /* owned; by pc: a loop has the same instructions again and again; NULL: no x86 */
};

/*
 * Fill @from, once for any number of steps: registers are found by their names.
 *
 * Returns false if memory is exhausted.
 */
bool ts_inputs_begin(struct ts_inputs_from *from, struct ts_query *q);
void ts_inputs_end(struct ts_inputs_from *from);

/*
 * The inputs of step @pos for what it wrote at @place; TS_WHAT_NONE: for whatever it did.
 *
 * Returns false if the trace cannot be read, or memory is exhausted.
 */
bool ts_inputs_find(struct ts_inputs *in, const struct ts_inputs_from *from, uint64_t pos,
		    const struct ts_what *place, struct ts_error *err);

/*
 * Of an x86 processor: only is_branch and flags_written of step @pos, which costs less.
 *
 * Returns false if the trace cannot be read.
 */
bool ts_inputs_glance(struct ts_inputs *in, const struct ts_inputs_from *from, uint64_t pos,
		      struct ts_error *err);

/* Has the recording a processor whose operands are known? */
bool ts_inputs_has_operands(const struct ts_query *q);

/* "$eax", or "0x1000,8". */
void ts_place_text(const struct ts_what *place, const struct ts_regset *set, char *text, size_t size);

#endif
