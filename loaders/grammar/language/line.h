/* SPDX-License-Identifier: MIT */
/*
 * The fields of a matched line of a text trace, and the state of the matcher.
 */
#ifndef LOADERS_GRAMMAR_LINE_H
#define LOADERS_GRAMMAR_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "grammar.h"
#include "loaders/kit/regmap.h"
#include "src/trace/step.h"

#define GRAMMAR_MAX_CODE 32u /* QEMU's OBJD-T lines have as many bytes */

/* The fields that a line has. */
enum grammar_has {
	HAS_PC = 1u << 0,
	HAS_THREAD = 1u << 1,
	HAS_CODE = 1u << 2,
	HAS_MODULE = 1u << 3,
	HAS_OFFSET = 1u << 4,
	HAS_BASE = 1u << 5,
	HAS_LAST = 1u << 6,
	HAS_LENGTH = 1u << 7,
	HAS_TEXT = 1u << 8,
	/* of items */
	HAS_REG = 1u << 16,
	HAS_VALUE = 1u << 17,
	HAS_ADDRESS = 1u << 18,
	HAS_SIZE = 1u << 19,
	HAS_BYTES = 1u << 20,
	HAS_PICTURE = 1u << 21,
};
#define HAS_ITEM (HAS_REG | HAS_VALUE | HAS_ADDRESS | HAS_SIZE | HAS_BYTES | HAS_PICTURE)

struct grammar_span {
	const char *text; /* borrowed from the line */
	size_t len;
};

/* Digits of a value. */
struct grammar_digits {
	struct grammar_span span;
	uint64_t number; /* the value, if is_plain */
	bool is_plain;   /* at most 16 hex digits, and nothing else */
};

/* The fields of a line, without its effects. */
struct grammar_line {
	enum grammar_kind kind;
	uint8_t pattern;    /* ordinal of the pattern that matches, GRAMMAR_MAX_PATTERNS: none */
	uint32_t has;       /* enum grammar_has */
	uint8_t says;       /* enum grammar_say */
	uint8_t pc_digits;
	uint64_t pc, thread, offset, base, last, length;
	uint8_t code[GRAMMAR_MAX_CODE]; /* in the order of memory */
	uint8_t n_code;
	bool is_head;       /* more code may follow */
	struct grammar_span module, text;
	struct grammar_span image; /* hex digits of the bytes of a module; text NULL: none */
	unsigned n_regs;    /* registers whose name is known and whose value fits */
	unsigned n_before_pc; /* registers before the program counter, if it is listed among them */
	unsigned n_unknown; /* registers whose name is not known */
	unsigned n_accesses; /* accesses, also those that cannot be read */
	unsigned n_bad;     /* values and accesses that cannot be read */
	unsigned n_skipped; /* words that match no item */
	struct grammar_span unknown; /* the first name that is not known */
	bool is_damaged;    /* of GRAMMAR_NOISE: the line begins like a step */
};

/* A name of a register that was looked up: the text that begins with it and the character after it. */
struct grammar_recent {
	uint64_t text, mask; /* eight bytes in the order of memory, and 0xff for each byte that is compared */
	const struct regmap_slot *slot; /* NULL: the entry is empty */
	uint8_t len;
	char prefix;
};
#define GRAMMAR_N_RECENT 64u

struct grammar_matcher {
	const struct grammar *g;   /* borrowed */
	const struct regmap *map;  /* borrowed */
	const struct ts_regset *set; /* borrowed */
	uint64_t mask;             /* of addresses */
	bool is_big, is_code_big;
	int narrow; /* the feature whose registers hold values of fewer digits in their low bytes, -1: none */
	/* of the line that is matched */
	const char *p; /* for grammar_take_picture() */
	const char *end;
	struct ts_steps *out;
	struct grammar_line *line;
	unsigned reached; /* elements of the last pattern that was tried */
	bool is_damaged;  /* the line begins like a step or a state */
	/* of the item that is matched */
	const struct regmap_slot *slot;
	struct grammar_digits value, bytes;
	struct grammar_span name;
	uint64_t address, size;
	uint8_t time, access, order;
	/* the access of the last picture in earlier lines of the same step or state: 1 + enum grammar_access; 0: no picture */
	uint8_t pictured;
	bool is_unused, is_unknown;
	struct grammar_recent recent[GRAMMAR_N_RECENT]; /* by a hash of the first characters */
};

#endif
