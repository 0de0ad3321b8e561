/* SPDX-License-Identifier: MIT */
/*
 * Agent expressions: the bytecode in which gdb sends conditions, collections and dynamic printfs.
 *
 * An expression is checked once, when it is received, and evaluated whenever a breakpoint is hit.  The check
 * follows every path: every instruction lies within the code, a jump leads to the beginning of one, no path
 * runs past the end, and the stack has the same height on every path to an instruction, between 0 and
 * RSP_AX_MAX_STACK.  Requiring one height rejects no expression that gdb sends (gdb itself calls the others
 * malformed), reports errors at the insertion and not at a hit, and leaves no stack checks for the
 * evaluation.  Loops are legal, so a budget of steps ends them.
 *
 * An expression accesses the recording through struct rsp_ax_env.  Unknown is never zero: it ends the
 * evaluation.
 */
#ifndef RSP_AX_H
#define RSP_AX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ax_env.h"

struct rsp_args;

#define RSP_AX_MAX_STACK      100

enum rsp_ax_error {
	RSP_AX_OK,

	/* found by the check */
	RSP_AX_SYNTAX,      /* the packet does not hold "Xlen,hex" */
	RSP_AX_NO_MEMORY,
	RSP_AX_EMPTY,       /* no code at all */
	RSP_AX_BAD_OPCODE,
	RSP_AX_FLOAT,       /* an instruction on floating-point numbers; no debugger sends them */
	RSP_AX_TRUNCATED,   /* the last instruction's operands are missing */
	RSP_AX_BAD_JUMP,
	RSP_AX_NO_END,
	RSP_AX_UNDERFLOW,
	RSP_AX_OVERFLOW,
	RSP_AX_HEIGHT,      /* paths meet with different stacks */
	RSP_AX_BAD_FORMAT,
	RSP_AX_FLOAT_FORMAT, /* %f and its like: expressions have no floating-point numbers */

	/* found while evaluating */
	RSP_AX_NO_VALUE,    /* ended with an empty stack, where a value was needed */
	RSP_AX_DIVIDE,
	RSP_AX_UNKNOWN_REG,
	RSP_AX_UNKNOWN_MEM,
	RSP_AX_UNKNOWN_VAR,
	RSP_AX_NOT_SET,     /* a state variable that can't be set */
	RSP_AX_NOT_TRACED,  /* a collection of memory that was refused */
	RSP_AX_VAR_NOT_TRACED,
	RSP_AX_ENDLESS,     /* the budget is used up */
};

/* A checked expression; constant. */
struct rsp_ax;

/*
 * Copy and check @len bytes of code.
 *
 * Returns the expression, to be given back with rsp_ax_free(); NULL with the reason in *error.
 */
struct rsp_ax *rsp_ax_new(const uint8_t *code, size_t len, enum rsp_ax_error *error);
void rsp_ax_free(struct rsp_ax *ax);

/*
 * Take "Xlen,hex" out of a packet and check it.
 *
 * Returns the expression as rsp_ax_new() does; NULL with the reason in *error, and @a is bad if that is
 * RSP_AX_SYNTAX.
 */
struct rsp_ax *rsp_ax_parse(struct rsp_args *a, enum rsp_ax_error *error);

/* The code as received; *len gets its length. */
const uint8_t *rsp_ax_code(const struct rsp_ax *ax, size_t *len);

/*
 * Evaluate.
 *
 * @result, unless NULL, gets the top of the stack; an expression that only collects or prints has no result.
 *
 * Returns RSP_AX_OK or the error; *result is then untouched, but anything collected, printed or set before
 * stays.
 */
enum rsp_ax_error rsp_ax_eval(const struct rsp_ax *ax, const struct rsp_ax_env *env, uint64_t *result);

/* Is the cause that the recording does not know something, rather than a fault of the expression? */
bool rsp_ax_is_unknown(enum rsp_ax_error error);

/* A short text of the error, that of gdbserver if it has one. */
const char *rsp_ax_error_text(enum rsp_ax_error error);

#endif
