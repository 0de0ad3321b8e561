/* SPDX-License-Identifier: MIT */
/*
 * WHAT a question is about: a register or a part of one, or a range of memory.
 */
#ifndef TS_ASK_WHAT_H
#define TS_ASK_WHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/arch/arch.h"
#include "src/base/error.h"

struct ts_symbols;

enum ts_what_kind {
	TS_WHAT_NONE,
	TS_WHAT_REG,
	TS_WHAT_MEM,
};

struct ts_what {
	enum ts_what_kind kind;
	/*
	 * REG: bytes [off, off + len) of the 'g' layout; of a flag, bit @bit (0 the lowest) of the byte there
	 */
	uint32_t off;
	uint32_t len;
	bool is_flag;
	uint8_t bit;
	bool is_pc;           /* the register is the program counter, or a part of it */
	/* MEM: addresses, both inclusive */
	uint64_t addr, last;
	bool is_physical;     /* phys:ADDR: a physical address of a machine */
	bool is_code;         /* while parsing: functions take precedence over data of the same name */
	bool is_open;         /* a function whose end is unknown: what is its first byte */
	bool is_indirect;     /* an indirect function: addr is its resolver's address */
	bool is_inlined;      /* a function that was inlined at one place: addr is its first instruction there */
	bool is_named;        /* the text is, or begins with, a name */
	bool is_function;     /* the symbol of a function, as a whole: its executions are those of its first byte */
};

/*
 * Parse a WHAT: the first @len bytes of @text.  @symbols may be NULL: names are not known.
 *
 * Returns false if the text is not a WHAT (TS_EUSAGE); the message quotes it.
 */
bool ts_what_parse(struct ts_what *what, const char *text, size_t len, const struct ts_regset *regs,
		   struct ts_symbols *symbols, struct ts_error *err);

/* Can the text be a variable of a function, with members and indexes?  anchors.c finds it. */
bool ts_what_may_be_variable(const char *text, size_t len);

/* Is it FILE:LINE, a line of the source that has code? */
bool ts_what_is_line(const char *text, size_t len, struct ts_symbols *symbols);

/*
 * The address ranges of the code of FILE:LINE, for which ts_what_is_line() must have returned true.  At most @cap ranges
 * are stored: first addresses in @addrs, lengths in bytes in @lens.  Returns the number of ranges.
 */
size_t ts_what_line_ranges(const char *text, size_t len, struct ts_symbols *symbols, uint64_t *addrs, uint64_t *lens, size_t cap);

/*
 * As ts_what_parse(), for a question about code: functions take precedence over data of the same name.
 *
 * Returns false if the text is no WHAT (TS_EUSAGE); the message quotes it.
 */
bool ts_what_parse_code(struct ts_what *what, const char *text, size_t len, const struct ts_regset *regs,
			struct ts_symbols *symbols, struct ts_error *err);

/*
 * The register NAME (without the '$'), a part of one, or a flag.  Returns false if the set has no such register.
 */
bool ts_what_register(struct ts_what *what, const char *name, size_t len, const struct ts_regset *regs);

/* Bits of x86's eflags that have a name in questions. */
struct ts_flag_name {
	const char *name;
	uint8_t bit;
};
#define TS_N_FLAG_NAMES 7u
extern const struct ts_flag_name ts_flag_names[TS_N_FLAG_NAMES];

#endif
