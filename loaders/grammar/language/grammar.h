/* SPDX-License-Identifier: MIT */
/*
 * A grammar: the form and the meaning of the lines of a text trace.  tracestub-grammar(7) describes the language.
 *
 * A grammar is compiled once, into arrays of fixed size, which match.c reads for each line.  A pattern is a sequence of
 * elements.  They are matched from left to right in one pass; the matcher goes back only if an optional group fails.
 */
#ifndef LOADERS_GRAMMAR_GRAMMAR_H
#define LOADERS_GRAMMAR_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

#define GRAMMAR_MAX_LEN      65536u /* bytes of a grammar file */
#define GRAMMAR_MAX_PATTERNS 128u
#define GRAMMAR_MAX_ELEMENTS 2048u  /* of all patterns together */
#define GRAMMAR_MAX_TEXTS    16384u /* bytes of all literals and names */
#define GRAMMAR_MAX_LISTS    8u
#define GRAMMAR_MAX_NAMES    256u
#define GRAMMAR_MAX_ARCHS    12u
#define GRAMMAR_MAX_FOLLOW   6u     /* literals at which a text may end */
#define GRAMMAR_MAX_NESTING  4u     /* of optional groups */

/* Kind of a line. */
enum grammar_kind {
	GRAMMAR_STEP,   /* an instruction and its effects */
	GRAMMAR_STATE,  /* registers before an instruction; begins a state */
	GRAMMAR_JOIN,   /* begins a state, or joins one that has no registers yet */
	GRAMMAR_EFFECT, /* adds to the step or state before it */
	GRAMMAR_NEXT,   /* adds to the one after it */
	GRAMMAR_CODE,   /* bytes of an instruction, valid from here */
	GRAMMAR_LOAD,   /* a module appears */
	GRAMMAR_UNLOAD,
	GRAMMAR_GAP,    /* code that is not listed ran here */
	GRAMMAR_EVENT,  /* an exception or an interrupt */
	GRAMMAR_UNDO,   /* the previous step or state did not happen */
	GRAMMAR_REFUSE, /* begins like a step but is another line; a trace with such lines is refused */
	GRAMMAR_SKIP,   /* this line and the following ones are ignored, up to a TAKE, a step or a state */
	GRAMMAR_TAKE,
	GRAMMAR_PREFIX, /* an optional prefix of every line */
	GRAMMAR_NOTE,   /* a line that is not used */
	GRAMMAR_ITEM,   /* an alternative of an item list */
	GRAMMAR_NOISE,  /* no pattern matches */
};

enum grammar_element {
	EL_LITERAL, /* `n` bytes of texts at `at` */
	EL_AHEAD,   /* `n` bytes of texts at `at`, which must follow and are not consumed */
	EL_BLANKS,
	EL_OPTION,  /* the next `n` elements are optional */
	EL_LIST,    /* items of list `at`, up to one of the literals of the follow set */
	EL_SAY,     /* `arg`: enum grammar_say */
	EL_PC,
	EL_ADDRESS, /* `arg`: enum grammar_access */
	EL_VALUE,   /* `arg`: GRAMMAR_WORDS or 0 */
	EL_BYTES,   /* `arg`: enum grammar_order */
	EL_CODE,    /* `arg`: enum grammar_order */
	EL_HEX,
	EL_DEC,
	EL_SIZE,    /* decimal number of bytes; with `n` that number, without text on the line */
	EL_THREAD,  /* `arg`: the base of the number */
	EL_OFFSET,
	EL_BASE,
	EL_LAST,    /* the last address of a module */
	EL_LENGTH,
	EL_REG,     /* `arg`: enum grammar_time; `n`: a letter before its digits, or 0 */
	EL_SET,     /* the register whose name is `n` bytes of texts at `at` */
	EL_IMAGE,   /* bytes of a module, to the end of the line */
	EL_WORD,
	EL_MODULE,  /* as EL_TEXT */
	EL_TEXT,    /* up to one of the literals of its follow set */
	EL_REST,    /* to the end of the line */
	EL_PICTURE, /* 16 bytes, the rightmost first; `arg`: enum grammar_picture */
};

