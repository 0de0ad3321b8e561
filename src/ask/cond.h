/* SPDX-License-Identifier: MIT */
/*
 * The condition of a question: `value == 5`, `$rax > 3 && *(u32 *)0x404010 != 0`.
 */
#ifndef TS_ASK_COND_H
#define TS_ASK_COND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "what.h"

enum ts_compare {
	TS_COMPARE_EQ,
	TS_COMPARE_NE,
	TS_COMPARE_LT,
	TS_COMPARE_LE,
	TS_COMPARE_GT,
	TS_COMPARE_GE,
};

enum ts_term_kind {
	TS_TERM_VALUE, /* the row's `new` */
	TS_TERM_REG,
	TS_TERM_MEM,
};

/* One comparison. */
struct ts_term {
	enum ts_term_kind kind;
	enum ts_compare compare;
	bool is_signed;        /* the number has a minus, or the type is signed */
	uint64_t number;       /* in two's complement */
	struct ts_what place;  /* REG and MEM: 1, 2, 4 or 8 bytes of memory */
	bool ends_and;         /* "||" follows: the terms since the last such one are all to hold */
};

#define TS_MAX_TERMS 16u

/* n == 0: no condition, which always holds. */
struct ts_cond {
	struct ts_term terms[TS_MAX_TERMS];
	unsigned n;
	bool is_about_value;   /* it has one term, about the row's value */
};

/*
 * Parse a condition that is the @len bytes at @text.
 *
 * Returns false if it is not understood (TS_EUSAGE): the sentence quotes it.
 */
bool ts_cond_parse(struct ts_cond *cond, const char *text, size_t len, const struct ts_regset *regs,
		   const struct ts_symbols *symbols, struct ts_error *err);

/* Does the number of @bits (1 to 64) bits satisfy the term? */
bool ts_term_holds(const struct ts_term *term, uint64_t value, unsigned bits);

#endif
