/* SPDX-License-Identifier: MIT */
/*
 * Names of one process of a whole machine: the questions and rows to which they apply.
 *
 * Code of another process at the same virtual address has no name.  A name in a question about code selects the steps of
 * the process; a name of memory selects the memory that the process maps there at the question's position.
 */
#ifndef TS_ASK_MACHINE_NAMES_H
#define TS_ASK_MACHINE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "src/ask/verb.h"

struct ts_question;

/* Rows of a question, as ts_machine_row() sees them. */
struct ts_machine_rows {
	const struct ts_ask *ask;
	const struct ts_question *qn;
	unsigned position;  /* the column of the position; the verb's n_columns: none */
	uint32_t columns;   /* bit i: column i has names of code */
	struct ts_machine names;
	struct ts_machine_at at, names_at;
};

/*
 * Narrow @qn to the process of --process if it has a name.  The places of @qn must have been found.
 *
 * Returns false if names of the process are meaningless there (TS_EUSAGE).
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_machine_names_take(const struct ts_ask *ask, struct ts_question *qn, struct ts_error *err);

/* Do the functions and lines of the process apply to rows without a position? */
bool ts_machine_names_count(const struct ts_ask *ask, const struct ts_question *qn);

/* Do the names apply to the code that @thread runs at @pos?  False if cr3 is unknown. */
bool ts_machine_names_hold(const struct ts_ask *ask, uint64_t pos, uint32_t thread);

void ts_machine_rows_init(struct ts_machine_rows *m, const struct ts_ask *ask, const struct ts_question *qn);

/* Does the filter need the process or ring of rows?  Then the cell of their position is needed. */
bool ts_machine_rows_look(const struct ts_machine_rows *m);

/*
 * Set *is_it to whether the row is of the process and ring of the question.  Cells with names are cleared if another
 * process ran.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_machine_row(struct ts_machine_rows *m, struct ts_row *row, bool *is_it, struct ts_error *err);

#endif
