/* SPDX-License-Identifier: MIT */
/*
 * Verbs: each is an entry of a table, and a cursor over the rows that answer a question.
 *
 * README says how to add one.  A cursor returns rows in
 * the verb's own order, or (if the verb is_reversible and the caller requests it) in the opposite order.  The driver of the
 * cursor (answer.h) implements the common part of all verbs: first N, last N, counting, the end.  The cursor applies the
 * filters (in A:B, thread T, if COND, --changes), because it can skip what they exclude.
 */
#ifndef TS_ASK_VERB_H
#define TS_ASK_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "row.h"
#include "src/base/error.h"
#include "src/query/query.h"
#include "src/search/budget.h"

struct ts_marks;
struct ts_names;
struct ts_process_names;
struct ts_question;
struct ts_regview;
struct ts_symbols;

/* The number of positions that back remembers. */
#define TS_MAX_BACK ((size_t)1024)

/*
 * The recording and the position of questions.  One for each session; members are borrowed, unless marked
 * otherwise.
 */
struct ts_ask {
	struct ts_query *q;
	const struct ts_names *names; /* the ids of threads and processes for clients */
	const struct ts_process_names *process_names; /* of a machine's processes; NULL: none are known */
	struct ts_symbols *symbols; /* NULL: none are known */
	struct ts_marks *marks;     /* NULL: marks are not available */
	bool may_write_files;       /* the question comes from the command line: it may name files to write */
	/* the client's register numbers in agent expressions; NULL: the recording's */
	const struct ts_regview *view;
	uint64_t n_steps;           /* N: the part of the recording that questions cover */
	const char *const *folders; /* more folders to search for source files, terminated by NULL; NULL: none */
	bool is_reading;            /* a part of the trace has not been read yet */
	bool has_here;              /* a session with a position; else the verb's default is used */
	uint64_t here;
	bool has_frame;             /* PLACE `frame`: a trace frame is selected ... */
	uint64_t frame;             /* ... and its position */
	uint64_t *shown;            /* owned; PLACE `#R`: the positions of the most recent table */
	size_t n_shown;
	/* positions that goto left, the newest before at_back; then, after back, those after it (ts_ask_move()) */
	uint64_t back[TS_MAX_BACK + 1];
	size_t n_back, at_back;
};

/* The type of a column, which determines how its cells are printed. */
enum ts_column_type {
	TS_COLUMN_NUMBER,
	TS_COLUMN_ADDR,
	TS_COLUMN_TEXT,
	TS_COLUMN_SHARE,
	TS_COLUMN_LIST,
	TS_COLUMN_VALUE,  /* the value of a place: in JSON an additional field NAME_bytes has its bytes */
	TS_COLUMN_AMOUNT, /* a number as a text, or bytes, or unknown */
};

struct ts_column {
	const char *name;
	enum ts_column_type type;
	bool is_kept; /* the text form prints the column even if all of its cells are empty */
};

/* The words that a verb accepts. */
enum ts_takes {
	TS_TAKES_RANGE = 1 << 0,    /* in A:B */
	TS_TAKES_COND = 1 << 1,     /* if COND about the row's value */
	TS_TAKES_STATE = 1 << 2,    /* if COND about registers and memory */
	TS_TAKES_THREAD = 1 << 3,
	TS_TAKES_BOUND = 1 << 4,    /* first N, last N */
	TS_TAKES_AT = 1 << 5,
	TS_TAKES_CHANGES = 1 << 6,
	TS_TAKES_GO = 1 << 7,
	TS_TAKES_KINDS = 1 << 8,    /* [r][w][x] */
	TS_TAKES_DEPTH = 1 << 9,
	TS_TAKES_MIN = 1 << 10,
	TS_TAKES_BY = 1 << 11,      /* by address */
	TS_TAKES_MEMORY = 1 << 12,  /* in memory ADDR:END */
	TS_TAKES_FILES = 1 << 13,   /* --lcov FILE, --drcov FILE */
	TS_TAKES_COUNT = 1 << 14,   /* a bare N */
	TS_TAKES_BRANCH = 1 << 15,  /* the word branch in place of WHAT, inputs, addresses */
	TS_TAKES_REST = 1 << 16,    /* a text up to the end */
	TS_TAKES_RESULT = 1 << 17,  /* if COND may be about the result of a call */
	TS_TAKES_TREE = 1 << 18,    /* the word tree */
	TS_TAKES_EQUAL = 1 << 19,   /* == N */
	TS_TAKES_TO = 1 << 20,      /* to KIND, of flows */
	TS_TAKES_MINUS = 1 << 21,   /* minus A:B, of coverage */
	TS_TAKES_MACHINE = 1 << 23, /* process C, ring N: about the row's position */
	TS_TAKES_PHYSICAL = 1 << 22, /* WHAT may be phys:ADDR */
};

