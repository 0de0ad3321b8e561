/* SPDX-License-Identifier: MIT */
/*
 * A virtual table and a cursor over the rows of a verb: what the files about them share.  Included by src/sql only.
 */
#ifndef TS_SQL_TABLE_H
#define TS_SQL_TABLE_H

#include "parts.h"
#include "src/ask/grammar/anchors.h"
#include "src/ask/grammar/machine_names.h"
#include "src/ask/grammar/question.h"

#define TS_SQL_MAX_ARGUMENTS 8u
#define TS_SQL_MAX_WORD      512u

/* What a cursor may do before it asks whether the statement is to end. */
#define TS_SQL_CHUNKS_A_SLICE 16u

struct ts_sql_vtab {
	sqlite3_vtab base; /* first */
	struct ts_sql *s;
	struct ts_sql_vtab *next; /* of those that are connected */
	struct ts_sql_table t; /* its texts are the module's */
	unsigned n_columns, n_arguments; /* with those before the table's own */
	int *cells;        /* owned; of the table's own columns: the verb's column, -1 if it has none */
	int address, length; /* the verb's columns of these names, or -1 */
};

/* What the terms of WHERE leave of the question. */
struct ts_sql_terms {
	uint64_t from, to;       /* positions: from <= k < to */
	uint64_t first, last;    /* addresses, both inclusive */
	bool has_addresses;
	uint64_t n_skipped;      /* OFFSET: rows before the first one */
	bool is_empty;           /* no row can satisfy the terms */
	bool has_thread;
	int64_t tid;
	char values[TS_SQL_MAX_ARGUMENTS][TS_SQL_MAX_WORD]; /* of the arguments; "": not given */
	char reg[TS_SQL_MAX_WORD];      /* "": all of them */
	char operand[TS_SQL_MAX_WORD];  /* of the question; "": none */
	uint64_t depth;          /* calls are not deeper */
	bool has_recording;
	const struct ts_sql_recording *recording; /* NULL: one that there is not */
};

struct ts_sql_cursor {
	sqlite3_vtab_cursor base; /* first */
	size_t recording;         /* the next one of them */
	const struct ts_sql_recording *in; /* that is asked */
	struct ts_ask *ask;       /* its */
	struct ts_sql_terms n;
	uint64_t used;            /* columns that the statement needs */
	bool is_reverse;
	uint32_t each;            /* the next one of the questions */
	char reg[TS_SQL_MAX_WORD];       /* that the question is about */
	struct ts_question qn;
	bool has_question;
	struct ts_anchors anchors;
	struct ts_rows *rows;     /* owned; NULL: no question is open */
	struct ts_machine_rows machine;
	struct ts_row row;
	bool is_over;
	uint64_t n_counted;       /* rows that are only counted, and still to come */
	char words[8][TS_SQL_MAX_WORD];  /* of the question, which refers to them */
};

/* The name of column @i, the hidden ones included. */
const char *ts_sql_column_name(const struct ts_sql_vtab *t, unsigned i);

/* The verb's column of this name; -1: it has none. */
int ts_sql_verb_column(const struct ts_verb *verb, const char *name);

/* Is it the column `recording`? */
bool ts_sql_is_recording(const struct ts_sql_vtab *t, int column);

/* Is `in A:B` of the verb about the column position alone?  Of flows it says where they begin, too. */
bool ts_sql_has_positions(const struct ts_sql_vtab *t);

/* [n->first, n->last] is narrowed to where functions called @name are.  Nothing is done if that is not known. */
void ts_sql_narrow_function(struct ts_sql_terms *n, const struct ts_ask *ask, const char *name);

/* xBestIndex: writes down which terms of WHERE are taken. */
int ts_sql_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* c->n and c->used get what the terms of @plan, with these values, leave of the question. */
void ts_sql_take_plan(struct ts_sql_cursor *c, const struct ts_sql_vtab *t, const char *plan, sqlite3_value **values, int n);

/* Open the next of the questions.  After the last one c->is_over holds.  Returns SQLite's result. */
int ts_sql_next_question(struct ts_sql_cursor *c, const struct ts_sql_vtab *t);
void ts_sql_close_question(struct ts_sql_cursor *c);

/* The statement fails by @err; of several recordings the one that is asked is named.  Returns SQLite's result. */
int ts_sql_fail_in(const struct ts_sql_cursor *c, const struct ts_sql_vtab *t, struct ts_error *err);
bool ts_sql_is_stopped(const struct ts_sql_vtab *t);

/* xColumn */
int ts_sql_get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int i);

#endif
