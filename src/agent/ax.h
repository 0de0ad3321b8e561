/* SPDX-License-Identifier: MIT */
/*
 * Agent expressions: the bytecode in which gdb sends conditions, collections and dynamic printfs.
 *
 * An expression is checked once, when it is received, and evaluated whenever a breakpoint is hit.  The check
 * follows every path: every instruction lies within the code, a jump leads to the beginning of one, no path
 * runs past the end, and the stack has the same height on every path to an instruction, between 0 and
 * TS_AX_MAX_STACK.  Requiring one height rejects no expression that gdb sends (gdb itself calls the others
 * malformed), reports errors at the insertion and not at a hit, and leaves no stack checks for the
 * evaluation.  Loops are legal, so a budget of steps ends them.
 *
 * An expression accesses the recording through struct ts_ax_env.  Unknown is never zero: it ends the
 * evaluation.
 */
#ifndef TS_AX_H
#define TS_AX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ax_env.h"

#define TS_AX_MAX_STACK      100

enum ts_ax_error {
	TS_AX_OK,

	/* found by the check */
	TS_AX_SYNTAX,      /* the packet does not hold "Xlen,hex" */
	TS_AX_NO_MEMORY,
	TS_AX_EMPTY,       /* no code at all */
	TS_AX_BAD_OPCODE,
	TS_AX_FLOAT,       /* an instruction on floating-point numbers; no debugger sends them */
	TS_AX_TRUNCATED,   /* the last instruction's operands are missing */
	TS_AX_BAD_JUMP,
	TS_AX_NO_END,
	TS_AX_UNDERFLOW,
	TS_AX_OVERFLOW,
	TS_AX_HEIGHT,      /* paths meet with different stacks */
	TS_AX_BAD_FORMAT,
	TS_AX_FLOAT_FORMAT, /* %f and its like: expressions have no floating-point numbers */

	/* found while evaluating */
	TS_AX_NO_VALUE,    /* ended with an empty stack, where a value was needed */
	TS_AX_DIVIDE,
	TS_AX_UNKNOWN_REG,
	TS_AX_UNKNOWN_MEM,
	TS_AX_UNKNOWN_VAR,
	TS_AX_NOT_SET,     /* a state variable that can't be set */
	TS_AX_NOT_TRACED,  /* a collection of memory that was refused */
	TS_AX_VAR_NOT_TRACED,
	TS_AX_ENDLESS,     /* the budget is used up */
};

/* A checked expression; constant. */
struct ts_ax;

/*
 * Copy and check @len bytes of code.
 *
 * Returns the expression; the caller frees it with ts_ax_free().
 * Returns NULL on failure, with the reason in *error.
 */
struct ts_ax *ts_ax_new(const uint8_t *code, size_t len, enum ts_ax_error *error);
void ts_ax_free(struct ts_ax *ax);

/* Returns the code as received, borrowed from @ax; *len is set to its length in bytes. */
const uint8_t *ts_ax_code(const struct ts_ax *ax, size_t *len);

/*
 * Evaluate.
 *
 * @result, unless NULL, is set to the top of the stack; an expression that only collects or prints has no
 * result.
 *
 * Returns TS_AX_OK or the error; *result is then untouched, but anything collected, printed or set before
 * stays.
 */
enum ts_ax_error ts_ax_eval(const struct ts_ax *ax, const struct ts_ax_env *env, uint64_t *result);

/* Returns true if the error is missing data in the recording, not a fault of the expression. */
bool ts_ax_is_unknown(enum ts_ax_error error);

/* Returns a short text of the error, a literal: that of gdbserver if it has one. */
const char *ts_ax_error_text(enum ts_ax_error error);

#endif