/* The operand of a verb. */
enum ts_operand {
	TS_OPERAND_NONE,
	TS_OPERAND_WHAT,          /* required */
	TS_OPERAND_WHAT_OR_NONE,
	TS_OPERAND_MEMORY,        /* a WHAT that is not a register */
	TS_OPERAND_MEMORY_OR_NONE,
	/* a WHAT that is code, or a FILE:LINE with several ranges: then what.kind is TS_WHAT_NONE and the text is in operand */
	TS_OPERAND_CODE_OR_NONE,
	TS_OPERAND_VALUE,
	TS_OPERAND_KIND_OR_NONE,  /* of events */
	TS_OPERAND_PLACE,
	TS_OPERAND_NAME,          /* of a mark */
	TS_OPERAND_REGISTERS_OR_NONE, /* names of registers, with or without '$' */
	TS_OPERAND_CALLEE_OR_NONE, /* a WHAT, or a PATTERN: then what.kind is TS_WHAT_NONE and the text is in operand */
};

struct ts_rows;

/* The functions of a verb's cursor. */
struct ts_rows_ops {
	/* The size of the verb's struct, which begins with a struct ts_rows; 0: the caller owns it. */
	size_t size;
	/*
	 * Begin to answer rows->qn; the rest of the struct is zero.  May be NULL.
	 *
	 * Returns false if the question makes no sense here (TS_EUSAGE).
	 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
	 * Returns false if memory is exhausted (TS_ENOMEM).
	 * After a failure close() is called.
	 */
	bool (*begin)(struct ts_rows *rows, struct ts_error *err);
	/* Fill @row, which is empty, with the next row. */
	enum ts_next (*next)(struct ts_rows *rows, struct ts_row *row, struct ts_budget *budget,
			    struct ts_error *err);
	/* Free what the struct owns.  May be NULL. */
	void (*close)(struct ts_rows *rows);
};

/* A cursor, embedded as first member in the verb's own struct. */
struct ts_rows {
	const struct ts_rows_ops *ops;
	struct ts_ask *ask;           /* borrowed */
	const struct ts_question *qn; /* borrowed */
	uint64_t at;          /* the position up to which has been searched, for progress and ^C */
	bool is_waiting;      /* the next row was found, but its end is still unknown */
	uint64_t waits_at;    /* the position of that row; if the search stops here, all rows before it were returned */
	uint64_t n_prepared;  /* positions that were read to prepare the search; 0: the search has begun */
	bool is_reverse;      /* rows are returned in the opposite order */
	bool is_cut;          /* the answer is incomplete */
	bool is_done;         /* the answer is an action, which the note describes: it has no rows */
	/* the remaining rows are only counted: next() may leave them empty */
	bool is_counting;
	bool is_bare;         /* cells that cost a decode may be left empty */
	uint32_t unwanted;    /* bit i: the cells of column i may be left empty */
	bool is_for_people;   /* text for users only may be added (TS_ROW_ASIDE) */
	char note[400];       /* a sentence about the answer: why it has no rows, what it omits; "": no note */
	/* the target of -go, goto, back and forward; TS_NO_POS: none */
	uint64_t go;
};

/*
 * A cursor over the answer to @qn; both are borrowed until it is closed.
 *
 * Returns NULL if begin() of @ops does not succeed.
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
void *ts_rows_open(const struct ts_rows_ops *ops, struct ts_ask *ask, const struct ts_question *qn, bool is_reverse,
		   struct ts_error *err);

void ts_rows_close(struct ts_rows *rows);

/* A word that selects another verb with other columns: `hot blocks`. */
struct ts_verb_word {
	const char *word; /* NULL after the last */
	const struct ts_verb *verb;
};

struct ts_verb {
	const char *name;
	const char *synopsis;          /* the text after the name: "WHAT [in A:B]" */
	const char *help;              /* one sentence */
	const char *example;           /* a question that makes sense for nearly every recording */
	const struct ts_column *columns;
	unsigned n_columns;
	enum ts_operand operand;
	unsigned takes;                /* mask of enum ts_takes */
	bool is_reversible;
	bool is_counted;               /* the end always has the total */
	bool is_sentence;              /* its one row is `position K of N (P%), thread T, pc 0xADDR` */
	bool is_of_moment;             /* the question is about WHAT at its position, not in a range of positions */
	bool is_forward;               /* without a session the default position is 0, not N */
	unsigned arg;                  /* for a begin() that several verbs share */
	const struct ts_verb_word *words; /* NULL: none */
	const struct ts_rows_ops *rows;
};

/* The members columns and n_columns of a verb or another table, whose columns are the array @c. */
#define TS_COLUMNS(c) .columns = (c), .n_columns = sizeof(c) / sizeof((c)[0])

/* Returns the verb called @name, a constant; NULL if no verb has this name. */
const struct ts_verb *ts_verb_find(const char *name, size_t len);

/* Returns all verbs in the order of the manual, a constant array; *n is set to their number. */
const struct ts_verb *const *ts_verbs(size_t *n);

#endif