enum grammar_access {
	GRAMMAR_READ,
	GRAMMAR_WRITE,
	GRAMMAR_ACCESS, /* read or written: unknown which */
	GRAMMAR_BY_INSN, /* read or written: the instruction decides */
};

enum grammar_picture {
	GRAMMAR_PICTURE_READ,
	GRAMMAR_PICTURE_WRITE,
	GRAMMAR_PICTURE_AGAIN, /* the same access as the picture on the previous line */
};

enum grammar_order {
	GRAMMAR_MEMORY, /* digits in the order of the bytes in memory */
	GRAMMAR_NUMBER, /* digits of a number, the most significant first */
	GRAMMAR_HEAD,   /* of a number of the first bytes only, without leading zeros */
	GRAMMAR_LOADED, /* of the number in the register after the load: extended */
	GRAMMAR_WORDS,  /* of a number in groups with a blank between them */
};

enum grammar_time {
	GRAMMAR_AFTER,
	GRAMMAR_BEFORE,
};

/* Facts about the step that an element states, as bits. */
enum grammar_say {
	GRAMMAR_NO_EFFECT = 1, /* the instruction's condition failed */
	GRAMMAR_TRAP = 2,      /* the instruction did not complete */
	GRAMMAR_INTERRUPT = 4, /* first instruction of an interrupt's handler */
	GRAMMAR_UNKNOWN_VALUE = 8, /* the register has changed, to a value that the item does not have */
	GRAMMAR_UNUSED = 16,   /* the item is read, but not used */
	GRAMMAR_THUMB = 32,    /* code of 8 digits is two halfwords */
};

struct grammar_follow {
	struct {
		uint32_t at;
		uint32_t len;
	} literals[GRAMMAR_MAX_FOLLOW];
	uint8_t n;
	bool may_end; /* the line may end there */
	bool is_last; /* the text ends at the last such literal of the line, not at the first */
	uint16_t min; /* the smallest number of characters of the text */
	uint64_t firsts[4]; /* the first characters of the literals, a bit each */
};

struct grammar_part {
	uint8_t kind; /* enum grammar_element */
	uint8_t arg;
	uint16_t n;
	uint32_t at;
	uint16_t follow; /* of EL_TEXT, EL_MODULE, EL_LIST: ordinal in follows */
	uint32_t place;  /* offset in the grammar's file */
	uint64_t word, mask; /* of a literal: its first bytes, up to eight, and 0xff for each of them */
};

/* The shapes of the most frequent items, which match.c matches as a whole. */
enum grammar_shape {
	GRAMMAR_ANY_SHAPE,
	GRAMMAR_REG_SHAPE,    /* [literal] [blanks] reg [blanks] [literal] value */
	GRAMMAR_ACCESS_SHAPE, /* [literal] address [literal bytes] */
};

struct grammar_pattern {
	uint8_t kind; /* enum grammar_kind */
	uint8_t list; /* of an item: its list */
	uint16_t first, n; /* its elements */
	uint16_t line;     /* of the grammar's file */
};

/* A literal of at most eight bytes, or none. */
struct grammar_short {
	uint64_t word, mask; /* its bytes, and 0xff for each of them */
	uint8_t len;
};

/* An item in the form for match.c, without the blanks with which each item of its list begins. */
struct grammar_item {
	uint16_t first, n;
	uint8_t shape; /* enum grammar_shape */
	/* valid if shape is not GRAMMAR_ANY_SHAPE */
	uint8_t arg;   /* of its register or address */
	char prefix;   /* of its register */
	bool has_blanks, has_more_blanks; /* before and after its register */
	bool has_bytes;
	uint8_t order; /* of the bytes */
	struct grammar_short before, between; /* literals at its beginning, and before the value or the bytes */
};

#define GRAMMAR_MAX_ITEMS 64u /* of a list */

