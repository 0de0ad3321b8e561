/* SPDX-License-Identifier: MIT */
/*
 * A virtual table and a cursor over the rows of a verb.  Included by src/sql only.
 */
#ifndef TS_SQL_TABLE_H
#define TS_SQL_TABLE_H

#include "parts.h"
#include "src/ask/grammar/anchors.h"
#include "src/ask/grammar/machine_names.h"
#include "src/ask/grammar/question.h"

#define TS_SQL_MAX_ARGUMENTS 8u
#define TS_SQL_MAX_WORD      512u

/* The work of a cursor between two calls of is_stopped(). */
#define TS_SQL_CHUNKS_A_SLICE 16u

struct ts_sql_vtab {
	sqlite3_vtab base; /* first */
	struct ts_sql *s;
	struct ts_sql_vtab *next; /* in the list of connected tables */
	struct ts_sql_table t; /* the module owns its texts */
	unsigned n_columns, n_arguments; /* including those before the table's own */
	int *cells;        /* owned; the verb's column of each of the table's own columns, -1 if it has none */
	int address, length; /* the verb's columns with these names, or -1 */
};

/* The question after it was narrowed by the terms of WHERE. */
struct ts_sql_terms {
	uint64_t from, to;       /* positions: from <= k < to */
	uint64_t first, last;    /* addresses, both inclusive */
	bool has_addresses;
	uint64_t n_skipped;      /* OFFSET: rows before the first one */
	bool is_empty;           /* no row can satisfy the terms */
	bool has_thread;
	int64_t tid;
	char values[TS_SQL_MAX_ARGUMENTS][TS_SQL_MAX_WORD]; /* of the arguments; "": not given */
	char reg[TS_SQL_MAX_WORD];      /* "": all registers */
	char operand[TS_SQL_MAX_WORD];  /* of the question; "": none */
	uint64_t depth;          /* the maximum depth of calls */
	bool has_recording;
	const struct ts_sql_recording *recording; /* NULL: the named recording does not exist */
};

struct ts_sql_cursor {
	sqlite3_vtab_cursor base; /* first */
	size_t recording;         /* the index of the next recording */
	const struct ts_sql_recording *in; /* the current recording */
	struct ts_ask *ask;       /* of the current recording */
	struct ts_sql_terms n;
	uint64_t used;            /* columns that the statement needs */
	bool is_reverse;
	uint32_t each;            /* the index of the next question */
	char reg[TS_SQL_MAX_WORD];       /* the register of the question */
	struct ts_question qn;
	bool has_question;
	struct ts_anchors anchors;
	struct ts_rows *rows;     /* owned; NULL: no question is open */
	struct ts_machine_rows machine;
	struct ts_row row;
	bool is_over;
	uint64_t n_counted;       /* the number of remaining rows that are only counted */
	char words[8][TS_SQL_MAX_WORD];  /* to which the question refers */
};

/* An operator of WHERE: in a plan, and in SQL. */
struct ts_sql_operator {
	unsigned char op; /* SQLITE_INDEX_CONSTRAINT_... */
	char sign;
	const char *text;
};

/* Returns the operator with SQLite's number @op, a constant; NULL if no term that narrows a question has it. */
const struct ts_sql_operator *ts_sql_operator(unsigned char op);

/* Returns the ordinal of the verb's column with this name; -1 if the verb has no such column. */
int ts_sql_verb_column(const struct ts_verb *verb, const char *name);

/* Is it the column `recording`? */
bool ts_sql_is_recording(const struct ts_sql_vtab *t, int column);

/* Does `in A:B` of the verb only limit the column position?  For flows it also determines their beginning. */
bool ts_sql_has_positions(const struct ts_sql_vtab *t);

/* xBestIndex: select the terms of WHERE that the table uses.  Returns SQLite's result. */
int ts_sql_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* Set c->n and c->used from the terms of @plan with these values. */
void ts_sql_take_plan(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, const char *plan, sqlite3_value **values, int n);

/* Open the next of the questions.  After the last one c->is_over holds.  Returns SQLite's result. */
int ts_sql_next_question(struct ts_sql_cursor *c, const struct ts_sql_vtab *t);
void ts_sql_close_question(struct ts_sql_cursor *c);

/*
 * Let the statement fail with @err (TS_EIO, ...), before which the name of the current recording is put if several are open.
 * Returns SQLite's result.
 */
int ts_sql_fail_in(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct ts_error *err);
bool ts_sql_is_stopped(const struct ts_sql_vtab *t);

/* xColumn.  Returns SQLite's result. */
int ts_sql_get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int i);

#endif
