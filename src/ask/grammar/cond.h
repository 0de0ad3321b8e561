/* SPDX-License-Identifier: MIT */
/*
 * The condition of a question: `value == 5`, `$rax > 3 && *(u32 *)0x404010 != 0`.
 *
 * A condition on variables needs a debugger to locate them: the debugger compiles the condition to an agent
 * expression (src/agent), which is the term `agent HEX@ADDR`.  The location of a variable depends on the pc, so the
 * expression is valid at one address, and is evaluated there (state.c).
 */
#ifndef TS_ASK_COND_H
#define TS_ASK_COND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "what.h"

struct ts_ax;

enum ts_compare {
	TS_COMPARE_EQ,
	TS_COMPARE_NE,
	TS_COMPARE_LT,
	TS_COMPARE_LE,
	TS_COMPARE_GT,
	TS_COMPARE_GE,
};

enum ts_term_kind {
	TS_TERM_VALUE,  /* the row's `new` */
	TS_TERM_RESULT, /* of a call */
	TS_TERM_REG,
	TS_TERM_MEM,
	TS_TERM_AGENT, /* holds if the expression is not 0 */
};

/* One comparison. */
struct ts_term {
	enum ts_term_kind kind;
	enum ts_compare compare;
	bool is_signed;        /* the number has a minus, or the type is signed */
	uint64_t number;       /* in two's complement */
	struct ts_what place;  /* REG and MEM: 1, 2, 4 or 8 bytes of memory */
	bool has_base;         /* MEM: the address of place is an offset from the value of register base */
	struct ts_what base;
	struct ts_ax *agent;   /* owned by the condition; AGENT */
	uint64_t addr;         /* AGENT with has_addr: the pc at which the expression is evaluated */
	bool has_addr;
	bool ends_and;         /* "||" follows: ends a group of terms that must all hold */
};

#define TS_MAX_TERMS 16u

/* n == 0: no condition; it always holds. */
struct ts_cond {
	struct ts_term terms[TS_MAX_TERMS];
	unsigned n;
	bool is_about_value;   /* it has one term, about the row's value */
	bool has_addresses;    /* a term has_addr */
	bool has_result;       /* a term is about the result of a call */
};

/*
 * Parse the condition in the @len bytes at @text.  The caller must call ts_cond_fini() in both cases.
 *
 * Returns false if the text is no condition (TS_EUSAGE); the message quotes it.
 */
bool ts_cond_parse(struct ts_cond *cond, const char *text, size_t len, const struct ts_regset *regs,
		   struct ts_symbols *symbols, struct ts_error *err);

void ts_cond_fini(struct ts_cond *cond);

/*
 * Does @value, a number of @bits (1 to 64) bits, satisfy the term?  In a comparison with a negative number, the result of
 * a call that fills only the lower half of its register is a number of half the length.
 */
bool ts_term_holds(const struct ts_term *term, uint64_t value, unsigned bits);

#endif
