/* SPDX-License-Identifier: MIT */
/*
 * A parsed question: VERB [WHAT] [in A:B] [if COND] [thread T] [first N | last N] [at PLACE] [...].
 *
 * The parser uses the grammar and the recording's registers, symbols and marks; it answers no question.  It refuses a
 * question that it does not understand with a sentence that quotes the problem; it never guesses.
 */
#ifndef TS_ASK_QUESTION_H
#define TS_ASK_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cond.h"
#include "machine.h"
#include "place.h"
#include "src/base/error.h"
#include "value.h"
#include "what.h"

struct ts_ask;
struct ts_verb;

/* Rows of a question that are shown. */
enum ts_bound {
	TS_BOUND_NONE,
	TS_BOUND_FIRST,
	TS_BOUND_LAST,
};

/* The kind of an access, as a mask; in the order of the rows of one step. */
enum ts_did {
	TS_DID_READ = 1,
	TS_DID_WRITE = 2,
	TS_DID_EXEC = 4,
};

#define TS_MAX_WORD 1024
#define TS_NO_LIMIT UINT64_MAX

/* The places of a question, in the order of their search: the others are relative to the first one. */
enum ts_anchor_kind {
	TS_ANCHOR_AT,   /* at PLACE */
	TS_ANCHOR_FROM, /* A of `in A:B` ... */
	TS_ANCHOR_TO,   /* ... and B */
	TS_ANCHOR_MINUS_FROM, /* A of `minus A:B` ... */
	TS_ANCHOR_MINUS_TO,   /* ... and B */
	TS_N_ANCHORS,
};

struct ts_anchor {
	struct ts_ask_place place;
	const char *text;             /* borrowed, from the text of the question */
	size_t len;                   /* 0: the question does not have it */
};

struct ts_question {
	const struct ts_verb *verb;   /* borrowed: a constant table */
	struct ts_what what;          /* kind TS_WHAT_NONE if none was given */
	const char *local;            /* a WHAT that may be a variable of a function, borrowed from the question's text; ... */
	uint64_t local_take;          /* the number of bytes from its first one; 0: those of the variable */
	size_t local_len;             /* ... 0: none.  anchors.h resolves it; `what` is invalid until then */
	char local_note[384];         /* a sentence about the variable's place; "" without one */
	struct ts_value value;        /* of find */
	char operand[TS_MAX_WORD];    /* KIND (flows: of `to KIND`), NAME, PATTERN, FILE:LINE, or registers; "" without one */
	char text[TS_MAX_WORD];       /* of mark, "" without one */
	struct ts_ask_place place;        /* of goto */
	struct ts_anchor anchors[TS_N_ANCHORS]; /* anchors.h resolves them; at, from and to are invalid until then */
	uint64_t from, to;            /* positions of `in A:B`: from <= k < to; without one 0 and N + 1 */
	bool has_range;               /* `in A:B` was given ... */
	const char *range;            /* ... in these words, borrowed from the text of the question */
	size_t range_len;
	bool has_minus;               /* `minus A:B` was given: */
	uint64_t minus_from, minus_to; /* its positions, as those of `in A:B` */
	struct ts_machine machine;    /* process C, ring N */
	struct ts_cond cond;
	/* COND that only a debugger can compile, borrowed from the text; NULL if the server understands it */
	const char *foreign;
	size_t foreign_len;
	uint32_t thread;              /* ordinal; TS_NO_THREAD without one */
	enum ts_bound bound;
	uint64_t n_bound;             /* of first N and last N */
	uint64_t at;                  /* the question's position */
	bool only_changes;            /* --changes */
	bool is_partial;              /* --partial */
	bool goes;                    /* -go */
	unsigned accesses;            /* [r][w][x]: mask of enum ts_did; 0 without one */
	uint64_t depth;               /* depth N; TS_NO_LIMIT without one */
	uint64_t min;                 /* min N; TS_NO_LIMIT without one */
	bool by_address;              /* hot by address */
	bool is_tree;                 /* calls tree: for people, callees are indented by depth */
	bool is_branch;               /* why branch */
	bool only_inputs;             /* why ... inputs */
	bool with_addresses;          /* why ... addresses */
	uint64_t count;               /* hot N; TS_NO_LIMIT without one */
	bool has_equal;               /* compares ... == N: */
	uint64_t equal;               /* N; of a negative number, the 64 bits of its two's complement */
	struct ts_what memory;        /* find ... in memory ADDR:END; of kind NONE without one */
	char lcov[TS_MAX_WORD], drcov[TS_MAX_WORD]; /* paths of coverage, "" without one */
};

/* The part of a question that an argument gives. */
enum ts_argument_kind {
	TS_ARGUMENT_OPERAND, /* the operand of the verb */
	TS_ARGUMENT_KINDS,   /* [r][w][x] */
	TS_ARGUMENT_COUNT,   /* a bare N */
	TS_ARGUMENT_MEMORY,  /* in memory ADDR:END */
	TS_ARGUMENT_TEXT,    /* of a mark */
	TS_ARGUMENT_WORD,    /* a word of the grammar with its value, or alone */
};

/* One part of a question that is given in parts. */
struct ts_argument {
	enum ts_argument_kind kind;
	const char *word;  /* borrowed; for TS_ARGUMENT_WORD */
	const char *value; /* borrowed; "" if the word takes none */
};

/*
 * Parse @text, which must outlive @qn.
 *
 * On success @qn is filled, except the positions of its anchors.  Returns false if the question is not
 * understood (TS_EUSAGE).  If only a debugger can compile its condition, qn->foreign is set, with the verb and WHAT.
 * The caller must call ts_question_fini() in both cases.
 */
bool ts_question_parse(struct ts_question *qn, struct ts_ask *ask, const char *text, struct ts_error *err);

/*
 * Parse a question about @verb that consists of @n arguments, whose texts must outlive @qn.  A value is parsed
 * as a whole: words in it are never words of the grammar.
 *
 * Returns false if the question cannot be parsed (TS_EUSAGE), as ts_question_parse().
 */
bool ts_question_parse_arguments(struct ts_question *qn, struct ts_ask *ask, const struct ts_verb *verb,
				 const struct ts_argument *arguments, size_t n, struct ts_error *err);

void ts_question_fini(struct ts_question *qn);

#endif
