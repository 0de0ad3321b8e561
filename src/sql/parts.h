/* SPDX-License-Identifier: MIT */
/* The internals of this room.  Included by src/sql only. */
#ifndef TS_SQL_PARTS_H
#define TS_SQL_PARTS_H

#include "sql.h"
#include "src/base/collections/buf.h"

struct ts_sql {
	sqlite3 *db; /* owned */
	const struct ts_sql_recording *recordings; /* borrowed; n of them */
	size_t n;
	struct ts_sql_options options;
	struct ts_error err;  /* the error of a table; code TS_OK: none */
	bool is_cut;          /* a table is incomplete: */
	char reason[400];     /* why; "" if unknown */
	char hint[400];       /* what a name in a term means; "" for none */
	char note[400];       /* of the last call of ts_sql_take_cut() */
	unsigned n_selects;   /* the number of SELECTs that SQLite has begun to prepare since ts_sql_db() */
	bool is_declaring;    /* a table is being declared: SQLite asks whether it may create it */
	struct ts_buf schema; /* the text of ts_sql_schema() */
	struct ts_sql_vtab *connected; /* the virtual tables that SQLite has connected; SQLite owns them */
};

/* The source of a column of a table in the verb's row. */
enum ts_sql_from {
	TS_SQL_CELL,       /* cell @cell */
	TS_SQL_BYTES,      /* the value of cell @cell as bytes in memory order, "41 ?? 43" */
	TS_SQL_ITEM,       /* item @item of the list in cell @cell */
	TS_SQL_ITEM_TEXT,  /* of a list of texts in quotes */
	TS_SQL_NUMBER,     /* the number of the system call, signal or fault at the row's position */
	TS_SQL_REGISTER,   /* the register of the question */
};

struct ts_sql_column {
	const char *name;
	enum ts_sql_from from;
	const char *cell; /* the name of the verb's column */
	unsigned item;
};

/* The questions of a table: one for each of these. */
enum ts_sql_each {
	TS_SQL_ONCE,
	TS_SQL_EACH_PROCESS,
	TS_SQL_EACH_REGISTER, /* of each thread */
};

/*
 * Letters of arguments: w what, l the length of an address range, k kinds, m min, e equal, a and b the range,
 * t the question's position, d depth.
 */
struct ts_sql_table {
	const char *name;
	const struct ts_verb *verb;
	const struct ts_sql_column *columns; /* NULL: those of the verb */
	unsigned n_columns;
	const char *arguments; /* letters of the function's arguments, of a table that may be used as one, too; "" for none */
	const char *kinds;     /* words in every question: "r"; NULL: none */
	const char *range;     /* the range of every question: "0:end"; NULL: none */
	enum ts_sql_each each;
	bool has_address;      /* terms about address narrow WHAT */
	bool has_pc;           /* terms about pc narrow WHAT */
	const char *operand;   /* the column whose terms are the question's operand: "callee", "kind"; NULL: none */
	bool is_each_step;     /* one row for each step: rows are counted without decoding */
	bool is_list;          /* one of the lists: its rows are cheap, and no term narrows them */
};

/* The lists: symbols, source lines, and facts about the recording. */
extern const struct ts_verb ts_sql_symbols, ts_sql_lines, ts_sql_meta;

/* Returns the tables, a constant, and sets *n to their number. */
const struct ts_sql_table *ts_sql_tables(size_t *n);

/*
 * Get the @i-th function of the verbs that are not in the list of tables, and its name.
 *
 * Returns false after the last one.
 */
bool ts_sql_function(size_t i, struct ts_sql_table *t, char name[64]);

/*
 * Returns the number of columns before a table's own: 1 for `recording` if there are several recordings, else
 * 0.
 */
static inline unsigned ts_sql_n_own(const struct ts_sql *s)
{
	return s->n > 1;
}

/* Append the table's declaration: "CREATE TABLE x(position, ..., what HIDDEN)". */
void ts_sql_declare(const struct ts_sql *s, const struct ts_sql_table *t, struct ts_buf *out);

/* Returns the recording with that name, borrowed; NULL if no recording has it. */
const struct ts_sql_recording *ts_sql_find_recording(const struct ts_sql *s, const char *name);

/* Returns the name of an argument's hidden column, a literal. */
const char *ts_sql_argument_name(char letter);

/* Add all virtual tables.  Returns SQLite's result. */
int ts_sql_add_tables(struct ts_sql *s);

/* Add the scalar functions.  Returns SQLite's result. */
int ts_sql_add_scalars(struct ts_sql *s);

/*
 * Sets *n_arguments to the number of arguments of the @i-th SQL function.
 *
 * Returns its name, borrowed.
 * Returns NULL after the last one.
 */
const char *ts_sql_scalar(const struct ts_sql *s, size_t i, int *n_arguments);

/* Is there a scalar function with this name and number of arguments? */
bool ts_sql_has_scalar(const struct ts_sql *s, const char *name, size_t len, int n_arguments);

/* Returns the table with this name, borrowed; NULL if SQLite has not connected it. */
struct ts_sql_vtab *ts_sql_connected(const struct ts_sql *s, const char *name, size_t len);

#endif