struct grammar_list {
	uint32_t at, len; /* its name, a text */
	uint32_t place;   /* offset in the grammar's file at which the list is named first */
	uint8_t n;
	bool has_blanks;  /* each item begins with blanks; offsets are from the first character after them */
	uint8_t tell[2];  /* offsets in an item of the two characters that distinguish items best */
	uint64_t by[2][256]; /* by the character at tell[0] or tell[1]: bit i is set if item i may match */
	uint16_t patterns[GRAMMAR_MAX_ITEMS];
	struct grammar_item items[GRAMMAR_MAX_ITEMS];
};

/* A statement NAME=REGISTER.BYTESz for an architecture, or a NAME that is ignored. */
struct grammar_name {
	uint32_t at, len;     /* "NAME=...", a text */
	uint32_t arch, arch_len; /* 0: of all */
	uint16_t line, column;   /* of the grammar's file */
};

enum grammar_missing {
	GRAMMAR_UNCHANGED,
	GRAMMAR_UNKNOWN,
	GRAMMAR_ZERO, /* zero in a thread's first state, unchanged later */
};

struct grammar {
	char name[32];
	char summary[128];
	char archs[GRAMMAR_MAX_ARCHS][16];
	unsigned n_archs;
	bool is_state;            /* lines are states, not steps */
	bool is_open_end;         /* the last line has no line end */
	bool is_complete;         /* the writer lists every instruction that runs */
	bool has_all_changes;     /* every register that an instruction changes is listed */
	bool is_sized_by_insn;    /* accesses have the size of the instruction's */
	bool has_registers;
	bool has_reads;
	bool has_accesses;
	bool has_thread;
	bool has_code;
	bool has_skips;
	uint8_t missing;          /* enum grammar_missing */
	char thread_word[16];     /* "hart", "CPU" */
	char lacks[160];          /* what the format does not record, for users; "": nothing */
	char refusal[200];        /* the reason for which a trace with REFUSE lines is refused */
	uint32_t sign, sign_len;  /* a text that the first lines of such a trace have; 0: none */
	uint32_t begin, begin_len; /* a file with these first bytes is one; 0: none */
	int prefix;               /* ordinal of the pattern that every line may begin with, -1: none */
	unsigned probe_bits, probe_lines;
	struct grammar_pattern patterns[GRAMMAR_MAX_PATTERNS];
	unsigned n_patterns;
	struct grammar_part parts[GRAMMAR_MAX_ELEMENTS];
	unsigned n_parts;
	struct grammar_follow follows[GRAMMAR_MAX_PATTERNS];
	unsigned n_follows;
	struct grammar_name names[GRAMMAR_MAX_NAMES];
	unsigned n_names;
	uint64_t starts[256][2];  /* by the first byte of a line: a bit for each pattern that may match */
	struct grammar_list lists[GRAMMAR_MAX_LISTS];
	unsigned n_lists;
	char texts[GRAMMAR_MAX_TEXTS]; /* not terminated */
	uint32_t n_texts;
	uint64_t hash; /* of the file's bytes */
};

/*
 * Compile the @len bytes of a grammar file at @text.
 *
 * Returns false if the text is not a grammar (TS_EUSAGE; the sentence has the line and the column).
 */
bool grammar_compile(struct grammar *g, const char *text, size_t len, struct ts_error *err);

/* A built-in grammar. */
struct grammar_text {
	const char *name;
	const char *text; /* terminated */
	/*
	 * Texts, each followed by a newline.  The head of a trace of this grammar contains at least one of them; the
	 * grammar is compiled only if it does.  "": no such text is known.
	 */
	const char *tells;
};

/* All built-in grammars, sorted by name; the last element has the name NULL.  embed.awk generates it from dialects/. */
extern const struct grammar_text grammar_texts[];

/*
 * Returns the built-in grammar called @name, a constant.
 * Returns NULL if no grammar has this name.
 */
const struct grammar_text *grammar_find(const char *name);

#endif
